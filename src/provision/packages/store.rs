//! What is kept of packages: locks by their requests, wheels by their digests, and the folders that sessions see by both.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::super::pip::Pip;
use super::choose::{Chooser, offered};
use super::lock::{Lock, Pin};
use super::request::read;
use super::{Inside, PackageRequest, Room, unpack};
use crate::error::OrInternal;
use crate::provision::{Cache, Folder, PYTHON, fetch};
use crate::{Cancel, Config, Error, Progress, Result, Step};

/// The kinds in the cache.
const LOCKS: &str = "package-locks";
const WHEELS: &str = "wheels";
const SITES: &str = "packages";
/// Counts up when a folder of packages is made another way.
const FORMAT: &str = "1";
const LOCK_FILE: &str = "lock.txt";
/// In a folder of packages: what guests see.
pub(crate) const SITE: &str = "site";

/// Where packages are kept and how they are had.
pub(crate) struct Store<'a> {
    cache: Cache,
    config: &'a Config,
    /// What the interpreter has already, once somebody asks.
    inside: OnceCell<Vec<Inside>>,
    pip: Pip,
    progress: &'a Progress,
    cancel: &'a Cancel,
}

/// Wheels that pip has chosen, in a staging folder.
pub(crate) struct Chosen {
    wheels: Vec<Wheel>,
    /// Of the packages whose version was left open, the versions that exist.
    pub(crate) offered: BTreeMap<String, Vec<String>>,
}

struct Wheel {
    path: PathBuf,
    name: String,
    version: String,
    sha256: String,
}

impl<'a> Store<'a> {
    pub(crate) fn open(config: &'a Config, progress: &'a Progress, cancel: &'a Cancel) -> Result<Self> {
        let cache = Cache::open(&config.cache_dir)?;
        Ok(Self { cache, config, inside: OnceCell::new(), pip: Pip::default(), progress, cancel })
    }

    #[cfg(test)]
    pub(super) fn with(self, inside: Vec<Inside>, pip: Pip) -> Self {
        Self { inside: inside.into(), pip, ..self }
    }

    pub(crate) fn progress(&self) -> &Progress {
        self.progress
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        self.cancel
    }

    /// What the interpreter has already.
    ///
    /// # Errors
    /// Unavailable, when its files are not to be had.
    pub(crate) fn inside(&self) -> Result<&[Inside]> {
        if let Some(inside) = self.inside.get() {
            return Ok(inside);
        }
        let python = fetch(&PYTHON, self.config, &self.cache, self.progress, self.cancel)?;
        let inside = Inside::all(&python)?;
        Ok(self.inside.get_or_init(|| inside))
    }

    /// The lock of a request: that of the user's file, else that of the cache, else what `settle` makes of it, which
    /// gets an empty folder. One that was made is written into the user's file.
    pub(crate) fn lock(&self, request: &PackageRequest, settle: impl FnOnce(&Path) -> Result<Lock>) -> Result<Lock> {
        let file = request.lock.as_deref();
        if let Some(file) = file
            && file.symlink_metadata().is_ok()
        {
            let lock = read(file).and_then(|text| Lock::parse(&text));
            return lock.and_then(|lock| self.without_inside(lock)).map_err(|error| {
                error.context(format!("the lock {}", file.display())).advise("remove it to choose anew, or mend it")
            });
        }
        let texts = request.texts();
        if texts.is_empty() {
            let file = file.map(|file| file.display().to_string()).unwrap_or_default();
            return Err(Error::usage(format!("there is no lock {file}, and no packages are named to make one of"))
                .advise("name them, as with --with rich"));
        }
        let key = self.key(request);
        let folder =
            self.cache.folder(LOCKS, &key, "the choice of packages", self.progress, self.cancel, |staging| {
                if self.config.offline {
                    return Err(self.offline_without("the choice of packages for this request"));
                }
                let work =
                    tempfile::Builder::new().prefix("pip").tempdir_in(staging).or_internal("preparing the download")?;
                let lock = settle(work.path())?;
                work.close().or_internal("removing the download")?;
                let path = staging.join(LOCK_FILE);
                fs::write(&path, lock.text(&texts)).or_internal(path.display())
            })?;
        let path = folder.path().join(LOCK_FILE);
        let text = fs::read_to_string(&path).or_internal(path.display())?;
        if let Some(file) = file {
            write_new(file, &text)?;
        }
        Lock::parse(&text)
    }

    /// pip's choice for the request and these further lines, as wheels below `folder`.
    ///
    /// # Errors
    /// What pip refuses; a wheel that is not pure, or not the one that the request has a hash of.
    pub(crate) fn choose(&self, request: &PackageRequest, more: &[String], folder: &Path) -> Result<Chosen> {
        let mut lines = request.texts();
        lines.extend(more.iter().map(String::as_str));
        let names: Vec<_> = request.requirements.iter().map(|requirement| requirement.name.as_str()).collect();
        let what = format!("choosing packages for {}", names.join(", "));
        let inside = self.inside()?;
        let chooser = Chooser { pip: &self.pip, progress: self.progress, cancel: self.cancel };
        let paths = self.progress.during(&what, None, || chooser.choose(&lines, inside, folder))?;
        let wheels = paths.into_iter().map(|path| self.wheel(path)).collect::<Result<Vec<_>>>()?;
        for wheel in &wheels {
            let named = request.requirements.iter().filter(|requirement| requirement.name == wheel.name);
            let mut wanted = named.flat_map(|requirement| &requirement.hashes).peekable();
            if wanted.peek().is_some() && !wanted.any(|hash| *hash == wheel.sha256) {
                let text =
                    format!("the wheel of {} {} has none of the hashes that are asked for", wheel.name, wheel.version);
                return Err(Error::unavailable(text).advise("do not use it, or correct the requirements file"));
            }
        }
        let open = request.requirements.iter().filter(|requirement| requirement.is_open());
        let open: Vec<_> = open.map(|requirement| requirement.name.as_str()).collect();
        Ok(Chosen { wheels, offered: offered(&open, folder) })
    }

    /// Keeps those of the chosen wheels that are `needed`, and says which they are.
    pub(crate) fn keep(&self, chosen: Chosen, needed: impl Fn(&str) -> bool) -> Result<Lock> {
        let mut pins = BTreeMap::new();
        for wheel in chosen.wheels.into_iter().filter(|wheel| needed(&wheel.name)) {
            self.keep_wheel(&wheel)?;
            pins.insert(wheel.name, Pin { version: wheel.version, hashes: vec![wheel.sha256] });
        }
        Ok(Lock { pins })
    }

    /// The wheels of a lock, fetched by way of `staging` where they are not in the cache, in the order of their names.
    ///
    /// # Errors
    /// Unavailable: what pip says, a wheel of another digest, no network allowed.
    pub(crate) fn wheels(&self, lock: &Lock, staging: &Path) -> Result<Vec<PathBuf>> {
        let missing: BTreeMap<_, _> = lock
            .pins
            .iter()
            .filter(|(name, pin)| self.find(name, pin).is_none())
            .map(|(n, p)| (n.clone(), p.clone()))
            .collect();
        if !missing.is_empty() {
            let names = missing.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            if self.config.offline {
                return Err(self.offline_without(&names));
            }
            let folder =
                tempfile::Builder::new().prefix("pip").tempdir_in(staging).or_internal("preparing the download")?;
            let chooser = Chooser { pip: &self.pip, progress: self.progress, cancel: self.cancel };
            let missing = Lock { pins: missing };
            let fetch = || chooser.fetch(&missing, folder.path());
            for path in self.progress.during(&format!("fetching the locked packages {names}"), None, fetch)? {
                let wheel = self.wheel(path)?;
                let locked = missing.pins.get(&wheel.name).is_some_and(|pin| pin.hashes.contains(&wheel.sha256));
                if !locked {
                    return Err(Error::unavailable(format!(
                        "{} {} is not the one that is locked",
                        wheel.name, wheel.version
                    )));
                }
                self.keep_wheel(&wheel)?;
            }
        }
        let found = |(name, pin): (&String, &Pin)| {
            self.find(name, pin).ok_or_else(|| Error::unavailable(format!("pip did not bring {name} {}", pin.version)))
        };
        lock.pins.iter().map(found).collect()
    }

    /// The folder that holds what sessions see for this request and lock, made by `build` if need be, which gets a staging
    /// folder and the one in it to be filled.
    pub(crate) fn site(
        &self,
        request: &PackageRequest,
        lock: &Lock,
        build: impl FnOnce(&Path, &Path) -> Result<()>,
    ) -> Result<Folder> {
        let parts = [self.key(request), lock.digest(), FORMAT.to_owned()];
        let key = format!("{}-{}", generation(), &format!("{:x}", Sha256::digest(parts.join("\n")))[..32]);
        self.cache.folder(SITES, &key, "the packages", self.progress, self.cancel, |staging| {
            let site = staging.join(SITE);
            fs::create_dir(&site).or_internal(site.display())?;
            build(staging, &site)
        })
    }

    /// Unpacks wheels into the folder that sessions will see.
    pub(crate) fn unpack(&self, wheels: &[PathBuf], site: &Path, room: &mut Room) -> Result<()> {
        self.progress.during("unpacking the packages", None, || {
            for path in wheels {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let mut file = File::open(path).or_internal(path.display())?;
                room.unpack(&mut file, site, self.cancel).map_err(|error| {
                    error.context(name).advise("name another version, or do without it: only pure Python runs inside")
                })?;
            }
            Ok(())
        })
    }

    /// Whether a folder of the cache belongs to this version's interpreter.
    pub(crate) fn keeps(kind: &str, key: &str) -> bool {
        matches!(kind, SITES | LOCKS) && key.starts_with(&format!("{}-", generation()))
    }

    fn offline_without(&self, what: &str) -> Error {
        Error::unavailable(format!("working offline, and {what} is not in the cache"))
            .advise("run the same once with network, or `setup --with …` ahead of time")
    }

    /// Names a request, and what is inside.
    fn key(&self, request: &PackageRequest) -> String {
        format!("{}-{}", generation(), &format!("{:x}", Sha256::digest(request.identity()))[..32])
    }

    fn without_inside(&self, mut lock: Lock) -> Result<Lock> {
        for inside in self.inside()? {
            if lock.pins.remove(&inside.normal_name()).is_some_and(|pin| pin.version != inside.version) {
                let text = format!("{} {} is inside and stays, whatever the lock says", inside.name, inside.version);
                self.progress.step(Step::Note { text: &text });
            }
        }
        Ok(lock)
    }

    /// Looks at a wheel that pip brought.
    fn wheel(&self, path: PathBuf) -> Result<Wheel> {
        let file = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (name, version) = unpack::pure(file).map_err(|why| {
            Error::unavailable(why)
                .advise("only wheels of pure Python run inside: name another version, or do without it")
        })?;
        let sha256 = sha256(&path, self.cancel)?;
        Ok(Wheel { path, name, version, sha256 })
    }

    fn keep_wheel(&self, wheel: &Wheel) -> Result<Folder> {
        let Wheel { path, name, version, sha256 } = wheel;
        let what = format!("{name} {version}");
        self.cache.folder(WHEELS, &sha256[..32], &what, self.progress, self.cancel, |staging| {
            let to = staging.join(file_name(name, version));
            fs::copy(path, &to).or_internal(to.display())?;
            // The copy is what counts from here on.
            if self::sha256(&to, self.cancel)? != *sha256 {
                return Err(Error::internal(format!("{} changed while it was copied", path.display())));
            }
            Ok(())
        })
    }

    fn find(&self, name: &str, pin: &Pin) -> Option<PathBuf> {
        let of = |hash: &String| {
            let folder = self.cache.find(WHEELS, &hash[..32])?;
            // Its version may be spelt another way in a lock, its name not.
            let start = file_name(name, "").replace(".whl", "");
            let mut files = fs::read_dir(folder.path()).ok()?.flatten().map(|entry| entry.path());
            files.find(|path| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&start)))
        };
        pin.hashes.iter().find_map(of)
    }
}

impl Chosen {
    /// Name and place of each.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        self.wheels.iter().map(|wheel| wheel.path.clone()).collect()
    }
}

/// Stands for the interpreter and so for all that is inside.
fn generation() -> String {
    let python = PYTHON.place().map(|(_, key)| key).unwrap_or_default();
    format!("{:x}", Sha256::digest(python))[..12].to_owned()
}

fn file_name(name: &str, version: &str) -> String {
    format!("{}-{version}.whl", name.replace('-', "_"))
}

fn sha256(path: &Path, cancel: &Cancel) -> Result<String> {
    let mut file = File::open(path).or_internal(path.display())?;
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        cancel.check()?;
        match file.read(&mut buffer).or_internal(path.display())? {
            0 => return Ok(format!("{:x}", hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// Writes a file that is not there, whole or not at all.
fn write_new(path: &Path, text: &str) -> Result<()> {
    use std::io::Write;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let write = || {
        let mut file = tempfile::Builder::new().prefix(".lock-").tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        std::io::Result::Ok(())
    };
    write().map_err(|error| Error::usage(error).context(format!("cannot write the lock {}", path.display())))
}
