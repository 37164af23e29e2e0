//! A network made of arithmetic, for tests of what stands above it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::network::Network;
use crate::{Error, Result};

/// Prefers what a hash of the last two tokens tells: so it falls into repetitions, and sampling leaves them again.
pub(super) struct Parrot {
    n_ctx: usize,
    vocabulary: usize,
    seed: u64,
    /// Like a recurrent network it can go back to the state before the last step only, or to the beginning.
    forgetful: bool,
    /// It makes one row a run.
    pub single: bool,
    /// The run, counted from 0, that fails and loses all that is held.
    pub breaks_at: Option<usize>,
    held: Vec<u32>,
    before_last: usize,
    rows: Vec<Vec<f32>>,
    /// Runs so far.
    pub steps: Arc<AtomicUsize>,
}

impl Parrot {
    pub fn new(n_ctx: usize, vocabulary: usize, seed: u64, forgetful: bool) -> Self {
        let (held, rows, steps) = (Vec::new(), Vec::new(), Arc::default());
        let (single, breaks_at) = (false, None);
        Self { n_ctx, vocabulary, seed, forgetful, single, breaks_at, held, before_last: 0, rows, steps }
    }

    fn row(&self, held: &[u32]) -> Vec<f32> {
        let mix = |hash: u64, x: u64| (hash ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let recent = held.iter().rev().take(2).fold(self.seed, |hash, &id| mix(hash, u64::from(id)));
        let logit = |id: usize| (mix(recent, id as u64 + 1) >> 40) as f32 / (1 << 22) as f32;
        (0..self.vocabulary).map(logit).collect()
    }
}

impl Network for Parrot {
    fn n_ctx(&self) -> usize {
        self.n_ctx
    }

    fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    fn len(&self) -> usize {
        self.held.len()
    }

    fn append(&mut self, ids: &[u32], rows: usize) -> Result<()> {
        assert!(!ids.is_empty() && (1..=ids.len()).contains(&rows), "{rows} rows of {} tokens", ids.len());
        assert!(self.held.len() + ids.len() <= self.n_ctx, "{} + {} tokens", self.held.len(), ids.len());
        let runs = if self.single { rows } else { 1 };
        if Some(self.steps.fetch_add(runs, Ordering::Relaxed)) == self.breaks_at {
            self.held.clear();
            return Err(Error::model("it broke"));
        }
        self.before_last = self.held.len();
        self.held.extend_from_slice(ids);
        let ends = self.held.len() - rows + 1..=self.held.len();
        self.rows = ends.map(|end| self.row(&self.held[..end])).collect();
        Ok(())
    }

    fn makes_rows(&self) -> bool {
        !self.single
    }

    fn goes_back(&self) -> bool {
        !self.forgetful
    }

    fn logits(&self, row: usize) -> &[f32] {
        &self.rows[row]
    }

    fn truncate(&mut self, len: usize) -> usize {
        let kept = match () {
            () if !self.forgetful || len == self.held.len() => len,
            () if len >= self.before_last => self.before_last,
            () => 0,
        };
        self.held.truncate(kept);
        kept
    }

    fn save(&self, len: usize) -> Option<Vec<u8>> {
        Some(self.held[..len].iter().flat_map(|id| id.to_le_bytes()).collect())
    }

    fn load(&mut self, len: usize, bytes: &[u8]) -> bool {
        self.held.clear();
        let whole = bytes.len() == len * 4;
        if whole {
            self.held.extend(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)));
        }
        whole
    }
}
