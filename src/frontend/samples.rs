//! Outcomes and answers for the tests of this folder.

use std::time::Duration;

use crate::sandbox::{CellError, LimitHit, Outcome, Status, Truncated, Usage};
use crate::{Answer, AnswerUsage, AttemptStep, StopReason};

pub fn outcome(status: Status) -> Outcome {
    Outcome { status, usage: Usage { metering: "wasmtime", ..Usage::default() }, ..Outcome::default() }
}

pub fn raised(kind: &str, message: &str, line: u32) -> Outcome {
    let traceback = format!("Traceback (most recent call last):\n  File \"<cell>\", line {line}\n{kind}: {message}\n");
    Outcome {
        error: Some(CellError { kind: kind.into(), message: message.into(), line: Some(line), traceback }),
        ..outcome(Status::Error)
    }
}

pub fn timed_out(printed: &str) -> Outcome {
    Outcome {
        stdout: printed.into(),
        limit: Some(LimitHit { name: "wall", used: 10.0, allowed: 10.0, unit: "s" }),
        truncated: vec![Truncated { stream: "stdout", kept: 1_048_576, dropped: 90_000 }],
        ..outcome(Status::Timeout)
    }
}

pub fn answer(success: bool, outcome: Outcome) -> Answer {
    Answer {
        success,
        stdout: outcome.stdout.clone(),
        stderr: outcome.stderr.clone(),
        code: "print(6 * 7)".into(),
        attempts: 1,
        response: "```python\nprint(6 * 7)\n```".into(),
        steps: vec![AttemptStep {
            code: "print(6 * 7)".into(),
            outcome: Some(outcome),
            response: "```python\nprint(6 * 7)\n```".into(),
            prompt_tokens: 120,
            cached_tokens: 100,
            completion_tokens: 14,
            accepted_tokens: 3,
            wall: Duration::from_millis(250),
        }],
        stop_reason: if success { StopReason::Answered } else { StopReason::Retries },
        model: "scripted".into(),
        usage: AnswerUsage {
            prompt_tokens: 120,
            cached_tokens: 100,
            completion_tokens: 14,
            accepted_tokens: 3,
            wall: Duration::from_millis(260),
        },
        error: None,
    }
}
