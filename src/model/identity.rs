//! Which content a model file has, so that what is built from it is found again: by its digest, which is remembered
//! together with what would change if the content did, so that a gigabyte is not read at every start.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::notes::Notes;
use crate::progress::{Progress, Step};
use crate::provision::{Fingerprint, fingerprint, fingerprint_suffices};
use crate::{Cancel, Error, Result};

/// Bytes hashed between two looks at `cancel`.
const CHUNK: usize = 4 << 20;
/// Holds the SHA-256 of files.
const NOTE: &str = "checked";
/// More model files than anybody uses; the oldest are forgotten.
const MAX_REMEMBERED: usize = 256;
/// A file may be written twice between two ticks of its file system's clock, so a younger one is not remembered.
const SETTLED: Duration = Duration::from_secs(3);

/// The content of a file at one moment.
#[derive(Debug)]
pub(super) struct Identity {
    pub sha256: String,
    pub bytes: u64,
    seen: Fingerprint,
}

#[derive(Serialize, Deserialize)]
struct Remembered {
    path: String,
    seen: Fingerprint,
    digest: String,
}

impl Identity {
    /// Reads the file, unless it was read before and nothing about it has changed since.
    pub fn of(path: &Path, notes: &Notes, progress: &Progress, cancel: &Cancel) -> Result<Self> {
        let refused = |error: std::io::Error| unreadable(path, error);
        let mut file = File::open(path).map_err(refused)?;
        let facts = file.metadata().map_err(refused)?;
        let (seen, place) = (fingerprint(&facts), path.canonicalize().map_err(refused)?);
        let bytes = facts.len();
        if let Some(sha256) = recall(notes, &place, &seen) {
            return Ok(Self { sha256, bytes, seen });
        }
        let mut hasher = Sha256::new();
        each_chunk(&mut file, bytes, progress, cancel, &mut |chunk| hasher.update(chunk))
            .map_err(|error| error.of(path))?;
        let sha256 = format!("{:x}", hasher.finalize());
        if is_settled(&facts) && file.metadata().is_ok_and(|now| fingerprint(&now) == seen) {
            remember(notes, &place, seen, &sha256);
        }
        Ok(Self { sha256, bytes, seen })
    }

    /// Refuses the file if it may hold something else now than what was hashed.
    pub fn still(&self, path: &Path) -> Result<()> {
        let now = File::open(path).and_then(|file| file.metadata()).map_err(|error| unreadable(path, error))?;
        if fingerprint(&now) == self.seen {
            return Ok(());
        }
        Err(Error::usage("the file changed while it was read")
            .context(format!("the model file {}", path.display()))
            .advise("wait until it is written whole, then try again"))
    }
}

/// Whether the file's content is what its SHA-256 says.
pub(super) fn has_sha256(
    path: &Path,
    sha256: &str,
    notes: &Notes,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<bool> {
    Ok(Identity::of(path, notes, progress, cancel)?.sha256 == sha256)
}

/// Notes that the file has this SHA-256, for who has just written it, alone and whole.
pub(super) fn remember_sha256(path: &Path, sha256: &str, notes: &Notes) {
    if let (Ok(place), Ok(facts)) = (path.canonicalize(), path.metadata()) {
        remember(notes, &place, fingerprint(&facts), sha256);
    }
}

/// The digest that the file at `place` had, if nothing about it has changed since.
fn recall(notes: &Notes, place: &Path, seen: &Fingerprint) -> Option<String> {
    let text = place.to_str().filter(|_| fingerprint_suffices(place))?;
    let known: Vec<Remembered> = notes.read(NOTE)?;
    known.into_iter().find(|known| known.path == text && known.seen == *seen).map(|known| known.digest)
}

fn remember(notes: &Notes, place: &Path, seen: Fingerprint, digest: &str) {
    let Some(text) = place.to_str().filter(|_| fingerprint_suffices(place)) else { return };
    let mut known: Vec<Remembered> = notes.read(NOTE).unwrap_or_default();
    known.retain(|known| known.path != text);
    known.drain(..known.len().saturating_sub(MAX_REMEMBERED - 1));
    known.push(Remembered { path: text.into(), seen, digest: digest.into() });
    notes.write(NOTE, &known);
}

fn is_settled(facts: &Metadata) -> bool {
    facts.modified().is_ok_and(|time| time + SETTLED < SystemTime::now())
}

/// What a model from a file is called in answers.
pub(super) fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

enum Stopped {
    Unreadable(std::io::Error),
    Cancelled(Error),
}

impl Stopped {
    fn of(self, path: &Path) -> Error {
        match self {
            Self::Unreadable(error) => unreadable(path, error),
            Self::Cancelled(error) => error,
        }
    }
}

fn each_chunk(
    file: &mut File,
    len: u64,
    progress: &Progress,
    cancel: &Cancel,
    take: &mut dyn FnMut(&[u8]),
) -> Result<(), Stopped> {
    progress.during("reading the model file", Some(len), || {
        let (mut chunk, mut done) = (vec![0; CHUNK], 0);
        loop {
            cancel.check().map_err(Stopped::Cancelled)?;
            let read = file.read(&mut chunk).map_err(Stopped::Unreadable)?;
            if read == 0 {
                return Ok(());
            }
            take(&chunk[..read]);
            done += read as u64;
            progress.step(Step::Advance { done });
        }
    })
}

fn unreadable(path: &Path, error: std::io::Error) -> Error {
    Error::usage(error).context(format!("the model file {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::{Arc, Mutex};

    use super::*;

    struct Bench {
        folder: tempfile::TempDir,
        notes: Notes,
    }

    impl Bench {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let notes = Notes::of(folder.path());
            Self { folder, notes }
        }

        /// A file that was written long ago.
        fn file(&self, name: &str, content: &[u8]) -> PathBuf {
            let path = self.folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            self.age(&path, 1000);
            path
        }

        fn age(&self, path: &Path, seconds: u64) {
            let time = SystemTime::now() - Duration::from_secs(seconds);
            File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
        }

        /// The digest, and whether the file was read for it.
        fn look(&self, path: &Path) -> (String, bool) {
            let read = Arc::new(Mutex::new(false));
            let told = read.clone();
            let progress = Progress::new(move |step| *told.lock().unwrap() |= matches!(step, Step::Advance { .. }));
            let digest = Identity::of(path, &self.notes, &progress, &Cancel::new()).unwrap().sha256;
            (digest, *read.lock().unwrap())
        }
    }

    #[test]
    fn a_file_is_its_content() {
        let bench = Bench::new();
        let long = vec![7; CHUNK + 1];
        let [a, b] = ["a.gguf", "b.gguf"].map(|name| bench.file(name, &long));
        let first = bench.look(&a).0;
        assert_eq!(first, format!("{:x}", Sha256::digest(&long)));
        assert_eq!(first, bench.look(&b).0, "whatever its name");
        bench.file("a.gguf", &long[1..]);
        assert_ne!(first, bench.look(&a).0);
    }

    #[test]
    fn it_is_read_once_and_again_when_anything_about_it_changed() {
        let bench = Bench::new();
        let path = bench.file("a.gguf", b"GGUF");
        let (digest, read) = bench.look(&path);
        assert!(read);
        assert_eq!(bench.look(&path), (digest.clone(), false));
        // The same content at another time, then another content of the same size and at the same time.
        bench.age(&path, 500);
        assert_eq!(bench.look(&path), (digest.clone(), true));
        let time = path.metadata().unwrap().modified().unwrap();
        std::fs::write(&path, b"gguf").unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let (other, read) = bench.look(&path);
        assert!(read && other != digest);
        // Another file in its place.
        let beside = bench.file("beside", b"GGUF");
        std::fs::rename(&beside, &path).unwrap();
        assert_eq!(bench.look(&path), (digest, true));
    }

    #[test]
    fn a_file_that_was_just_written_is_not_remembered() {
        let bench = Bench::new();
        let path = bench.folder.path().join("a.gguf");
        std::fs::write(&path, "GGUF").unwrap();
        assert!(bench.look(&path).1 && bench.look(&path).1);
    }

    #[test]
    fn no_more_files_are_remembered_than_anybody_uses() {
        let bench = Bench::new();
        let known = |at: usize| Remembered { path: format!("/{at}"), seen: [0; 7], digest: String::new() };
        bench.notes.write(NOTE, &(0..MAX_REMEMBERED).map(known).collect::<Vec<_>>());
        let path = bench.file("a.gguf", b"GGUF");
        bench.look(&path);
        let known: Vec<Remembered> = bench.notes.read(NOTE).unwrap();
        assert_eq!((known.len(), known[0].path.as_str()), (MAX_REMEMBERED, "/1"));
        assert!(!bench.look(&path).1);
    }

    #[test]
    fn a_file_that_changes_meanwhile_is_noticed() {
        let bench = Bench::new();
        let path = bench.file("a.gguf", b"GGUF");
        let look = || Identity::of(&path, &bench.notes, &Progress::default(), &Cancel::new()).unwrap();
        let before = look();
        before.still(&path).unwrap();
        std::fs::write(&path, "GGUF, and more").unwrap();
        let error = before.still(&path).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains("changed while it was read"), "{error}");
        // The same size at another time.
        let before = look();
        bench.age(&path, 7);
        assert!(before.still(&path).is_err());
    }

    #[test]
    fn reading_a_file_tells_how_far_it_is_and_can_be_cancelled() {
        let bench = Bench::new();
        let path = bench.file("a.gguf", &vec![0; CHUNK * 2]);
        let cancel = Cancel::new();
        let (stop, seen) = (cancel.clone(), Arc::new(Mutex::new(Vec::new())));
        let steps = seen.clone();
        let progress = Progress::new(move |step| {
            if let Step::Advance { done } = step {
                steps.lock().unwrap().push(done);
                stop.cancel();
            }
        });
        assert!(Identity::of(&path, &bench.notes, &progress, &cancel).unwrap_err().is_cancelled());
        assert_eq!(*seen.lock().unwrap(), [CHUNK as u64]);
    }

    #[test]
    fn a_sha256_can_be_checked() {
        let bench = Bench::new();
        let path = bench.file("a.gguf", b"GGUF");
        let sha256 = format!("{:x}", Sha256::digest(b"GGUF"));
        let read = Arc::new(Mutex::new(false));
        let told = read.clone();
        let progress = Progress::new(move |step| *told.lock().unwrap() |= matches!(step, Step::Advance { .. }));
        // Whether it is right, and whether it was read for that.
        let check = |sha256: &str| {
            let is_right = has_sha256(&path, sha256, &bench.notes, &progress, &Cancel::new()).unwrap();
            (is_right, std::mem::take(&mut *read.lock().unwrap()))
        };
        assert_eq!(check(&"0".repeat(64)), (false, true));
        assert_eq!((check(&sha256), check(&sha256)), ((true, false), (true, false)), "it was read for the first look");
        bench.file("a.gguf", b"gguf");
        assert_eq!((check(&sha256), check(&sha256)), ((false, true), (false, false)), "changed");
        remember_sha256(&path, &sha256, &bench.notes);
        assert_eq!(check(&sha256), (true, false), "as who wrote it says");
    }
}
