//! Folders of the host that its user gives to a session: what may be given, and where the guest finds it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::{fmt, io};

use cap_fs_ext::MetadataExt;
use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::super::hub::Place;
use super::super::tree::{MAX_NAME, MAX_PATH, Quota};
use super::account::Account;
use super::held::FileId;
use super::kernel;
use super::live::Live;
use crate::{Error, Result};

/// Folders that one session may be given.
const MOST: usize = 64;

/// The guest's own folders, which nothing may cover.
const TAKEN: [&str; 4] = ["dev", "tmp", "usr", "work"];

/// A folder of the host that a session may use, and where the guest finds it.
///
/// The session sees the folder as it is, also what changes in it meanwhile, but neither links nor anything else that is
/// no regular file or folder. What cells do to a writable one is not undone by anything.
#[derive(Clone)]
pub struct Mount(pub(super) Arc<Granted>);

/// The folder is opened once; whatever is done in it is done relative to that.
pub(super) struct Granted {
    /// The guest's name for it: absolute, without a slash at its end.
    pub(super) guest: String,
    pub(super) dir: Arc<Dir>,
    pub(super) writable: bool,
    /// The host's number of the device it is on.
    pub(super) device: u64,
    /// For messages to its owner alone.
    host: PathBuf,
    /// The caches of those who use it, mostly one.
    caches: RwLock<Vec<Arc<CacheFolder>>>,
}

impl Granted {
    /// Whether it is a cache.
    pub(super) fn hides(&self, id: FileId) -> bool {
        self.caches().iter().any(|cache| cache.way.first() == Some(&id))
    }

    /// Whether it is a cache, or holds one.
    pub(super) fn leads_to_cache(&self, id: FileId) -> bool {
        self.caches().iter().any(|cache| cache.way.contains(&id))
    }

    fn caches(&self) -> RwLockReadGuard<'_, Vec<Arc<CacheFolder>>> {
        self.caches.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folder of the cache, by what it is and not by its name.
#[derive(PartialEq)]
pub(super) struct CacheFolder {
    /// The folder itself, and those above it, the nearest first.
    way: Vec<FileId>,
}

impl CacheFolder {
    pub(super) fn find(folder: &Path) -> io::Result<Self> {
        let way = way(folder)?;
        if way.is_empty() { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(Self { way }) }
    }
}

/// A folder and those above it, the nearest first. What this process cannot open it cannot move for a guest either.
fn way(folder: &Path) -> io::Result<Vec<FileId>> {
    let folder = folder.canonicalize()?;
    let opened = folder.ancestors().filter_map(|at| Dir::open_ambient_dir(at, ambient_authority()).ok());
    opened.map(|dir| Ok(FileId::of(&dir.dir_metadata()?))).collect()
}

impl Mount {
    /// The guest can list and read what is in the folder `host`, as `guest`, an absolute path like `/data`.
    ///
    /// # Errors
    /// [`is_usage`](Error::is_usage): there is no such folder, or the guest cannot have one of that name.
    pub fn read_only(host: impl AsRef<Path>, guest: impl Into<String>) -> Result<Self> {
        Self::new(host.as_ref(), guest.into(), false)
    }

    /// The guest can also make, change and remove files and folders in it. What it makes larger is bounded, for each
    /// session, by the limits `scratch`, `entries` and `depth`.
    ///
    /// # Errors
    /// As [`read_only`](Self::read_only).
    pub fn writable(host: impl AsRef<Path>, guest: impl Into<String>) -> Result<Self> {
        Self::new(host.as_ref(), guest.into(), true)
    }

    fn new(host: &Path, guest: String, writable: bool) -> Result<Self> {
        check_guest(&guest)?;
        let refused =
            |why: &dyn fmt::Display| Error::usage(why).context(format_args!("cannot mount {}", host.display()));
        let found = std::fs::metadata(host).map_err(|error| refused(&error))?;
        if !found.is_dir() {
            return Err(
                refused(&"it is not a folder").advise("mount the folder that holds it, or give a file with --file")
            );
        }
        let dir = Dir::open_ambient_dir(host, ambient_authority()).map_err(|error| refused(&error))?;
        if kernel::shows(&dir) {
            return Err(refused(&"it is no folder on a disk: the kernel shows itself there"));
        }
        let device = dir.dir_metadata().map_err(|error| refused(&error))?.dev();
        Ok(Self(Arc::new(Granted {
            guest,
            dir: Arc::new(dir),
            writable,
            device,
            host: host.to_owned(),
            caches: RwLock::default(),
        })))
    }

    /// Shows the cache to nobody from now on.
    ///
    /// # Errors
    /// It is the cache, or lies in it.
    pub(super) fn hide(&self, cache: &Arc<CacheFolder>) -> Result<()> {
        let host = &self.0.host;
        let refused =
            |why: &dyn fmt::Display| Error::usage(why).context(format_args!("cannot mount {}", host.display()));
        let own = self.0.dir.dir_metadata().map_err(|error| refused(&error))?;
        let above = way(host).map_err(|error| refused(&error))?;
        let root = cache.way.first();
        if root.is_some_and(|root| *root == FileId::of(&own) || above.contains(root)) {
            return Err(refused(&"it is the cache, or lies in it, and what is there is run unseen")
                .advise("mount another folder, or choose another cache with --cache-dir"));
        }
        let mut caches = self.0.caches.write().unwrap_or_else(PoisonError::into_inner);
        if !caches.contains(cache) {
            caches.push(cache.clone());
        }
        Ok(())
    }

    /// Where the guest finds it.
    pub fn guest(&self) -> &str {
        &self.0.guest
    }

    /// Whether the guest may change what is in it.
    pub fn is_writable(&self) -> bool {
        self.0.writable
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Granted { guest, writable, host, .. } = &*self.0;
        f.debug_struct("Mount").field("host", host).field("guest", guest).field("writable", writable).finish()
    }
}

/// Whether the guest can have a folder of the host there.
fn check_guest(guest: &str) -> Result<()> {
    let refused = |why: &str| {
        let advice = "take a path like /data, without . and .., outside of /dev, /tmp, /usr and /work";
        Err(Error::usage(format_args!("nothing can be mounted as {guest:?}: {why}")).advise(advice))
    };
    let Some(names) = guest.strip_prefix('/') else { return refused("it is not an absolute path") };
    if guest.len() > MAX_PATH || names.split('/').any(|name| name.len() > MAX_NAME) {
        return refused("it is too long");
    }
    if names.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return refused("it is not a plain path");
    }
    if guest.chars().any(char::is_control) {
        return refused("it has control characters");
    }
    match names.split('/').next() {
        Some(first) if TAKEN.contains(&first) => refused("the interpreter's own folder is there"),
        _ => Ok(()),
    }
}

/// The folders that one session was given, and what it has made of them.
#[derive(Default)]
pub(in super::super::super) struct Grants {
    mounts: Vec<Mount>,
    /// The folders that hold nothing but the way to others; the first is `/`.
    ways: Vec<Way>,
    pub(in super::super) account: Arc<Account>,
}

struct Way {
    path: String,
    /// The one that holds it; `/` holds itself.
    above: usize,
    names: BTreeMap<String, Step>,
}

#[derive(Clone, Copy)]
enum Step {
    Way(usize),
    Mount(usize),
}

impl Grants {
    /// `quota` bounds by how much the session may make them larger.
    ///
    /// # Errors
    /// One in another, or too many.
    pub(in super::super::super) fn new(mounts: &[Mount], quota: Quota) -> Result<Self> {
        if mounts.len() > MOST {
            return Err(Error::usage(format_args!("{} folders are to be mounted, and {MOST} can be", mounts.len())));
        }
        let mut grants = Self { mounts: Vec::new(), ways: Vec::new(), account: Arc::new(Account::new(quota)) };
        for mount in mounts {
            grants.add(mount)?;
        }
        Ok(grants)
    }

    fn add(&mut self, mount: &Mount) -> Result<()> {
        let within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let guest = mount.guest();
        if let Some(other) =
            self.mounts.iter().map(Mount::guest).find(|other| within(guest, other) || within(other, guest))
        {
            let text = format!("{guest} and {other} cannot both be mounted: one is the other, or lies in it");
            return Err(Error::usage(text).advise("mount them side by side"));
        }
        if self.ways.is_empty() {
            self.ways.push(Way { path: "/".into(), above: 0, names: BTreeMap::new() });
        }
        let (above, name) = guest.rsplit_once('/').unwrap_or_default();
        let mut at = 0;
        for name in above.split('/').filter(|name| !name.is_empty()) {
            at = match self.ways[at].names.get(name) {
                Some(Step::Way(next)) => *next,
                // No mount is above another.
                _ => {
                    let path = format!("{}/{name}", self.ways[at].path.trim_end_matches('/'));
                    let next = self.ways.len();
                    self.ways.push(Way { path, above: at, names: BTreeMap::new() });
                    self.ways[at].names.insert(name.to_owned(), Step::Way(next));
                    next
                }
            };
        }
        self.ways[at].names.insert(name.to_owned(), Step::Mount(self.mounts.len()));
        self.mounts.push(mount.clone());
        Ok(())
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.mounts.is_empty()
    }

    /// Whether the folder that it was found in is among them.
    pub(in super::super) fn hold(&self, live: &Live) -> bool {
        self.mounts.iter().any(|mount| live.is_in(mount))
    }

    /// The guest's name for a way.
    pub(in super::super) fn path(&self, way: usize) -> Option<&str> {
        self.ways.get(way).map(|way| way.path.as_str())
    }

    /// The way that holds a way; 0 is `/`.
    pub(in super::super) fn above(&self, way: usize) -> usize {
        self.ways.get(way).map_or(0, |way| way.above)
    }

    /// The way that holds a mount.
    pub(in super::super) fn above_mount(&self, mount: &Live) -> usize {
        let holds = |way: &&Way| {
            way.names.values().any(|step| matches!(step, Step::Mount(at) if mount.is_in(&self.mounts[*at])))
        };
        self.ways.iter().position(|way| holds(&way)).unwrap_or_default()
    }

    /// What `name` is on a way.
    pub(in super::super) fn lookup(&self, way: usize, name: &str) -> Option<Place> {
        Some(self.place(*self.ways.get(way)?.names.get(name)?))
    }

    /// What is on a way, sorted by name.
    pub(in super::super) fn list(&self, way: usize) -> impl Iterator<Item = (&str, Place)> {
        let names = self.ways.get(way).into_iter().flat_map(|way| &way.names);
        names.map(|(name, step)| (name.as_str(), self.place(*step)))
    }

    fn place(&self, step: Step) -> Place {
        match step {
            Step::Way(way) => Place::Way(way),
            Step::Mount(mount) => Place::Live(Live::root(&self.mounts[mount])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: Quota = Quota { bytes: 0, entries: 0, depth: 0 };

    fn mount(guest: &str) -> Result<Mount> {
        Mount::read_only(env!("CARGO_MANIFEST_DIR"), guest)
    }

    #[test]
    fn the_guest_finds_them_at_plain_paths_of_their_own() {
        for guest in ["/data", "/a/b/c", "/workshop", "/mnt/größe x", "/...", "/usrs"] {
            assert_eq!(mount(guest).unwrap().guest(), guest);
        }
        let long = format!("/{}", "x".repeat(256));
        for guest in [
            "",
            "/",
            "data",
            "./data",
            "//data",
            "/data/",
            "/data//in",
            "/data/.",
            "/data/..",
            "/../data",
            "/a/../work",
            "/work",
            "/work/data",
            "/tmp",
            "/usr/local/lib",
            "/dev/null",
            "/da\nta",
            "/da\0ta",
            &long,
        ] {
            let error = mount(guest).unwrap_err();
            assert!(error.is_usage() && error.advice().is_some(), "{guest:?}: {error}");
        }
    }

    #[test]
    fn what_is_no_folder_cannot_be_mounted() {
        let host = tempfile::tempdir().unwrap();
        std::fs::write(host.path().join("file"), "").unwrap();
        let error = Mount::read_only(host.path().join("file"), "/data").unwrap_err();
        assert!(error.is_usage() && error.to_string().ends_with("it is not a folder"), "{error}");
        assert!(Mount::writable(host.path().join("none"), "/data").unwrap_err().is_usage());
    }

    #[test]
    fn none_lies_in_another() {
        let grants = |guests: &[&str]| {
            let mounts: Vec<_> = guests.iter().map(|guest| mount(guest).unwrap()).collect();
            Grants::new(&mounts, QUOTA)
        };
        for guests in [["/data", "/data"], ["/data", "/data/in"], ["/a/b/c", "/a"]] {
            let error = grants(&guests).err().unwrap();
            assert!(error.is_usage() && error.to_string().contains(guests[1]), "{error}");
        }
        let grants = grants(&["/data", "/data2", "/a/b/c", "/a/b/d", "/a/x"]).unwrap();
        let names = |way| grants.list(way).map(|(name, _)| name.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(0), ["a", "data", "data2"]);
        let Some(Place::Way(a)) = grants.lookup(0, "a") else { panic!("/a leads to others") };
        let Some(Place::Way(b)) = grants.lookup(a, "b") else { panic!("/a/b leads to others") };
        assert_eq!((names(a), names(b)), (vec!["b".into(), "x".into()], vec!["c".into(), "d".into()]));
        assert_eq!((grants.path(b), grants.above(b), grants.above(a)), (Some("/a/b"), a, 0));
        let Some(Place::Live(c)) = grants.lookup(b, "c") else { panic!("/a/b/c is mounted") };
        assert_eq!(grants.above_mount(&c), b);
        assert!(grants.lookup(b, "..").is_none() && grants.lookup(9, "a").is_none());
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let mounts: Vec<_> = (0..=MOST).map(|number| mount(&format!("/{number}")).unwrap()).collect();
        assert!(Grants::new(&mounts[1..], QUOTA).is_ok());
        assert!(Grants::new(&mounts, QUOTA).err().unwrap().is_usage());
    }
}
