//! The library's entry: a model and an image, loaded once; then any number of instructions.

use crate::agent::Event;
use crate::progress::Progress;
use crate::sandbox::{Python, Session, SessionOptions};
use crate::{Answer, Cancel, Config, Request, Result};

pub struct CodeInterpreter(());

impl CodeInterpreter {
    pub fn builder() -> Builder {
        todo!()
    }

    /// Runs one instruction in a session of its own.
    pub fn run(&self, request: impl Into<Request>) -> Result<Answer> {
        let _ = request.into();
        todo!()
    }

    /// A session for [`run_in`](Self::run_in), or for cells without a model.
    pub fn session(&self, options: SessionOptions) -> Result<Session> {
        let _ = options;
        todo!()
    }

    /// Runs one instruction in `session`, telling `observer` of each event; stops when `cancel` says so.
    pub fn run_in(
        &self,
        session: &mut Session,
        request: &Request,
        observer: &mut dyn FnMut(Event<'_>),
        cancel: &Cancel,
    ) -> Result<Answer> {
        let _ = (session, request, observer, cancel);
        todo!()
    }

    pub fn python(&self) -> &Python {
        todo!()
    }

    /// What the model is called in an answer.
    pub fn model_name(&self) -> &str {
        todo!()
    }
}

/// Collects what a [`CodeInterpreter`] is made of; unset settings come from the environment, the config file, the defaults.
#[derive(Default)]
pub struct Builder {
    pub(crate) progress: Progress,
}

impl Builder {
    /// Settings that are resolved already.
    pub fn config(self, config: Config) -> Self {
        let _ = config;
        todo!()
    }

    /// An image that is open already, so that several interpreters share it.
    pub fn python(self, python: Python) -> Self {
        let _ = python;
        todo!()
    }

    /// Who is told how the loading goes.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Stops the loading from another thread.
    pub fn cancel(self, cancel: Cancel) -> Self {
        let _ = cancel;
        todo!()
    }

    pub fn build(self) -> Result<CodeInterpreter> {
        todo!()
    }
}
