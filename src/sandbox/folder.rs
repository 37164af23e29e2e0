//! The folders on disk that sessions write to: removed however deep they are, used again when they were left empty.
//!
//! A journalling file system takes as long to make and remove three folders as a fresh interpreter takes for all the
//! rest, and most sessions write no file. What is used again is as good as new: empty, and with the times of now.
//!
//! All of an image's folders lie in one root in the temporary folder, which goes with the image. While its process
//! lives, a file in it is locked; a root whose file can be locked was left by a process that was killed, and goes when
//! the next one makes its own.

#[cfg_attr(unix, path = "folder/unix.rs")]
#[cfg_attr(not(unix), path = "folder/other.rs")]
mod platform;

use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::Result;
use crate::error::OrInternal;

/// Idle folders kept; more than this at once are removed.
const KEPT: usize = 16;

const PREFIX: &str = "slm-code-interpreter-";
const LOCK: &str = "lock";
const WORK: &str = "work";
const TMP: &str = "tmp";

/// The folders of one image.
#[derive(Default)]
pub(super) struct Folders(Mutex<State>);

#[derive(Default)]
struct State {
    root: Option<Root>,
    made: u64,
    idle: Vec<PathBuf>,
}

/// Where they all lie.
struct Root {
    path: PathBuf,
    /// Locked for as long as it is held.
    _lock: File,
}

impl Folders {
    pub(super) fn take(self: &Arc<Self>) -> Result<Folder> {
        let mut state = self.lock();
        let idle = state.idle.pop().filter(|path| renew(path).is_ok());
        let path = idle.map_or_else(|| state.make(), Ok).or_internal("making a scratch folder")?;
        Ok(Folder { path, stock: self.clone() })
    }

    /// Whether there was room for one more.
    fn keep(&self, path: &Path) -> bool {
        let mut state = self.lock();
        let room = state.idle.len() < KEPT;
        if room {
            state.idle.push(path.to_owned());
        }
        room
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn make(&mut self) -> io::Result<PathBuf> {
        let root = match self.root.take() {
            Some(root) => root,
            None => {
                sweep(&std::env::temp_dir());
                Root::make(&std::env::temp_dir())?
            }
        };
        self.made += 1;
        let path = root.path.join(self.made.to_string());
        self.root = Some(root);
        fs::create_dir(&path)?;
        for name in [WORK, TMP] {
            fs::create_dir(path.join(name))?;
        }
        Ok(path)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(Root { path, _lock }) = self.root.take() {
            // Some systems remove no file that is open.
            drop(_lock);
            remove(&path);
        }
    }
}

impl Root {
    fn make(place: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        platform::owner_only(&mut builder);
        let folder = builder.tempdir_in(place)?;
        // Locked before it has its name, so that whoever finds the name finds it locked.
        let unnamed = folder.path().join("unnamed");
        let lock = File::create_new(&unnamed)?;
        lock.lock()?;
        fs::rename(&unnamed, folder.path().join(LOCK))?;
        Ok(Self { path: folder.keep(), _lock: lock })
    }
}

/// Removes the roots in `place` that dead processes of this user left. What cannot be looked at stays.
fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if name.to_str().is_some_and(|name| name.starts_with(PREFIX)) && platform::is_ours_alone(&path) {
            let abandoned = File::open(path.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok());
            if abandoned {
                remove(&path);
            }
        }
    }
}

/// The times are the one thing that an earlier session left.
fn renew(folder: &Path) -> io::Result<()> {
    let now = SystemTime::now();
    for name in [WORK, TMP] {
        File::open(folder.join(name))?.set_times(FileTimes::new().set_accessed(now).set_modified(now))?;
    }
    Ok(())
}

/// An empty `/work` and `/tmp`, a session's own. What is in them goes with it.
pub(super) struct Folder {
    path: PathBuf,
    stock: Arc<Folders>,
}

impl Folder {
    pub(super) fn work(&self) -> PathBuf {
        self.path.join(WORK)
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.path.join(TMP)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let empty = |folder: PathBuf| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if !(empty(self.work()) && empty(self.tmp()) && self.stock.keep(&self.path)) {
            remove(&self.path);
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
        File::open(first.work()).unwrap().set_times(FileTimes::new().set_modified(long_ago)).unwrap();
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

    #[test]
    fn what_a_dead_process_left_is_swept_and_a_living_ones_is_not() {
        let place = tempfile::tempdir().unwrap();
        let living = Root::make(place.path()).unwrap();
        let dead = Root::make(place.path()).unwrap();
        fs::create_dir_all(dead.path.join("1/work/deep")).unwrap();
        let Root { path: dead, _lock } = dead;
        drop(_lock);
        let foreign = place.path().join(format!("{PREFIX}without-a-lock"));
        fs::create_dir(&foreign).unwrap();
        sweep(place.path());
        assert_eq!((living.path.exists(), dead.exists(), foreign.exists()), (true, false, true));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_look_into_the_folder() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Arc::new(Folders::default()).take().unwrap();
        assert_eq!(folder.path.parent().unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn the_folder_goes_with_the_session_however_deep_it_is() {
        let folder = Arc::new(Folders::default()).take().unwrap();
        let root = folder.path.clone();
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
