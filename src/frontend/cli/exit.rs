//! The exit codes, in one place.

use crate::sandbox::{Outcome, Status};
use crate::{Answer, Error, StopReason};

pub const OK: u8 = 0;
/// Python raised (`exec`), or no attempt succeeded (`run`).
pub const NO_SUCCESS: u8 = 1;
pub const USAGE: u8 = 2;
/// No runtime or model to be had.
pub const UNAVAILABLE: u8 = 69;
/// The interpreter crashed, or our own fault.
pub const FAULT: u8 = 70;
/// Wall time or fuel ran out, as `timeout(1)` reports it.
pub const TIME: u8 = 124;
pub const CANCELLED: u8 = 130;
/// As a shell reports a process killed for its memory.
pub const MEMORY: u8 = 137;

pub fn of_outcome(outcome: &Outcome) -> u8 {
    match outcome.status {
        Status::Ok => OK,
        Status::Error => NO_SUCCESS,
        Status::Exited => of_guest(outcome.exit_code),
        Status::Timeout | Status::Fuel => TIME,
        Status::Memory => MEMORY,
        Status::Crashed => FAULT,
        Status::Cancelled => CANCELLED,
    }
}

/// The low eight bits, as every Unix does; but what did not end well never looks like success.
fn of_guest(code: Option<i32>) -> u8 {
    match code.unwrap_or(1).to_le_bytes()[0] {
        0 => NO_SUCCESS,
        code => code,
    }
}

pub fn of_answer(answer: &Answer) -> u8 {
    match answer.stop_reason {
        StopReason::Cancelled => CANCELLED,
        // It never said a word: there is no model to be had.
        StopReason::ModelError if answer.steps.is_empty() => UNAVAILABLE,
        _ if answer.success => OK,
        _ => NO_SUCCESS,
    }
}

/// `fault` is the verb's code for what none of the other codes describes.
pub fn of_error(error: &Error, fault: u8) -> u8 {
    if error.is_usage() {
        USAGE
    } else if error.is_cancelled() {
        CANCELLED
    } else if error.is_unavailable() || error.is_model() {
        UNAVAILABLE
    } else {
        fault
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::samples;

    #[test]
    fn a_cell_gives_the_contracts_code() {
        let code = |status| of_outcome(&samples::outcome(status));
        let expected = [
            (Status::Ok, 0),
            (Status::Error, 1),
            (Status::Timeout, 124),
            (Status::Fuel, 124),
            (Status::Memory, 137),
            (Status::Crashed, 70),
            (Status::Cancelled, 130),
        ];
        for (status, expected) in expected {
            assert_eq!(code(status), expected, "{status:?}");
        }
        let exited = |exit_code| of_outcome(&Outcome { exit_code, ..samples::outcome(Status::Exited) });
        assert_eq!(exited(Some(3)), 3);
        assert_eq!(exited(Some(-1)), 255);
        assert_eq!(exited(Some(256)), 1, "never success");
    }

    #[test]
    fn an_answer_and_an_error_too() {
        let mut answer = samples::answer(true, samples::outcome(Status::Ok));
        assert_eq!(of_answer(&answer), 0);
        answer.success = false;
        assert_eq!(of_answer(&answer), 1);
        answer.stop_reason = StopReason::Cancelled;
        assert_eq!(of_answer(&answer), 130);
        answer.stop_reason = StopReason::ModelError;
        assert_eq!(of_answer(&answer), 1, "what came before it failed is an answer");
        answer.steps.clear();
        assert_eq!(of_answer(&answer), 69);
        assert_eq!(of_error(&Error::usage("x"), FAULT), 2);
        assert_eq!(of_error(&Error::unavailable("x"), FAULT), 69);
        assert_eq!(of_error(&Error::model("x"), NO_SUCCESS), 69);
        assert_eq!(of_error(&Error::cancelled(), FAULT), 130);
        assert_eq!(of_error(&Error::internal("x"), FAULT), 70);
        assert_eq!(of_error(&Error::internal("x"), NO_SUCCESS), 1);
    }
}
