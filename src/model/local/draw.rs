//! Which token comes next: the sampler's draw among those that the guide allows.

use super::guide::Guided;
use crate::model::sampler::{Drawn, Sampler};

/// Says which token a row of logits gives. It is asked once for each token of a reply, in their order.
pub(super) trait Draw {
    /// The next token, which becomes part of the reply; `None` when there is none to be drawn.
    fn draw(&mut self, logits: &[f32]) -> Option<Drawn>;

    /// How many of `draft`, tokens that may be the next, could all be drawn.
    fn possible(&mut self, draft: &[u32]) -> usize {
        draft.len()
    }
}

/// Chooses the tokens of one reply.
pub(super) struct Choice {
    sampler: Sampler,
    guide: Option<Guided>,
}

impl Choice {
    pub fn new(sampler: Sampler, guide: Option<Guided>) -> Self {
        Self { sampler, guide }
    }
}

impl Draw for Choice {
    /// One random number is used.
    fn draw(&mut self, logits: &[f32]) -> Option<Drawn> {
        let allowed = self.guide.as_mut().and_then(Guided::allowed);
        let drawn = self.sampler.draw(logits, allowed)?;
        self.sampler.accept(drawn.id);
        if let Some(guide) = &mut self.guide {
            guide.accept(drawn.id);
        }
        Some(drawn)
    }

    fn possible(&mut self, draft: &[u32]) -> usize {
        self.guide.as_mut().map_or(draft.len(), |guide| guide.validate(draft))
    }
}
