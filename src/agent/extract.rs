//! Finds the program in a model's reply, leniently: small models forget fences, indent them, never close them, or answer with an interpreter transcript.
//!
//! The first complete block that is Python counts; a block in another language never does. Prose is never taken for a
//! program: without any fence the whole reply must read as Python ([`plausible`](super::plausible)).

use super::plausible::{Lexer, looks_like_python};

/// Info strings that mean Python, in lower case.
const PYTHON: [&str; 11] = [
    "python",
    "py",
    "python3",
    "py3",
    "repl",
    "python-repl",
    "pycon",
    "ipython",
    "ipython3",
    "tool_code",
    "python_code",
];

/// The program of a reply, without its fence; `None` when there is none.
pub(super) fn program(reply: &str) -> Option<String> {
    let reply = reply.replace("\r\n", "\n").replace('\r', "\n");
    let spoken = after_thinking(&reply);
    let blocks = blocks(spoken);
    let chosen = blocks
        .iter()
        .find(|block| block.is_program())
        .or_else(|| blocks.iter().find(|block| block.language == Language::Python))
        .or_else(|| blocks.iter().find(|block| block.language == Language::Unnamed));
    if let Some(block) = chosen {
        return Some(block.code.clone());
    }
    if let Some(code) = json_code(spoken) {
        return tidy(&code);
    }
    let whole = tidy(spoken)?;
    (blocks.is_empty() && looks_like_python(&whole)).then_some(whole)
}

/// What follows a leading `<think>…</think>`: reasoning may hold fences that are not the answer.
fn after_thinking(reply: &str) -> &str {
    match reply.trim_start().starts_with("<think>").then(|| reply.rsplit_once("</think>")).flatten() {
        Some((_, rest)) => rest,
        None => reply,
    }
}

/// `{"code": "…"}`, the shape of models trained on tool calls.
fn json_code(reply: &str) -> Option<String> {
    let reply = reply.trim();
    if !reply.starts_with('{') {
        return None;
    }
    let value: serde_json::Value = serde_json::from_str(reply).ok()?;
    value.get("code")?.as_str().map(str::to_owned)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Language {
    Python,
    Unnamed,
    Other,
}

impl Language {
    fn of(info: &str) -> Self {
        let word = info.trim_start_matches('{').split([' ', '\t', '}', ',', ':', ';']).next().unwrap_or("");
        let word = word.trim_start_matches('.').to_lowercase();
        match word.as_str() {
            "" => Self::Unnamed,
            word if PYTHON.contains(&word) => Self::Python,
            _ => Self::Other,
        }
    }
}

#[derive(Debug)]
struct Block {
    language: Language,
    closed: bool,
    code: String,
}

impl Block {
    /// A block that says it is Python is believed, unless it was left open: then it may be prose in a prefilled fence.
    fn is_program(&self) -> bool {
        match self.language {
            Language::Python => self.closed || looks_like_python(&self.code),
            Language::Unnamed => looks_like_python(&self.code),
            Language::Other => false,
        }
    }
}

/// An opening fence: its character, its length, its indentation, what it says.
#[derive(Clone, Copy)]
struct Fence<'a> {
    mark: char,
    length: usize,
    indent: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    /// A line that opens a block. Prose before it is allowed when Python's name ends the line: "Sure! ```python".
    fn opening(line: &'a str) -> Option<Self> {
        let bare = line.trim_start();
        if let Some(fence) = Self::at_start(bare) {
            return Some(Self { indent: line.len() - bare.len(), ..fence });
        }
        let fence = Self::at_start(&line[line.rfind("```")?..])?;
        PYTHON.contains(&fence.info.to_lowercase().as_str()).then_some(fence)
    }

    fn at_start(text: &'a str) -> Option<Self> {
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        (length >= 3).then(|| Self { mark, length, indent: 0, info: info.trim() })
    }

    /// Whether this begins a block rather than ends one: a closing fence says nothing, and nothing closes it on its own line.
    fn opens_language(&self) -> bool {
        !self.info.is_empty() && self.closes(self.info).is_none()
    }

    /// The code before the closing fence in `line`, if it closes here: usually the line is nothing but the fence.
    fn closes<'l>(&self, line: &'l str) -> Option<&'l str> {
        let line = line.trim_end();
        let before = line.trim_end_matches(self.mark);
        (line.len() - before.len() >= self.length).then_some(before)
    }
}

fn blocks(reply: &str) -> Vec<Block> {
    let lines: Vec<&str> = reply.split('\n').collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(fence) = Fence::opening(lines[at]) else {
            at += 1;
            continue;
        };
        at += 1;
        if let Some(inside) = one_line(&fence) {
            blocks.extend(inside);
            continue;
        }
        let body = Body::read(&fence, &lines[at..]);
        at += body.lines;
        // A prefilled fence that the model opens once more leaves an empty block; its real one follows.
        if let Some(code) = tidy(&undent(&body.text, fence.indent)) {
            blocks.push(Block { language: Language::of(fence.info), closed: body.closed, code });
        }
    }
    blocks
}

/// ```` ```python print(1)``` ```` on one line: `Some(None)` when a line opens and closes a fence around no program.
fn one_line(fence: &Fence<'_>) -> Option<Option<Block>> {
    let inside = fence.closes(fence.info).filter(|_| fence.mark == '`')?;
    let (language, code) = match inside.split_once(char::is_whitespace) {
        Some((word, rest)) if Language::of(word) == Language::Python => (Language::Python, rest),
        _ => (Language::Unnamed, inside),
    };
    Some(tidy(code).filter(|code| looks_like_python(code)).map(|code| Block { language, closed: true, code }))
}

/// What stands between a fence and its end.
struct Body {
    text: String,
    /// Lines used, the closing fence included.
    lines: usize,
    closed: bool,
}

impl Body {
    /// Reads up to the closing fence. One inside a triple-quoted string does not close, unless that string never
    /// ends; a fence that opens another block ends this one.
    fn read(fence: &Fence<'_>, lines: &[&str]) -> Self {
        let mut lexer = Lexer::default();
        let mut quoted = None;
        for (n, line) in lines.iter().enumerate() {
            if !lexer.in_string() && Fence::opening(line).is_some_and(|other| other.opens_language()) {
                return Self { text: lines[..n].join("\n"), lines: n, closed: false };
            }
            let Some(before) = fence.closes(line) else {
                lexer.line(line);
                continue;
            };
            lexer.line(before);
            if !lexer.in_string() {
                return Self::closed_at(n, lines, before);
            }
            quoted.get_or_insert((n, before));
        }
        match quoted {
            Some((n, before)) if lexer.in_string() => Self::closed_at(n, lines, before),
            _ => Self { text: lines.join("\n"), lines: lines.len(), closed: false },
        }
    }

    fn closed_at(n: usize, lines: &[&str], before: &str) -> Self {
        let mut kept = lines[..n].to_vec();
        kept.push(before);
        Self { text: kept.join("\n"), lines: n + 1, closed: true }
    }
}

/// Takes the fence's own indentation off every line that has it.
fn undent(text: &str, indent: usize) -> String {
    let strip = |line: &str| {
        let white = line.len() - line.trim_start_matches([' ', '\t']).len();
        line[white.min(indent)..].to_owned()
    };
    text.split('\n').map(strip).collect::<Vec<_>>().join("\n")
}

/// The code as it can run: without blank edges, a stray language line, prompts, or an indentation common to all lines.
/// `None` when nothing is left.
fn tidy(code: &str) -> Option<String> {
    let mut lines = unframed(code.split('\n').collect());
    if lines.first().is_some_and(|first| PYTHON.contains(&first.trim().to_lowercase().as_str())) {
        lines = unframed(lines.split_off(1));
    }
    if lines.first().is_some_and(|first| first.trim_start().starts_with(">>>")) {
        lines = unframed(lines.iter().filter_map(|line| typed(line.trim_start())).collect());
    }
    let white = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let common = lines.iter().filter(|line| !line.trim().is_empty()).map(white).min()?;
    let lines: Vec<&str> = lines.iter().map(|line| line.get(common..).unwrap_or("")).collect();
    Some(lines.join("\n"))
}

/// Without blank lines at either end, and without white space after the last.
fn unframed(lines: Vec<&str>) -> Vec<&str> {
    let full = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(full) else { return Vec::new() };
    let last = lines.iter().rposition(full).unwrap_or(first);
    let mut lines = lines[first..=last].to_vec();
    if let Some(line) = lines.last_mut() {
        *line = line.trim_end();
    }
    lines
}

/// What a person typed in an interpreter transcript; its output is dropped.
fn typed(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(">>>").or_else(|| line.strip_prefix("..."))?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each file of `tests/data/replies`: a reply, a line `=====`, and the program in it, or `(none)`.
    #[test]
    fn replies_from_files() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/replies");
        let mut checked = 0;
        for entry in std::fs::read_dir(folder).expect("tests/data/replies") {
            let path = entry.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a text");
            let (reply, expected) = text.split_once("\n=====\n").expect("a line =====");
            let expected = expected.trim_end_matches('\n');
            let expected = (expected != "(none)").then(|| expected.to_owned());
            assert_eq!(program(reply), expected, "{}", path.display());
            checked += 1;
        }
        assert!(checked >= 40, "only {checked} replies");
    }

    #[test]
    fn carriage_returns() {
        assert_eq!(program("```python\r\nx = 1\r\nprint(x)\r\n```\r\n").as_deref(), Some("x = 1\nprint(x)"));
    }

    #[test]
    fn nothing_in_it() {
        for reply in
            ["", "\n\n", "```", "```python", "```python\n", "```python\n\n```", "```python\n```python\n```", "~~~"]
        {
            assert_eq!(program(reply), None, "{reply:?}");
        }
    }

    /// Any text at all, cut at any place, is answered without a panic.
    #[test]
    fn cut_anywhere() {
        let reply = "é ```python\n  s = '''é\n```\n'''\n>>> x\n\t```` ~~~py\n```json\n{\"code\": \"1\"}\n``` 😀```py 😀```\u{a0}\n \u{a0}x";
        let ends: Vec<usize> = reply.char_indices().map(|(at, _)| at).chain([reply.len()]).collect();
        for start in &ends {
            for end in ends.iter().filter(|end| *end >= start) {
                let _ = program(&reply[*start..*end]);
            }
        }
    }
}
