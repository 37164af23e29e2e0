//! Files and folders in memory, with their quotas.
//!
//! This is a security boundary: whatever calls a guest makes come to this, with its own numbers and names. What holds
//! after any sequence of them:
//!
//! - no more bytes (sizes, holes included) and entries (unlinked ones that are still open included) than the quota, and
//!   no more of the host's memory than these bytes, a quarter of them and a small constant an entry; all of it is
//!   counted in `tree/store.rs`;
//! - every node is in one place, under a root, or is unlinked and held; there are no cycles: only [`Tree::rename`]
//!   moves a folder, and it refuses to move one into itself;
//! - nothing panics, and a call that fails has changed nothing;
//! - no path from below a root has more than [`MAX_PATH`] bytes, so whoever writes paths out knows what an entry costs;
//! - a call takes time in proportion to the bytes it is given and, at worst, to the number of entries (and a 64 KiB
//!   chunk; after a clone also to the chunks of the file).
//!
//! Pure: `std` alone, no host file, no clock. The submodules have explicit paths so that this file can be included
//! from elsewhere, to be fuzzed.

#[path = "tree/content.rs"]
mod content;
#[path = "tree/saved.rs"]
mod saved;
#[path = "tree/store.rs"]
mod store;

#[cfg(test)]
#[path = "tree/model/tests.rs"]
mod model_tests;
#[cfg(test)]
#[path = "tree/tests.rs"]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use store::{Names, Node, ROOTS, Store};

use super::errno::Errno;

/// Bytes of one name.
pub const MAX_NAME: usize = 255;

/// Bytes of the longest path: the names from below a root down to an entry, with a slash between two of them.
pub const MAX_PATH: usize = 4096;

/// The number of a file or folder. It is never given to another one, also not after it was removed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ino(pub u32);

/// What a tree may hold. `depth` is the number of names on the way from a root to an entry, its own included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub bytes: u64,
    pub entries: u64,
    pub depth: u64,
}

/// What a tree holds: the sizes of its files, and the number of files and folders without the two roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Used {
    pub bytes: u64,
    pub entries: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
}

/// What is known of a file or folder. `links` is 1, or 0 once it was unlinked; `bytes` is 0 for a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub ino: Ino,
    pub kind: Kind,
    pub bytes: u64,
    pub links: u32,
    pub times: Times,
}

/// In nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Times {
    pub accessed: u64,
    pub modified: u64,
    pub changed: u64,
}

/// One file or folder of a tree as plain values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub ino: Ino,
    /// The folder it is in and its name there; none for a root and for what was unlinked while it was open.
    pub place: Option<(Ino, String)>,
    pub times: Times,
    pub body: Body,
}

/// What an [`Entry`] is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Folder,
    /// All its bytes, holes as zeros.
    File(Vec<u8>),
}

/// Two roots and what is below them. A clone shares everything with it until one of them is written.
#[derive(Clone)]
pub struct Tree {
    store: Store,
    /// How many descriptors are open on a node. Kept apart, so that opening a file copies nothing after a clone.
    held: BTreeMap<Ino, u64>,
}

impl Tree {
    /// The root that the guest sees as `/work`.
    pub const WORK: Ino = ROOTS[0];
    /// The root that the guest sees as `/tmp`.
    pub const TMP: Ino = ROOTS[1];

    /// Both roots, empty.
    pub fn new(quota: Quota, now: u64) -> Self {
        Self { store: Store::new(quota, now), held: BTreeMap::new() }
    }

    pub fn stat(&self, ino: Ino) -> Option<Stat> {
        let node = self.store.get(ino)?;
        Some(Stat {
            ino,
            kind: node.kind(),
            bytes: node.content().map_or(0, |content| content.bytes()),
            links: u32::from(node.place.is_some() || ROOTS.contains(&ino)),
            times: node.times,
        })
    }

    /// What has this name in a folder. `.` and `..` are no names here.
    ///
    /// # Errors
    /// `Noent`, `Notdir`.
    pub fn lookup(&self, folder: Ino, name: &str) -> Result<Ino, Errno> {
        self.names(folder)?.get(name).copied().ok_or(Errno::Noent)
    }

    /// The folder that something is in; none for a root and for what was removed.
    pub fn parent(&self, ino: Ino) -> Option<Ino> {
        self.store.get(ino)?.place.as_ref().map(|(parent, _)| *parent)
    }

    /// What is in a folder, sorted by name; nothing for a removed one.
    ///
    /// # Errors
    /// `Noent`, `Notdir`.
    pub fn list(&self, folder: Ino) -> Result<Vec<(String, Ino, Kind)>, Errno> {
        let kind = |ino| self.store.get(ino).map_or(Kind::File, Node::kind);
        Ok(self.names(folder)?.iter().map(|(name, ino)| (name.to_string(), *ino, kind(*ino))).collect())
    }

    /// Makes an empty file or folder.
    ///
    /// # Errors
    /// `Inval` and `Nametoolong` for the name, `Notdir`, `Noent` (the folder was removed), `Exist`, `Dquot` (too deep),
    /// `Nametoolong` for the path, `Nospc` (too many entries).
    pub fn create(&mut self, folder: Ino, name: &str, kind: Kind, now: u64) -> Result<Ino, Errno> {
        check_name(name)?;
        let names = self.names(folder)?;
        let above = self.way(folder).ok_or(Errno::Noent)?;
        if names.contains_key(name) {
            return Err(Errno::Exist);
        }
        if above.names >= self.quota().depth {
            return Err(Errno::Dquot);
        }
        if above.and(name).bytes > MAX_PATH {
            return Err(Errno::Nametoolong);
        }
        let name = Arc::<str>::from(name);
        let ino = self.store.add(kind, (folder, name.clone()), now)?;
        self.change_names(folder, now, |names| names.insert(name, ino));
        Ok(ino)
    }

    /// Takes a file's name away. The file goes with its last holder.
    ///
    /// # Errors
    /// `Noent`, `Notdir` (the folder is none), `Isdir`.
    pub fn unlink(&mut self, folder: Ino, name: &str, now: u64) -> Result<(), Errno> {
        let ino = self.lookup(folder, name)?;
        match self.kind(ino) {
            Kind::Folder => Err(Errno::Isdir),
            Kind::File => {
                self.detach(ino, now);
                Ok(())
            }
        }
    }

    /// Takes an empty folder's name away. The folder goes with its last holder; nothing can be made in it.
    ///
    /// # Errors
    /// `Noent`, `Notdir`, `Notempty`.
    pub fn remove_folder(&mut self, folder: Ino, name: &str, now: u64) -> Result<(), Errno> {
        let ino = self.lookup(folder, name)?;
        if !self.names(ino)?.is_empty() {
            return Err(Errno::Notempty);
        }
        self.detach(ino, now);
        Ok(())
    }

    /// Gives something another place, as POSIX has it: a file replaces a file, a folder an empty folder.
    ///
    /// # Errors
    /// As [`lookup`](Self::lookup) for `from`; `Inval` and `Nametoolong` for the new name; `Notdir` and `Noent` for the
    /// new folder; `Inval` (a folder into itself), `Isdir`, `Notdir` and `Notempty` for what would be replaced; `Dquot`
    /// (it, or something in it, would go deeper than the quota allows); `Nametoolong` (its path, or that of something in
    /// it, would be too long).
    pub fn rename(&mut self, from: (Ino, &str), to: (Ino, &str), now: u64) -> Result<(), Errno> {
        let ino = self.lookup(from.0, from.1)?;
        check_name(to.1)?;
        let replaced = self.names(to.0)?.get(to.1).copied();
        let (old, new) = (self.way(from.0).ok_or(Errno::Noent)?, self.way(to.0).ok_or(Errno::Noent)?);
        if replaced == Some(ino) {
            return Ok(());
        }
        if self.upwards(to.0).any(|folder| folder == ino) {
            return Err(Errno::Inval);
        }
        if let Some(replaced) = replaced {
            match (self.kind(ino), self.kind(replaced)) {
                (Kind::File, Kind::Folder) => return Err(Errno::Isdir),
                (Kind::Folder, Kind::File) => return Err(Errno::Notdir),
                (Kind::Folder, Kind::Folder) if !self.names(replaced)?.is_empty() => return Err(Errno::Notempty),
                _ => {}
            }
        }
        self.check_move(ino, old.and(from.1), new.and(to.1))?;
        if let Some(replaced) = replaced {
            self.detach(replaced, now);
        }
        let name = Arc::<str>::from(to.1);
        self.change_names(from.0, now, |names| names.remove(from.1));
        self.change_names(to.0, now, |names| names.insert(name.clone(), ino));
        self.set_place(ino, Some((to.0, name)), now);
        Ok(())
    }

    /// One more descriptor is open on it: it stays, and counts, until the last one is gone, unlinked or not.
    pub fn hold(&mut self, ino: Ino) {
        if self.store.get(ino).is_some() {
            let held = self.held.entry(ino).or_default();
            *held = held.saturating_add(1);
        }
    }

    /// One less. Releasing what is not held does nothing.
    pub fn release(&mut self, ino: Ino) {
        let Some(held) = self.held.get_mut(&ino) else { return };
        *held -= 1;
        if *held == 0 {
            self.held.remove(&ino);
            self.drop_if_gone(ino);
        }
    }

    /// Drops what is unlinked and held by nobody, as [`from_entries`](Self::from_entries) can leave it.
    pub fn drop_unheld(&mut self) {
        let inos: Vec<Ino> = self.store.iter().map(|(ino, _)| ino).collect();
        inos.into_iter().for_each(|ino| self.drop_if_gone(ino));
    }

    /// Reads from `at` on and says how many bytes: 0 at the end and beyond it.
    ///
    /// # Errors
    /// `Isdir`, `Badf` (there is no such file).
    pub fn read(&self, file: Ino, at: u64, into: &mut [u8]) -> Result<usize, Errno> {
        Ok(self.store.content(file)?.read(at, into))
    }

    /// Writes at `at`, with zeros up to it if the file ends before, as much as the quota allows; says how many bytes.
    ///
    /// # Errors
    /// `Isdir`, `Badf`, `Fbig` (`at` is beyond the quota of bytes), `Nospc` (nothing fits).
    pub fn write(&mut self, file: Ino, at: u64, bytes: &[u8], now: u64) -> Result<usize, Errno> {
        self.store.write(file, at, bytes, now)
    }

    /// Cuts a file, or lets it grow by zeros.
    ///
    /// # Errors
    /// `Isdir`, `Badf`, `Fbig` (beyond the quota of bytes), `Nospc` (beyond what is left of it).
    pub fn resize(&mut self, file: Ino, bytes: u64, now: u64) -> Result<(), Errno> {
        self.store.resize(file, bytes, now)
    }

    /// Sets those times that are given.
    ///
    /// # Errors
    /// `Badf`.
    pub fn set_times(&mut self, ino: Ino, accessed: Option<u64>, modified: Option<u64>, now: u64) -> Result<(), Errno> {
        let times = &mut self.store.get_mut(ino).ok_or(Errno::Badf)?.times;
        times.accessed = accessed.unwrap_or(times.accessed);
        times.modified = modified.unwrap_or(times.modified);
        times.changed = now;
        Ok(())
    }

    pub fn used(&self) -> Used {
        self.store.used()
    }

    pub fn quota(&self) -> Quota {
        self.store.quota()
    }

    /// What is over a lower quota stays; nothing can be added to it.
    pub fn set_quota(&mut self, quota: Quota) {
        self.store.set_quota(quota);
    }

    /// The stored bytes of a file, in order, each piece (of at most 64 KiB) with its place; all else of it is zeros.
    ///
    /// # Errors
    /// `Isdir`, `Badf`.
    pub fn stored(&self, file: Ino) -> Result<impl Iterator<Item = (u64, &[u8])>, Errno> {
        Ok(self.store.content(file)?.stored())
    }

    /// Whether two trees surely hold the same bytes in a file, told by what they share, without reading them.
    pub fn same_content(&self, other: &Tree, file: Ino) -> bool {
        match (self.store.get(file), other.store.get(file)) {
            (Some(a), Some(b)) if std::ptr::eq(a, b) => a.kind() == Kind::File,
            (Some(a), Some(b)) => {
                a.content().zip(b.content()).is_some_and(|(content, other)| content.is_shared_with(other))
            }
            _ => false,
        }
    }

    /// Whether nothing at all was changed since one was cloned from the other, in constant time. Holding and releasing
    /// what has a name is no change.
    pub fn is_same(&self, other: &Tree) -> bool {
        self.store.is_same(&other.store)
    }

    fn names(&self, folder: Ino) -> Result<&Names, Errno> {
        self.store.get(folder).ok_or(Errno::Noent)?.names().ok_or(Errno::Notdir)
    }

    fn kind(&self, ino: Ino) -> Kind {
        self.store.get(ino).map_or(Kind::File, Node::kind)
    }

    /// The folder itself and those that it is in, up to the root.
    fn upwards(&self, folder: Ino) -> impl Iterator<Item = Ino> {
        std::iter::successors(Some(folder), |folder| self.parent(*folder))
    }

    /// The way from a root to a folder; none when it was removed.
    fn way(&self, folder: Ino) -> Option<Way> {
        let (mut way, mut at) = (Way::default(), folder);
        while let Some((parent, name)) = self.store.get(at).and_then(|node| node.place.as_ref()) {
            (way, at) = (way.and(name), *parent);
        }
        ROOTS.contains(&at).then_some(way)
    }

    /// The greatest depth and the longest path of what is `top` or in it, where the way to `top` is `way`.
    fn farthest(&self, top: Ino, way: Way) -> Way {
        let (mut farthest, mut left) = (way, vec![(top, way)]);
        while let Some((ino, way)) = left.pop() {
            farthest.names = farthest.names.max(way.names);
            farthest.bytes = farthest.bytes.max(way.bytes);
            left.extend(self.names(ino).into_iter().flatten().map(|(name, ino)| (*ino, way.and(name))));
        }
        farthest
    }

    /// Whether something, and all that is in it, may go from one place to another. What goes no deeper and gets no longer
    /// path always may, also where a quota that was lowered is exceeded.
    fn check_move(&self, ino: Ino, from: Way, to: Way) -> Result<(), Errno> {
        if to.names <= from.names && to.bytes <= from.bytes {
            return Ok(());
        }
        let farthest = self.farthest(ino, to);
        if to.names > from.names && farthest.names > self.quota().depth {
            return Err(Errno::Dquot);
        }
        if farthest.bytes > MAX_PATH { Err(Errno::Nametoolong) } else { Ok(()) }
    }

    fn change_names<R>(&mut self, folder: Ino, now: u64, change: impl FnOnce(&mut Names) -> R) {
        let Some(node) = self.store.get_mut(folder) else { return };
        node.touch(now);
        if let Some(names) = node.names_mut() {
            change(names);
        }
    }

    fn set_place(&mut self, ino: Ino, place: Option<(Ino, Arc<str>)>, now: u64) {
        if let Some(node) = self.store.get_mut(ino) {
            node.place = place;
            node.times.changed = now;
        }
    }

    /// Takes something's name away: a file, or an empty folder.
    fn detach(&mut self, ino: Ino, now: u64) {
        let Some((folder, name)) = self.store.get(ino).and_then(|node| node.place.clone()) else { return };
        self.change_names(folder, now, |names| names.remove(&name));
        self.set_place(ino, None, now);
        self.drop_if_gone(ino);
    }

    /// Drops what has no name and no holder.
    fn drop_if_gone(&mut self, ino: Ino) {
        let unlinked = self.stat(ino).is_some_and(|stat| stat.links == 0);
        if unlinked && !self.held.contains_key(&ino) {
            self.store.remove(ino);
        }
    }
}

/// The names from below a root to an entry, its own included: how many, and the bytes of the path they make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    names: u64,
    bytes: usize,
}

impl Way {
    /// One name more, at either end.
    fn and(self, name: &str) -> Self {
        let slash = usize::from(self.names > 0);
        Self { names: self.names.saturating_add(1), bytes: self.bytes.saturating_add(slash + name.len()) }
    }
}

/// Whether a folder can hold something of this name.
fn check_name(name: &str) -> Result<(), Errno> {
    match name {
        "" | "." | ".." => Err(Errno::Inval),
        _ if name.contains(['/', '\0']) => Err(Errno::Inval),
        _ if name.len() > MAX_NAME => Err(Errno::Nametoolong),
        _ => Ok(()),
    }
}
