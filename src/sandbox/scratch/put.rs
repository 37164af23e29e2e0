//! Files that go into `/work`. Each call puts all it was asked for, or nothing.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use sha2::{Digest, Sha256};

use super::super::files::errno::Errno;
use super::super::files::open_regular;
use super::super::files::tree::{Ino, Kind, Tree};
use super::{PIECE, Scratch, names};
use crate::{Error, Result};

/// A tree that is being added to.
struct Putting {
    tree: Tree,
    /// Paths and digests of what was put.
    put: Vec<(String, [u8; 32])>,
    now: u64,
}

impl Scratch {
    /// Copies a host file or folder into `/work` under its own name. Of a folder links are left out, and whatever is no
    /// file or folder.
    ///
    /// # Errors
    /// What cannot be read, a name that is taken, and what does not fit.
    pub(in super::super) fn put_host(&mut self, tree: &mut Tree, host: &Path, now: u64) -> Result<()> {
        let usage = |why: &dyn std::fmt::Display| Error::usage(why);
        let put = |putting: &mut Putting| {
            let named = host.canonicalize().ok();
            let name = host.file_name().or_else(|| named.as_deref()?.file_name()).and_then(|name| name.to_str());
            let name = name.ok_or_else(|| usage(&"has no name that Python could use"))?;
            // Before it is opened: a pipe would wait for somebody to write to it.
            let metadata = std::fs::metadata(host).map_err(Error::usage)?;
            if putting.tree.lookup(Tree::WORK, name).is_ok() {
                return Err(usage(&format_args!("/work already has a file named {name}")));
            }
            if metadata.is_dir() {
                let dir = Dir::open_ambient_dir(host, ambient_authority()).map_err(Error::usage)?;
                return putting.folder(Tree::WORK, name, &dir, name);
            }
            if !metadata.is_file() {
                return Err(usage(&"is neither a regular file nor a folder"));
            }
            let mut from = std::fs::File::open(host).map_err(Error::usage)?;
            putting.file(Tree::WORK, name, &mut from, metadata.len(), name)
        };
        self.all_or_nothing(tree, now, put).map_err(|error| error.context(format_args!("{}", host.display())))
    }

    /// Writes a file, in the place of what it was before; folders on the way to it are made.
    ///
    /// # Errors
    /// A path that is none, a folder in the file's place or a file in a folder's, and what does not fit.
    pub(in super::super) fn put_bytes(&mut self, tree: &mut Tree, path: &str, bytes: &[u8], now: u64) -> Result<()> {
        let names = names(path)?;
        let put = |putting: &mut Putting| {
            let Some((name, folders)) = names.split_last() else { return Err(Error::usage("it has no name")) };
            let mut folder = Tree::WORK;
            for name in folders {
                folder = match putting.tree.lookup(folder, name) {
                    Err(Errno::Noent) => putting.make(folder, name, Kind::Folder)?,
                    found => found.map_err(|_| Error::usage("a file is where a folder would have to be"))?,
                };
            }
            match putting.tree.lookup(folder, name) {
                Ok(file) => {
                    let emptied = putting.tree.resize(file, 0, putting.now);
                    emptied.map_err(|_| Error::usage("a folder is where the file would have to be"))?;
                    putting.fill(file, &mut &*bytes, bytes.len() as u64, path)
                }
                Err(Errno::Notdir) => Err(Error::usage("a file is where a folder would have to be")),
                Err(_) => putting.file(folder, name, &mut &*bytes, bytes.len() as u64, path),
            }
        };
        self.all_or_nothing(tree, now, put).map_err(|error| error.context(path))
    }

    fn all_or_nothing(
        &mut self,
        tree: &mut Tree,
        now: u64,
        put: impl FnOnce(&mut Putting) -> Result<()>,
    ) -> Result<()> {
        let mut putting = Putting { tree: tree.clone(), put: Vec::new(), now };
        put(&mut putting)?;
        *tree = putting.tree;
        Arc::make_mut(&mut self.given).extend(putting.put);
        Ok(())
    }
}

impl Putting {
    fn make(&mut self, folder: Ino, name: &str, kind: Kind) -> Result<Ino> {
        self.tree.create(folder, name, kind, self.now).map_err(|errno| not_made(&self.tree, errno))
    }

    fn file(&mut self, folder: Ino, name: &str, from: &mut dyn Read, bytes: u64, path: &str) -> Result<()> {
        let file = self.make(folder, name, Kind::File)?;
        self.fill(file, from, bytes, path)
    }

    /// `bytes` is what it should have; a file of the host's may have grown meanwhile.
    fn fill(&mut self, file: Ino, from: &mut dyn Read, bytes: u64, path: &str) -> Result<()> {
        if bytes > left(&self.tree) {
            return Err(no_room(&self.tree, bytes));
        }
        let mut hasher = Sha256::new();
        copy_in(&mut self.tree, file, from, &mut hasher, self.now)?;
        self.put.push((path.to_owned(), hasher.finalize().into()));
        Ok(())
    }

    /// No deeper than the quota lets the tree grow.
    fn folder(&mut self, above: Ino, name: &str, from: &Dir, path: &str) -> Result<()> {
        use cap_fs_ext::DirExt;
        let folder = self.make(above, name, Kind::Folder)?;
        let refused = |path: &str, why: &dyn std::fmt::Display| Error::usage(why).context(path);
        for name in self.names(from).map_err(|error| error.context(path))? {
            let path = format!("{path}/{name}");
            let found = from.symlink_metadata(&name).map_err(|error| refused(&path, &error))?;
            if found.is_dir() {
                let dir = from.open_dir_nofollow(&name).map_err(|error| refused(&path, &error))?;
                self.folder(folder, &name, &dir, &path)?;
            } else if found.is_file()
                && let Some(mut file) = open_regular(from, &name).map_err(|error| refused(&path, &error))?
            {
                let put = self.file(folder, &name, &mut file, found.len(), &path);
                put.map_err(|error| error.context(&path))?;
            }
        }
        Ok(())
    }

    /// The names of files and folders in a folder of the host's, sorted, if there are not too many of them.
    fn names(&self, from: &Dir) -> Result<Vec<String>> {
        let left = self.tree.quota().entries.saturating_sub(self.tree.used().entries);
        let mut names = Vec::new();
        for entry in from.entries().map_err(Error::usage)? {
            let entry = entry.map_err(Error::usage)?;
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                continue;
            }
            if names.len() as u64 == left {
                return Err(not_made(&self.tree, Errno::Nospc));
            }
            let name = entry.file_name().into_string();
            names.push(name.map_err(|name| Error::usage(format_args!("{name:?} is no name that Python could use")))?);
        }
        names.sort_unstable();
        Ok(names)
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
        Errno::Nametoolong => Error::usage("has a name of more than 255 bytes, or a path of more than 4096"),
        Errno::Notdir => Error::usage("a file is where a folder would have to be"),
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
