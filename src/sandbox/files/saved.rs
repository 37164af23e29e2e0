//! The open descriptors as plain values, to be written into a file, and back from a file that anybody may have written.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::errno::Errno;
use super::listing::Walks;
use super::mounts::{HostNode, Source, source_name};
use super::table::{Content, Descriptor, File, Folder, Stream, Table};
use super::tree::{Ino, Tree};
use super::{Device, Files, Hub, KNOWN_FLAGS, Kind, Mounts, OpenHow, PREOPENED, PREOPENS, Place, held};
use crate::sandbox::saved::{Descriptor as Opened, Target};

impl Files {
    /// Every open descriptor, by number, but those on what cannot be named any more: they come back closed.
    pub(in super::super) fn opened(&self) -> Vec<Opened> {
        let plain = |number, target| Opened { number, target, at: 0, flags: 0, read: true, write: false };
        let index = |found: Option<usize>| found.and_then(|index| u8::try_from(index).ok()).unwrap_or_default();
        let of = |place: &Place| self.target(place).ok();
        let one = |(number, descriptor): (u32, &Descriptor)| {
            Some(match descriptor {
                Descriptor::Stream(stream) => {
                    plain(number, Target::Stream(index(Stream::ALL.iter().position(|other| other == stream))))
                }
                Descriptor::Folder(Folder { preopen: Some(name), .. }) => {
                    plain(number, Target::Preopen(index(PREOPENS.iter().position(|other| other == name))))
                }
                Descriptor::Folder(folder) => plain(number, of(&folder.place)?),
                Descriptor::File(file) => Opened {
                    number,
                    target: match &file.content {
                        Content::Gone(path, ino) => Target::Granted(path.to_string(), *ino),
                        content => of(&content.place().ok()?)?,
                    },
                    at: file.at,
                    flags: file.flags,
                    read: file.read,
                    write: file.write,
                },
            })
        };
        self.table.iter().filter_map(one).collect()
    }

    /// The files of a session that was saved: what nobody has open and has no name is dropped.
    ///
    /// # Errors
    /// Why these are no descriptors that this session could have open.
    pub(in super::super) fn reopen(
        mounts: Arc<Mounts>,
        tree: Tree,
        open_files: u64,
        opened: Vec<Opened>,
    ) -> Result<Self, &'static str> {
        let mut files = Self { tree, table: Table::new([], open_files), mounts, walks: Walks::default() };
        let most = open_files.saturating_add((Stream::ALL.len() + PREOPENS.len()) as u64);
        for one in opened {
            if u64::from(one.number) >= most {
                return Err("a descriptor has a number that none can have");
            }
            let number = one.number;
            let descriptor = files.descriptor(one)?;
            if let Some(ino) = held(&descriptor) {
                files.tree.hold(ino);
            }
            files.table.place(number, descriptor).map_err(|errno| match errno {
                Errno::Mfile => "more files are open than are allowed",
                _ => "two descriptors have one number",
            })?;
        }
        files.tree.drop_unheld();
        Ok(files)
    }

    /// Takes these for the host's folders from now on. What is open in those of before and is not in these is dead.
    pub(in super::super) fn see(&mut self, mounts: &Arc<Mounts>) {
        if Arc::ptr_eq(&self.mounts, mounts) || self.mounts.is_same(mounts) {
            return;
        }
        let before: Vec<_> = self.table.iter().map(|(number, descriptor)| (number, descriptor.clone())).collect();
        let opened: BTreeMap<_, _> = self.opened().into_iter().map(|one| (one.number, one)).collect();
        let allowed = self.table.allowed();
        // More may be open than may be opened from now on.
        let mut table = Table::new([], u64::MAX);
        self.mounts = mounts.clone();
        for (number, descriptor) in before {
            // What is held in the tree stays held: the same descriptors are there again.
            let again = match opened.get(&number) {
                Some(Opened { target: Target::Granted(path, ino), .. }) if !self.is_mine(&descriptor) => {
                    Some(self.granted(path, *ino, &descriptor))
                }
                Some(_) => Some(descriptor),
                None => None,
            };
            if let Some(descriptor) = again {
                let placed = table.place(number, descriptor);
                debug_assert!(placed.is_ok(), "as many as there were, by their own numbers");
            }
        }
        table.allow(allowed);
        (self.table, self.walks) = (table, Walks::default());
    }

    /// Whether it is open in a folder that this session was given, too.
    fn is_mine(&self, descriptor: &Descriptor) -> bool {
        let live = match descriptor {
            Descriptor::Folder(Folder { place: Place::Live(live), .. }) => live.clone(),
            Descriptor::File(File { content: Content::Live(file), .. }) => file.place(),
            _ => return false,
        };
        self.mounts.grants().hold(&live)
    }

    /// What is at this path in what the session was given, opened as `how` was; dead if there is nothing that could be, or
    /// what is there now has another number.
    fn granted(&self, path: &str, ino: Option<u64>, how: &Descriptor) -> Descriptor {
        let (at, flags, read, write) = match how {
            Descriptor::File(File { at, flags, read, write, .. }) => (*at, *flags, *read, *write),
            _ => (0, 0, true, false),
        };
        let how = OpenHow { read, write, ..OpenHow::default() };
        let mut names = path.split('/').filter(|name| !name.is_empty());
        let found = names.try_fold(Place::Hub(Hub::Root), |folder, name| self.lookup(&folder, name));
        let content = match found {
            Ok(place @ (Place::Live(_) | Place::Way(_) | Place::Host(_)))
                if self.kind(&place) == Ok(Kind::Folder) && !write && self.is_numbered(&place, ino) =>
            {
                return Descriptor::Folder(Folder { place, preopen: None });
            }
            Ok(Place::Live(live)) => {
                let opened = live.open(how, self.account()).ok();
                opened.filter(|file| self.is_numbered(&Place::Live(file.place()), ino)).map(Content::Live)
            }
            Ok(Place::Host(node)) if !write => self.mounts.open(node).ok().map(Content::Host),
            _ => None,
        };
        let content = content.unwrap_or_else(|| Content::Gone(path.into(), ino));
        Descriptor::File(File { content, at, flags, read, write })
    }

    /// Whether it is what had this number when it was saved.
    fn is_numbered(&self, place: &Place, ino: Option<u64>) -> bool {
        !matches!(place, Place::Live(_)) || self.describe(place).is_ok_and(|stat| Some(stat.ino) == ino)
    }

    fn descriptor(&self, opened: Opened) -> Result<Descriptor, &'static str> {
        let Opened { target, at, flags, read, write, .. } = opened;
        if i64::try_from(at).is_err() || flags & !KNOWN_FLAGS != 0 {
            return Err("a descriptor has a position or flags that none can have");
        }
        let place = match target {
            Target::Stream(index) => {
                let stream = Stream::ALL.get(usize::from(index)).ok_or("there is no such stream")?;
                return Ok(Descriptor::Stream(*stream));
            }
            Target::Preopen(index) => {
                let name = PREOPENS.get(usize::from(index)).ok_or("there is no such folder to start from")?;
                let place = PREOPENED[usize::from(index)].clone();
                return Ok(Descriptor::Folder(Folder { place, preopen: Some(name) }));
            }
            Target::Scratch(ino) => Place::Tree(Ino(ino)),
            Target::Granted(path, ino) => {
                let content = Content::Gone(path.as_str().into(), ino);
                return Ok(self.granted(&path, ino, &Descriptor::File(File { content, at, flags, read, write })));
            }
            Target::Library(path) => self.named(&path).ok_or("a file of the library is open that is not there")?,
        };
        let kind = self.kind(&place).map_err(|_| "a file is open that is not there")?;
        let content = match place {
            Place::Device(device) => Content::Device(device),
            _ if kind == Kind::Folder => {
                return Ok(Descriptor::Folder(Folder { place, preopen: None }));
            }
            Place::Tree(ino) => Content::Tree(ino),
            Place::Host(node) if !write => {
                Content::Host(self.mounts.open(node).map_err(|_| "a file of the library cannot be opened")?)
            }
            _ => return Err("a file of the library is open for writing"),
        };
        Ok(Descriptor::File(File { content, at, flags, read, write }))
    }

    fn target(&self, place: &Place) -> Result<Target, Errno> {
        Ok(match place {
            Place::Tree(ino) => Target::Scratch(ino.0),
            Place::Hub(hub) => Target::Library(hub.path().into()),
            Place::Device(device) => Target::Library(device.path().into()),
            Place::Host(node) if node.is_of_image() => Target::Library(self.mounts.path(*node)?),
            Place::Host(node) => Target::Granted(self.mounts.path(*node)?, None),
            Place::Way(way) => Target::Granted(self.mounts.grants().path(*way).ok_or(Errno::Noent)?.into(), None),
            Place::Live(live) => Target::Granted(live.guest_path(), Some(live.describe()?.ino)),
        })
    }

    /// The read-only file or folder, or the device, of this name.
    fn named(&self, path: &str) -> Option<Place> {
        let hub = Hub::ALL.into_iter().find(|hub| hub.path() == path).map(Place::Hub);
        let device = Device::ALL.into_iter().find(|device| device.path() == path).map(Place::Device);
        if let Some(place) = hub.or(device) {
            return Some(place);
        }
        // The longer name first, since the other is its beginning.
        [Source::MplData, Source::Lib]
            .into_iter()
            .find_map(|source| {
                let rest = path.strip_prefix(source_name(source))?;
                let mut names = rest.split('/');
                // Before the first slash there is nothing, or it is another name.
                let first = names.next().filter(|first| first.is_empty());
                first?;
                names.try_fold(HostNode::root(source), |folder, name| self.mounts.lookup(folder, name).ok())
            })
            .map(Place::Host)
    }
}
