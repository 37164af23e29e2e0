//! SentencePiece's unigram model (`t5`): of all ways to cut a text into tokens that whose scores sum to the most.

use serde_json::{Value, json};

use super::charsmap;
use super::sentencepiece::{MAX_CHARACTERS, Parts, SPACE, decoder, refuse_odd_scores};
use crate::{Error, Result};

/// Bytes of all tokens together: the library keeps some hundred for each of them. Vocabularies of 250,000 tokens have 3 MB.
const MAX_TOTAL: usize = 4 << 20;

/// What becomes of a text before it is cut.
pub(super) struct Rules<'a> {
    pub space_prefix: bool,
    /// Spaces at the ends are taken away, and of several beside each other all but one.
    pub single_spaces: bool,
    /// What characters are replaced by, as SentencePiece has it.
    pub charsmap: Option<&'a [f64]>,
}

/// `unknown` is the token for what no other says.
pub(super) fn parts(tokens: &[String], scores: &[f64], unknown: u32, rules: &Rules<'_>) -> Result<Parts> {
    refuse_odd_scores(scores)?;
    if let Some(id) = tokens.iter().position(|token| token.chars().nth(MAX_CHARACTERS).is_some()) {
        return Err(Error::model(format!("its token {id} is {} bytes long", tokens[id].len())));
    }
    let total: usize = tokens.iter().map(String::len).sum();
    if total > MAX_TOTAL {
        return Err(Error::model(format!("its tokens are {total} bytes long together, more than {MAX_TOTAL}")));
    }
    let vocabulary: Vec<Value> = tokens.iter().zip(scores).map(|(token, score)| json!([token, score])).collect();
    Ok(Parts {
        // Without tokens for bytes the flag does nothing.
        model: json!({"type": "Unigram", "unk_id": unknown, "vocab": vocabulary, "byte_fallback": true}),
        normalizer: normalizer(rules)?,
        decoder: decoder(),
    })
}

fn normalizer(rules: &Rules<'_>) -> Result<Value> {
    let replace = |pattern: Value, content: &str| json!({"type": "Replace", "pattern": pattern, "content": content});
    let mut steps = Vec::new();
    if let Some(map) = rules.charsmap.filter(|map| !map.is_empty()) {
        steps.push(json!({"type": "Precompiled", "precompiled_charsmap": charsmap::checked(map)?}));
    }
    if rules.single_spaces {
        steps.push(replace(json!({"Regex": "^ +| +$"}), ""));
        steps.push(replace(json!({"Regex": " {2,}"}), " "));
    }
    if rules.space_prefix {
        steps.push(json!({"type": "Prepend", "prepend": SPACE}));
    }
    steps.push(replace(json!({"String": " "}), SPACE));
    Ok(json!({"type": "Sequence", "normalizers": steps}))
}

#[cfg(test)]
#[path = "unigram/tests.rs"]
mod tests;
