//! The counter of one program: a number in a memory of its own. The program counts it down, and another thread may put it
//! below zero, which ends the program at its next count.

use std::sync::atomic::{AtomicI64, Ordering};

use wasmtime::SharedMemory;

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
        for _ in 0..TRIES {
            if !self.is_interrupted() {
                self.number().fetch_sub(INTERRUPTION, Ordering::Relaxed);
            }
            std::hint::spin_loop();
        }
    }

    pub(super) fn is_interrupted(&self) -> bool {
        is_interrupted(self.number().load(Ordering::Relaxed))
    }

    fn number(&self) -> &AtomicI64 {
        // SAFETY: the pointer is to the start of a shared memory, which is page-aligned, at least eight bytes long (see `new`),
        // never moves and lives as long as `self`. Nobody makes a reference to its bytes. What else accesses it is compiled
        // code, whose loads and stores of an aligned i64 in a shared memory are, by WebAssembly's memory model, as those
        // of relaxed atomics: they do not tear.
        #[expect(unsafe_code, reason = "a number that compiled code changes as well")]
        unsafe {
            AtomicI64::from_ptr(self.0.data().as_ptr().cast_mut().cast())
        }
    }
}

fn is_interrupted(number: i64) -> bool {
    number < -(INTERRUPTION / 4)
}
