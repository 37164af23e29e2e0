//! Model files by their content: one entry for the same bytes, whichever way they came.

use std::fs::File;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Cache;
use super::wheel::{copy_chunks, new_file};
use crate::{Cancel, Error, Progress, Result, Step};

/// The kind of whole model files in the cache; the key is the beginning of the SHA-256.
pub(crate) const KIND: &str = "gguf";
/// The one file of such a folder.
const FILE: &str = "model.gguf";

/// What a file must hold.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    pub sha256: String,
    pub bytes: u64,
    /// For people, as in "the model x".
    pub what: String,
}

/// The beginning of a SHA-256, as keys have it.
pub(crate) fn key(sha256: &str) -> &str {
    &sha256[..32]
}

/// The file with that SHA-256, if it is in the cache and intact.
pub(crate) fn find(cache: &Cache, sha256: &str) -> Option<PathBuf> {
    cache.find(KIND, key(sha256)).map(|folder| folder.path().join(FILE))
}

impl Content {
    /// The file in the cache, copied from `source` if it is not there yet.
    ///
    /// # Errors
    /// Unavailable: `source` holds something else, or cannot be read; full; cancelled.
    pub(crate) fn keep(&self, source: &Path, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
        self.folder(cache, progress, cancel, |to| {
            cache.check_room(self.bytes, &self.what)?;
            progress.during(&format!("copying {}", self.what), Some(self.bytes), || {
                assemble(&[source.to_owned()], self, to, progress, cancel)
            })
        })
    }

    /// The file in the cache, which `write` writes if it is not there yet.
    pub(super) fn folder(
        &self,
        cache: &Cache,
        progress: &Progress,
        cancel: &Cancel,
        write: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<PathBuf> {
        let folder = cache
            .folder(KIND, key(&self.sha256), &self.what, progress, cancel, |staging| write(&staging.join(FILE)))?;
        Ok(folder.path().join(FILE))
    }
}

/// Writes `sources`, one after the other, into the new file `to`; what is written is hashed on the way.
///
/// # Errors
/// Unavailable: it is not the content.
pub(super) fn assemble(
    sources: &[PathBuf],
    content: &Content,
    to: &Path,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<()> {
    let mut file = new_file(to)?;
    let (mut hasher, mut done) = (Sha256::new(), 0);
    for source in sources {
        let from = File::open(source).map_err(|error| Error::unavailable(error).context(source.display()))?;
        // One byte more would be one too many, and is seen.
        let most = (content.bytes + 1).saturating_sub(done);
        copy_chunks(&mut std::io::Read::take(from, most), &mut file, cancel, |chunk| {
            hasher.update(chunk);
            done += chunk.len() as u64;
            progress.step(Step::Advance { done });
        })?;
    }
    let sha256 = format!("{:x}", hasher.finalize());
    if (done, &sha256) == (content.bytes, &content.sha256) {
        return Ok(());
    }
    let what = match done == content.bytes {
        true => format!("its SHA-256 is {sha256}, not {}", content.sha256),
        false => format!("it has not {} bytes", content.bytes),
    };
    Err(Error::unavailable(format!("what was read is another file: {what}")).context(&content.what))
}
