//! The hub's cache on the disk, as every tool keeps it: `models--org--name/` with `refs/` (which commit a branch is),
//! `snapshots/COMMIT/` (files by their names, as links) and `blobs/` (their contents, by their tags).
//!
//! A blob has its name only when it is whole; until then it is `TAG.incomplete`, and who writes that holds the lock
//! `.locks/models--org--name/TAG.lock`, as `huggingface_hub` does too.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::choice::{Listed, matters};
use crate::error::OrInternal;
use crate::progress::{Progress, Step};
use crate::{Cancel, Error, Result};

/// How long a waiting process takes to notice that the lock is free; a cancel it notices at once.
const LOCK_POLL: Duration = Duration::from_millis(100);
const MAX_FILE_NAME: usize = 512;
const MAX_DEPTH: usize = 8;
const MAX_TAG: usize = 128;
/// A snapshot that another tool filled holds a repository's files at most.
const MAX_FILES: usize = 10_000;

/// One repository's folder in the cache.
#[derive(Debug)]
pub(super) struct Layout {
    cache: PathBuf,
    folder: String,
}

impl Layout {
    /// `repo` is `org/name`.
    pub fn new(cache: &Path, repo: &str) -> Self {
        Self { cache: cache.into(), folder: format!("models--{}", repo.replace('/', "--")) }
    }

    /// The commit that `revision` was when it was last fetched.
    pub fn commit(&self, revision: &str) -> Option<String> {
        let mut text = String::new();
        let read = File::open(self.refs(revision)).and_then(|file| file.take(256).read_to_string(&mut text));
        let known = read.ok().map(|_| text.trim()).filter(|commit| is_tag(commit));
        // A commit names itself.
        known
            .or(Some(revision).filter(|revision| is_tag(revision) && self.snapshot(revision).is_dir()))
            .map(str::to_owned)
    }

    pub fn snapshot(&self, commit: &str) -> PathBuf {
        self.root().join("snapshots").join(commit)
    }

    pub fn blob(&self, tag: &str) -> PathBuf {
        self.root().join("blobs").join(tag)
    }

    /// Where a blob is written until it is whole.
    pub fn part(&self, tag: &str) -> PathBuf {
        self.root().join("blobs").join(format!("{tag}.incomplete"))
    }

    /// The file `name` of a commit, if it is there whole.
    pub fn file(&self, commit: &str, name: &str, bytes: Option<u64>) -> Option<PathBuf> {
        let path = self.snapshot(commit).join(name);
        let facts = path.metadata().ok().filter(|facts| facts.is_file())?;
        bytes.is_none_or(|bytes| bytes == facts.len()).then_some(path)
    }

    /// A file of that size which is the blob `sha256`, or, as tools without links keep it, has the name `name` in some commit.
    pub fn held(&self, name: &str, sha256: &str, bytes: u64) -> Option<PathBuf> {
        let fits = |path: &PathBuf| path.metadata().is_ok_and(|facts| facts.is_file() && facts.len() == bytes);
        let commits = fs::read_dir(self.root().join("snapshots")).into_iter().flatten().flatten();
        let named = commits.take(MAX_FILES).map(|commit| commit.path().join(name));
        std::iter::once(self.blob(sha256)).chain(named).find(fits)
    }

    /// The files of a commit that could be part of a model.
    pub fn list(&self, commit: &str) -> Vec<Listed> {
        let (top, mut found, mut folders) = (self.snapshot(commit), Vec::new(), vec![String::new()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(top.join(&folder)).into_iter().flatten().flatten() {
                let Ok(file) = entry.file_name().into_string() else { continue };
                let name = if folder.is_empty() { file } else { format!("{folder}/{file}") };
                let Ok(facts) = top.join(&name).metadata() else { continue };
                if !is_plain(&name) || found.len() + folders.len() >= MAX_FILES {
                    continue;
                }
                // A folder that is a link could lead round in a circle.
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(name);
                } else if facts.is_file() && matters(&name) {
                    found.push(Listed { name, bytes: Some(facts.len()) });
                }
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Makes the folders for a blob and waits for the right to write it.
    pub fn lock(&self, tag: &str, what: &str, progress: &Progress, cancel: &Cancel) -> Result<File> {
        let locks = self.cache.join(".locks").join(&self.folder);
        for folder in [&locks, &self.root().join("blobs")] {
            fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
        }
        let path = locks.join(format!("{tag}.lock"));
        let open = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(|error| unusable(&path, &error))?;
        let mut said = false;
        loop {
            cancel.check()?;
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(unusable(&path, &error)),
                Err(TryLockError::WouldBlock) if !said => {
                    said = true;
                    progress.step(Step::Note { text: &format!("waiting for another process that is fetching {what}") });
                }
                Err(TryLockError::WouldBlock) => {}
            }
            cancel.sleep(LOCK_POLL);
        }
    }

    /// Gives the whole blob `tag` its name `name` in the commit.
    pub fn point(&self, commit: &str, name: &str, tag: &str) -> Result<()> {
        let place = self.snapshot(commit).join(name);
        let doing = || format!("placing {}", place.display());
        fs::create_dir_all(place.parent().unwrap_or(&place)).or_internal(doing())?;
        let up = "../".repeat(name.matches('/').count() + 2);
        let target = PathBuf::from(format!("{up}blobs/{tag}"));
        let blob = self.blob(tag);
        let len = blob.metadata().or_internal(doing())?.len();
        // Another tool may have put the file itself there.
        let is_there = place.metadata().is_ok_and(|found| found.is_file() && found.len() == len);
        if is_there || fs::read_link(&place).is_ok_and(|found| found == target) {
            return Ok(());
        }
        remove(&place).or_internal(doing())?;
        match link(&target, &place) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                // Where links are not to be had the file itself lies there, and the cache holds no blob of it.
                fs::rename(blob, &place).or_internal(doing())
            }
            // Another process was faster, with the same link.
            _ => Ok(()),
        }
    }

    /// Takes the name `name` out of the commit; a blob that it led to stays.
    pub fn unpoint(&self, commit: &str, name: &str) -> Result<()> {
        let place = self.snapshot(commit).join(name);
        remove(&place).or_internal(format!("removing {}", place.display()))
    }

    /// Notes which commit `revision` is.
    pub fn remember(&self, revision: &str, commit: &str) -> Result<()> {
        if revision == commit || self.commit(revision).as_deref() == Some(commit) {
            return Ok(());
        }
        let place = self.refs(revision);
        let doing = || format!("noting {}", place.display());
        let folder = place.parent().unwrap_or(&place);
        fs::create_dir_all(folder).or_internal(doing())?;
        let note = tempfile::Builder::new().prefix(".ref").tempfile_in(folder).or_internal(doing())?;
        fs::write(note.path(), commit).or_internal(doing())?;
        note.persist(&place).map(drop).or_internal(doing())
    }

    fn root(&self) -> PathBuf {
        self.cache.join(&self.folder)
    }

    fn refs(&self, revision: &str) -> PathBuf {
        self.root().join("refs").join(revision)
    }
}

/// The blob's tag that a file of a snapshot leads to, when that is the SHA-256 of its content.
pub(super) fn sha256_of(file: &Path) -> Option<String> {
    let target = fs::read_link(file).ok()?;
    target.file_name()?.to_str().filter(|tag| is_sha256(tag)).map(str::to_owned)
}

pub(super) fn is_sha256(tag: &str) -> bool {
    tag.len() == 64 && tag.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Whether `tag` may name a commit or a blob on the disk.
pub(super) fn is_tag(tag: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !tag.is_empty() && tag.len() <= MAX_TAG && !tag.starts_with('.') && tag.bytes().all(plain)
}

/// Whether `name`, which a server or a folder gave, is a relative path that goes only down, on every system.
pub(super) fn is_plain(name: &str) -> bool {
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with([' ', '.']);
    let strange = |c: char| c.is_control() || "\\:*?\"<>|".contains(c);
    name.len() <= MAX_FILE_NAME
        && name.split('/').count() <= MAX_DEPTH
        && name.split('/').all(part)
        && !name.contains(strange)
}

pub(super) fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::unavailable(error)
        .context(format!("the hub's cache, {}", path.display()))
        .advise("set HF_HOME to a folder on a local disk that you can write")
}

#[cfg(unix)]
fn link(target: &Path, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(windows)]
fn link(target: &Path, place: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_file(target, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_go_down_are_plain() {
        for name in ["model.gguf", "onnx/model_q4.onnx", "a/b/c/d/e/f/g/h"] {
            assert!(is_plain(name), "{name}");
        }
        let long = "x".repeat(513);
        for name in [
            "",
            "/x",
            "x/",
            "../x",
            "a/../b",
            "a//b",
            ".",
            "..",
            "a\\b",
            "C:x",
            "a\0b",
            "a\nb",
            ".git/x",
            "a/.x",
            "x.",
            "x ",
            "a/b/c/d/e/f/g/h/i",
            &long,
        ] {
            assert!(!is_plain(name), "{name:?}");
        }
    }

    #[test]
    fn tags_cannot_leave_their_folder() {
        assert!(is_tag("aaaa") && is_sha256(&"0f".repeat(32)) && !is_sha256(&"0F".repeat(32)) && !is_sha256("0f"));
        for tag in ["", "..", ".x", "a/b", "a\\b", "a b", &"a".repeat(129)] {
            assert!(!is_tag(tag), "{tag:?}");
        }
    }

    #[test]
    fn a_blob_gets_names_and_a_commit_its_branch() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path(), "org/name");
        let tag = "ab".repeat(32);
        assert_eq!(layout.commit("main"), None);
        layout.lock(&tag, "x", &Progress::default(), &Cancel::new()).unwrap();
        fs::write(layout.blob(&tag), "12345").unwrap();
        for name in ["x.gguf", "onnx/model.onnx"] {
            assert_eq!(layout.file("c0", name, None), None);
            layout.point("c0", name, &tag).unwrap();
            layout.point("c0", name, &tag).unwrap();
            let file = layout.file("c0", name, Some(5)).unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"12345");
            assert_eq!(layout.file("c0", name, Some(6)), None, "of another size");
            assert_eq!(sha256_of(&file).as_deref(), Some(tag.as_str()));
        }
        let blob = layout.blob(&tag);
        assert_eq!(layout.held("x.gguf", &tag, 5), Some(blob));
        assert_eq!(layout.held("x.gguf", &"cd".repeat(32), 5), layout.file("c0", "x.gguf", None), "by its name");
        assert_eq!(layout.held("y.gguf", &tag, 6), None, "of another size");
        layout.remember("main", "c0").unwrap();
        layout.remember("refs/pr/1", "c0").unwrap();
        assert_eq!(layout.commit("main").as_deref(), Some("c0"));
        assert_eq!(layout.commit("refs/pr/1").as_deref(), Some("c0"));
        assert_eq!(layout.commit("c0").as_deref(), Some("c0"));
        let names: Vec<_> = layout.list("c0").into_iter().map(|file| (file.name, file.bytes)).collect();
        assert_eq!(names, [("onnx/model.onnx".to_owned(), Some(5)), ("x.gguf".to_owned(), Some(5))]);
        assert!(folder.path().join("models--org--name/refs/main").is_file());
    }

    #[test]
    fn a_wrong_file_does_not_keep_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path(), "org/name");
        let (tag, other) = ("ab".repeat(32), "cd".repeat(32));
        layout.lock(&tag, "x", &Progress::default(), &Cancel::new()).unwrap();
        fs::write(layout.blob(&tag), "12345").unwrap();
        fs::write(layout.blob(&other), "1234").unwrap();
        let place = layout.snapshot("c0").join("x.gguf");
        let content = || fs::read(&place).unwrap();
        layout.point("c0", "x.gguf", &other).unwrap();
        assert_eq!(content(), b"1234");
        layout.point("c0", "x.gguf", &tag).unwrap();
        assert_eq!(content(), b"12345", "a link to another blob");
        layout.unpoint("c0", "x.gguf").unwrap();
        assert!(place.symlink_metadata().is_err() && layout.blob(&tag).is_file());
        fs::write(&place, "half").unwrap();
        layout.point("c0", "x.gguf", &tag).unwrap();
        assert_eq!(content(), b"12345", "a file that was cut");
        layout.unpoint("c0", "x.gguf").unwrap();
        fs::write(&place, "54321").unwrap();
        layout.point("c0", "x.gguf", &tag).unwrap();
        assert_eq!(content(), b"54321", "as tools without links keep it");
    }

    #[test]
    fn a_branch_that_leads_elsewhere_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path(), "org/name");
        fs::create_dir_all(layout.refs("")).unwrap();
        fs::write(layout.refs("main"), "../../../etc").unwrap();
        assert_eq!(layout.commit("main"), None);
    }
}
