//! What the tests need from outside the repository.

use std::path::PathBuf;

use slm_code_interpreter::model::parts;
use slm_code_interpreter::{Cancel, Config, Overrides, Progress};

pub struct Artefacts {
    /// ONNX Runtime's shared library.
    pub onnxruntime: PathBuf,
    /// The embedded default model.
    pub gguf: PathBuf,
}

/// The pinned artefacts, fetched or found in the cache.
pub fn artefacts() -> Artefacts {
    let config = Config::resolve(Overrides::default()).expect("the settings");
    let fetched = parts::artefacts(&config, &Progress::default(), &Cancel::new());
    let (onnxruntime, gguf) = fetched.expect("the artefacts");
    Artefacts { onnxruntime, gguf }
}
