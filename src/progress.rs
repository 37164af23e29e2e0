//! How long work tells what it is doing. The core emits [`Step`]s; how they look is the front end's business.

use std::sync::{Arc, Mutex, PoisonError};

/// One thing that happened in a long piece of work.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// Work on `what` begins; `total` is its size in `unit`s when that is known.
    Begin { what: &'a str, total: Option<u64>, unit: Unit },
    /// So many units of it are done.
    Advance { done: u64 },
    /// Something a person may want to know: waiting for another process, falling back.
    Note { text: &'a str },
    /// The work that began last has ended well.
    End,
}

/// What a step counts.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    /// Functions to compile.
    Functions,
}

/// Where the steps go; cheap to clone. `Progress::default()` is silent.
#[derive(Clone, Default)]
pub struct Progress(Option<Arc<Sink>>);

type Sink = dyn Fn(Step<'_>) + Send + Sync;

impl Progress {
    pub fn new(sink: impl Fn(Step<'_>) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    pub(crate) fn step(&self, step: Step<'_>) {
        if let Some(sink) = &self.0 {
            sink(step);
        }
    }

    /// Announces `what`, does it, and announces its end if it went well.
    pub(crate) fn during<T, E>(
        &self,
        what: &str,
        total: Option<u64>,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.during_counted(what, total, Unit::Bytes, work)
    }

    /// The same for work that is not measured in bytes.
    pub(crate) fn during_counted<T, E>(
        &self,
        what: &str,
        total: Option<u64>,
        unit: Unit,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.step(Step::Begin { what, total, unit });
        let done = work()?;
        self.step(Step::End);
        Ok(done)
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Progress(on)" } else { "Progress(silent)" })
    }
}

/// Several pieces of work that go on at once and are shown as one: what is done of each adds up.
pub(crate) struct Together {
    shown: Progress,
    counts: Arc<Mutex<Counts>>,
}

struct Counts {
    done: Vec<u64>,
    /// What was noted last: all pieces often meet the same.
    note: String,
}

impl Together {
    /// So many pieces of the step that began last in `shown`.
    pub(crate) fn new(shown: &Progress, pieces: usize) -> Self {
        let counts = Counts { done: vec![0; pieces], note: String::new() };
        Self { shown: shown.clone(), counts: Arc::new(Mutex::new(counts)) }
    }

    /// Where one piece tells how far it is; it counts for `most` at the most, and never goes back. Its own steps are not
    /// shown.
    pub(crate) fn piece(&self, at: usize, most: u64) -> Progress {
        let (shown, counts) = (self.shown.clone(), self.counts.clone());
        Progress::new(move |step| {
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            match step {
                Step::Advance { done } if done.min(most) > counts.done[at] => {
                    counts.done[at] = done.min(most);
                    shown.step(Step::Advance { done: counts.done.iter().sum() });
                }
                Step::Note { text } if text != counts.note => {
                    counts.note = text.into();
                    shown.step(step);
                }
                _ => {}
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_add_up_and_their_own_steps_are_not_shown() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let told = seen.clone();
        let shown = Progress::new(move |step| told.lock().unwrap().push(format!("{step:?}")));
        let together = Together::new(&shown, 2);
        let [a, b] = [together.piece(0, 10), together.piece(1, 20)];
        a.step(Step::Begin { what: "inner", total: None, unit: Unit::Bytes });
        a.step(Step::Advance { done: 4 });
        a.step(Step::End);
        b.step(Step::Advance { done: 25 });
        a.step(Step::Advance { done: 3 });
        a.step(Step::Note { text: "slow" });
        b.step(Step::Note { text: "slow" });
        let expected = ["Advance { done: 4 }", "Advance { done: 24 }", "Note { text: \"slow\" }"];
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}
