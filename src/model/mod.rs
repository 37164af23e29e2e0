//! Models that continue a conversation. The loop knows only the [`Model`] trait; each implementation lives in its own room.

mod built;
mod folder;
mod gguf;
mod local;
mod name;
mod onnx;
mod open;
mod sampler;
mod scripted;
mod stop;
mod template;
mod tokenizer;

/// The parts of the in-process model, for tests and measurements; not part of the API.
#[doc(hidden)]
pub mod parts {
    pub use super::gguf::{Weights, build};
    pub use super::local::{Context, LocalModel, Network};
    pub use super::onnx::{Decoder, Runtime};
    pub use super::open::artefacts;
}

pub(crate) use open::{inventory, keeps, open};
pub use scripted::ScriptedModel;

use std::fmt;

use crate::{Cancel, Result};

/// Who says a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    System,
    User,
    Assistant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub content: String,
}

/// How the next token is drawn. `temperature` 0 is greedy, and then the rest does not matter.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    pub temperature: f32,
    /// Keep the most likely tokens whose probabilities sum to this (1.0: all).
    pub top_p: f32,
    /// Keep so many of the most likely tokens (0: all).
    pub top_k: usize,
    pub seed: u64,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 0.0, top_p: 0.95, top_k: 40, seed: 0 }
    }
}

/// One turn asked of a model.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    pub messages: &'a [Message],
    /// The beginning of the assistant's reply, put into its mouth; `Reply::text` and the stream include it.
    pub prefill: &'a str,
    /// Generation ends before any of these texts would be complete *after the prefill*; the text itself is part of the reply.
    pub stop: &'a [&'a str],
    pub max_tokens: usize,
    pub sampling: &'a Sampling,
}

impl<'a> Prompt<'a> {
    /// Asks for up to 512 tokens, with nothing put into the model's mouth and no stop text.
    pub fn new(messages: &'a [Message], sampling: &'a Sampling) -> Self {
        Self { messages, prefill: "", stop: &[], max_tokens: 512, sampling }
    }

    #[must_use]
    pub fn with_prefill(self, prefill: &'a str) -> Self {
        Self { prefill, ..self }
    }

    #[must_use]
    pub fn with_stop(self, stop: &'a [&'a str]) -> Self {
        Self { stop, ..self }
    }

    #[must_use]
    pub fn with_max_tokens(self, max_tokens: usize) -> Self {
        Self { max_tokens, ..self }
    }
}

/// What a model said to a [`Prompt`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// All of it, the prefill included.
    pub text: String,
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    pub finish: Finish,
}

impl Reply {
    /// A reply whose tokens were not counted.
    pub fn new(text: impl Into<String>, finish: Finish) -> Self {
        Self { text: text.into(), prompt_tokens: 0, completion_tokens: 0, finish }
    }

    #[must_use]
    pub fn with_tokens(self, prompt_tokens: usize, completion_tokens: usize) -> Self {
        Self { prompt_tokens, completion_tokens, ..self }
    }
}

/// Why a reply ended.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The model ended its turn.
    EndOfTurn,
    /// One of the stop texts appeared.
    Stop,
    /// `max_tokens` were made, or the context is full.
    Length,
    Cancelled,
}

/// Why a model gave no reply.
#[non_exhaustive]
#[derive(Debug)]
pub enum Refusal {
    /// The prompt alone fills the context; a shorter one is worth trying.
    Context {
        prompt_tokens: usize,
        n_ctx: usize,
    },
    Failed(crate::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context { prompt_tokens, n_ctx } => {
                write!(f, "the prompt has {prompt_tokens} tokens and the context holds {n_ctx}")
            }
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // Its own message is ours already.
            Self::Failed(error) => error.source(),
            Self::Context { .. } => None,
        }
    }
}

impl From<crate::Error> for Refusal {
    fn from(error: crate::Error) -> Self {
        Self::Failed(error)
    }
}

/// Something that continues a conversation.
///
/// The contents of messages, and the prefill, are data: people, files, programs and earlier replies wrote them, and they
/// come as they were written. Each implementation must see to it that a text in them which looks like one of its control
/// tokens (`<|im_end|>` and the like) is read as text, never as the token.
pub trait Model: Send {
    /// What to call it in an answer.
    fn name(&self) -> &str;

    /// Continues the conversation, handing each piece of text to `on_text` as soon as it is whole (never a part of a character).
    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal>;
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn refusals_are_errors_that_say_why() {
        let full = Refusal::Context { prompt_tokens: 3000, n_ctx: 2048 };
        assert_eq!(full.to_string(), "the prompt has 3000 tokens and the context holds 2048");
        assert!(full.source().is_none());
        let failed = Refusal::from(crate::Error::model("no server").context("the model"));
        assert_eq!(failed.to_string(), "the model: no server");
    }
}
