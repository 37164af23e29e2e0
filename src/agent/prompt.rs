//! The words a model is given for one task: the question with its data, and programs as replies.

use super::quote::fenced;
use crate::model::{Message, Role};

/// Where a reply ends: nothing after the first program is wanted, which begins here.
pub(super) const STOP: [&str; 1] = ["\n```"];
pub(super) const STOP_AFTER: &str = "```python\n";

/// Characters of the data that the prompt shows, and what it shrinks to when the context is small.
const PREVIEW: usize = 1200;
const BRIEF: usize = 200;

/// How much of the data to show.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Preview {
    Usual,
    Brief,
}

pub(super) fn message(role: Role, content: impl Into<String>) -> Message {
    Message { role, content: content.into() }
}

/// A program as the assistant should have said it.
pub(super) fn reply(code: &str) -> String {
    fenced("python", code)
}

/// The instruction, after the data if there is any.
pub(super) fn question(instruction: &str, user_input: Option<&str>, preview: Preview) -> String {
    let Some(input) = user_input else { return instruction.to_owned() };
    let (shown, note) = excerpt(input, preview);
    format!("The variable user_input holds this text{note}:\n{}\n\n{instruction}", fenced("", shown))
}

/// The beginning of the data, whole lines of it if that is possible, and what was left out.
fn excerpt(input: &str, preview: Preview) -> (&str, String) {
    let most = if preview == Preview::Usual { PREVIEW } else { BRIEF };
    let Some((cut, _)) = input.char_indices().nth(most) else { return (input, String::new()) };
    let head = &input[..cut];
    let head = head.rfind('\n').map_or(head, |end| &head[..end]);
    let lines = input.lines().count();
    let characters = input.chars().count();
    let shown = head.lines().count();
    let note = format!(" (its first {shown} of {lines} lines are shown, {characters} characters in all)");
    (head, note)
}
