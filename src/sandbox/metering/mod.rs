//! Counting what a program does, and stopping it: with a counter of our own in the module, or with wasmtime's fuel.
//!
//! Read in this order: `calls` (where to count), `bulk` (what moves much at once), `rewrite` (the module that counts),
//! this file (the host's side of the counter).

mod bulk;
mod calls;
mod rewrite;

pub(super) use rewrite::rewrite;
use wasmtime::{AsContextMut, Caller, Global, Val};

use super::guest::{Guest, Stop};

type Result<T, E = wasmtime::Error> = std::result::Result<T, E>;

/// The export of a rewritten module that is its counter.
pub(super) const COUNTER: &str = "metering.counter";
/// What it imports to be refilled: module and name.
pub(super) const REFILL: (&str, &str) = ("metering", "refill");

/// Counts between two looks at the clock: a fraction of a millisecond of most programs.
const SLICE: u64 = 16_384;

/// The host's side of the fuel of one store.
#[derive(Clone, Copy, Default)]
pub(super) enum Meter {
    /// The store's own fuel.
    #[default]
    Wasmtime,
    /// The counter holds what is left of a slice; so `granted` less the counter is used.
    Loops { counter: Global, budget: u64, granted: u64 },
}

impl Meter {
    pub(super) fn of(counter: Option<Global>) -> Self {
        counter.map_or(Self::Wasmtime, |counter| Self::Loops { counter, budget: 0, granted: 0 })
    }
}

/// From now on `budget` units may be used.
pub(super) fn begin(mut store: impl AsContextMut<Data = Guest>, budget: u64) -> Result<()> {
    let mut store = store.as_context_mut();
    match &mut store.data_mut().meter {
        Meter::Wasmtime => store.set_fuel(budget),
        Meter::Loops { counter, budget: allowed, granted } => {
            (*allowed, *granted) = (budget, 0);
            let counter = *counter;
            grant(store, counter, 0, budget)
        }
    }
}

/// Units that are left of the budget.
pub(super) fn left(mut store: impl AsContextMut<Data = Guest>) -> Result<u64> {
    let mut store = store.as_context_mut();
    match store.data().meter {
        Meter::Wasmtime => store.get_fuel(),
        Meter::Loops { counter, budget, granted } => Ok(budget.saturating_sub(used(&mut store, counter, granted))),
    }
}

/// Takes `cost` units off for work of the host's. Where no more are left the program ends when it next counts.
pub(super) fn charge(mut store: impl AsContextMut<Data = Guest>, cost: u64) -> Result<()> {
    let mut store = store.as_context_mut();
    match store.data().meter {
        Meter::Wasmtime => {
            let left = store.get_fuel()?;
            store.set_fuel(left.saturating_sub(cost))
        }
        Meter::Loops { counter, granted, .. } => {
            let used = used(&mut store, counter, granted).saturating_add(cost);
            // Far enough from the end of the numbers that counting on from here cannot come out above zero.
            let left = i64::try_from(i128::from(granted) - i128::from(used)).unwrap_or(i64::MIN / 2);
            set(&mut store, counter, left)
        }
    }
}

/// What the counter calls when it is below zero.
pub(super) fn refill(mut caller: Caller<'_, Guest>) -> Result<()> {
    caller.data().watch.check()?;
    let Meter::Loops { counter, budget, granted } = caller.data().meter else {
        return Err(wasmtime::Error::msg("a counter that is nobody's"));
    };
    let used = used(&mut caller, counter, granted);
    if used > budget {
        return Err(Stop::Fuel.into());
    }
    grant(caller.as_context_mut(), counter, used, budget)
}

/// Of the budget `used` units are gone; the next slice may be.
fn grant(mut store: wasmtime::StoreContextMut<'_, Guest>, counter: Global, used: u64, budget: u64) -> Result<()> {
    let slice = budget.saturating_sub(used).min(SLICE);
    if let Meter::Loops { granted, .. } = &mut store.data_mut().meter {
        *granted = used.saturating_add(slice);
    }
    set(&mut store, counter, slice.cast_signed())
}

fn used(store: &mut impl AsContextMut<Data = Guest>, counter: Global, granted: u64) -> u64 {
    match counter.get(store.as_context_mut()) {
        Val::I64(left) => u64::try_from(i128::from(granted) - i128::from(left)).unwrap_or_default(),
        _ => u64::MAX,
    }
}

fn set(store: &mut impl AsContextMut<Data = Guest>, counter: Global, left: i64) -> Result<()> {
    counter.set(store.as_context_mut(), Val::I64(left))
}

#[cfg(test)]
mod tests;
