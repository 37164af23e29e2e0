//! What the daemon has: the sandbox and the model, each loading, ready, or not to be had. The sandbox serves as soon as
//! it is ready, with or without a model.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{Semaphore, watch};

use super::answers::Answers;
use super::body::MOST_LARGE;
use super::problem::Problem;
use super::work::Places;
use crate::sandbox::{Packages, Python};
use crate::{Cancel, CodeInterpreter, Config, Error, PackageRequest, Progress, Result};

/// Seconds after which a client may ask again for what is loading.
const RETRY: u32 = 2;

pub struct App {
    pub port: u16,
    /// What the settings name; `None` is the default model.
    named_model: Option<String>,
    sandbox: RwLock<Part<Sandbox>>,
    interpreter: RwLock<Part<Arc<CodeInterpreter>>>,
    /// For cells without a model.
    pub cells: Places,
    /// For instructions, which hold the model in turns.
    pub runs: Places,
    /// Requests whose bodies are large.
    pub large: Arc<Semaphore>,
    pub answers: Answers,
}

/// What cells run in.
#[derive(Clone)]
pub struct Sandbox {
    pub python: Python,
    /// Those of every session.
    pub packages: Option<Packages>,
}

#[derive(Clone)]
enum Part<T> {
    Loading,
    Ready(T),
    Unavailable(Arc<Error>),
}

impl<T> Part<T> {
    /// The word of `/status`.
    fn word(&self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Ready(_) => "ready",
            Self::Unavailable(_) => "unavailable",
        }
    }
}

impl App {
    pub fn new(port: u16, named_model: Option<String>, stopped: watch::Receiver<bool>) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            port,
            named_model,
            sandbox: RwLock::new(Part::Loading),
            interpreter: RwLock::new(Part::Loading),
            cells: Places::new(cores.max(4), stopped.clone()),
            runs: Places::new(cores.max(2), stopped),
            large: Arc::new(Semaphore::new(MOST_LARGE)),
            answers: Answers::new(),
        }
    }

    /// Loads the sandbox, then the model; returns when both are decided.
    pub fn load(&self, config: Config, request: &PackageRequest, progress: &Progress, cancel: &Cancel) {
        // A panic, told by the panic hook, must not leave clients waiting for ever.
        let opened = unless_panic(|| {
            let python = Python::open(&config, progress, cancel)?;
            let open = || Packages::open(request, &python, &config, progress, cancel);
            let packages = (!request.is_empty()).then(open).transpose()?;
            Ok(Sandbox { python, packages })
        });
        let sandbox = match opened {
            Ok(sandbox) => sandbox,
            Err(error) => {
                set(&self.sandbox, Part::Unavailable(Arc::new(error)));
                return;
            }
        };
        set(&self.sandbox, Part::Ready(sandbox.clone()));
        let built = unless_panic(|| {
            let mut builder = CodeInterpreter::builder().config(config).python(sandbox.python);
            if let Some(packages) = sandbox.packages {
                builder = builder.packages(packages);
            }
            builder.progress(progress.clone()).cancel(cancel.clone()).build()
        });
        set(
            &self.interpreter,
            built.map(Arc::new).map_or_else(|error| Part::Unavailable(Arc::new(error)), Part::Ready),
        );
    }

    /// The sandbox, or why there is none.
    pub fn sandbox(&self) -> Result<Sandbox, Problem> {
        match get(&self.sandbox) {
            Part::Ready(sandbox) => Ok(sandbox),
            Part::Loading => Err(Problem::later("The Python runtime is still loading", RETRY)),
            Part::Unavailable(error) => {
                Err(Problem::unavailable(format!("Failed to load the Python runtime: {}", told(&error))))
            }
        }
    }

    /// Model and sandbox, or why there are none.
    pub fn interpreter(&self) -> Result<Arc<CodeInterpreter>, Problem> {
        if let Part::Unavailable(_) = get(&self.sandbox) {
            self.sandbox()?;
        }
        match get(&self.interpreter) {
            Part::Ready(interpreter) => Ok(interpreter),
            Part::Loading => Err(Problem::later("The model is still loading", RETRY)),
            Part::Unavailable(error) => {
                let text = format!("Failed to load ONNX model: {}", told(&error));
                // What can be supplied may be there later; what is broken will not mend itself.
                Err(if error.is_unavailable() { Problem::unavailable(text) } else { Problem::failed(text) })
            }
        }
    }

    /// After [`load`](Self::load): the model's name, or why there is none.
    pub fn loaded(&self) -> Result<String, String> {
        let standing = self.standing();
        match standing.error {
            Some(error) => Err(error),
            None => Ok(standing.model.unwrap_or_default()),
        }
    }

    /// How things stand, without waiting for anything.
    pub fn standing(&self) -> Standing {
        let (sandbox, interpreter) = (get(&self.sandbox), get(&self.interpreter));
        let error = match (&sandbox, &interpreter) {
            (Part::Unavailable(error), _) | (_, Part::Unavailable(error)) => Some(told(error)),
            _ => None,
        };
        let status = match (&sandbox, &interpreter) {
            (Part::Unavailable(_), _) => sandbox.word(),
            _ => interpreter.word(),
        };
        let model = match &interpreter {
            Part::Ready(interpreter) => Some(interpreter.model_name().to_owned()),
            _ => self.named_model.clone(),
        };
        Standing { status, sandbox: sandbox.word(), model, error }
    }
}

/// The parts of `/status` that change.
pub struct Standing {
    pub status: &'static str,
    pub sandbox: &'static str,
    pub model: Option<String>,
    pub error: Option<String>,
}

fn told(error: &Error) -> String {
    match error.advice() {
        Some(advice) => format!("{error} ({advice})"),
        None => error.to_string(),
    }
}

fn unless_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Error::internal("a fault in the program itself")))
}

fn get<T: Clone>(part: &RwLock<Part<T>>) -> Part<T> {
    part.read().unwrap_or_else(PoisonError::into_inner).clone()
}

fn set<T>(part: &RwLock<Part<T>>, value: Part<T>) {
    *part.write().unwrap_or_else(PoisonError::into_inner) = value;
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;

    use super::*;

    fn app() -> App {
        App::new(8085, Some("named".into()), watch::channel(false).1)
    }

    fn code(problem: Problem) -> u16 {
        problem.into_response().status().as_u16()
    }

    #[test]
    fn while_loading_clients_are_asked_to_come_back() {
        let app = app();
        let standing = app.standing();
        assert_eq!((standing.status, standing.sandbox, standing.error), ("loading", "loading", None));
        assert_eq!(standing.model.as_deref(), Some("named"));
        assert_eq!(code(app.sandbox().err().unwrap()), 503);
        assert_eq!(code(app.interpreter().err().unwrap()), 503);
    }

    #[test]
    fn a_missing_model_and_a_broken_one_differ() {
        for (error, expected) in [(Error::unavailable("no network"), 503), (Error::model("bad header"), 500)] {
            let app = app();
            set(&app.interpreter, Part::Unavailable(Arc::new(error.advise("give a path"))));
            let standing = app.standing();
            assert_eq!((standing.status, standing.sandbox), ("unavailable", "loading"));
            assert!(standing.error.unwrap().ends_with("(give a path)"));
            let problem = app.interpreter().err().unwrap();
            assert!(format!("{problem:?}").contains("Failed to load ONNX model: "), "{problem:?}");
            assert_eq!(code(problem), expected);
        }
    }

    #[test]
    fn without_a_sandbox_nothing_is_to_be_had() {
        let app = app();
        set(&app.sandbox, Part::Unavailable(Arc::new(Error::unavailable("no wheel"))));
        assert_eq!(app.standing().status, "unavailable");
        assert!(
            format!("{:?}", app.interpreter().err().unwrap()).contains("Failed to load the Python runtime: no wheel")
        );
    }

    #[test]
    fn a_panic_while_loading_is_an_error() {
        let failed: Result<()> = unless_panic(|| panic!("expected by this test"));
        assert!(!failed.unwrap_err().is_unavailable());
    }
}
