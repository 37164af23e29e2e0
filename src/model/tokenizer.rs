//! Text to token ids and back, with one promise: only the chat template can say a control token.
//!
//! Those are the tokens that the file calls special, and the user-defined ones too, which are turn and tool markers as
//! often; only runs of white space are harmless and stay tokens wherever they come up.
//!
//! What people, programs and the model itself wrote may contain `<|im_end|>` and the like. In message contents each such
//! text is broken by a mark before the template is rendered, so every control token found in the rendering is the
//! template's own; the marks are taken out again and what was broken is encoded as plain text. Unmarked text is encoded
//! exactly as it would be otherwise, across the borders of template and content.

mod bounds;
mod control;
#[cfg(test)]
pub(super) mod tests;
mod unigram;

use std::collections::HashSet;

use tokenizers::models::bpe::BPE;
use tokenizers::{
    AddedToken, DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Tokenizer, TokenizerImpl,
};

use self::control::{ControlTokens, Mark};
use self::unigram::Unigram;
use super::sampler::Drawn;
use super::spelling::Spelling;
use super::template::ChatTemplate;
use super::{Logprob, Message, TokenLogprobs};
use crate::{Error, Result};

pub(crate) struct ChatTokenizer {
    /// Encodes the texts of control tokens as plain text.
    plain: Tokenizer,
    /// The tokens that are no text when they are decoded.
    silent: HashSet<u32>,
    control: ControlTokens,
    template: ChatTemplate,
    first_token: Option<u32>,
    /// How the vocabulary spells bytes.
    spelling: Spelling,
    /// What its unigram model, if it is one, leaves to be done.
    unigram: Option<Unigram>,
    /// A text is encoded with a space before it, which is not its own.
    space_prefix: bool,
}

impl ChatTokenizer {
    /// `tokenizer` is the content of a `tokenizer.json`, which may be anybody's.
    pub fn new(tokenizer: &[u8], template: ChatTemplate, first_token: Option<u32>) -> Result<Self> {
        bounds::check(tokenizer).map_err(|error| error.context("the model's tokenizer"))?;
        Self::of_ours(tokenizer, template, first_token)
    }

    /// The same of a file that this program wrote after it had looked through it as [`new`](Self::new) does.
    pub fn of_ours(tokenizer: &[u8], template: ChatTemplate, first_token: Option<u32>) -> Result<Self> {
        let mut plain = read(tokenizer)?;
        // Files of other makers may cut or fill up what is encoded.
        plain.with_padding(None).with_truncation(None).map_err(failed)?;
        let mut added = plain.get_added_tokens_decoder();
        let silent = added.iter().filter(|(_, token)| token.special).map(|(&id, _)| id).collect();
        added.retain(|_, token| !token.content.trim().is_empty());
        let texts: Vec<(String, u32)> = added.iter().map(|(&id, token)| (token.content.clone(), id)).collect();
        let control = ControlTokens::new(&texts)?;
        // What is special can be told to be plain text; being user-defined cannot.
        let defined = added.into_values().filter(|token| !token.special);
        let special: Vec<AddedToken> = defined.map(|token| token.special(true)).collect();
        plain.add_special_tokens(special).map_err(failed)?;
        plain.set_encode_special_tokens(true);
        let spelling = Spelling::of(&plain);
        let unigram = Unigram::take_apart(&mut plain, tokenizer, &control.ids())?;
        let mut this = Self { plain, silent, control, template, first_token, spelling, unigram, space_prefix: false };
        this.space_prefix = this.adds_space()?;
        Ok(this)
    }

    /// Whether texts are encoded with a space before them.
    fn adds_space(&self) -> Result<bool> {
        if !matches!(self.spelling, Spelling::Pieces) {
            return Ok(false);
        }
        let first = self.encode_text("x")?.first().and_then(|&id| self.bytes(id));
        Ok(first.is_some_and(|bytes| bytes.starts_with(b" ")))
    }

    /// One more than the greatest of the ids below `logits` that it knows: networks may have more logits than there are
    /// tokens.
    pub fn vocabulary(&self, logits: usize) -> usize {
        (0..logits).rev().find(|&id| self.plain.id_to_token(id as u32).is_some()).map_or(0, |last| last + 1)
    }

    /// The ids of the whole conversation, up to and with `prefill`, the beginning of the assistant's next reply.
    pub fn encode_chat(&self, messages: &[Message], prefill: &str) -> Result<Vec<u32>> {
        let mark = Mark::unguessable();
        let guarded: Vec<Message> = messages
            .iter()
            .map(|message| Message {
                role: message.role,
                content: self.control.guard(&message.content, &mark).into_owned(),
            })
            .collect();
        let mut text = self.template.render(&guarded)?;
        text.push_str(&self.control.guard(prefill, &mark));
        let mut ids = self.encode_rendered(&text, &mark)?;
        if let Some(first) = self.first_token.filter(|first| ids.first() != Some(first)) {
            ids.insert(0, first);
        }
        Ok(ids)
    }

    /// The ids of a text in which nothing is a control token.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u32>> {
        match &self.unigram {
            Some(unigram) => Ok(unigram.ids(&self.plain.encode(text, false).map_err(failed)?)),
            None => Ok(self.plain.encode_fast(text, false).map_err(failed)?.get_ids().to_vec()),
        }
    }

    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        let spoken: Vec<u32> = ids.iter().copied().filter(|id| !self.silent.contains(id)).collect();
        match self.spelling {
            // The library's own way takes all bytes beside each other for broken when some are.
            Spelling::Pieces => {
                let bytes: Vec<u8> = spoken.iter().filter_map(|&id| self.bytes(id)).flatten().collect();
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            Spelling::Bytes(_) | Spelling::Words => self.plain.decode(&spoken, false).map_err(failed),
        }
    }

    /// The bytes that a token of the vocabulary says.
    fn bytes(&self, id: u32) -> Option<Vec<u8>> {
        match self.unigram.as_ref().and_then(|unigram| unigram.byte(id)) {
            Some(byte) => Some(vec![byte]),
            None => self.plain.id_to_token(id).map(|token| self.spelling.bytes(&token)),
        }
    }

    /// The bytes that each of the first `count` ids says; `None` for control tokens and for what is no text.
    pub fn token_bytes(&self, count: usize) -> Vec<Option<Vec<u8>>> {
        let control: HashSet<u32> = self.control.ids().union(&self.silent).copied().collect();
        let added = self.plain.get_added_tokens_decoder();
        (0..count as u32)
            .map(|id| match added.get(&id) {
                _ if control.contains(&id) => None,
                Some(token) => Some(token.content.clone().into_bytes()),
                None => self.bytes(id),
            })
            .collect()
    }

    /// A stream of what comes after `prefill`.
    pub fn stream(&self, prefill: &str) -> TextStream<'_> {
        let own_space = !self.space_prefix || !prefill.is_empty();
        TextStream { tokenizer: self, ids: Vec::new(), settled: 0, emitted: 0, own_space }
    }

    fn encode_rendered(&self, text: &str, mark: &Mark) -> Result<Vec<u32>> {
        let (mut ids, mut done) = (Vec::new(), 0);
        while let Some((found, id)) = self.control.next(text, done, mark) {
            self.encode_between(&text[done..found.start], mark, &mut ids)?;
            ids.push(id);
            done = found.end;
        }
        self.encode_between(&text[done..], mark, &mut ids)?;
        Ok(ids)
    }

    fn encode_between(&self, text: &str, mark: &Mark, ids: &mut Vec<u32>) -> Result<()> {
        if !text.is_empty() {
            ids.extend(self.encode_text(&mark.removed_from(text))?);
        }
        Ok(())
    }
}

/// Turns ids into text piece by piece, holding back what is not yet a whole character.
pub(crate) struct TextStream<'a> {
    tokenizer: &'a ChatTokenizer,
    ids: Vec<u32>,
    /// The ids before this one were emitted whole, and serve only as context of the next: some decoders treat the
    /// beginning of a text differently.
    settled: usize,
    /// Bytes of the text of `ids[settled..]` that were emitted.
    emitted: usize,
    /// A space at the beginning of what comes next is text, not the tokenizer's.
    own_space: bool,
}

/// Ids decoded again as context of the next one.
const CONTEXT: usize = 4;
/// No character needs so many tokens; text that still looks unfinished is not UTF-8 and will never be.
const MAX_UNFINISHED: usize = 16;

impl TextStream<'_> {
    /// The text that `id` completes, if it completes any.
    pub fn step(&mut self, id: u32) -> Result<Option<String>> {
        self.ids.push(id);
        let text = self.tokenizer.decode(&self.ids[self.settled..])?;
        let unfinished = text.ends_with(char::REPLACEMENT_CHARACTER) && self.ids.len() - self.settled < MAX_UNFINISHED;
        if unfinished || text.len() <= self.emitted {
            return Ok(None);
        }
        let piece = self.without_prefix(text.get(self.emitted..).unwrap_or_default());
        self.settled = self.ids.len().saturating_sub(CONTEXT).max(self.settled);
        self.emitted = self.tokenizer.decode(&self.ids[self.settled..])?.len();
        Ok(Some(piece).filter(|piece| !piece.is_empty()))
    }

    /// The first text of a reply without the space that the tokenizer puts before every text.
    fn without_prefix(&mut self, piece: &str) -> String {
        let own = std::mem::replace(&mut self.own_space, true) || piece.is_empty();
        let stripped = if own { None } else { piece.strip_prefix(' ') };
        stripped.unwrap_or(piece).to_owned()
    }

    /// The probabilities that were drawn along with an id, with the tokens' texts.
    pub fn logprobs(&self, drawn: Drawn) -> Result<Option<TokenLogprobs>> {
        let Some(likelihood) = drawn.likelihood else { return Ok(None) };
        let told = |(id, logprob)| Ok(Logprob { id, text: self.tokenizer.decode(&[id])?, logprob });
        let top = likelihood.top.into_iter().map(told).collect::<Result<_>>()?;
        Ok(Some(TokenLogprobs { token: told((drawn.id, likelihood.logprob))?, top }))
    }

    /// What is left when no more ids come; bytes that never became a character are U+FFFD.
    pub fn finish(&mut self) -> Result<String> {
        let text = self.tokenizer.decode(&self.ids[self.settled..])?;
        let rest = self.without_prefix(text.get(self.emitted..).unwrap_or_default());
        self.emitted = text.len();
        Ok(rest)
    }
}

/// Most files have a BPE, and are read as such at once: the library, which does not know the kind of model beforehand, makes a
/// tree of JSON values of the whole file first. For 150,000 tokens that takes twice the time, and 40 MB more.
fn read(tokenizer: &[u8]) -> Result<Tokenizer> {
    type WithBpe = TokenizerImpl<BPE, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;
    match serde_json::from_slice::<WithBpe>(tokenizer) {
        Ok(read) => Ok(read.into()),
        Err(_) => Tokenizer::from_bytes(tokenizer).map_err(failed),
    }
}

fn failed(error: tokenizers::Error) -> Error {
    Error::model(error).context("the model's tokenizer")
}
