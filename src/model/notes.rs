//! Small things worth remembering between runs, as JSON files in the cache folder: what is lost or damaged is only
//! found out again.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::provision::not_ours_nor_roots;

const FOLDER: &str = "notes";
const MAX_NOTE: u64 = 4 << 20;

/// The folder of notes in a cache folder. Where no cache folder is, nothing is noted: to make it is not for notes.
#[derive(Clone, Debug)]
pub(super) struct Notes {
    folder: PathBuf,
    look_only: bool,
}

impl Notes {
    pub fn of(cache: &Path) -> Self {
        Self { folder: cache.join(FOLDER), look_only: false }
    }

    /// The same, but nothing is ever noted.
    pub fn inspect(cache: &Path) -> Self {
        Self { look_only: true, ..Self::of(cache) }
    }

    /// What was noted as `name`, if it can be read and nobody else could have written it.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let path = self.path(name);
        let file = File::open(&path).ok()?;
        let facts = file.metadata().ok().filter(|facts| facts.is_file() && facts.len() <= MAX_NOTE)?;
        if let Some(why) = not_ours_nor_roots(&facts) {
            log::warn!("{} {why}, so it is not read", path.display());
            return None;
        }
        let mut text = Vec::new();
        file.take(MAX_NOTE).read_to_end(&mut text).ok()?;
        serde_json::from_slice(&text).map_err(|error| log::debug!("{}: {error}", path.display())).ok()
    }

    /// Notes `value`, whole or not at all.
    pub fn write(&self, name: &str, value: &impl Serialize) {
        if self.look_only {
            return;
        }
        let path = self.path(name);
        let written = || -> std::io::Result<()> {
            let text = serde_json::to_vec(value)?;
            if text.len() as u64 > MAX_NOTE {
                return Err(std::io::Error::other("too long"));
            }
            match fs::create_dir(&self.folder) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(&text)?;
            file.persist(&path)?;
            Ok(())
        };
        if let Err(error) = written() {
            log::debug!("{} could not be noted: {error}", path.display());
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::of(folder.path());
        assert_eq!(notes.read::<Vec<u32>>("x"), None);
        notes.write("x", &vec![1, 2]);
        assert_eq!(notes.read("x"), Some(vec![1, 2]));
        assert_eq!(notes.read::<String>("x"), None, "of another kind");
        fs::write(folder.path().join("notes/x.json"), "[1, 2").unwrap();
        assert_eq!(notes.read::<Vec<u32>>("x"), None, "damaged");
        notes.write("x", &"y".repeat(MAX_NOTE as usize));
        assert_eq!(notes.read::<String>("x"), None, "too long to be noted");
    }

    #[test]
    fn a_look_notes_nothing_and_no_note_makes_a_cache() {
        let folder = tempfile::tempdir().unwrap();
        Notes::inspect(folder.path()).write("x", &1);
        assert!(!folder.path().join(FOLDER).exists());
        Notes::of(folder.path()).write("x", &1);
        assert_eq!(Notes::inspect(folder.path()).read("x"), Some(1));
        let absent = folder.path().join("absent");
        Notes::of(&absent).write("x", &1);
        assert!(!absent.exists(), "its mode is not for us to choose");
    }

    #[cfg(unix)]
    #[test]
    fn what_others_can_write_is_not_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let notes = Notes::of(folder.path());
        notes.write("x", &1);
        fs::set_permissions(folder.path().join("notes/x.json"), fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(notes.read::<u32>("x"), None);
    }
}
