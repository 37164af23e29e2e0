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

    /// A guide for one reply that begins with the tokens `prefill`; `None` where none is wanted, and where a reply under the
    /// grammar cannot begin that way.
    pub fn start(&self, guide: Guide, prefill: &[u32]) -> Option<Guided> {
        let grammar = match guide {
            Guide::None => return None,
            Guide::Fence => include_str!("fence.lark"),
            Guide::Python => include_str!("python.lark"),
        };
        let parser = self.factory.create_parser(TopLevelGrammar::from_lark(grammar.to_owned()));
        let mut matcher = Matcher::new(parser);
        if let Err(error) = matcher.consume_tokens(prefill) {
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
    #[allow(dead_code, reason = "for drafts, which nothing makes yet")]
    pub fn validate(&mut self, draft: &[u32]) -> usize {
        self.matcher.validate_tokens(draft).unwrap_or(draft.len())
    }

    /// The bytes that must come next, whatever the model says.
    #[allow(dead_code, reason = "for drafts, which nothing makes yet")]
    pub fn forced(&mut self) -> Vec<u8> {
        self.matcher.compute_ff_bytes()
    }
}
