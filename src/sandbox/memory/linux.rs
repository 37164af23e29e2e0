//! Linux tells which pages of a private mapping are this process's own copies.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::{PAGE, Run, add};

/// Bits of an entry of the page map (Documentation/admin-guide/mm/pagemap.rst).
const PRESENT: u64 = 1 << 63;
const SWAPPED: u64 = 1 << 62;
/// A page of the mapped file (or shared): nobody has written to it here.
const FILE: u64 = 1 << 61;

/// Bytes of an entry, and how many are read at once.
const ENTRY: usize = 8;
const ENTRIES: usize = 8192;

pub(super) struct PageMap {
    file: File,
    /// The machine's pages, in ours.
    pages: usize,
}

impl PageMap {
    /// `None` where the system does not show it, or has pages that are not a multiple of ours.
    pub(super) fn open() -> Option<Self> {
        let size = rustix::param::page_size();
        let file = File::open("/proc/self/pagemap").ok()?;
        size.is_multiple_of(PAGE).then_some(Self { file, pages: size / PAGE })
    }

    /// Adds the pages of `memory` that were written, and says whether it could tell.
    pub(super) fn written(&self, memory: &[u8], runs: &mut Vec<Run>) -> bool {
        let (start, size) = (memory.as_ptr().addr(), self.pages * PAGE);
        if !start.is_multiple_of(size) || !memory.len().is_multiple_of(size) {
            return false;
        }
        let (first, count) = (start / size, memory.len() / size);
        let mut buffer = [0; ENTRIES * ENTRY];
        for done in (0..count).step_by(ENTRIES) {
            let entries = &mut buffer[..ENTRY * ENTRIES.min(count - done)];
            if self.file.read_exact_at(entries, ((first + done) * ENTRY) as u64).is_err() {
                return false;
            }
            let written = entries.as_chunks::<ENTRY>().0.iter().map(|entry| is_written(u64::from_le_bytes(*entry)));
            for (index, _) in written.enumerate().filter(|(_, written)| *written) {
                let page = (done + index) * self.pages;
                (page..page + self.pages).for_each(|page| add(runs, page));
            }
        }
        true
    }
}

fn is_written(entry: u64) -> bool {
    entry & SWAPPED != 0 || entry & (PRESENT | FILE) == PRESENT
}
