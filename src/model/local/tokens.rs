//! The tokens of a reply, one after the other; several of them computed in one step where they could be guessed.
//!
//! A step appends the last token and a draft of what may follow, and makes a row of logits after each. Each row is drawn
//! from as if it had come alone: the token drawn is the reply's next, and when it is not the draft's, the rest of the
//! draft is forgotten. So a draft changes how long a reply takes, never what it says, greedy or sampled: every token
//! costs one draw from the same distribution, in the same order. (What remains is that a matrix meets several tokens in
//! another kernel than one, whose results differ in the last bits; two tokens that are as likely but for that can
//! change places.) No draft is made where it could only cost: where every row is a run of its own, or where going back
//! means to compute again what was right.

use super::context::Context;
use super::draw::Draw;
use super::lookup;
use crate::model::sampler::{Drawn, argmax};
use crate::{Error, Result};

pub(super) struct Tokens<'a, D> {
    context: &'a mut Context,
    draw: D,
    drafts: bool,
    /// The prompt and the reply so far.
    ids: Vec<u32>,
    /// The draft in the context, after `ids` as they were at the step.
    draft: Vec<u32>,
    /// The row to draw from.
    row: usize,
    /// Runs of the network.
    steps: usize,
    /// Drafted tokens that were right.
    pub accepted: usize,
    /// Drafted tokens that were not.
    rejected: usize,
}

impl<'a, D: Draw> Tokens<'a, D> {
    /// What follows the prompt in `context`, whose last logits are there.
    pub fn new(context: &'a mut Context, draw: D, drafts: bool) -> Self {
        let ids = context.ids().to_vec();
        Self { context, draw, drafts, ids, draft: Vec::new(), row: 0, steps: 0, accepted: 0, rejected: 0 }
    }

    /// The next token; `most` (at least 1) is how many will be asked for at most, this one included.
    pub fn next(&mut self, most: usize) -> Result<Drawn> {
        if self.context.ids().len() < self.ids.len() {
            self.step(most)?;
        }
        let logits = self.context.logits(self.row);
        let drawn = self.draw.draw(logits).ok_or_else(|| nothing(logits))?;
        let id = drawn.id;
        self.ids.push(id);
        if self.draft.get(self.row) == Some(&id) {
            self.row += 1;
            self.accepted += 1;
        } else {
            self.rejected += self.draft.len() - self.row;
            self.draft.clear();
            self.context.truncate(self.ids.len() - 1);
        }
        Ok(drawn)
    }

    /// Appends what the context lacks, and a draft.
    fn step(&mut self, most: usize) -> Result<()> {
        let (held, known) = (self.context.ids().len(), self.ids.len());
        let room = (most - 1).min(self.context.n_ctx() - known);
        let may_draft = self.drafts && self.context.checks_drafts();
        let proposed = if may_draft { lookup::propose(&mut self.ids, room) } else { 0 };
        let drafted = if proposed > 0 { self.draw.possible(&self.ids[known..]) } else { 0 };
        self.ids.truncate(known + drafted);
        let appended = self.context.append(&self.ids[held..], drafted + 1);
        self.draft.clear();
        self.draft.extend(self.ids.drain(known..));
        self.row = 0;
        self.steps += 1;
        appended
    }
}

/// Computes what a reply of exactly `reply` takes after the prompt in `context`, and gives the number of steps and
/// that of drafted tokens that were wrong: to measure
/// drafts by replies that a model would have to be asked for.
#[doc(hidden)]
pub fn replay(context: &mut Context, reply: &[u32], drafts: bool) -> Result<(usize, usize)> {
    struct Given<'a>(std::slice::Iter<'a, u32>);
    impl Draw for Given<'_> {
        fn draw(&mut self, logits: &[f32]) -> Option<Drawn> {
            // The work of a greedy draw is part of the time.
            argmax(logits).and(self.0.next()).map(|&id| Drawn { id, likelihood: None })
        }
    }
    let mut tokens = Tokens::new(context, Given(reply.iter()), drafts);
    for left in (1..=reply.len()).rev() {
        tokens.next(left)?;
    }
    Ok((tokens.steps, tokens.rejected))
}

/// Why no token can be drawn from `logits`.
fn nothing(logits: &[f32]) -> Error {
    match argmax(logits) {
        Some(_) => {
            Error::model("no token can be said: the guide or the biases forbid all that the model has a number for")
                .advise("leave the guide or the biases away")
        }
        None => Error::model("no token can be said: the model gives no number for any").advise(
            "its files may be damaged: fetch it again, or remove it from the cache folder if it was built there",
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use super::super::draw::Choice;
    use super::super::network::Network;
    use super::super::testing::Parrot;
    use super::*;
    use crate::Cancel;
    use crate::model::Sampling;
    use crate::model::sampler::Sampler;

    const SEEDS: u64 = 40;

    /// What comes of `prompt`, and how many steps the network took for it after the prompt.
    fn reply(parrot: Parrot, prompt: &[u32], sampling: &Sampling, drafts: bool, most: usize) -> (Vec<u32>, usize) {
        let steps = Arc::clone(&parrot.steps);
        let vocabulary = parrot.vocabulary();
        let mut context = Context::new(Box::new(parrot));
        assert!(context.prefill(prompt, &Cancel::new()).unwrap().is_some());
        steps.store(0, Ordering::Relaxed);
        let mut tokens = Tokens::new(&mut context, Choice::new(Sampler::new(sampling, vocabulary), None), drafts);
        let said = (0..most).map(|done| tokens.next(most - done).unwrap().id).collect();
        (said, steps.load(Ordering::Relaxed))
    }

    fn sampling(temperature: f32, seed: u64) -> Sampling {
        let mut sampling = Sampling::default();
        (sampling.temperature, sampling.seed) = (temperature, seed);
        sampling
    }

    #[test]
    fn drafts_change_the_steps_and_never_the_tokens() {
        let mut saved = 0;
        for seed in 0..SEEDS {
            for temperature in [0.0, 0.3, 1.0] {
                for forgetful in [false, true] {
                    let sampling = sampling(temperature, seed);
                    let parrot = || Parrot::new(256, 12, seed, forgetful);
                    // A prompt with repetitions, so that there is something to propose.
                    let prompt: Vec<u32> = (0..60).map(|i| (i * i + i / 7) % 12).collect();
                    let plain = reply(parrot(), &prompt, &sampling, false, 150);
                    let drafted = reply(parrot(), &prompt, &sampling, true, 150);
                    assert_eq!(plain.0, drafted.0, "seed {seed}, temperature {temperature}, forgetful {forgetful}");
                    assert_eq!(plain.1, 149, "one step a token but for the first");
                    assert!(!forgetful || drafted.1 == plain.1, "a draft that cannot be forgotten");
                    saved += plain.1.saturating_sub(drafted.1);
                }
            }
        }
        assert!(saved > 1000, "drafts saved only {saved} steps");
    }

    #[test]
    fn what_cannot_be_drawn_is_not_drafted() {
        /// Can say one token only at each place: 0 and 1 in turn, and 2 at every ninth.
        struct Turns(usize);
        impl Turns {
            fn said(&self, later: usize) -> u32 {
                match (self.0 + later) % 9 {
                    8 => 2,
                    at => at as u32 % 2,
                }
            }
        }
        impl Draw for Turns {
            fn draw(&mut self, _: &[f32]) -> Option<Drawn> {
                self.0 += 1;
                Some(Drawn { id: self.said(0), likelihood: None })
            }
            fn possible(&mut self, draft: &[u32]) -> usize {
                draft.iter().enumerate().take_while(|&(at, &id)| id == self.said(at + 1)).count()
            }
        }
        let mut context = Context::new(Box::new(Parrot::new(256, 3, 0, false)));
        assert!(context.prefill(&[0, 1, 0, 1, 0, 1], &Cancel::new()).unwrap().is_some());
        let mut tokens = Tokens::new(&mut context, Turns(0), true);
        for left in (1..=100).rev() {
            tokens.next(left).unwrap();
        }
        assert!(tokens.accepted > 40, "{}", tokens.accepted);
        assert_eq!(tokens.rejected, 0);
    }

    #[test]
    fn what_is_wrong_is_told_where_nothing_can_be_drawn() {
        struct Nothing;
        impl Draw for Nothing {
            fn draw(&mut self, _: &[f32]) -> Option<Drawn> {
                None
            }
        }
        let mut context = Context::new(Box::new(Parrot::new(64, 3, 0, false)));
        assert!(context.prefill(&[0, 1], &Cancel::new()).unwrap().is_some());
        let error = Tokens::new(&mut context, Nothing, true).next(1).unwrap_err();
        assert!(error.is_model() && error.to_string().contains("forbid"), "{error}");
        assert!(error.advice().unwrap().contains("guide"), "{error}");
        let error = nothing(&[f32::NAN, f32::NAN]);
        assert!(error.to_string().contains("no number") && !error.advice().unwrap().contains("guide"), "{error}");
    }

    #[test]
    fn no_draft_is_made_where_rows_are_runs() {
        // Drafts of which some are wrong: each of their rows would be a run for nothing.
        let prompt: Vec<u32> = (0..60).map(|i| (i * i + i / 7) % 12).collect();
        for seed in 0..SEEDS {
            let mut parrot = Parrot::new(256, 12, seed, false);
            parrot.single = true;
            assert_eq!(reply(parrot, &prompt, &sampling(1.0, seed), true, 150).1, 149, "seed {seed}");
        }
    }

    #[test]
    fn the_context_can_be_filled_to_its_last_token() {
        for drafts in [false, true] {
            let prompt: Vec<u32> = (0..40).map(|i| i % 4).collect();
            // The last token is drawn and need not be held.
            let (said, _) = reply(Parrot::new(64, 4, 1, false), &prompt, &sampling(0.0, 1), drafts, 25);
            assert_eq!(said.len(), 25);
        }
    }

    #[test]
    fn a_run_is_proposed_in_growing_pieces() {
        // There is only one token to say.
        let (said, steps) = reply(Parrot::new(512, 1, 0, false), &[0; 40], &sampling(0.0, 0), true, 200);
        assert_eq!(said, [0; 200]);
        assert!(steps < 30, "{steps} steps");
    }
}
