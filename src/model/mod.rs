//! Models that continue a conversation. The loop knows only the [`Model`] trait; each implementation lives in its own room.

mod built;
mod gguf;
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
    pub use super::onnx::{Decoder, OnnxModel, Runtime};
    pub use super::open::artefacts;
}

pub(crate) use open::{inventory, keeps, open};
pub use scripted::ScriptedModel;

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
#[derive(Clone, Debug)]
pub struct Prompt<'a> {
    pub messages: &'a [Message],
    /// The beginning of the assistant's reply, put into its mouth; `Reply::text` and the stream include it.
    pub prefill: &'a str,
    /// Generation ends before any of these texts would be complete *after the prefill*; the text itself is part of the reply.
    pub stop: &'a [&'a str],
    pub max_tokens: usize,
    pub sampling: &'a Sampling,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    pub prompt_tokens: usize,
    pub completion_tokens: usize,
    pub finish: Finish,
}

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
#[derive(Debug)]
pub enum Refusal {
    /// The prompt alone fills the context.
    Context {
        prompt_tokens: usize,
        n_ctx: usize,
    },
    Failed(crate::Error),
}

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
