//! A model that replays replies in order: for tests, and for showing a run again.

use std::collections::VecDeque;
use std::path::Path;

use serde::Deserialize;

use super::{Finish, Model, Prompt, Refusal, Reply};
use crate::{Cancel, Error, Result};

/// The largest script that is read.
const MOST_BYTES: u64 = 16 << 20;

/// Says each reply once, whatever it is asked; an exhausted script is a model error.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    replies: VecDeque<String>,
}

#[derive(Deserialize)]
struct Line {
    reply: String,
}

impl ScriptedModel {
    pub fn from_replies(replies: Vec<String>) -> Self {
        Self { name: "scripted".to_owned(), replies: replies.into() }
    }

    /// Reads a file of lines, each `{"reply": "…"}`.
    ///
    /// # Errors
    /// A file that cannot be read, is larger than 16 MiB, or holds another line.
    pub fn from_file(path: &Path) -> Result<Self> {
        let shown = path.display();
        let unreadable =
            |why: &dyn std::fmt::Display| Error::usage(why).context(format!("cannot read the script {shown}"));
        let size = std::fs::metadata(path).map_err(|error| unreadable(&error))?.len();
        if size > MOST_BYTES {
            return Err(unreadable(&"it is larger than 16 MiB"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(&error))?;
        let replies = text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(n, line)| {
                let line: Line = serde_json::from_str(line).map_err(|error| {
                    Error::usage(format!("line {}: {error}", n + 1))
                        .context(format!("cannot read the script {shown}"))
                        .advise("Each line must be {\"reply\": \"…\"}.")
                })?;
                Ok(line.reply)
            })
            .collect::<Result<_>>()?;
        Ok(Self { name: format!("scripted:{shown}"), replies })
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate(&mut self, _: &Prompt<'_>, on_text: &mut dyn FnMut(&str), cancel: &Cancel) -> Result<Reply, Refusal> {
        cancel.check().map_err(Refusal::Failed)?;
        let Some(text) = self.replies.pop_front() else {
            return Err(Refusal::Failed(
                Error::model("the script has no more replies").advise("Add a reply to it, or allow fewer attempts."),
            ));
        };
        on_text(&text);
        Ok(Reply { text, prompt_tokens: 0, completion_tokens: 0, finish: Finish::EndOfTurn })
    }
}
