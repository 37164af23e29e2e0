//! Results that come out of `/work` into a folder of the host's.
//!
//! The guest chose the names, and what is in the folder may be anybody's: every name is opened relative to the opened
//! folder that holds it, never through a link, nothing but a file is replaced, and that by a rename when the new one is
//! whole. What cannot be copied keeps nothing else from being copied.

use std::io::{self, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::Path;

use cap_fs_ext::DirExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use super::super::files::tree::{Ino, Tree};
use super::super::names::is_host_name;
use super::{Scratch, digest, walk_work};
use crate::{Cancel, Error, Result};

impl Scratch {
    /// Copies what cells created or modified into the host folder `to`, and names it.
    ///
    /// # Errors
    /// What the host's own folder says, of the first that could not be copied. All others are copied.
    pub(in super::super) fn export(&self, tree: &Tree, to: &Path) -> Result<Vec<String>> {
        let refused =
            |error: io::Error| Error::usage(error).context(format_args!("copying results to {}", to.display()));
        std::fs::create_dir_all(to).map_err(refused)?;
        let out = Dir::open_ambient_dir(to, ambient_authority()).map_err(refused)?;
        let (mut copied, mut failed) = (Vec::new(), Vec::new());
        let _: ControlFlow<()> = walk_work(tree, &mut |path, file| {
            let given = self.given.get(path);
            if given.is_none() || digest(tree, file, &Cancel::new()).as_ref() != given {
                match copy_out(tree, file, path, &out) {
                    Ok(()) => copied.push(path.to_owned()),
                    Err(error) => failed.push((path.to_owned(), error)),
                }
            }
            ControlFlow::Continue(())
        });
        let more = failed.len().saturating_sub(1);
        let Some((path, error)) = failed.into_iter().next() else { return Ok(copied) };
        let mut text = error.to_string();
        if more > 0 {
            text += &format!(" (and {more} more)");
        }
        let whole = format!("copying results to {}/{path}", to.display());
        Err(Error::usage(format_args!("{text}; {} others were copied", copied.len())).context(whole))
    }
}

fn copy_out(tree: &Tree, file: Ino, path: &str, out: &Dir) -> io::Result<()> {
    if let Some(name) = path.split('/').find(|name| !is_host_name(name)) {
        return Err(io::Error::other(format!("this system takes no file or folder of the name {name:?}")));
    }
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = folder(out.try_clone()?, folders)?;
    match folder.symlink_metadata(name) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(io::Error::other("something else than a file is in the way"));
        }
        _ => {}
    }
    let (beside, to) = beside(&folder)?;
    let written = write(tree, file, to).and_then(|()| folder.rename(&beside, &folder, name));
    if written.is_err() {
        // What went wrong first is told.
        let _ = folder.remove_file(&beside);
    }
    written
}

/// The folder of this path, made if it is not there.
fn folder(from: Dir, path: &str) -> io::Result<Dir> {
    path.split('/').filter(|name| !name.is_empty()).try_fold(from, |above, name| match above.symlink_metadata(name) {
        Ok(found) if found.is_dir() => above.open_dir_nofollow(name),
        Ok(_) => Err(io::Error::other("something else than a folder is in the way")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            above.create_dir(name)?;
            above.open_dir_nofollow(name)
        }
        Err(error) => Err(error),
    })
}

/// A new file, and its name, which no file of a cell's is likely to have.
fn beside(folder: &Dir) -> io::Result<(String, std::fs::File)> {
    let mut tries = 0_u32;
    loop {
        let name = format!(".copying-{}-{tries}", std::process::id());
        match folder.open_with(&name, OpenOptions::new().write(true).create_new(true)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 1000 => tries += 1,
            opened => return Ok((name, opened?.into_std())),
        }
    }
}

fn write(tree: &Tree, file: Ino, mut to: std::fs::File) -> io::Result<()> {
    let gone = |_| io::Error::from(io::ErrorKind::NotFound);
    for (at, piece) in tree.stored(file).map_err(gone)? {
        to.seek(SeekFrom::Start(at))?;
        to.write_all(piece)?;
    }
    // What is not stored is zeros, in the host's file as well.
    to.set_len(tree.stat(file).map_or(0, |stat| stat.bytes))
}
