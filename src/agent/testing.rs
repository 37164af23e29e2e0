//! Outcomes and models made to measure, for the tests of the loop.

use std::collections::VecDeque;

use crate::model::{Finish, Message, Model, Prompt, Refusal, Reply, Sampling};
use crate::sandbox::{CellError, Outcome, Status};
use crate::{Cancel, Error};

pub(super) fn outcome(status: Status) -> Outcome {
    Outcome { status, ..Outcome::default() }
}

pub(super) fn printed(text: &str) -> Outcome {
    Outcome { stdout: text.to_owned(), ..outcome(Status::Ok) }
}

pub(super) fn raised(kind: &str, message: &str) -> Outcome {
    let traceback = format!("Traceback (most recent call last):\n  File \"<cell>\", line 1\n{kind}: {message}");
    let error = CellError { kind: kind.to_owned(), message: message.to_owned(), line: Some(1), traceback };
    Outcome { error: Some(error), ..outcome(Status::Error) }
}

/// What was asked of a [`Planned`] model.
pub(super) struct Asked {
    pub(super) messages: Vec<Message>,
    pub(super) sampling: Sampling,
}

/// Says what it was told to, counts a token for four bytes, and remembers what it was asked.
pub(super) struct Planned {
    pub(super) replies: VecDeque<Reply>,
    pub(super) n_ctx: usize,
    pub(super) asked: Vec<Asked>,
}

impl Planned {
    pub(super) fn new(replies: &[&str]) -> Self {
        let reply = |text: &&str| Reply::new(*text, Finish::EndOfTurn).with_tokens(0, text.len().div_ceil(4));
        Self { replies: replies.iter().map(reply).collect(), n_ctx: 1 << 20, asked: Vec::new() }
    }

    pub(super) fn programs(codes: &[&str]) -> Self {
        let replies: Vec<String> = codes.iter().map(|code| format!("```python\n{code}\n```")).collect();
        Self::new(&replies.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// What the last question said.
    pub(super) fn told(&self, question: usize) -> &str {
        &self.asked[question].messages.last().expect("a message").content
    }
}

impl Model for Planned {
    fn name(&self) -> &str {
        "planned"
    }

    fn generate(&mut self, prompt: &Prompt<'_>, on_text: &mut dyn FnMut(&str), _: &Cancel) -> Result<Reply, Refusal> {
        let prompt_tokens = prompt.messages.iter().map(|message| message.content.len().div_ceil(4)).sum();
        self.asked.push(Asked { messages: prompt.messages.to_vec(), sampling: prompt.sampling.clone() });
        if prompt_tokens >= self.n_ctx {
            return Err(Refusal::Context { prompt_tokens, n_ctx: self.n_ctx });
        }
        let reply = self.replies.pop_front().ok_or_else(|| Refusal::Failed(Error::model("nothing left to say")))?;
        on_text(&reply.text);
        Ok(Reply { prompt_tokens, ..reply })
    }
}
