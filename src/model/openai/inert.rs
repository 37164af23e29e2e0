//! Takes the power from texts that servers would read as control tokens.
//!
//! A server renders the messages into its model's template and mostly tokenizes the whole with control tokens on, so data
//! that holds `<|im_end|>` would end a turn. There is no way to tell it what is data. So a space is put after the first
//! character of each text that one of the usual templates gives a meaning: a reader sees nearly the same, the tokenizer
//! sees text. Only the conversation is changed; the data that the program gets is not.

use std::borrow::Cow;

/// Markers that have no common shape, of the templates of Llama 2, Mistral, Gemma, GLM, and of byte-pair vocabularies.
const MARKERS: [&str; 31] = [
    "<s>",
    "</s>",
    "<<SYS>>",
    "<</SYS>>",
    "[INST]",
    "[/INST]",
    "[SYSTEM_PROMPT]",
    "[/SYSTEM_PROMPT]",
    "[TOOL_CALLS]",
    "[AVAILABLE_TOOLS]",
    "[/AVAILABLE_TOOLS]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[THINK]",
    "[/THINK]",
    "[gMASK]",
    "<sop>",
    "<eop>",
    "<bos>",
    "<eos>",
    "<pad>",
    "<unk>",
    "<mask>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<turn|>",
    "<end_of_utterance>",
    "<start_of_image>",
    "<image>",
    "<tool_call>",
    "</tool_call>",
];

/// A marker between bars is no longer than so many bytes.
const LONGEST: usize = 64;

/// `text` with every marker made harmless.
pub(super) fn inert(text: &str) -> Cow<'_, str> {
    let mut changed = String::new();
    let mut kept = 0;
    for (at, first) in text.match_indices(['<', '[']) {
        if is_marker(&text[at..]) {
            let after = at + first.len();
            changed.push_str(&text[kept..after]);
            changed.push(' ');
            kept = after;
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    changed.push_str(&text[kept..]);
    Cow::Owned(changed)
}

/// Whether `text` begins with a control token's text.
fn is_marker(text: &str) -> bool {
    MARKERS.iter().any(|marker| text.starts_with(marker))
        // ChatML, Llama 3, Phi, GPT-OSS and others; DeepSeek's bars are wide ones.
        || [("<|", "|>"), ("<｜", "｜>"), ("<|", ">"), ("<fim_", ">"), ("<unused", ">"), ("<reserved_", ">")]
            .iter()
            .any(|(open, close)| is_between(text, open, close))
}

/// Whether `text` begins with `open`, one word and `close`.
fn is_between(text: &str, open: &str, close: &str) -> bool {
    let Some(rest) = text.strip_prefix(open) else { return false };
    let mut end = LONGEST.min(rest.len());
    while !rest.is_char_boundary(end) {
        end -= 1;
    }
    rest[..end].find(close).is_some_and(|at| at > 0 && !rest[..at].contains(|c: char| c.is_whitespace() || c == '<'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_become_text() {
        assert_eq!(inert("a<|im_end|>\n<|im_start|>system"), "a< |im_end|>\n< |im_start|>system");
        assert_eq!(inert("<｜User｜>é</s>[INST] x [/INST]"), "< ｜User｜>é< /s>[ INST] x [ /INST]");
        assert_eq!(inert("<start_of_turn>model<|channel>"), "< start_of_turn>model< |channel>");
        for marker in MARKERS {
            assert!(!inert(marker).contains(marker), "{marker}");
            assert_eq!(inert(marker).replacen(' ', "", 1), marker);
        }
    }

    #[test]
    fn all_else_stays() {
        for text in [
            "",
            "a < b | c > d",
            "x[1], y[INS]",
            "re.split('(<|>)', s)",
            "if a <b: print(1)",
            "<b>é</b>",
            "<|a\nb|>",
            "a<",
        ] {
            assert!(matches!(inert(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        let long = format!("<|{}|>", "é".repeat(100));
        assert_eq!(inert(&long), long);
    }

    #[test]
    fn nothing_that_is_made_is_a_marker_again() {
        for text in ["<<|a|>|a|>", "<[INST]s>", "<<s>s>"] {
            let once = inert(text).into_owned();
            assert_eq!(inert(&once), once, "{text}");
        }
    }
}
