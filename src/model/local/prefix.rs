//! What the network makes of the beginning that all prompts share, kept in the cache folder: the next process reads it in
//! milliseconds instead of evaluating the same instructions and examples again.

use std::fs;

use crate::provision::Cache;
use crate::{Cancel, Progress, Result};

const KIND: &str = "prefix";
const FILE: &str = "states";
/// Raise it when [`Network::save`](super::Network::save) writes states down in another way.
const VERSION: u32 = 1;

/// The kept beginnings of one model.
pub(crate) struct Prefixes {
    cache: Cache,
    model: String,
}

impl Prefixes {
    /// `model` names the model's content and what computes it.
    pub(crate) fn new(cache: Cache, model: String) -> Self {
        Self { cache, model }
    }

    /// The states after `ids`, if they were kept.
    pub(super) fn load(&self, ids: &[u32]) -> Option<Vec<u8>> {
        let folder = self.cache.find(KIND, &self.key(ids))?;
        fs::read(folder.path().join(FILE)).ok()
    }

    /// Keeps the states after `ids`.
    ///
    /// # Errors
    /// What writing into the cache can meet.
    pub(super) fn keep(&self, ids: &[u32], states: &[u8], cancel: &Cancel) -> Result<()> {
        let what = "what the model makes of its instructions";
        let write = |folder: &std::path::Path| fs::write(folder.join(FILE), states).map_err(crate::Error::internal);
        self.cache.folder(KIND, &self.key(ids), what, &Progress::default(), cancel, write)?;
        Ok(())
    }

    fn key(&self, ids: &[u32]) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&VERSION.to_le_bytes());
        hasher.update(self.model.as_bytes());
        for id in ids {
            hasher.update(&id.to_le_bytes());
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_found_by_its_model_and_tokens_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path()).unwrap();
        let prefixes = |model: &str| Prefixes::new(cache.clone(), model.to_owned());
        assert_eq!(prefixes("a").load(&[1, 2]), None);
        prefixes("a").keep(&[1, 2], b"states", &Cancel::new()).unwrap();
        assert_eq!(prefixes("a").load(&[1, 2]), Some(b"states".to_vec()));
        for (model, ids) in [("b", &[1, 2][..]), ("a", &[1]), ("a", &[2, 1]), ("a", &[1, 2, 3])] {
            assert_eq!(prefixes(model).load(ids), None, "{model} {ids:?}");
        }
    }
}
