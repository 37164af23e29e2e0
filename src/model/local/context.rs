//! The tokens that the network holds, and how to get from them to a prompt with the least work.

use super::network::Network;
use crate::{Cancel, Error, Result};

/// Prompt tokens evaluated at once. Memory holds the activations of all of them, and a cancel waits until they are done. With
/// 256 a prompt takes 3 to 9 percent less time, and the network 35 to 60 MB more memory.
const CHUNK: usize = 128;

/// A network and the ids of what it holds.
pub struct Context {
    network: Box<dyn Network>,
    /// The ids the network holds.
    resident: Vec<u32>,
    /// How many of them, from the first on, were evaluated as parts of a prompt.
    prefilled: usize,
}

impl Context {
    pub fn new(network: Box<dyn Network>) -> Self {
        let resident = Vec::with_capacity(network.n_ctx());
        Self { network, resident, prefilled: 0 }
    }

    pub(super) fn into_network(self) -> Box<dyn Network> {
        self.network
    }

    pub fn n_ctx(&self) -> usize {
        self.network.n_ctx()
    }

    /// The ids it holds.
    pub fn ids(&self) -> &[u32] {
        &self.resident
    }

    /// Makes the context hold exactly `ids` (at least one, at most `n_ctx`), evaluating only what it does not hold yet, and
    /// gives the number of those evaluated. `None` if cancelled on the way; then the logits are not those of `ids`.
    ///
    /// What is remembered changes the time this takes, never the logits. Matrices meet several tokens and single ones
    /// in different kernels, whose results differ in the last bits; so tokens that were decoded are evaluated anew, and
    /// the end of a prompt never comes alone.
    pub fn prefill(&mut self, ids: &[u32], cancel: &Cancel) -> Result<Option<usize>> {
        self.truncate(self.remembered(ids).min(ids.len().saturating_sub(2)));
        self.prefilled = self.resident.len();
        let evaluated = ids.len() - self.prefilled;
        while self.prefilled < ids.len() {
            if cancel.is_cancelled() {
                return Ok(None);
            }
            let left = &ids[self.prefilled..];
            let chunk = if left.len() == CHUNK + 1 { CHUNK - 1 } else { left.len().min(CHUNK) };
            self.append(&left[..chunk], 1)?;
            self.prefilled = self.resident.len();
        }
        Ok(Some(evaluated))
    }

    /// Appends `ids`, making logits after each of the last `rows` of them.
    pub fn append(&mut self, ids: &[u32], rows: usize) -> Result<()> {
        if self.resident.len() + ids.len() > self.n_ctx() {
            return Err(Error::internal(format!("more than the {} tokens of the context", self.n_ctx())));
        }
        if let Err(error) = self.network.append(ids, rows) {
            let held = self.network.truncate(self.network.len().min(self.resident.len()));
            self.hold(held);
            return Err(error);
        }
        self.resident.extend_from_slice(ids);
        Ok(())
    }

    /// Whether a draft can be checked in one run, and what was wrong of it forgotten at no cost.
    pub(super) fn checks_drafts(&self) -> bool {
        self.network.makes_rows() && self.network.goes_back()
    }

    /// Forgets what came after the first `len` tokens, or after fewer where the network has no such past.
    pub fn truncate(&mut self, len: usize) {
        if len < self.resident.len() {
            let held = self.network.truncate(len);
            self.hold(held);
        }
    }

    /// The network holds the first `held` tokens only.
    fn hold(&mut self, held: usize) {
        self.resident.truncate(held);
        self.prefilled = self.prefilled.min(held);
    }

    /// The logits of row `row` of those that were made last; a prompt makes one row, that of the token after it.
    pub fn logits(&self, row: usize) -> &[f32] {
        self.network.logits(row)
    }

    /// How many of `ids`, from the first on, need not be evaluated again if they are a prompt's beginning.
    pub fn remembered(&self, ids: &[u32]) -> usize {
        self.resident[..self.prefilled].iter().zip(ids).take_while(|(held, id)| held == id).count()
    }

    /// The states after `ids`, if it holds them as a prompt's beginning.
    pub fn save(&self, ids: &[u32]) -> Option<Vec<u8>> {
        if self.remembered(ids) == ids.len() { self.network.save(ids.len()) } else { None }
    }

    /// Holds `ids` by the states that [`save`](Self::save) gave for them; holds nothing if `states` are not those.
    pub fn load(&mut self, ids: &[u32], states: &[u8]) -> bool {
        let loaded = ids.len() <= self.n_ctx() && self.network.load(ids.len(), states);
        if !loaded {
            self.network.truncate(0);
        }
        self.resident.clear();
        self.resident.extend_from_slice(if loaded { ids } else { &[] });
        self.prefilled = self.resident.len();
        loaded
    }

    /// Forgets everything, so that the next prompt is evaluated whole.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Parrot;
    use super::*;

    fn context(forgetful: bool) -> Context {
        Context::new(Box::new(Parrot::new(512, 8, 1, forgetful)))
    }

    fn prefill(context: &mut Context, ids: &[u32]) -> usize {
        context.prefill(ids, &Cancel::new()).unwrap().unwrap()
    }

    #[test]
    fn only_what_is_new_is_evaluated() {
        let mut context = context(false);
        let ids: Vec<u32> = (0..300).map(|i| i % 7).collect();
        assert_eq!(prefill(&mut context, &ids[..200]), 200);
        context.append(&ids[200..201], 1).unwrap();
        // What was decoded is evaluated anew, as a prompt.
        assert_eq!(prefill(&mut context, &ids), 100);
        assert_eq!(context.ids(), ids);
        assert_eq!(prefill(&mut context, &ids), 2, "the end never comes alone");
        assert_eq!(prefill(&mut context, &ids[1..]), 299);
    }

    #[test]
    fn a_network_that_cannot_go_back_begins_again() {
        let mut context = context(true);
        assert_eq!(prefill(&mut context, &[1, 2, 3, 4]), 4);
        assert_eq!(prefill(&mut context, &[1, 2, 3, 5]), 4);
        assert_eq!(context.ids(), [1, 2, 3, 5]);
    }

    #[test]
    fn a_beginning_is_saved_and_loaded() {
        let (mut first, mut second) = (context(false), context(false));
        let ids: Vec<u32> = (0..100).map(|i| i % 7).collect();
        prefill(&mut first, &ids);
        first.append(&[1], 1).unwrap();
        assert_eq!(first.save(&[&ids[..], &[1]].concat()), None, "that was no prompt");
        let states = first.save(&ids[..60]).unwrap();
        assert!(second.load(&ids[..60], &states));
        assert_eq!((second.ids(), second.remembered(&ids)), (&ids[..60], 60));
        assert_eq!(prefill(&mut second, &ids), 40);
        assert_eq!(second.logits(0), {
            prefill(&mut first, &ids);
            first.logits(0)
        });
        assert!(!second.load(&ids[..60], &states[1..]));
        assert!(second.ids().is_empty());
        assert_eq!(prefill(&mut second, &ids), 100);
    }

    #[test]
    fn what_a_failure_lost_is_evaluated_again() {
        let ids = [1, 2, 3, 4];
        let mut parrot = Parrot::new(512, 8, 1, true);
        parrot.breaks_at = Some(1);
        let mut context = Context::new(Box::new(parrot));
        prefill(&mut context, &ids);
        assert!(context.append(&[5], 1).is_err());
        assert!(context.ids().is_empty());
        assert_eq!(prefill(&mut context, &ids), 4);
        let mut fresh = self::context(true);
        prefill(&mut fresh, &ids);
        assert_eq!(context.logits(0), fresh.logits(0));
    }

    #[test]
    fn a_cancelled_prompt_is_no_prompt() {
        let cancel = Cancel::new();
        cancel.cancel();
        assert_eq!(context(false).prefill(&[1, 2, 3], &cancel).unwrap(), None);
    }
}
