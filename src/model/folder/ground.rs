//! The ground that a model's files may lie on: its own folder and, in the hub's cache, the blobs of its own repository.
//!
//! A snapshot in the hub's cache consists of links into `blobs/` beside it, so links are followed, and what counts is
//! where they end. What others could change between this look and ONNX Runtime's own reading is refused.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::provision::not_ours_nor_roots;
use crate::{Error, Result};

/// A model's folder.
pub(super) struct Ground {
    folder: PathBuf,
    /// Folders that a file may end in, as they are called without links; each with the folders above it that are the
    /// model's as well.
    roots: Vec<PathBuf>,
    name: String,
}

/// A file that may be read.
pub(super) struct Found {
    pub path: PathBuf,
    pub len: u64,
}

impl Ground {
    pub fn new(folder: &Path) -> Result<Self> {
        let folder =
            fs::canonicalize(folder).map_err(|error| Error::usage(error).context(format!("`{}`", folder.display())))?;
        let mut roots = vec![folder.clone()];
        let mut name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some((repository, snapshot)) = in_hub(&folder) {
            let shown = repository.file_name().unwrap_or_default().to_string_lossy();
            name = shown.trim_start_matches(HUB_PREFIX).replacen("--", "/", 1);
            roots = vec![snapshot, repository.join("blobs")];
            trusted(repository)?;
            trusted(&repository.join("snapshots"))?;
        }
        for root in &roots {
            trusted(root)?;
        }
        Ok(Self { folder, roots, name })
    }

    /// What the model is called in answers.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn has(&self, relative: &Path) -> bool {
        self.folder.join(relative).exists()
    }

    /// The file `relative`, wherever its links lead, if that is on the ground and nobody else can change it.
    pub fn file(&self, relative: &Path) -> Result<Found> {
        let path = self.folder.join(relative);
        let doing = || format!("`{}`", relative.display());
        let end = fs::canonicalize(&path).map_err(|error| Error::model(error).context(doing()))?;
        let Some(root) = self.roots.iter().find(|root| end.starts_with(root)) else {
            return Err(Error::model("it leads out of the model's folder").context(doing()));
        };
        let facts = fs::metadata(&end).map_err(|error| Error::model(error).context(doing()))?;
        if !facts.is_file() {
            return Err(Error::model("it is not a regular file").context(doing()));
        }
        // The file itself and its folders, then the folders in which the links lie.
        let ends = end.ancestors().take_while(|path| path.starts_with(root));
        let links = path.ancestors().skip(1).take_while(|path| path.starts_with(&self.folder));
        ends.chain(links).try_for_each(trusted).map_err(|error| error.context(doing()))?;
        Ok(Found { path, len: facts.len() })
    }

    /// The content of `relative`, or `None` when there is no such file.
    pub fn read(&self, relative: &Path, most: u64) -> Result<Option<Vec<u8>>> {
        if fs::symlink_metadata(self.folder.join(relative)).is_err() {
            return Ok(None);
        }
        let Found { path, len } = self.file(relative)?;
        if len > most {
            return Err(Error::model(format!("`{}` has {len} bytes, more than {most}", relative.display())));
        }
        fs::read(path).map(Some).map_err(|error| Error::model(error).context(format!("`{}`", relative.display())))
    }

    /// The content of the file `name` in `folder`, or at the top when there is none.
    pub fn beside(&self, folder: &Path, name: &str, most: u64) -> Result<Option<Vec<u8>>> {
        match self.read(&folder.join(name), most)? {
            None if folder != Path::new("") => self.read(Path::new(name), most),
            found => Ok(found),
        }
    }

    /// As [`beside`](Self::beside), read as JSON.
    pub fn json<T: serde::de::DeserializeOwned>(&self, folder: &Path, name: &str, most: u64) -> Result<Option<T>> {
        let read = |bytes: Vec<u8>| {
            serde_json::from_slice(&bytes).map_err(|error| Error::model(error).context(format!("`{name}`")))
        };
        self.beside(folder, name, most)?.map(read).transpose()
    }
}

const HUB_PREFIX: &str = "models--";

/// The repository and the snapshot that `folder` is, or lies in, in a hub's cache.
fn in_hub(folder: &Path) -> Option<(&Path, PathBuf)> {
    folder.ancestors().find_map(|snapshot| {
        let snapshots = snapshot.parent().filter(|parent| parent.ends_with("snapshots"))?;
        let repository = snapshots.parent()?;
        let name = repository.file_name()?.to_str()?;
        name.starts_with(HUB_PREFIX).then(|| (repository, snapshot.to_path_buf()))
    })
}

/// Refuses what someone else can change.
pub(super) fn trusted(path: &Path) -> Result<()> {
    let facts = fs::metadata(path).map_err(|error| Error::model(error).context(format!("`{}`", path.display())))?;
    match not_ours_nor_roots(&facts) {
        None => Ok(()),
        Some(why) => Err(Error::model(format!("`{}` {why}, so what is in it cannot be trusted", path.display()))
            .advise(
                "take that right from others (`chmod -R go-w` on the folder), or copy the model to a place of yours",
            )),
    }
}

/// A location that an ONNX file gives, if it is a plain relative path. ONNX Runtime has special ones as well, which
/// begin with `*/` and mean addresses in memory.
pub(super) fn plain(location: &str) -> Result<&Path> {
    let path = Path::new(location);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    let odd = |c: char| c.is_control() || matches!(c, '*' | '\\' | ':' | '?');
    if location.is_empty() || location.contains(odd) || !path.components().all(is_plain) || location.starts_with("./") {
        return Err(Error::model("it is not a plain path inside the folder"));
    }
    Ok(path)
}
