//! A reply as it grows: tokens become text, and something ends it.

use super::draw::Draw;
use super::repetition::Repetition;
use super::tokens::Tokens;
use crate::model::ending::Ending;
use crate::model::tokenizer::TextStream;
use crate::model::{Finish, Prompt, Reply, TokenLogprobs};
use crate::{Cancel, Result};

pub(super) struct Continuation<'a> {
    text: String,
    /// Tokens of the reply without the one that ended the turn.
    tokens: usize,
    most: usize,
    stream: TextStream<'a>,
    ending: Ending<'a>,
    repetition: Repetition,
    logprobs: Vec<TokenLogprobs>,
    on_text: &'a mut dyn FnMut(&str),
}

impl<'a> Continuation<'a> {
    /// Begins with the prefill; `room` is how many tokens the context holds beside the prompt.
    pub fn new(prompt: &Prompt<'a>, room: usize, stream: TextStream<'a>, on_text: &'a mut dyn FnMut(&str)) -> Self {
        let mut begun = Self {
            text: prompt.prefill.to_owned(),
            tokens: 0,
            most: prompt.max_tokens.min(room),
            stream,
            ending: Ending::new(prompt.prefill, prompt.stop_after, prompt.stop),
            repetition: Repetition::new(),
            logprobs: Vec::new(),
            on_text,
        };
        begun.emit(0);
        begun
    }

    /// Takes tokens until something ends the reply.
    pub fn grow(&mut self, tokens: &mut Tokens<'_, impl Draw>, end_of_turn: &[u32], cancel: &Cancel) -> Result<Finish> {
        while self.tokens < self.most {
            if cancel.is_cancelled() {
                return Ok(Finish::Cancelled);
            }
            let drawn = tokens.next(self.most - self.tokens)?;
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
        }
        Ok(Finish::Length)
    }

    /// Adds a piece, up to the end of a stop text if one ends in it; whether one did.
    fn add(&mut self, piece: &str) -> bool {
        let before = self.text.len();
        self.text.push_str(piece);
        let end = self.ending.find(&self.text);
        self.text.truncate(end.unwrap_or(self.text.len()));
        self.emit(before);
        end.is_some()
    }

    /// Hands on what the reply holds from `before` on.
    fn emit(&mut self, before: usize) {
        if let Some(piece) = self.text.get(before..).filter(|piece| !piece.is_empty()) {
            (self.on_text)(piece);
        }
    }

    /// Adds what the stream still held back, unless a stop text has ended the reply before it.
    pub fn close(mut self, finish: Finish) -> Result<Reply> {
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
