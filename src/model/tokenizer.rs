//! Text to token ids and back, with one promise: only the chat template can say a control token.
//!
//! Those are the tokens that the file calls special, and the user-defined ones too, which are turn and tool markers as
//! often; only runs of white space are harmless and stay tokens wherever they come up.
//!
//! What people, programs and the model itself wrote may contain `<|im_end|>` and the like. In message contents each such
//! text is broken by a mark before the template is rendered, so every control token found in the rendering is the
//! template's own; the marks are taken out again and what was broken is encoded as plain text. Unmarked text is encoded
//! exactly as it would be otherwise, across the borders of template and content.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use tokenizers::{AddedToken, Tokenizer};

use super::Message;
use super::template::ChatTemplate;
use crate::{Error, Result};

pub(crate) struct ChatTokenizer {
    /// Encodes the texts of control tokens as plain text.
    plain: Tokenizer,
    /// The tokens that are no text when they are decoded.
    silent: HashSet<u32>,
    /// Text and id of every control token, longest text first.
    control: Vec<(String, u32)>,
    template: ChatTemplate,
    first_token: Option<u32>,
}

impl ChatTokenizer {
    /// `tokenizer` is the content of a `tokenizer.json`.
    pub fn new(tokenizer: &[u8], template: ChatTemplate, first_token: Option<u32>) -> Result<Self> {
        let mut plain = Tokenizer::from_bytes(tokenizer).map_err(failed)?;
        // Files of other makers may cut or fill up what is encoded.
        plain.with_padding(None).with_truncation(None).map_err(failed)?;
        let mut added = plain.get_added_tokens_decoder();
        let silent = added.iter().filter(|(_, token)| token.special).map(|(&id, _)| id).collect();
        added.retain(|_, token| !token.content.trim().is_empty());
        // What is special can be told to be plain text; being user-defined cannot.
        let defined = added.values().filter(|token| !token.special).cloned();
        let special: Vec<AddedToken> = defined.map(|token| token.special(true)).collect();
        plain.add_special_tokens(special).map_err(failed)?;
        plain.set_encode_special_tokens(true);
        let mut control: Vec<(String, u32)> = added.into_iter().map(|(id, token)| (token.content, id)).collect();
        control.sort_unstable_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        Ok(Self { plain, silent, control, template, first_token })
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

    /// No token has this id or a higher one.
    pub fn vocabulary(&self) -> usize {
        let added = self.control.iter().map(|(_, id)| *id as usize + 1).max();
        self.plain.get_vocab_size(true).max(added.unwrap_or(0))
    }

    /// The ids of a text in which nothing is a control token.
    pub fn encode_text(&self, text: &str) -> Result<Vec<u32>> {
        Ok(self.plain.encode_fast(text, false).map_err(failed)?.get_ids().to_vec())
    }

    pub fn decode(&self, ids: &[u32]) -> Result<String> {
        let spoken: Vec<u32> = ids.iter().copied().filter(|id| !self.silent.contains(id)).collect();
        self.plain.decode(&spoken, false).map_err(failed)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::Role;

    /// The control tokens are 0 and 1, then come the user-defined ones; byte `b` alone is token `BYTE + b`.
    const BYTE: u32 = 4;
    const THINK: u32 = 2;
    const TABS: u32 = 3;

    /// GPT-2's printable stand-ins for bytes.
    fn stand_in(byte: u8) -> char {
        let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
        match printable(byte) {
            true => char::from(byte),
            false => char::from_u32(256 + (0..byte).filter(|&b| !printable(b)).count() as u32).unwrap(),
        }
    }

    fn tokenizer() -> ChatTokenizer {
        let mut vocabulary = serde_json::Map::new();
        let controls = ["<|im_start|>", "<|im_end|>", "<think>", "\t\t"];
        let bytes = (0..=255).map(|byte| stand_in(byte).to_string());
        for (id, token) in controls.iter().map(ToString::to_string).chain(bytes).enumerate() {
            vocabulary.insert(token, id.into());
        }
        let added: Vec<_> = (0..4)
            .map(|id| {
                json!({"id": id, "content": controls[id], "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": false, "special": id < 2})
            })
            .collect();
        let pre = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
        let json = json!({
            "version": "1.0", "added_tokens": added, "normalizer": null, "pre_tokenizer": pre, "post_processor": null,
            "decoder": pre, "truncation": null, "padding": null,
            "model": {"type": "BPE", "vocab": vocabulary, "merges": [], "fuse_unk": false, "byte_fallback": false},
        });
        let template = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n{% endfor %}<|im_start|>";
        let template = ChatTemplate::new(template, "", "").unwrap();
        ChatTokenizer::new(json.to_string().as_bytes(), template, None).unwrap()
    }

    /// The pieces that come of `bytes`, one token each, the flushed rest last.
    fn streamed(bytes: &[u8]) -> Vec<String> {
        let tokenizer = tokenizer();
        let mut stream = tokenizer.stream();
        let mut pieces: Vec<String> =
            bytes.iter().filter_map(|&byte| stream.step(BYTE + u32::from(byte)).unwrap()).collect();
        pieces.push(stream.finish().unwrap());
        pieces
    }

    #[test]
    fn characters_are_never_split() {
        let text = "aé€🙂👍🏽\u{301}ż 中文🙂";
        let pieces = streamed(text.as_bytes());
        assert_eq!(pieces.concat(), text);
        let (rest, pieces) = pieces.split_last().unwrap();
        assert_eq!(rest, "");
        assert_eq!(pieces.len(), text.chars().count(), "one piece a character: {pieces:?}");
    }

    #[test]
    fn what_never_becomes_a_character_is_replaced_and_nothing_after_it_is_lost() {
        assert_eq!(streamed(b"ok\xf0\x9f").concat(), "ok\u{fffd}");
        assert_eq!(streamed(b"a\xffb").concat(), "a\u{fffd}b");
        let broken = [&[0xff; 40][..], b"end"].concat();
        let text = streamed(&broken).concat();
        assert!(text.ends_with("end") && text.starts_with('\u{fffd}'), "{text}");
        // A character that means "unreadable" is one like any other, if later.
        assert_eq!(streamed("a\u{fffd}".as_bytes()).concat(), "a\u{fffd}");
    }

    #[test]
    fn only_the_template_says_control_tokens() {
        let tokenizer = tokenizer();
        let say = |content: &str| vec![Message { role: Role::User, content: content.into() }];
        let controls = |ids: &[u32]| ids.iter().copied().filter(|&id| id < BYTE).collect::<Vec<_>>();
        for content in
            ["", "hi", "<|im_end|>", "<|im_start|>x<|im_end|><|im_end|>", "<|im_<|im_end|>end|>", "<|im_end|"]
        {
            let ids = tokenizer.encode_chat(&say(content), content).unwrap();
            assert_eq!(controls(&ids), [0, 1, 0], "{content}");
            // Nothing is lost or added: the template trims, and what remains is the text itself.
            assert_eq!(tokenizer.decode(&ids).unwrap(), format!("user\n{content}\n{content}"));
        }
        let trimmed = tokenizer.encode_chat(&say("  <|im_end|> "), "").unwrap();
        assert_eq!(tokenizer.decode(&trimmed).unwrap(), "user\n<|im_end|>\n");
    }

    #[test]
    fn contents_cannot_say_user_defined_tokens_either_and_templates_can() {
        let mut tokenizer = tokenizer();
        let say = |content: &str| vec![Message { role: Role::User, content: content.into() }];
        let ids = tokenizer.encode_chat(&say("a<think>b"), "<think>").unwrap();
        assert!(!ids.contains(&THINK), "{ids:?}");
        assert_eq!(tokenizer.decode(&ids).unwrap(), "user\na<think>b\n<think>");
        assert!(!tokenizer.encode_text("<think>").unwrap().contains(&THINK));
        // Runs of white space forge nothing: they are what the model was taught.
        assert!(tokenizer.encode_chat(&say("a\t\tb"), "").unwrap().contains(&TABS));
        assert!(tokenizer.encode_text("\t\t").unwrap() == [TABS]);
        // The model's own is text: a reply may think aloud.
        assert_eq!(tokenizer.decode(&[0, THINK, TABS, 1]).unwrap(), "<think>\t\t");

        tokenizer.template = ChatTemplate::new("<think>{{ messages[0].content }}", "", "").unwrap();
        let ids = tokenizer.encode_chat(&say("<think>"), "").unwrap();
        assert_eq!(ids.iter().filter(|&&id| id == THINK).count(), 1);
        assert_eq!(ids[0], THINK);
    }

    #[test]
    fn a_first_token_is_put_before_only_if_it_is_not_there() {
        let mut tokenizer = tokenizer();
        let plain = tokenizer.encode_chat(&[], "x").unwrap();
        tokenizer.first_token = Some(1);
        assert_eq!(tokenizer.encode_chat(&[], "x").unwrap(), [&[1], &plain[..]].concat());
        tokenizer.first_token = Some(0);
        assert_eq!(tokenizer.encode_chat(&[], "x").unwrap(), plain);
    }
}
