//! The tokenizer and the turn markers, from a GGUF's metadata to `tokenizer.json` and the model's description.

use std::collections::HashSet;

use serde_json::{Value, json};

use self::pre::PreTokenizer;
use super::metadata::{Metadata, required};
use crate::error::OrInternal;
use crate::model::built::Description;
use crate::model::turn_ends::ends_turn;
use crate::{Error, Result};

// Their paths are explicit so that this file can be included from elsewhere, to be fuzzed.
#[path = "tokenizer_json/charsmap.rs"]
mod charsmap;
#[path = "tokenizer_json/pre.rs"]
mod pre;
#[path = "tokenizer_json/sentencepiece.rs"]
mod sentencepiece;
#[cfg(test)]
#[path = "tokenizer_json/tests.rs"]
mod tests;
#[path = "tokenizer_json/unigram.rs"]
mod unigram;

/// llama.cpp's `llama_token_type`.
const NORMAL: f64 = 1.0;
const UNKNOWN: f64 = 2.0;
const CONTROL: f64 = 3.0;
const USER_DEFINED: f64 = 4.0;
const UNUSED: f64 = 5.0;

const TOKENS: &str = "tokenizer.ggml.tokens";
const TOKEN_TYPES: &str = "tokenizer.ggml.token_type";
const SCORES: &str = "tokenizer.ggml.scores";
const MERGES: &str = "tokenizer.ggml.merges";
const CHARSMAP: &str = "tokenizer.ggml.precompiled_charsmap";
/// The lists that are read of a file; all others stay there.
pub(super) const LISTS: [&str; 5] = [TOKENS, TOKEN_TYPES, SCORES, MERGES, CHARSMAP];
const MODEL: &str = "tokenizer.ggml.model";
const PRE: &str = "tokenizer.ggml.pre";
const SPACE_PREFIX: &str = "tokenizer.ggml.add_space_prefix";
const SINGLE_SPACES: &str = "tokenizer.ggml.remove_extra_whitespaces";
const TEMPLATE: &str = "tokenizer.chat_template";

pub(super) fn vocabulary(metadata: &Metadata) -> Result<&[String]> {
    required(TOKENS, metadata.texts(TOKENS))
}

/// How text becomes tokens.
enum Kind {
    /// GPT-2's: bytes with printable stand-ins, and merges.
    ByteLevel(PreTokenizer),
    /// SentencePiece's BPE, with bytes for what is not in the vocabulary.
    SentencePiece,
    /// SentencePiece's unigram model.
    Unigram,
}

impl Kind {
    fn of(metadata: &Metadata) -> Result<Self> {
        match required(MODEL, metadata.text(MODEL))? {
            "gpt2" => Ok(Self::ByteLevel(PreTokenizer::named(required(PRE, metadata.text(PRE))?)?)),
            "llama" => Ok(Self::SentencePiece),
            "t5" => Ok(Self::Unigram),
            model => Err(Error::model(format!(
                "its tokenizer is `{model}`; supported are byte-level BPE (`gpt2`) and SentencePiece's BPE (`llama`) and unigrams (`t5`)"
            ))),
        }
    }

    fn adds_first(&self) -> bool {
        match self {
            Self::ByteLevel(pre) => pre.adds_first,
            Self::SentencePiece => true,
            Self::Unigram => false,
        }
    }
}

/// The `tokenizer.json`.
pub(super) fn write(metadata: &Metadata) -> Result<Vec<u8>> {
    let kind = Kind::of(metadata)?;
    let tokens = vocabulary(metadata)?;
    let types = for_each_token(tokens, TOKEN_TYPES, metadata)?;
    refuse_twins(tokens)?;
    let added: Vec<Value> = (tokens.iter().zip(types).enumerate())
        .filter(|(_, (_, kind))| [UNKNOWN, CONTROL, USER_DEFINED].contains(kind))
        .map(|(id, (content, kind))| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": *kind != USER_DEFINED})
        })
        .collect();
    let mut tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": null, "post_processor": null,
    });
    match kind {
        Kind::ByteLevel(pre) => {
            tokenizer["pre_tokenizer"] = pre.json();
            tokenizer["decoder"] =
                json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true});
            tokenizer["model"] = byte_level(metadata, tokens, pre.ignore_merges)?;
        }
        Kind::SentencePiece => {
            let scores = for_each_token(tokens, SCORES, metadata)?;
            let space_prefix = metadata.flag(SPACE_PREFIX)?.unwrap_or(true);
            let unknown = Tokens::of(metadata)?.unknown.map(|id| tokens[id as usize].as_str());
            let parts = sentencepiece::parts(tokens, types, scores, unknown, space_prefix)?;
            parts.fill(&mut tokenizer);
        }
        Kind::Unigram => {
            let scores = for_each_token(tokens, SCORES, metadata)?;
            let unknown = required("tokenizer.ggml.unknown_token_id", Ok(Tokens::of(metadata)?.unknown))?;
            let rules = unigram::Rules {
                space_prefix: metadata.flag(SPACE_PREFIX)?.unwrap_or(true),
                single_spaces: metadata.flag(SINGLE_SPACES)?.unwrap_or(false),
                charsmap: metadata.numbers(CHARSMAP)?,
            };
            unigram::parts(tokens, scores, unknown, &rules)?.fill(&mut tokenizer);
        }
    }
    serde_json::to_vec(&tokenizer).or_internal("writing the tokenizer")
}

/// A list with a number for each token.
fn for_each_token<'a>(tokens: &[String], key: &str, metadata: &'a Metadata) -> Result<&'a [f64]> {
    let numbers = required(key, metadata.numbers(key))?;
    match numbers.len() == tokens.len() {
        true => Ok(numbers),
        false => Err(Error::model(format!("it has {} tokens but {} in `{key}`", tokens.len(), numbers.len()))),
    }
}

/// Ids are found by text, so no two may have the same.
fn refuse_twins(tokens: &[String]) -> Result<()> {
    let mut seen = HashSet::with_capacity(tokens.len());
    match tokens.iter().find(|token| !seen.insert(token.as_str())) {
        None => Ok(()),
        Some(token) => Err(Error::model(format!("its vocabulary has the token {token:?} twice"))),
    }
}

fn byte_level(metadata: &Metadata, tokens: &[String], ignore_merges: bool) -> Result<Value> {
    let vocabulary: serde_json::Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| (token.clone(), id.into())).collect();
    let merges: Vec<Value> = required(MERGES, metadata.texts(MERGES))?
        .iter()
        .map(|merge| merge.split_once(' ').map(|(left, right)| json!([left, right])))
        .collect::<Option<_>>()
        .ok_or_else(|| Error::model(format!("its metadata `{MERGES}` has an entry that is not a pair")))?;
    Ok(json!({"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
        "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": ignore_merges,
        "vocab": vocabulary, "merges": merges}))
}

/// The tokens that the file names by what they are for.
struct Tokens {
    bos: Option<u32>,
    unknown: Option<u32>,
    eos: Option<u32>,
    /// Other ends of a turn or a message.
    ends: [Option<u32>; 2],
}

impl Tokens {
    fn of(metadata: &Metadata) -> Result<Self> {
        let count = vocabulary(metadata)?.len() as u64;
        let id = |kind: &str| -> Result<Option<u32>> {
            let key = format!("tokenizer.ggml.{kind}_token_id");
            match metadata.unsigned(&key)? {
                None => Ok(None),
                Some(id) if id < count => Ok(Some(id as u32)),
                Some(id) => Err(Error::model(format!("its metadata `{key}` is {id}, beyond its {count} tokens"))),
            }
        };
        // Those that files leave out.
        let [bos, unknown, eos] = match metadata.text(MODEL)? {
            Some("llama") => [Some(1), Some(0), Some(2)],
            Some("t5") => [None, Some(2), Some(1)],
            _ => [None; 3],
        }
        .map(|id| id.filter(|&id| u64::from(id) < count));
        Ok(Self {
            bos: id("bos")?.or(bos),
            unknown: id("unknown")?.or(unknown),
            eos: id("eos")?.or(eos),
            ends: [id("eot")?, id("eom")?],
        })
    }
}

/// What a conversation needs to know beside the weights.
pub(super) fn describe(metadata: &Metadata, name: &str, context_length: usize) -> Result<Description> {
    let tokens = vocabulary(metadata)?;
    let template = metadata.text(TEMPLATE)?.ok_or_else(|| {
        Error::model("it has no chat template")
            .advise("take the model's `Instruct` file: a base model cannot follow instructions")
    })?;
    let text = |id: Option<u32>| id.map(|id| tokens[id as usize].clone()).unwrap_or_default();
    let Tokens { bos, eos, ends, .. } = Tokens::of(metadata)?;
    let named = (0_u32..).zip(tokens).filter(|(_, token)| ends_turn(token)).map(|(id, _)| id);
    // A beginning, too, means that the turn before it is over: a model may forget to end its own.
    let mut end_of_turn: Vec<u32> = [eos, bos].into_iter().chain(ends).flatten().chain(named).collect();
    end_of_turn.sort_unstable();
    end_of_turn.dedup();
    if end_of_turn.is_empty() {
        return Err(Error::model("it names no token that ends a turn"));
    }
    let adds_first = metadata.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(Kind::of(metadata)?.adds_first());
    Ok(Description {
        name: name.into(),
        parameters: None,
        context_length,
        chat_template: template.into(),
        bos_token: text(bos),
        eos_token: text(eos),
        first_token: bos.filter(|_| adds_first),
        end_of_turn,
    })
}
