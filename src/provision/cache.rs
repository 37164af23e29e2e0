//! Folders that are built once per machine: one builder at a time, sealed, and moved into place whole.
//!
//! `<cache>/<kind>/<key>` is a finished folder; `staging/` holds what is being built, in folders named after it, and
//! `locks/` one empty file for each. A folder comes into being by one rename of a sealed staging folder, so a process
//! that dies at any moment leaves either the whole folder or a staging folder that nothing reads and the next builder
//! removes. Lock files are never removed: whoever waits on one could otherwise hold the lock of a file without a name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use super::{platform, seal};
use crate::error::OrInternal;
use crate::{Cancel, Error, Progress, Result, Step};

mod room;

const LOCKS: &str = "locks";
const STAGING: &str = "staging";
/// How long a waiting process takes to notice that the lock is free; a cancel it notices at once.
const LOCK_POLL: Duration = Duration::from_millis(100);
/// Tells backup programs that everything here can be had again.
const CACHEDIR_TAG: &str =
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made by slm-code-interpreter; safe to delete.\n";

/// The cache folder, in which only we write. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    root: PathBuf,
    /// Nothing is made or noted, not even when a look finds that it could be.
    look_only: bool,
}

/// A folder in the cache that was intact when it was looked at. Nothing in it may be changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Folder {
    path: PathBuf,
    bytes: u64,
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What its files hold together.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

enum Look {
    Intact(Folder),
    Absent,
    Broken(String),
}

impl Cache {
    /// Makes the folder if need be, for this user alone. One that was there, and not empty, is used as it is: it may be
    /// anything, a home folder too, so its mode stays and nothing but folders of ours comes into it.
    ///
    /// # Errors
    /// Unavailable, when it cannot be made, belongs to someone else, or can be written by others.
    pub(crate) fn open(path: &Path) -> Result<Cache> {
        let unusable = |why: String| unusable(path, &why);
        // A link is fine as long as what it leads to is ours; from here on the place itself is meant.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let new = own_folder(&place).map_err(unusable)?;
        let root = place.canonicalize().map_err(|error| unusable(error.to_string()))?;
        let tag = root.join("CACHEDIR.TAG");
        if new && let Err(error) = fs::write(&tag, CACHEDIR_TAG) {
            log::debug!("{}: {error}", tag.display());
        }
        for folder in [LOCKS, STAGING] {
            own_folder(&root.join(folder)).map_err(unusable)?;
        }
        Ok(Cache { root, look_only: false })
    }

    /// The same without making or changing anything, for [`find`](Self::find). In a folder that is not there nothing
    /// is found.
    ///
    /// # Errors
    /// Unavailable, when [`open`](Self::open) would refuse what is there.
    pub(crate) fn inspect(path: &Path) -> Result<Cache> {
        let root = match path.canonicalize() {
            Ok(root) if is_empty(&root) => root,
            Ok(root) => {
                judge(&root).map_err(|why| unusable(path, &why))?;
                root
            }
            Err(error) if error.kind() == ErrorKind::NotFound => path.to_path_buf(),
            Err(error) => return Err(unusable(path, &error.to_string())),
        };
        Ok(Cache { root, look_only: true })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    /// The folder if it is there and intact; builds nothing.
    pub(crate) fn find(&self, kind: &str, key: &str) -> Option<Folder> {
        match self.look(kind, key) {
            Look::Intact(folder) => Some(folder),
            Look::Absent => None,
            Look::Broken(why) => {
                log::warn!("{kind}/{key} in the cache is not used: {why}");
                None
            }
        }
    }

    /// The folder `kind`/`key`, which `build` fills if it is not there and intact. `key` must name everything that
    /// the content depends on; `what` names it for people. `build` gets an empty folder, and is not called when
    /// another process built it first.
    ///
    /// # Errors
    /// What `build` returns; cancelled; a disk that is full or does not lock.
    pub(crate) fn folder(
        &self,
        kind: &str,
        key: &str,
        what: &str,
        progress: &Progress,
        cancel: &Cancel,
        build: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Folder> {
        check_name(kind)?;
        check_name(key)?;
        if let Look::Intact(folder) = self.look(kind, key) {
            return Ok(folder);
        }
        let _lock = self.lock(kind, key, what, progress, cancel)?;
        match self.look(kind, key) {
            Look::Intact(folder) => return Ok(folder),
            Look::Absent => {}
            Look::Broken(why) => {
                progress.step(Step::Note { text: &format!("{what} in the cache is not used and made again: {why}") });
                self.remove(kind, key)?;
            }
        }
        self.sweep(&staging_prefix(kind, key));
        self.sweep_abandoned();
        let staging = self.staging(&staging_prefix(kind, key))?;
        cancel.check()?;
        let done = build(staging.path()).and_then(|()| self.finish(&staging, kind, key, cancel));
        // Before the staging folder goes, and with it what filled the disk.
        let folder = done.map_err(|error| self.told_if_full(error, what))?;
        let _ = staging.keep();
        Ok(folder)
    }

    /// Removes the folder if it is there and nobody is building it.
    pub(crate) fn discard(&self, kind: &str, key: &str) -> Result<()> {
        if self.look_only || self.place(kind, key).symlink_metadata().is_err() {
            return Ok(());
        }
        match self.try_lock(kind, key)? {
            Some(_lock) => self.remove(kind, key),
            None => Ok(()),
        }
    }

    /// Removes every finished folder that `keep` does not claim and nobody is building, and what dead builders left. Says
    /// which, with their sizes. Only folders with a seal of ours are touched.
    pub(crate) fn prune(&self, keep: impl Fn(&str, &str) -> bool) -> Result<Vec<(PathBuf, u64)>> {
        let mut removed = Vec::new();
        for kind in names_in(&self.root).or_internal("reading the cache")? {
            if kind == STAGING || kind == LOCKS || check_name(&kind).is_err() || !self.root.join(&kind).is_dir() {
                continue;
            }
            for key in names_in(&self.root.join(&kind)).or_internal("reading the cache")? {
                let path = self.place(&kind, &key);
                if keep(&kind, &key) || check_name(&key).is_err() || !seal::is_sealed(&path) {
                    continue;
                }
                if let Some(_lock) = self.try_lock(&kind, &key)? {
                    let bytes = size_of(&path);
                    self.remove(&kind, &key)?;
                    removed.push((path, bytes));
                }
            }
        }
        self.sweep_abandoned();
        Ok(removed)
    }

    fn place(&self, kind: &str, key: &str) -> PathBuf {
        self.root.join(kind).join(key)
    }

    fn look(&self, kind: &str, key: &str) -> Look {
        if let Err(error) = check_name(kind).and_then(|()| check_name(key)) {
            return Look::Broken(error.to_string());
        }
        let place = self.place(kind, key);
        match place.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Look::Absent,
            Err(error) => return Look::Broken(error.to_string()),
            Ok(_) => {}
        }
        let above = self.root.join(kind).symlink_metadata().map_err(|error| error.to_string());
        if let Some(why) = above.map_or_else(Some, |metadata| platform::not_ours(&metadata)) {
            return Look::Broken(format!("its folder {why}"));
        }
        let scratch = self.root.join(STAGING);
        match seal::check(&place, &format!("{kind}/{key}"), (!self.look_only).then_some(&scratch)) {
            Ok(bytes) => Look::Intact(Folder { path: place, bytes }),
            Err(seal::Broken(why)) => Look::Broken(why),
        }
    }

    /// Seals what was built and moves it into place.
    fn finish(&self, staging: &TempDir, kind: &str, key: &str, cancel: &Cancel) -> Result<Folder> {
        let above = self.root.join(kind);
        let failed = || format!("moving {kind}/{key} into the cache");
        own_folder(&above).or_internal(failed())?;
        seal::close(staging.path(), &format!("{kind}/{key}"), cancel)?;
        // Nothing is moved that would not be found intact: a builder that left an open writer fails here, not later.
        let bytes = seal::check(staging.path(), &format!("{kind}/{key}"), None)
            .map_err(|seal::Broken(why)| why)
            .or_internal(failed())?;
        let place = self.place(kind, key);
        fs::rename(staging.path(), &place).or_internal(failed())?;
        platform::sync_folder(&above).or_internal(failed())?;
        Ok(Folder { path: place, bytes })
    }

    fn staging(&self, prefix: &str) -> Result<TempDir> {
        let staging = tempfile::Builder::new()
            .prefix(prefix)
            .tempdir_in(self.root.join(STAGING))
            .or_internal("making a folder in the cache")?;
        own_folder(staging.path()).or_internal("making a folder in the cache")?;
        Ok(staging)
    }

    /// Out of sight first, in one step, so that nobody meets it half removed; if that is cut short, the next builder
    /// sweeps the rest. The caller holds the folder's lock.
    fn remove(&self, kind: &str, key: &str) -> Result<()> {
        let failed = || format!("removing {kind}/{key} from the cache");
        let grave = self.staging(&staging_prefix(kind, key))?;
        fs::rename(self.place(kind, key), grave.path().join("it")).or_internal(failed())?;
        grave.close().or_internal(failed())
    }

    /// Removes what earlier builders of one folder left; the caller holds its lock, so none of them is alive. A pip that one
    /// of them started may be, and still write there: what it keeps is removed another time.
    fn sweep(&self, prefix: &str) {
        let staging = self.root.join(STAGING);
        for name in names_in(&staging).unwrap_or_default() {
            if name.starts_with(prefix)
                && let Err(error) = fs::remove_dir_all(staging.join(&name))
            {
                log::debug!("{name}: {error}");
            }
        }
    }

    /// The same for all folders whose lock is free. Failing is no harm: nothing ever reads them.
    fn sweep_abandoned(&self) {
        let staging = self.root.join(STAGING);
        for name in names_in(&staging).unwrap_or_default() {
            let path = staging.join(&name);
            let removed = match name.split('+').collect::<Vec<_>>()[..] {
                // A new seal lives for a moment; whoever loses it here notes the fingerprints another time.
                [_] if name.starts_with(seal::RENEWED) => fs::remove_file(path),
                [kind, key, _] if check_name(kind).is_ok() && check_name(key).is_ok() => {
                    let Ok(Some(_lock)) = self.try_lock(kind, key) else { continue };
                    fs::remove_dir_all(path)
                }
                _ => continue,
            };
            if let Err(error) = removed {
                log::debug!("{name}: {error}");
            }
        }
    }

    fn lock_file(&self, kind: &str, key: &str) -> Result<File> {
        let path = self.root.join(LOCKS).join(format!("{kind}+{key}"));
        OpenOptions::new().write(true).create(true).truncate(false).open(&path).or_internal(path.display())
    }

    fn try_lock(&self, kind: &str, key: &str) -> Result<Option<File>> {
        let file = self.lock_file(kind, key)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::unavailable(error)
                .context(format!(
                    "the cache folder {} is on a file system that does not lock files",
                    self.root.display()
                ))
                .advise("set SLM_CODE_INTERPRETER_CACHE_DIR to a folder on a local disk")),
        }
    }

    /// Held until the file is dropped, or the process is gone.
    fn lock(&self, kind: &str, key: &str, what: &str, progress: &Progress, cancel: &Cancel) -> Result<File> {
        let mut said = false;
        loop {
            cancel.check()?;
            if let Some(lock) = self.try_lock(kind, key)? {
                return Ok(lock);
            }
            if !said {
                progress.step(Step::Note { text: &format!("waiting for another process that is building {what}") });
                said = true;
            }
            cancel.sleep(LOCK_POLL);
        }
    }
}

/// `+` cannot be in a kind or a key, so a staging folder's name tells whose it is.
fn staging_prefix(kind: &str, key: &str) -> String {
    format!("{kind}+{key}+")
}

fn check_name(name: &str) -> Result<()> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !name.is_empty() && name.len() <= 128 && !name.starts_with('.') && name.bytes().all(allowed) {
        Ok(())
    } else {
        Err(Error::internal(format!("{name:?} cannot name a folder in the cache")))
    }
}

fn unusable(path: &Path, why: &str) -> Error {
    Error::unavailable(why)
        .context(format!("cache folder {}", path.display()))
        .advise("set SLM_CODE_INTERPRETER_CACHE_DIR to a folder of your own that nobody else can write")
}

/// Makes `path` for this user alone if it is not there, closes it to others if it is empty, and says whether it was one
/// of the two. What else is there is not changed; if others can write it, or it is someone else's, it is refused.
fn own_folder(path: &Path) -> Result<bool, String> {
    if let Some(above) = path.parent() {
        fs::create_dir_all(above).map_err(|error| error.to_string())?;
    }
    let new = match platform::create_private(path) {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::AlreadyExists && is_empty(path) => {
            let metadata = path.symlink_metadata().map_err(|error| error.to_string())?;
            // On a read-only file system, or as someone else's, it stays as it is, which is judged next.
            let _ = platform::make_private(path, &metadata);
            true
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
        Err(error) => return Err(error.to_string()),
    };
    judge(path).map(|()| new)
}

/// Refuses what is no folder, and one in which others could write.
fn judge(path: &Path) -> Result<(), String> {
    let metadata = path.symlink_metadata().map_err(|error| error.to_string())?;
    match platform::not_ours(&metadata) {
        _ if !metadata.is_dir() => Err(format!("{} is not a folder", path.display())),
        Some(why) => Err(format!("{} {why}", path.display())),
        None => Ok(()),
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn names_in(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        // A name that is not UTF-8 is none of ours.
        names.extend(entry?.file_name().into_string());
    }
    Ok(names)
}

fn size_of(path: &Path) -> u64 {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_dir() => {
            names_in(path).unwrap_or_default().iter().map(|name| size_of(&path.join(name))).sum()
        }
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    }
}

#[cfg(all(test, unix))]
mod tests;
