//! The counter of one program: a number in a memory of its own. The program counts it down, and another thread may put it
//! below zero, which ends the program at its next count.

use std::sync::atomic::{AtomicI64, Ordering};

use wasmtime::SharedMemory;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("the counter of a program is read and written at once on processors of 64 bits alone");

/// The most that can be counted, which takes centuries.
const MOST: u64 = 1 << 61;
/// What an interruption takes off. Nothing else brings the counter as far down, so what was left can be told.
const INTERRUPTION: i64 = 1 << 62;
/// How often an interruption is tried.
const TRIES: usize = 500;

/// Clones are the same counter.
#[derive(Clone)]
pub(in super::super) struct Counter(SharedMemory);

impl Counter {
    pub(super) fn new(memory: SharedMemory) -> Self {
        assert!(memory.data_size() >= size_of::<AtomicI64>(), "a memory of no page is not a counter");
        Self(memory)
    }

    /// One that no program has.
    #[cfg(test)]
    pub(in super::super) fn spare() -> Self {
        let engine = super::super::engine::runner(crate::Metering::Loops).unwrap();
        Self::new(SharedMemory::new(&engine, wasmtime::MemoryType::shared(1, 1)).unwrap())
    }

    /// From now on `budget` counts may be made, or as many as there can be; returned is which.
    pub(super) fn start(&self, budget: u64) -> u64 {
        let budget = budget.min(MOST);
        self.number().store(budget.cast_signed(), Ordering::Relaxed);
        budget
    }

    /// What is left, below zero when it was not enough.
    pub(super) fn left(&self) -> i64 {
        let number = self.number().load(Ordering::Relaxed);
        if is_interrupted(number) { number + INTERRUPTION } else { number }
    }

    /// Takes off as much as there is, and then one more.
    pub(super) fn take(&self, cost: u64) {
        let most = self.left().max(0) + 1;
        self.number().fetch_sub(i64::try_from(cost).unwrap_or(most).min(most), Ordering::Relaxed);
    }

    /// Ends the program at its next count, probably. While it counts, what it read a moment before is what it will write,
    /// and until its processor has written that out, what it reads as well; then this is lost. So it is done many times
    /// over, for some microseconds, and to be repeated until the program has ended.
    pub(in super::super) fn interrupt(&self) {
        if self.is_interrupted() {
            return;
        }
        for _ in 0..TRIES {
            if !self.is_interrupted() {
                self.number().fetch_sub(INTERRUPTION, Ordering::Relaxed);
            }
            std::hint::spin_loop();
        }
    }

    pub(in super::super) fn is_interrupted(&self) -> bool {
        is_interrupted(self.number().load(Ordering::Relaxed))
    }

    fn number(&self) -> &AtomicI64 {
        // SAFETY: the pointer is to the start of a shared memory, which is page-aligned, at least eight bytes long (see `new`),
        // never moves and lives as long as `self`. Nobody makes a reference to its bytes. What else accesses it is compiled
        // code, which reads and writes the number with one aligned move of eight bytes each, and such a move does not
        // tear on a processor of 64 bits.
        #[expect(unsafe_code, reason = "a number that compiled code changes as well")]
        unsafe {
            AtomicI64::from_ptr(self.0.data().as_ptr().cast_mut().cast())
        }
    }
}

fn is_interrupted(number: i64) -> bool {
    number < -(INTERRUPTION / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_told_whatever_came() {
        let counter = Counter::spare();
        for (budget, granted) in [(0, 0), (1, 1), (MOST, MOST), (u64::MAX, MOST)] {
            assert_eq!(counter.start(budget), granted);
            let left = granted.cast_signed();
            assert_eq!((counter.left(), counter.is_interrupted()), (left, false));
            for _ in 0..2 {
                counter.interrupt();
                assert_eq!((counter.left(), counter.is_interrupted()), (left, true));
            }
            counter.take(u64::MAX);
            counter.take(u64::MAX);
            assert_eq!((counter.left(), counter.is_interrupted()), (-2, true), "of {budget}");
        }
        assert_eq!(counter.start(10), 10, "nothing is left of an interruption");
        counter.take(3);
        assert_eq!((counter.left(), counter.is_interrupted()), (7, false));
    }
}
