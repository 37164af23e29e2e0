//! The model in this process: text to tokens, tokens through a [`Network`], tokens to text.

mod context;
mod network;

use std::path::Path;
use std::thread;

pub use self::context::Context;
pub use self::network::Network;

use super::folder::{self, OpenFolder};
use super::onnx::{Decoder, Runtime};
use super::sampler::Sampler;
use super::stop::StopTexts;
use super::template::ChatTemplate;
use super::tokenizer::{ChatTokenizer, TextStream};
use super::{Finish, Model, Prompt, Refusal, Reply};
use crate::{Cancel, Error, Result};

/// A model folder, loaded. One conversation at a time: what it remembers of the last prompt makes the next one cheaper
/// when it begins the same way.
pub struct LocalModel {
    name: String,
    tokenizer: ChatTokenizer,
    end_of_turn: Vec<u32>,
    context: Context,
}

impl LocalModel {
    /// Loads the model in `folder`, or the one whose graph that file is. `n_ctx` is cut to what the model was made for.
    pub fn open(folder: &Path, runtime: &Runtime, n_ctx: usize, n_threads: usize) -> Result<Self> {
        let OpenFolder { graphs, tokenizer, description } = folder::open(folder)?;
        let read_tokenizer = || {
            let template =
                ChatTemplate::new(&description.chat_template, &description.bos_token, &description.eos_token)?;
            ChatTokenizer::new(&tokenizer, template, description.first_token)
        };
        // Each takes about as long as the other.
        let (tokenizer, decoder) = thread::scope(|scope| {
            let tokenizer = scope.spawn(read_tokenizer);
            let decoder = Decoder::open_graphs(runtime, &graphs, n_ctx.min(description.context_length), n_threads);
            (tokenizer.join(), decoder)
        });
        let tokenizer = tokenizer.map_err(|_| Error::internal("reading the model's tokenizer panicked"))??;
        let mut decoder = decoder?;
        decoder.limit_vocabulary(tokenizer.vocabulary());
        let context = Context::new(Box::new(decoder));
        Ok(Self { name: description.name, tokenizer, end_of_turn: description.end_of_turn, context })
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
            on_text,
        };
        reply.emit(prompt.prefill);
        let mut sampler = Sampler::new(prompt.sampling);
        let finish = match self.context.prefill(&ids, cancel).map_err(Refusal::Failed)? {
            None => Finish::Cancelled,
            Some(_) => {
                reply.decode(&mut self.context, &mut sampler, &self.end_of_turn, cancel).map_err(Refusal::Failed)?
            }
        };
        let (text, completion_tokens, finish) = reply.close(finish).map_err(Refusal::Failed)?;
        Ok(Reply::new(text, finish).with_tokens(prompt_tokens, completion_tokens))
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
    /// Draws tokens until something ends the reply. The prompt is in the context.
    fn decode(
        &mut self,
        context: &mut Context,
        sampler: &mut Sampler,
        end_of_turn: &[u32],
        cancel: &Cancel,
    ) -> Result<Finish> {
        while self.tokens < self.most {
            if cancel.is_cancelled() {
                return Ok(Finish::Cancelled);
            }
            let id = sampler
                .draw(context.logits())
                .ok_or_else(|| Error::model("the model computes nothing but invalid numbers").advise(REBUILD))?;
            if end_of_turn.contains(&id) {
                return Ok(Finish::EndOfTurn);
            }
            self.tokens += 1;
            if let Some(piece) = self.stream.step(id)?
                && self.add(&piece)
            {
                return Ok(Finish::Stop);
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

const REBUILD: &str = "remove the model from the cache folder so that it is built again";
