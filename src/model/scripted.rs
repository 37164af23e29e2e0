//! A model that replays replies from a file, one `{"reply": "…"}` a line: for tests and demonstrations.
//!
//! A reply is the whole text, as it stands: the prompt's prefill is not put before it and its stop texts do not cut it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::{Finish, Model, Prompt, Refusal, Reply};
use crate::{Cancel, Error, Result};

const MAX_SCRIPT: u64 = 16 << 20;
/// Characters streamed at once, so that a watcher sees pieces as from a real model.
const PIECE: usize = 12;

/// Says each reply once, whatever it is asked; an exhausted script is a model error.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    replies: VecDeque<String>,
    given: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    reply: String,
}

impl ScriptedModel {
    pub fn from_replies(replies: Vec<String>) -> Self {
        Self { name: "scripted".into(), replies: replies.into(), given: 0 }
    }

    /// Reads a file of lines, each `{"reply": "…"}`.
    ///
    /// # Errors
    /// A file that cannot be read, is larger than 16 MiB, or holds another line.
    pub fn from_file(path: &Path) -> Result<Self> {
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(MAX_SCRIPT + 1).read_to_string(&mut text))
            .map_err(|error| Error::usage(error).context(format!("cannot read the script `{}`", path.display())))?;
        if text.len() as u64 > MAX_SCRIPT {
            return Err(Error::usage(format!("the script `{}` has more than {MAX_SCRIPT} bytes", path.display())));
        }
        let parse = |(number, line): (usize, &str)| {
            serde_json::from_str::<Line>(line).map(|line| line.reply).map_err(|error| {
                Error::usage(error)
                    .context(format!("line {} of the script `{}`", number + 1, path.display()))
                    .advise("write one {\"reply\": \"…\"} on each line")
            })
        };
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let replies = lines.map(parse).collect::<Result<_>>()?;
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Ok(Self { name: format!("scripted:{file}"), replies, given: 0 })
    }
}

impl Model for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn generate(
        &mut self,
        prompt: &Prompt<'_>,
        on_text: &mut dyn FnMut(&str),
        cancel: &Cancel,
    ) -> Result<Reply, Refusal> {
        let Some(reply) = self.replies.pop_front() else {
            let error = Error::model(format!("the script has only {} replies, and one more was asked for", self.given))
                .advise("add another {\"reply\": \"…\"} line");
            return Err(Refusal::Failed(error));
        };
        self.given += 1;
        let mut text = String::with_capacity(reply.len());
        let mut finish = Finish::EndOfTurn;
        let mut rest = reply.as_str();
        while !rest.is_empty() {
            if cancel.is_cancelled() {
                finish = Finish::Cancelled;
                break;
            }
            let end = rest.char_indices().nth(PIECE).map_or(rest.len(), |(at, _)| at);
            on_text(&rest[..end]);
            text.push_str(&rest[..end]);
            rest = &rest[end..];
        }
        // A script has no tokens; words are near enough for a count that means something.
        let words = |text: &str| text.split_whitespace().count();
        let prompt_tokens = prompt.messages.iter().map(|message| words(&message.content)).sum();
        let completion_tokens = words(&text);
        Ok(Reply::new(text, finish).with_tokens(prompt_tokens, completion_tokens))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::model::{Message, Role, Sampling};

    fn script(lines: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        file
    }

    fn ask(model: &mut ScriptedModel, cancel: &Cancel) -> (Result<Reply, Refusal>, Vec<String>) {
        let messages = [Message { role: Role::User, content: "two words".into() }];
        let sampling = Sampling::default();
        let prompt = Prompt::new(&messages, &sampling).with_prefill("```").with_stop(&["```"]).with_max_tokens(1);
        let mut pieces = Vec::new();
        let reply = model.generate(&prompt, &mut |piece| pieces.push(piece.to_owned()), cancel);
        (reply, pieces)
    }

    #[test]
    fn replies_come_in_order_and_in_pieces() {
        let file = script("{\"reply\": \"```python\\nprint('é')\\n```\"}\n\n{\"reply\": \"second\"}\n");
        let mut model = ScriptedModel::from_file(file.path()).unwrap();
        let (reply, pieces) = ask(&mut model, &Cancel::new());
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.prompt_tokens), ("```python\nprint('é')\n```", 2));
        assert!(pieces.len() > 1);
        assert_eq!(pieces.concat(), reply.text);
        assert_eq!(ask(&mut model, &Cancel::new()).0.unwrap().text, "second");
        match ask(&mut model, &Cancel::new()).0 {
            Err(Refusal::Failed(error)) => {
                assert!(error.is_model() && error.to_string().contains("only 2 replies"), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_cancelled_reply_stops() {
        let file = script("{\"reply\": \"text\"}\n");
        let cancel = Cancel::new();
        cancel.cancel();
        let reply = ask(&mut ScriptedModel::from_file(file.path()).unwrap(), &cancel).0.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish), ("", Finish::Cancelled));
    }

    #[test]
    fn bad_scripts_name_the_line() {
        let file = script("{\"reply\": \"a\"}\n{\"answer\": \"b\"}\n");
        let error = ScriptedModel::from_file(file.path()).err().unwrap();
        assert!(error.is_usage() && error.to_string().contains("line 2"), "{error}");
        assert!(ScriptedModel::from_file(Path::new("/no/such.jsonl")).err().unwrap().is_usage());
    }
}
