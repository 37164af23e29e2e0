//! The one host folder a session may write: `/work` and `/tmp`, removed afterwards.
//!
//! The host looks at guest files only through cap-std handles relative to it, never follows a link and opens only
//! regular files with one link, so a planted link leads nowhere.

#[cfg_attr(unix, path = "scratch/unix.rs")]
#[cfg_attr(not(unix), path = "scratch/other.rs")]
mod platform;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use sha2::{Digest, Sha256};

use super::folder::{Folder, Folders};
use super::outcome::{Change, FileChange};
use crate::error::OrInternal;
use crate::{Cancel, Error, Result};

/// Files and folders that are looked at; what is beyond is not reported.
const MAX_LISTED: usize = 10_000;

/// Bytes that are hashed after a cell; a file beyond it is reported without its digest. A sparse file costs the guest
/// nothing and would keep the host busy for hours.
const MAX_HASHED: u64 = 64 << 20;

/// Bytes that are copied in or out at once, for the same reason.
const MAX_COPIED: u64 = 1 << 30;

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
    identity: [i64; 3],
}

impl Scratch {
    pub(super) fn new(folders: &Arc<Folders>) -> Result<Self> {
        let folder = folders.take()?;
        let work = Dir::open_ambient_dir(folder.work(), ambient_authority()).or_internal("opening a scratch folder")?;
        Ok(Self { folder, work, seen: Listing::new(), given: Listing::new() })
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Copies a host file into `/work` under its own name.
    pub(super) fn put(&mut self, host: &Path) -> Result<()> {
        let refused = |why: String| Error::usage(why).context(format_args!("{}", host.display()));
        let name = host.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| refused("has no file name that Python could use".into()))?;
        let mut from = std::fs::File::open(host).map_err(|error| refused(error.to_string()))?;
        let metadata = from.metadata().map_err(|error| refused(error.to_string()))?;
        if !metadata.is_file() {
            return Err(refused("is not a regular file".into()).advise("give the files one by one with --file"));
        }
        if metadata.len() > MAX_COPIED {
            return Err(refused(format!("has {} bytes, more than the {MAX_COPIED} that are copied", metadata.len())));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut to = self.work.open_with(name, &options).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => refused(format!("/work already has a file named {name}")),
            _ => Error::internal(error).context("copying a file into /work"),
        })?;
        io::copy(&mut from, &mut to).or_internal("copying a file into /work")?;
        let stamp = Stamp::of(&to.metadata().or_internal("copying a file into /work")?);
        self.seen.insert(name.to_owned(), stamp.clone());
        self.given.insert(name.to_owned(), stamp);
        Ok(())
    }

    /// What changed under `/work` since the last call. Digests are left out from a cancel on.
    pub(super) fn changes(&mut self, cancel: &Cancel) -> Vec<FileChange> {
        let now = self.list();
        let mut budget = MAX_HASHED;
        let mut digest = |path: &str, bytes: u64| {
            budget = budget.checked_sub(bytes)?;
            sha256(self.open_regular(path).ok()?, bytes, cancel)
        };
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
                sha256: digest(path, stamp.bytes),
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
        self.seen.values().fold(0, |sum, stamp| sum.saturating_add(stamp.bytes))
    }

    /// Copies what cells created or modified into the host folder `to`, and names it.
    ///
    /// # Errors
    /// More than 1 GiB of it, and what the host's own folder says.
    pub(super) fn export(&self, to: &Path) -> Result<Vec<String>> {
        let doing = || format!("copying results to {}", to.display());
        let results: Listing =
            self.list().into_iter().filter(|(path, stamp)| self.given.get(path) != Some(stamp)).collect();
        let bytes = results.values().fold(0_u64, |sum, stamp| sum.saturating_add(stamp.bytes));
        if bytes > MAX_COPIED {
            let text =
                format!("the results under /work take {bytes} bytes, more than the {MAX_COPIED} that are copied");
            return Err(Error::usage(text).advise("let the program keep less, or compress it"));
        }
        std::fs::create_dir_all(to).map_err(|error| Error::usage(error).context(doing()))?;
        let out =
            Dir::open_ambient_dir(to, ambient_authority()).map_err(|error| Error::usage(error).context(doing()))?;
        let mut copied = Vec::new();
        for path in results.into_keys() {
            self.copy_out(&path, &out).map_err(|error| Error::usage(error).context(format!("{}/{path}", doing())))?;
            copied.push(path);
        }
        Ok(copied)
    }

    /// The guest chose the name, so nothing but a regular file is written over, and no link leads out of `out`.
    fn copy_out(&self, path: &str, out: &Dir) -> io::Result<()> {
        if let Some((folder, _)) = path.rsplit_once('/') {
            out.create_dir_all(folder)?;
        }
        if out.symlink_metadata(path).is_ok_and(|metadata| !is_regular(&metadata)) {
            return Err(io::Error::other("something else than a file is in the way"));
        }
        io::copy(&mut self.open_regular(path)?, &mut out.create(path)?)?;
        Ok(())
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
        list_into(&self.work, "", 0, &mut 0, &mut listing);
        listing
    }
}

/// One link, so that a hard link to something outside is not taken for the guest's own file.
fn is_regular(metadata: &Metadata) -> bool {
    metadata.is_file() && platform::links(metadata) == 1
}

/// What cannot be read is not listed: the guest may have made it so.
fn list_into(folder: &Dir, prefix: &str, depth: usize, looked_at: &mut usize, listing: &mut Listing) {
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten() {
        if *looked_at >= MAX_LISTED {
            return;
        }
        *looked_at += 1;
        let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned)) else {
            continue;
        };
        let path = format!("{prefix}{name}");
        if kind.is_dir() && depth < MAX_DEPTH {
            if let Ok(inner) = entry.open_dir() {
                list_into(&inner, &format!("{path}/"), depth + 1, looked_at, listing);
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
            identity: platform::identity(metadata),
        }
    }
}

/// The digest of a file of so many bytes, if it has them and nobody cancels.
fn sha256(file: File, bytes: u64, cancel: &Cancel) -> Option<String> {
    let mut file = file.take(bytes);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    while !cancel.is_cancelled() {
        match file.read(&mut buffer).ok()? {
            0 => return Some(format!("{:x}", hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch() -> Scratch {
        Scratch::new(&Arc::default()).unwrap()
    }

    fn write(scratch: &Scratch, path: &str, text: &str) {
        let path = scratch.folder.work().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn changes_are_told_once_with_their_digest() {
        let mut scratch = self::scratch();
        write(&scratch, "a.txt", "abc");
        write(&scratch, "deep/er/b.txt", "");
        let changes = scratch.changes(&Cancel::new());
        assert_eq!(changes.iter().map(|c| c.path.as_str()).collect::<Vec<_>>(), ["a.txt", "deep/er/b.txt"]);
        assert_eq!(
            changes[0].sha256.as_deref(),
            Some("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        );
        assert_eq!(scratch.changes(&Cancel::new()), []);
        write(&scratch, "a.txt", "abcd");
        std::fs::remove_file(scratch.folder.work().join("deep/er/b.txt")).unwrap();
        let changes: Vec<_> =
            scratch.changes(&Cancel::new()).into_iter().map(|c| (c.path, c.change, c.bytes)).collect();
        assert_eq!(changes, [("a.txt".into(), Change::Modified, 4), ("deep/er/b.txt".into(), Change::Deleted, 0)]);
    }

    #[test]
    fn only_what_cells_made_is_exported() {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("given.csv"), "x").unwrap();
        let mut scratch = self::scratch();
        scratch.put(&host.path().join("given.csv")).unwrap();
        assert_eq!(scratch.changes(&Cancel::new()), []);
        write(&scratch, "sub/made.csv", "y");
        let out = host.path().join("out");
        assert_eq!(scratch.export(&out).unwrap(), ["sub/made.csv"]);
        assert_eq!(std::fs::read_to_string(out.join("sub/made.csv")).unwrap(), "y");
        assert!(scratch.put(&host.path().join("given.csv")).unwrap_err().to_string().contains("already has"));
        assert!(scratch.put(host.path()).unwrap_err().is_usage());
    }

    #[cfg(unix)]
    #[test]
    fn results_are_written_over_files_only() {
        let (host, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let scratch = self::scratch();
        write(&scratch, "a.txt", "guest");
        std::fs::write(host.path().join("victim"), "mine").unwrap();
        std::os::unix::fs::symlink(host.path().join("victim"), out.path().join("a.txt")).unwrap();
        assert!(scratch.export(out.path()).unwrap_err().to_string().contains("in the way"));
        assert_eq!(std::fs::read_to_string(host.path().join("victim")).unwrap(), "mine");
        std::fs::remove_file(out.path().join("a.txt")).unwrap();
        std::fs::write(out.path().join("a.txt"), "older").unwrap();
        scratch.export(out.path()).unwrap();
        assert_eq!(std::fs::read_to_string(out.path().join("a.txt")).unwrap(), "guest");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_never_followed() {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("secret"), "s").unwrap();
        let mut scratch = self::scratch();
        std::os::unix::fs::symlink(host.path().join("secret"), scratch.folder.work().join("soft")).unwrap();
        std::os::unix::fs::symlink(host.path(), scratch.folder.work().join("folder")).unwrap();
        std::fs::hard_link(host.path().join("secret"), scratch.folder.work().join("hard")).unwrap();
        assert_eq!(scratch.changes(&Cancel::new()), []);
        assert_eq!(scratch.export(&host.path().join("out")).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_cells_made_before_a_file_was_put_is_still_theirs() {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("late.csv"), "x").unwrap();
        let mut scratch = self::scratch();
        write(&scratch, "made.txt", "y");
        scratch.put(&host.path().join("late.csv")).unwrap();
        assert_eq!(scratch.changes(&Cancel::new()).len(), 1);
        assert_eq!(scratch.export(&host.path().join("out")).unwrap(), ["made.txt"]);
    }

    #[test]
    fn a_sparse_giant_is_neither_hashed_nor_copied() {
        let mut scratch = self::scratch();
        let giant = std::fs::File::create(scratch.folder.work().join("giant")).unwrap();
        giant.set_len(1 << 42).unwrap();
        write(&scratch, "small", "s");
        let changes = scratch.changes(&Cancel::new());
        assert_eq!((changes[0].bytes, changes[0].sha256.as_deref()), (1 << 42, None));
        assert!(changes[1].sha256.is_some(), "a small file after it still has its digest");
        let out = tempfile::tempdir().unwrap();
        assert!(scratch.export(out.path()).unwrap_err().to_string().contains("more than"));
    }
}
