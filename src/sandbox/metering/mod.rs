//! Counting what a program does, and stopping it: with a counter of our own in the module, or with wasmtime's fuel.
//!
//! Read in this order: `calls` (where to count), `labels` (what goes back), `bulk` (what moves much at once), `rewrite` (the
//! module that counts), `counter` (the number), this file (the host's side of it).

mod bulk;
mod calls;
mod counter;
mod labels;
mod rewrite;

pub(super) use counter::Counter;
pub(super) use rewrite::{COUNTER, rewrite};
use wasmtime::{AsContextMut, SharedMemory, Trap};

use super::guest::{Guest, Stop, Watch};

type Result<T, E = wasmtime::Error> = std::result::Result<T, E>;

/// How a program ends at a count that finds the counter below zero. It may end so for reasons of its own, too.
pub(super) const COUNTED_OUT: Trap = Trap::UnreachableCodeReached;

/// The host's side of the fuel of one store.
#[derive(Default)]
pub(super) enum Meter {
    /// The store's own fuel.
    #[default]
    Wasmtime,
    /// Of `budget` units the counter was given `granted`, which is less where it cannot count as far.
    Loops { counter: Counter, budget: u64, granted: u64 },
}

impl Meter {
    pub(super) fn of(counter: Option<SharedMemory>) -> Self {
        counter.map_or(Self::Wasmtime, |memory| Self::Loops { counter: Counter::new(memory), budget: 0, granted: 0 })
    }

    /// What can interrupt the program, where it is a counter.
    pub(super) fn counter(&self) -> Option<Counter> {
        match self {
            Self::Wasmtime => None,
            Self::Loops { counter, .. } => Some(counter.clone()),
        }
    }

    /// Why the program ended, when it was one of its counts that did. One that ends by itself just when it is to be stopped,
    /// or runs out of fuel just then, is taken for stopped.
    pub(super) fn stop(&self, watch: &Watch) -> Option<Stop> {
        match self {
            Self::Loops { counter, .. } if counter.is_interrupted() => watch.check().err(),
            Self::Loops { counter, .. } if counter.left() < 0 => Some(Stop::Fuel),
            _ => None,
        }
    }
}

/// From now on `budget` units may be used.
pub(super) fn begin(mut store: impl AsContextMut<Data = Guest>, budget: u64) -> Result<()> {
    let mut store = store.as_context_mut();
    match &mut store.data_mut().meter {
        Meter::Wasmtime => store.set_fuel(budget),
        Meter::Loops { counter, budget: allowed, granted } => {
            (*allowed, *granted) = (budget, counter.start(budget));
            Ok(())
        }
    }
}

/// Units that are left of the budget.
pub(super) fn left(mut store: impl AsContextMut<Data = Guest>) -> Result<u64> {
    let store = store.as_context_mut();
    match &store.data().meter {
        Meter::Wasmtime => store.get_fuel(),
        Meter::Loops { counter, budget, granted } => {
            Ok(budget - granted.saturating_sub(u64::try_from(counter.left()).unwrap_or_default()))
        }
    }
}

/// Takes `cost` units off for work of the host's. Where no more are left the program ends when it next counts.
pub(super) fn charge(mut store: impl AsContextMut<Data = Guest>, cost: u64) -> Result<()> {
    let mut store = store.as_context_mut();
    match &store.data().meter {
        Meter::Wasmtime => {
            let left = store.get_fuel()?;
            store.set_fuel(left.saturating_sub(cost))
        }
        Meter::Loops { counter, .. } => {
            counter.take(cost);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests;
