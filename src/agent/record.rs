//! Keeps what happened, attempt by attempt, and makes the [`Answer`] of it.

use std::time::{Duration, Instant};

use super::feedback::ending;
use crate::model::Reply;
use crate::sandbox::{Outcome, Status};
use crate::{Answer, AnswerUsage, AttemptStep, StopReason};

/// What replies cost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tokens {
    pub(super) prompt: usize,
    pub(super) cached: usize,
    pub(super) completion: usize,
    pub(super) accepted: usize,
}

impl Tokens {
    pub(super) fn add(&mut self, reply: &Reply) {
        self.prompt += reply.prompt_tokens;
        self.cached += reply.cached_tokens;
        self.completion += reply.completion_tokens;
        self.accepted += reply.accepted_tokens;
    }
}

#[derive(Debug)]
pub(super) struct Record {
    began: Instant,
    attempt_began: Instant,
    steps: Vec<AttemptStep>,
}

impl Record {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { began: now, attempt_began: now, steps: Vec::new() }
    }

    pub(super) fn attempt_begins(&mut self) {
        self.attempt_began = Instant::now();
    }

    pub(super) fn attempt(&mut self, code: Option<String>, outcome: Option<Outcome>, response: String, tokens: Tokens) {
        self.steps.push(AttemptStep {
            code: code.unwrap_or_default(),
            outcome,
            response,
            prompt_tokens: tokens.prompt,
            cached_tokens: tokens.cached,
            completion_tokens: tokens.completion,
            accepted_tokens: tokens.accepted,
            wall: self.attempt_began.elapsed(),
        });
    }

    /// The answer speaks of the last program, also when a reply without one, or no reply at all, came after it.
    pub(super) fn answer(self, reason: StopReason, model: String, error: Option<String>) -> Answer {
        let wall = self.began.elapsed();
        let last = self.steps.iter().rev().find(|step| !step.code.is_empty());
        let outcome = last.and_then(|step| step.outcome.as_ref());
        let mut stderr = outcome.map(error_text).unwrap_or_default();
        if reason == StopReason::NoCode {
            append(&mut stderr, "the model's reply held no program");
        }
        Answer {
            success: reason == StopReason::Answered,
            stdout: outcome.map(|outcome| outcome.stdout.clone()).unwrap_or_default(),
            stderr,
            code: last.map(|step| step.code.clone()).unwrap_or_default(),
            attempts: self.steps.len(),
            response: self.steps.last().map(|step| step.response.clone()).unwrap_or_default(),
            usage: usage(&self.steps, wall),
            steps: self.steps,
            stop_reason: reason,
            model,
            error,
        }
    }
}

fn usage(steps: &[AttemptStep], wall: Duration) -> AnswerUsage {
    let sum = |of: fn(&AttemptStep) -> usize| steps.iter().map(of).sum();
    AnswerUsage {
        prompt_tokens: sum(|step| step.prompt_tokens),
        cached_tokens: sum(|step| step.cached_tokens),
        completion_tokens: sum(|step| step.completion_tokens),
        accepted_tokens: sum(|step| step.accepted_tokens),
        wall,
    }
}

/// What the program wrote to stderr, then its traceback or how it was stopped.
fn error_text(outcome: &Outcome) -> String {
    let mut text = outcome.stderr.clone();
    if let Some(error) = outcome.error.as_ref().filter(|_| outcome.status != Status::Ok) {
        match error.traceback.trim_end() {
            "" => append(&mut text, &format!("{}: {}", error.kind, error.message)),
            traceback => append(&mut text, traceback),
        }
    }
    if let Some(ending) = ending(outcome) {
        append(&mut text, &ending);
    }
    text
}

/// Adds a line, on a line of its own.
fn append(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
}
