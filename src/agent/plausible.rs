//! Tells Python from prose without a parser: enough of a lexer to know strings and brackets, and the shapes that statements have.
//!
//! It errs on the side of "prose": a program judged wrongly costs one more attempt, prose that is run tells the model nonsense.

/// Follows strings and brackets from line to line.
#[derive(Debug, Default)]
pub(super) struct Lexer {
    /// The quote of an open triple-quoted string.
    triple: Option<char>,
    depth: usize,
}

impl Lexer {
    pub(super) fn in_string(&self) -> bool {
        self.triple.is_some()
    }

    fn inside(&self) -> bool {
        self.in_string() || self.depth > 0
    }

    /// Reads one line and returns it without its comment.
    pub(super) fn line<'a>(&mut self, line: &'a str) -> &'a str {
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            rest = match (self.triple, c) {
                (_, '\\') => skip_char(after),
                (Some(quote), _) if is_triple(rest, quote) => {
                    self.triple = None;
                    &rest[3..]
                }
                (Some(_), _) => after,
                (None, '#') => return &line[..line.len() - rest.len()],
                (None, '"' | '\'') if is_triple(rest, c) => {
                    self.triple = Some(c);
                    &rest[3..]
                }
                (None, '"' | '\'') => after_quote(after, c),
                (None, '(' | '[' | '{') => {
                    self.depth += 1;
                    after
                }
                (None, ')' | ']' | '}') => {
                    self.depth = self.depth.saturating_sub(1);
                    after
                }
                _ => after,
            };
        }
        line
    }
}

fn is_triple(text: &str, quote: char) -> bool {
    text.len() >= 3 && text.chars().take(3).all(|c| c == quote)
}

fn skip_char(text: &str) -> &str {
    text.chars().next().map_or(text, |c| &text[c.len_utf8()..])
}

/// What follows the string that `quote` opened; a string that is not closed ends with its line.
fn after_quote(mut text: &str, quote: char) -> &str {
    while let Some(c) = text.chars().next() {
        text = &text[c.len_utf8()..];
        match c {
            '\\' => text = skip_char(text),
            c if c == quote => return text,
            _ => {}
        }
    }
    text
}

/// Whether every statement of `text` has the shape of Python, at least one of them unmistakably.
pub(super) fn looks_like_python(text: &str) -> bool {
    let mut lexer = Lexer::default();
    let mut proof = false;
    let mut opens_block = false;
    let mut continued = false;
    for line in text.lines() {
        let starts = !lexer.inside() && !continued;
        let indented = line.starts_with([' ', '\t']);
        let code = lexer.line(line).trim();
        continued = code.ends_with('\\');
        if code.is_empty() {
            continue;
        }
        if starts {
            match shape(code, indented, lexer.inside() || continued) {
                Shape::Proof => proof = true,
                Shape::Possible => {}
                Shape::Prose => return false,
            }
        }
        opens_block = code.ends_with(':');
    }
    proof && !opens_block && !lexer.inside()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// Nobody writes prose like this.
    Proof,
    Possible,
    Prose,
}

/// Words that begin a statement of their own, valid only inside a block where `true`.
const SIMPLE: [(&str, bool); 11] = [
    ("pass", true),
    ("break", true),
    ("continue", true),
    ("return", true),
    ("yield", true),
    ("global", true),
    ("nonlocal", true),
    ("raise", false),
    ("assert", false),
    ("del", false),
    ("await", false),
];

const COMPOUND: [&str; 12] =
    ["if", "elif", "else", "while", "with", "try", "except", "finally", "class", "match", "case", "async"];

fn shape(code: &str, indented: bool, open: bool) -> Shape {
    let word = code.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    let rest = code[word.len()..].trim_start();
    let possible = |yes: bool| if yes { Shape::Possible } else { Shape::Prose };
    match word {
        "import" => return proof(rest.split(',').all(module)),
        "from" => return proof(from_import(rest)),
        "def" => return proof(rest.split_once('(').is_some_and(|(name, _)| identifier(name.trim()))),
        "for" => return possible(for_loop(rest)),
        _ => {}
    }
    if let Some((_, inner)) = SIMPLE.iter().find(|(simple, _)| *simple == word) {
        return possible(indented || !inner);
    }
    if COMPOUND.contains(&word) && (open || rest.contains(':')) {
        return Shape::Possible;
    }
    if assignment(code) || call(code, open) {
        return Shape::Proof;
    }
    possible(code.starts_with(['@', '[', '(', '{', '"', '\'']) || dotted(code) || (open && word.len() <= 2))
}

fn proof(yes: bool) -> Shape {
    if yes { Shape::Proof } else { Shape::Prose }
}

fn identifier(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_') && text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

fn dotted(text: &str) -> bool {
    text.split('.').all(identifier)
}

/// `a.b` or `a.b as c`.
fn module(text: &str) -> bool {
    match text.trim().split_once(" as ") {
        Some((name, alias)) => dotted(name.trim()) && identifier(alias.trim()),
        None => dotted(text.trim()),
    }
}

fn from_import(rest: &str) -> bool {
    let Some((name, names)) = rest.split_once(" import ") else { return false };
    let names = names.trim();
    dotted(name.trim_start_matches('.').trim())
        && (names == "*" || names.starts_with('(') || names.split(',').all(module))
}

fn for_loop(rest: &str) -> bool {
    let Some((targets, _)) = rest.split_once(" in ") else { return false };
    let plain = targets.replace(['(', ')', '*'], "");
    rest.contains(':') && plain.split(',').map(str::trim).all(|name| name.is_empty() || identifier(name))
}

/// `a = …`, `a.b[c], d = …`, `a: int = …`, `a += …`.
fn assignment(code: &str) -> bool {
    let Some((left, right)) = code.split_once('=') else { return false };
    if right.trim().is_empty() || right.starts_with('=') || left.ends_with(['!', '<', '>']) {
        return false;
    }
    let left = left.trim_end_matches(['+', '-', '*', '/', '%', '&', '|', '^', '@']).trim();
    let left = left.split_once(':').filter(|(name, _)| identifier(name.trim())).map_or(left, |(name, _)| name);
    !left.is_empty() && left.split(',').all(target)
}

/// A name, with attributes and subscripts but without spaces outside them.
fn target(text: &str) -> bool {
    let text = text.trim().trim_start_matches(['(', '*']).trim_end_matches(')');
    let head = text.split('[').next().unwrap_or("");
    text.is_empty()
        || dotted(head)
        || (head.is_empty() && text.ends_with(']'))
        || text.ends_with(']') && dotted_call(head)
}

fn dotted_call(head: &str) -> bool {
    head.split(['(', ')', '.']).all(|part| part.is_empty() || identifier(part))
}

/// `name(…)`, `a.b(…).c(…)`, also when it goes on below.
fn call(code: &str, open: bool) -> bool {
    let Some((callee, _)) = code.split_once('(') else { return false };
    let name = callee.split('[').next().unwrap_or("");
    dotted(name) && !callee.ends_with(' ') && (open || code.ends_with([')', ']', ';']) || identifier(last_part(code)))
}

/// The attribute at the end of `a.b().c`.
fn last_part(code: &str) -> &str {
    code.rsplit_once(").").map_or("", |(_, last)| last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_is_python() {
        for code in [
            "print(1)",
            "import pandas as pd\nprint(pd.__version__)",
            "from math import sqrt, pi\nsqrt(pi)",
            "x = 1\nx += 2\nx",
            "x: int = 3",
            "a, b = 1, 2\nd['k'] = a\no.attr = b",
            "def f(a,\n      b):\n    return a\nprint(f(1, 2))",
            "for n in range(3):\n    print(n)  # each: one",
            "for i, (a, b) in enumerate(z):\n    print(a)",
            "text = \"\"\"This is prose, in a string.\nSo it counts for nothing.\n\"\"\"\nprint(text)",
            "rows = [\n    1,\n    2,\n]\nprint(rows)",
            "df.groupby('a').sum()\ndf",
            "(df\n .groupby('a')\n .sum())\nprint(df)",
            "total = 1 + \\\n    2\nprint(total)",
            "if x == 1:\n    print('it\\'s # not a comment')\nelse:\n    pass",
            "with open('a') as f:\n    f.write('x')",
            "größe = 3\nprint(größe)",
            "@cache\ndef f():\n    pass",
            "print(f\"{x:>5}\", end=\"\")",
        ] {
            assert!(looks_like_python(code), "{code}");
        }
    }

    #[test]
    fn prose_is_not() {
        for text in [
            "",
            "The answer is 42.",
            "Sure! Here is the program you asked for:",
            "print the sum of the numbers",
            "import the data",
            "from pandas import the data frame",
            "for example, in this case:",
            "for example in this case:",
            "Call print(x) to see the result.",
            "x == 5",
            "42",
            "hello",
            "Here is the code:\nprint(1)",
            "print(1)\nThis prints one.",
            "I am sorry (really).",
            "- import pandas\n- print the table",
            "1. x = 5",
            "print(1",
            "s = \"\"\"never closed",
            "return the whole corrected program",
            "# Heading\n\nSome text about it.",
        ] {
            assert!(!looks_like_python(text), "{text}");
        }
    }

    #[test]
    fn the_lexer_knows_strings_from_comments_and_quotes() {
        let mut lexer = Lexer::default();
        assert_eq!(lexer.line("s = '#' + \"\"\"a # b"), "s = '#' + \"\"\"a # b");
        assert!(lexer.in_string());
        assert_eq!(lexer.line("it's still a string \"\"\" # end"), "it's still a string \"\"\" ");
        assert!(!lexer.in_string());
        lexer.line("x = 'don\\'t' # \"\"\" in a comment");
        assert!(!lexer.in_string());
    }
}
