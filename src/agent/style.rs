//! The ways to speak to a model, by how large it is: what was best for each on `benches/solve/dev.json`.

use crate::model::{Message, Role};

use super::prompt::{Preview, message, question, reply};

/// Models with fewer weights imitate more than they understand.
const SMALL_BELOW: u64 = 400_000_000;

/// An instruction, its data if it has any, and a good program.
type Example = (&'static str, Option<&'static str>, &'static str);

#[derive(Debug)]
pub(super) struct Style {
    pub(super) system: &'static str,
    /// What is asked about data is preceded by other questions about data.
    with_data: &'static [Example],
    without_data: &'static [Example],
    /// What the reply is begun with.
    pub(super) prefill: &'static str,
}

impl Style {
    /// The style for a model with so many weights; one that does not tell is on a server, and hardly a small one.
    pub(super) fn of(parameters: Option<u64>) -> &'static Self {
        if parameters.is_some_and(|count| count < SMALL_BELOW) { &SMALL } else { &CODER }
    }

    /// Worked examples, as turns that came before.
    pub(super) fn examples(&self, has_input: bool) -> Vec<Message> {
        let examples = if has_input { self.with_data } else { self.without_data };
        let turns = |&(asked, data, code): &Example| {
            [message(Role::User, question(asked, data, Preview::Usual)), message(Role::Assistant, reply(code))]
        };
        examples.iter().flat_map(turns).collect()
    }
}

/// For models of some hundred million weights: examples for each thing that may come up, and the reply begins inside the
/// fence, since they lose the format first.
static SMALL: Style = Style {
    system: "You are a local Python interpreter agent. Reply with one short Python program in a ```python fence that prints the answer. \
Never ask for input. The standard library, numpy and pandas are there. No explanation.",
    with_data: &[
        (
            "Print the numbers doubled, one on each line.",
            Some("2\n5\n1"),
            "numbers = [int(line) for line in user_input.splitlines()]\nfor number in numbers:\n    print(number * 2)",
        ),
        (
            "Print the words joined by plus signs.",
            Some("one three fourteen"),
            "words = user_input.split()\nprint('+'.join(words))",
        ),
        (
            "Print the fruits that cost more than 3, one on each line.",
            Some(FRUIT),
            "import io\nimport pandas as pd\ndf = pd.read_csv(io.StringIO(user_input))\nfor fruit in df[df['price'] > 3]['fruit']:\n    print(fruit)",
        ),
        PRICES,
    ],
    without_data: &[
        PRICES,
        ("Print the price of 3 pens that cost 2.5 each.", None, "print(3 * 2.5)"),
        (
            "Print how often each word appears in the text 'red blue red'.",
            None,
            "from collections import Counter\ntext = 'red blue red'\nfor word, n in Counter(text.split()).items():\n    print(word, n)",
        ),
        (
            "Print the numbers of the list 4, 19, 7 that are above 5, separated by spaces.",
            None,
            "numbers = [4, 19, 7]\nprint(*[number for number in numbers if number > 5])",
        ),
    ],
    prefill: "```python\n",
};

const FRUIT: &str = "fruit,price\napple,3\npear,5\napple,4";

const PRICES: Example = (
    "Print the mean price of each fruit.",
    Some(FRUIT),
    "import io\nimport pandas as pd\ndf = pd.read_csv(io.StringIO(user_input))\nprint(df.groupby('fruit')['price'].mean())",
);

/// For models that were made to write code, from half a billion weights on. They take over the form of an example, and most
/// of the last one: programs without comments, for the kinds of questions that people ask.
static CODER: Style = Style {
    system: "You answer questions by writing Python. Reply with one complete Python program in a ```python block, without explanation. \
The program computes the answer and prints it with print(), and prints nothing else. The answer has the form that the question asks for. \
Data that comes with a question is in the variable user_input, a string. Never call input(). The standard library, numpy and pandas are there.",
    with_data: &[
        (
            "How many more visits did page a have than page c?",
            Some("{\"visits\": {\"a\": 51, \"b\": 17, \"c\": 20}}"),
            "import json\n\nvisits = json.loads(user_input)['visits']\nprint(visits['a'] - visits['c'])",
        ),
        (
            "How many rivers in France are longer than 600 km?",
            Some(RIVERS),
            "import io\nimport pandas as pd\n\ndf = pd.read_csv(io.StringIO(user_input))\nrivers = df[(df['country'] == 'France') & (df['km'] > 600)]\nprint(len(rivers))",
        ),
        (
            "For each country print its name and the length of its rivers together, the longest first.",
            Some(RIVERS),
            "import io\nimport pandas as pd\n\ndf = pd.read_csv(io.StringIO(user_input))\ntotals = df.groupby('country')['km'].sum().sort_values(ascending=False)\nfor country, km in totals.items():\n    print(country, km)",
        ),
    ],
    // None with data: asked without any, the model would compute with the example's.
    without_data: &[
        (
            "Does 2 to the power of 20 have more than 6 digits? Answer yes or no.",
            None,
            "digits = len(str(2 ** 20))\nprint('yes' if digits > 6 else 'no')",
        ),
        (
            "What time is it 95 minutes after 14:40?",
            None,
            "from datetime import datetime, timedelta\n\nstart = datetime.strptime('14:40', '%H:%M')\nend = start + timedelta(minutes=95)\nprint(end.strftime('%H:%M'))",
        ),
    ],
    prefill: "```python\n",
};

const RIVERS: &str = "river,country,km\nRhone,France,545\nEbro,Spain,930\nLoire,France,1012";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_models_are_spoken_to_in_another_way() {
        assert_eq!(Style::of(Some(134_515_008)).system, SMALL.system);
        for parameters in [None, Some(494_032_768), Some(1_543_714_304)] {
            assert_eq!(Style::of(parameters).system, CODER.system);
        }
    }

    /// Whoever tries out the README, or measures, must not be given what stands in the prompt already.
    #[test]
    fn the_examples_are_nobody_elses() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("a text").to_lowercase();
        let folder = std::fs::read_dir(root.join("tests/transcripts")).expect("transcripts");
        let others = ["README.md", "benches/solve/tasks.json", "benches/solve/dev.json", "src/interpreter.rs"];
        let files =
            others.map(|name| root.join(name)).into_iter().chain(folder.map(|entry| entry.expect("an entry").path()));
        let examples = [&SMALL, &CODER].into_iter().flat_map(|style| style.with_data.iter().chain(style.without_data));
        let asked: Vec<String> = examples.map(|(asked, ..)| asked.trim_end_matches('.').to_lowercase()).collect();
        for file in files {
            let text = read(&file);
            let found = asked.iter().find(|asked| text.contains(asked.as_str()));
            assert_eq!(found, None, "{} asks an example of a prompt", file.display());
        }
    }

    #[test]
    fn what_is_measured_is_not_in_the_readme() {
        let readme = include_str!("../../README.md").to_lowercase();
        for tasks in [include_str!("../../benches/solve/tasks.json"), include_str!("../../benches/solve/dev.json")] {
            let tasks: Vec<serde_json::Value> = serde_json::from_str(tasks).expect("a list of tasks");
            let asked = tasks.iter().map(|task| task["ask"].as_str().expect("a question").to_lowercase());
            let found: Vec<String> = asked.filter(|asked| readme.contains(asked.as_str())).collect();
            assert!(found.is_empty(), "README asks {found:?}");
        }
    }
}
