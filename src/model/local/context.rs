//! The tokens that the network holds, and how to get from them to a prompt with the least work.

use super::network::Network;
use crate::{Cancel, Error, Result};

/// Prompt tokens evaluated at once: enough for full speed, few enough that a cancel is felt within a fifth of a second.
const CHUNK: usize = 256;

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

    pub fn n_ctx(&self) -> usize {
        self.network.n_ctx()
    }

    /// Logits in a row.
    pub fn vocabulary(&self) -> usize {
        self.network.vocabulary()
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
        let same = self.resident.iter().zip(ids).take_while(|(held, id)| held == id).count();
        self.truncate(same.min(self.prefilled).min(ids.len().saturating_sub(2)));
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
        self.network.append(ids, rows)?;
        self.resident.extend_from_slice(ids);
        Ok(())
    }

    /// Forgets what came after the first `len` tokens, or after fewer where the network has no such past.
    pub fn truncate(&mut self, len: usize) {
        if len < self.resident.len() {
            let held = self.network.truncate(len);
            self.resident.truncate(held);
            self.prefilled = self.prefilled.min(held);
        }
    }

    /// The logits of the token after the last one.
    pub fn logits(&self) -> &[f32] {
        self.network.logits(0)
    }

    /// Forgets everything, so that the next prompt is evaluated whole.
    pub fn clear(&mut self) {
        self.truncate(0);
    }
}
