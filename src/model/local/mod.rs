//! The model in this process: text to tokens, tokens through a [`Network`], tokens to text.

mod context;
mod continuation;
mod draw;
mod guide;
mod lookup;
mod network;
mod prefix;
mod repetition;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tokens;

use std::cell::OnceCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread;

pub use self::context::Context;
use self::continuation::Continuation;
use self::draw::Choice;
use self::guide::{Guided, Guides};
pub use self::network::Network;
pub(crate) use self::prefix::Prefixes;
pub use self::repetition::Repetition;
use self::tokens::Tokens;
pub use self::tokens::replay;

use super::folder::{self, OpenFolder, Place};
use super::onnx::{Decoder, Runtime};
use super::sampler::Sampler;
use super::template::ChatTemplate;
use super::tokenizer::ChatTokenizer;
use super::{Finish, Guide, Message, Model, Prompt, Refusal, Reply, Role};
use crate::{Cancel, Error, Result};

/// A beginning of fewer tokens is evaluated faster than it is read.
const WORTH_KEEPING: usize = 64;

/// A model folder, loaded. One conversation at a time: what it remembers of the last prompt makes the next one cheaper
/// when it begins the same way.
pub struct LocalModel {
    name: String,
    parameters: Option<u64>,
    tokenizer: ChatTokenizer,
    end_of_turn: Vec<u32>,
    context: Context,
    /// Tokens that the tokenizer knows; the network's further logits mean nothing.
    vocabulary: usize,
    /// Made when the first reply asks for a guide.
    guides: OnceCell<Guides>,
    drafts: bool,
    prefixes: Option<Prefixes>,
    /// The beginning that was kept or found last.
    kept: Vec<u32>,
}

impl LocalModel {
    /// Loads the model in `folder`, or the one whose graph that file is. `n_ctx` is cut to what the model was made for.
    pub fn open(folder: &Path, runtime: &Runtime, n_ctx: usize, n_threads: usize) -> Result<Self> {
        Self::open_at(&Place::of(folder), runtime, n_ctx, n_threads)
    }

    /// The same by its place.
    pub(crate) fn open_at(place: &Place, runtime: &Runtime, n_ctx: usize, n_threads: usize) -> Result<Self> {
        let OpenFolder { graphs, tokenizer, description } = folder::open(place)?;
        let n_ctx = n_ctx.min(description.context_length);
        let read_tokenizer = || {
            let template =
                ChatTemplate::new(&description.chat_template, &description.bos_token, &description.eos_token)?;
            let read = if place.sealed { ChatTokenizer::of_ours } else { ChatTokenizer::new };
            read(&tokenizer, template, description.first_token)
        };
        // Each takes about as long as the other. What reading the tokenizer leaves free, the model takes when it runs: an
        // allocator may keep the free memory of each thread apart.
        let (tokenizer, decoder) = thread::scope(|scope| {
            let decoder = scope.spawn(|| Decoder::open_graphs(runtime, &graphs, n_ctx, n_threads));
            // The file may be anybody's, and the library that reads it may panic.
            (catch_unwind(AssertUnwindSafe(read_tokenizer)), decoder.join())
        });
        let tokenizer = tokenizer.map_err(|_| {
            Error::model("reading the model's tokenizer panicked").advise("the file may be damaged: name another model")
        })??;
        let mut decoder = decoder.map_err(|_| Error::internal("opening the model panicked"))??;
        let vocabulary = tokenizer.vocabulary(decoder.vocabulary());
        decoder.limit_vocabulary(vocabulary);
        let context = Context::new(Box::new(decoder));
        Ok(Self {
            name: description.name,
            parameters: description.parameters,
            tokenizer,
            end_of_turn: description.end_of_turn,
            context,
            vocabulary,
            guides: OnceCell::new(),
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

    /// The same, called by another name if one is given.
    #[must_use]
    pub(crate) fn named(self, name: Option<String>) -> Self {
        Self { name: name.unwrap_or(self.name), ..self }
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

    /// The guide of a reply to `prompt`; without one the reply is written freely.
    fn guide(&self, prompt: &Prompt<'_>) -> Result<Option<Guided>> {
        if prompt.guide == Guide::None {
            return Ok(None);
        }
        let guides = match self.guides.get() {
            Some(guides) => guides,
            None => {
                let made = Guides::new(&self.tokenizer.token_bytes(self.vocabulary), &self.end_of_turn)?;
                self.guides.get_or_init(|| made)
            }
        };
        Ok(guides.start(prompt.guide, prompt.prefill))
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
            // States that cannot be taken are not asked for again: the prompt is evaluated instead.
            self.context.load(shared, &states);
            self.kept = shared.to_vec();
            return Ok(None);
        }
        Ok(Some(shared))
    }

    /// Keeps the shared beginning, which the context holds now. That it could not is nothing to stop for, and nothing to
    /// try again.
    fn remember(&mut self, shared: &[u32], cancel: &Cancel) {
        let (Some(prefixes), Some(states)) = (&self.prefixes, self.context.save(shared)) else { return };
        self.kept = shared.to_vec();
        if let Err(error) = prefixes.keep(shared, &states, cancel) {
            log::debug!("the beginning of the prompt is not kept: {error}");
        }
    }

    /// The same with another network around its own, to measure by.
    #[must_use]
    pub fn around(self, network: impl FnOnce(Box<dyn Network>) -> Box<dyn Network>) -> Self {
        Self { context: Context::new(network(self.context.into_network())), ..self }
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

    fn parameters(&self) -> Option<u64> {
        self.parameters
    }

    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal> {
        let ids = self.prompt_ids(prompt)?;
        let (prompt_tokens, n_ctx) = (ids.len(), self.n_ctx());
        if prompt_tokens >= n_ctx {
            return Err(Refusal::Context { prompt_tokens, n_ctx });
        }
        let to_keep = self.recall(prompt, &ids)?;
        let choice = Choice::new(Sampler::new(prompt.sampling, self.vocabulary), self.guide(prompt)?);
        let stream = self.tokenizer.stream(prompt.prefill);
        let mut continuation = Continuation::new(prompt, n_ctx - prompt_tokens, stream, on_text);
        let Some(evaluated) = self.context.prefill(&ids, cancel)? else {
            return Ok(Reply { prompt_tokens, ..continuation.close(Finish::Cancelled)? });
        };
        let mut tokens = Tokens::new(&mut self.context, choice, self.drafts);
        let finish = continuation.grow(&mut tokens, &self.end_of_turn, cancel)?;
        let reply = Reply {
            prompt_tokens,
            cached_tokens: prompt_tokens - evaluated,
            accepted_tokens: tokens.accepted,
            ..continuation.close(finish)?
        };
        if let Some(shared) = to_keep {
            self.remember(shared, cancel);
        }
        Ok(reply)
    }
}
