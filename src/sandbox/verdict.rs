//! What the host makes of the end of a cell: a status, the limit it met, what is left for the end of the session.

use std::time::Duration;

use super::instance::End;
use super::options::SessionOptions;
use super::outcome::{CellError, LimitHit, Status, Truncated};
use super::output::Printed;
use crate::Metering;

/// What a cell and its exit handlers have used together of the limits that they share.
#[derive(Clone, Copy, Default)]
pub(super) struct Spent {
    /// The machine's time.
    pub(super) machine: Duration,
    pub(super) fuel: u64,
}

/// The host's verdict. The guest's frame only says *which* exit code a failed turn asked for.
pub(super) fn status(end: &End, exit: Option<i32>) -> (Status, Option<i32>) {
    match (end, exit) {
        (End::Returned(0), exit) => (Status::Ok, exit.map(|_| 0)),
        (End::Returned(_), Some(code)) if code != 0 => (Status::Exited, Some(code)),
        (End::Returned(_), _) => (Status::Error, None),
        (End::Exited(0), _) => (Status::Ok, Some(0)),
        (End::Exited(code), _) => (Status::Exited, Some(*code)),
        (End::Timeout, _) => (Status::Timeout, None),
        (End::Fuel, _) => (Status::Fuel, None),
        (End::Memory, _) => (Status::Memory, None),
        (End::Crashed(_), _) => (Status::Crashed, None),
        (End::Cancelled, _) => (Status::Cancelled, None),
    }
}

/// What is left of it.
pub(super) fn left(options: &SessionOptions, metering: Metering, spent: Spent) -> (Duration, Option<u64>) {
    let (wall, fuel) = options.allowed(metering);
    (wall.saturating_sub(spent.machine), fuel.map(|fuel| fuel.saturating_sub(spent.fuel)))
}

pub(super) fn limit(
    status: Status,
    options: &SessionOptions,
    metering: Metering,
    spent: Spent,
    memory: u64,
) -> Option<LimitHit> {
    let Spent { machine, fuel } = spent;
    let (wall, units) = options.allowed(metering);
    // Every count here is far below 2^53, where an f64 is still exact.
    #[expect(clippy::cast_precision_loss, reason = "a count of fuel or bytes, below 2^53")]
    let float = |count: u64| count as f64;
    match status {
        Status::Timeout => {
            Some(LimitHit { name: "wall", used: machine.as_secs_f64(), allowed: wall.as_secs_f64(), unit: "s" })
        }
        Status::Fuel => Some(LimitHit {
            name: "fuel",
            used: float(fuel),
            allowed: float(units.unwrap_or(fuel)),
            unit: metering.unit(),
        }),
        Status::Memory => {
            Some(LimitHit { name: "memory", used: float(memory), allowed: float(options.limits.memory), unit: "bytes" })
        }
        _ => None,
    }
}

pub(super) fn cut(stream: &'static str, printed: &Printed) -> Option<Truncated> {
    (printed.dropped > 0).then_some(Truncated { stream, kept: printed.kept, dropped: printed.dropped })
}

/// What is known of an exception that the driver did not describe, for instance because the cell broke it.
pub(super) fn unreported() -> CellError {
    CellError { kind: "Exception".into(), message: "the cell failed without saying why".into(), ..CellError::default() }
}

/// Why an interpreter is gone, for a note to a person; `None` when it is not.
pub(super) fn death(end: &End) -> Option<String> {
    Some(match end {
        End::Returned(_) => return None,
        End::Exited(_) => "os._exit".to_owned(),
        End::Timeout => "the wall limit".to_owned(),
        End::Fuel => "the fuel limit".to_owned(),
        End::Memory => "the memory limit".to_owned(),
        End::Cancelled => "the cancellation".to_owned(),
        End::Crashed(why) => format!("a crash ({why})"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    #[test]
    fn the_host_decides_and_the_frame_only_names_the_code() {
        assert_eq!(status(&End::Returned(0), None), (Status::Ok, None));
        assert_eq!(status(&End::Returned(0), Some(0)), (Status::Ok, Some(0)));
        // A cell that returned normally has not exited, whatever a frame says.
        assert_eq!(status(&End::Returned(0), Some(9)), (Status::Ok, Some(0)));
        assert_eq!(status(&End::Returned(1), Some(3)), (Status::Exited, Some(3)));
        // A failed cell cannot claim a clean exit.
        assert_eq!(status(&End::Returned(1), Some(0)), (Status::Error, None));
        assert_eq!(status(&End::Exited(0), None), (Status::Ok, Some(0)));
        assert_eq!(status(&End::Exited(4), Some(0)), (Status::Exited, Some(4)));
        assert_eq!(status(&End::Timeout, Some(0)), (Status::Timeout, None));
    }

    #[test]
    fn fuel_stands_for_the_time_of_a_deterministic_session() {
        let limits = Limits::default().wall(Duration::from_secs(3));
        let real = SessionOptions::new(limits.clone());
        let spent = Spent { machine: Duration::from_secs(1), fuel: 7 };
        assert_eq!(left(&real, Metering::Wasmtime, spent), (Duration::from_secs(2), None));
        let real = SessionOptions::new(limits.clone().fuel(10));
        assert_eq!(left(&real, Metering::Wasmtime, spent), (Duration::from_secs(2), Some(3)));
        let counted = SessionOptions::new(limits.clone()).deterministic(1);
        assert_eq!(left(&counted, Metering::Wasmtime, spent), (Duration::from_secs(9), Some(2_999_999_993)));
        let counted = SessionOptions::new(limits.fuel(5)).deterministic(1);
        assert_eq!(left(&counted, Metering::Wasmtime, spent), (Duration::from_secs(9), Some(0)));
        let endless = SessionOptions::new(Limits::default().wall(Duration::MAX)).deterministic(1);
        assert_eq!(left(&endless, Metering::Wasmtime, Spent::default()), (Duration::MAX, Some(u64::MAX)));
    }

    #[test]
    fn a_limit_is_told_in_what_it_counts() {
        let limits = Limits::default().wall(Duration::from_secs(2));
        let spent = Spent { machine: Duration::from_secs(7), fuel: 5 };
        let told = |status, options: &SessionOptions| {
            let hit = limit(status, options, Metering::Wasmtime, spent, 0).unwrap();
            (hit.name, hit.used, hit.allowed, hit.unit)
        };
        let (real, counted) = (SessionOptions::new(limits.clone()), SessionOptions::new(limits).deterministic(1));
        assert_eq!(told(Status::Timeout, &real), ("wall", 7.0, 2.0, "s"));
        // The machine's time against the machine's time that is allowed, not against the guest's.
        assert_eq!(told(Status::Timeout, &counted), ("wall", 7.0, 7.0, "s"));
        assert_eq!(told(Status::Fuel, &counted), ("fuel", 5.0, 2e9, "operators"));
    }
}
