//! A session's time: the machine's, or a virtual one that is counted instead of measured.
//!
//! Every question of the guest after the time, and every time of a file, is answered here.

use std::time::{Instant, SystemTime};

use crate::Metering;

/// What one step of either clock is, in nanoseconds.
pub(super) const RESOLUTION: u64 = 1;

/// When virtual time begins: 2026-01-01T00:00:00Z, in nanoseconds since the Unix epoch.
pub(super) const VIRTUAL_EPOCH: u64 = 1_767_225_600 * 1_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// The machine's clocks. The monotonic one had counted `offset` nanoseconds at `origin`.
    Real { origin: Instant, offset: u64 },
    /// Moves by `unit` nanoseconds for each unit of fuel, be it the program's or work of the host's, and by the length of
    /// every sleep. `lived` nanoseconds had passed when the running turn began, whose fuel was `budget`; between turns that
    /// is 0.
    Virtual { lived: u64, budget: u64, unit: u64 },
}

impl Clock {
    /// The machine's time, for a session that has lived for so many nanoseconds already.
    pub(super) fn real(lived: u64) -> Self {
        Self::Real { origin: Instant::now(), offset: lived }
    }

    /// Counted time, for a session that has lived for so many nanoseconds already.
    pub(super) fn counted(metering: Metering, lived: u64) -> Self {
        Self::Virtual { lived, budget: 0, unit: metering.nanoseconds() }
    }

    /// Whether the time depends on the fuel that is left: only then must it be asked for.
    pub(super) fn is_counted(&self) -> bool {
        matches!(self, Self::Virtual { .. })
    }

    /// A turn begins with this much fuel.
    pub(super) fn begin(&mut self, fuel: u64) {
        if let Self::Virtual { budget, .. } = self {
            *budget = fuel;
        }
    }

    /// The turn ended with this much fuel left.
    pub(super) fn end(&mut self, left: u64) {
        let now = self.monotonic(left);
        if let Self::Virtual { lived, budget, .. } = self {
            (*lived, *budget) = (now, 0);
        }
    }

    /// Nanoseconds that the session has lived; `left` is the fuel that the running turn still has.
    pub(super) fn monotonic(&self, left: u64) -> u64 {
        match self {
            Self::Real { origin, offset } => offset.saturating_add(nanoseconds(origin.elapsed())),
            Self::Virtual { lived, budget, unit } => {
                lived.saturating_add(budget.saturating_sub(left).saturating_mul(*unit))
            }
        }
    }

    /// Nanoseconds since the Unix epoch.
    pub(super) fn wall(&self, left: u64) -> u64 {
        match self {
            Self::Real { .. } => {
                SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map(nanoseconds).unwrap_or_default()
            }
            Self::Virtual { .. } => VIRTUAL_EPOCH.saturating_add(self.monotonic(left)),
        }
    }

    /// Whether the host's work for the running turn is paid for in fuel: where fuel stands for the time that may pass.
    /// Without a limit, as when the image is built, there is nothing to bound.
    pub(super) fn is_bounded(&self) -> bool {
        matches!(self, Self::Virtual { budget, .. } if *budget < u64::MAX)
    }

    /// The fuel that is worth so many operators.
    pub(super) fn units(&self, operators: u64) -> u64 {
        match self {
            Self::Real { .. } => operators,
            Self::Virtual { unit, .. } => operators.div_ceil(*unit),
        }
    }

    /// A sleep of so many nanoseconds, which in virtual time is over at once.
    pub(super) fn skip(&mut self, slept: u64) {
        if let Self::Virtual { lived, .. } = self {
            *lived = lived.saturating_add(slept);
        }
    }
}

/// A duration's nanoseconds, at most what 64 bits hold (584 years).
pub(super) fn nanoseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_time_is_fuel_and_sleep() {
        let mut clock = Clock::counted(Metering::Wasmtime, 0);
        assert_eq!((clock.monotonic(0), clock.wall(0)), (0, VIRTUAL_EPOCH));
        clock.begin(1_000);
        assert_eq!((clock.monotonic(1_000), clock.monotonic(400)), (0, 600));
        clock.skip(5_000);
        assert_eq!((clock.monotonic(400), clock.wall(400)), (5_600, VIRTUAL_EPOCH + 5_600));
        clock.end(300);
        assert_eq!(clock, Clock::counted(Metering::Wasmtime, 5_700));
        clock.begin(u64::MAX);
        assert_eq!(clock.monotonic(u64::MAX - 1), 5_701);
    }

    #[test]
    fn only_a_turn_that_fuel_bounds_pays_for_work() {
        let mut clock = Clock::counted(Metering::Wasmtime, 0);
        for (fuel, bounded) in [(0, true), (1_000, true), (u64::MAX, false)] {
            clock.begin(fuel);
            assert_eq!(clock.is_bounded(), bounded, "{fuel}");
        }
        let mut clock = Clock::real(0);
        clock.begin(1_000);
        assert!(!clock.is_bounded());
    }

    #[test]
    fn virtual_time_ends_instead_of_wrapping() {
        let mut clock = Clock::counted(Metering::Wasmtime, u64::MAX - 1);
        clock.skip(u64::MAX);
        assert_eq!((clock.monotonic(0), clock.wall(0)), (u64::MAX, u64::MAX));
    }

    #[test]
    fn real_time_goes_on_from_what_was_lived() {
        let clock = Clock::real(1_000_000_000_000);
        let (first, second) = (clock.monotonic(0), clock.monotonic(0));
        assert!(first >= 1_000_000_000_000 && second >= first);
        assert!(clock.wall(0) > 1_700_000_000_000_000_000, "{}", clock.wall(0));
        let mut same = clock;
        same.begin(7);
        same.skip(7);
        same.end(0);
        assert_eq!(same, clock);
    }
}
