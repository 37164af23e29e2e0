//! Which model serves when none is named: the best of those in the cache, else one that other files here can be made to,
//! else the one that suits the machine. Nothing here asks anybody or fetches anything.

use std::time::{SystemTime, UNIX_EPOCH};

use super::hub::Hub;
use super::known::{Known, Origin};
use super::notes::Notes;
use super::open::is_built;
use crate::capacity::machine_memory;
use crate::provision::split::Fetch;
use crate::provision::{Cache, megabytes};
use crate::{Config, Result};

/// From this on the larger model answers in good time.
const CORES: usize = 4;
const MEMORY: u64 = 8 << 30;
const NOTE: &str = "small";

/// What a model has to get along with.
#[derive(Clone, Copy, Debug)]
struct Machine {
    cores: usize,
    /// Free, where that is known.
    memory: Option<u64>,
    /// Free where the cache is, where that is known.
    disk: Option<u64>,
}

/// A model to be fetched, and why this one.
#[derive(Clone, Debug)]
pub(crate) struct Suggestion {
    pub known: &'static Known,
    pub why: String,
}

impl Suggestion {
    /// For people, in one line.
    pub fn line(&self) -> String {
        let Self { known, why } = self;
        format!("fetching the model {} ({}): {why}; --model names another", known.name, megabytes(known.download()))
    }
}

/// What has to be fetched before anything can be asked of a model, when none is named. `better`: SmolLM2 does not count as
/// one that is here.
pub(crate) fn to_fetch(config: &Config, better: bool) -> Result<Option<Suggestion>> {
    if config.model.is_some() || config.base_url.is_some() || config.offline {
        return Ok(None);
    }
    let cache = Cache::inspect(&config.cache_dir)?;
    match here(&cache, config) {
        Some(known) if !better || known != Known::SMALL => Ok(None),
        found => Ok(Some(suggest(&cache)).filter(|suggestion| found != Some(suggestion.known))),
    }
}

/// The best model that needs no network.
pub(super) fn here(cache: &Cache, config: &Config) -> Option<&'static Known> {
    let kept = |known: &&Known| is_built(cache, known) || known.is_kept(cache);
    let find = |holds: &dyn Fn(&&'static Known) -> bool| Known::ALL.into_iter().find(holds);
    find(&kept).or_else(|| find(&|known| is_at_hand(known, config) || is_in_hub(known, cache, config)))
}

/// Whether the wheels that the user named hold it.
fn is_at_hand(known: &Known, config: &Config) -> bool {
    match known.origin {
        Origin::Artefact(artefact) => artefact.is_at_hand(config),
        Origin::Split { file, .. } => Fetch::has_wheels(file, &config.model_wheel),
    }
}

fn is_in_hub(known: &Known, cache: &Cache, config: &Config) -> bool {
    let (Origin::Split { file, .. }, Some(name)) = (&known.origin, known.hub()) else { return false };
    Hub::new(cache.path(), config.offline).is_ok_and(|hub| hub.held(&name, file.sha256, file.bytes).is_some())
}

/// What suits this machine.
pub(super) fn suggest(cache: &Cache) -> Suggestion {
    let machine = Machine {
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        memory: machine_memory("MemAvailable"),
        disk: cache.room(),
    };
    machine.suggest(|known| known.room(cache))
}

impl Machine {
    fn suggest(self, room: impl Fn(&Known) -> u64) -> Suggestion {
        let Self { cores, memory, disk } = self;
        let fits = |known: &Known| {
            memory.is_none_or(|free| free >= known.memory()) && disk.is_none_or(|free| free >= room(known))
        };
        let is_large = cores >= CORES && memory.is_none_or(|free| free >= MEMORY);
        let has = |memory: Option<u64>| memory.map(|free| format!(" and {} of free memory", megabytes(free)));
        let machine = || {
            let plural = if cores == 1 { "" } else { "s" };
            format!("this machine has {cores} core{plural}{}", has(memory).unwrap_or_default())
        };
        let (known, why) = if is_large && fits(Known::LARGE) {
            (Known::LARGE, machine())
        } else if fits(Known::MIDDLE) {
            (Known::MIDDLE, machine())
        } else {
            let known = Known::MIDDLE;
            let lacking = |what: &str, needed: u64, free: Option<u64>| {
                let free = free.filter(|free| *free < needed)?;
                Some(format!("{} of free {what}, and there are {}", megabytes(needed), megabytes(free)))
            };
            let all = [lacking("memory", known.memory(), memory), lacking("disk", room(known), disk)];
            let all: Vec<String> = all.into_iter().flatten().collect();
            (Known::SMALL, format!("{} needs {}", known.name, all.join("; it needs ")))
        };
        Suggestion { known, why }
    }
}

/// Whether it is time to say again that the small model is in use: once a day.
pub(super) fn is_time_to_tell(cache: &Cache) -> bool {
    let today = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs() / (24 * 60 * 60));
    let notes = Notes::of(cache.path());
    let told = notes.read::<u64>(NOTE) == Some(today);
    notes.write(NOTE, &today);
    !told
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn suited(cores: usize, memory: Option<u64>, disk: Option<u64>) -> (&'static str, String) {
        let room = |known: &Known| known.download() * 2;
        let Suggestion { known, why } = Machine { cores, memory, disk }.suggest(room);
        (known.name, why)
    }

    #[test]
    fn the_machine_decides_which_model_suits() {
        for (cores, memory, disk, name) in [
            (4, Some(8 * GIB), Some(100 * GIB), "qwen2.5-coder-1.5b"),
            (64, None, None, "qwen2.5-coder-1.5b"),
            (3, Some(64 * GIB), Some(100 * GIB), "qwen2.5-coder-0.5b"),
            (4, Some(8 * GIB - 1), Some(100 * GIB), "qwen2.5-coder-0.5b"),
            (4, Some(8 * GIB), Some(2 * GIB), "qwen2.5-coder-0.5b"),
            (1, Some(GIB), Some(GIB), "qwen2.5-coder-0.5b"),
            (4, Some(8 * GIB), Some(GIB / 2), "smollm2-135m"),
            (4, Some(GIB / 2), Some(100 * GIB), "smollm2-135m"),
        ] {
            let (suited, why) = suited(cores, memory, disk);
            assert_eq!(suited, name, "{cores} {memory:?} {disk:?}: {why}");
        }
    }

    #[test]
    fn the_reason_is_said_with_its_numbers() {
        let (_, why) = suited(1, Some(4 * GIB), None);
        assert_eq!(why, "this machine has 1 core and 4.3 GB of free memory");
        assert_eq!(suited(2, None, None).1, "this machine has 2 cores");
        let (_, why) = suited(2, Some(5_000_000), Some(6_000_000));
        let memory = "qwen2.5-coder-0.5b needs 737 MB of free memory, and there are 5 MB";
        assert_eq!(why, format!("{memory}; it needs 955 MB of free disk, and there are 6 MB"));
        assert_eq!(suited(2, Some(5_000_000), None).1, memory);
        let (_, why) = suited(64, Some(64 * GIB), Some(6_000_000));
        assert_eq!(why, "qwen2.5-coder-0.5b needs 955 MB of free disk, and there are 6 MB");
        let line = Suggestion { known: Known::MIDDLE, why: "so".into() }.line();
        assert_eq!(line, "fetching the model qwen2.5-coder-0.5b (478 MB): so; --model names another");
    }

    #[test]
    fn the_small_model_is_told_once_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(&folder.path().join("cache")).unwrap();
        assert!(is_time_to_tell(&cache) && !is_time_to_tell(&cache));
        Notes::of(cache.path()).write(NOTE, &0_u64);
        assert!(is_time_to_tell(&cache), "another day");
    }

    #[test]
    fn nothing_is_suggested_to_who_names_a_model_or_has_no_network() {
        let folder = tempfile::tempdir().unwrap();
        let cache_dir = Some(folder.path().join("cache"));
        let mut config = Config::resolve(crate::Overrides { cache_dir, ..Default::default() }).unwrap();
        (config.model, config.base_url, config.offline, config.model_wheel) = (None, None, false, Vec::new());
        let is_suggested = |config: &Config| to_fetch(config, true).unwrap().is_some();
        // The hub's cache is this machine's, and may hold a model.
        let is_here = here(&Cache::open(&config.cache_dir).unwrap(), &config).is_some();
        assert_eq!(is_suggested(&config), !is_here);
        assert!(!is_suggested(&Config { model: Some("x".into()), ..config.clone() }));
        assert!(!is_suggested(&Config { base_url: Some("http://x".into()), ..config.clone() }));
        assert!(!is_suggested(&Config { offline: true, ..config }));
    }
}
