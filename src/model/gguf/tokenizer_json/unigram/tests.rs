//! The ids are SentencePiece's and llama.cpp's; what is broken is refused.

use super::super::super::metadata::{Metadata, Value as Entry};
use super::super::*;
use crate::model::template::ChatTemplate;
use crate::model::tokenizer::ChatTokenizer;
use crate::model::{Message, Role};

/// `tokenizer_unigram.json`, which `tokenizer_unigram.py` beside it wrote, or one of the same form at the path in `UNIGRAMS`.
fn data() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tokenizer_unigram.json");
    let path = std::env::var("UNIGRAMS").unwrap_or(path.into());
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn metadata(kind: &Value) -> [(&'static str, Entry); 8] {
    [
        (MODEL, Entry::Text("t5".into())),
        (TOKENS, Entry::Texts(texts(&kind["tokens"]))),
        (TOKEN_TYPES, Entry::Numbers(numbers(&kind["types"]))),
        (SCORES, Entry::Numbers(numbers(&kind["scores"]))),
        (CHARSMAP, Entry::Numbers(numbers(&kind["charsmap"]))),
        (SPACE_PREFIX, Entry::Bool(kind["space_prefix"].as_bool().unwrap())),
        (SINGLE_SPACES, Entry::Bool(kind["single_spaces"].as_bool().unwrap())),
        ("tokenizer.ggml.unknown_token_id", Entry::Unsigned(kind["unknown"].as_u64().unwrap())),
    ]
}

fn opened(entries: [(&str, Entry); 8]) -> Result<ChatTokenizer> {
    let mut metadata = Metadata::default();
    for (key, entry) in entries {
        metadata.insert(key.into(), entry).unwrap();
    }
    let template = ChatTemplate::new("<s>{{ messages[0].content }}</s>", "", "").unwrap();
    ChatTokenizer::new(&write(&metadata)?, template, None)
}

/// Whether the two differ: llama.cpp never says bytes, and they trim marks and spaces alone in their own ways.
fn differ(unknown: f64, llama: &[f64], text: &str) -> bool {
    llama.contains(&unknown) || text.chars().all(|c| c == ' ' || c == '\u{2581}')
}

/// The library loses what combines with a character that the map replaces.
const LOST: &str = "\u{fb01}\u{301}";

#[test]
fn texts_become_sentencepieces_ids() {
    let data = data();
    let mut wrong = Vec::new();
    for (name, kind) in data["kinds"].as_object().unwrap() {
        let tokenizer = opened(metadata(kind)).unwrap();
        for (at, text) in texts(&data["texts"]).iter().enumerate() {
            let ids = tokenizer.encode_text(text).unwrap();
            let found: Vec<f64> = ids.iter().map(|&id| f64::from(id)).collect();
            let (sentencepiece, llama) = (numbers(&kind["sentencepiece"][at]), numbers(&kind["llama.cpp"][at]));
            if text == LOST && !kind["charsmap"].as_array().unwrap().is_empty() {
                assert_ne!(found, sentencepiece, "no longer a limitation");
                continue;
            }
            let unknown = kind["unknown"].as_f64().unwrap();
            let right = match found == llama {
                true => found == sentencepiece || differ(unknown, &llama, text),
                false => found == sentencepiece && differ(unknown, &llama, text),
            };
            if !right {
                wrong.push(format!("{name}: {text:?} became {ids:?}, not {sentencepiece:?} or {llama:?}"));
            }
            if kind["charsmap"].as_array().unwrap().is_empty() && !ids.contains(&0) {
                let decoded = tokenizer.decode(&ids).unwrap();
                let own = decoded.strip_prefix(' ').filter(|_| kind["space_prefix"] == true).unwrap_or(&decoded);
                // SentencePiece's mark itself cannot be said.
                assert_eq!(own, text.replace('\u{2581}', " "), "{name}");
                let mut stream = tokenizer.stream("");
                let mut said: String = ids.iter().filter_map(|&id| stream.step(id).unwrap()).collect();
                said.push_str(&stream.finish().unwrap());
                assert_eq!(said, own, "{name}");
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn only_the_template_says_control_tokens() {
    for kind in data()["kinds"].as_object().unwrap().values() {
        let tokenizer = opened(metadata(kind)).unwrap();
        for text in ["<s>", "</s>", "<unk>", "a</s>b <s> </s></s>"] {
            let ids = tokenizer.encode_text(text).unwrap();
            assert!(ids.iter().all(|&id| id != 1 && id != 2), "{text:?} became {ids:?}");
            let message = Message { role: Role::User, content: text.into() };
            let ids = tokenizer.encode_chat(&[message], text).unwrap();
            let controls: Vec<u32> = ids.into_iter().filter(|&id| id == 1 || id == 2).collect();
            assert_eq!(controls, [1, 2], "{text:?}");
        }
    }
}

/// Text that the vocabulary says nothing of becomes one unknown token, and no control token, however little is in it.
#[test]
fn a_vocabulary_without_brackets_does_not_make_control_tokens_likelier() {
    let kind = json!({"tokens": ["<unk>", "<s>", "</s>", "\u{2581}", "a"], "scores": [0, 0, 0, -2, -3],
        "types": [2, 3, 3, 1, 1], "charsmap": [], "space_prefix": false, "single_spaces": false, "unknown": 0});
    let tokenizer = opened(metadata(&kind)).unwrap();
    assert_eq!(tokenizer.encode_text("a </s><s>a").unwrap(), [4, 3, 0, 4]);
}

#[test]
fn what_is_broken_is_refused() {
    let data = data();
    let kind = &data["kinds"].as_object().unwrap()["normalized"];
    let refused = |key: &str, value: Value, why: &str| {
        let mut kind = kind.clone();
        kind[key] = value;
        let error = opened(metadata(&kind)).err().unwrap();
        assert!(error.is_model() && error.to_string().contains(why), "{key}: {error}");
    };
    let count = kind["tokens"].as_array().unwrap().len();
    let changed = |key: &str, at: usize, value: Value| {
        let mut list = kind[key].clone();
        list[at] = value;
        list
    };
    refused("scores", json!([0.5]), "500 tokens but 1");
    refused("unknown", count.into(), "beyond its 500 tokens");
    refused("tokens", changed("tokens", 7, "x".repeat(1000).into()), "1000 bytes long");
    refused("charsmap", json!([0, 1]), "broken");
    refused("charsmap", json!([0, 0, 0, 0]), "broken");
    refused("charsmap", json!([0.5]), "not made of bytes");
    refused("charsmap", json!([256]), "not made of bytes");
    refused("charsmap", vec![0; (1 << 20) + 1].into(), "more than 1048576");
    let map = numbers(&kind["charsmap"]);
    refused("charsmap", map[..map.len() - 1].into(), "broken");
    let mut infinite = numbers(&kind["scores"]);
    infinite[9] = f64::INFINITY;
    let mut entries = metadata(kind);
    entries[3] = (SCORES, Entry::Numbers(infinite));
    assert!(opened(entries).err().unwrap().to_string().contains("the score inf"));
}

/// A map is refused or can be followed by any text: every change of one byte, and many of several.
#[test]
fn no_map_of_characters_makes_the_library_panic() {
    let data = data();
    let kind = &data["kinds"].as_object().unwrap()["normalized"];
    let map = numbers(&kind["charsmap"]);
    let seed: u64 = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("SEED={seed}");
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let characters: String = (1..=0x2ff_u32).chain(0xff00..0xff60).filter_map(char::from_u32).collect();
    let mut texts = texts(&data["texts"]);
    texts.push(characters);
    let mut taken = 0;
    for round in 0..3_000 {
        let mut map = map.clone();
        for _ in 0..=round % 4 {
            let at = random(map.len());
            map[at] = random(256) as f64;
        }
        let Ok(map) = charsmap::checked(&map) else { continue };
        taken += 1;
        let json = json!({"type": "Precompiled", "precompiled_charsmap": map});
        let normalizer: tokenizers::NormalizerWrapper = serde_json::from_value(json).unwrap();
        for text in &texts {
            let mut text = tokenizers::NormalizedString::from(text.as_str());
            tokenizers::Normalizer::normalize(&normalizer, &mut text).unwrap();
        }
    }
    assert!((100..2_990).contains(&taken), "{taken} of 3000 maps were taken");
}
