//! The model to use when none is named: the recommended one where it is at hand, else the small one that an ordinary
//! package carries. Nothing here asks anybody or fetches anything; who may ask does, and then names [`NAME`].

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::hub::{Hub, HubName};
use super::notes::Notes;
use super::open;
use crate::provision::Cache;
use crate::{Cancel, Config, Result};

/// The recommended model, as `--model` takes it.
pub(crate) const NAME: &str = "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF:qwen2.5-coder-1.5b-instruct-q8_0.gguf";
/// For people, with what it takes of network and disk.
pub(crate) const ABOUT: &str = "Qwen2.5-Coder-1.5B-Instruct (up to 1.9 GB)";
const NOTE: &str = "recommended";

/// What a person said when asked about it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    declined: bool,
}

/// Whether it can be used without any network: built, or fetched by this program or another one.
pub(crate) fn is_at_hand(config: &Config) -> bool {
    let cache = Cache::inspect(&config.cache_dir);
    cache.is_ok_and(|cache| at_hand(&cache, config).is_some())
}

/// What is at hand of it: the folder that is built, or the file.
pub(super) fn at_hand(cache: &Cache, config: &Config) -> Option<PathBuf> {
    let hub = Hub::new(cache.path(), config.offline).ok()?;
    let plan = hub.known(&name()?)?;
    let (file, _) = plan.gguf()?;
    open::built(cache, &plan).or_else(|| hub.file(&plan, file))
}

/// Whether somebody who is asked could get it: within seconds, so that who cannot is not kept waiting.
///
/// # Errors
/// Why not.
pub(crate) fn can_be_fetched(config: &Config, cancel: &Cancel) -> Result<()> {
    match name() {
        Some(name) => Hub::hasty(&config.cache_dir, config.offline)?.answers(&name, cancel),
        None => Ok(()),
    }
}

/// Whether the network may be used at all, for all that is known here.
pub(crate) fn is_offline(config: &Config) -> bool {
    Hub::new(&config.cache_dir, config.offline).is_ok_and(|hub| hub.is_offline())
}

/// Whether a person has said no to it before.
pub(crate) fn was_declined(config: &Config) -> bool {
    Notes::of(&config.cache_dir).read::<Said>(NOTE).is_some_and(|said| said.declined)
}

/// Remembers that a person said no, so as not to ask again.
///
/// # Errors
/// A cache folder that cannot be used.
pub(crate) fn decline(config: &Config) -> Result<()> {
    Notes::of(Cache::open(&config.cache_dir)?.path()).write(NOTE, &Said { declined: true });
    Ok(())
}

pub(super) fn name() -> Option<HubName> {
    HubName::parse(NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Overrides;

    #[test]
    fn it_is_one_file_of_one_repository() {
        let name = name().unwrap();
        assert_eq!(name.to_string(), NAME);
        assert!(name.file.unwrap().ends_with("q8_0.gguf"));
    }

    #[test]
    fn a_no_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let config =
            Config::resolve(Overrides { cache_dir: Some(folder.path().join("c")), ..Overrides::default() }).unwrap();
        assert!(!was_declined(&config));
        decline(&config).unwrap();
        assert!(was_declined(&config));
    }
}
