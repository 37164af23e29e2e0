//! Makes untrusted text harmless on a terminal: what a terminal would obey or hide is shown as visible text instead.
//!
//! Only for terminals; a pipe or a file gets the bytes as they are.

use std::borrow::Cow;
use std::fmt::Write;

/// Control characters, and the invisible ones that reorder text, become escapes in Python's notation (`\x1b`);
/// newline, tab and every other printable character, emoji sequences included, stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_active) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            // A Windows line end is no attempt to overwrite the line.
            '\r' if rest.peek() == Some(&'\n') => {}
            c if is_active(c) && u32::from(c) < 0x100 => write!(shown, "\\x{:02x}", u32::from(c)).unwrap_or_default(),
            c if is_active(c) => write!(shown, "\\u{:04x}", u32::from(c)).unwrap_or_default(),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

fn is_active(c: char) -> bool {
    let bidirectional =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    (c.is_control() && c != '\n' && c != '\t') || bidirectional
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_becomes_visible() {
        assert_eq!(visible("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
        assert_eq!(visible("\x1b]0;title\x07"), "\\x1b]0;title\\x07");
        assert_eq!(visible("a\u{9b}2J"), "a\\x9b2J", "the one-character CSI of C1");
        assert_eq!(visible("safe\rrm -rf"), "safe\\x0drm -rf", "overwriting the line");
        assert_eq!(visible("a\x08\x7f\0"), "a\\x08\\x7f\\x00");
        assert_eq!(visible("user\u{202e}gpj.exe"), "user\\u202egpj.exe");
    }

    #[test]
    fn text_stays_as_it_is() {
        for text in ["", "a\tb\n", "Zürich 東京 🤷🏽‍♀️ नमस्ते", "│ ┌─┐ … ∑"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text:?}");
        }
        assert_eq!(visible("one\r\ntwo\x07"), "one\ntwo\\x07");
    }
}
