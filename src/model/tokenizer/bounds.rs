//! What a `tokenizer.json` may hold. The library that reads it takes some 100 bytes of memory for each value in it, be it
//! two bytes long there, for added tokens a table of many times the size of their texts, and up to 10 MB for a pattern;
//! so all are counted before it sees the file. At these bounds it takes half a gigabyte and some seconds.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::{Error, Result};

/// Values and keys. Vocabularies of 262,000 tokens with 515,000 merges, the largest we know, have 2.1 million.
const MAX_VALUES: usize = 4 << 20;
/// Added tokens, and the bytes of their texts: some models name 60,000 sounds.
const MAX_ADDED: usize = 1 << 16;
const MAX_ADDED_TEXT: usize = 1 << 20;
/// Patterns that texts are cut or changed by; most have one.
const MAX_PATTERNS: usize = 64;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    added_tokens: Vec<Added<'a>>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    post_processor: Value,
    #[serde(default)]
    decoder: Value,
}

#[derive(Deserialize)]
struct Added<'a> {
    #[serde(borrow)]
    content: Cow<'a, str>,
}

/// Refuses the content of a `tokenizer.json` that takes more than it may to be read.
pub(super) fn check(json: &[u8]) -> Result<()> {
    most("values", values(json), MAX_VALUES)?;
    let file: File<'_> = serde_json::from_slice(json).map_err(Error::model)?;
    most("added tokens", file.added_tokens.len(), MAX_ADDED)?;
    let text = file.added_tokens.iter().map(|token| token.content.len()).sum();
    most("bytes of added tokens", text, MAX_ADDED_TEXT)?;
    let parts = [&file.normalizer, &file.pre_tokenizer, &file.post_processor, &file.decoder];
    most("patterns", parts.into_iter().map(patterns).sum(), MAX_PATTERNS)
}

fn most(what: &str, found: usize, most: usize) -> Result<()> {
    match found <= most {
        true => Ok(()),
        false => Err(Error::model(format!("it has {found} {what}, more than {most}"))),
    }
}

/// At least as many as there are values and keys: before each of them, outside of texts, stands one of four characters.
fn values(json: &[u8]) -> usize {
    let (mut count, mut bytes) = (0, json.iter());
    while let Some(byte) = bytes.next() {
        match byte {
            b',' | b':' | b'[' | b'{' => count += 1,
            b'"' => loop {
                match bytes.next() {
                    Some(b'\\') => _ = bytes.next(),
                    Some(b'"') | None => break,
                    Some(_) => {}
                }
            },
            _ => {}
        }
    }
    count
}

fn patterns(part: &Value) -> usize {
    match part {
        Value::Array(parts) => parts.iter().map(patterns).sum(),
        Value::Object(parts) => parts.iter().map(|(name, part)| usize::from(name == "pattern") + patterns(part)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(json: &str) -> String {
        let error = check(json.as_bytes()).unwrap_err();
        assert!(error.is_model(), "{error:?}");
        error.to_string()
    }

    #[test]
    fn values_are_counted_outside_of_texts() {
        assert_eq!(values(br#"{"a": [1, {"b": null}], "c\\": "x,:[{", "\"d,": []}"#), 11);
        assert_eq!(values(br#""never closed, \"#), 0);
    }

    #[test]
    fn what_takes_more_to_read_than_it_looks_is_refused() {
        let zeros = |count: usize| format!(r#"{{"x": [{}0]}}"#, "0,".repeat(count));
        check(zeros(MAX_VALUES - 3).as_bytes()).unwrap();
        assert!(refusal(&zeros(MAX_VALUES)).contains("values, more than 4194304"));
        let tokens = |count: usize, len: usize| {
            let token = json!({"id": 1, "content": "x".repeat(len)});
            json!({"added_tokens": vec![token; count]}).to_string()
        };
        check(tokens(MAX_ADDED, 16).as_bytes()).unwrap();
        assert!(refusal(&tokens(MAX_ADDED + 1, 1)).contains("65537 added tokens"));
        assert!(refusal(&tokens(1, MAX_ADDED_TEXT + 1)).contains("1048577 bytes of added tokens"));
        let split = json!({"type": "Split", "pattern": {"Regex": r"(\w{100}){10}"}});
        let steps = |count: usize| json!({"pre_tokenizer": {"pretokenizers": vec![&split; count]}}).to_string();
        check(steps(MAX_PATTERNS).as_bytes()).unwrap();
        assert!(refusal(&steps(MAX_PATTERNS + 1)).contains("65 patterns"));
        // However a name is written, and however deep it all is.
        let escaped = steps(MAX_PATTERNS + 1).replace("pattern\"", "\\u0070attern\"");
        assert!(refusal(&escaped).contains("65 patterns"));
        assert!(refusal(&"[".repeat(1 << 20)).contains("at line 1"));
        assert!(refusal(&format!(r#"{{"decoder": {}"#, "[".repeat(1 << 20))).contains("recursion limit"));
    }
}
