//! What is on this machine and what is not, for `setup --check`; looks, and fetches and builds nothing.

use std::path::PathBuf;

use super::artefact::{Artefact, ONNXRUNTIME};
use super::{Cache, Folder, fetch};
use crate::Config;

/// One thing that must be there before everything runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub what: String,
    /// What it is for, as a clause.
    pub why: String,
    /// There, and intact.
    pub present: bool,
    /// On the disk when present; to be downloaded when not and known.
    pub bytes: Option<u64>,
    pub path: Option<PathBuf>,
    /// Everything works without it.
    pub optional: bool,
}

impl Item {
    /// A folder that is built here.
    pub(crate) fn built(cache: &Cache, kind: &str, key: &str, what: &str, why: &str) -> Item {
        Item::of(what.to_string(), why, cache.find(kind, key), None)
    }

    /// A fetched artefact; ONNX Runtime also counts as present where the user named it.
    pub(crate) fn fetched(cache: &Cache, config: &Config, artefact: &'static Artefact) -> Item {
        let what = format!("{} ({} {})", artefact.what, artefact.name, artefact.version);
        if artefact.name == ONNXRUNTIME.name
            && let Ok(Some(library)) = fetch::onnxruntime_at_hand(config)
        {
            let bytes = library.metadata().ok().map(|metadata| metadata.len());
            return Item { what, why: artefact.why.into(), present: true, bytes, path: Some(library), optional: false };
        }
        let folder = artefact.place().and_then(|(kind, key)| cache.find(kind, &key));
        Item::of(what, artefact.why, folder, artefact.wheel().map(|wheel| wheel.bytes))
    }

    /// A file or folder that is kept elsewhere.
    pub(crate) fn found(what: &str, why: &str, path: Option<PathBuf>) -> Item {
        let bytes = path.as_ref().and_then(|path| path.metadata().ok()).filter(|facts| facts.is_file());
        Item {
            what: what.into(),
            why: why.into(),
            present: path.is_some(),
            bytes: bytes.map(|facts| facts.len()),
            path,
            optional: false,
        }
    }

    fn of(what: String, why: &str, folder: Option<Folder>, download: Option<u64>) -> Item {
        Item {
            what,
            why: why.to_string(),
            present: folder.is_some(),
            bytes: folder.as_ref().map(Folder::bytes).or(download),
            path: folder.map(|folder| folder.path().to_path_buf()),
            optional: false,
        }
    }
}
