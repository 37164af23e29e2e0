//! Pages of an interpreter's memory, taken out of it. Pure.

/// What pages are counted in, whatever the machine's own size is: wasm knows neither, saved sessions need one.
pub(in super::super) const PAGE: usize = 4096;

/// Neighbouring pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Run {
    pub(in super::super) first: u32,
    pub(in super::super) count: u32,
}

impl Run {
    pub(super) fn bytes(self) -> std::ops::Range<usize> {
        let first = self.first as usize * PAGE;
        first..first + self.count as usize * PAGE
    }

    /// Adds the pages from `from` up to and without `to` at the end of `runs`, to the last one where they follow it.
    pub(super) fn add(runs: &mut Vec<Self>, from: usize, to: usize) {
        // A memory has at most 2^32 bytes.
        let number = |page: usize| u32::try_from(page).unwrap_or(u32::MAX);
        let (first, count) = (number(from), number(to - from));
        match runs.last_mut() {
            Some(last) if last.first + last.count == first => last.count += count,
            _ => runs.push(Self { first, count }),
        }
    }
}

/// Copies of pages, in order of their addresses.
#[derive(Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Pages {
    pub(super) runs: Vec<Run>,
    pub(super) bytes: Vec<u8>,
}

impl Pages {
    /// Runs that are in order and apart from each other, and the bytes of their pages, one after the other.
    pub(in super::super) fn new(runs: Vec<Run>, bytes: Vec<u8>) -> Self {
        Self { runs, bytes }
    }

    pub(in super::super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(in super::super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Copies the pages of `runs` out of `memory`.
    pub(super) fn fill(&mut self, memory: &[u8]) {
        self.bytes.clear();
        self.bytes.reserve(self.runs.iter().map(|run| run.bytes().len()).sum());
        for run in &self.runs {
            self.bytes.extend_from_slice(&memory[run.bytes()]);
        }
    }

    /// Writes the pages into `memory`. `None`, and nothing more is written, where one lies beyond it.
    pub(in super::super) fn put_into(&self, memory: &mut [u8]) -> Option<()> {
        let mut bytes = &self.bytes[..];
        for run in &self.runs {
            let place = memory.get_mut(run.bytes())?;
            let (pages, rest) = bytes.split_at_checked(place.len())?;
            place.copy_from_slice(pages);
            bytes = rest;
        }
        Some(())
    }
}
