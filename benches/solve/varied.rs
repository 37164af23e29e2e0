//! A model that is spoken to in another way than the program would speak to it: what prompts are tried out with.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use slm_code_interpreter::Cancel;
use slm_code_interpreter::model::{Message, Model, Prompt, Refusal, Reply, Role};

/// What is another way; `None` leaves it as the program does it.
#[derive(Clone, Debug, Default)]
pub struct Variation {
    /// How many weights the model says it has, by which the program chooses its style.
    pub parameters: Option<u64>,
    pub style: Option<Style>,
    /// So many of the examples, the first ones.
    pub examples: Option<usize>,
    pub prefill: Option<&'static str>,
}

/// A style of one's own, from a JSON file: turns are pairs of question and reply, as the model is to see them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Style {
    system: String,
    with_data: Vec<[String; 2]>,
    without_data: Vec<[String; 2]>,
    /// Stands after the question.
    #[serde(default)]
    closing: String,
}

impl Style {
    pub fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// Puts its words in the place of the first `shared` of `messages`; how many stand there now.
    fn apply(&self, messages: &mut Vec<Message>, shared: usize) -> usize {
        let question = &mut messages[shared].content;
        let turns = if question.starts_with("The variable user_input") { &self.with_data } else { &self.without_data };
        question.push_str(&self.closing);
        let say = |role, text: &String| Message { role, content: text.clone() };
        let turns = turns.iter().flat_map(|[asked, said]| [say(Role::User, asked), say(Role::Assistant, said)]);
        let begin: Vec<Message> = std::iter::once(say(Role::System, &self.system)).chain(turns).collect();
        let count = begin.len();
        messages.splice(..shared, begin);
        count
    }
}

/// A loaded model, which several variations share one after the other.
pub type Loaded = Arc<Mutex<Box<dyn Model>>>;

pub struct Varied {
    name: String,
    parameters: Option<u64>,
    model: Loaded,
    variation: Variation,
}

impl Varied {
    pub fn new(model: &Loaded, variation: Variation) -> Self {
        let inner = model.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, parameters) = (inner.name().to_owned(), variation.parameters.or_else(|| inner.parameters()));
        Self { name, parameters, model: model.clone(), variation }
    }
}

impl Model for Varied {
    fn name(&self) -> &str {
        &self.name
    }

    fn parameters(&self) -> Option<u64> {
        self.parameters
    }

    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal> {
        let mut messages = prompt.messages.to_vec();
        let mut varied = *prompt;
        // A conversation that was shortened to fit begins like no other, and stays as it is.
        if prompt.shared > 0 {
            if let Some(style) = &self.variation.style {
                varied.shared = style.apply(&mut messages, prompt.shared);
            }
            let most = 1 + 2 * self.variation.examples.unwrap_or(usize::MAX / 2 - 1);
            messages.drain(most.min(varied.shared)..varied.shared);
            varied.shared = most.min(varied.shared);
        }
        varied.prefill = self.variation.prefill.unwrap_or(prompt.prefill);
        varied.messages = &messages;
        self.model.lock().unwrap_or_else(PoisonError::into_inner).generate(&varied, on_text, cancel)
    }
}
