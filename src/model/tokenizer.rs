//! Text to token ids and back, with one promise: only the chat template can say a control token.
//!
//! What people, programs and the model itself wrote may contain `<|im_end|>` and the like. In message contents each such
//! text is broken by a mark before the template is rendered, so every control token found in the rendering is the
//! template's own; the marks are taken out again and what was broken is encoded as plain text. Unmarked text is encoded
//! exactly as it would be otherwise, across the borders of template and content.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hasher, RandomState};

use tokenizers::Tokenizer;

use super::Message;
use super::template::ChatTemplate;
use crate::{Error, Result};

pub(crate) struct ChatTokenizer {
    /// Encodes the texts of control tokens as plain text.
    plain: Tokenizer,
    /// Text and id of every control token, longest text first.
    control: Vec<(String, u32)>,
    template: ChatTemplate,
    first_token: Option<u32>,
}

impl ChatTokenizer {
    /// `tokenizer` is the content of a `tokenizer.json`.
    pub fn new(tokenizer: &[u8], template: ChatTemplate, first_token: Option<u32>) -> Result<Self> {
        let mut plain = Tokenizer::from_bytes(tokenizer).map_err(failed)?;
        plain.set_encode_special_tokens(true);
        let mut control: Vec<(String, u32)> = plain
            .get_added_tokens_decoder()
            .into_iter()
            .filter(|(_, token)| token.special && !token.content.is_empty())
            .map(|(id, token)| (token.content, id))
            .collect();
        control.sort_unstable_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Ok(Self { plain, control, template, first_token })
    }

    /// The ids of the whole conversation, up to and with `prefill`, the beginning of the assistant's next reply.
    pub fn encode_chat(&self, messages: &[Message], prefill: &str) -> Result<Vec<u32>> {
        let mark = Mark::unguessable();
        let guarded: Vec<Message> = messages
            .iter()
            .map(|message| Message { role: message.role, content: self.guard(&message.content, &mark).into_owned() })
            .collect();
        let mut text = self.template.render(&guarded)?;
        text.push_str(&self.guard(prefill, &mark));
        let mut ids = self.encode_rendered(&text, &mark)?;
        if let Some(first) = self.first_token.filter(|first| ids.first() != Some(first)) {
            ids.insert(0, first);
        }
        Ok(ids)
    }

    /// The ids of a text in which nothing is a control token.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.plain.encode_fast(text, false).map_err(failed)?.get_ids().to_vec())
    }

    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        self.plain.decode(ids, true).map_err(failed)
    }

    pub fn stream(&self) -> TextStream<'_> {
        TextStream { tokenizer: self, ids: Vec::new(), settled: 0, emitted: 0 }
    }

    /// `content` with a mark inside every text that would be a control token.
    fn guard<'a>(&self, content: &'a str, mark: &Mark) -> Cow<'a, str> {
        let mut guarded = Cow::Borrowed(content);
        for (text, _) in &self.control {
            if guarded.contains(text) {
                guarded = Cow::Owned(guarded.replace(text, &mark.inside(text)));
            }
        }
        guarded
    }

    fn encode_rendered(&self, text: &str, mark: &Mark) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        let mut rest = text;
        while let Some((at, control, id)) = self.next_control(rest) {
            self.encode_between(&rest[..at], mark, &mut ids)?;
            ids.push(id);
            rest = &rest[at + control.len()..];
        }
        self.encode_between(rest, mark, &mut ids)?;
        Ok(ids)
    }

    fn encode_between(&self, text: &str, mark: &Mark, ids: &mut Vec<u32>) -> Result<()> {
        if !text.is_empty() {
            ids.extend(self.encode_text(&mark.removed_from(text))?);
        }
        Ok(())
    }

    /// The first control token in `text`; of those that begin at the same place the longest.
    fn next_control(&self, text: &str) -> Option<(usize, &str, u32)> {
        let found = self.control.iter().filter_map(|(control, id)| Some((text.find(control)?, control.as_str(), *id)));
        // `min_by_key` keeps the first of equals, and longer texts come first.
        found.min_by_key(|(at, ..)| *at)
    }
}

/// A text that nobody could have written, because it was not known before.
struct Mark(String);

impl Mark {
    fn unguessable() -> Self {
        // `RandomState` is keyed from the operating system's randomness.
        let random = || RandomState::new().build_hasher().finish();
        Self(format!("\u{1}{:016x}{:016x}\u{1}", random(), random()))
    }

    fn inside(&self, text: &str) -> String {
        let first = text.chars().next().map_or(0, char::len_utf8);
        [&text[..first], &self.0, &text[first..]].concat()
    }

    fn removed_from<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains(&self.0) { Cow::Owned(text.replace(&self.0, "")) } else { Cow::Borrowed(text) }
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
        let piece = text.get(self.emitted..).unwrap_or_default().to_owned();
        self.settled = self.ids.len().saturating_sub(CONTEXT).max(self.settled);
        self.emitted = self.tokenizer.decode(&self.ids[self.settled..])?.len();
        Ok(Some(piece))
    }

    /// What is left when no more ids come; bytes that never became a character are U+FFFD.
    pub fn finish(&mut self) -> Result<String> {
        let text = self.tokenizer.decode(&self.ids[self.settled..])?;
        let rest = text.get(self.emitted..).unwrap_or_default().to_owned();
        self.emitted = text.len();
        Ok(rest)
    }
}

fn failed(error: tokenizers::Error) -> Error {
    Error::model(error).context("the model's tokenizer")
}
