//! ONNX Runtime itself: a shared library, loaded once in a process.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ort::environment::Environment;
use ort::logging::LogLevel;

use crate::{Error, Result};

/// `ort` can load one library in a process and never lets go of it, so this is the process's own.
static LOADED: Mutex<Option<Runtime>> = Mutex::new(None);

/// The loaded library. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    path: PathBuf,
    pub(super) environment: Environment,
}

impl Runtime {
    /// Loads the shared library at `path`, or gives the one loaded before from there.
    ///
    /// # Errors
    /// The library is not there or not ONNX Runtime 1.24 or later, or another one was loaded before.
    pub fn load(path: &Path) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::unavailable(error)
                .context(format!("cannot load ONNX Runtime from `{}`", path.display()))
                .advise("give the path of another ONNX Runtime (1.24 or later) with SLM_CODE_INTERPRETER_ONNXRUNTIME")
        };
        let path = std::fs::canonicalize(path).map_err(|error| failed(&error))?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*loaded {
            if runtime.path == path {
                return Ok(runtime.clone());
            }
            return Err(failed(&format!(
                "this process already uses the one at `{}`, and can use only one",
                runtime.path.display()
            )));
        }
        // `init_from` reports what the lazy loading inside `ort` would panic on.
        let builder = ort::init_from(&path).map_err(|error| failed(&error))?;
        let environment = builder
            .with_name(env!("CARGO_PKG_NAME"))
            .with_telemetry(false)
            .with_logger(Arc::new(|level, _category: &str, _id: &str, place: &str, message: &str| {
                log::log!(target: "onnxruntime", severity(level), "{message} ({place})");
            }))
            .build()
            .map_err(|error| failed(&error))?;
        environment.set_log_level(LogLevel::Warning);
        let runtime = Self { path, environment };
        *loaded = Some(runtime.clone());
        Ok(runtime)
    }

    /// Which build of the library this is.
    pub(crate) fn build(&self) -> &'static str {
        ort::info()
    }
}

/// Its warnings are about devices that are not there and fusions that were not possible: nothing for people.
fn severity(level: LogLevel) -> log::Level {
    match level {
        LogLevel::Verbose => log::Level::Trace,
        LogLevel::Info | LogLevel::Warning => log::Level::Debug,
        LogLevel::Error | LogLevel::Fatal => log::Level::Warn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_or_foreign_library_is_an_error() {
        let missing = Runtime::load(Path::new("/no/such/libonnxruntime.so")).err().unwrap();
        assert!(missing.is_unavailable() && missing.advice().is_some(), "{missing:?}");
        let text = tempfile::NamedTempFile::new().unwrap();
        assert!(Runtime::load(text.path()).err().unwrap().is_unavailable());
    }
}
