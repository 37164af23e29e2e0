//! The ids are llama.cpp's, for every kind of tokenizer.

use serde_json::Value;

use super::super::metadata::{Metadata, Value as Entry};
use super::*;
use crate::model::template::ChatTemplate;
use crate::model::tokenizer::ChatTokenizer;

/// `tokenizer_kinds.json`, which `tokenizer_kinds.py` beside it wrote, or one of the same form at the path in `TOKENIZERS`.
fn data() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tokenizer_kinds.json");
    let path = std::env::var("TOKENIZERS").unwrap_or(path.into());
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn tokenizer(data: &Value, name: &str) -> ChatTokenizer {
    let pieces = name.starts_with("sentencepiece");
    let vocabulary = &data[if pieces { "sentencepiece" } else { "bpe" }];
    let mut metadata = Metadata::default();
    let mut set = |key: &str, value: Entry| metadata.insert(key.into(), value).unwrap();
    set(TOKENS, Entry::Texts(texts(&vocabulary["tokens"])));
    set(TOKEN_TYPES, Entry::Numbers(numbers(&vocabulary["types"])));
    if pieces {
        set(MODEL, Entry::Text("llama".into()));
        set(SCORES, Entry::Numbers(numbers(&vocabulary["scores"])));
        set(SPACE_PREFIX, Entry::Bool(name == "sentencepiece"));
    } else {
        set(MODEL, Entry::Text("gpt2".into()));
        set(PRE, Entry::Text(name.into()));
        set(MERGES, Entry::Texts(texts(&vocabulary["merges"])));
    }
    let template = ChatTemplate::new("{{ messages[0].content }}", "", "").unwrap();
    ChatTokenizer::new(&write(&metadata).unwrap(), template, None).unwrap()
}

/// Where llama.cpp's ids are not wanted: it approximates some families' patterns (marks are no letters, only letters of
/// ASCII have cases, only white space of ASCII is such), and its SentencePiece reads the text of a control token as the
/// token.
fn differs(name: &str, text: &str) -> bool {
    let beyond_ascii = |test: &dyn Fn(char) -> bool| text.chars().any(|c| !c.is_ascii() && test(c));
    let is_mark = |c: char| matches!(c, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{97f}' | '\u{fe00}'..='\u{fe0f}');
    match name {
        "tekken" | "gpt-4o" => beyond_ascii(&|c| c.is_uppercase() || is_mark(c)),
        "deepseek-llm" | "deepseek-coder" => beyond_ascii(&char::is_whitespace),
        "sentencepiece" | "sentencepiece without prefix" => text.contains("<s>") || text.contains("</s>"),
        _ => false,
    }
}

#[test]
fn texts_become_llama_cpps_ids_with_every_tokenizer() {
    let data = data();
    let samples = texts(&data["texts"]);
    let mut wrong = Vec::new();
    for (name, expected) in data["ids"].as_object().unwrap() {
        let tokenizer = tokenizer(&data, name);
        let mut differ = 0;
        for (text, expected) in samples.iter().zip(expected.as_array().unwrap()) {
            let ids = tokenizer.encode_text(text).unwrap();
            let same = ids.iter().map(|&id| f64::from(id)).eq(numbers(expected));
            differ += usize::from(!same);
            if !same && !differs(name, text) {
                wrong.push(format!("{name}: {text:?} became {ids:?}, not {expected}"));
            }
            let decoded = tokenizer.decode(&ids).unwrap();
            let decoded = decoded.strip_prefix(' ').filter(|_| name == "sentencepiece").unwrap_or(&decoded);
            // SentencePiece's mark itself cannot be said.
            assert_eq!(decoded.replace('\u{2581}', " "), text.replace('\u{2581}', " "), "{name}");
        }
        println!("{name}: {differ} of {} texts have other ids than llama.cpp's", samples.len());
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn plain_text_is_never_a_control_token() {
    let data = data();
    for name in data["ids"].as_object().unwrap().keys() {
        let tokenizer = tokenizer(&data, name);
        for text in ["<s>", "</s>", "<unk>", "a</s>b <s> </s></s>"] {
            let ids = tokenizer.encode_text(text).unwrap();
            assert!(ids.iter().all(|&id| id > 2), "{name}: {text:?} became {ids:?}");
        }
    }
}
