//! SentencePiece's BPE: no merges in the file, but a score for each token; the neighbours whose union scores best are
//! merged first. Re-expressed as ranked merges, which is the same as long as all ways to make a token are neighbours in
//! rank.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{NORMAL, UNUSED};
use crate::{Error, Result};

/// Stands for a space in every token.
pub(super) const SPACE: &str = "\u{2581}";
/// Characters of a token, of which every split is tried: real ones have at most some tens.
pub(super) const MAX_CHARACTERS: usize = 256;
/// Ways to make tokens of others: twice those of the largest vocabulary we know. Each takes some 200 bytes here.
const MAX_MERGES: usize = 1 << 20;

/// The `model`, `normalizer` and `decoder` of a `tokenizer.json`.
pub(super) struct Parts {
    pub model: Value,
    pub normalizer: Value,
    pub decoder: Value,
}

impl Parts {
    pub fn fill(self, tokenizer: &mut Value) {
        tokenizer["model"] = self.model;
        tokenizer["normalizer"] = self.normalizer;
        tokenizer["decoder"] = self.decoder;
    }
}

pub(super) fn parts(
    tokens: &[String],
    types: &[f64],
    scores: &[f64],
    unknown: Option<&str>,
    space_prefix: bool,
) -> Result<Parts> {
    let vocabulary: serde_json::Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| (token.clone(), id.into())).collect();
    let model = json!({"type": "BPE", "dropout": null, "unk_token": unknown, "continuing_subword_prefix": null,
        "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
        "vocab": vocabulary, "merges": merges(tokens, types, scores)?});
    let to_marks = json!({"type": "Replace", "pattern": {"String": " "}, "content": SPACE});
    let normalizer = match space_prefix {
        true => json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": SPACE}, to_marks]}),
        false => to_marks,
    };
    Ok(Parts { model, normalizer, decoder: decoder() })
}

pub(super) fn decoder() -> Value {
    json!({"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}]})
}

pub(super) fn refuse_odd_scores(scores: &[f64]) -> Result<()> {
    match scores.iter().find(|score| !score.is_finite()) {
        None => Ok(()),
        Some(score) => Err(Error::model(format!("one of its tokens has the score {score}"))),
    }
}

/// Every way to make a token of two others, the best-scored tokens first.
///
/// What the text of a control token would be merged to stays apart: plain text never becomes one.
fn merges(tokens: &[String], types: &[f64], scores: &[f64]) -> Result<Vec<Value>> {
    refuse_odd_scores(scores)?;
    let ordinary = |id: usize| types[id] == NORMAL || types[id] == UNUSED;
    let ids: HashMap<&str, usize> =
        tokens.iter().enumerate().filter(|(id, _)| ordinary(*id)).map(|(id, token)| (token.as_str(), id)).collect();
    let mut merged: Vec<usize> = (0..tokens.len()).filter(|&id| ordinary(id)).collect();
    merged.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut merges = Vec::new();
    for id in merged {
        let token = tokens[id].as_str();
        if token.len() > MAX_CHARACTERS && token.chars().count() > MAX_CHARACTERS {
            return Err(Error::model(format!("its token {id} is {} bytes long", token.len())));
        }
        let mut ways: Vec<(usize, usize)> = token
            .char_indices()
            .skip(1)
            .filter_map(|(at, _)| Some((*ids.get(&token[..at])?, *ids.get(&token[at..])?)))
            .collect();
        ways.sort_unstable();
        if merges.len() + ways.len() > MAX_MERGES {
            return Err(Error::model(format!("its tokens can be made of others in more than {MAX_MERGES} ways")));
        }
        merges.extend(ways.into_iter().map(|(left, right)| json!([tokens[left], tokens[right]])));
    }
    Ok(merges)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All parts of one text are tokens: each is made of others in as many ways as it has characters.
    #[test]
    fn more_ways_than_any_vocabulary_has_are_refused() {
        let text: Vec<char> = (0..500).map(|i| char::from_u32(0x4e00 + i).unwrap()).collect();
        let part = |from: usize, len| text[from..].iter().take(len).collect::<String>();
        let tokens = |longest: usize| (1..=longest).flat_map(|len| (0..=500 - len).map(move |from| (from, len)));
        let merged = |longest| {
            let tokens: Vec<String> = tokens(longest).map(|(from, len)| part(from, len)).collect();
            merges(&tokens, &vec![NORMAL; tokens.len()], &vec![0.0; tokens.len()])
        };
        assert_eq!(merged(3).unwrap().len(), 499 + 2 * 498);
        assert!(merged(80).unwrap_err().is_model());
    }
}
