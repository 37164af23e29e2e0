//! Which token comes next: the sampler's draw among those that the guide allows.

use super::guide::Guided;
use crate::model::sampler::{Drawn, Sampler};

/// Chooses the tokens of one reply, each from the logits after those before it.
pub(super) struct Choice {
    sampler: Sampler,
    guide: Option<Guided>,
}

impl Choice {
    pub fn new(sampler: Sampler, guide: Option<Guided>) -> Self {
        Self { sampler, guide }
    }

    /// The next token, which becomes part of the reply; one random number is used for it. `None` when there is none.
    pub fn next(&mut self, logits: &[f32]) -> Option<Drawn> {
        let allowed = self.guide.as_mut().and_then(Guided::allowed);
        let drawn = self.sampler.draw(logits, allowed)?;
        self.sampler.accept(drawn.id);
        if let Some(guide) = &mut self.guide {
            guide.accept(drawn.id);
        }
        Some(drawn)
    }
}
