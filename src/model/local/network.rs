//! What the in-process model asks of whatever computes it: append tokens, give logits, go back.

use crate::Result;

/// A decoder with a memory of the tokens it was given (keys and values, or recurrent states). It knows numbers only:
/// which text they mean, which come next and what is worth remembering is decided by those who use it.
pub trait Network: Send {
    /// The most tokens it can hold.
    fn n_ctx(&self) -> usize;

    /// Logits in a row: one for each token it can say.
    fn vocabulary(&self) -> usize;

    /// Tokens it holds.
    fn len(&self) -> usize;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends `ids` (1 to what is left of [`n_ctx`](Self::n_ctx)) and makes the logits after each of the last `rows` of
    /// them (1 to `ids.len()`).
    ///
    /// # Errors
    /// The computation failed; what it holds is then as before, or fewer tokens where its states have no such past:
    /// [`len`](Self::len) tells.
    fn append(&mut self, ids: &[u32], rows: usize) -> Result<()>;

    /// Whether one run makes several rows. Where not, [`append`](Self::append) runs once for each.
    fn makes_rows(&self) -> bool;

    /// Whether [`truncate`](Self::truncate) goes back to any number of tokens, at no cost.
    fn goes_back(&self) -> bool;

    /// The logits of row `row` of those that the last [`append`](Self::append) made.
    fn logits(&self, row: usize) -> &[f32];

    /// Forgets the tokens after the first `len` (at most [`len`](Self::len)), and says how many it then holds. Fewer than
    /// `len` where its states have no such past: what is missing must be appended again.
    fn truncate(&mut self, len: usize) -> usize;

    /// What it holds of the first `len` tokens, as bytes that [`load`](Self::load) of the same network takes; `None` where
    /// its states have no such past.
    fn save(&self, len: usize) -> Option<Vec<u8>>;

    /// Holds `len` tokens as [`save`](Self::save) wrote them down; false, and holding nothing, if `bytes` are not those.
    fn load(&mut self, len: usize, bytes: &[u8]) -> bool;
}
