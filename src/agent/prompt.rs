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

/// An instruction, its data if it has any, and a good program.
type Example = (&'static str, Option<&'static str>, &'static str);

const FRUIT: &str = "fruit,price\napple,3\npear,5\napple,4";

/// Small models imitate more than they understand, so what is asked about data is preceded by other questions about data.
const WITH_DATA: [Example; 4] = [
    (
        "Print the sum of the numbers.",
        Some("2\n5\n1"),
        "numbers = [int(line) for line in user_input.splitlines()]\nprint(sum(numbers))",
    ),
    ("Print the shortest word.", Some("one three fourteen"), "words = user_input.split()\nprint(min(words, key=len))"),
    (
        "Print the fruit with the lowest total price.",
        Some(FRUIT),
        "import io\nimport pandas as pd\ndf = pd.read_csv(io.StringIO(user_input))\ntotals = df.groupby('fruit')['price'].sum()\nprint(totals.idxmin())",
    ),
    TOTALS,
];

/// Without data: short on purpose. The first shows where data would be.
const WITHOUT_DATA: [Example; 4] = [
    TOTALS,
    ("Print the sum of the numbers from 1 to 10.", None, "print(sum(range(1, 11)))"),
    (
        "Count how many times each word appears in the text 'red blue red' and print the counts.",
        None,
        "from collections import Counter\ntext = 'red blue red'\nfor word, n in Counter(text.split()).items():\n    print(word, n)",
    ),
    ("Print the largest number in the list 4, 19, 7.", None, "numbers = [4, 19, 7]\nprint(max(numbers))"),
];

const TOTALS: Example = (
    "Print the total price of each fruit.",
    Some(FRUIT),
    "import io\nimport pandas as pd\ndf = pd.read_csv(io.StringIO(user_input))\nprint(df.groupby('fruit')['price'].sum())",
);

/// Worked examples, as turns that came before.
pub(super) fn examples(has_input: bool) -> Vec<Message> {
    let examples = if has_input { WITH_DATA } else { WITHOUT_DATA };
    let turns = |(asked, data, code): Example| {
        [message(Role::User, question(asked, data, Preview::Usual)), message(Role::Assistant, reply(code))]
    };
    examples.into_iter().flat_map(turns).collect()
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
