//! The calls that name a file by a path, relative to an open folder.

use super::errno::Errno;
use super::table::{self, Content, Descriptor, Folder};
use super::tree::MAX_PATH;
use super::{Files, Filestat, Kind, Live, Place, held, tree};

/// The names that one call may look up for the sake of `..` in mounted folders: each goes the whole way down anew, and no
/// deadline ends a call.
const MOST_LOOKED: usize = 4096;

/// How `path_open` opens.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct OpenHow {
    pub(in super::super) create: bool,
    /// Only a folder will do.
    pub(in super::super) folder: bool,
    /// Only what is new will do.
    pub(in super::super) exclusive: bool,
    pub(in super::super) truncate: bool,
    pub(in super::super) read: bool,
    pub(in super::super) write: bool,
    /// Preview 1's `fdflags`.
    pub(in super::super) flags: u16,
}

/// What a time becomes, in nanoseconds since the Unix epoch; `None` leaves it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Stamp {
    pub(in super::super) accessed: Option<u64>,
    pub(in super::super) modified: Option<u64>,
}

/// Where a path ends.
struct End<'p> {
    /// The folder that holds the last name, or the one that the path ends in.
    folder: Place,
    last: Last<'p>,
    /// The path ends in a slash, so only a folder will do.
    slash: bool,
}

/// The last part of a path.
#[derive(Clone, Copy)]
enum Last<'p> {
    /// A name, which may not be there yet.
    Name(&'p str),
    /// `.`: the folder itself.
    Itself,
    /// `..`, which has been walked.
    Above,
}

impl Files {
    pub(in super::super) fn create_folder(&mut self, fd: u32, path: &str, now: u64) -> Result<(), Errno> {
        let end = self.walk(fd, path)?;
        let Last::Name(name) = end.last else { return Err(Errno::Exist) };
        match &end.folder {
            Place::Tree(folder) => self.tree.create(*folder, name, tree::Kind::Folder, now).map(|_| ()),
            Place::Live(folder) if folder.lookup(name).is_ok() => Err(Errno::Exist),
            Place::Live(folder) => folder.create(name, Kind::Folder, self.account()),
            folder => Err(self.lookup(folder, name).map_or(Errno::Rofs, |_| Errno::Exist)),
        }
    }

    pub(in super::super) fn stat_at(&self, fd: u32, path: &str) -> Result<Filestat, Errno> {
        self.describe(&self.find(fd, path)?)
    }

    pub(in super::super) fn set_times_at(&mut self, fd: u32, path: &str, to: Stamp, now: u64) -> Result<(), Errno> {
        let place = self.find(fd, path)?;
        self.stamp(place, to, now)
    }

    pub(super) fn stamp(&mut self, place: Place, to: Stamp, now: u64) -> Result<(), Errno> {
        match place {
            Place::Tree(ino) => self.tree.set_times(ino, to.accessed, to.modified, now),
            Place::Live(live) => live.set_times(to),
            _ => Err(Errno::Rofs),
        }
    }

    /// There are no links, and none can be made.
    pub(in super::super) fn link(&self, from: (u32, &str), to: (u32, &str)) -> Result<(), Errno> {
        self.find(from.0, from.1)?;
        self.walk(to.0, to.1)?;
        Err(Errno::Perm)
    }

    /// There are no links, and none can be made.
    pub(in super::super) fn symlink(&self, fd: u32, path: &str) -> Result<(), Errno> {
        self.walk(fd, path)?;
        Err(Errno::Perm)
    }

    /// INVAL for all there is, since none of it is a link.
    pub(in super::super) fn read_link(&self, fd: u32, path: &str) -> Result<(), Errno> {
        self.find(fd, path)?;
        Err(Errno::Inval)
    }

    pub(in super::super) fn remove_folder(&mut self, fd: u32, path: &str, now: u64) -> Result<(), Errno> {
        let end = self.walk(fd, path)?;
        let name = match end.last {
            Last::Name(name) => name,
            Last::Itself => return Err(Errno::Inval),
            // The folder that the path came through is in it.
            Last::Above => return Err(Errno::Notempty),
        };
        match &end.folder {
            Place::Tree(folder) => self.tree.remove_folder(*folder, name, now),
            Place::Live(folder) => folder.remove(name, Kind::Folder, self.account()),
            folder => Err(self.lookup(folder, name).map_or_else(|errno| errno, |_| Errno::Rofs)),
        }
    }

    pub(in super::super) fn unlink(&mut self, fd: u32, path: &str, now: u64) -> Result<(), Errno> {
        let end = self.walk(fd, path)?;
        let Last::Name(name) = end.last else { return Err(Errno::Isdir) };
        let kind = self.kind(&self.lookup(&end.folder, name)?)?;
        match &end.folder {
            _ if end.slash && kind != Kind::Folder => Err(Errno::Notdir),
            Place::Tree(folder) => self.tree.unlink(*folder, name, now),
            Place::Live(folder) => folder.remove(name, Kind::File, self.account()),
            _ => Err(Errno::Rofs),
        }
    }

    pub(in super::super) fn rename(&mut self, from: (u32, &str), to: (u32, &str), now: u64) -> Result<(), Errno> {
        let (old, new) = (self.walk(from.0, from.1)?, self.walk(to.0, to.1)?);
        let (Last::Name(old_name), Last::Name(new_name)) = (old.last, new.last) else { return Err(Errno::Inval) };
        let kind = self.kind(&self.lookup(&old.folder, old_name)?)?;
        if kind != Kind::Folder && (old.slash || new.slash) {
            return Err(Errno::Notdir);
        }
        match (&old.folder, &new.folder) {
            (Place::Tree(old), Place::Tree(new)) => self.tree.rename((*old, old_name), (*new, new_name), now),
            (Place::Live(old), Place::Live(new)) if old.is_beside(new) => {
                Live::rename((old, old_name), (new, new_name), self.account())
            }
            // Programs copy, and then remove, what cannot be moved.
            (Place::Live(_), Place::Live(_) | Place::Tree(_)) | (Place::Tree(_), Place::Live(_)) => Err(Errno::Xdev),
            _ => Err(Errno::Rofs),
        }
    }

    /// Opens a file or folder and gives its descriptor.
    ///
    /// # Errors
    /// MFILE before anything is created or truncated; ROFS for whatever would change a read-only place; and POSIX's.
    pub(in super::super) fn open(&mut self, fd: u32, path: &str, how: OpenHow, now: u64) -> Result<u32, Errno> {
        if how.folder && (how.create || how.exclusive || how.truncate) {
            return Err(Errno::Inval);
        }
        let end = self.walk(fd, path)?;
        self.table.room()?;
        let place = self.found_or_created(&end, how, now)?;
        let descriptor = match self.kind(&place)? {
            Kind::Folder if how.write || how.create || how.truncate => return Err(Errno::Isdir),
            Kind::Folder => Descriptor::Folder(Folder { place, preopen: None }),
            _ if how.folder || end.slash => return Err(Errno::Notdir),
            _ => {
                let content = self.content(place, how, now)?;
                Descriptor::File(table::File { content, at: 0, flags: how.flags, read: how.read, write: how.write })
            }
        };
        if let Some(ino) = held(&descriptor) {
            self.tree.hold(ino);
        }
        self.table.insert(descriptor)
    }

    fn found_or_created(&mut self, end: &End<'_>, how: OpenHow, now: u64) -> Result<Place, Errno> {
        match (self.at(end), end.last) {
            (Ok(_) | Err(Errno::Noent), Last::Name(_)) if how.create && end.slash => Err(Errno::Isdir),
            (Ok(_), _) if how.create && how.exclusive => Err(Errno::Exist),
            (Err(Errno::Noent), Last::Name(name)) if how.create => match &end.folder {
                Place::Tree(folder) => self.tree.create(*folder, name, tree::Kind::File, now).map(Place::Tree),
                Place::Live(folder) => {
                    folder.create(name, Kind::File, self.account())?;
                    folder.lookup(name).map(Place::Live)
                }
                _ => Err(Errno::Rofs),
            },
            (found, _) => found,
        }
    }

    fn content(&mut self, file: Place, how: OpenHow, now: u64) -> Result<Content, Errno> {
        match file {
            Place::Tree(ino) => {
                if how.truncate {
                    self.tree.resize(ino, 0, now)?;
                }
                Ok(Content::Tree(ino))
            }
            Place::Host(_) if how.write || how.truncate => Err(Errno::Rofs),
            Place::Host(node) => self.mounts.open(node).map(Content::Host),
            Place::Live(live) => live.open(how, self.account()).map(Content::Live),
            Place::Device(device) => Ok(Content::Device(device)),
            Place::Hub(_) | Place::Way(_) => Err(Errno::Isdir),
        }
    }

    /// What a path names.
    fn find(&self, fd: u32, path: &str) -> Result<Place, Errno> {
        let end = self.walk(fd, path)?;
        let place = self.at(&end)?;
        if end.slash && self.kind(&place)? != Kind::Folder {
            return Err(Errno::Notdir);
        }
        Ok(place)
    }

    fn at(&self, end: &End<'_>) -> Result<Place, Errno> {
        match end.last {
            Last::Name(name) => self.lookup(&end.folder, name),
            Last::Itself | Last::Above => Ok(end.folder.clone()),
        }
    }

    /// Walks a path up to its last name. Each name before must be a folder's.
    ///
    /// # Errors
    /// BADF and NOTDIR for the descriptor; NAMETOOLONG, INVAL for a NUL, PERM for an absolute path (libc never sends
    /// one), NOENT, NOTDIR, LOOP for more `..` in a mounted folder than one call may follow.
    fn walk<'p>(&self, fd: u32, path: &'p str) -> Result<End<'p>, Errno> {
        let mut folder = self.folder(fd)?;
        match path.as_bytes() {
            [] => return Err(Errno::Noent),
            path if path.len() > MAX_PATH => return Err(Errno::Nametoolong),
            path if path.contains(&0) => return Err(Errno::Inval),
            [b'/', ..] => return Err(Errno::Perm),
            _ => {}
        }
        let slash = path.ends_with('/');
        let (mut last, mut looked) = (Last::Itself, 0);
        let mut names = path.split('/').filter(|name| !name.is_empty()).peekable();
        while let Some(name) = names.next() {
            match name {
                "." => last = Last::Itself,
                ".." => {
                    if let Place::Live(live) = &folder {
                        looked += live.depth();
                    }
                    if looked > MOST_LOOKED {
                        return Err(Errno::Loop);
                    }
                    (folder, last) = (self.parent(&folder)?, Last::Above);
                }
                name if names.peek().is_none() => return Ok(End { folder, last: Last::Name(name), slash }),
                name => {
                    folder = self.lookup(&folder, name)?;
                    if self.kind(&folder)? != Kind::Folder {
                        return Err(Errno::Notdir);
                    }
                }
            }
        }
        Ok(End { folder, last, slash })
    }
}

#[cfg(test)]
mod tests;
