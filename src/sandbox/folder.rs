//! The folders on disk that sessions write to, used again while they are empty.
//!
//! A journalling file system takes milliseconds to make and remove three folders, several times what a session itself
//! needs. Most sessions write no file; what such a one leaves behind differs from new folders in its times only.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;

use crate::Result;
use crate::error::OrInternal;

/// Idle folders kept; more than this at once are removed.
const KEPT: usize = 16;

const WORK: &str = "work";
const TMP: &str = "tmp";

/// The idle folders of one image.
#[derive(Default)]
pub(super) struct Folders {
    idle: Mutex<Vec<TempDir>>,
}

impl Folders {
    pub(super) fn take(self: &Arc<Self>) -> Result<Folder> {
        let idle = self.lock().pop();
        Ok(Folder { root: Some(idle.map_or_else(make, Ok)?), stock: self.clone() })
    }

    fn keep(&self, root: TempDir) {
        let mut idle = self.lock();
        if idle.len() < KEPT {
            idle.push(root);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<TempDir>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn make() -> Result<TempDir> {
    let doing = "making a scratch folder";
    let root = tempfile::Builder::new().prefix("slm-code-interpreter-").tempdir().or_internal(doing)?;
    for name in [WORK, TMP] {
        std::fs::create_dir(root.path().join(name)).or_internal(doing)?;
    }
    Ok(root)
}

/// An empty `/work` and `/tmp`, a session's own. What is in them goes with it.
pub(super) struct Folder {
    /// None only while it is dropped.
    root: Option<TempDir>,
    stock: Arc<Folders>,
}

impl Folder {
    pub(super) fn work(&self) -> PathBuf {
        self.path().join(WORK)
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.path().join(TMP)
    }

    fn path(&self) -> &Path {
        self.root.as_ref().map_or(Path::new(""), TempDir::path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let empty = |folder: PathBuf| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if empty(self.work())
            && empty(self.tmp())
            && let Some(root) = self.root.take()
        {
            self.stock.keep(root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_left_empty_is_used_again() {
        let stock = Arc::new(Folders::default());
        let first = stock.take().unwrap();
        let path = first.work();
        assert!(path.is_dir() && first.tmp().is_dir());
        drop(first);
        let again = stock.take().unwrap();
        assert_eq!(again.work(), path);
        assert_ne!(stock.take().unwrap().work(), path);
        std::fs::write(again.tmp().join("file"), "x").unwrap();
        drop(again);
        assert!(!path.exists());
    }

    #[test]
    fn the_stock_is_bounded_and_leaves_nothing_behind() {
        let stock = Arc::new(Folders::default());
        let taken: Vec<_> = (0..KEPT + 2).map(|_| stock.take().unwrap()).collect();
        let paths: Vec<_> = taken.iter().map(Folder::work).collect();
        drop(taken);
        assert_eq!(paths.iter().filter(|path| path.exists()).count(), KEPT);
        drop(stock);
        assert_eq!(paths.iter().filter(|path| path.exists()).count(), 0);
    }
}
