//! What came of one instruction.

use std::time::Duration;

use crate::sandbox::Outcome;

#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct Answer {
    /// The host saw the last program end with status `ok`.
    pub success: bool,
    /// What the last program printed, and nothing else; its value is [`result_text`](Answer::result_text).
    pub stdout: String,
    /// What the last program wrote to stderr, then its traceback or how it was stopped.
    pub stderr: String,
    /// The last program.
    pub code: String,
    /// Replies that were made: the length of `steps`.
    pub attempts: usize,
    /// The model's last reply.
    pub response: String,
    pub steps: Vec<AttemptStep>,
    pub stop_reason: StopReason,
    pub model: String,
    pub usage: AnswerUsage,
    /// Why the model gave no reply, when `stop_reason` is `model_error` or `context`.
    pub error: Option<String>,
}

impl Answer {
    /// What the last program did.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.steps.iter().rev().find(|step| !step.code.is_empty())?.outcome.as_ref()
    }

    /// The value of the last program's last expression as text: for whoever would otherwise see nothing, since a
    /// program that ends in an expression need not print. It is never part of `stdout`.
    pub fn result_text(&self) -> Option<&str> {
        self.outcome()?.result.as_ref()?.get("text/plain").map(String::as_str)
    }
}

/// One attempt: a reply, and what its program did.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct AttemptStep {
    /// Empty when the reply held no code.
    pub code: String,
    pub outcome: Option<Outcome>,
    pub response: String,
    pub prompt_tokens: usize,
    /// Tokens of the prompt that the model remembered and did not evaluate again.
    pub cached_tokens: usize,
    pub completion_tokens: usize,
    /// Tokens of the reply that were guessed from what had been said before, and so cost less time.
    pub accepted_tokens: usize,
    pub wall: Duration,
}

/// What an answer cost, all attempts together.
#[non_exhaustive]
#[derive(Clone, Debug, Default)]
pub struct AnswerUsage {
    pub prompt_tokens: usize,
    /// Tokens of the prompt that the model remembered and did not evaluate again.
    pub cached_tokens: usize,
    pub completion_tokens: usize,
    /// Tokens of the reply that were guessed from what had been said before, and so cost less time.
    pub accepted_tokens: usize,
    pub wall: Duration,
}

#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// A program worked.
    Answered,
    /// All attempts are spent; the last program failed.
    Retries,
    /// All attempts are spent; the last reply held no program.
    NoCode,
    /// The model came back with the same program although it was told, while attempts were left.
    Stuck,
    /// The instruction and its data do not fit into the model's context.
    Context,
    Cancelled,
    /// The model gave no reply.
    ModelError,
}

impl StopReason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Retries => "retries",
            Self::NoCode => "no_code",
            Self::Stuck => "stuck",
            Self::Context => "context",
            Self::Cancelled => "cancelled",
            Self::ModelError => "model_error",
        }
    }
}
