//! The host's view of a session's `/work`: what a cell changed in it. Files go in by `put`, are looked at and removed by
//! `look`, and come out by `export`.

mod export;
pub(super) mod look;
mod put;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use sha2::{Digest, Sha256};

pub use look::FileEntry;

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
}

/// The names of a path below `/work`, as the host's callers give it.
///
/// # Errors
/// A path that is absolute or has empty names, `.` or `..` in it.
fn names(path: &str) -> Result<Vec<&str>> {
    let names: Vec<_> = path.split('/').collect();
    if names.iter().any(|name| matches!(*name, "" | "." | "..")) || path.contains('\0') {
        return Err(Error::usage(format_args!("{path:?} is not the path of a file in /work"))
            .advise("give it relative to /work and without . and .., as in folder/file.csv"));
    }
    Ok(names)
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

/// Goes through the files of `/work`.
fn walk_work<B>(tree: &Tree, each: &mut impl FnMut(&str, Ino) -> ControlFlow<B>) -> ControlFlow<B> {
    walk([tree; 2], [None, Some(Tree::WORK)], &mut String::new(), &mut |path, files| {
        files[1].map_or(ControlFlow::Continue(()), |file| each(path, file))
    })
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
mod tests;
