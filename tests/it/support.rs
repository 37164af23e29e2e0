//! What the tests need from outside the repository.

use std::path::PathBuf;

pub struct Artefacts {
    /// ONNX Runtime's shared library.
    pub onnxruntime: PathBuf,
    /// The embedded default model.
    pub gguf: PathBuf,
}

/// The pinned artefacts, fetched or found in the cache.
pub fn artefacts() -> Artefacts {
    // To be provisioned by the library (the only place that changes).
    let folder = PathBuf::from(std::env::var_os("SLM_CODE_INTERPRETER_TEST_MODEL_DIR").expect("set the folder"));
    Artefacts { onnxruntime: folder.join("libonnxruntime.so"), gguf: folder.join("model.gguf") }
}
