//! The loop: ask the model, run its program, give the error back. The only place that knows both the model and the sandbox.

use crate::sandbox::Outcome;

/// What happens during a run, in order, for whoever watches.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Attempt `number` of at most `of` begins.
    Attempt {
        number: usize,
        of: usize,
    },
    /// The model's reply, piece by piece.
    Text(&'a str),
    /// The program taken from the reply, about to run.
    Code(&'a str),
    Outcome(&'a Outcome),
    /// Why things did not go as asked, or what is tried instead; one line.
    Note(&'a str),
}
