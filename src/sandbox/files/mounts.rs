//! The folders of the host that sessions see as the library: those of their image, and packages.
//!
//! Each is listed once, at its first use; from then on names, sizes and numbers come from memory, so that resolving a
//! path asks the host for nothing. Links are not listed, which makes them unreachable. A file is opened once for all
//! sessions and read at positions, so the host's descriptors are as many as there are distinct open files.

#[cfg_attr(unix, path = "mounts/unix.rs")]
#[cfg_attr(windows, path = "mounts/windows.rs")]
mod platform;

#[cfg_attr(target_os = "linux", path = "mounts/kernel/linux.rs")]
#[cfg_attr(not(target_os = "linux"), path = "mounts/kernel/other.rs")]
mod kernel;

#[path = "mounts/account.rs"]
mod account;
#[path = "mounts/granted.rs"]
mod granted;
#[path = "mounts/held.rs"]
mod held;
#[path = "mounts/live.rs"]
mod live;
#[path = "mounts/live_file.rs"]
mod live_file;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::errno::Errno;
use crate::Error;
pub(super) use account::Account;
use granted::CacheFolder;
pub(in super::super) use granted::Grants;
pub use granted::Mount;
pub(super) use live::Live;
pub(super) use live_file::LiveFile;
pub(in super::super) use live_file::open_regular;

/// The host's folders of one image, and those that a session has besides.
pub(in super::super) struct Mounts {
    lib: Arc<Listed>,
    mpl_data: Arc<Listed>,
    packages: Option<Packages>,
    grants: Grants,
    /// What no session may be given.
    cache: Option<Arc<CacheFolder>>,
}

/// A folder of packages that never changes, which sessions see as `/usr/local/lib/packages`, read-only. Cheap to clone;
/// all sessions that are given the clones share one listing and the files that are open.
#[derive(Clone)]
pub(in super::super) struct Packages(Arc<Listed>);

impl Packages {
    /// Looks at nothing yet.
    pub(in super::super) fn new(folder: PathBuf) -> Self {
        Self(Arc::new(Listed::new(Source::Packages, folder)))
    }
}

impl fmt::Debug for Packages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Packages").field(&self.0.folder).finish()
    }
}

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Holds `python315.zip`, the standard library.
    Lib,
    /// Matplotlib's data.
    MplData,
    /// Seen in `Lib`, where there are any.
    Packages,
}

/// A folder that is listed once.
struct Listed {
    /// The guest's name for it.
    name: &'static str,
    folder: PathBuf,
    index: OnceLock<Index>,
}

impl Listed {
    fn new(source: Source, folder: PathBuf) -> Self {
        Self { name: source_name(source), folder, index: OnceLock::new() }
    }
}

/// What a folder holds. The first node is the folder itself.
struct Index {
    dir: Dir,
    nodes: Vec<Node>,
}

struct Node {
    name: String,
    parent: u32,
    /// A hash of the guest's path, so that it is the same on every machine.
    ino: u64,
    body: Body,
}

enum Body {
    /// Sorted by name.
    Folder(Vec<u32>),
    File {
        bytes: u64,
        open: Mutex<Weak<HostFile>>,
    },
}

/// A file or folder of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HostNode {
    source: Source,
    index: u32,
}

impl HostNode {
    /// Whether every session of the image sees it.
    pub(super) fn is_of_image(self) -> bool {
        self.source != Source::Packages
    }

    /// The folder itself.
    pub(super) const fn root(source: Source) -> Self {
        Self { source, index: 0 }
    }
}

/// A file of the host that at least one session has open.
#[derive(Debug)]
pub(super) struct HostFile {
    pub(super) node: HostNode,
    file: File,
}

impl HostFile {
    pub(super) fn read(&self, at: u64, into: &mut [u8]) -> Result<usize, Errno> {
        read_some(&self.file, at, into)
    }
}

fn read_some(file: &File, at: u64, into: &mut [u8]) -> Result<usize, Errno> {
    if i64::try_from(at).is_err() {
        // The host knows no such position, and no file goes so far.
        return Ok(0);
    }
    loop {
        match platform::read_at(file, into, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read.map_err(|_| Errno::Io),
        }
    }
}

impl Mounts {
    /// Looks at nothing yet.
    pub(in super::super) fn new(lib: PathBuf, mpl_data: PathBuf) -> Self {
        let listed = |source, folder| Arc::new(Listed::new(source, folder));
        Self {
            lib: listed(Source::Lib, lib),
            mpl_data: listed(Source::MplData, mpl_data),
            packages: None,
            grants: Grants::default(),
            cache: None,
        }
    }

    /// The same, and no mount shows this folder from now on: code is loaded from it that nobody looks at again.
    ///
    /// # Errors
    /// What the host says of it.
    pub(in super::super) fn without(self, cache: &Path) -> io::Result<Self> {
        Ok(Self { cache: Some(Arc::new(CacheFolder::find(cache)?)), ..self })
    }

    /// Makes sure that none of the mounts shows the cache.
    ///
    /// # Errors
    /// One is the cache, or lies in it.
    pub(in super::super) fn protect(&self, mounts: &[Mount]) -> Result<(), Error> {
        let Some(cache) = &self.cache else { return Ok(()) };
        mounts.iter().try_for_each(|mount| mount.hide(cache))
    }

    /// The folders of the same image, with these besides.
    pub(in super::super) fn with(&self, packages: Option<Packages>, grants: Grants) -> Self {
        Self { lib: self.lib.clone(), mpl_data: self.mpl_data.clone(), packages, grants, cache: self.cache.clone() }
    }

    /// What its user gave the session.
    pub(super) fn grants(&self) -> &Grants {
        &self.grants
    }

    /// What the session has made of that.
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.grants.account
    }

    /// Whether what was found in one is the same in the other.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let same = |a: &Arc<Listed>, b: &Arc<Listed>| Arc::ptr_eq(a, b);
        let packages = match (&self.packages, &other.packages) {
            (Some(a), Some(b)) => same(&a.0, &b.0),
            (a, b) => a.is_none() && b.is_none(),
        };
        // Each session has its own account of what it was given.
        let granted = !self.grants.is_empty() || !other.grants.is_empty();
        packages && !granted && same(&self.lib, &other.lib) && same(&self.mpl_data, &other.mpl_data)
    }

    /// What `name` is where it is not the host's own folder that holds it.
    fn added(&self, folder: HostNode, name: &str) -> Option<HostNode> {
        let here = self.packages.is_some() && folder == HostNode::root(Source::Lib) && name == PACKAGES;
        here.then_some(HostNode::root(Source::Packages))
    }

    pub(super) fn is_folder(&self, node: HostNode) -> Result<bool, Errno> {
        Ok(matches!(self.node(node)?.body, Body::Folder(_)))
    }

    /// Number and bytes; a folder has none.
    pub(super) fn describe(&self, node: HostNode) -> Result<(u64, u64), Errno> {
        let node = self.node(node)?;
        let bytes = match node.body {
            Body::Folder(_) => 0,
            Body::File { bytes, .. } => bytes,
        };
        Ok((node.ino, bytes))
    }

    /// # Errors
    /// NOENT, and NOTDIR where `folder` is none.
    pub(super) fn lookup(&self, folder: HostNode, name: &str) -> Result<HostNode, Errno> {
        if let Some(added) = self.added(folder, name) {
            return Ok(added);
        }
        let index = self.index(folder.source)?;
        let children = index.children(folder.index)?;
        let found = children.binary_search_by(|child| index.name(*child).cmp(name)).map_err(|_| Errno::Noent)?;
        Ok(HostNode { index: children[found], ..folder })
    }

    /// The guest's name for it.
    pub(super) fn path(&self, node: HostNode) -> Result<String, Errno> {
        let index = self.index(node.source)?;
        let names = index.names(node.index);
        Ok(names.iter().fold(source_name(node.source).to_owned(), |path, name| format!("{path}/{name}")))
    }

    /// `None` for the outermost.
    pub(super) fn parent(&self, node: HostNode) -> Result<Option<HostNode>, Errno> {
        if node.index == 0 {
            return Ok((node.source == Source::Packages).then_some(HostNode::root(Source::Lib)));
        }
        Ok(Some(HostNode { index: self.node(node)?.parent, ..node }))
    }

    /// Sorted by name.
    pub(super) fn list(&self, folder: HostNode) -> Result<Vec<(&str, HostNode)>, Errno> {
        let index = self.index(folder.source)?;
        let children = index.children(folder.index)?;
        let mut list: Vec<_> =
            children.iter().map(|child| (index.name(*child), HostNode { index: *child, ..folder })).collect();
        if let Some(added) = self.added(folder, PACKAGES) {
            let at = list.partition_point(|(name, _)| *name < PACKAGES);
            list.insert(at, (PACKAGES, added));
        }
        Ok(list)
    }

    /// The file, opened unless some session has it open already.
    ///
    /// # Errors
    /// NFILE when the host has no descriptor left, IO for whatever else it says, ISDIR.
    pub(super) fn open(&self, node: HostNode) -> Result<Arc<HostFile>, Errno> {
        let Body::File { open, .. } = &self.node(node)?.body else { return Err(Errno::Isdir) };
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.upgrade() {
            return Ok(file);
        }
        let index = self.index(node.source)?;
        let file = index
            .dir
            .open(index.names(node.index).iter().collect::<PathBuf>())
            .map_err(|error| errno(&error))?
            .into_std();
        let file = Arc::new(HostFile { node, file });
        *open = Arc::downgrade(&file);
        Ok(file)
    }

    fn node(&self, node: HostNode) -> Result<&Node, Errno> {
        self.index(node.source)?.nodes.get(node.index as usize).ok_or(Errno::Noent)
    }

    fn index(&self, source: Source) -> Result<&Index, Errno> {
        let listed = match source {
            Source::Lib => &self.lib,
            Source::MplData => &self.mpl_data,
            Source::Packages => &self.packages.as_ref().ok_or(Errno::Noent)?.0,
        };
        if let Some(index) = listed.index.get() {
            return Ok(index);
        }
        let index = Index::of(&listed.folder, listed.name).map_err(|error| errno(&error))?;
        // Another session may have been first, with the same result.
        Ok(listed.index.get_or_init(|| index))
    }
}

/// The guest's name for a folder of the host.
pub(super) const fn source_name(source: Source) -> &'static str {
    match source {
        Source::Lib => "/usr/local/lib",
        Source::MplData => "/usr/local/lib/python315.zip/matplotlib/mpl-data",
        Source::Packages => "/usr/local/lib/packages",
    }
}

/// The name of packages in the folder of the library.
const PACKAGES: &str = "packages";

/// A number that is the same on every machine, and none of a session's own files has.
pub(super) fn number(path: &str) -> u64 {
    let hash = blake3::hash(path.as_bytes());
    let bytes: [u8; 8] = std::array::from_fn(|i| hash.as_bytes()[i]);
    u64::from_le_bytes(bytes) | 1 << 63
}

fn errno(error: &io::Error) -> Errno {
    if platform::is_exhausted(error) { Errno::Nfile } else { Errno::Io }
}

impl Index {
    fn of(folder: &Path, name: &str) -> io::Result<Self> {
        let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
        let root = Node { name: String::new(), parent: 0, ino: number(name), body: Body::Folder(Vec::new()) };
        let mut nodes = vec![root];
        let mut folders = vec![(0, dir.try_clone()?, name.to_owned())];
        while let Some((parent, dir, path)) = folders.pop() {
            let mut entries = Vec::new();
            for entry in dir.entries()? {
                let entry = entry?;
                // WASI's names are UTF-8; a file with another one cannot be asked for.
                if let Ok(name) = entry.file_name().into_string() {
                    entries.push((name, entry));
                }
            }
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            let mut children = Vec::new();
            for (name, entry) in entries {
                let (kind, path) = (entry.file_type()?, format!("{path}/{name}"));
                let at = u32::try_from(nodes.len()).map_err(io::Error::other)?;
                let body = if kind.is_dir() {
                    folders.push((at as usize, entry.open_dir()?, path.clone()));
                    Body::Folder(Vec::new())
                } else if kind.is_file() {
                    Body::File { bytes: entry.metadata()?.len(), open: Mutex::default() }
                } else {
                    continue;
                };
                children.push(at);
                nodes.push(Node {
                    name,
                    parent: u32::try_from(parent).map_err(io::Error::other)?,
                    ino: number(&path),
                    body,
                });
            }
            nodes[parent].body = Body::Folder(children);
        }
        Ok(Self { dir, nodes })
    }

    fn name(&self, node: u32) -> &str {
        &self.nodes[node as usize].name
    }

    fn children(&self, node: u32) -> Result<&[u32], Errno> {
        match &self.nodes.get(node as usize).ok_or(Errno::Noent)?.body {
            Body::Folder(children) => Ok(children),
            Body::File { .. } => Err(Errno::Notdir),
        }
    }

    /// The names on the way to it.
    fn names(&self, node: u32) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = node;
        while at != 0 {
            names.push(self.name(at));
            at = self.nodes[at as usize].parent;
        }
        names.reverse();
        names
    }
}

#[cfg(test)]
#[path = "mounts/tests.rs"]
mod tests;
