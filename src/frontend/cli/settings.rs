//! The flags that every verb takes. Which value wins over the environment and the config file is decided by
//! [`Config::resolve`](crate::Config::resolve), so nothing here reads the environment.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use crate::{Metering, Overrides};

#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub struct Settings {
    /// One JSON document on stdout and nothing else there (run, exec, setup)
    #[arg(long, global = true, display_order = 100)]
    pub json: bool,

    /// Only errors and the program's own output
    #[arg(short, long, global = true, display_order = 101)]
    pub quiet: bool,

    /// Say what is being done, on stderr [env for finer control: SLM_CODE_INTERPRETER_LOG]
    #[arg(short, long, global = true, conflicts_with = "quiet", display_order = 102)]
    pub verbose: bool,

    /// Never use the network [env: SLM_CODE_INTERPRETER_OFFLINE; HF_HUB_OFFLINE for models from the hub]
    #[arg(long, global = true, display_order = 103)]
    pub offline: bool,

    /// Settings in TOML [env: SLM_CODE_INTERPRETER_CONFIG]
    #[arg(long, global = true, value_name = "FILE", display_order = 104)]
    pub config: Option<PathBuf>,

    /// Where artefacts are kept [env: SLM_CODE_INTERPRETER_CACHE_DIR] [default: the platform's cache folder]
    #[arg(long, global = true, value_name = "DIR", display_order = 105)]
    pub cache_dir: Option<PathBuf>,

    /// qwen2.5-coder-1.5b, qwen2.5-coder-0.5b, smollm2-135m, a .gguf file, org/name[:file] on the hub, a model folder, or scripted:FILE.jsonl [env: SLM_CODE_INTERPRETER_MODEL]
    #[arg(long, global = true, value_name = "MODEL", display_order = 106)]
    pub model: Option<String>,

    /// A server that speaks the OpenAI API, as http://localhost:11434/v1; --model is then a name of its own
    /// [env: SLM_CODE_INTERPRETER_BASE_URL; its key, if it wants one: SLM_CODE_INTERPRETER_API_KEY or OPENAI_API_KEY]
    #[arg(long, global = true, value_name = "URL", display_order = 106)]
    pub base_url: Option<String>,

    /// Tokens of prompt and reply together [env: SLM_CODE_INTERPRETER_N_CTX] [default: 2048]
    #[arg(long, global = true, value_name = "N", display_order = 107)]
    pub n_ctx: Option<NonZeroUsize>,

    /// Threads of inference [env: SLM_CODE_INTERPRETER_N_THREADS] [default: 4, at most the cores there are]
    #[arg(long, global = true, value_name = "N", display_order = 108)]
    pub n_threads: Option<NonZeroUsize>,

    /// The Python runtime's wheel, already at hand [env: SLM_CODE_INTERPRETER_PYTHON_WHEEL]
    #[arg(long, global = true, value_name = "FILE", display_order = 109)]
    pub python_wheel: Option<PathBuf>,

    /// ONNX Runtime's shared library or wheel, already at hand [env: SLM_CODE_INTERPRETER_ONNXRUNTIME]
    #[arg(long, global = true, value_name = "FILE", display_order = 110)]
    pub onnxruntime: Option<PathBuf>,

    /// A wheel of a model or of a part of one, already at hand, or a folder with such wheels; repeatable
    /// [env: SLM_CODE_INTERPRETER_MODEL_WHEEL, separated as in PATH]
    #[arg(long, global = true, value_name = "FILE|FOLDER", display_order = 111)]
    pub model_wheel: Vec<PathBuf>,

    /// How programs are counted and interrupted: loops, or wasmtime, the slower reference. Each has an image of its
    /// own, built at its first use [env: SLM_CODE_INTERPRETER_METERING] [default: loops]
    #[arg(long, global = true, value_name = "NAME", display_order = 112)]
    pub metering: Option<Metering>,
}

impl Settings {
    pub fn overrides(&self) -> Overrides {
        Overrides {
            config_file: self.config.clone(),
            model: self.model.clone(),
            base_url: self.base_url.clone(),
            cache_dir: self.cache_dir.clone(),
            n_ctx: self.n_ctx.map(NonZeroUsize::get),
            n_threads: self.n_threads.map(NonZeroUsize::get),
            python_wheel: self.python_wheel.clone(),
            onnxruntime: self.onnxruntime.clone(),
            model_wheel: (!self.model_wheel.is_empty()).then(|| self.model_wheel.clone()),
            // An absent flag says nothing: the environment may still ask for it.
            offline: self.offline.then_some(true),
            metering: self.metering,
        }
    }

    /// Log lines go to stderr when asked for; without that there is no logger at all.
    pub fn start_log(&self) {
        let variable = "SLM_CODE_INTERPRETER_LOG";
        if !self.verbose && std::env::var_os(variable).is_none() {
            return;
        }
        let fallback = if self.verbose { "slm_code_interpreter=debug" } else { "off" };
        let environment = env_logger::Env::new().filter_or(variable, fallback);
        // Fails only when a logger is already there, which then serves.
        let _ = env_logger::Builder::from_env(environment).try_init();
    }
}
