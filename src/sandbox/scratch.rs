//! The host's view of a session's `/work`: what a cell changed in it, and files that go in and come out.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest, Sha256};

use super::files::errno::Errno;
use super::files::tree::{Ino, Kind, Tree};
use super::outcome::{Change, FileChange};
use crate::{Cancel, Error, Result};

/// Bytes that are hashed or copied at once.
const PIECE: usize = 64 << 10;

/// What a session was given; everything else in `/work` is a cell's doing.
#[derive(Default)]
pub(super) struct Scratch {
    given: BTreeMap<String, [u8; 32]>,
}

impl Scratch {
    /// Copies a host file into `/work` under its own name.
    ///
    /// # Errors
    /// A file that cannot be read, a name that is taken, and what does not fit; nothing is left of it then.
    pub(super) fn put(&mut self, tree: &mut Tree, host: &Path, now: u64) -> Result<()> {
        let refused = |error: Error| error.context(format_args!("{}", host.display()));
        let usage = |why: &dyn std::fmt::Display| refused(Error::usage(why));
        let name = host.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| usage(&"has no file name that Python could use"))?;
        let mut from = std::fs::File::open(host).map_err(|error| usage(&error))?;
        let metadata = from.metadata().map_err(|error| usage(&error))?;
        if !metadata.is_file() {
            return Err(usage(&"is not a regular file").advise("give the files one by one with --file"));
        }
        if metadata.len() > left(tree) {
            return Err(refused(no_room(tree, metadata.len())));
        }
        let file = tree.create(Tree::WORK, name, Kind::File, now).map_err(|errno| match errno {
            Errno::Exist => usage(&format_args!("/work already has a file named {name}")),
            errno => refused(not_made(tree, errno)),
        })?;
        let mut hasher = Sha256::new();
        let copied = copy_in(tree, file, &mut from, &mut hasher, now);
        if let Err(error) = copied {
            // It was just made, so it is there.
            let _ = tree.unlink(Tree::WORK, name, now);
            return Err(refused(error));
        }
        self.given.insert(name.to_owned(), hasher.finalize().into());
        Ok(())
    }

    /// Writes a file of `/work`, its folders included, in place of one that is there.
    ///
    /// # Errors
    /// A path that leads nowhere in `/work`, and what does not fit; then a file that was there may have been emptied.
    #[cfg_attr(not(test), expect(dead_code, reason = "for surfaces that take files by path"))]
    pub(super) fn write(&mut self, tree: &mut Tree, path: &str, bytes: &[u8], now: u64) -> Result<()> {
        let refused = |error: Error| error.context(path);
        let (folders, name) = names(path).ok_or_else(|| refused(Error::usage("is no path of a file in /work")))?;
        let mut folder = Tree::WORK;
        for part in folders {
            folder = found_or_made(tree, folder, part, Kind::Folder, now).map_err(refused)?;
        }
        let file = found_or_made(tree, folder, name, Kind::File, now).map_err(refused)?;
        let fits = tree.resize(file, 0, now).is_ok() && bytes.len() as u64 <= left(tree);
        if !fits {
            return Err(refused(no_room(tree, bytes.len() as u64)));
        }
        let mut hasher = Sha256::new();
        copy_in(tree, file, &mut { bytes }, &mut hasher, now).map_err(refused)?;
        self.given.insert(path.to_owned(), hasher.finalize().into());
        Ok(())
    }

    /// Copies what cells created or modified into the host folder `to`, and names it.
    ///
    /// # Errors
    /// What the host's own folder says.
    pub(super) fn export(&self, tree: &Tree, to: &Path) -> Result<Vec<String>> {
        let doing = || format!("copying results to {}", to.display());
        std::fs::create_dir_all(to).map_err(|error| Error::usage(error).context(doing()))?;
        let out =
            Dir::open_ambient_dir(to, ambient_authority()).map_err(|error| Error::usage(error).context(doing()))?;
        let mut copied = Vec::new();
        for (path, file) in files(tree) {
            let given = self.given.get(&path);
            if given.is_some() && digest(tree, file, &Cancel::new()).as_ref() == given {
                continue;
            }
            copy_out(tree, file, &path, &out)
                .map_err(|error| Error::usage(error).context(format!("{}/{path}", doing())))?;
            copied.push(path);
        }
        Ok(copied)
    }
}

/// What is in a file of `/work`; `None` when there is no such file.
#[cfg_attr(not(test), expect(dead_code, reason = "for surfaces that give files by path"))]
pub(super) fn read(tree: &Tree, path: &str) -> Option<Vec<u8>> {
    let (mut folders, name) = names(path)?;
    let folder = folders.try_fold(Tree::WORK, |folder, part| tree.lookup(folder, part).ok())?;
    let file = tree.lookup(folder, name).ok()?;
    let mut bytes = vec![0; usize::try_from(tree.stat(file)?.bytes).ok()?];
    tree.read(file, 0, &mut bytes).ok()?;
    Some(bytes)
}

/// What is different under `/work` `now`, sorted by path. Digests are left out from a cancel on.
pub(super) fn changes(before: &Tree, now: &Tree, cancel: &Cancel) -> Vec<FileChange> {
    if now.is_same(before) {
        return Vec::new();
    }
    let (old, new) = (files(before), files(now));
    let mut changes = Vec::new();
    for (path, file) in &new {
        let change = match old.get(path) {
            None => Change::Created,
            Some(old) if old == file && now.same_content(before, *file) => continue,
            Some(_) => Change::Modified,
        };
        let bytes = now.stat(*file).map_or(0, |stat| stat.bytes);
        let sha256 = digest(now, *file, cancel).map(|digest| hex(&digest));
        changes.push(FileChange { path: path.clone(), change, bytes, sha256 });
    }
    let gone = old.into_keys().filter(|path| !new.contains_key(path));
    changes.extend(gone.map(|path| FileChange { path, change: Change::Deleted, bytes: 0, sha256: None }));
    changes.sort_by(|a, b| a.path.cmp(&b.path));
    changes
}

/// Every file under `/work`, by its path.
fn files(tree: &Tree) -> BTreeMap<String, Ino> {
    let mut files = BTreeMap::new();
    let mut folders = vec![(Tree::WORK, String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for (name, ino, kind) in tree.list(folder).unwrap_or_default() {
            let path = format!("{prefix}{name}");
            match kind {
                Kind::Folder => folders.push((ino, format!("{path}/"))),
                Kind::File => {
                    files.insert(path, ino);
                }
            }
        }
    }
    files
}

/// The folders and the name of a path relative to `/work`. `None` when it could lead elsewhere, or names no file.
fn names(path: &str) -> Option<(impl Iterator<Item = &str>, &str)> {
    let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
    let plain = path.split('/').all(|part| !matches!(part, "" | "." | ".."));
    plain.then(|| (folders.into_iter().flat_map(|folders| folders.split('/')), name))
}

fn found_or_made(tree: &mut Tree, folder: Ino, name: &str, kind: Kind, now: u64) -> Result<Ino> {
    match tree.lookup(folder, name) {
        Ok(found) if tree.stat(found).is_some_and(|stat| stat.kind == kind) => Ok(found),
        Ok(_) => Err(Error::usage(format_args!("{name} is there as something else"))),
        Err(Errno::Notdir) => Err(Error::usage(format_args!("what holds {name} is no folder"))),
        Err(_) => tree.create(folder, name, kind, now).map_err(|errno| not_made(tree, errno)),
    }
}

/// Bytes that the quota still has.
fn left(tree: &Tree) -> u64 {
    tree.quota().bytes.saturating_sub(tree.used().bytes)
}

fn no_room(tree: &Tree, needed: u64) -> Error {
    let (left, all) = (left(tree), tree.quota().bytes);
    let text = format!("has {needed} bytes, and {left} of the scratch limit of {all} bytes are left");
    Error::usage(text).advise("raise the limit with --scratch")
}

/// Why there is no new file or folder.
fn not_made(tree: &Tree, errno: Errno) -> Error {
    let quota = tree.quota();
    match errno {
        Errno::Nospc => Error::usage(format_args!("the limit of {} files and folders is reached", quota.entries))
            .advise("raise the limit with --entries"),
        Errno::Dquot => Error::usage(format_args!("lies deeper than the limit of {} folders", quota.depth))
            .advise("raise the limit with --depth"),
        Errno::Nametoolong => Error::usage("has a name of more than 255 bytes"),
        _ => Error::usage("has a name that no file can have"),
    }
}

fn copy_in(tree: &mut Tree, file: Ino, from: &mut dyn Read, hasher: &mut Sha256, now: u64) -> Result<()> {
    let mut buffer = vec![0; PIECE];
    let mut at = 0;
    loop {
        let bytes = match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::usage(error)),
        };
        let end = at + bytes.len() as u64;
        // A file that grew meanwhile.
        if tree.write(file, at, bytes, now) != Ok(bytes.len()) {
            return Err(no_room(tree, end));
        }
        hasher.update(bytes);
        at = end;
    }
}

/// The guest chose the name: nothing but a file is replaced, and nothing is written through a link.
fn copy_out(tree: &Tree, file: Ino, path: &str, out: &Dir) -> io::Result<()> {
    if let Some((folder, _)) = path.rsplit_once('/') {
        out.create_dir_all(folder)?;
    }
    match out.symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => out.remove_file(path)?,
        Ok(_) => return Err(io::Error::other("something else than a file is in the way")),
        Err(_) => {}
    }
    let mut to = out.open_with(path, OpenOptions::new().write(true).create_new(true))?;
    pieces(tree, file, |piece| io::Write::write_all(&mut to, piece))
}

/// `None` after a cancel.
fn digest(tree: &Tree, file: Ino, cancel: &Cancel) -> Option<[u8; 32]> {
    let mut hasher = Sha256::new();
    pieces(tree, file, |piece| {
        hasher.update(piece);
        if cancel.is_cancelled() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    })
    .ok()?;
    Some(hasher.finalize().into())
}

/// Hands out a file's bytes in order.
fn pieces(tree: &Tree, file: Ino, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut buffer = vec![0; PIECE];
    let mut at = 0;
    loop {
        let read = tree.read(file, at, &mut buffer).map_err(|_| io::ErrorKind::NotFound)?;
        if read == 0 {
            return Ok(());
        }
        take(&buffer[..read])?;
        at += read as u64;
    }
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::files::tree::Quota;
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn tree() -> Tree {
        Tree::new(Quota { bytes: 1 << 20, entries: 10, depth: 3 }, 0)
    }

    fn write(tree: &mut Tree, path: &str, text: &str) {
        Scratch::default().write(tree, path, text.as_bytes(), 0).unwrap();
    }

    fn told(before: &Tree, now: &Tree) -> Vec<(String, Change, u64)> {
        changes(before, now, &Cancel::new()).into_iter().map(|c| (c.path, c.change, c.bytes)).collect()
    }

    #[test]
    fn changes_are_told_with_their_digest() {
        let mut tree = tree();
        let empty = tree.clone();
        write(&mut tree, "a.txt", "abc");
        write(&mut tree, "deep/er/b.txt", "");
        let changes = changes(&empty, &tree, &Cancel::new());
        assert_eq!(changes.iter().map(|c| c.path.as_str()).collect::<Vec<_>>(), ["a.txt", "deep/er/b.txt"]);
        assert_eq!(changes[0].sha256.as_deref(), Some(ABC));
        let before = tree.clone();
        assert_eq!(told(&before, &tree), []);
        write(&mut tree, "a.txt", "abcd");
        let deep = tree.lookup(Tree::WORK, "deep").and_then(|deep| tree.lookup(deep, "er")).unwrap();
        tree.unlink(deep, "b.txt", 0).unwrap();
        assert_eq!(
            told(&before, &tree),
            [("a.txt".into(), Change::Modified, 4), ("deep/er/b.txt".into(), Change::Deleted, 0)]
        );
    }

    #[test]
    fn only_contents_under_work_are_changes() {
        let mut tree = tree();
        write(&mut tree, "same", "x");
        write(&mut tree, "replaced", "y");
        let before = tree.clone();
        tree.create(Tree::TMP, "elsewhere", Kind::File, 1).unwrap();
        tree.create(Tree::WORK, "folder", Kind::Folder, 1).unwrap();
        let same = tree.lookup(Tree::WORK, "same").unwrap();
        tree.set_times(same, Some(5), Some(5), 5).unwrap();
        assert_eq!(told(&before, &tree), []);
        let new = tree.create(Tree::WORK, "new", Kind::File, 1).unwrap();
        tree.write(new, 0, b"z", 1).unwrap();
        tree.rename((Tree::WORK, "new"), (Tree::WORK, "replaced"), 1).unwrap();
        assert_eq!(told(&before, &tree), [("replaced".into(), Change::Modified, 1)]);
    }

    #[test]
    fn a_cancel_leaves_digests_out() {
        let mut tree = tree();
        let before = tree.clone();
        write(&mut tree, "a", "abc");
        let cancel = Cancel::new();
        cancel.cancel();
        let changes = changes(&before, &tree, &cancel);
        assert_eq!((changes[0].bytes, changes[0].sha256.as_deref()), (3, None));
    }

    #[test]
    fn only_what_cells_made_is_exported() {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("given.csv"), "x").unwrap();
        std::fs::write(host.path().join("other.csv"), "x").unwrap();
        let (mut scratch, mut tree) = (Scratch::default(), tree());
        write(&mut tree, "sub/made.csv", "y");
        for name in ["given.csv", "other.csv"] {
            scratch.put(&mut tree, &host.path().join(name), 7).unwrap();
        }
        let out = host.path().join("out");
        assert_eq!(scratch.export(&tree, &out).unwrap(), ["sub/made.csv"]);
        assert_eq!(std::fs::read_to_string(out.join("sub/made.csv")).unwrap(), "y");
        // What was given is a result once a cell has changed it.
        let other = tree.lookup(Tree::WORK, "other.csv").unwrap();
        tree.write(other, 1, b"z", 8).unwrap();
        assert_eq!(scratch.export(&tree, &out).unwrap(), ["other.csv", "sub/made.csv"]);
        assert_eq!(std::fs::read_to_string(out.join("other.csv")).unwrap(), "xz");
    }

    #[test]
    fn what_cannot_be_put_leaves_nothing() {
        let host = tempfile::tempdir().unwrap();
        let (mut scratch, mut tree) = (Scratch::default(), tree());
        let mut put = |tree: &mut Tree, name: &str, bytes: usize| {
            std::fs::write(host.path().join(name), vec![7; bytes]).unwrap();
            scratch.put(tree, &host.path().join(name), 0)
        };
        put(&mut tree, "a", 1 << 19).unwrap();
        assert!(put(&mut tree, "a", 1).unwrap_err().to_string().contains("/work already has a file named a"));
        let error = put(&mut tree, "large", (1 << 19) + 1).unwrap_err();
        assert!(error.is_usage());
        assert!(
            error.to_string().ends_with("has 524289 bytes, and 524288 of the scratch limit of 1048576 bytes are left"),
            "{error}"
        );
        assert_eq!(error.advice(), Some("raise the limit with --scratch"));
        for number in 1..10 {
            put(&mut tree, &number.to_string(), 1).unwrap();
        }
        let error = put(&mut tree, "one more", 1).unwrap_err();
        assert!(error.to_string().contains("10 files and folders"), "{error}");
        assert_eq!(tree.used().entries, 10);
        assert!(Scratch::default().put(&mut tree, host.path(), 0).unwrap_err().is_usage());
    }

    #[test]
    fn files_are_written_and_read_by_path() {
        let (mut scratch, mut tree) = (Scratch::default(), tree());
        scratch.write(&mut tree, "a/b/c", b"one", 0).unwrap();
        scratch.write(&mut tree, "a/b/c", b"two", 0).unwrap();
        assert_eq!(read(&tree, "a/b/c").as_deref(), Some(&b"two"[..]));
        for absent in ["a/b", "a/b/d", "a/b/c/d", "../work/a/b/c", "/a", "", "a//b", "."] {
            assert_eq!(read(&tree, absent), None, "{absent}");
        }
        for bad in ["", "/", "/a", "a/", "a//b", "./a", "a/..", "a/../b", "a/b", "a/b/c/d", "n\0ul", &"n".repeat(256)] {
            assert!(scratch.write(&mut tree, bad, b"", 0).unwrap_err().is_usage(), "{bad:?}");
        }
        let error = scratch.write(&mut tree, "1/2/3/4", b"", 0).unwrap_err();
        assert_eq!(error.advice(), Some("raise the limit with --depth"));
        let error = scratch.write(&mut tree, "large", &[0; (1 << 20) + 1], 0).unwrap_err();
        assert_eq!(error.advice(), Some("raise the limit with --scratch"));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let (host, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (scratch, mut tree) = (Scratch::default(), tree());
        write(&mut tree, "a.txt", "guest");
        let (victim, target) = (host.path().join("victim"), out.path().join("a.txt"));
        std::fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, &target).unwrap();
        assert!(scratch.export(&tree, out.path()).unwrap_err().to_string().contains("in the way"));
        std::fs::remove_file(&target).unwrap();
        std::fs::hard_link(&victim, &target).unwrap();
        scratch.export(&tree, out.path()).unwrap();
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "guest");
        // A folder that is a link out of the folder leads nowhere either.
        write(&mut tree, "sub/b.txt", "guest");
        std::os::unix::fs::symlink(host.path(), out.path().join("sub")).unwrap();
        assert!(scratch.export(&tree, out.path()).is_err());
        assert!(!host.path().join("b.txt").exists());
    }
}
