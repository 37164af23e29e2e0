//! How long work tells what it is doing. The core emits [`Step`]s; how they look is the front end's business.

use std::sync::Arc;

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
