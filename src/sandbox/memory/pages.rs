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
    fn numbers(self) -> std::ops::Range<u32> {
        self.first..self.first.saturating_add(self.count)
    }

    fn bytes(self) -> std::ops::Range<usize> {
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

/// The number of the copy that a memory is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Watched(pub(super) u64);

/// Copies of pages.
#[derive(Default)]
pub(in super::super) struct Pages {
    /// Their numbers, in order.
    numbers: Vec<u32>,
    /// Where in `bytes` each of them is, counted in pages.
    slots: Vec<u32>,
    bytes: Vec<u8>,
    /// Of the memory that these are kept up to date with.
    pub(super) watched: Option<Watched>,
}

impl Pages {
    /// Runs that are in order and apart from each other, and the bytes of their pages, one after the other.
    pub(in super::super) fn new(runs: &[Run], bytes: Vec<u8>) -> Self {
        let numbers: Vec<u32> = runs.iter().flat_map(|run| run.numbers()).collect();
        let slots = (0..).take(numbers.len()).collect();
        Self { numbers, slots, bytes, watched: None }
    }

    /// Bytes that the copies take.
    pub(in super::super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// As for [`new`](Self::new).
    pub(in super::super) fn in_order(&self) -> (Vec<Run>, Vec<u8>) {
        let mut runs = Vec::new();
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for (number, page) in self.pages() {
            Run::add(&mut runs, number as usize, number as usize + 1);
            bytes.extend_from_slice(page);
        }
        (runs, bytes)
    }

    fn pages(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let page = |slot: u32| &self.bytes[slot as usize * PAGE..][..PAGE];
        self.numbers.iter().zip(&self.slots).map(move |(number, slot)| (*number, page(*slot)))
    }

    /// Copies the pages of `runs`, which are in order, out of `memory`, in place of all there were.
    pub(super) fn fill(&mut self, memory: &[u8], runs: &[Run]) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.reserve_exact(runs.iter().map(|run| run.bytes().len()).sum());
        for run in runs {
            bytes.extend_from_slice(&memory[run.bytes()]);
        }
        *self = Self { watched: self.watched, ..Self::new(runs, bytes) };
    }

    /// Copies the pages of `runs`, which are in order, out of `memory`, in place of those of the same numbers.
    pub(super) fn update(&mut self, memory: &[u8], runs: &[Run]) {
        let (mut at, mut new) = (0, Vec::new());
        for number in runs.iter().flat_map(|run| run.numbers()) {
            at += self.numbers[at..].partition_point(|other| *other < number);
            let page = &memory[number as usize * PAGE..][..PAGE];
            if self.numbers.get(at) == Some(&number) {
                self.bytes[self.slots[at] as usize * PAGE..][..PAGE].copy_from_slice(page);
            } else {
                new.push(number);
                self.bytes.extend_from_slice(page);
            }
        }
        self.insert(&new);
    }

    /// Enters new numbers, which are in order, for the last copies.
    fn insert(&mut self, new: &[u32]) {
        if new.is_empty() {
            return;
        }
        // From the end, where the room is, so that each is moved once.
        let (mut old, mut slot) = (self.numbers.len(), self.numbers.len() + new.len());
        let mut left = new.len();
        self.numbers.resize(slot, 0);
        self.slots.resize(slot, 0);
        let first = u32::try_from(old).unwrap_or(u32::MAX);
        while left > 0 {
            slot -= 1;
            if old > 0 && self.numbers[old - 1] > new[left - 1] {
                old -= 1;
                (self.numbers[slot], self.slots[slot]) = (self.numbers[old], self.slots[old]);
            } else {
                left -= 1;
                (self.numbers[slot], self.slots[slot]) = (new[left], first + u32::try_from(left).unwrap_or(u32::MAX));
            }
        }
    }

    /// Writes the pages into `memory`. `None`, and nothing more is written, where one lies beyond it.
    pub(in super::super) fn put_into(&self, memory: &mut [u8]) -> Option<()> {
        for (number, page) in self.pages() {
            let at = number as usize * PAGE;
            memory.get_mut(at..at + PAGE)?.copy_from_slice(page);
        }
        Some(())
    }
}

impl PartialEq for Pages {
    fn eq(&self, other: &Self) -> bool {
        self.pages().eq(other.pages())
    }
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;

    /// What is kept piece by piece is what would be kept at once.
    #[test]
    fn updates_amount_to_a_copy_of_all_that_changed() {
        const MEMORY: usize = 64;
        for seed in 0..200 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut memory = vec![0; MEMORY * PAGE];
            let mut changed = [false; MEMORY];
            let mut kept = Pages::default();
            for _ in 0..20 {
                let mut runs = Vec::new();
                for page in 0..MEMORY {
                    if random.next_u32() % 8 == 0 {
                        memory[page * PAGE..][..4].copy_from_slice(&random.next_u32().to_le_bytes());
                        changed[page] = true;
                        Run::add(&mut runs, page, page + 1);
                    }
                }
                kept.update(&memory, &runs);
                let mut all = Vec::new();
                (0..MEMORY).filter(|page| changed[*page]).for_each(|page| Run::add(&mut all, page, page + 1));
                let mut whole = Pages::default();
                whole.fill(&memory, &all);
                assert!(kept == whole, "seed {seed}");
                let (runs, bytes) = kept.in_order();
                assert_eq!((runs.as_slice(), bytes.len()), (all.as_slice(), kept.len()), "seed {seed}");
                assert!(Pages::new(&runs, bytes) == kept, "seed {seed}");
                let mut restored = vec![0; MEMORY * PAGE];
                assert_eq!(kept.put_into(&mut restored), Some(()));
                assert!(restored == memory, "seed {seed}");
            }
        }
    }
}
