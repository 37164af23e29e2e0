//! The descriptors of one interpreter: the lowest free number is the next, and so many are open at most.

use std::sync::Arc;

use super::errno::Errno;
use super::hub::{Device, Place};
use super::mounts::{HostFile, LiveFile};
use super::tree::Ino;

#[derive(Clone, Debug)]
pub(super) enum Descriptor {
    Stream(Stream),
    Folder(Folder),
    File(File),
}

/// The three that are open from the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Stream {
    /// At its end.
    Stdin,
    Stdout,
    Stderr,
}

impl Stream {
    /// By their numbers.
    pub(super) const ALL: [Self; 3] = [Self::Stdin, Self::Stdout, Self::Stderr];
}

#[derive(Clone, Debug)]
pub(super) struct Folder {
    pub(super) place: Place,
    /// The name under which libc finds it, for those that are open from the start.
    pub(super) preopen: Option<&'static str>,
}

#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) content: Content,
    /// Where the next read or write begins.
    pub(super) at: u64,
    /// Preview 1's `fdflags`. APPEND has an effect; the others are remembered.
    pub(super) flags: u16,
    pub(super) read: bool,
    pub(super) write: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Content {
    Tree(Ino),
    Host(Arc<HostFile>),
    Live(Arc<LiveFile>),
    Device(Device),
    /// It was open in a folder of the host under this path, with this number, and this session does not have it: every
    /// use fails.
    Gone(Arc<str>, Option<u64>),
}

impl Descriptor {
    /// Whether it was open from the start, and so does not count.
    fn is_given(&self) -> bool {
        matches!(self, Self::Stream(_) | Self::Folder(Folder { preopen: Some(_), .. }))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    slots: Vec<Option<Descriptor>>,
    /// How many of them the program opened.
    opened: u64,
    allowed: u64,
}

impl Table {
    /// `given` are open from the start, from 0 on; the program may open `allowed` more.
    pub(super) fn new(given: impl IntoIterator<Item = Descriptor>, allowed: u64) -> Self {
        Self { slots: given.into_iter().map(Some).collect(), opened: 0, allowed }
    }

    /// How many more than those given may be open.
    pub(super) fn allowed(&self) -> u64 {
        self.allowed
    }

    pub(super) fn allow(&mut self, open_files: u64) {
        self.allowed = open_files;
    }

    /// # Errors
    /// BADF.
    pub(super) fn get(&self, fd: u32) -> Result<&Descriptor, Errno> {
        self.slots.get(fd as usize).and_then(Option::as_ref).ok_or(Errno::Badf)
    }

    /// # Errors
    /// BADF.
    pub(super) fn get_mut(&mut self, fd: u32) -> Result<&mut Descriptor, Errno> {
        self.slots.get_mut(fd as usize).and_then(Option::as_mut).ok_or(Errno::Badf)
    }

    /// Whether one more can be opened.
    ///
    /// # Errors
    /// MFILE.
    pub(super) fn room(&self) -> Result<(), Errno> {
        if self.opened < self.allowed { Ok(()) } else { Err(Errno::Mfile) }
    }

    /// Gives it the lowest free number.
    ///
    /// # Errors
    /// MFILE.
    pub(super) fn insert(&mut self, descriptor: Descriptor) -> Result<u32, Errno> {
        self.room()?;
        let free = self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len());
        let fd = u32::try_from(free).map_err(|_| Errno::Mfile)?;
        self.put(free, descriptor);
        Ok(fd)
    }

    /// Gives it this number.
    ///
    /// # Errors
    /// MFILE, and EXIST for a number that another has.
    pub(super) fn place(&mut self, fd: u32, descriptor: Descriptor) -> Result<(), Errno> {
        let at = fd as usize;
        if self.slots.get(at).is_some_and(Option::is_some) {
            return Err(Errno::Exist);
        }
        if !descriptor.is_given() {
            self.room()?;
        }
        self.put(at, descriptor);
        Ok(())
    }

    /// # Errors
    /// BADF.
    pub(super) fn remove(&mut self, fd: u32) -> Result<Descriptor, Errno> {
        let removed = self.slots.get_mut(fd as usize).and_then(Option::take).ok_or(Errno::Badf)?;
        self.opened -= u64::from(!removed.is_given());
        Ok(removed)
    }

    /// Gives the descriptor `from` the number `to`, and what was `to` back to be closed.
    ///
    /// # Errors
    /// BADF unless both are open.
    pub(super) fn renumber(&mut self, from: u32, to: u32) -> Result<Option<Descriptor>, Errno> {
        self.get(to)?;
        self.get(from)?;
        if from == to {
            return Ok(None);
        }
        let (replaced, moved) = (self.remove(to)?, self.remove(from)?);
        self.put(to as usize, moved);
        Ok(Some(replaced))
    }

    /// Everything that is open, by number.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Descriptor)> {
        (0..).zip(&self.slots).filter_map(|(fd, slot)| Some((fd, slot.as_ref()?)))
    }

    fn put(&mut self, at: usize, descriptor: Descriptor) {
        self.opened += u64::from(!descriptor.is_given());
        if at >= self.slots.len() {
            self.slots.resize_with(at + 1, || None);
        }
        self.slots[at] = Some(descriptor);
    }
}
