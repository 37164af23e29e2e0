//! The folders on disk that sessions write to: removed however deep they are, used again when they were left empty.
//!
//! A journalling file system takes as long to make and remove three folders as a fresh interpreter takes for all the
//! rest, and most sessions write no file. What is used again is as good as new: empty, and with the times of now.

#[cfg_attr(unix, path = "folder/unix.rs")]
#[cfg_attr(not(unix), path = "folder/other.rs")]
mod platform;

use std::fs::{self, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::Result;
use crate::error::OrInternal;

/// Idle folders kept; more than this at once are removed.
const KEPT: usize = 16;

const WORK: &str = "work";
const TMP: &str = "tmp";

/// The idle folders of one image. They go with it.
#[derive(Default)]
pub(super) struct Folders {
    idle: Mutex<Vec<PathBuf>>,
}

impl Folders {
    pub(super) fn take(self: &Arc<Self>) -> Result<Folder> {
        let idle = self.lock().pop().filter(|root| renew(root).is_ok());
        Ok(Folder { root: idle.map_or_else(make, Ok)?, stock: self.clone() })
    }

    /// Whether there was room for one more.
    fn keep(&self, root: &Path) -> bool {
        let mut idle = self.lock();
        let room = idle.len() < KEPT;
        if room {
            idle.push(root.to_owned());
        }
        room
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<PathBuf>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        self.lock().drain(..).for_each(|root| remove(&root));
    }
}

fn make() -> Result<PathBuf> {
    let doing = "making a scratch folder";
    let mut builder = tempfile::Builder::new();
    builder.prefix("slm-code-interpreter-");
    platform::owner_only(&mut builder);
    let root = builder.tempdir().or_internal(doing)?;
    for name in [WORK, TMP] {
        fs::create_dir(root.path().join(name)).or_internal(doing)?;
    }
    Ok(root.keep())
}

/// The times are the one thing that an earlier session left.
fn renew(root: &Path) -> io::Result<()> {
    let now = SystemTime::now();
    for name in [WORK, TMP] {
        fs::File::open(root.join(name))?.set_times(FileTimes::new().set_accessed(now).set_modified(now))?;
    }
    Ok(())
}

/// An empty `/work` and `/tmp`, a session's own. What is in them goes with it.
pub(super) struct Folder {
    root: PathBuf,
    stock: Arc<Folders>,
}

impl Folder {
    pub(super) fn work(&self) -> PathBuf {
        self.root.join(WORK)
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.root.join(TMP)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let empty = |folder: PathBuf| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if !(empty(self.work()) && empty(self.tmp()) && self.stock.keep(&self.root)) {
            remove(&self.root);
        }
    }
}

fn remove(root: &Path) {
    if let Err(error) = remove_tree(root) {
        log::warn!("the scratch folder {} could not be removed: {error}", root.display());
    }
}

/// Removes a tree however deep and however named: what lies in a folder of `root` is moved up into `root` before the
/// folder goes, so paths stay short, and neither stack nor descriptors grow with the depth.
fn remove_tree(root: &Path) -> io::Result<()> {
    let mut moved = 0_u64;
    loop {
        let mut empty = true;
        for entry in fs::read_dir(root)? {
            let entry = entry?;
            empty = false;
            if !entry.file_type()?.is_dir() {
                fs::remove_file(entry.path())?;
                continue;
            }
            for inner in fs::read_dir(entry.path())? {
                let inner = inner?;
                if inner.file_type()?.is_dir() {
                    moved += 1;
                    fs::rename(inner.path(), root.join(format!("removing-{}-{moved}", std::process::id())))?;
                } else {
                    fs::remove_file(inner.path())?;
                }
            }
            fs::remove_dir(entry.path())?;
        }
        if empty {
            return fs::remove_dir(root);
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
        fs::write(again.tmp().join("file"), "x").unwrap();
        drop(again);
        assert!(!path.exists());
    }

    #[test]
    fn what_is_used_again_is_as_old_as_the_session() {
        let stock = Arc::new(Folders::default());
        let first = stock.take().unwrap();
        let long_ago = SystemTime::UNIX_EPOCH;
        fs::File::open(first.work()).unwrap().set_times(FileTimes::new().set_modified(long_ago)).unwrap();
        let path = first.work();
        drop(first);
        let again = stock.take().unwrap();
        assert_eq!(again.work(), path);
        assert_ne!(path.metadata().unwrap().modified().unwrap(), long_ago);
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

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_look_into_the_folder() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Arc::new(Folders::default()).take().unwrap();
        assert_eq!(folder.root.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_folder_goes_with_the_session_however_deep_it_is() {
        let folder = Arc::new(Folders::default()).take().unwrap();
        let root = folder.root.clone();
        // Deeper than any path may be long: built from the inside out, by renaming.
        let (inner, outer) = (folder.tmp().join("inner"), folder.tmp().join("outer"));
        fs::create_dir(&inner).unwrap();
        for _ in 0..100 {
            fs::create_dir(&outer).unwrap();
            fs::rename(&inner, outer.join("d".repeat(200))).unwrap();
            fs::rename(&outer, &inner).unwrap();
        }
        fs::create_dir(folder.work().join("a")).unwrap();
        fs::write(folder.work().join("a/c.txt"), "x").unwrap();
        drop(folder);
        assert!(!root.exists());
    }
}
