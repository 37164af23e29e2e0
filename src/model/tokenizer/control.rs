//! The texts of control tokens: found where the template says them, broken where anyone else does.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ops::Range;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use crate::{Error, Result};

/// Real vocabularies have up to 70,000, of 1 MB.
const MAX_TOKENS: usize = 128 << 10;
const MAX_TOTAL: usize = 4 << 20;
/// Bytes of one; real ones have some tens.
const MAX_TEXT: usize = 1 << 10;

pub(super) struct ControlTokens {
    /// Pattern `i` is the text of token `ids[i]`; of those that begin at the same place the longest is found.
    texts: AhoCorasick,
    ids: Vec<u32>,
}

impl ControlTokens {
    pub fn new(tokens: &[(String, u32)]) -> Result<Self> {
        let total: usize = tokens.iter().map(|(text, _)| text.len()).sum();
        if tokens.len() > MAX_TOKENS || total > MAX_TOTAL {
            return Err(Error::model(format!(
                "the model's tokenizer has {} control tokens of {total} bytes together; at most {MAX_TOKENS} of {MAX_TOTAL} are supported",
                tokens.len()
            )));
        }
        if let Some((text, id)) = tokens.iter().find(|(text, _)| text.len() > MAX_TEXT) {
            return Err(Error::model(format!("the model's control token {id} is {} bytes long", text.len())));
        }
        let texts = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(tokens.iter().map(|(text, _)| text))
            .map_err(Error::internal)?;
        Ok(Self { texts, ids: tokens.iter().map(|&(_, id)| id).collect() })
    }

    pub fn ids(&self) -> HashSet<u32> {
        self.ids.iter().copied().collect()
    }

    fn find(&self, text: &str, from: usize) -> Option<(Range<usize>, u32)> {
        let found = self.texts.find(Input::new(text).range(from..))?;
        Some((found.range(), self.ids[found.pattern().as_usize()]))
    }

    /// `content` with a mark after the first character of every text that would be a control token.
    pub fn guard<'a>(&self, content: &'a str, mark: &Mark) -> Cow<'a, str> {
        let (mut guarded, mut done) = (String::new(), 0);
        while let Some((found, _)) = self.find(content, done) {
            let first = content[found.start..].chars().next().map_or(0, char::len_utf8);
            guarded.push_str(&content[done..found.start + first]);
            guarded.push_str(&mark.0);
            done = found.start + first;
        }
        if done == 0 {
            return Cow::Borrowed(content);
        }
        guarded.push_str(&content[done..]);
        Cow::Owned(guarded)
    }

    /// The first control token in `text` from the byte `from` on that no mark breaks: one of a single character has its
    /// mark behind it.
    pub fn next(&self, text: &str, mut from: usize, mark: &Mark) -> Option<(Range<usize>, u32)> {
        loop {
            let (found, id) = self.find(text, from)?;
            if !text[found.end..].starts_with(&mark.0) {
                return Some((found, id));
            }
            from = found.end;
        }
    }
}

/// A text that nobody could have written, because it was not known before. It is made of characters for private use, which
/// no control token holds.
pub(super) struct Mark(String);

impl Mark {
    pub fn unguessable() -> Self {
        // `RandomState` is keyed from the operating system's randomness.
        let random = || RandomState::new().build_hasher().finish();
        let parts = [random(), random()].into_iter().flat_map(|bits| (0..4).map(move |at| (bits >> (16 * at)) as u32));
        Self(parts.filter_map(|bits| char::from_u32(0xf_0000 + (bits & 0x7fff))).collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn removed_from<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.contains(&self.0) { Cow::Owned(text.replace(&self.0, "")) } else { Cow::Borrowed(text) }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn control(texts: &[&str]) -> ControlTokens {
        let tokens: Vec<(String, u32)> = texts.iter().map(|text| (*text).to_owned()).zip(0..).collect();
        ControlTokens::new(&tokens).unwrap()
    }

    #[test]
    fn the_first_is_found_and_of_those_there_the_longest() {
        let (control, mark) = (control(&["<a>", "<a><b>", "b", "é"]), Mark::unguessable());
        let found = |text: &str, from| control.next(text, from, &mark);
        assert_eq!(found("x<a><b>", 0), Some((1..7, 1)));
        assert_eq!(found("x<a><c>b", 0), Some((1..4, 0)));
        assert_eq!(found("x<a><c>b", 4), Some((7..8, 2)));
        assert_eq!(found("x<a é", 0), Some((4..6, 3)));
        assert_eq!(found("x<a", 0), None);
        assert_eq!(ControlTokens::new(&[]).unwrap().next("<a>", 0, &mark), None);
    }

    #[test]
    fn nothing_is_found_in_what_was_guarded() {
        let (control, mark) = (control(&["aa", "<a>", "a><", "é", "x", "0", "1f"]), Mark::unguessable());
        for content in ["", "aaa", "aaaa<a>", "<a><a>", "é", "éé", "<é>", "x", "axxa><x", "001f", "nothing"] {
            let guarded = control.guard(content, &mark);
            assert_eq!(control.next(&guarded, 0, &mark), None, "{content}");
            assert_eq!(mark.removed_from(&guarded), content);
        }
        assert!(matches!(control.guard("nothing", &mark), Cow::Borrowed(_)));
    }

    #[test]
    fn many_tokens_in_long_texts_take_no_longer_than_few() {
        let tokens: Vec<(String, u32)> = (0..100_000).map(|id| (format!("<{id}>"), id)).collect();
        let control = ControlTokens::new(&tokens).unwrap();
        let (mark, content) = (Mark::unguessable(), "<12345><<<<".repeat(100_000));
        let start = Instant::now();
        let guarded = control.guard(&content, &mark);
        assert_eq!(control.next(&guarded, 0, &mark), None);
        // Comparing each token at each place takes minutes.
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }

    #[test]
    fn too_many_and_too_long_ones_are_refused() {
        let many: Vec<(String, u32)> = (0..200_000).map(|id| (id.to_string(), id)).collect();
        let error = ControlTokens::new(&many).err().unwrap();
        assert!(error.is_model() && error.to_string().contains("200000 control tokens"), "{error}");
        assert!(ControlTokens::new(&[("x".repeat(MAX_TEXT + 1), 0)]).is_err());
        let long: Vec<(String, u32)> = (0..10_000).map(|id| (format!("{id:1000}"), id)).collect();
        assert!(ControlTokens::new(&long).is_err());
    }
}
