//! What the library's unigram model leaves to be done: its search finds every text of the vocabulary, those of control
//! tokens and of bytes too. So they are taken out of its vocabulary, and bytes are said where the search finds nothing.

use std::collections::HashSet;

use serde::Deserialize;
use tokenizers::models::unigram::Unigram as Model;
use tokenizers::{Encoding, ModelWrapper, Tokenizer};

use super::control::Mark;
use crate::model::spelling::hexadecimal;
use crate::{Error, Result};

pub(super) struct Unigram {
    /// The token for what is not in the vocabulary.
    unknown: Option<u32>,
    /// The tokens of all bytes, where unknown text is said by them.
    bytes: Option<Box<[u32; 256]>>,
}

/// What the library's model does not tell of itself.
#[derive(Deserialize)]
struct File {
    model: Named,
}

#[derive(Deserialize)]
struct Named {
    unk_id: Option<u32>,
}

impl Unigram {
    /// Takes the texts of the tokens `control` and of bytes out of what `tokenizer` finds in a text, if its model is a
    /// unigram. `json` is its `tokenizer.json`.
    pub fn take_apart(tokenizer: &mut Tokenizer, json: &[u8], control: &HashSet<u32>) -> Result<Option<Self>> {
        let ModelWrapper::Unigram(model) = tokenizer.get_model() else { return Ok(None) };
        let File { model: Named { unk_id: unknown } } = serde_json::from_slice(json).map_err(Error::model)?;
        let bytes = if model.byte_fallback() { bytes(model) } else { None };
        let apart = |id: u32| control.contains(&id) || bytes.as_ref().is_some_and(|bytes| bytes.contains(&id));
        let found = (0..).zip(model.iter()).filter(|&(id, _)| !apart(id)).map(|(_, (_, score))| *score);
        // The library's score of the unknown depends on the least.
        let least = found.reduce(f64::min).unwrap_or_default();
        let nobody_says = Mark::unguessable();
        let vocabulary: Vec<(String, f64)> = (0..)
            .zip(model.iter())
            .map(|(id, piece)| if apart(id) { (format!("{}{id}", nobody_says.as_str()), least) } else { piece.clone() })
            .collect();
        let model = Model::from(vocabulary, unknown.map(|id| id as usize), false).map_err(Error::model)?;
        tokenizer.with_model(model);
        Ok(Some(Self { unknown, bytes }))
    }

    pub fn ids(&self, encoding: &Encoding) -> Vec<u32> {
        let mut ids = Vec::with_capacity(encoding.len());
        for (&id, text) in encoding.get_ids().iter().zip(encoding.get_tokens()) {
            match &self.bytes {
                Some(bytes) if Some(id) == self.unknown => {
                    ids.extend(text.bytes().map(|byte| bytes[usize::from(byte)]));
                }
                _ => ids.push(id),
            }
        }
        ids
    }

    /// The byte that a token is.
    pub fn byte(&self, id: u32) -> Option<u8> {
        let at = self.bytes.as_ref()?.iter().position(|&byte| byte == id)?;
        u8::try_from(at).ok()
    }
}

/// The tokens of all bytes, if there are all.
fn bytes(model: &Model) -> Option<Box<[u32; 256]>> {
    let mut bytes = Box::new([None; 256]);
    for (id, (piece, _)) in (0..).zip(model.iter()) {
        if let Some(byte) = hexadecimal(piece) {
            bytes[usize::from(byte)].get_or_insert(id);
        }
    }
    let known: Option<Vec<u32>> = bytes.iter().copied().collect();
    known?.try_into().ok()
}
