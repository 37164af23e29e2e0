//! What is in `/work`, between two cells.

use std::ops::ControlFlow;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::super::files::errno::Errno;
use super::super::files::tree::{Ino, Kind, Tree};
use super::{names, walk_work};
use crate::{Error, Result};

/// A file in a session's `/work`.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Relative to `/work`.
    pub path: String,
    pub bytes: u64,
    /// By the session's clock.
    pub modified: SystemTime,
}

/// Every file, sorted by path.
pub(in super::super) fn list(tree: &Tree) -> Vec<FileEntry> {
    let mut files = Vec::new();
    let _: ControlFlow<()> = walk_work(tree, &mut |path, file| {
        if let Some(stat) = tree.stat(file) {
            let modified = UNIX_EPOCH + Duration::from_nanos(stat.times.modified);
            files.push(FileEntry { path: path.to_owned(), bytes: stat.bytes, modified });
        }
        ControlFlow::Continue(())
    });
    files
}

/// What a file holds.
///
/// # Errors
/// A path that is none, or of no file.
pub(in super::super) fn get(tree: &Tree, path: &str) -> Result<Vec<u8>> {
    let file = find(tree, path)?;
    let stat = tree.stat(file).filter(|stat| stat.kind == Kind::File);
    let stat = stat.ok_or_else(|| Error::usage(format_args!("{path} is a folder in /work, and no file")))?;
    let mut bytes = vec![0; usize::try_from(stat.bytes).map_err(Error::internal)?];
    tree.read(file, 0, &mut bytes).map_err(|errno| Error::internal(format_args!("{errno:?} reading {path}")))?;
    Ok(bytes)
}

/// Removes a file, or a folder with all that is in it.
///
/// # Errors
/// A path that is none, or of nothing that is there.
pub(in super::super) fn remove(tree: &mut Tree, path: &str, now: u64) -> Result<()> {
    let file = find(tree, path)?;
    let folder = tree.parent(file).unwrap_or(Tree::WORK);
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    remove_all(tree, (folder, name), now).map_err(|errno| Error::internal(format_args!("{errno:?} removing {path}")))
}

/// No deeper than the quota lets a tree grow.
fn remove_all(tree: &mut Tree, (folder, name): (Ino, &str), now: u64) -> Result<(), Errno> {
    match tree.unlink(folder, name, now) {
        Err(Errno::Isdir) => {}
        done => return done,
    }
    let itself = tree.lookup(folder, name)?;
    for (name, _, _) in tree.list(itself)? {
        remove_all(tree, (itself, &name), now)?;
    }
    tree.remove_folder(folder, name, now)
}

fn find(tree: &Tree, path: &str) -> Result<Ino> {
    let found = names(path)?.into_iter().try_fold(Tree::WORK, |folder, name| tree.lookup(folder, name));
    found.map_err(|_| Error::usage(format_args!("there is no {path} in /work")))
}
