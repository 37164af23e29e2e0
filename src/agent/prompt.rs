//! The words a small model is given: who it is, what a good answer looks like, the task with its data.

use super::quote::fenced;
use crate::model::{Message, Role};

/// The reply begins inside the fence: models of this size otherwise lose the format first.
pub(super) const PREFILL: &str = "```python\n";

/// Where a reply ends: nothing after the first program is wanted.
pub(super) const STOP: [&str; 1] = ["\n```"];

pub(super) const SYSTEM: &str = "You are a local Python interpreter agent. Reply with one short Python program in a ```python fence that prints the answer. \
Never ask for input. The standard library, numpy and pandas are there. No explanation.";

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

/// Worked examples, as turns that came before. The first shows where data is; the others are short on purpose.
pub(super) fn examples() -> Vec<Message> {
    let fruit = "fruit,price\napple,3\npear,5\napple,4";
    let turns = [
        (
            question("Print the total price of each fruit.", Some(fruit), Preview::Usual),
            "import io\nimport pandas as pd\ndf = pd.read_csv(io.StringIO(user_input))\nprint(df.groupby('fruit')['price'].sum())",
        ),
        ("Print the sum of the numbers from 1 to 10.".to_owned(), "print(sum(range(1, 11)))"),
        (
            "Count how many times each word appears in the text 'red blue red' and print the counts.".to_owned(),
            "from collections import Counter\ntext = 'red blue red'\nfor word, n in Counter(text.split()).items():\n    print(word, n)",
        ),
        ("Print the largest number in the list 4, 19, 7.".to_owned(), "numbers = [4, 19, 7]\nprint(max(numbers))"),
    ];
    turns
        .into_iter()
        .flat_map(|(asked, code)| [message(Role::User, asked), message(Role::Assistant, reply(code))])
        .collect()
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
