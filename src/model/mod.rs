//! Models that continue a conversation. The loop knows only the [`Model`] trait; each implementation lives in its own room.

mod built;
mod choice;
pub(crate) mod default;
mod ending;
mod folder;
mod gguf;
mod http;
mod hub;
mod identity;
mod kernel;
mod known;
mod local;
mod name;
mod notes;
mod obtain;
mod onnx;
mod open;
mod openai;
mod quant;
mod row_order;
mod sampler;
mod sampling;
mod scripted;
mod spelling;
mod template;
mod tokenizer;
mod turn_ends;

/// The parts of the in-process model, for tests and measurements; not part of the API.
#[doc(hidden)]
pub mod parts {
    pub use super::gguf::{Weights, build};
    pub use super::local::{Context, LocalModel, Network, Repetition, replay};
    pub use super::onnx::{Decoder, Runtime};
    pub use super::open::{onnxruntime, open, smollm2};
    pub use super::sampler::{Drawn, Likelihood, Sampler};
}

pub(crate) use known::Known;
pub(crate) use open::{inventory, keeps, open};
pub use sampling::Sampling;
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

/// A grammar that a reply is held to while it is written.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Guide {
    /// The model says what it likes.
    #[default]
    None,
    /// At most a line of text, then one fenced Python block.
    Fence,
    /// The same, and what is in the block looks like Python: brackets and strings are closed, and no line is prose.
    Python,
}

impl Guide {
    pub const ALL: [Self; 3] = [Self::None, Self::Fence, Self::Python];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Fence => "fence",
            Self::Python => "python",
        }
    }

    /// The guide of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|guide| guide.as_str() == name)
    }
}

/// One turn asked of a model.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct Prompt<'a> {
    pub messages: &'a [Message],
    /// How many of the messages, from the first on, other conversations begin with too: a model may keep what it makes of
    /// them.
    pub shared: usize,
    /// The beginning of the assistant's reply, put into its mouth; `Reply::text` and the stream include it. A model that
    /// cannot be begun for says it itself, or begins in another way.
    pub prefill: &'a str,
    /// The reply ends with the first of these texts that stands after `stop_after` and outside triple-quoted strings; the
    /// text itself is part of the reply.
    pub stop: &'a [&'a str],
    /// What a reply must have said, or have been begun with, before a stop text ends it. Empty: nothing but the prefill.
    pub stop_after: &'a str,
    pub max_tokens: usize,
    pub sampling: &'a Sampling,
    /// What the whole reply, prefill included, is held to; a model that knows no grammars says what it likes.
    pub guide: Guide,
}

impl<'a> Prompt<'a> {
    /// Asks for up to 512 tokens, with nothing put into the model's mouth and no stop text.
    pub fn new(messages: &'a [Message], sampling: &'a Sampling) -> Self {
        let (prefill, stop, stop_after, guide) = ("", [].as_slice(), "", Guide::None);
        Self { messages, shared: 0, prefill, stop, stop_after, max_tokens: 512, sampling, guide }
    }

    #[must_use]
    pub fn with_prefill(self, prefill: &'a str) -> Self {
        Self { prefill, ..self }
    }

    #[must_use]
    pub fn with_shared(self, messages: usize) -> Self {
        Self { shared: messages, ..self }
    }

    #[must_use]
    pub fn with_stop(self, stop: &'a [&'a str]) -> Self {
        Self { stop, ..self }
    }

    #[must_use]
    pub fn with_stop_after(self, stop_after: &'a str) -> Self {
        Self { stop_after, ..self }
    }

    #[must_use]
    pub fn with_max_tokens(self, max_tokens: usize) -> Self {
        Self { max_tokens, ..self }
    }

    #[must_use]
    pub fn with_guide(self, guide: Guide) -> Self {
        Self { guide, ..self }
    }
}

/// What a model said to a [`Prompt`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// All of it, the prefill included where it was put before.
    pub text: String,
    pub prompt_tokens: usize,
    /// Tokens of the prompt that were remembered and not evaluated again.
    pub cached_tokens: usize,
    pub completion_tokens: usize,
    /// Tokens that were guessed from what had been said before, and right; such cost less time.
    pub accepted_tokens: usize,
    pub finish: Finish,
    /// One for each token of the reply, if [`Sampling::logprobs`] asks for them and the model tells them.
    pub logprobs: Vec<TokenLogprobs>,
}

impl Reply {
    /// A reply whose tokens were not counted.
    pub fn new(text: impl Into<String>, finish: Finish) -> Self {
        Self {
            text: text.into(),
            prompt_tokens: 0,
            cached_tokens: 0,
            completion_tokens: 0,
            accepted_tokens: 0,
            finish,
            logprobs: Vec::new(),
        }
    }

    #[must_use]
    pub fn with_tokens(self, prompt_tokens: usize, completion_tokens: usize) -> Self {
        Self { prompt_tokens, completion_tokens, ..self }
    }
}

/// How likely a token was, by the model's own distribution: before bias, penalties and temperature.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Logprob {
    pub id: u32,
    /// What it says by itself; bytes that are a part of a character only are U+FFFD.
    pub text: String,
    /// The natural logarithm of its probability.
    pub logprob: f32,
}

/// The probabilities at one place of a reply.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct TokenLogprobs {
    /// The token that stands there.
    pub token: Logprob,
    /// The likeliest tokens for the place, likeliest first.
    pub top: Vec<Logprob>,
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
    /// The model repeated itself without end.
    Repetition,
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

    /// How many weights it has, if that is known: small models are spoken to in another way than larger ones.
    fn parameters(&self) -> Option<u64> {
        None
    }

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
