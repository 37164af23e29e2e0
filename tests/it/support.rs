//! What the tests need from outside the repository, fetched or found in the cache.

use std::path::PathBuf;

use slm_code_interpreter::model::parts::{self, Runtime};
use slm_code_interpreter::{Cancel, Config, Overrides, Progress};

pub fn runtime() -> Runtime {
    let library = parts::onnxruntime(&settings(), &Progress::default(), &Cancel::new()).expect("ONNX Runtime");
    Runtime::load(&library).expect("ONNX Runtime")
}

/// SmolLM2's GGUF.
pub fn smollm2() -> PathBuf {
    parts::smollm2(&settings(), &Progress::default(), &Cancel::new()).expect("SmolLM2")
}

fn settings() -> Config {
    Config::resolve(Overrides::default()).expect("the settings")
}
