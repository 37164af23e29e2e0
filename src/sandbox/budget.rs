//! What the sessions of one image hold together: how many they are, and bytes of host memory.
//!
//! Every count is one atomic number that only ever moves within its bound, so a cell takes no lock here. Whoever holds
//! something holds a value ([`Place`], [`Charge`]) that gives it back when it is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::ResourceLimiter;

use crate::{Capacity, Error, Result};

/// The shared account.
pub(super) struct Budget {
    sessions: Bounded,
    memory: Bounded,
}

impl Budget {
    pub(super) fn new(capacity: &Capacity) -> Arc<Self> {
        Arc::new(Self {
            sessions: Bounded::new(u64::try_from(capacity.sessions).unwrap_or(u64::MAX)),
            memory: Bounded::new(capacity.memory),
        })
    }

    /// Room for one more session.
    ///
    /// # Errors
    /// [`is_busy`](Error::is_busy) when all of it is taken.
    pub(super) fn place(self: &Arc<Self>) -> Result<Place> {
        if self.sessions.take(1) {
            return Ok(Place(self.clone()));
        }
        let text = format!("{} sessions are alive, which is as many as there may be", self.sessions.allowed);
        Err(Error::busy(text).advise("end sessions that are no longer used, or raise Capacity::sessions"))
    }

    /// An account of nothing yet.
    pub(super) fn charge(self: &Arc<Self>) -> Charge {
        Charge { budget: self.clone(), held: 0 }
    }

    /// Bytes that could be charged now; others may be faster.
    pub(super) fn left(&self) -> u64 {
        self.memory.allowed.saturating_sub(self.memory.used.load(Ordering::Acquire))
    }

    /// Bytes that are charged now.
    #[cfg(test)]
    pub(super) fn memory_held(&self) -> u64 {
        self.memory.used.load(Ordering::Acquire)
    }
}

/// A number that never exceeds its bound.
struct Bounded {
    used: AtomicU64,
    allowed: u64,
}

impl Bounded {
    fn new(allowed: u64) -> Self {
        Self { used: AtomicU64::new(0), allowed }
    }

    /// Takes all of `amount` or nothing, and says which.
    fn take(&self, amount: u64) -> bool {
        let sum = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.allowed);
        self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, sum).is_ok()
    }

    /// Gives back what was taken.
    fn give(&self, amount: u64) {
        self.used.fetch_sub(amount, Ordering::AcqRel);
    }
}

/// One session's place among the live ones.
pub(super) struct Place(Arc<Budget>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.sessions.give(1);
    }
}

/// Bytes of host memory that one holder has; given back when it is dropped.
pub(super) struct Charge {
    budget: Arc<Budget>,
    held: u64,
}

impl Charge {
    /// Holds `bytes` from now on, more or fewer than before. False when they do not fit; then nothing has changed.
    #[must_use]
    pub(super) fn set(&mut self, bytes: u64) -> bool {
        if bytes <= self.held {
            self.budget.memory.give(self.held - bytes);
        } else if !self.budget.memory.take(bytes - self.held) {
            return false;
        }
        self.held = bytes;
        true
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.budget.memory.give(self.held);
    }
}

/// Refuses growth beyond the session's limit or the shared budget, which the guest sees as a failed allocation, and
/// remembers that it did. It counts linear memory and wasmtime's own heap of exceptions together.
pub(super) struct MemoryCap {
    allowed: u64,
    total: u64,
    charge: Charge,
    /// The growth that was granted last: of the total, and of the charge.
    last: (u64, u64),
    pub(super) refused: bool,
}

impl MemoryCap {
    /// At most `allowed` bytes in all. `charge` bears them but for what a memory starts with, which is the image's.
    pub(super) fn new(allowed: u64, charge: Charge) -> Self {
        Self { allowed, total: 0, charge, last: (0, 0), refused: false }
    }

    /// From now on at most `allowed` bytes.
    pub(super) fn allow(&mut self, allowed: u64) {
        self.allowed = allowed;
    }

    fn grant(&mut self, growth: u64, charged: u64) -> bool {
        let total = self.total.saturating_add(growth);
        let granted = total <= self.allowed && self.charge.set(self.charge.held.saturating_add(charged));
        if granted {
            (self.total, self.last) = (total, (growth, charged));
        }
        granted
    }
}

impl ResourceLimiter for MemoryCap {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let growth = desired.saturating_sub(current) as u64;
        let granted = self.grant(growth, if current == 0 { 0 } else { growth });
        self.refused |= !granted;
        Ok(granted)
    }

    /// What was granted last did not come about: it is beyond what wasm can have, or the system has no more.
    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> wasmtime::Result<()> {
        log::debug!("memory did not grow: {error}");
        let (growth, charged) = std::mem::take(&mut self.last);
        self.total -= growth;
        let fewer = self.charge.set(self.charge.held - charged);
        debug_assert!(fewer, "giving back always fits");
        self.refused = true;
        Ok(())
    }

    fn table_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        // The image never grows its table; a module that did would be bounded by its own declaration.
        Ok(maximum.is_some_and(|maximum| desired <= maximum))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{SystemTime, UNIX_EPOCH};

    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};

    use super::*;

    fn budget(sessions: usize, memory: u64) -> Arc<Budget> {
        Budget::new(&Capacity::default().sessions(sessions).memory(memory))
    }

    #[test]
    fn a_session_too_many_is_told_what_to_do() {
        let budget = budget(2, 0);
        let (first, _second) = (budget.place().unwrap(), budget.place().unwrap());
        let error = budget.place().err().unwrap();
        assert!(error.is_busy() && !error.is_usage(), "{error:?}");
        assert!(error.to_string().contains("2 sessions") && error.advice().is_some(), "{error:?}");
        drop(first);
        assert!(budget.place().is_ok(), "its place is free again");
    }

    #[test]
    fn a_charge_that_does_not_fit_changes_nothing() {
        let budget = budget(0, 100);
        let (mut one, mut other) = (budget.charge(), budget.charge());
        assert!(one.set(60) && other.set(40));
        assert!(!other.set(41) && !other.set(u64::MAX));
        assert_eq!((one.held, other.held, budget.memory_held()), (60, 40, 100));
        assert!(one.set(10) && other.set(90));
        drop(one);
        assert_eq!(budget.memory_held(), 90);
        assert!(other.set(0));
        assert_eq!(budget.memory_held(), 0);
    }

    /// Threads hold random charges and places for random whiles: no sum is ever over its bound, a charge is refused only
    /// when it could have been over, and in the end nothing is held.
    #[test]
    fn no_interleaving_exceeds_the_bounds_or_leaks() {
        const THREADS: u64 = 4;
        const ALLOWED: u64 = 1000;
        let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        println!("seed {seed}");
        let budget = budget(5, ALLOWED);
        // What the threads believe to hold, counted after they have it and uncounted before they give it back.
        let (bytes, sessions) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (budget, bytes, sessions) = (&budget, &bytes, &sessions);
                scope.spawn(move || {
                    let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(THREADS).wrapping_add(thread));
                    let mut charges: Vec<Charge> = Vec::new();
                    let mut places: Vec<Place> = Vec::new();
                    for _ in 0..20_000 {
                        match rng.next_u32() % 6 {
                            0 if charges.len() < 8 => charges.push(budget.charge()),
                            1 if !charges.is_empty() => {
                                let charge = charges.swap_remove(rng.next_u32() as usize % charges.len());
                                bytes.fetch_sub(charge.held, Ordering::SeqCst);
                                drop(charge);
                            }
                            2 => {
                                if let Ok(place) = budget.place() {
                                    places.push(place);
                                    assert!(sessions.fetch_add(1, Ordering::SeqCst) < 5);
                                }
                            }
                            3 if !places.is_empty() => {
                                sessions.fetch_sub(1, Ordering::SeqCst);
                                places.pop();
                            }
                            _ if !charges.is_empty() => {
                                let at = rng.next_u32() as usize % charges.len();
                                let (before, wanted) = (charges[at].held, u64::from(rng.next_u32()) % (ALLOWED / 2));
                                bytes.fetch_sub(before.saturating_sub(wanted), Ordering::SeqCst);
                                if charges[at].set(wanted) {
                                    let more = wanted.saturating_sub(before);
                                    let now = bytes.fetch_add(more, Ordering::SeqCst) + more;
                                    assert!(now <= ALLOWED, "{now} bytes held");
                                } else {
                                    assert!(wanted > before, "giving back was refused");
                                    assert_eq!(charges[at].held, before);
                                }
                            }
                            _ => {}
                        }
                    }
                    bytes.fetch_sub(charges.iter().map(|charge| charge.held).sum(), Ordering::SeqCst);
                    sessions.fetch_sub(places.len() as u64, Ordering::SeqCst);
                });
            }
        });
        assert_eq!((bytes.into_inner(), sessions.into_inner()), (0, 0));
        assert_eq!((budget.memory_held(), budget.sessions.used.load(Ordering::Acquire)), (0, 0));
    }

    #[test]
    fn growth_is_charged_beyond_what_a_memory_starts_with() {
        let budget = budget(0, 100);
        let mut cap = MemoryCap::new(1000, budget.charge());
        assert!(cap.memory_growing(0, 500, None).unwrap());
        assert_eq!(budget.memory_held(), 0);
        assert!(cap.memory_growing(500, 560, None).unwrap());
        // The heap of exceptions is a memory of its own.
        assert!(cap.memory_growing(0, 10, None).unwrap() && cap.memory_growing(10, 30, None).unwrap());
        assert_eq!((budget.memory_held(), cap.total, cap.refused), (80, 590, false));
        assert!(!cap.memory_growing(560, 581, None).unwrap(), "beyond the shared budget");
        assert_eq!((budget.memory_held(), cap.total, cap.refused), (80, 590, true));
        assert!(cap.memory_growing(560, 580, None).unwrap());
        cap.memory_grow_failed(wasmtime::Error::msg("no more")).unwrap();
        assert_eq!((budget.memory_held(), cap.total), (80, 590));
        drop(cap);
        assert_eq!(budget.memory_held(), 0);
    }

    #[test]
    fn the_sessions_own_limit_bounds_all_its_memories_together() {
        let budget = budget(0, u64::MAX);
        let mut cap = MemoryCap::new(100, budget.charge());
        assert!(cap.memory_growing(0, 80, None).unwrap() && cap.memory_growing(0, 10, None).unwrap());
        assert!(!cap.memory_growing(10, 21, None).unwrap());
        assert!(cap.memory_growing(10, 20, None).unwrap());
        assert_eq!(budget.memory_held(), 10);
        assert!(!cap.memory_growing(80, usize::MAX, None).unwrap());
    }
}
