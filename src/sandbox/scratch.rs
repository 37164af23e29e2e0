//! The one host folder a session may write: `/work` and `/tmp`, removed afterwards.
//!
//! The host looks at guest files only through cap-std handles relative to it, never follows a link and opens only
//! regular files with one link, so a planted link leads nowhere.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use super::folder::{Folder, Folders};
use super::outcome::{Change, FileChange};
use crate::error::OrInternal;
use crate::{Error, Result};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, MetadataExt, OpenOptions};
use sha2::{Digest, Sha256};

/// Files that are looked at; what is beyond is not reported.
const MAX_LISTED: usize = 10_000;

/// Folders inside folders that are looked into, so that no tree exhausts the host's stack.
const MAX_DEPTH: usize = 64;

pub(super) struct Scratch {
    folder: Folder,
    work: Dir,
    seen: Listing,
    /// What the session was given; everything else in `/work` is a cell's doing.
    given: Listing,
}

type Listing = BTreeMap<String, Stamp>;

/// Enough to notice that a file is another one than before.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    changed: (i64, i64),
    inode: u64,
}

impl Scratch {
    pub(super) fn new(folders: &Arc<Folders>) -> Result<Self> {
        let folder = folders.take()?;
        let work = Dir::open_ambient_dir(folder.work(), ambient_authority()).or_internal("opening a scratch folder")?;
        Ok(Self { folder, work, seen: Listing::new(), given: Listing::new() })
    }

    pub(super) fn work(&self) -> PathBuf {
        self.folder.work()
    }

    pub(super) fn tmp(&self) -> PathBuf {
        self.folder.tmp()
    }

    /// Copies a host file into `/work` under its own name.
    pub(super) fn put(&mut self, host: &Path) -> Result<()> {
        let refused = |why: String| Error::usage(why).context(format_args!("{}", host.display()));
        let name = host.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| refused("has no file name that Python could use".into()))?;
        let mut from = std::fs::File::open(host).map_err(|error| refused(error.to_string()))?;
        if !from.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(refused("is not a regular file".into()).advise("give the files one by one with --file"));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut to = self.work.open_with(name, &options).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => refused(format!("/work already has a file named {name}")),
            _ => Error::internal(error).context("copying a file into /work"),
        })?;
        io::copy(&mut from, &mut to).or_internal("copying a file into /work")?;
        drop(to);
        self.seen = self.list();
        self.given = self.seen.clone();
        Ok(())
    }

    /// What changed under `/work` since the last call.
    pub(super) fn changes(&mut self) -> Vec<FileChange> {
        let now = self.list();
        let mut changes: Vec<FileChange> = now
            .iter()
            .filter_map(|(path, stamp)| match self.seen.get(path) {
                None => Some((path, stamp, Change::Created)),
                Some(before) if before != stamp => Some((path, stamp, Change::Modified)),
                Some(_) => None,
            })
            .map(|(path, stamp, change)| FileChange {
                path: path.clone(),
                change,
                bytes: stamp.bytes,
                sha256: self.open_regular(path).ok().and_then(|file| sha256(file).ok()),
            })
            .collect();
        let gone = self.seen.keys().filter(|path| !now.contains_key(*path));
        changes.extend(gone.map(|path| FileChange {
            path: path.clone(),
            change: Change::Deleted,
            bytes: 0,
            sha256: None,
        }));
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        self.seen = now;
        changes
    }

    /// Bytes in the files under `/work`.
    pub(super) fn bytes(&self) -> u64 {
        self.seen.values().map(|stamp| stamp.bytes).sum()
    }

    /// Copies what cells created or modified into the host folder `to`, and names it.
    pub(super) fn export(&self, to: &Path) -> Result<Vec<String>> {
        let doing = || format!("copying results to {}", to.display());
        let mut copied = Vec::new();
        for (path, _) in self.list().into_iter().filter(|(path, stamp)| self.given.get(path) != Some(stamp)) {
            let host = to.join(&path);
            if let Some(folder) = host.parent() {
                std::fs::create_dir_all(folder).or_internal(doing())?;
            }
            let mut from = self.open_regular(&path).or_internal(doing())?;
            let mut target = std::fs::File::create(&host).or_internal(doing())?;
            io::copy(&mut from, &mut target).or_internal(doing())?;
            copied.push(path);
        }
        Ok(copied)
    }

    fn open_regular(&self, path: &str) -> io::Result<File> {
        if !is_regular(&self.work.symlink_metadata(path)?) {
            return Err(io::Error::other("not a regular file"));
        }
        let file = self.work.open(path)?;
        if is_regular(&file.metadata()?) { Ok(file) } else { Err(io::Error::other("not a regular file")) }
    }

    fn list(&self) -> Listing {
        let mut listing = Listing::new();
        list_into(&self.work, "", 0, &mut listing);
        listing
    }
}

/// One link, so that a hard link to something outside is not taken for the guest's own file.
fn is_regular(metadata: &Metadata) -> bool {
    metadata.is_file() && metadata.nlink() == 1
}

/// What cannot be read is not listed: the guest may have made it so.
fn list_into(folder: &Dir, prefix: &str, depth: usize, listing: &mut Listing) {
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten() {
        if listing.len() >= MAX_LISTED {
            return;
        }
        let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned)) else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() && depth < MAX_DEPTH {
            if let Ok(inner) = entry.open_dir() {
                list_into(&inner, &format!("{path}/"), depth + 1, listing);
            }
        } else if kind.is_file()
            && let Ok(metadata) = entry.metadata()
            && is_regular(&metadata)
        {
            listing.insert(path, Stamp::of(&metadata));
        }
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }
}

fn sha256(mut file: File) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        }
    }
    Ok(format!("{:x}", hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(scratch: &Scratch, path: &str, text: &str) {
        let path = scratch.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn changes_are_told_once_with_their_digest() {
        let mut scratch = Scratch::new(&Arc::default()).unwrap();
        write(&scratch, "a.txt", "abc");
        write(&scratch, "deep/er/b.txt", "");
        let changes = scratch.changes();
        assert_eq!(changes.iter().map(|c| c.path.as_str()).collect::<Vec<_>>(), ["a.txt", "deep/er/b.txt"]);
        assert_eq!(
            changes[0].sha256.as_deref(),
            Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        );
        assert_eq!(scratch.changes(), []);
        write(&scratch, "a.txt", "abcd");
        std::fs::remove_file(scratch.work().join("deep/er/b.txt")).unwrap();
        let changes: Vec<_> = scratch.changes().into_iter().map(|c| (c.path, c.change, c.bytes)).collect();
        assert_eq!(changes, [("a.txt".into(), Change::Modified, 4), ("deep/er/b.txt".into(), Change::Deleted, 0)]);
    }

    #[test]
    fn only_what_cells_made_is_exported() {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("given.csv"), "x").unwrap();
        let mut scratch = Scratch::new(&Arc::default()).unwrap();
        scratch.put(&host.path().join("given.csv")).unwrap();
        assert_eq!(scratch.changes(), []);
        write(&scratch, "sub/made.csv", "y");
        let out = host.path().join("out");
        assert_eq!(scratch.export(&out).unwrap(), ["sub/made.csv"]);
        assert_eq!(std::fs::read_to_string(out.join("sub/made.csv")).unwrap(), "y");
        assert!(scratch.put(&host.path().join("given.csv")).unwrap_err().to_string().contains("already has"));
        assert!(scratch.put(host.path()).unwrap_err().is_usage());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_never_followed() {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("secret"), "s").unwrap();
        let mut scratch = Scratch::new(&Arc::default()).unwrap();
        std::os::unix::fs::symlink(host.path().join("secret"), scratch.work().join("soft")).unwrap();
        std::os::unix::fs::symlink(host.path(), scratch.work().join("folder")).unwrap();
        std::fs::hard_link(host.path().join("secret"), scratch.work().join("hard")).unwrap();
        assert_eq!(scratch.changes(), []);
        assert_eq!(scratch.export(&host.path().join("out")).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn the_folder_goes_with_the_session() {
        let scratch = Scratch::new(&Arc::default()).unwrap();
        let path = scratch.work();
        assert!(path.is_dir());
        drop(scratch);
        assert!(!path.exists());
    }
}
