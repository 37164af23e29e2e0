//! What an interpreter has written: the pages of its linear memory that are not the image's any more.
//!
//! Every interpreter begins as a copy-on-write view of the same image, so the pages it wrote, the size of its memory
//! and its globals are all of its state in wasm. Linux says which pages are copies (`/proc/self/pagemap`, the idea of
//! the kernel's own checkpoint tool, CRIU); elsewhere memory is compared with the image.

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "other.rs")]
mod platform;

use std::sync::OnceLock;

/// What pages are counted in, whatever the machine's own size is: wasm knows neither, saved sessions need one.
pub(super) const PAGE: usize = 4096;

/// Neighbouring pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Run {
    fn bytes(self) -> std::ops::Range<usize> {
        let first = self.first as usize * PAGE;
        first..first + self.count as usize * PAGE
    }
}

/// Copies of pages, in order of their addresses.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Pages {
    runs: Vec<Run>,
    bytes: Vec<u8>,
}

impl Pages {
    /// Runs and the bytes of their pages, one after the other. `None` unless the runs are in order, apart from each
    /// other, within a memory of `size` bytes, and as long as the bytes.
    pub(super) fn new(runs: Vec<Run>, bytes: Vec<u8>, size: usize) -> Option<Self> {
        let (mut end, mut length) = (0, 0);
        for run in &runs {
            let (first, count) = (run.first as usize, run.count as usize);
            if first < end || count == 0 {
                return None;
            }
            end = first + count;
            length += count * PAGE;
        }
        (end <= size / PAGE && length == bytes.len()).then_some(Self { runs, bytes })
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes the pages into a memory that is large enough, which is the caller's to see to.
    pub(super) fn put_into(&self, memory: &mut [u8]) {
        let mut from = 0;
        for run in &self.runs {
            let place = run.bytes();
            let to = from + place.len();
            memory[place].copy_from_slice(&self.bytes[from..to]);
            from = to;
        }
    }
}

/// Finds and copies what an interpreter wrote.
pub(super) struct Finder {
    map: Option<platform::PageMap>,
    /// The image's memory, to compare with where the system does not tell.
    image: OnceLock<Vec<u8>>,
}

impl Finder {
    pub(super) fn new() -> Self {
        Self { map: platform::PageMap::open(), image: OnceLock::new() }
    }

    /// Is shown the memory of each interpreter that has run nothing, and remembers it if it will be needed.
    pub(super) fn see_fresh(&self, memory: &[u8]) {
        if self.map.is_none() {
            self.image.get_or_init(|| memory.to_vec());
        }
    }

    /// Copies the pages of `memory` that may differ from the image, into the buffers of `reused`.
    pub(super) fn copy(&self, memory: &[u8], mut reused: Pages) -> Pages {
        reused.runs.clear();
        reused.bytes.clear();
        if !self.map.as_ref().is_some_and(|map| map.written(memory, &mut reused.runs)) {
            reused.runs.clear();
            // Without an image to compare with, everything is copied that is not zero.
            compare(memory, self.image.get().map_or(&[], Vec::as_slice), &mut reused.runs);
        }
        reused.bytes.reserve(reused.runs.iter().map(|run| run.bytes().len()).sum());
        for run in &reused.runs {
            reused.bytes.extend_from_slice(&memory[run.bytes()]);
        }
        reused
    }
}

/// Adds a page at the end, to the run before it where it can.
fn add(runs: &mut Vec<Run>, page: usize) {
    // A memory has at most 2^32 bytes.
    let page = u32::try_from(page).unwrap_or(u32::MAX);
    match runs.last_mut() {
        Some(last) if last.first + last.count == page => last.count += 1,
        _ => runs.push(Run { first: page, count: 1 }),
    }
}

/// The pages that differ; what is beyond the image began as zeros.
fn compare(memory: &[u8], image: &[u8], runs: &mut Vec<Run>) {
    const ZEROS: [u8; PAGE] = [0; PAGE];
    let pristine = image.chunks_exact(PAGE).chain(std::iter::repeat(&ZEROS[..]));
    for (page, (now, before)) in memory.chunks_exact(PAGE).zip(pristine).enumerate() {
        if now != before {
            add(runs, page);
        }
    }
}
