//! The calls on an open descriptor.

use std::sync::Arc;

use super::errno::Errno;
use super::listing::{Listing, Row};
use super::mounts::Account;
use super::table::{Content, Descriptor, File, Folder, Stream};
use super::{Device, Files, Filestat, Hub, Kind, Place, Stamp, Times, held, tree};

/// Preview 1's `fdflags`: the one that has an effect, and all there are.
const APPEND: u16 = 1;
pub(in super::super) const KNOWN_FLAGS: u16 = 0b1_1111;

/// Preview 1's rights, as far as wasi-libc looks at them.
pub(in super::super) mod rights {
    pub(super) const ALL: u64 = (1 << 30) - 1;
    pub(in super::super::super) const READ: u64 = 1 << 1;
    pub(super) const SEEK: u64 = 1 << 2;
    pub(super) const TELL: u64 = 1 << 5;
    pub(in super::super::super) const WRITE: u64 = 1 << 6;
    pub(super) const ALLOCATE: u64 = 1 << 8;
    pub(super) const READDIR: u64 = 1 << 14;
    pub(super) const SET_SIZE: u64 = 1 << 22;
}

/// What preview 1 tells of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Fdstat {
    pub(in super::super) kind: Kind,
    pub(in super::super) flags: u16,
    pub(in super::super) rights: u64,
    /// The rights of what is opened through it.
    pub(in super::super) inheriting: u64,
}

/// What a seek counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Whence {
    Start,
    Here,
    End,
}

impl Files {
    /// Which stream the descriptor is, if it is one.
    ///
    /// # Errors
    /// BADF.
    pub(in super::super) fn stream(&self, fd: u32) -> Result<Option<Stream>, Errno> {
        match self.table.get(fd)? {
            Descriptor::Stream(stream) => Ok(Some(*stream)),
            _ => Ok(None),
        }
    }

    pub(in super::super) fn close(&mut self, fd: u32) -> Result<(), Errno> {
        let closed = self.table.remove(fd)?;
        self.walks.end(fd);
        self.let_go(&closed);
        Ok(())
    }

    pub(in super::super) fn renumber(&mut self, from: u32, to: u32) -> Result<(), Errno> {
        if let Some(replaced) = self.table.renumber(from, to)? {
            self.walks.end(from);
            self.walks.end(to);
            self.let_go(&replaced);
        }
        Ok(())
    }

    fn let_go(&mut self, descriptor: &Descriptor) {
        if let Some(ino) = held(descriptor) {
            self.tree.release(ino);
        }
    }

    pub(in super::super) fn fdstat(&self, fd: u32) -> Result<Fdstat, Errno> {
        use rights::{ALL, ALLOCATE, READ, READDIR, SEEK, SET_SIZE, TELL, WRITE};
        let unless = |allowed: bool, rights: u64| if allowed { 0 } else { rights };
        Ok(match self.table.get(fd)? {
            // libc takes a stream that cannot seek for a terminal. A seek is refused all the same.
            Descriptor::Stream(stream) => {
                let rights = SEEK | TELL | if *stream == Stream::Stdin { READ } else { WRITE };
                Fdstat { kind: Kind::Device, flags: 0, rights, inheriting: rights }
            }
            // In a read-only place, too: there the calls say ROFS, which libc would otherwise never get to hear.
            Descriptor::Folder(_) => Fdstat {
                kind: Kind::Folder,
                flags: 0,
                rights: ALL & !(WRITE | SEEK | TELL | ALLOCATE | SET_SIZE),
                inheriting: ALL,
            },
            Descriptor::File(file) => {
                let rights =
                    ALL & !unless(file.read, READ | READDIR) & !unless(file.write, WRITE | ALLOCATE | SET_SIZE);
                let kind = file.content.place().and_then(|place| self.kind(&place)).unwrap_or(Kind::File);
                Fdstat { kind, flags: file.flags, rights, inheriting: rights }
            }
        })
    }

    pub(in super::super) fn set_flags(&mut self, fd: u32, flags: u16) -> Result<(), Errno> {
        if flags & !KNOWN_FLAGS != 0 {
            return Err(Errno::Inval);
        }
        match self.table.get_mut(fd)? {
            Descriptor::File(file) => file.flags = flags,
            // Nothing that could be set makes a difference.
            Descriptor::Stream(_) | Descriptor::Folder(_) => {}
        }
        Ok(())
    }

    pub(in super::super) fn stat(&self, fd: u32) -> Result<Filestat, Errno> {
        match self.table.get(fd)? {
            Descriptor::Stream(_) => {
                let times = Times::default();
                Ok(Filestat { device: 0, ino: 0, kind: Kind::Device, links: 0, bytes: 0, times })
            }
            Descriptor::Folder(folder) => self.describe(&folder.place),
            Descriptor::File(file) => self.describe(&file.content.place()?),
        }
    }

    pub(in super::super) fn set_times(&mut self, fd: u32, to: Stamp, now: u64) -> Result<(), Errno> {
        let place = match self.table.get(fd)? {
            Descriptor::Stream(_) => return Err(Errno::Inval),
            Descriptor::Folder(folder) => folder.place.clone(),
            Descriptor::File(file) => file.content.place()?,
        };
        self.stamp(place, to, now)
    }

    pub(in super::super) fn set_size(&mut self, fd: u32, bytes: u64, now: u64) -> Result<(), Errno> {
        match self.table.get(fd)? {
            Descriptor::File(File { content: Content::Tree(ino), write: true, .. }) => {
                self.tree.resize(*ino, bytes, now)
            }
            Descriptor::File(File { content: Content::Live(file), write: true, .. }) => {
                file.resize(bytes, self.account())
            }
            _ => Err(Errno::Inval),
        }
    }

    /// `fd_sync`, `fd_datasync`: there is nothing to wait for, or (in a folder of the host's) it could take too long.
    pub(in super::super) fn sync(&self, fd: u32) -> Result<(), Errno> {
        match self.table.get(fd)? {
            Descriptor::Stream(_) | Descriptor::File(File { content: Content::Device(_), .. }) => Err(Errno::Inval),
            _ => Ok(()),
        }
    }

    pub(in super::super) fn advise(&self, fd: u32) -> Result<(), Errno> {
        match self.table.get(fd)? {
            Descriptor::File(_) => Ok(()),
            Descriptor::Stream(_) => Err(Errno::Spipe),
            Descriptor::Folder(_) => Err(Errno::Badf),
        }
    }

    /// No descriptor is a socket.
    pub(in super::super) fn socket(&self, fd: u32) -> Result<(), Errno> {
        self.table.get(fd)?;
        Err(Errno::Notsock)
    }

    /// The name of a folder that is open from the start.
    ///
    /// # Errors
    /// BADF for anything else: it ends libc's count.
    pub(in super::super) fn preopen(&self, fd: u32) -> Result<&'static str, Errno> {
        match self.table.get(fd)? {
            Descriptor::Folder(Folder { preopen: Some(name), .. }) => Ok(name),
            _ => Err(Errno::Badf),
        }
    }

    /// Whether reads of the descriptor give random bytes, which come from elsewhere.
    ///
    /// # Errors
    /// BADF, also for one that cannot be read.
    pub(in super::super) fn is_random(&self, fd: u32) -> Result<bool, Errno> {
        match self.table.get(fd)? {
            Descriptor::File(File { content: Content::Device(device), read, .. }) if device.is_random() => {
                if *read {
                    Ok(true)
                } else {
                    Err(Errno::Badf)
                }
            }
            _ => Ok(false),
        }
    }

    /// Reads where the last read or write ended.
    pub(in super::super) fn read(&mut self, fd: u32, into: &mut [u8]) -> Result<usize, Errno> {
        let file = match self.table.get_mut(fd)? {
            Descriptor::Stream(Stream::Stdin) => return Ok(0),
            descriptor => readable(descriptor)?,
        };
        let read = read_content(&self.tree, &file.content, file.at, into)?;
        file.at += read as u64;
        Ok(read)
    }

    pub(in super::super) fn read_at(&self, fd: u32, at: u64, into: &mut [u8]) -> Result<usize, Errno> {
        match self.table.get(fd)? {
            Descriptor::Stream(_) => Err(Errno::Spipe),
            Descriptor::Folder(_) => Err(Errno::Isdir),
            Descriptor::File(file) if !file.read => Err(Errno::Badf),
            Descriptor::File(file) => read_content(&self.tree, &file.content, at, into),
        }
    }

    /// Writes where the last read or write ended, or at the end of a file that is open for appending.
    pub(in super::super) fn write(&mut self, fd: u32, bytes: &[u8], now: u64) -> Result<usize, Errno> {
        let Descriptor::File(file) = self.table.get_mut(fd)? else { return Err(Errno::Badf) };
        let at = (file.flags & APPEND == 0).then_some(file.at);
        let (end, written) = write_content(&mut self.tree, self.mounts.account(), file, at, bytes, now)?;
        file.at = end;
        Ok(written)
    }

    /// As Linux does, a file that is open for appending grows at its end, whatever `at` says.
    pub(in super::super) fn write_at(&mut self, fd: u32, at: u64, bytes: &[u8], now: u64) -> Result<usize, Errno> {
        let file = match self.table.get(fd)? {
            Descriptor::File(file) => file,
            Descriptor::Stream(_) => return Err(Errno::Spipe),
            Descriptor::Folder(_) => return Err(Errno::Badf),
        };
        let at = (file.flags & APPEND == 0).then_some(at);
        write_content(&mut self.tree, self.mounts.account(), file, at, bytes, now).map(|(_, written)| written)
    }

    pub(in super::super) fn seek(&mut self, fd: u32, by: i64, from: Whence) -> Result<u64, Errno> {
        let bytes = match self.table.get(fd)? {
            // Wherever one seeks to, it is the same.
            Descriptor::File(File { content: Content::Device(_), .. }) => return Ok(0),
            Descriptor::File(file) => self.describe(&file.content.place()?)?.bytes,
            Descriptor::Stream(_) => return Err(Errno::Spipe),
            Descriptor::Folder(_) => return Err(Errno::Badf),
        };
        let Descriptor::File(file) = self.table.get_mut(fd)? else { return Err(Errno::Badf) };
        let base = match from {
            Whence::Start => 0,
            Whence::Here => file.at,
            Whence::End => bytes,
        };
        let at = base.checked_add_signed(by).ok_or(Errno::Inval)?;
        if i64::try_from(at).is_err() {
            return Err(Errno::Overflow);
        }
        file.at = at;
        Ok(at)
    }

    /// Writes the records of a folder from `cookie` on, and says how many bytes they took.
    pub(in super::super) fn list(&mut self, fd: u32, cookie: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let folder = self.folder(fd)?;
        let listing = match self.walks.under_way(fd).filter(|_| cookie != 0) {
            Some(listing) => listing,
            None => {
                let listing = Arc::new(self.listing(&folder)?);
                self.walks.begin(fd, listing.clone());
                listing
            }
        };
        let written = listing.write(cookie, into);
        if written < into.len() {
            // These are the last of them: nobody will ask for more.
            self.walks.end(fd);
        }
        Ok(written)
    }

    /// What the session has made of folders that it was given.
    pub(super) fn account(&self) -> &Arc<Account> {
        self.mounts.account()
    }

    fn listing(&self, folder: &Place) -> Result<Listing, Errno> {
        let own = self.describe(folder)?.ino;
        let above = self.parent(folder).and_then(|parent| self.describe(&parent)).map_or(own, |stat| stat.ino);
        let mut rows = Vec::new();
        let mut add = |name: &str, ino, kind| rows.push(Row { name: name.into(), ino, kind });
        add(".", own, Kind::Folder);
        add("..", above, Kind::Folder);
        match folder {
            Place::Hub(hub) => {
                for (name, place) in hub.list() {
                    let stat = self.describe(place)?;
                    add(name, stat.ino, stat.kind);
                }
                if *hub == Hub::Root {
                    self.given(0, &mut add);
                }
            }
            Place::Way(way) => self.given(*way, &mut add),
            Place::Device(_) => return Err(Errno::Notdir),
            Place::Host(folder) => {
                for (name, node) in self.mounts.list(*folder)? {
                    let stat = self.describe(&Place::Host(node))?;
                    add(name, stat.ino, stat.kind);
                }
            }
            Place::Live(folder) => {
                for entry in folder.list()? {
                    add(&entry.name, entry.ino, entry.kind);
                }
            }
            Place::Tree(folder) => {
                for (name, ino, kind) in self.tree.list(*folder)? {
                    let kind = if kind == tree::Kind::Folder { Kind::Folder } else { Kind::File };
                    add(&name, u64::from(ino.0), kind);
                }
            }
        }
        rows[2..].sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Listing(rows))
    }

    /// What the session was given on the way `way`. What the host cannot tell anything of is there all the same.
    fn given(&self, way: usize, add: &mut impl FnMut(&str, u64, Kind)) {
        for (name, place) in self.mounts.grants().list(way) {
            add(name, self.describe(&place).map_or(0, |stat| stat.ino), Kind::Folder);
        }
    }
}

impl Content {
    /// # Errors
    /// IO for what is gone.
    pub(super) fn place(&self) -> Result<Place, Errno> {
        Ok(match self {
            Self::Tree(ino) => Place::Tree(*ino),
            Self::Host(file) => Place::Host(file.node),
            Self::Live(file) => Place::Live(file.place()),
            Self::Device(device) => Place::Device(*device),
            Self::Gone(..) => return Err(Errno::Io),
        })
    }
}

fn readable(descriptor: &mut Descriptor) -> Result<&mut File, Errno> {
    match descriptor {
        Descriptor::File(file) if file.read => Ok(file),
        Descriptor::Folder(_) => Err(Errno::Isdir),
        _ => Err(Errno::Badf),
    }
}

fn read_content(tree: &tree::Tree, content: &Content, at: u64, into: &mut [u8]) -> Result<usize, Errno> {
    match content {
        Content::Tree(ino) => tree.read(*ino, at, into),
        Content::Host(file) => file.read(at, into),
        Content::Live(file) => file.read(at, into),
        Content::Gone(..) => Err(Errno::Io),
        Content::Device(Device::Null) => Ok(0),
        // The caller has them; see `is_random`.
        Content::Device(Device::Random | Device::Urandom) => Err(Errno::Io),
    }
}

/// Writes at `at`, or at the end; says where it ended and how many bytes it were. Nothing to write is nothing done, also
/// where the file is full.
fn write_content(
    tree: &mut tree::Tree,
    account: &Account,
    file: &File,
    at: Option<u64>,
    bytes: &[u8],
    now: u64,
) -> Result<(u64, usize), Errno> {
    match &file.content {
        _ if !file.write => Err(Errno::Badf),
        Content::Tree(ino) => {
            let at = at.unwrap_or_else(|| tree.stat(*ino).map_or(0, |stat| stat.bytes));
            let written = if bytes.is_empty() { 0 } else { tree.write(*ino, at, bytes, now)? };
            Ok((at + written as u64, written))
        }
        Content::Live(live) => live.write(at, bytes, account),
        Content::Device(_) => Ok((0, bytes.len())),
        Content::Host(_) => Err(Errno::Badf),
        Content::Gone(..) => Err(Errno::Io),
    }
}
