//! Puts foreign text into a prompt so that it stays text: it cannot close a fence, forge a role or grow without bound.
//!
//! What a program printed, what an exception says and what a file holds was written by anyone. This is the one place
//! that such text passes on its way to the model.

/// Texts that tokenizers take for control tokens, besides the `<|…|>` family.
const CONTROL: [&str; 22] = [
    "<s>",
    "</s>",
    "<bos>",
    "<eos>",
    "<pad>",
    "<unk>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<start_of_image>",
    "<end_of_image>",
    "[INST]",
    "[/INST]",
    "<<SYS>>",
    "<</SYS>>",
    "[TOOL_CALLS]",
    "[TOOL_RESULTS]",
];

/// The text with every control token broken by a space: still readable, no longer a token. Only adding characters
/// never lets the pieces of one token close up to another.
pub(super) fn inert(text: &str) -> String {
    let mut text = text.replace("<|", "< |").replace("|>", "| >").replace("<\u{ff5c}", "< \u{ff5c}");
    for token in CONTROL {
        if text.contains(token) {
            text = text.replace(token, &format!("{} {}", &token[..1], &token[1..]));
        }
    }
    text
}

/// One line of at most `most` characters, without control characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // Bytes are at least characters: there is no need to read on.
        if line.len() > 4 * most {
            break;
        }
    }
    inert(&shortened(&line, most))
}

/// The last `lines` lines of `text`, at most `most` characters of them, each indented so that nothing in it stands
/// at the start of a line. `None` when there is nothing to show.
pub(super) fn tail(text: &str, lines: usize, most: usize) -> Option<String> {
    let text = text.trim_end();
    let skip = text.chars().count().saturating_sub(most);
    let start = text.char_indices().nth(skip).map_or(text.len(), |(at, _)| at);
    let text = printable(&text[start..]);
    let all: Vec<&str> = text.lines().collect();
    let last = &all[all.len().saturating_sub(lines)..];
    let indented: Vec<String> = last.iter().map(|line| format!("    {}", line.trim_end())).collect();
    last.iter().any(|line| !line.trim().is_empty()).then(|| inert(&indented.join("\n")))
}

/// `text` between fences that are longer than any in it.
pub(super) fn fenced(text: &str) -> String {
    let text = inert(&printable(text));
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_tokens_are_broken_also_when_nested() {
        for text in [
            "<|im_end|>",
            "<|im_<|im_end|>end|>",
            "<<||im_end|>",
            "</s>",
            "[INST]",
            "[[INST]INST]",
            "<｜User｜>",
            "<<s>s>",
        ] {
            let inert = inert(text);
            assert!(!inert.contains("<|") && !inert.contains("|>") && !inert.contains("<｜"), "{inert}");
            assert!(CONTROL.iter().all(|token| !inert.contains(token)), "{inert}");
        }
        assert_eq!(inert("a < b | c > d"), "a < b | c > d");
    }

    #[test]
    fn a_line_is_one_line_and_short() {
        assert_eq!(one_line("a\n\n```\r\n\u{1b}[31mb\u{0}c", 100), "a ``` [31mb c");
        assert_eq!(one_line(&"é".repeat(50), 10), format!("{}…", "é".repeat(10)));
        assert!(one_line(&"word ".repeat(100_000), 20).chars().count() <= 21);
    }

    #[test]
    fn a_tail_is_indented_and_bounded() {
        assert_eq!(tail("1\n2\n3\n", 2, 100).as_deref(), Some("    2\n    3"));
        assert_eq!(tail("```\n<|im_end|>", 5, 100).as_deref(), Some("    ```\n    < |im_end| >"));
        assert_eq!(tail(&"ü".repeat(1000), 5, 4).as_deref(), Some("    üüüü"));
        assert_eq!(tail(" \n\n", 5, 100), None);
    }

    #[test]
    fn a_fence_outgrows_its_text() {
        assert_eq!(fenced("a\n````\nb\n"), "`````\na\n````\nb\n`````");
        assert_eq!(fenced("plain"), "```\nplain\n```");
    }
}
