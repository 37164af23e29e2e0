//! Where a reply has said all that was asked for, so that the rest need not be waited for.
//!
//! The stop texts count from where the reply has come to the program: a fence that opens one must not be taken for the end
//! of one. A stop text inside a triple-quoted string is none: programs print Markdown too.

const THINK: &str = "<think>";
const THOUGHT: &str = "</think>";
const QUOTES: [&str; 2] = ["'''", "\"\"\""];

#[derive(Clone, Copy)]
enum Stage {
    /// Thinking may hold fences that are not the answer.
    Start,
    Thinking,
    Before,
    Counting,
}

/// Looks at a reply as it grows. Each byte is looked at a few times, however the pieces fall.
pub(crate) struct Ending<'a> {
    after: &'a str,
    stop: &'a [&'a str],
    stage: Stage,
    /// What lies before this has been looked at.
    from: usize,
    /// How far strings were followed, and the quotes of the one that is open there.
    lexed: usize,
    open: Option<&'static str>,
}

impl<'a> Ending<'a> {
    /// The stop texts count after the text `after`, which may be in what the reply has `begun` with already.
    pub fn new(begun: &str, after: &'a str, stop: &'a [&'a str]) -> Self {
        let (stage, from) = if begun.contains(after) { (Stage::Counting, begun.len()) } else { (Stage::Start, 0) };
        Self { after, stop, stage, from, lexed: from, open: None }
    }

    /// Where `text`, the whole reply so far, has said everything: the end of a stop text.
    pub fn find(&mut self, text: &str) -> Option<usize> {
        loop {
            match self.stage {
                Stage::Start => {
                    let said = text.trim_start();
                    self.stage = match said.starts_with(THINK) {
                        true => Stage::Thinking,
                        false if THINK.starts_with(said) && text.len() < 64 => return None,
                        false => Stage::Before,
                    };
                }
                Stage::Thinking => {
                    self.pass(text, THOUGHT)?;
                    self.stage = Stage::Before;
                }
                Stage::Before => {
                    let start = self.pass(text, self.after)?;
                    // A longer fence is closed by a longer one.
                    let mark = self.after.chars().next();
                    if !mark.is_some_and(|mark| text[..start].ends_with(mark)) {
                        (self.stage, self.lexed) = (Stage::Counting, self.from);
                    }
                }
                Stage::Counting => return self.stopped(text),
            }
        }
    }

    /// Passes the next `mark` and says where it began, or all that cannot be its beginning.
    fn pass(&mut self, text: &str, mark: &str) -> Option<usize> {
        let found = text[self.from..].find(mark).map(|at| self.from + at);
        match found {
            Some(at) => self.from = at + mark.len(),
            None => self.wait(text, mark.len()),
        }
        found
    }

    /// Leaves only what can be the beginning of a text of `length` bytes to be looked at again.
    fn wait(&mut self, text: &str, length: usize) {
        let mut from = (text.len() + 1).saturating_sub(length).max(self.from);
        while !text.is_char_boundary(from) {
            from -= 1;
        }
        self.from = from;
    }

    fn stopped(&mut self, text: &str) -> Option<usize> {
        let stops = || self.stop.iter().filter(|stop| !stop.is_empty());
        loop {
            let rest = &text[self.from..];
            let first = stops().filter_map(|stop| rest.find(stop).map(|at| (at + stop.len(), at))).min();
            let Some((end, at)) = first else {
                let longest = stops().map(|stop| stop.len()).max().unwrap_or(0);
                self.wait(text, longest);
                return None;
            };
            let (end, at) = (self.from + end, self.from + at);
            self.follow_strings(text, at);
            if self.open.is_none() {
                return Some(end);
            }
            self.from = end;
        }
    }

    /// Follows triple-quoted strings up to `end`.
    fn follow_strings(&mut self, text: &str, end: usize) {
        while self.lexed < end {
            let rest = &text[self.lexed..end];
            let next = match self.open {
                Some(quotes) => rest.find(quotes).map(|at| (at, quotes)),
                None => QUOTES.into_iter().filter_map(|quotes| rest.find(quotes).map(|at| (at, quotes))).min(),
            };
            match next {
                Some((at, quotes)) => {
                    self.open = if self.open.is_some() { None } else { Some(quotes) };
                    self.lexed += at + quotes.len();
                }
                None => self.lexed = end,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FENCE: &str = "```python\n";

    /// What is kept of `text`, the same however it is cut.
    #[track_caller]
    fn kept<'t>(text: &'t str, after: &str, stop: &[&str]) -> &'t str {
        let whole = Ending::new("", after, stop).find(text);
        let mut ending = Ending::new("", after, stop);
        let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
        let grown = ends.map(|end| &text[..end]).find_map(|grown| ending.find(grown));
        assert_eq!(whole, grown, "{text:?}");
        &text[..whole.unwrap_or(text.len())]
    }

    #[test]
    fn the_first_closed_fence_ends_it() {
        let stop = ["\n```"];
        for (text, cut) in [
            ("Sure!\n```python\nprint(1)\n```\nIt prints 1.", "Sure!\n```python\nprint(1)\n```"),
            ("```bash\npip\n```\n```python\nx\n```é", "```bash\npip\n```\n```python\nx\n```"),
            (
                "<think>\n```python\nno\n```\n</think>```python\nyes\n```\n",
                "<think>\n```python\nno\n```\n</think>```python\nyes\n```",
            ),
            ("```python\ns = '''\n```\n'''\n```\nend", "```python\ns = '''\n```\n'''\n```"),
            ("```python\n\"\"\"it's '''\n```\n\"\"\"\n```\nend", "```python\n\"\"\"it's '''\n```\n\"\"\"\n```"),
        ] {
            assert_eq!(kept(text, FENCE, &stop), cut);
        }
        for whole in [
            "",
            "```py\nx\n```\nmore",
            "````python\nx\n```\n````\n",
            "```python\nx = '''\n```\nmore",
            "prose\n```\n",
            "<think>```python\nx\n```\n",
        ] {
            assert_eq!(kept(whole, FENCE, &stop), whole);
        }
    }

    #[test]
    fn after_nothing_they_count_from_the_start() {
        assert_eq!(kept("a stop b", "", &["stop", ""]), "a stop");
        assert_eq!(kept("a long stop", "", &["long stop", "g st"]), "a long st");
        assert_eq!(kept("éé", "", &[]), "éé");
    }

    #[test]
    fn what_the_reply_was_begun_with_does_not_end_it() {
        let found = |begun: &str, after: &str, said: &str| {
            Ending::new(begun, after, &["\n```"]).find(&format!("{begun}{said}")).map(|end| end - begun.len())
        };
        assert_eq!(found("```python\n", FENCE, "x\n```\n"), Some(5));
        assert_eq!(found("```python\n", FENCE, "```\nx\n```"), Some(9));
        assert_eq!(found("a\n```\nb", "", "\n```"), Some(4));
        assert_eq!(found("Sure:\n", FENCE, "```python\nx\n```\n"), Some(15));
    }

    #[test]
    fn long_replies_are_looked_at_once() {
        let mut text = String::from(FENCE);
        text.push_str("'''");
        let mut ending = Ending::new("", FENCE, &["\n```"]);
        for _ in 0..200_000 {
            text.push_str("\n```");
            assert_eq!(ending.find(&text), None);
        }
        text.push_str("'''\n```");
        assert_eq!(ending.find(&text), Some(text.len()));
    }
}
