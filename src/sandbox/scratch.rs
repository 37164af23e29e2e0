//! The host's view of a session's `/work`: what a cell changed in it, and files that go in and come out.

use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use sha2::{Digest, Sha256};

use super::files::errno::Errno;
use super::files::tree::{Ino, Kind, Tree};
use super::outcome::{Change, FileChange, MOST_CHANGES};
use crate::{Cancel, Error, Result};

/// Bytes that are hashed or copied at once.
const PIECE: usize = 64 << 10;

/// What a session was given; everything else in `/work` is a cell's doing.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    /// Paths and digests.
    given: Arc<BTreeMap<String, [u8; 32]>>,
}

impl Scratch {
    pub(super) fn new(given: BTreeMap<String, [u8; 32]>) -> Self {
        Self { given: Arc::new(given) }
    }

    pub(super) fn given(&self) -> &BTreeMap<String, [u8; 32]> {
        &self.given
    }

    /// Copies a host file into `/work` under its own name.
    ///
    /// # Errors
    /// A file that cannot be read, a name that is taken, and what does not fit; nothing is left of it then.
    pub(super) fn put(&mut self, tree: &mut Tree, host: &Path, now: u64) -> Result<()> {
        let refused = |error: Error| error.context(format_args!("{}", host.display()));
        let usage = |why: &dyn std::fmt::Display| refused(Error::usage(why));
        let name = host.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| usage(&"has no file name that Python could use"))?;
        // Before it is opened: a pipe would wait for somebody to write to it.
        let metadata = std::fs::metadata(host).map_err(|error| usage(&error))?;
        if !metadata.is_file() {
            return Err(usage(&"is not a regular file").advise("give the files one by one with --file"));
        }
        let mut from = std::fs::File::open(host).map_err(|error| usage(&error))?;
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
        Arc::make_mut(&mut self.given).insert(name.to_owned(), hasher.finalize().into());
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
        let ended = walk([tree; 2], [None, Some(Tree::WORK)], &mut String::new(), &mut |path, files| {
            let Some(file) = files[1] else { return ControlFlow::Continue(()) };
            let given = self.given.get(path);
            if given.is_some() && digest(tree, file, &Cancel::new()).as_ref() == given {
                return ControlFlow::Continue(());
            }
            if let Err(error) = copy_out(tree, file, path, &out) {
                return ControlFlow::Break(Error::usage(error).context(format!("{}/{path}", doing())));
            }
            copied.push(path.to_owned());
            ControlFlow::Continue(())
        });
        match ended {
            ControlFlow::Break(error) => Err(error),
            ControlFlow::Continue(()) => Ok(copied),
        }
    }
}

/// What is different under `/work` `now`, sorted by path: the first [`MOST_CHANGES`]. Digests are left out from a cancel
/// on.
pub(super) fn changes(before: &Tree, now: &Tree, cancel: &Cancel) -> Vec<FileChange> {
    if now.is_same(before) {
        return Vec::new();
    }
    let mut changes = Vec::new();
    // It only ever stops early because there are enough.
    let _ = walk([before, now], [Some(Tree::WORK); 2], &mut String::new(), &mut |path, files| {
        let change = match files {
            [_, None] => Change::Deleted,
            [None, Some(_)] => Change::Created,
            [Some(old), Some(new)] if old == new && now.same_content(before, new) => return ControlFlow::Continue(()),
            [Some(_), Some(_)] => Change::Modified,
        };
        let bytes = files[1].and_then(|file| now.stat(file)).map_or(0, |stat| stat.bytes);
        let sha256 = files[1].and_then(|file| digest(now, file, cancel)).map(|digest| hex(&digest));
        changes.push(FileChange { path: path.to_owned(), change, bytes, sha256 });
        if changes.len() < MOST_CHANGES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    changes
}

/// Goes through two folders, each of its own tree, and hands out the path of every file below either of them, with what
/// it is in each. In the order of the paths, one at a time: all of them at once could take a thousand times what an entry
/// takes.
fn walk<B>(
    trees: [&Tree; 2],
    folders: [Option<Ino>; 2],
    path: &mut String,
    each: &mut impl FnMut(&str, [Option<Ino>; 2]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    // A folder's name ends in a slash, as it does in the paths of what is in it; so the order of the names is theirs.
    let mut names = BTreeMap::<String, [Option<Ino>; 2]>::new();
    for side in [0, 1] {
        for (name, ino, kind) in folders[side].and_then(|folder| trees[side].list(folder).ok()).unwrap_or_default() {
            let name = if kind == Kind::Folder { name + "/" } else { name };
            names.entry(name).or_default()[side] = Some(ino);
        }
    }
    for (name, inos) in names {
        let above = path.len();
        path.push_str(&name);
        if name.ends_with('/') {
            walk(trees, inos, path, each)?;
        } else {
            each(path, inos)?;
        }
        path.truncate(above);
    }
    ControlFlow::Continue(())
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
    let gone = |_| io::Error::from(io::ErrorKind::NotFound);
    for (at, piece) in tree.stored(file).map_err(gone)? {
        to.seek(SeekFrom::Start(at))?;
        to.write_all(piece)?;
    }
    // What is not stored is zeros, in the host's file as well.
    to.set_len(tree.stat(file).map_or(0, |stat| stat.bytes))
}

/// `None` after a cancel.
fn digest(tree: &Tree, file: Ino, cancel: &Cancel) -> Option<[u8; 32]> {
    static ZEROS: [u8; PIECE] = [0; PIECE];
    let mut hasher = Sha256::new();
    let mut at = 0;
    let end = tree.stat(file)?.bytes;
    for (start, piece) in tree.stored(file).ok()?.chain([(end, &[][..])]) {
        while at < start {
            let zeros = &ZEROS[..usize::try_from(start - at).unwrap_or(PIECE).min(PIECE)];
            hasher.update(zeros);
            at += zeros.len() as u64;
            cancel.check().ok()?;
        }
        hasher.update(piece);
        at += piece.len() as u64;
        cancel.check().ok()?;
    }
    Some(hasher.finalize().into())
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

    /// As a cell would, the folders included.
    fn write(tree: &mut Tree, path: &str, text: &str) {
        let mut parts = path.split('/').peekable();
        let mut at = Tree::WORK;
        while let Some(name) = parts.next() {
            let kind = if parts.peek().is_some() { Kind::Folder } else { Kind::File };
            at = tree.lookup(at, name).or_else(|_| tree.create(at, name, kind, 0)).unwrap();
        }
        tree.resize(at, 0, 0).unwrap();
        tree.write(at, 0, text.as_bytes(), 0).unwrap();
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
    fn changes_come_in_the_order_of_their_paths() {
        let mut tree = tree();
        for path in ["a/x", "a.b", "b", "c", "d/y"] {
            write(&mut tree, path, "");
        }
        let mut now = Tree::new(tree.quota(), 0);
        // A file where a folder was, and a folder where a file was.
        for path in ["a", "a-b", "c/z"] {
            write(&mut now, path, "1");
        }
        let (mut paths, mut sorted) = (vec![], vec![]);
        for change in changes(&tree, &now, &Cancel::new()) {
            paths.push((change.path.clone(), change.change));
            sorted.push((change.path, change.change));
        }
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(paths, sorted);
        let all = ["a", "a-b", "a.b", "a/x", "b", "c", "c/z", "d/y"];
        assert_eq!(paths.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), all);
        assert_eq!(paths.iter().filter(|(_, change)| *change == Change::Created).count(), 3);
    }

    #[test]
    fn so_many_changes_are_told_and_no_more() {
        let mut tree = Tree::new(Quota { bytes: 0, entries: 20_000, depth: 2 }, 0);
        let before = tree.clone();
        for number in 0..MOST_CHANGES + 5 {
            tree.create(Tree::WORK, &format!("{number:05}"), Kind::File, 0).unwrap();
        }
        let created = told(&before, &tree);
        assert_eq!((created.len(), created[0].0.as_str(), created[9_999].0.as_str()), (10_000, "00000", "09999"));
        assert_eq!(told(&tree, &before).len(), 10_000, "deleted ones as well");
    }

    #[test]
    fn holes_are_zeros_in_digests_and_in_what_is_copied_out() {
        let host = tempfile::tempdir().unwrap();
        for (start, bytes) in [(0, 0), (0, 200_000), (70_000, 70_003), (3 * PIECE as u64 - 1, 4 * PIECE as u64)] {
            let (mut tree, mut whole) = (tree(), vec![0; bytes as usize]);
            let before = tree.clone();
            let file = tree.create(Tree::WORK, "f", Kind::File, 0).unwrap();
            tree.resize(file, bytes, 0).unwrap();
            if start > 0 {
                tree.write(file, start, b"abc"[..(bytes - start).min(3) as usize].as_ref(), 0).unwrap();
                tree.read(file, 0, &mut whole).unwrap();
            }
            let digest: [u8; 32] = Sha256::digest(&whole).into();
            assert_eq!(changes(&before, &tree, &Cancel::new())[0].sha256.as_deref(), Some(&*hex(&digest)), "{start}");
            assert_eq!(Scratch::default().export(&tree, host.path()).unwrap(), ["f"]);
            assert!(std::fs::read(host.path().join("f")).unwrap() == whole, "{start} {bytes}");
        }
    }

    /// Opening it would wait for a writer.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_no_file_to_put() {
        let host = tempfile::tempdir().unwrap();
        let pipe = host.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let (send, answer) = std::sync::mpsc::channel();
        std::thread::spawn(move || send.send(Scratch::default().put(&mut tree(), &pipe, 0)));
        let error = answer.recv_timeout(std::time::Duration::from_secs(60)).expect("it waits").unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
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
