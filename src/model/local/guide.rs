//! Guided decoding: a grammar says at each place of a reply which tokens may come next. The only user of `llguidance`.
//!
//! A guide helps and never decides: where a grammar cannot be followed (its limits, a prefill outside it) the reply goes on
//! without it.

use std::collections::HashSet;
use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::toktrie::{ApproximateTokEnv, SimpleVob, TokEnv, TokRxInfo, TokTrie};
use llguidance::{Matcher, ParserFactory};

use crate::model::Guide;
use crate::{Error, Result};

/// Longer tokens (runs of spaces or dashes) are never said under a guide.
const MOST_BYTES: usize = 128;

/// What begins a token that no text says, as `llguidance` wants it.
const NO_TEXT: u8 = TokTrie::SPECIAL_TOKEN_MARKER;

/// Earley items of one mask; a grammar that needs more is given up. A few milliseconds.
const MOST_ITEMS: usize = 50_000;

/// What a tokenizer's tokens say, ready for any grammar. Made once: it takes a tenth of a second.
pub(crate) struct Guides {
    factory: ParserFactory,
}

impl Guides {
    /// `tokens` are the bytes that each token says, `None` for what is no text; `end_of_turn` must be some of them.
    pub fn new(tokens: &[Option<Vec<u8>>], end_of_turn: &[u32]) -> Result<Self> {
        let ends: Vec<u32> = end_of_turn.iter().copied().filter(|&id| (id as usize) < tokens.len()).collect();
        let count = u32::try_from(tokens.len()).map_err(Error::internal)?;
        let first = *ends.first().ok_or_else(|| Error::internal("a guide needs a token that ends the turn"))?;
        let mut known = HashSet::new();
        let words: Vec<Vec<u8>> = (0..count)
            .zip(tokens)
            .map(|(id, token)| match token {
                // Of tokens that say the same the first stands for all.
                Some(bytes) if bytes.len() <= MOST_BYTES && !bytes.contains(&NO_TEXT) && known.insert(bytes) => {
                    bytes.clone()
                }
                _ => [&[NO_TEXT], id.to_string().as_bytes()].concat(),
            })
            .collect();
        let trie = TokTrie::from(&TokRxInfo::new(count, first), &words).with_eos_tokens(&ends);
        let environment: TokEnv = Arc::new(ApproximateTokEnv::new(trie));
        let mut factory = ParserFactory::new_simple(&environment).map_err(Error::internal)?;
        factory.quiet();
        let limits = factory.limits_mut();
        (limits.step_max_items, limits.verbose_errors) = (MOST_ITEMS, false);
        Ok(Self { factory })
    }

    /// A guide for one reply that begins with the text `prefill`, in whatever tokens; `None` where none is wanted, and where
    /// a reply under the grammar cannot begin that way.
    pub fn start(&self, guide: Guide, prefill: &str) -> Option<Guided> {
        let grammar = match guide {
            Guide::None => return None,
            Guide::Fence => include_str!("fence.lark"),
            Guide::Python => include_str!("python.lark"),
        };
        let parser = self.factory.create_parser(TopLevelGrammar::from_lark(grammar.to_owned()));
        let mut matcher = Matcher::new(parser);
        // The tokens of a whole text may have a space before them that is not the reply's.
        let trie = self.factory.tok_env().tok_trie();
        let begun = trie.greedy_tokenize(prefill.as_bytes());
        if trie.decode_raw(&begun) != prefill.as_bytes() {
            log::warn!("no guide `{}` for this reply: no tokens say its beginning", guide.as_str());
            return None;
        }
        if let Err(error) = matcher.consume_tokens(&begun) {
            log::warn!("no guide `{}` for this reply: {error}", guide.as_str());
            return None;
        }
        Some(Guided { matcher, allowed: SimpleVob::new() })
    }
}

/// A grammar and how far a reply has come in it.
pub(crate) struct Guided {
    matcher: Matcher,
    allowed: SimpleVob,
}

impl Guided {
    /// The tokens that may come next: token `i` is bit `i % 32` of word `i / 32`. Only the ends of a turn once the grammar
    /// is through; `None` when it has given up, and everything may come.
    pub fn allowed(&mut self) -> Option<&[u32]> {
        self.allowed = self.matcher.compute_mask_or_eos().inspect_err(|error| log::debug!("no guide: {error}")).ok()?;
        Some(self.allowed.as_slice())
    }

    /// Takes note of a token of the reply, one that is allowed.
    pub fn accept(&mut self, id: u32) {
        if let Err(error) = self.matcher.consume_token(id) {
            log::debug!("no guide: {error}");
        }
    }

    /// How many of `draft`, tokens that may be the next, can all come.
    pub fn validate(&mut self, draft: &[u32]) -> usize {
        self.matcher.validate_tokens(draft).unwrap_or(draft.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Byte `b` is token `b`; then come a few longer ones.
    const END: u32 = 256;
    const PRINT: u32 = 257;
    const CONTROL: u32 = 258;
    const PRINT_AGAIN: u32 = 259;
    const LONG: u32 = 260;

    fn tokens() -> Vec<Option<Vec<u8>>> {
        let bytes = (0..=255_u8).map(|byte| Some(vec![byte]));
        let further = [None, Some(b"print(".to_vec()), None, Some(b"print(".to_vec()), Some(vec![b' '; 129])];
        bytes.chain(further).collect()
    }

    fn guides() -> Guides {
        Guides::new(&tokens(), &[END, 9_999]).unwrap()
    }

    fn ids(text: &str) -> Vec<u32> {
        text.bytes().map(u32::from).collect()
    }

    fn bit(mask: &[u32], id: u32) -> bool {
        mask[id as usize / 32] >> (id % 32) & 1 == 1
    }

    /// How much of `text` may come after the prefill, and whether the reply may end there.
    fn follow(guides: &Guides, guide: Guide, text: &str) -> (usize, bool) {
        let mut guided = guides.start(guide, "```python\n").unwrap();
        for (at, id) in ids(text).into_iter().enumerate() {
            let said = guided.validate(&[id]);
            let allowed = guided.allowed().unwrap();
            assert_eq!(bit(allowed, id), said == 1, "{at} of {text:?}");
            if !bit(allowed, id) {
                return (at, bit(allowed, END));
            }
            guided.accept(id);
        }
        (text.len(), bit(guided.allowed().unwrap(), END))
    }

    const PROGRAMS: [&str; 12] = [
        "numbers = [int(line) for line in user_input.splitlines() if line]\nprint(sum(numbers))\n",
        "import io\nimport pandas as pd\ndf = pd.read_csv(io.StringIO(user_input))\nprint(df.groupby('fruit')['price'].sum())\n",
        "from collections import Counter\ntext = 'red blue red'\nfor word, n in Counter(text.split()).items():\n    print(word, n)\n",
        "def fib(n: int) -> int:\n    \"\"\"The n-th.\"\"\"\n    if n <= 1:\n        return n\n    else:\n        return fib(n-1) + fib(n - 2)\n\nprint(fib(10))\n",
        "import math\n\n# comment\nx = 3.14e-2 * 2**10 // 3\nprint(f\"Area: {math.pi * x ** 2:.2f}\")  # done\n",
        "d = {'a': 1, \"b\": [1, 2, 3], **x}\nfor k, v in sorted(d.items(), key=lambda kv: kv[1], reverse=True):\n    print(k, v)\n",
        "try:\n    x = int('3')\nexcept ValueError as e:\n    print(e)\nfinally:\n    pass\n",
        "class A(B):\n    def __init__(self, x: int = 3, *args, **kw) -> None:\n        self.x = x\n        self.y += 1\n",
        "print(\n    1,\n    2,\n)\nwith open('x.txt', 'w') as f:\n    f.write('hi')\nwhile True:\n    x, y = y, x % y\n    if not y: break\n",
        "print(a[1:2], a[::-1], a[:, 1], -x, {i for i in 'abc' if i not in 'b'})\nprint(*a, sep=', ')\n",
        "s = 'it\\'s'\nprint(s[0].upper() + s[1:], end='')\nassert x == 1, 'no'\nn: int = 5\nprint('a' 'b' if x is not None and y or z else w)\n",
        "text = \"\"\"a\nb `c`\n\"\"\"\nx = lambda: 3\nif __name__ == \"__main__\":\n    main()\n",
    ];

    #[test]
    fn programs_may_be_said_under_every_guide_and_then_the_turn_ends() {
        let guides = guides();
        for program in PROGRAMS {
            let reply = format!("{program}```");
            for guide in [Guide::Fence, Guide::Python] {
                assert_eq!(follow(&guides, guide, &reply), (reply.len(), true), "{guide:?}: {program}");
                assert_eq!(follow(&guides, guide, &format!("{reply}\nx")), (reply.len(), true), "{guide:?}: {program}");
            }
        }
    }

    #[test]
    fn what_is_no_program_is_refused_where_it_shows() {
        let guides = guides();
        let wrong = [
            ("The sum is 55.\n", "The "),
            ("Here's the program:\n", "Here"),
            ("print(1\n```", "print(1\n"),
            ("print(1))\n", "print(1)"),
            ("print(\"a)\n", "print(\"a)"),
            ("x = [1, 2\n```", "x = [1, 2\n"),
            ("product = 3 * 4 = 5 = 12 12\n", "product = 3 * 4 = 5 = 12 "),
            ("if x\n", "if x"),
            ("def f(x) y\n", "def f(x) "),
            ("```", ""),
        ];
        for (program, allowed) in wrong {
            assert_eq!(follow(&guides, Guide::Python, program), (allowed.len(), false), "{program}");
        }
        // The fence alone asks for less: a line, and the end of the block at the start of one.
        assert_eq!(follow(&guides, Guide::Fence, "The sum is 55.\n```"), (18, true));
        assert_eq!(follow(&guides, Guide::Fence, "```"), (0, false));
        assert_eq!(follow(&guides, Guide::Fence, "x\n`x"), (3, false));
    }

    #[test]
    fn a_reply_may_begin_with_a_line_of_text() {
        let guides = guides();
        for guide in [Guide::Fence, Guide::Python] {
            let mut guided = guides.start(guide, "Sure:\n```python\nx = 1\n").unwrap();
            assert_eq!(guided.validate(&ids("```")), 3);
            assert!(guides.start(guide, "").is_some());
            assert!(guides.start(guide, "```bash\n").is_none(), "{guide:?}");
        }
        assert!(guides.start(Guide::None, "").is_none());
    }

    #[test]
    fn only_tokens_that_are_text_are_said() {
        let guides = guides();
        let mut guided = guides.start(Guide::Python, "```python\n").unwrap();
        let allowed = guided.allowed().unwrap();
        assert!(bit(allowed, PRINT));
        for id in [END, CONTROL, PRINT_AGAIN, LONG] {
            assert!(!bit(allowed, id), "{id}");
        }
        guided.accept(PRINT);
        assert_eq!(guided.validate(&ids("1) 1")), 3);
    }

    #[test]
    fn a_guide_that_was_broken_lets_everything_pass() {
        let mut guided = guides().start(Guide::Python, "```python\n").unwrap();
        guided.accept(u32::from(b')'));
        assert_eq!(guided.allowed(), None);
        assert_eq!(guided.validate(&ids("x)")), 2);
    }

    #[test]
    fn odd_vocabularies_are_no_trouble() {
        let odd = vec![None, Some(vec![]), Some(vec![0xff; 300]), Some(vec![0xff, b'3']), Some(b"`".repeat(3)), None];
        let guides = Guides::new(&odd, &[5]).unwrap();
        assert!(
            guides.start(Guide::Fence, "").is_some_and(|mut guided| guided.allowed().is_none_or(|mask| bit(mask, 4)))
        );
        for ends in [&[][..], &[6]] {
            assert!(Guides::new(&odd, ends).is_err());
        }
        assert!(Guides::new(&[], &[0]).is_err());
    }
}
