//! The wheels that a user named, as files or in folders. A file's name says which wheel it should be; whether it is, its
//! hash tells when it is unpacked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::artefact::is_wheel;
use crate::{Error, Result};

/// The environment variable that names them.
pub(crate) const MODEL_WHEEL: &str = "SLM_CODE_INTERPRETER_MODEL_WHEEL";

#[derive(Debug, Default)]
pub(super) struct Wheels(BTreeMap<String, PathBuf>);

impl Wheels {
    /// # Errors
    /// Unavailable: one of the paths is nothing that can be read.
    pub(super) fn named(paths: &[PathBuf]) -> Result<Self> {
        let mut found = BTreeMap::new();
        for path in paths {
            let refused = |error: std::io::Error| {
                Error::unavailable(error)
                    .context(path.display())
                    .advise(format!("let {MODEL_WHEEL} name wheels, or a folder with wheels, that you can read"))
            };
            let files = match path.metadata().map_err(refused)?.is_dir() {
                true => path.read_dir().map_err(refused)?.flatten().map(|entry| entry.path()).collect(),
                false => vec![path.clone()],
            };
            for file in files.into_iter().filter(|file| is_wheel(file)) {
                let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
                found.entry(name.unwrap_or_default()).or_insert(file);
            }
        }
        Ok(Self(found))
    }

    pub(super) fn get(&self, file: &str) -> Option<&Path> {
        self.0.get(file).map(PathBuf::as_path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_are_found_by_name_in_folders_and_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        std::fs::create_dir(place("many")).unwrap();
        for name in ["one.whl", "many/two.whl", "many/three.WHL", "many/one.whl", "many/four.txt"] {
            std::fs::write(place(name), "x").unwrap();
        }
        let wheels = Wheels::named(&[place("one.whl"), place("many")]).unwrap();
        assert_eq!(wheels.get("one.whl"), Some(place("one.whl").as_path()), "what is named first");
        assert_eq!(wheels.get("two.whl"), Some(place("many/two.whl").as_path()));
        assert!(wheels.get("three.WHL").is_some() && wheels.get("four.txt").is_none() && wheels.get("many").is_none());
        let error = Wheels::named(&[place("none.whl")]).unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains("none.whl"), "{error}");
    }
}
