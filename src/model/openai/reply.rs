//! A reply as it grows.

use super::wire::Part;
use crate::model::ending::Ending;
use crate::model::{Finish, Prompt, Reply};
use crate::{Error, Result};

/// Bytes of text; a server that does not stop at `max_tokens` is stopped here.
const MOST_TEXT: usize = 4 << 20;

pub(super) struct Growing<'a> {
    text: String,
    ending: Ending<'a>,
    /// A stop text has ended it; what follows is not wanted.
    is_whole: bool,
    finish: Option<Finish>,
    is_done: bool,
    thought: bool,
    /// Of prompt and reply, as the server counts them.
    usage: Option<(usize, usize)>,
    pieces: usize,
    on_text: &'a mut dyn FnMut(&str),
}

impl<'a> Growing<'a> {
    pub fn new(prompt: &Prompt<'a>, on_text: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            text: String::new(),
            ending: Ending::new("", prompt.stop_after, prompt.stop),
            is_whole: false,
            finish: None,
            is_done: false,
            thought: false,
            usage: None,
            pieces: 0,
            on_text,
        }
    }

    /// Whether nothing was handed on, so that asking again repeats nothing.
    pub fn is_untouched(&self) -> bool {
        self.text.is_empty()
    }

    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Takes a part, and says whether there is no use in waiting for more.
    ///
    /// After a stop text the answer is read on as long as only blanks follow: mostly that is the end of the turn, and then
    /// the counts of tokens come.
    pub fn take(&mut self, part: Part) -> Result<bool> {
        match part {
            Part::Text(piece) if self.is_whole => return Ok(!piece.trim().is_empty()),
            Part::Text(piece) => return self.grow(&piece),
            Part::Thought => self.thought = true,
            Part::Finish(reason) => match reason.as_str() {
                "length" => self.finish = Some(Finish::Length),
                "content_filter" if !self.is_whole => {
                    return Err(Error::model("the model server's content filter ended the reply")
                        .advise("word the instruction differently, or use another server"));
                }
                _ => self.finish = Some(Finish::EndOfTurn),
            },
            Part::Usage { prompt, completion } => self.usage = Some((prompt, completion)),
            Part::Done => {
                self.is_done = true;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn grow(&mut self, piece: &str) -> Result<bool> {
        let before = self.text.len();
        if before + piece.len() > MOST_TEXT {
            return Err(Error::model(format!("the model server sent a reply of more than {} MiB", MOST_TEXT >> 20))
                .advise("it does not keep to --max-tokens; look at its settings"));
        }
        self.pieces += 1;
        self.text.push_str(piece);
        let end = self.ending.find(&self.text);
        let rest = end.map(|end| self.text.split_off(end));
        if let Some(new) = self.text.get(before..).filter(|new| !new.is_empty()) {
            (self.on_text)(new);
        }
        self.is_whole = rest.is_some();
        Ok(rest.is_some_and(|rest| !rest.trim().is_empty()))
    }

    /// Whether the server has said that the reply is over; a body that merely ends may have been cut.
    pub fn has_ended(&self) -> bool {
        self.is_whole || self.is_done || self.finish.is_some()
    }

    /// The reply; `None` when the server said nothing at all.
    pub fn close(self) -> Result<Option<Reply>> {
        if self.text.is_empty() && self.finish == Some(Finish::Length) && self.thought {
            return Err(Error::model("the model thought until its tokens were spent, and said nothing")
                .advise("raise --max-tokens, or use a model that thinks less"));
        }
        if self.text.is_empty() && self.finish.is_none() {
            return Ok(None);
        }
        let finish = if self.is_whole { Finish::Stop } else { self.finish.unwrap_or(Finish::EndOfTurn) };
        Ok(Some(self.reply(finish)))
    }

    pub fn cancelled(self) -> Reply {
        self.reply(Finish::Cancelled)
    }

    /// Where the server's counts did not come, pieces stand for tokens: with most servers they are.
    fn reply(self, finish: Finish) -> Reply {
        let (prompt, completion) = self.usage.unwrap_or((0, self.pieces));
        Reply::new(self.text, finish).with_tokens(prompt, completion)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Sampling;

    /// The reply that `parts` make, and what was streamed; the parts after the one that ends it are not taken.
    fn grown(parts: &[Part]) -> (Result<Option<Reply>>, String) {
        let (sampling, mut streamed) = (Sampling::default(), String::new());
        let prompt = Prompt::new(&[], &sampling).with_stop(&["\n```"]).with_stop_after("```python\n");
        let mut on_text = |piece: &str| streamed.push_str(piece);
        let mut growing = Growing::new(&prompt, &mut on_text);
        let taken = parts.iter().try_for_each(|part| match growing.take(part.clone()) {
            Ok(false) => Ok(()),
            Ok(true) => Err(None),
            Err(error) => Err(Some(error)),
        });
        let reply = match taken {
            Err(Some(error)) => Err(error),
            _ => growing.close(),
        };
        (reply, streamed)
    }

    fn texts(texts: &[&str]) -> Vec<Part> {
        texts.iter().map(|text| Part::Text((*text).into())).collect()
    }

    #[test]
    fn the_program_is_all_that_is_waited_for() {
        let said = texts(&["Sure:\n``", "`python\nprint(1)\n", "```\n", " \n", "It prints", " 1."]);
        let (reply, streamed) = grown(&said);
        let reply = reply.unwrap().unwrap();
        assert_eq!(reply.text, "Sure:\n```python\nprint(1)\n```");
        assert_eq!((reply.text, reply.finish, reply.completion_tokens), (streamed, Finish::Stop, 3));
    }

    #[test]
    fn counts_that_follow_the_program_are_taken() {
        let mut said = texts(&["```python\nx\n", "```", "\n"]);
        said.extend([Part::Finish("stop".into()), Part::Usage { prompt: 9, completion: 5 }, Part::Done]);
        let reply = grown(&said).0.unwrap().unwrap();
        assert_eq!((reply.finish, reply.prompt_tokens, reply.completion_tokens), (Finish::Stop, 9, 5));
    }

    #[test]
    fn ends_of_all_kinds() {
        let end = |reason: &str, text: &[&str]| {
            let mut said = texts(text);
            said.push(Part::Finish(reason.into()));
            grown(&said).0
        };
        assert_eq!(end("length", &["x"]).unwrap().unwrap().finish, Finish::Length);
        assert_eq!(end("stop", &["x"]).unwrap().unwrap().finish, Finish::EndOfTurn);
        assert_eq!(end("stop", &[]).unwrap().unwrap().text, "", "a model may say nothing");
        assert!(end("content_filter", &["x"]).unwrap_err().to_string().contains("content filter"));
        assert!(grown(&[Part::Done]).0.unwrap().is_none());
        let spent = [Part::Thought, Part::Finish("length".into())];
        assert!(grown(&spent).0.unwrap_err().advice().unwrap().contains("--max-tokens"));
    }

    #[test]
    fn a_reply_that_never_ends_is_ended() {
        let said = vec![Part::Text("x".repeat(1 << 16)); 100];
        assert!(grown(&said).0.unwrap_err().to_string().contains("more than 4 MiB"));
    }
}
