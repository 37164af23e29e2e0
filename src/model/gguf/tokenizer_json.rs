//! The tokenizer and the turn markers, from a GGUF's metadata to `tokenizer.json` and the model's description.

use serde_json::{Value, json};

use super::metadata::{Metadata, required};
use crate::error::OrInternal;
use crate::model::built::Description;
use crate::{Error, Result};

/// llama.cpp's `llama_token_type`.
const CONTROL: f64 = 3.0;
const USER_DEFINED: f64 = 4.0;

/// Tokens that end a turn under whatever name the file has for them, as llama.cpp recognises them.
const TURN_ENDS: [&str; 6] = ["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|end|>", "<end_of_turn>", "</s>"];

const TOKENS: &str = "tokenizer.ggml.tokens";
const TOKEN_TYPES: &str = "tokenizer.ggml.token_type";
const MERGES: &str = "tokenizer.ggml.merges";
/// The lists that are read of a file; all others stay there.
pub(super) const LISTS: [&str; 3] = [TOKENS, TOKEN_TYPES, MERGES];
const MODEL: &str = "tokenizer.ggml.model";
const PRE: &str = "tokenizer.ggml.pre";
const TEMPLATE: &str = "tokenizer.chat_template";

pub(super) fn vocabulary(metadata: &Metadata) -> Result<&[String]> {
    required(TOKENS, metadata.texts(TOKENS))
}

/// The `tokenizer.json` of a byte-level BPE.
pub(super) fn write(metadata: &Metadata) -> Result<Vec<u8>> {
    let model = required(MODEL, metadata.text(MODEL))?;
    if model != "gpt2" {
        return Err(Error::model(format!(
            "its tokenizer is `{model}`; only byte-level BPE (`gpt2`) is supported so far"
        )));
    }
    let pre = required(PRE, metadata.text(PRE))?;
    let tokens = vocabulary(metadata)?;
    let types = required(TOKEN_TYPES, metadata.numbers(TOKEN_TYPES))?;
    if types.len() != tokens.len() {
        return Err(Error::model(format!("it has {} tokens but {} token types", tokens.len(), types.len())));
    }
    let added: Vec<Value> = (tokens.iter().zip(types).enumerate())
        .filter(|(_, (_, kind))| **kind == CONTROL || **kind == USER_DEFINED)
        .map(|(id, (content, kind))| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": *kind == CONTROL})
        })
        .collect();
    let vocabulary: serde_json::Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| (token.clone(), id.into())).collect();
    let merges: Vec<Value> = required(MERGES, metadata.texts(MERGES))?
        .iter()
        .map(|merge| merge.split_once(' ').map(|(left, right)| json!([left, right])))
        .collect::<Option<_>>()
        .ok_or_else(|| Error::model(format!("its metadata `{MERGES}` has an entry that is not a pair")))?;
    let tokenizer = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": added, "normalizer": null,
        "pre_tokenizer": pre_tokenizer(pre)?, "post_processor": null,
        "decoder": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocabulary, "merges": merges},
    });
    serde_json::to_vec(&tokenizer).or_internal("writing the tokenizer")
}

/// How text is cut before the merges, by llama.cpp's name for it.
fn pre_tokenizer(name: &str) -> Result<Value> {
    match name {
        "smollm" => Ok(json!({"type": "Sequence", "pretokenizers": [
            {"type": "Digits", "individual_digits": true},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}]})),
        _ => Err(Error::model(format!("its pre-tokenizer is `{name}`; only `smollm` is supported so far"))),
    }
}

/// What a conversation needs to know beside the weights.
pub(super) fn describe(metadata: &Metadata, name: &str, context_length: usize) -> Result<Description> {
    let tokens = vocabulary(metadata)?;
    let template = metadata.text(TEMPLATE)?.ok_or_else(|| {
        Error::model("it has no chat template")
            .advise("take the model's `Instruct` file: a base model cannot follow instructions")
    })?;
    let id = |kind: &str| -> Result<Option<u32>> {
        let key = format!("tokenizer.ggml.{kind}_token_id");
        match metadata.unsigned(&key)? {
            None => Ok(None),
            Some(id) if id < tokens.len() as u64 => Ok(Some(id as u32)),
            Some(id) => Err(Error::model(format!("its metadata `{key}` is {id}, beyond its {} tokens", tokens.len()))),
        }
    };
    let text = |id: Option<u32>| id.map(|id| tokens[id as usize].clone()).unwrap_or_default();
    let (bos, eos) = (id("bos")?, id("eos")?);
    let named = TURN_ENDS.iter().filter_map(|end| tokens.iter().position(|token| token == end)).map(|id| id as u32);
    // A beginning, too, means that the turn before it is over: a model may forget to end its own.
    let mut end_of_turn: Vec<u32> = [eos, id("eot")?, bos].into_iter().flatten().chain(named).collect();
    end_of_turn.sort_unstable();
    end_of_turn.dedup();
    if end_of_turn.is_empty() {
        return Err(Error::model("it names no token that ends a turn"));
    }
    Ok(Description {
        name: name.into(),
        context_length,
        chat_template: template.into(),
        bos_token: text(bos),
        eos_token: text(eos),
        first_token: if metadata.flag("tokenizer.ggml.add_bos_token")?.unwrap_or(false) { bos } else { None },
        end_of_turn,
    })
}
