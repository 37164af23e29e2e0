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

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};

use tokenizers::{AddedToken, ModelWrapper, NormalizedString, Normalizer as _, Tokenizer};

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
    /// Text and id of every control token, longest text first.
    control: Vec<(String, u32)>,
    /// Which bytes these texts begin with.
    beginnings: [bool; 256],
    template: ChatTemplate,
    first_token: Option<u32>,
    /// The tokens are pieces as SentencePiece has them: spaces are marks, and bytes that are no character's are tokens.
    pieces: bool,
    /// A text is encoded with a space before it, which is not its own.
    space_prefix: bool,
}

/// SentencePiece's mark for a space.
const SPACE_MARK: char = '\u{2581}';

impl ChatTokenizer {
    /// `tokenizer` is the content of a `tokenizer.json`.
    pub fn new(tokenizer: &[u8], template: ChatTemplate, first_token: Option<u32>) -> Result<Self> {
        bounds::check(tokenizer).map_err(|error| error.context("the model's tokenizer"))?;
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
        let mut beginnings = [false; 256];
        for (text, _) in &control {
            beginnings[usize::from(text.as_bytes()[0])] = true;
        }
        let pieces = matches!(plain.get_model(), ModelWrapper::BPE(model) if model.byte_fallback);
        let space_prefix = plain.get_normalizer().is_some_and(|normalizer| {
            let mut probe = NormalizedString::from("x");
            normalizer.normalize(&mut probe).is_ok() && probe.get().starts_with(SPACE_MARK)
        });
        Ok(Self { plain, silent, control, beginnings, template, first_token, pieces, space_prefix })
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
        let spoken: Vec<u32> = ids.iter().copied().filter(|id| !self.silent.contains(id)).collect();
        match self.pieces {
            true => Ok(self.join(&spoken)),
            false => self.plain.decode(&spoken, false).map_err(failed),
        }
    }

    /// The text of pieces. The library's own way takes all bytes beside each other for broken when some are.
    fn join(&self, ids: &[u32]) -> String {
        let mut bytes = Vec::new();
        for piece in ids.iter().filter_map(|&id| self.plain.id_to_token(id)) {
            let hex = piece.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
            match hex.filter(|hex| hex.len() == 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
                Some(byte) => bytes.push(byte),
                None => bytes.extend(piece.replace(SPACE_MARK, " ").bytes()),
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The bytes that each of the first `count` ids says; `None` for control tokens and for what is no text.
    pub fn token_bytes(&self, count: usize) -> Vec<Option<Vec<u8>>> {
        let spelling = Spelling::of(&self.plain);
        let control: HashSet<u32> = self.control.iter().map(|&(_, id)| id).chain(self.silent.iter().copied()).collect();
        let added = self.plain.get_added_tokens_decoder();
        (0..count as u32)
            .map(|id| match added.get(&id) {
                _ if control.contains(&id) => None,
                Some(token) => Some(token.content.clone().into_bytes()),
                None => self.plain.id_to_token(id).map(|token| spelling.bytes(&token)),
            })
            .collect()
    }

    /// A stream of what comes after `prefill`.
    pub fn stream(&self, prefill: &str) -> TextStream<'_> {
        let own_space = !self.space_prefix || !prefill.is_empty();
        TextStream { tokenizer: self, ids: Vec::new(), settled: 0, emitted: 0, own_space }
    }

    /// `content` with a mark inside every text that would be a control token.
    fn guard<'a>(&self, content: &'a str, mark: &Mark) -> Cow<'a, str> {
        let mut guarded = Cow::Borrowed(content);
        let places: Vec<&[u8]> = self.places(content).map(|at| &content.as_bytes()[at..]).collect();
        for (text, _) in &self.control {
            if places.iter().any(|place| place.starts_with(text.as_bytes())) {
                guarded = Cow::Owned(guarded.replace(text, &mark.inside(text)));
            }
        }
        guarded
    }

    /// Where a control token could begin: there are thousands of such tokens in some vocabularies, of few beginnings.
    fn places(&self, text: &str) -> impl Iterator<Item = usize> {
        text.bytes().enumerate().filter(|&(_, byte)| self.beginnings[usize::from(byte)]).map(|(at, _)| at)
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
        self.places(text).find_map(|at| {
            let rest = &text.as_bytes()[at..];
            // Longer texts come first.
            let (control, id) = self.control.iter().find(|(control, _)| rest.starts_with(control.as_bytes()))?;
            Some((at, control.as_str(), *id))
        })
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

    /// The control token is 0, then come 256 bytes, the mark, and two pieces.
    fn pieces(space_prefix: bool) -> ChatTokenizer {
        let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
        let tokens =
            ["</s>".to_owned()].into_iter().chain(bytes).chain(["\u{2581}", "a", "\u{2581}a"].map(String::from));
        let vocabulary: serde_json::Map<String, serde_json::Value> =
            tokens.enumerate().map(|(id, token)| (token, id.into())).collect();
        let marks = json!({"type": "Replace", "pattern": {"String": " "}, "content": "\u{2581}"});
        let prefix = json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u{2581}"}, marks]});
        let end = json!({"id": 0, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true});
        let json = json!({
            "version": "1.0", "added_tokens": [end], "normalizer": if space_prefix { prefix } else { marks },
            "pre_tokenizer": null, "post_processor": null, "decoder": null, "truncation": null, "padding": null,
            "model": {"type": "BPE", "vocab": vocabulary, "merges": [["\u{2581}", "a"]], "fuse_unk": true, "byte_fallback": true},
        });
        let template = ChatTemplate::new("{{ messages[0].content }}</s>", "", "").unwrap();
        ChatTokenizer::new(json.to_string().as_bytes(), template, None).unwrap()
    }

    const SPACE: u32 = 257;
    const A: u32 = 258;
    const SPACE_A: u32 = 259;

    #[test]
    fn pieces_are_joined_as_bytes_and_broken_ones_spoil_nothing_beside_them() {
        let tokenizer = pieces(true);
        let byte = |byte: u8| 1 + u32::from(byte);
        let text = "é€🙂a";
        let ids: Vec<u32> = text.bytes().map(byte).collect();
        assert_eq!(tokenizer.decode(&ids).unwrap(), text);
        let mut stream = tokenizer.stream("x");
        let mut said = String::new();
        for id in [byte(0xc3), byte(0xa9), byte(0xff), A, SPACE_A, byte(0xe2), byte(0x82), byte(0xac), 0, byte(0xf0)] {
            said.push_str(&stream.step(id).unwrap().unwrap_or_default());
        }
        said.push_str(&stream.finish().unwrap());
        assert_eq!(said, "é\u{fffd}a a€\u{fffd}");
    }

    #[test]
    fn the_tokenizers_own_space_is_not_part_of_a_reply() {
        let said = |space_prefix: bool, prefill: &str, ids: &[u32]| {
            let tokenizer = pieces(space_prefix);
            let mut stream = tokenizer.stream(prefill);
            let mut said: String = ids.iter().filter_map(|&id| stream.step(id).unwrap()).collect();
            said.push_str(&stream.finish().unwrap());
            said
        };
        assert_eq!(said(true, "", &[SPACE_A, SPACE_A]), "a a");
        assert_eq!(said(true, "", &[SPACE, SPACE, A]), " a");
        assert_eq!(said(true, "", &[A, SPACE_A]), "a a");
        // After a prefill, and without the habit, it is indentation or the like.
        assert_eq!(said(true, "```", &[SPACE, SPACE_A]), "  a");
        assert_eq!(said(false, "", &[SPACE_A]), " a");
        // Each text between control tokens has one, as the model was taught.
        let ids = pieces(true).encode_chat(&[Message { role: Role::User, content: "a a".into() }], "a").unwrap();
        assert_eq!(ids, [SPACE_A, SPACE_A, 0, SPACE_A]);
    }

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
        let mut stream = tokenizer.stream("");
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
