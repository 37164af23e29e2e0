//! How much memory a tokenizer of another maker can come to: the library bounds nothing. Its lists take many times their
//! bytes, and replacements one after the other would multiply a text until there is no memory left.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{Error, Result};

/// Bytes that may come of one byte. The usual tokenizers have at most some 130: a Unicode form, of which the longest
/// character is 33 bytes long, and a mark for spaces.
const MOST: usize = 1024;
/// Tokens, and merges: twice those of the largest vocabularies. A million tokens take some 300 MB.
const MAX_ENTRIES: usize = 1 << 20;

#[derive(Default, Deserialize)]
#[serde(default)]
struct Tokenizer {
    added_tokens: Entries,
    normalizer: Value,
    pre_tokenizer: Value,
    decoder: Value,
    model: Model,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Model {
    vocab: Entries,
    merges: Entries,
}

/// How many elements a list or an object has; none of them is kept.
#[derive(Default)]
struct Entries(usize);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Counting)
    }
}

struct Counting;

impl<'de> Visitor<'de> for Counting {
    type Value = Entries;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or an object")
    }

    fn visit_unit<E>(self) -> Result<Entries, E> {
        Ok(Entries(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Entries, A::Error> {
        let mut count = 0;
        while list.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Entries(count))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Entries, A::Error> {
        let mut count = 0;
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Entries(count))
    }
}

/// Refuses a `tokenizer.json` with more than [`MAX_ENTRIES`] tokens or merges, and one whose steps, one after the other,
/// could make more than [`MOST`] bytes of one. To be asked before the library sees it, which takes the texts of its tokens
/// through the steps.
pub(super) fn check(tokenizer: &[u8]) -> Result<()> {
    let refused = |error: Error| error.context("`tokenizer.json`");
    let Tokenizer { added_tokens, normalizer, pre_tokenizer, decoder, model } =
        serde_json::from_slice(tokenizer).map_err(|error| refused(Error::model(error)))?;
    let entries = [added_tokens, model.vocab, model.merges].into_iter().map(|entries| entries.0).max().unwrap_or(0);
    if entries > MAX_ENTRIES {
        let why = format!("it has {entries} tokens or merges, more than {MAX_ENTRIES}");
        return Err(refused(Error::model(why)));
    }
    let encoding = growth(&normalizer).saturating_mul(growth(&pre_tokenizer));
    let most = encoding.max(growth(&decoder));
    if most > MOST {
        let why = format!("its steps could make {most} bytes of one, which is more than the {MOST} that are allowed");
        return Err(refused(Error::model(why)));
    }
    Ok(())
}

/// Bytes that a step, with the steps inside it, can make of one byte.
fn growth(step: &Value) -> usize {
    match step {
        Value::Array(steps) => steps.iter().map(growth).fold(1, usize::saturating_mul),
        Value::Object(fields) => {
            let text = |name: &str| fields.get(name).and_then(Value::as_str);
            let len = |name: &str| text(name).map_or(0, str::len);
            let own = match text("type") {
                _ if fields.contains_key("content") => replacement(fields.get("pattern"), len("content")),
                _ if fields.contains_key("prepend") => 1 + len("prepend"),
                _ if fields.contains_key("precompiled_charsmap") => longest(text("precompiled_charsmap").unwrap_or("")),
                // Stand-ins for bytes have two; old files do not say what they are.
                Some("ByteLevel" | "Metaspace") | None => 2,
                Some(_) => 1,
            };
            let inside = fields.values().filter(|value| value.is_array());
            inside.map(growth).fold(own.max(1), usize::saturating_mul)
        }
        _ => 1,
    }
}

/// A text that is looked for has its length; an expression may match nothing, between any two characters.
fn replacement(pattern: Option<&Value>, content: usize) -> usize {
    let plain = pattern.and_then(|pattern| pattern.get("String")?.as_str()).map(str::len);
    plain.filter(|&len| len > 0).map_or(content.saturating_add(1), |len| content.div_ceil(len))
}

/// The longest text of a SentencePiece character map: after a table and its length the texts, each ended by a zero.
fn longest(base64: &str) -> usize {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = base64.bytes().map_while(digit).map(u32::from).collect();
    let group = |digits: &[u32]| {
        let bits = digits.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - digits.len()));
        bits.to_be_bytes().into_iter().skip(1).take(digits.len() - 1)
    };
    let bytes: Vec<u8> = digits.chunks(4).flat_map(group).collect();
    let Some((len, rest)) = bytes.split_first_chunk() else { return 1 };
    let texts = rest.get(u32::from_le_bytes(*len) as usize..).unwrap_or_default();
    texts.split(|&byte| byte == 0).map(<[u8]>::len).max().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(tokenizer: &Value) -> Option<String> {
        let error = check(tokenizer.to_string().as_bytes()).err()?;
        assert!(error.is_model(), "{error:?}");
        Some(error.to_string())
    }

    fn replace(pattern: &Value, content: &str) -> Value {
        json!({"type": "Replace", "pattern": pattern, "content": content})
    }

    #[test]
    fn usual_steps_grow_little() {
        let space = replace(&json!({"String": " "}), "\u{2581}");
        let llama = json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u{2581}"}, space]});
        assert_eq!(growth(&llama), 4 * 3);
        let quotes = vec![replace(&json!({"String": "``"}), "\""); 20];
        assert_eq!(growth(&json!({"type": "Sequence", "normalizers": quotes})), 1);
        let spaces = replace(&json!({"Regex": " {2,}"}), "\u{2581}");
        // A table of four bytes, then `a`, and a text of 33 bytes.
        let mut map = [4, 0, 0, 0, 9, 9, 9, 9, b'a', 0].to_vec();
        map.extend([b'x'; 33]);
        map.push(0);
        let map = json!({"type": "Precompiled", "precompiled_charsmap": base64(&map)});
        assert_eq!(growth(&json!([map, spaces])), 33 * 4);
        for none in [json!(null), json!({"type": "NFC"}), json!({"type": "Split", "pattern": {"Regex": "x"}})] {
            assert_eq!(growth(&none), 1, "{none}");
        }
        let bytes = json!({"type": "ByteLevel", "add_prefix_space": false});
        assert_eq!(refusal(&json!({"normalizer": llama, "pre_tokenizer": bytes, "model": {"vocab": {}}})), None);
        assert_eq!(refusal(&json!({})), None);
    }

    #[test]
    fn entries_are_counted_and_bounded() {
        let lists = |len: usize| {
            let objects: Vec<String> = (0..len).map(|id| format!("\"{id:x}\":{id}")).collect();
            let object = format!("{{\"model\":{{\"vocab\":{{{}}}}}}}", objects.join(","));
            let list = vec!["[]"; len].join(",");
            let [merges, added, unigram] = [
                format!("{{\"model\":{{\"merges\":[{list}]}}}}"),
                format!("{{\"added_tokens\":[{list}]}}"),
                format!("{{\"model\":{{\"vocab\":[{list}]}}}}"),
            ];
            [object, merges, added, unigram]
        };
        for whole in lists(MAX_ENTRIES) {
            check(whole.as_bytes()).unwrap();
        }
        for more in lists(MAX_ENTRIES + 1) {
            let error = check(more.as_bytes()).unwrap_err();
            assert!(error.is_model() && error.to_string().contains("1048577 tokens or merges"), "{error}");
        }
        assert_eq!(refusal(&json!({"added_tokens": null, "model": {"vocab": null}})), None);
        assert!(refusal(&json!({"model": {"vocab": 5}})).is_some());
    }

    #[test]
    fn steps_that_multiply_are_refused() {
        let regex = json!({"Regex": "."});
        for steps in [
            json!([replace(&regex, "eeee"), replace(&regex, &"e".repeat(300))]),
            json!({"type": "Sequence", "normalizers": vec![replace(&json!({"String": "e"}), "ee"); 11]}),
            json!({"type": "Sequence", "pretokenizers": vec![json!({"type": "ByteLevel"}); 11]}),
            json!({"type": "Sequence", "pretokenizers": vec![json!({"add_prefix_space": false}); 11]}),
            json!({"type": "Prepend", "prepend": "e".repeat(2000)}),
            json!({"type": "Precompiled", "precompiled_charsmap": base64(&[&[0; 4][..], &[b'x'; 2000]].concat())}),
        ] {
            for place in ["normalizer", "pre_tokenizer", "decoder"] {
                let refusal = refusal(&json!({ place: steps }));
                assert!(refusal.as_ref().is_some_and(|why| why.contains("bytes of one")), "{place}: {refusal:?}");
            }
        }
        let half = json!(vec![json!({"type": "ByteLevel"}); 6]);
        assert_eq!(refusal(&json!({"normalizer": half})), None);
        assert!(refusal(&json!({"normalizer": half, "pre_tokenizer": half})).is_some());
        let many = json!(vec![replace(&regex, &"e".repeat(1000)); 100]);
        assert_eq!(growth(&many), usize::MAX);
    }

    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let group = |bytes: &[u8]| {
            let bits = [0, 1, 2].map(|at| u32::from(bytes.get(at).copied().unwrap_or(0)));
            let bits = bits[0] << 16 | bits[1] << 8 | bits[2];
            let digits: String =
                (0..=bytes.len()).map(|at| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63])).collect();
            format!("{digits:=<4}")
        };
        bytes.chunks(3).map(group).collect()
    }
}
