//! The model in this process: text to tokens, tokens through a [`Network`], tokens to text.

mod context;
mod lookup;
mod network;
mod prefix;
#[cfg(test)]
mod testing;
mod tokens;

use std::path::Path;
use std::thread;

pub use self::context::Context;
pub use self::network::Network;
pub(crate) use self::prefix::Prefixes;
use self::tokens::Tokens;
pub use self::tokens::replay;

use super::built::{self, BuiltModel};
use super::onnx::{Decoder, Runtime};
use super::sampler::Sampler;
use super::stop::StopTexts;
use super::template::ChatTemplate;
use super::tokenizer::{ChatTokenizer, TextStream};
use super::{Finish, Message, Model, Prompt, Refusal, Reply, Role};
use crate::{Cancel, Error, Result};

/// A beginning of fewer tokens is evaluated faster than it is read.
const WORTH_KEEPING: usize = 64;

/// A model folder, loaded. One conversation at a time: what it remembers of the last prompt makes the next one cheaper
/// when it begins the same way.
pub struct LocalModel {
    name: String,
    tokenizer: ChatTokenizer,
    end_of_turn: Vec<u32>,
    context: Context,
    drafts: bool,
    prefixes: Option<Prefixes>,
    /// The beginning that was kept or found last.
    kept: Vec<u32>,
}

impl LocalModel {
    /// Loads the model in `folder`. `n_ctx` is cut to what the model was made for.
    pub fn open(folder: &Path, runtime: &Runtime, n_ctx: usize, n_threads: usize) -> Result<Self> {
        let BuiltModel { graph, tokenizer, description } = built::open(folder)?;
        let read_tokenizer = || {
            let template =
                ChatTemplate::new(&description.chat_template, &description.bos_token, &description.eos_token)?;
            ChatTokenizer::new(&tokenizer, template, description.first_token)
        };
        // Each takes about as long as the other.
        let (tokenizer, decoder) = thread::scope(|scope| {
            let tokenizer = scope.spawn(read_tokenizer);
            let decoder = Decoder::open(runtime, &graph, n_ctx.min(description.context_length), n_threads);
            (tokenizer.join(), decoder)
        });
        let tokenizer = tokenizer.map_err(|_| Error::internal("reading the model's tokenizer panicked"))??;
        let context = Context::new(Box::new(decoder?));
        Ok(Self {
            name: description.name,
            tokenizer,
            end_of_turn: description.end_of_turn,
            context,
            drafts: true,
            prefixes: None,
            kept: Vec::new(),
        })
    }

    /// The same, keeping what it makes of the beginning that all prompts share.
    #[must_use]
    pub(crate) fn with_prefixes(self, prefixes: Option<Prefixes>) -> Self {
        Self { prefixes, ..self }
    }

    /// Tokens of prompt and reply together.
    pub fn n_ctx(&self) -> usize {
        self.context.n_ctx()
    }

    /// The ids that `prompt`'s conversation becomes.
    pub fn prompt_ids(&self, prompt: &Prompt<'_>) -> Result<Vec<u32>> {
        self.tokenizer.encode_chat(prompt.messages, prompt.prefill)
    }

    /// The ids of plain text, in which nothing is a control token.
    pub fn text_ids(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer.encode_text(text)
    }

    /// The ids that a conversation begins with whose first messages are those that `prompt` shares with others.
    fn shared<'a>(&self, prompt: &Prompt<'_>, ids: &'a [u32]) -> Result<&'a [u32]> {
        let mut shared = ids;
        // What comes of them shows in the beginning that conversations have in common which differ in what follows.
        for other in ["0", "x y"] {
            let mut messages = prompt.messages.get(..prompt.shared).unwrap_or_default().to_vec();
            messages.push(Message { role: Role::User, content: other.into() });
            let others = self.tokenizer.encode_chat(&messages, "")?;
            let same = shared.iter().zip(&others).take_while(|(a, b)| a == b).count();
            shared = &shared[..same];
        }
        Ok(shared)
    }

    /// Puts the shared beginning of `ids` into the context if it was kept and is worth it; gives it if it is to be kept.
    fn recall<'a>(&mut self, prompt: &Prompt<'_>, ids: &'a [u32]) -> Result<Option<&'a [u32]>> {
        let Some(prefixes) = self.prefixes.as_ref().filter(|_| prompt.shared > 0) else { return Ok(None) };
        if ids.starts_with(&self.kept)
            && self.context.remembered(&self.kept) == self.kept.len()
            && !self.kept.is_empty()
        {
            return Ok(None);
        }
        let shared = self.shared(prompt, ids)?;
        if shared.len() < WORTH_KEEPING {
            return Ok(None);
        }
        let begun = self.context.remembered(ids);
        if begun < shared.len()
            && let Some(states) = prefixes.load(shared)
        {
            if self.context.load(shared, &states) {
                self.kept = shared.to_vec();
            }
            return Ok(None);
        }
        Ok(Some(shared))
    }

    /// Keeps the shared beginning, which the context holds now. That it could not is nothing to stop for.
    fn remember(&mut self, shared: &[u32]) {
        let (Some(prefixes), Some(states)) = (&self.prefixes, self.context.save(shared)) else { return };
        match prefixes.keep(shared, &states) {
            Ok(()) => self.kept = shared.to_vec(),
            Err(error) => log::debug!("the beginning of the prompt is not kept: {error}"),
        }
    }

    /// Whether several tokens are computed in one step where they can be guessed (they are; not to, to measure by).
    pub fn set_drafts(&mut self, drafts: bool) {
        self.drafts = drafts;
    }

    /// What its network holds.
    pub fn context(&mut self) -> &mut Context {
        &mut self.context
    }
}

impl Model for LocalModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal> {
        let ids = self.prompt_ids(prompt).map_err(Refusal::Failed)?;
        let (prompt_tokens, n_ctx) = (ids.len(), self.n_ctx());
        if prompt_tokens >= n_ctx {
            return Err(Refusal::Context { prompt_tokens, n_ctx });
        }
        let to_keep = self.recall(prompt, &ids).map_err(Refusal::Failed)?;
        let mut reply = Continuation {
            text: String::new(),
            tokens: 0,
            most: prompt.max_tokens.min(n_ctx - prompt_tokens),
            stream: self.tokenizer.stream(prompt.prefill),
            stop: StopTexts::new(prompt.stop),
            on_text,
        };
        reply.emit(prompt.prefill);
        let mut made = Reply::new("", Finish::Cancelled);
        if let Some(evaluated) = self.context.prefill(&ids, cancel).map_err(Refusal::Failed)? {
            made.cached_tokens = prompt_tokens - evaluated;
            let sampler = Sampler::new(prompt.sampling);
            let mut tokens = Tokens::new(&mut self.context, sampler, self.drafts);
            made.finish = reply.grow(&mut tokens, &self.end_of_turn, cancel).map_err(Refusal::Failed)?;
            (made.accepted_tokens, made.rejected_tokens) = (tokens.accepted, tokens.rejected);
        }
        (made.text, made.completion_tokens, made.finish) = reply.close(made.finish).map_err(Refusal::Failed)?;
        made.prompt_tokens = prompt_tokens;
        if let Some(shared) = to_keep {
            self.remember(shared);
        }
        Ok(made)
    }
}

/// A reply as it grows.
struct Continuation<'a> {
    text: String,
    /// Tokens of the reply without the one that ended the turn.
    tokens: usize,
    most: usize,
    stream: TextStream<'a>,
    stop: StopTexts<'a>,
    on_text: &'a mut dyn FnMut(&str),
}

impl Continuation<'_> {
    /// Takes tokens until something ends the reply.
    fn grow(&mut self, tokens: &mut Tokens<'_, Sampler>, end_of_turn: &[u32], cancel: &Cancel) -> Result<Finish> {
        while self.tokens < self.most {
            if cancel.is_cancelled() {
                return Ok(Finish::Cancelled);
            }
            let id = tokens.next(self.most - self.tokens)?;
            if end_of_turn.contains(&id) {
                return Ok(Finish::EndOfTurn);
            }
            self.tokens += 1;
            if let Some(piece) = self.stream.step(id)?
                && self.add(&piece)
            {
                return Ok(Finish::Stop);
            }
        }
        Ok(Finish::Length)
    }

    /// Adds a piece, up to the end of a stop text if one ends in it; whether one did.
    fn add(&mut self, piece: &str) -> bool {
        let end = self.stop.end_in(piece);
        self.emit(&piece[..end.unwrap_or(piece.len())]);
        end.is_some()
    }

    fn emit(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.text.push_str(piece);
            (self.on_text)(piece);
        }
    }

    /// Adds what the stream still held back, unless a stop text has ended the reply before it.
    fn close(mut self, finish: Finish) -> Result<(String, usize, Finish)> {
        let mut finish = finish;
        if finish != Finish::Stop {
            let rest = self.stream.finish()?;
            if self.add(&rest) {
                finish = Finish::Stop;
            }
        }
        Ok((self.text, self.tokens, finish))
    }
}
