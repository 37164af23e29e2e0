//! The one public error: opaque, asked through predicates, and always able to say what to do next.
//!
//! A *program* that failed is a value (an [`Outcome`](crate::Outcome) or an [`Answer`](crate::Answer)); an `Error`
//! means that the interpreter itself could not do its work. Its `Display` is one line, "what happened: why"; the
//! remedy, when there is one, is [`Error::advice`].

use std::fmt::{self, Display};
use std::io::ErrorKind;

pub type Result<T, E = Error> = std::result::Result<T, E>;

pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    message: String,
    advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Usage,
    Unavailable,
    Full,
    Busy,
    Cancelled,
    Model,
    Internal,
}

impl Error {
    /// The caller asked for something that cannot be: a bad flag, a file that is not there.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Kind::Usage, message)
    }

    /// A part that must be fetched or built first is not to be had.
    pub(crate) fn unavailable(message: impl Display) -> Self {
        Self::new(Kind::Unavailable, message)
    }

    /// A disk has no room for what must be fetched or built.
    pub(crate) fn full(message: impl Display) -> Self {
        Self::new(Kind::Full, message)
    }

    /// Of a write that failed: full, or our own fault.
    pub(crate) fn on_write(error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::full(error),
            _ => Self::internal(error).context("writing"),
        }
    }

    /// As much as may be is in use: worth another try when something has ended.
    pub(crate) fn busy(message: impl Display) -> Self {
        Self::new(Kind::Busy, message)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Kind::Cancelled, "cancelled")
    }

    /// The model's files or the model itself failed.
    pub(crate) fn model(message: impl Display) -> Self {
        Self::new(Kind::Model, message)
    }

    /// Our own fault, or the machine's.
    pub(crate) fn internal(message: impl Display) -> Self {
        Self::new(Kind::Internal, message)
    }

    fn new(kind: Kind, message: impl Display) -> Self {
        Self(Box::new(Inner { kind, message: message.to_string(), advice: None }))
    }

    /// Puts what was being done before the reason: `context: message`.
    pub(crate) fn context(mut self, doing: impl Display) -> Self {
        self.0.message = format!("{doing}: {}", self.0.message);
        self
    }

    /// What the person can do about it, as one sentence.
    pub(crate) fn advise(mut self, advice: impl Display) -> Self {
        self.0.advice.get_or_insert_with(|| advice.to_string());
        self
    }

    /// The same, where an earlier advice does not fit.
    pub(crate) fn advise_instead(mut self, advice: impl Display) -> Self {
        self.0.advice = Some(advice.to_string());
        self
    }

    /// Something the caller can put right in the call itself.
    pub fn is_usage(&self) -> bool {
        self.0.kind == Kind::Usage
    }

    /// No runtime, model or shared library to be had; [`advice`](Self::advice) says how to supply it.
    pub fn is_unavailable(&self) -> bool {
        matches!(self.0.kind, Kind::Unavailable | Kind::Full)
    }

    /// Unavailable, because a disk is full: another source does not help.
    pub(crate) fn is_full(&self) -> bool {
        self.0.kind == Kind::Full
    }

    /// As many sessions are alive as [`Capacity`](crate::Capacity) allows; it will do when one has ended.
    pub fn is_busy(&self) -> bool {
        self.0.kind == Kind::Busy
    }

    pub fn is_cancelled(&self) -> bool {
        self.0.kind == Kind::Cancelled
    }

    /// The model's files or its inference failed.
    pub fn is_model(&self) -> bool {
        self.0.kind == Kind::Model
    }

    /// What to do next, when there is something to do.
    pub fn advice(&self) -> Option<&str> {
        self.0.advice.as_deref()
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.0.kind, self.0.message)?;
        match &self.0.advice {
            Some(advice) => write!(f, " ({advice})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {}

/// Turns a foreign error into ours at the place where the meaning is known, without a `From` that would make a
/// private dependency's type part of the public API.
pub(crate) trait OrInternal<T> {
    fn or_internal(self, doing: impl Display) -> Result<T>;
}

impl<T, E: Display> OrInternal<T> for std::result::Result<T, E> {
    fn or_internal(self, doing: impl Display) -> Result<T> {
        self.map_err(|error| Error::internal(error).context(doing))
    }
}
