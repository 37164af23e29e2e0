//! The files a session sees: one namespace, its descriptors, and every file call of WASI preview 1 on them.
//!
//! `/work` and `/tmp` are a [`Tree`] in memory, under quotas. The rest is read-only: the host's folders in [`Mounts`],
//! the folders that hold nothing but the way to them, and three devices; and what a user gives to a session of the
//! host's ([`Live`]), read-only or not, as it is at the moment. There are no links anywhere, so a path is resolved by
//! walking its names, and `..` leads to the one folder that holds a folder. Nothing here knows wasm: bytes come and go
//! as slices, and what fails is an [`Errno`].
//!
//! Read in this order: `errno`, `tree` (files and folders in memory, with their quotas), `mounts` (the host's folders;
//! within it `granted`, `live` and `account`: those that were given),
//! `hub` (what else there is), this file (the namespace), `table` (descriptors), `paths` and `handles` (the calls),
//! `listing` (walking a folder), `saved` (what is open, as plain values).

pub(super) mod errno;
mod handles;
mod hub;
mod listing;
mod mounts;
mod paths;
mod saved;
mod table;
pub(super) mod tree;

use std::sync::Arc;

use errno::Errno;
pub(super) use handles::{Fdstat, KNOWN_FLAGS, Whence, rights};
use hub::{Device, Hub, Place};
use listing::Walks;
pub use mounts::Mount;
pub(super) use mounts::{Grants, Mounts, Packages, open_regular};
use mounts::{HostNode, Live, Source, number};
pub(super) use paths::{OpenHow, Stamp};
pub(super) use table::Stream;
use table::{Content, Descriptor, Folder, Table};
use tree::{Ino, Quota, Times, Tree};

/// Where packages are seen.
pub(super) const PACKAGES: &str = mounts::source_name(Source::Packages);

/// When everything that is not a session's own was made, in nanoseconds since the Unix epoch.
const HOST_TIME: u64 = super::clock::VIRTUAL_EPOCH;

/// The folders that are open from the start, from descriptor 3 on. Their number, order and names are part of every
/// image: wasi-libc asks for them when the snapshot is taken and never again. The last is where everything else is.
pub(super) const PREOPENS: [&str; 5] =
    [mounts::source_name(Source::Lib), mounts::source_name(Source::MplData), "/work", "/tmp", "/"];

const PREOPENED: [Place; 5] = [
    Place::Host(HostNode::root(Source::Lib)),
    Place::Host(HostNode::root(Source::MplData)),
    Place::Tree(Tree::WORK),
    Place::Tree(Tree::TMP),
    Place::Hub(Hub::Root),
];

/// Preview 1's file types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// One of characters: a stream, or what is in `/dev`.
    Device = 2,
    Folder = 3,
    File = 4,
}

/// What preview 1 tells of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Filestat {
    /// 0 for a stream, 1 for all else but what the session was given, of which each folder has a number of its own.
    pub(super) device: u64,
    pub(super) ino: u64,
    pub(super) kind: Kind,
    pub(super) links: u64,
    pub(super) bytes: u64,
    pub(super) times: Times,
}

/// One session's files. A clone is a copy of all of it, open descriptors included, that shares contents until they are
/// written.
#[derive(Clone)]
pub(super) struct Files {
    tree: Tree,
    table: Table,
    mounts: Arc<Mounts>,
    walks: Walks,
}

impl Files {
    /// Empty `/work` and `/tmp`, made `now` (nanoseconds since the Unix epoch).
    pub(super) fn new(mounts: Arc<Mounts>, quota: Quota, open_files: u64, now: u64) -> Self {
        Self { tree: Tree::new(quota, now), table: given(open_files), mounts, walks: Walks::default() }
    }

    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    pub(super) fn tree_mut(&mut self) -> &mut Tree {
        &mut self.tree
    }

    /// Other limits from now on: what is over them stays, and nothing can be added to it.
    pub(super) fn set_limits(&mut self, quota: Quota, open_files: u64) {
        if self.tree.quota() != quota {
            self.tree.set_quota(quota);
        }
        self.table.allow(open_files);
    }

    /// Closes what an interpreter had open that is gone, for a fresh one.
    pub(super) fn close_all(&mut self) {
        let held: Vec<Ino> = self.table.iter().filter_map(|(_, descriptor)| held(descriptor)).collect();
        for ino in held {
            self.tree.release(ino);
        }
        self.table = given(self.table.allowed());
        self.walks = Walks::default();
    }

    /// Opens those of the three streams again that are closed, except where a file has the number.
    pub(super) fn reopen_streams(&mut self) {
        for (fd, stream) in (0..).zip(Stream::ALL) {
            let is_it = |descriptor: &Descriptor| matches!(descriptor, Descriptor::Stream(one) if *one == stream);
            // One that has another number stays the only one: streams do not count, and would pile up.
            if !self.table.iter().any(|(_, descriptor)| is_it(descriptor)) {
                // Refused when the number is taken.
                let _ = self.table.place(fd, Descriptor::Stream(stream));
            }
        }
    }

    fn kind(&self, place: &Place) -> Result<Kind, Errno> {
        let is_folder = match place {
            Place::Hub(_) | Place::Way(_) => true,
            Place::Device(_) => return Ok(Kind::Device),
            Place::Host(node) => self.mounts.is_folder(*node)?,
            Place::Live(live) => return Ok(live.kind()),
            Place::Tree(ino) => self.tree.stat(*ino).ok_or(Errno::Noent)?.kind == tree::Kind::Folder,
        };
        Ok(if is_folder { Kind::Folder } else { Kind::File })
    }

    fn describe(&self, place: &Place) -> Result<Filestat, Errno> {
        let fixed = |ino, kind, bytes| Filestat {
            device: 1,
            ino,
            kind,
            links: 1,
            bytes,
            times: Times { accessed: HOST_TIME, modified: HOST_TIME, changed: HOST_TIME },
        };
        Ok(match place {
            Place::Hub(hub) => fixed(number(hub.path()), Kind::Folder, 0),
            Place::Way(way) => fixed(number(self.mounts.grants().path(*way).ok_or(Errno::Noent)?), Kind::Folder, 0),
            Place::Device(device) => fixed(number(device.path()), Kind::Device, 0),
            Place::Host(node) => {
                let (ino, bytes) = self.mounts.describe(*node)?;
                fixed(ino, self.kind(place)?, bytes)
            }
            Place::Live(live) => live.describe()?,
            Place::Tree(ino) => {
                let stat = self.tree.stat(*ino).ok_or(Errno::Noent)?;
                let kind = if stat.kind == tree::Kind::Folder { Kind::Folder } else { Kind::File };
                Filestat {
                    device: 1,
                    ino: u64::from(ino.0),
                    kind,
                    links: u64::from(stat.links),
                    bytes: stat.bytes,
                    times: stat.times,
                }
            }
        })
    }

    /// What `name` is in `folder`.
    ///
    /// # Errors
    /// NOENT, NAMETOOLONG, and NOTDIR where `folder` is none.
    fn lookup(&self, folder: &Place, name: &str) -> Result<Place, Errno> {
        if name.len() > 255 {
            return Err(Errno::Nametoolong);
        }
        match folder {
            Place::Hub(hub) => {
                let fixed = hub.list().iter().find(|entry| entry.0 == name).map(|entry| entry.1.clone());
                let given = || self.mounts.grants().lookup(0, name).filter(|_| *hub == Hub::Root);
                fixed.or_else(given).ok_or(Errno::Noent)
            }
            Place::Way(way) => self.mounts.grants().lookup(*way, name).ok_or(Errno::Noent),
            Place::Device(_) => Err(Errno::Notdir),
            Place::Host(folder) => self.mounts.lookup(*folder, name).map(Place::Host),
            Place::Live(folder) => folder.lookup(name).map(Place::Live),
            Place::Tree(folder) => self.tree.lookup(*folder, name).map(Place::Tree),
        }
    }

    /// The folder that holds a folder.
    ///
    /// # Errors
    /// PERM for matplotlib's data, which lie nowhere in the namespace; NOENT for a folder that was removed.
    fn parent(&self, folder: &Place) -> Result<Place, Errno> {
        match folder {
            Place::Hub(hub) => Ok(Place::Hub(hub.parent())),
            Place::Way(way) => Ok(self.way(self.mounts.grants().above(*way))),
            Place::Device(_) => Err(Errno::Notdir),
            Place::Live(live) => match live.parent()? {
                Some(parent) => Ok(Place::Live(parent)),
                None => Ok(self.way(self.mounts.grants().above_mount(live))),
            },
            Place::Host(node) => match self.mounts.parent(*node)? {
                Some(parent) => Ok(Place::Host(parent)),
                None if *node == HostNode::root(Source::Lib) => Ok(Place::Hub(Hub::Local)),
                None => Err(Errno::Perm),
            },
            Place::Tree(Tree::WORK | Tree::TMP) => Ok(Place::Hub(Hub::Root)),
            Place::Tree(ino) => self.tree.parent(*ino).map(Place::Tree).ok_or(Errno::Noent),
        }
    }

    /// A folder that leads to what the session was given; the first of them is `/`.
    fn way(&self, way: usize) -> Place {
        if way == 0 { Place::Hub(Hub::Root) } else { Place::Way(way) }
    }

    /// The folder that the descriptor `fd` stands for.
    ///
    /// # Errors
    /// BADF, NOTDIR.
    fn folder(&self, fd: u32) -> Result<Place, Errno> {
        match self.table.get(fd)? {
            Descriptor::Folder(folder) => Ok(folder.place.clone()),
            _ => Err(Errno::Notdir),
        }
    }
}

/// The descriptors that are open from the start.
fn given(open_files: u64) -> Table {
    let streams = Stream::ALL.map(Descriptor::Stream);
    let folders =
        PREOPENS.iter().zip(PREOPENED).map(|(name, place)| Descriptor::Folder(Folder { place, preopen: Some(name) }));
    Table::new(streams.into_iter().chain(folders), open_files)
}

/// What of the tree lives at least as long as this descriptor. The two roots always live.
fn held(descriptor: &Descriptor) -> Option<Ino> {
    match descriptor {
        Descriptor::Folder(Folder { place: Place::Tree(ino), preopen: None, .. }) => Some(*ino),
        Descriptor::File(table::File { content: Content::Tree(ino), .. }) => Some(*ino),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
