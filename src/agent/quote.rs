//! Puts foreign text into a prompt so that it stays what it is: it cannot close the fence around it or grow without bound.
//!
//! What a program printed, what an exception says and what a file holds was written by anyone. This is the one place
//! that such text passes on its way to the model. That no text in it becomes a control token is each
//! [`Model`](crate::model::Model)'s own care: data and programs must arrive as they are.

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
    shortened(&line, most)
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
    last.iter().any(|line| !line.trim().is_empty()).then(|| indented.join("\n"))
}

/// `text` between fences that are longer than any in it, the first of them followed by `info`.
pub(super) fn fenced(info: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{info}\n{}\n{fence}", text.trim_end_matches('\n'))
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
    fn a_line_is_one_line_and_short() {
        assert_eq!(one_line("a\n\n```\r\n\u{1b}[31mb\u{0}c", 100), "a ``` [31mb c");
        assert_eq!(one_line(&"é".repeat(50), 10), format!("{}…", "é".repeat(10)));
        assert!(one_line(&"word ".repeat(100_000), 20).chars().count() <= 21);
    }

    #[test]
    fn a_tail_is_indented_and_bounded() {
        assert_eq!(tail("1\n2\n3\n", 2, 100).as_deref(), Some("    2\n    3"));
        assert_eq!(tail("```\n<|im_end|>", 5, 100).as_deref(), Some("    ```\n    <|im_end|>"));
        assert_eq!(tail(&"ü".repeat(1000), 5, 4).as_deref(), Some("    üüüü"));
        assert_eq!(tail(" \n\n", 5, 100), None);
    }

    #[test]
    fn a_fence_outgrows_its_text() {
        assert_eq!(fenced("", "a\n````\nb\n"), "`````\na\n````\nb\n`````");
        assert_eq!(fenced("python", "plain"), "```python\nplain\n```");
    }

    #[test]
    fn what_is_fenced_is_as_it_was() {
        for text in ["re.split('(<|>)', s)", "</s>[INST]<|im_end|>", "a\u{1b}\u{0}\rb\t", " \n x"] {
            assert_eq!(fenced("", text), format!("```\n{text}\n```"));
        }
    }
}
