//! The wire form of outcomes and answers, the same on every surface: every key is always there, null when empty.

use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::sandbox::{CellError, FileChange, LimitHit, MimeBundle, Outcome, Truncated, Usage};
use crate::{Answer, AttemptStep};

/// An outcome that can be serialised, with the keys in the contract's order.
pub fn outcome(outcome: &Outcome) -> impl Serialize {
    OutcomeForm::from(outcome)
}

pub fn outcomes(outcomes: &[Outcome]) -> impl Serialize {
    outcomes.iter().map(OutcomeForm::from).collect::<Vec<_>>()
}

pub fn answer(answer: &Answer) -> impl Serialize {
    AnswerForm {
        success: answer.success,
        stdout: &answer.stdout,
        stderr: &answer.stderr,
        code: &answer.code,
        attempts: answer.attempts,
        response: &answer.response,
        steps: answer.steps.iter().map(StepForm::from).collect(),
        stop_reason: answer.stop_reason.as_str(),
        model: &answer.model,
        usage: TokensForm {
            prompt_tokens: answer.usage.prompt_tokens,
            cached_tokens: answer.usage.cached_tokens,
            completion_tokens: answer.usage.completion_tokens,
            accepted_tokens: answer.usage.accepted_tokens,
            wall_ms: milliseconds(answer.usage.wall),
        },
        error: answer.error.as_deref(),
    }
}

/// `{"error": "…"}`.
pub fn failure(text: &str) -> impl Serialize {
    serde_json::json!({ "error": text })
}

#[derive(Serialize)]
struct OutcomeForm<'a> {
    status: &'static str,
    stdout: &'a str,
    stderr: &'a str,
    truncated: Vec<TruncatedForm>,
    result: Option<&'a MimeBundle>,
    displays: &'a [MimeBundle],
    error: Option<ErrorForm<'a>>,
    exit_code: Option<i32>,
    limit: Option<LimitForm>,
    files: Vec<FileForm<'a>>,
    usage: UsageForm,
    note: Option<&'a str>,
}

impl<'a> From<&'a Outcome> for OutcomeForm<'a> {
    fn from(outcome: &'a Outcome) -> Self {
        Self {
            status: outcome.status.as_str(),
            stdout: &outcome.stdout,
            stderr: &outcome.stderr,
            truncated: outcome.truncated.iter().map(TruncatedForm::from).collect(),
            result: outcome.result.as_ref(),
            displays: &outcome.displays,
            error: outcome.error.as_ref().map(ErrorForm::from),
            exit_code: outcome.exit_code,
            limit: outcome.limit.as_ref().map(LimitForm::from),
            files: outcome.files.iter().map(FileForm::from).collect(),
            usage: UsageForm::from(&outcome.usage),
            note: outcome.note.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct TruncatedForm {
    stream: &'static str,
    kept: u64,
    dropped: u64,
}

impl From<&Truncated> for TruncatedForm {
    fn from(cut: &Truncated) -> Self {
        Self { stream: cut.stream, kept: cut.kept, dropped: cut.dropped }
    }
}

#[derive(Serialize)]
struct ErrorForm<'a> {
    r#type: &'a str,
    message: &'a str,
    line: Option<u32>,
    traceback: &'a str,
}

impl<'a> From<&'a CellError> for ErrorForm<'a> {
    fn from(error: &'a CellError) -> Self {
        Self { r#type: &error.kind, message: &error.message, line: error.line, traceback: &error.traceback }
    }
}

#[derive(Serialize)]
struct LimitForm {
    name: &'static str,
    #[serde(serialize_with = "amount")]
    used: (f64, bool),
    #[serde(serialize_with = "amount")]
    allowed: (f64, bool),
    unit: &'static str,
}

impl From<&LimitHit> for LimitForm {
    fn from(hit: &LimitHit) -> Self {
        let counted = hit.unit != "s";
        Self { name: hit.name, used: (hit.used, counted), allowed: (hit.allowed, counted), unit: hit.unit }
    }
}

/// Counts and bytes as whole numbers, seconds to the millisecond.
fn amount<S: Serializer>(&(value, counted): &(f64, bool), serializer: S) -> Result<S::Ok, S::Error> {
    if counted && value.fract() == 0.0 && (0.0..=9e15).contains(&value) {
        serializer.serialize_u64(value as u64)
    } else {
        serializer.serialize_f64((value * 1e3).round() / 1e3)
    }
}

#[derive(Serialize)]
struct FileForm<'a> {
    path: &'a str,
    change: &'static str,
    bytes: u64,
    sha256: Option<&'a str>,
}

impl<'a> From<&'a FileChange> for FileForm<'a> {
    fn from(file: &'a FileChange) -> Self {
        Self { path: &file.path, change: file.change.as_str(), bytes: file.bytes, sha256: file.sha256.as_deref() }
    }
}

#[derive(Serialize)]
struct UsageForm {
    wall_ms: f64,
    fuel: u64,
    metering: &'static str,
    memory_bytes: u64,
    scratch_bytes: u64,
}

impl From<&Usage> for UsageForm {
    fn from(usage: &Usage) -> Self {
        Self {
            wall_ms: milliseconds(usage.wall),
            fuel: usage.fuel,
            metering: usage.metering,
            memory_bytes: usage.memory_bytes,
            scratch_bytes: usage.scratch_bytes,
        }
    }
}

#[derive(Serialize)]
struct AnswerForm<'a> {
    success: bool,
    stdout: &'a str,
    stderr: &'a str,
    code: &'a str,
    attempts: usize,
    response: &'a str,
    steps: Vec<StepForm<'a>>,
    stop_reason: &'static str,
    model: &'a str,
    usage: TokensForm,
    error: Option<&'a str>,
}

#[derive(Serialize)]
struct TokensForm {
    prompt_tokens: usize,
    cached_tokens: usize,
    completion_tokens: usize,
    accepted_tokens: usize,
    wall_ms: f64,
}

#[derive(Serialize)]
struct StepForm<'a> {
    code: &'a str,
    outcome: Option<OutcomeForm<'a>>,
    response: &'a str,
    prompt_tokens: usize,
    cached_tokens: usize,
    completion_tokens: usize,
    accepted_tokens: usize,
    wall_ms: f64,
}

impl<'a> From<&'a AttemptStep> for StepForm<'a> {
    fn from(step: &'a AttemptStep) -> Self {
        Self {
            code: &step.code,
            outcome: step.outcome.as_ref().map(OutcomeForm::from),
            response: &step.response,
            prompt_tokens: step.prompt_tokens,
            cached_tokens: step.cached_tokens,
            completion_tokens: step.completion_tokens,
            accepted_tokens: step.accepted_tokens,
            wall_ms: milliseconds(step.wall),
        }
    }
}

/// To the microsecond: what is finer is noise.
fn milliseconds(wall: Duration) -> f64 {
    wall.as_micros() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::frontend::samples;
    use crate::sandbox::{Change, Status};

    fn value(form: impl Serialize) -> Value {
        serde_json::to_value(form).unwrap()
    }

    /// The example of the contract, word for word but for its placeholders.
    const CONTRACT: &str = r#"{"status": "ok",
 "stdout": "…", "stderr": "…", "truncated": [{"stream": "stdout", "kept": 1048576, "dropped": 90000}],
 "result": {"text/plain": "2"},
 "displays": [{"image/png": "<base64>", "text/plain": "<Figure size 640x480 with 1 Axes>"}],
 "error": {"type": "ZeroDivisionError", "message": "division by zero", "line": 3, "traceback": "…"},
 "exit_code": null,
 "limit": {"name": "wall", "used": 10.0, "allowed": 10.0, "unit": "s"},
 "files": [{"path": "out.csv", "change": "created", "bytes": 120, "sha256": "…"}],
 "usage": {"wall_ms": 1.2, "fuel": 478055, "metering": "wasmtime", "memory_bytes": 67108864, "scratch_bytes": 120}}"#;

    fn full() -> Outcome {
        Outcome {
            stdout: "…".into(),
            stderr: "…".into(),
            truncated: vec![Truncated { stream: "stdout", kept: 1_048_576, dropped: 90_000 }],
            result: Some(MimeBundle::from([("text/plain".into(), "2".into())])),
            displays: vec![MimeBundle::from([
                ("image/png".into(), "<base64>".into()),
                ("text/plain".into(), "<Figure size 640x480 with 1 Axes>".into()),
            ])],
            error: Some(CellError {
                kind: "ZeroDivisionError".into(),
                message: "division by zero".into(),
                line: Some(3),
                traceback: "…".into(),
            }),
            limit: Some(LimitHit { name: "wall", used: 10.000_04, allowed: 10.0, unit: "s" }),
            files: vec![FileChange {
                path: "out.csv".into(),
                change: Change::Created,
                bytes: 120,
                sha256: Some("…".into()),
            }],
            usage: Usage {
                wall: Duration::from_nanos(1_200_400),
                fuel: 478_055,
                metering: "wasmtime",
                memory_bytes: 67_108_864,
                scratch_bytes: 120,
            },
            ..samples::outcome(Status::Ok)
        }
    }

    #[test]
    fn an_outcome_is_the_contracts_example_and_a_note() {
        let mut expected: Value = serde_json::from_str(CONTRACT).unwrap();
        expected["note"] = Value::Null;
        assert_eq!(value(outcome(&full())), expected);
    }

    #[test]
    fn the_text_keeps_the_contracts_order_of_keys() {
        let text = serde_json::to_string(&outcome(&full())).unwrap();
        let spaced = CONTRACT.replace("\n ", "").replace("\": ", "\":").replace(", ", ",");
        assert_eq!(
            text.trim_end_matches(",\"note\":null}").replace(", ", ","),
            spaced.trim_end_matches('}').to_owned() + "}"
        );
    }

    #[test]
    fn an_empty_outcome_still_has_every_key() {
        let form = value(outcome(&samples::outcome(Status::Ok)));
        let full = value(outcome(&full()));
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&form), keys(&full));
        assert_eq!(form["result"], Value::Null);
        assert_eq!(form["truncated"], json!([]));
    }

    #[test]
    fn counts_are_whole_numbers() {
        let hit =
            |used, unit| value(LimitForm::from(&LimitHit { name: "x", used, allowed: used, unit }))["used"].to_string();
        assert_eq!(hit(50_000_000.0, "units"), "50000000");
        assert_eq!(hit(2.0, "s"), "2.0");
        assert_eq!(hit(2.000_123_4, "s"), "2.0");
        assert_eq!(hit(f64::INFINITY, "units"), "null");
    }

    #[test]
    fn an_answer_has_the_seeds_keys_and_ours() {
        let form = value(answer(&samples::answer(true, samples::outcome(Status::Ok))));
        for key in
            ["success", "stdout", "stderr", "code", "attempts", "response", "steps", "stop_reason", "model", "usage"]
        {
            assert!(form.get(key).is_some(), "{key}");
        }
        assert_eq!(form["stop_reason"], "answered");
        let usage = json!({"prompt_tokens": 120, "cached_tokens": 100, "completion_tokens": 14, "accepted_tokens": 3, "wall_ms": 260.0});
        assert_eq!(form["usage"], usage);
        let step = &form["steps"][0];
        for key in [
            "code",
            "outcome",
            "response",
            "prompt_tokens",
            "cached_tokens",
            "completion_tokens",
            "accepted_tokens",
            "wall_ms",
        ] {
            assert!(step.get(key).is_some(), "{key}");
        }
        assert_eq!(step["outcome"]["status"], "ok");
    }

    #[test]
    fn nul_and_odd_characters_stay_valid_json() {
        let odd = Outcome { stdout: "\0\u{1b}\u{fffd}\"\\".into(), ..samples::outcome(Status::Ok) };
        let text = serde_json::to_string(&outcome(&odd)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["stdout"], odd.stdout);
    }
}
