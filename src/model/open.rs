//! From a name to a loaded model: fetches, builds once, loads.

use std::fs::File;
use std::path::Path;

use super::gguf::{self, CONVERTER_VERSION, Weights};
use super::name::{EMBEDDED, EMBEDDED_GGUF, ModelName};
use super::onnx::{OnnxModel, Runtime};
use super::scripted::Scripted;
use super::Model;
use crate::provision::{self, Cache, Folder};
use crate::{Cancel, Config, Error, Progress, Result};

/// The kind of the cache's folders that hold built models.
pub(crate) const KIND: &str = "model";

/// Loads the model that `config` names; fetches and builds what is not there yet.
pub(crate) fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Box<dyn Model>> {
    let name = ModelName::parse(config.model.as_deref())?;
    if let ModelName::Script(path) = name {
        return Ok(Box::new(Scripted::open(&path)?));
    }
    let cache = Cache::open(&config.cache_dir)?;
    let library = provision::fetch_onnxruntime(config, &cache, progress, cancel)?;
    let model = match &name {
        ModelName::Folder(path) => load(config, path, &library, progress)?,
        ModelName::Gguf(path) => {
            let folder = from_gguf(path, &cache, progress, cancel)?;
            load(config, folder.path(), &library, progress)?
        }
        ModelName::Embedded | ModelName::Script(_) => {
            let folder = embedded(config, &cache, progress, cancel)?;
            load(config, folder.path(), &library, progress)?
        }
    };
    Ok(Box::new(model))
}

/// The folder of the embedded model, built if need be.
pub(crate) fn embedded(config: &Config, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<Folder> {
    let key = embedded_key();
    if let Some(folder) = cache.find(KIND, &key) {
        return Ok(folder);
    }
    let fetched = provision::fetch(&provision::MODEL, config, cache, progress, cancel)?;
    let gguf = fetched.path().join(provision::MODEL_GGUF);
    build(&gguf, EMBEDDED, &key, cache, progress, cancel)
}

/// The cache's name for the embedded model as this version builds it.
pub(crate) fn embedded_key() -> String {
    key(EMBEDDED_GGUF, EMBEDDED, Weights::EightBits)
}

fn from_gguf(path: &Path, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<Folder> {
    let name = path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy();
    let key = key(&content_hash(path)?, &name, Weights::EightBits);
    build(path, &name, &key, cache, progress, cancel)
}

fn build(
    gguf: &Path,
    name: &str,
    key: &str,
    cache: &Cache,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Folder> {
    let what = format!("the model {name}");
    cache.folder(KIND, key, &what, progress, cancel, |staging| {
        gguf::build(gguf, staging, name, Weights::EightBits, progress, cancel)
    })
}

fn load(config: &Config, folder: &Path, library: &Path, progress: &Progress) -> Result<OnnxModel> {
    let runtime = Runtime::load(library)?;
    let model = OnnxModel::open(folder, &runtime, config.n_ctx, config.n_threads)?;
    if model.n_ctx() < config.n_ctx {
        let text = format!("{} can use a context of {} tokens at most", model.name(), model.n_ctx());
        progress.step(crate::Step::Note { text: &text });
    }
    Ok(model)
}

/// Names everything that a built model depends on.
fn key(content: &str, name: &str, weights: Weights) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [content, name, weights.key(), &CONVERTER_VERSION.to_string()] {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

fn content_hash(path: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    File::open(path)
        .and_then(|file| hasher.update_reader(file).map(|_| ()))
        .map_err(|error| Error::usage(error).context(format!("cannot read the model `{}`", path.display())))?;
    Ok(hasher.finalize().to_hex().to_string())
}
