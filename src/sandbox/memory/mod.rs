//! What an interpreter has written: the pages of its linear memory that are not the image's any more.
//!
//! Every interpreter begins as a copy-on-write view of the same image, so the pages it wrote, the size of its memory
//! and its globals are all of its state in wasm. Linux says which pages are copies (`/proc/self/pagemap`, as the
//! kernel's own checkpoint tool, CRIU, uses it); elsewhere memory is compared with the image.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod platform;

mod pages;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) use pages::{PAGE, Pages, Run, Watched};
pub(super) use platform::reread;

/// Finds and copies what an interpreter wrote.
pub(super) struct Finder {
    map: Option<platform::PageMap>,
    /// The image's memory, to compare with where the system does not tell.
    image: OnceLock<Vec<u8>>,
    /// The number of the next copy that is watched for.
    copies: AtomicU64,
}

impl Finder {
    pub(super) fn new() -> Self {
        Self { map: platform::PageMap::open(), image: OnceLock::new(), copies: AtomicU64::new(1) }
    }

    /// Is shown the memory of each interpreter that has run nothing, and remembers it if it will be needed.
    pub(super) fn see_fresh(&self, memory: &[u8]) {
        if self.map.is_none() {
            self.image.get_or_init(|| memory.to_vec());
        }
    }

    /// Copies the pages of `memory` that may differ from the image. `None` when nobody can tell which.
    pub(super) fn copy(&self, memory: &[u8]) -> Option<Pages> {
        let mut pages = Pages::default();
        pages.fill(memory, &self.changed(memory)?);
        Some(pages)
    }

    /// Makes `kept` a copy as [`copy`](Self::copy) would, and makes the next time cheap: where the system can tell, only
    /// the pages that were written since the last time are copied. `watched` belongs to the memory: it says which copy it
    /// is watched for. `None`, and `kept` is worth nothing, when nobody can tell which pages these are.
    pub(super) fn keep(&self, memory: &[u8], kept: &mut Pages, watched: &mut Option<Watched>) -> Option<()> {
        if let Some(map) = &self.map {
            if watched.is_some()
                && *watched == kept.watched
                && let Some(runs) = map.since(memory)
            {
                kept.update(memory, &runs);
                return Some(());
            }
            // Watched from before the copy on, so that nothing is missed.
            let began = map.begin(memory);
            *watched = began.then(|| Watched(self.copies.fetch_add(1, Ordering::Relaxed)));
            kept.watched = *watched;
        }
        kept.fill(memory, &self.changed(memory)?);
        Some(())
    }

    fn changed(&self, memory: &[u8]) -> Option<Vec<Run>> {
        match &self.map {
            Some(map) => map.written(memory),
            None => Some(compare(memory, self.image.get()?)),
        }
    }
}

/// The pages that differ; what is beyond the image began as zeros.
fn compare(memory: &[u8], image: &[u8]) -> Vec<Run> {
    const ZEROS: [u8; PAGE] = [0; PAGE];
    let mut runs = Vec::new();
    let pristine = image.chunks_exact(PAGE).chain(std::iter::repeat(&ZEROS[..]));
    for (page, (now, before)) in memory.chunks_exact(PAGE).zip(pristine).enumerate() {
        if now != before {
            Run::add(&mut runs, page, page + 1);
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};
    use wasm_encoder::{
        ConstExpr, DataSection, ExportKind, ExportSection, MemorySection, MemoryType, Module as Encoded,
    };
    use wasmtime::{Instance, Memory, Module, Store};

    use super::super::engine;
    use super::*;

    /// An interpreter of nothing: 64 wasm pages, the first two and the last hold data.
    fn instance() -> (Store<()>, Memory) {
        let mut memories = MemorySection::new();
        let kind = MemoryType { minimum: 64, maximum: None, memory64: false, shared: false, page_size_log2: None };
        memories.memory(kind);
        let mut exports = ExportSection::new();
        exports.export("memory", ExportKind::Memory, 0);
        let mut data = DataSection::new();
        for at in [0, 65_536, 63 * 65_536] {
            data.active(0, &ConstExpr::i32_const(at), [7_u8; 3 * PAGE]);
        }
        let mut module = Encoded::new();
        module.section(&memories).section(&exports).section(&data);
        let engine = engine::runner(crate::Metering::default()).unwrap();
        let module = Module::new(&engine, module.finish()).unwrap();
        let mut store = Store::new(&engine, ());
        let memory = Instance::new(&mut store, &module, &[]).unwrap().get_memory(&mut store, "memory").unwrap();
        (store, memory)
    }

    /// Writes to pages 1, 2, 500 and to one that grew.
    fn write(store: &mut Store<()>, memory: Memory) {
        memory.grow(&mut *store, 2).unwrap();
        let bytes = memory.data_mut(store);
        bytes[2 * PAGE - 1] = 1;
        bytes[2 * PAGE] = 2;
        bytes[500 * PAGE] = 3;
        bytes[64 * 65_536 + 9] = 4;
    }

    const WRITTEN: [Run; 3] = [Run { first: 1, count: 2 }, Run { first: 500, count: 1 }, Run { first: 1024, count: 1 }];

    #[test]
    fn what_was_written_is_found_and_makes_another_one_equal() {
        let (mut store, memory) = instance();
        let finder = Finder::new();
        finder.see_fresh(memory.data(&store));
        write(&mut store, memory);
        let pages = finder.copy(memory.data(&store)).unwrap();
        assert_eq!(pages.in_order().0, WRITTEN);
        assert_eq!(pages.len(), 4 * PAGE);

        let (mut other, restored) = instance();
        assert_eq!(pages.put_into(restored.data_mut(&mut other)), None, "it has not grown");
        restored.grow(&mut other, 2).unwrap();
        assert_eq!(pages.put_into(restored.data_mut(&mut other)), Some(()));
        assert!(restored.data(&other) == memory.data(&store));
    }

    #[test]
    fn comparing_finds_the_same() {
        let (mut store, memory) = instance();
        let finder = Finder { map: None, ..Finder::new() };
        finder.see_fresh(memory.data(&store));
        write(&mut store, memory);
        assert_eq!(finder.copy(memory.data(&store)).unwrap().in_order().0, WRITTEN);
    }

    /// A copy that may lack pages is none.
    #[test]
    fn what_nobody_can_tell_is_not_copied() {
        let (mut store, memory) = instance();
        write(&mut store, memory);
        #[cfg(target_os = "linux")]
        let blind = [Some(platform::PageMap::silent()), None];
        #[cfg(not(target_os = "linux"))]
        let blind = [None];
        for map in blind {
            // Nor is there an image to compare with.
            let finder = Finder { map, ..Finder::new() };
            assert!(finder.copy(memory.data(&store)).is_none());
            let (mut kept, mut watched) = (Pages::default(), None);
            assert!(finder.keep(memory.data(&store), &mut kept, &mut watched).is_none());
            assert!(watched.is_none());
        }
    }

    #[test]
    fn what_was_only_read_is_not_copied() {
        let (mut store, memory) = instance();
        memory.grow(&mut store, 2).unwrap();
        assert_ne!(memory.data(&store).iter().map(|byte| u64::from(*byte)).sum::<u64>(), 0);
        let finder = Finder::new();
        finder.see_fresh(memory.data(&store));
        assert_eq!(finder.copy(memory.data(&store)).unwrap().in_order().0, []);
    }

    /// What is kept from cell to cell is what a copy of everything would hold, whatever was written or read between, and
    /// whether or not the system watches.
    #[test]
    fn what_is_kept_is_a_copy_of_all_that_changed() {
        for (seed, finder) in [Finder::new(), Finder { map: None, ..Finder::new() }].iter().cycle().take(16).enumerate()
        {
            let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
            let (mut store, memory) = instance();
            finder.see_fresh(memory.data(&store));
            let (mut kept, mut watched) = (Pages::default(), None);
            for round in 0..30 {
                if random.next_u32() % 8 == 0 {
                    memory.grow(&mut store, 1).unwrap();
                }
                let pages = memory.data_size(&store) / PAGE;
                for _ in 0..random.next_u32() % 20 {
                    let page = random.next_u32() as usize % pages;
                    if random.next_u32() % 2 == 0 {
                        memory.data_mut(&mut store)[page * PAGE + 5] = random.next_u32() as u8 | 1;
                    } else {
                        std::hint::black_box(memory.data(&store)[page * PAGE]);
                    }
                }
                if random.next_u32() % 10 == 0 {
                    // As after a rewind: another buffer.
                    kept = Pages::default();
                }
                finder.keep(memory.data(&store), &mut kept, &mut watched).unwrap();
                let (mut other, restored) = instance();
                restored.grow(&mut other, (memory.data_size(&store) / 65_536 - 64) as u64).unwrap();
                kept.put_into(restored.data_mut(&mut other)).unwrap();
                assert!(restored.data(&other) == memory.data(&store), "seed {seed}, round {round}");
                assert!(kept.len() <= memory.data_size(&store), "seed {seed}, round {round}");
            }
        }
    }
}
