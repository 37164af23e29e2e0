//! The model in this process: text to tokens, tokens through a [`Network`], tokens to text.

mod choice;
mod context;
mod guide;
mod network;
mod repetition;

use std::cell::OnceCell;
use std::path::Path;
use std::thread;

use self::choice::Choice;
pub use self::context::Context;
use self::guide::{Guided, Guides};
pub use self::network::Network;
pub use self::repetition::Repetition;

use super::built::{self, BuiltModel};
use super::onnx::{Decoder, Runtime};
use super::sampler::Sampler;
use super::stop::StopTexts;
use super::template::ChatTemplate;
use super::tokenizer::{ChatTokenizer, TextStream};
use super::{Finish, Guide, Model, Prompt, Refusal, Reply, TokenLogprobs};
use crate::{Cancel, Error, Result};

/// A model folder, loaded. One conversation at a time: what it remembers of the last prompt makes the next one cheaper
/// when it begins the same way.
pub struct LocalModel {
    name: String,
    tokenizer: ChatTokenizer,
    end_of_turn: Vec<u32>,
    context: Context,
    /// Tokens that the tokenizer knows; the network's further logits mean nothing.
    vocabulary: usize,
    /// Made when the first reply asks for a guide.
    guides: OnceCell<Guides>,
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
        let vocabulary = tokenizer.vocabulary(context.vocabulary());
        Ok(Self {
            name: description.name,
            tokenizer,
            end_of_turn: description.end_of_turn,
            context,
            vocabulary,
            guides: OnceCell::new(),
        })
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
        Ok(guides.start(prompt.guide, &self.tokenizer.encode_text(prompt.prefill)?))
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
        let mut reply = Continuation {
            text: String::new(),
            tokens: 0,
            most: prompt.max_tokens.min(n_ctx - prompt_tokens),
            stream: self.tokenizer.stream(),
            stop: StopTexts::new(prompt.stop),
            repetition: Repetition::new(),
            logprobs: Vec::new(),
            on_text,
        };
        reply.emit(prompt.prefill);
        let guide = self.guide(prompt).map_err(Refusal::Failed)?;
        let mut choice = Choice::new(Sampler::new(prompt.sampling, self.vocabulary), guide);
        let finish = match self.context.prefill(&ids, cancel).map_err(Refusal::Failed)? {
            None => Finish::Cancelled,
            Some(_) => {
                reply.decode(&mut self.context, &mut choice, &self.end_of_turn, cancel).map_err(Refusal::Failed)?
            }
        };
        Ok(Reply { prompt_tokens, ..reply.close(finish).map_err(Refusal::Failed)? })
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
    repetition: Repetition,
    logprobs: Vec<TokenLogprobs>,
    on_text: &'a mut dyn FnMut(&str),
}

impl Continuation<'_> {
    /// Draws tokens until something ends the reply. The prompt is in the context.
    fn decode(
        &mut self,
        context: &mut Context,
        choice: &mut Choice,
        end_of_turn: &[u32],
        cancel: &Cancel,
    ) -> Result<Finish> {
        while self.tokens < self.most {
            if cancel.is_cancelled() {
                return Ok(Finish::Cancelled);
            }
            let drawn = choice.next(context.logits()).ok_or_else(|| {
                Error::model("no token can be said: every logit is invalid or forbidden").advise(REBUILD)
            })?;
            let id = drawn.id;
            if end_of_turn.contains(&id) {
                return Ok(Finish::EndOfTurn);
            }
            self.tokens += 1;
            self.logprobs.extend(self.stream.logprobs(drawn)?);
            if let Some(piece) = self.stream.step(id)?
                && self.add(&piece)
            {
                return Ok(Finish::Stop);
            }
            if self.repetition.push(id) {
                return Ok(Finish::Repetition);
            }
            if self.tokens < self.most {
                context.append(&[id], 1)?;
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
    fn close(mut self, finish: Finish) -> Result<Reply> {
        let mut finish = finish;
        if finish != Finish::Stop {
            let rest = self.stream.finish()?;
            if self.add(&rest) {
                finish = Finish::Stop;
            }
        }
        Ok(Reply { logprobs: self.logprobs, ..Reply::new(self.text, finish).with_tokens(0, self.tokens) })
    }
}

const REBUILD: &str = "remove the model from the cache folder so that it is built again";
