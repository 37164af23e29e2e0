//! Ids, control tokens and streams of small tokenizers.

use serde_json::json;

use super::*;
use crate::model::Role;

/// The control tokens are 0 and 1, then come the user-defined ones; byte `b` alone is token `BYTE + b`.
const BYTE: u32 = 4;
const THINK: u32 = 2;
const TABS: u32 = 3;

/// The control token is 0, then come 256 bytes, the mark, and two pieces.
pub(crate) fn pieces(space_prefix: bool) -> ChatTokenizer {
    let bytes = (0..=255).map(|byte| format!("<0x{byte:02X}>"));
    let tokens = ["</s>".to_owned()].into_iter().chain(bytes).chain(["\u{2581}", "a", "\u{2581}a"].map(String::from));
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        tokens.enumerate().map(|(id, token)| (token, id.into())).collect();
    let marks = json!({"type": "Replace", "pattern": {"String": " "}, "content": "\u{2581}"});
    let prefix = json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u{2581}"}, marks]});
    let end = json!({"id": 0, "content": "</s>", "single_word": false, "lstrip": false, "rstrip": false,
        "normalized": false, "special": true});
    let json = json!({
        "version": "1.0", "added_tokens": [end], "normalizer": if space_prefix { prefix } else { marks },
        "pre_tokenizer": null, "post_processor": null, "decoder": null, "truncation": null, "padding": null,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": [["\u{2581}", "a"]], "fuse_unk": true, "byte_fallback": true},
    });
    let template = ChatTemplate::new("{{ messages[0].content }}</s>", "", "").unwrap();
    ChatTokenizer::new(json.to_string().as_bytes(), template, None).unwrap()
}

const SPACE: u32 = 257;
const A: u32 = 258;
const SPACE_A: u32 = 259;

#[test]
fn pieces_are_joined_as_bytes_and_broken_ones_spoil_nothing_beside_them() {
    let tokenizer = pieces(true);
    let byte = |byte: u8| 1 + u32::from(byte);
    let text = "é€🙂a";
    let ids: Vec<u32> = text.bytes().map(byte).collect();
    assert_eq!(tokenizer.decode(&ids).unwrap(), text);
    let mut stream = tokenizer.stream("x");
    let mut said = String::new();
    for id in [byte(0xc3), byte(0xa9), byte(0xff), A, SPACE_A, byte(0xe2), byte(0x82), byte(0xac), 0, byte(0xf0)] {
        said.push_str(&stream.step(id).unwrap().unwrap_or_default());
    }
    said.push_str(&stream.finish().unwrap());
    assert_eq!(said, "é\u{fffd}a a€\u{fffd}");
}

#[test]
fn the_tokenizers_own_space_is_not_part_of_a_reply() {
    let said = |space_prefix: bool, prefill: &str, ids: &[u32]| {
        let tokenizer = pieces(space_prefix);
        let mut stream = tokenizer.stream(prefill);
        let mut said: String = ids.iter().filter_map(|&id| stream.step(id).unwrap()).collect();
        said.push_str(&stream.finish().unwrap());
        said
    };
    assert_eq!(said(true, "", &[SPACE_A, SPACE_A]), "a a");
    assert_eq!(said(true, "", &[SPACE, SPACE, A]), " a");
    assert_eq!(said(true, "", &[A, SPACE_A]), "a a");
    // After a prefill, and without the habit, it is indentation or the like.
    assert_eq!(said(true, "```", &[SPACE, SPACE_A]), "  a");
    assert_eq!(said(false, "", &[SPACE_A]), " a");
    // Each text between control tokens has one, as the model was taught.
    let ids = pieces(true).encode_chat(&[Message { role: Role::User, content: "a a".into() }], "a").unwrap();
    assert_eq!(ids, [SPACE_A, SPACE_A, 0, SPACE_A]);
}

/// GPT-2's printable stand-ins for bytes.
fn stand_in(byte: u8) -> char {
    let printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    match printable(byte) {
        true => char::from(byte),
        false => char::from_u32(256 + (0..byte).filter(|&b| !printable(b)).count() as u32).unwrap(),
    }
}

fn tokenizer() -> ChatTokenizer {
    let mut vocabulary = serde_json::Map::new();
    let controls = ["<|im_start|>", "<|im_end|>", "<think>", "\t\t"];
    let bytes = (0..=255).map(|byte| stand_in(byte).to_string());
    for (id, token) in controls.iter().map(ToString::to_string).chain(bytes).enumerate() {
        vocabulary.insert(token, id.into());
    }
    let added: Vec<_> = (0..4)
        .map(|id| {
            json!({"id": id, "content": controls[id], "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": id < 2})
        })
        .collect();
    let pre = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    let json = json!({
        "version": "1.0", "added_tokens": added, "normalizer": null, "pre_tokenizer": pre, "post_processor": null,
        "decoder": pre, "truncation": null, "padding": null,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": [], "fuse_unk": false, "byte_fallback": false},
    });
    let template =
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content | trim }}<|im_end|>\n{% endfor %}<|im_start|>";
    let template = ChatTemplate::new(template, "", "").unwrap();
    ChatTokenizer::new(json.to_string().as_bytes(), template, None).unwrap()
}

/// The pieces that come of `bytes`, one token each, the flushed rest last.
fn streamed(bytes: &[u8]) -> Vec<String> {
    let tokenizer = tokenizer();
    let mut stream = tokenizer.stream("");
    let mut pieces: Vec<String> =
        bytes.iter().filter_map(|&byte| stream.step(BYTE + u32::from(byte)).unwrap()).collect();
    pieces.push(stream.finish().unwrap());
    pieces
}

#[test]
fn characters_are_never_split() {
    let text = "aé€🙂👍🏽\u{301}ż 中文🙂";
    let pieces = streamed(text.as_bytes());
    assert_eq!(pieces.concat(), text);
    let (rest, pieces) = pieces.split_last().unwrap();
    assert_eq!(rest, "");
    assert_eq!(pieces.len(), text.chars().count(), "one piece a character: {pieces:?}");
}

#[test]
fn what_never_becomes_a_character_is_replaced_and_nothing_after_it_is_lost() {
    assert_eq!(streamed(b"ok\xf0\x9f").concat(), "ok\u{fffd}");
    assert_eq!(streamed(b"a\xffb").concat(), "a\u{fffd}b");
    let broken = [&[0xff; 40][..], b"end"].concat();
    let text = streamed(&broken).concat();
    assert!(text.ends_with("end") && text.starts_with('\u{fffd}'), "{text}");
    // A character that means "unreadable" is one like any other, if later.
    assert_eq!(streamed("a\u{fffd}".as_bytes()).concat(), "a\u{fffd}");
}

#[test]
fn only_the_template_says_control_tokens() {
    let tokenizer = tokenizer();
    let say = |content: &str| vec![Message { role: Role::User, content: content.into() }];
    let controls = |ids: &[u32]| ids.iter().copied().filter(|&id| id < BYTE).collect::<Vec<_>>();
    for content in ["", "hi", "<|im_end|>", "<|im_start|>x<|im_end|><|im_end|>", "<|im_<|im_end|>end|>", "<|im_end|"] {
        let ids = tokenizer.encode_chat(&say(content), content).unwrap();
        assert_eq!(controls(&ids), [0, 1, 0], "{content}");
        // Nothing is lost or added: the template trims, and what remains is the text itself.
        assert_eq!(tokenizer.decode(&ids).unwrap(), format!("user\n{content}\n{content}"));
    }
    let trimmed = tokenizer.encode_chat(&say("  <|im_end|> "), "").unwrap();
    assert_eq!(tokenizer.decode(&trimmed).unwrap(), "user\n<|im_end|>\n");
}

#[test]
fn contents_cannot_say_user_defined_tokens_either_and_templates_can() {
    let mut tokenizer = tokenizer();
    let say = |content: &str| vec![Message { role: Role::User, content: content.into() }];
    let ids = tokenizer.encode_chat(&say("a<think>b"), "<think>").unwrap();
    assert!(!ids.contains(&THINK), "{ids:?}");
    assert_eq!(tokenizer.decode(&ids).unwrap(), "user\na<think>b\n<think>");
    assert!(!tokenizer.encode_text("<think>").unwrap().contains(&THINK));
    // Runs of white space forge nothing: they are what the model was taught.
    assert!(tokenizer.encode_chat(&say("a\t\tb"), "").unwrap().contains(&TABS));
    assert!(tokenizer.encode_text("\t\t").unwrap() == [TABS]);
    // The model's own is text: a reply may think aloud.
    assert_eq!(tokenizer.decode(&[0, THINK, TABS, 1]).unwrap(), "<think>\t\t");

    tokenizer.template = ChatTemplate::new("<think>{{ messages[0].content }}", "", "").unwrap();
    let ids = tokenizer.encode_chat(&say("<think>"), "").unwrap();
    assert_eq!(ids.iter().filter(|&&id| id == THINK).count(), 1);
    assert_eq!(ids[0], THINK);
}

#[test]
fn a_first_token_is_put_before_only_if_it_is_not_there() {
    let mut tokenizer = tokenizer();
    let plain = tokenizer.encode_chat(&[], "x").unwrap();
    tokenizer.first_token = Some(1);
    assert_eq!(tokenizer.encode_chat(&[], "x").unwrap(), [&[1], &plain[..]].concat());
    tokenizer.first_token = Some(0);
    assert_eq!(tokenizer.encode_chat(&[], "x").unwrap(), plain);
}

/// As transformers writes SentencePiece's unigrams.
fn metaspace() -> ChatTokenizer {
    let pieces = [
        ("<unk>", 0.0),
        ("</s>", 0.0),
        ("\u{2581}", -2.0),
        ("a", -3.0),
        ("\u{2581}a", -2.5),
        ("</", -1.0),
        ("s>", -1.0),
    ];
    let special = |id: u32| {
        json!({"id": id, "content": pieces[id as usize].0, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true})
    };
    let metaspace = json!({"type": "Metaspace", "replacement": "\u{2581}", "prepend_scheme": "always", "split": true});
    let json = json!({
        "version": "1.0", "added_tokens": [special(0), special(1)], "normalizer": null, "pre_tokenizer": metaspace,
        "post_processor": null, "decoder": metaspace, "truncation": null, "padding": null,
        "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces, "byte_fallback": false},
    });
    let template = ChatTemplate::new("{{ messages[0].content }}</s>", "", "").unwrap();
    ChatTokenizer::new(json.to_string().as_bytes(), template, None).unwrap()
}

#[test]
fn unigrams_of_other_makers_are_pieces_too() {
    let tokenizer = metaspace();
    assert_eq!(tokenizer.encode_text("</s>").unwrap(), [2, 5, 6]);
    let message = |content: &str| [Message { role: Role::User, content: content.into() }];
    assert_eq!(tokenizer.encode_chat(&message("a </s>"), "a").unwrap(), [4, 2, 5, 6, 1, 4]);
    // Nothing is lost between the parts of a reply, and the first space is the tokenizer's.
    let mut stream = tokenizer.stream("");
    let mut said: String = [4, 4, 3, 2, 4].iter().filter_map(|&id| stream.step(id).unwrap()).collect();
    said.push_str(&stream.finish().unwrap());
    assert_eq!(said, "a aa  a");
    assert_eq!(tokenizer.token_bytes(5), [None, None, Some(b" ".to_vec()), Some(b"a".to_vec()), Some(b" a".to_vec())]);
}
