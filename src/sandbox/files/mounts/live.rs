//! What is in a folder that a session was given, as it is at this moment.
//!
//! This is a security boundary. The folder may be changed by anybody while it is used, so nothing that was seen is
//! relied on later: a name is looked at and opened relative to the opened folder that holds it, one name at a time, never
//! `..`, never following a link; what was opened is looked at again, and only then used. What is no regular file or
//! folder, a link first of all, is not there: it is neither listed nor found nor opened (a pipe that takes a file's
//! place between the two looks is opened without waiting, and closed).

use std::io;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, SystemTimeSpec};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use cap_std::time::SystemTime as CapTime;

use super::super::errno::Errno;
use super::super::paths::{OpenHow, Stamp};
use super::super::tree::{MAX_NAME, MAX_PATH, Times};
use super::super::{Filestat, Kind};
use super::account::Account;
use super::granted::{Granted, Mount};
use super::held::{self, FileId};
use super::live_file::{LiveFile, errno};
use super::{kernel, number, platform};
use crate::sandbox::names::is_host_name;

/// What a folder may hold to be listed: entries, and bytes of their names.
const MOST_ENTRIES: usize = 100_000;
const MOST_NAMES: usize = 8 << 20;

/// Fewer than so many entries may be in a folder that is moved deeper: each is looked at, and no deadline ends a call.
const MOST_MOVED: usize = 10_000;

/// A file or folder as it was found.
#[derive(Clone)]
pub(in super::super) struct Live {
    granted: Arc<Granted>,
    /// The names on the way to it; empty for the mount itself.
    path: Arc<str>,
    at: At,
}

#[derive(Clone)]
enum At {
    Folder(Arc<Dir>),
    /// The folder that holds it, and what was seen of it.
    File(Arc<Dir>, Box<Filestat>, FileId),
    Open(Arc<LiveFile>),
}

/// One line of a listing.
pub(in super::super) struct Entry {
    pub(in super::super) name: String,
    pub(in super::super) ino: u64,
    pub(in super::super) kind: Kind,
}

impl Live {
    /// The mounted folder itself.
    pub(super) fn root(mount: &Mount) -> Self {
        let granted = mount.0.clone();
        Self { path: Arc::default(), at: At::Folder(granted.dir.clone()), granted }
    }

    /// A file that is open, as something in a folder.
    pub(super) fn of_open(file: &Arc<LiveFile>) -> Self {
        Self { granted: file.granted.clone(), path: file.path.clone(), at: At::Open(file.clone()) }
    }

    pub(super) fn is_in(&self, mount: &Mount) -> bool {
        Arc::ptr_eq(&self.granted, &mount.0)
    }

    /// Whether both are in one mount, within which things can be moved.
    pub(in super::super) fn is_beside(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.granted, &other.granted)
    }

    pub(in super::super) fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    /// The guest's name for it.
    pub(in super::super) fn guest_path(&self) -> String {
        match &*self.path {
            "" => self.granted.guest.clone(),
            path => format!("{}/{path}", self.granted.guest),
        }
    }

    pub(in super::super) fn kind(&self) -> Kind {
        match self.at {
            At::Folder(_) => Kind::Folder,
            At::File(..) | At::Open(_) => Kind::File,
        }
    }

    pub(in super::super) fn describe(&self) -> Result<Filestat, Errno> {
        match &self.at {
            At::Folder(dir) => Ok(self.granted.stat(&dir.dir_metadata().map_err(errno)?)),
            At::File(_, seen, _) => Ok(**seen),
            At::Open(file) => file.describe(),
        }
    }

    /// What `name` is in this folder.
    ///
    /// # Errors
    /// NOTDIR, NOENT (also for a link), ACCES for the cache and what the kernel shows of itself, NAMETOOLONG, and what the host says.
    pub(in super::super) fn lookup(&self, name: &str) -> Result<Self, Errno> {
        let (dir, path) = self.below(name)?;
        let seen = dir.symlink_metadata(name).map_err(errno)?;
        let at = if seen.is_dir() {
            let dir = dir.open_dir_nofollow(name).map_err(errno)?;
            if seen.dev() != self.granted.device && kernel::shows(&dir) {
                return Err(Errno::Acces);
            }
            if self.granted.hides(FileId::of(&dir.dir_metadata().map_err(errno)?)) {
                return Err(Errno::Acces);
            }
            At::Folder(Arc::new(dir))
        } else if seen.is_file() {
            At::File(dir.clone(), Box::new(self.granted.stat(&seen)), FileId::of(&seen))
        } else {
            return Err(Errno::Noent);
        };
        Ok(Self { granted: self.granted.clone(), path, at })
    }

    /// The folder that holds it, found anew; `None` for the mount itself.
    pub(in super::super) fn parent(&self) -> Result<Option<Self>, Errno> {
        if self.is_root() {
            return Ok(None);
        }
        let root = Self::root(&Mount(self.granted.clone()));
        let (above, _) = self.path.rsplit_once('/').unwrap_or_default();
        above.split('/').filter(|name| !name.is_empty()).try_fold(root, |at, name| at.lookup(name)).map(Some)
    }

    /// What is in this folder and can be found, in no order.
    ///
    /// # Errors
    /// OVERFLOW for more than can be held, NOTDIR, and what the host says.
    pub(in super::super) fn list(&self) -> Result<Vec<Entry>, Errno> {
        self.list_within(MOST_ENTRIES, MOST_NAMES)
    }

    fn list_within(&self, most_entries: usize, most_names: usize) -> Result<Vec<Entry>, Errno> {
        let At::Folder(dir) = &self.at else { return Err(Errno::Notdir) };
        let (mut entries, mut looked, mut names) = (Vec::new(), 0, 0);
        for entry in dir.entries().map_err(errno)? {
            let entry = entry.map_err(errno)?;
            looked += 1;
            // WASI's names are UTF-8; a file with another one cannot be asked for.
            let Ok(name) = entry.file_name().into_string() else { continue };
            names += name.len();
            if looked > most_entries || names > most_names {
                return Err(Errno::Overflow);
            }
            // Some file systems do not tell it here. What is gone meanwhile is left out.
            let Ok(kind) =
                entry.file_type().and_then(|kind| match kind.is_file() || kind.is_dir() || kind.is_symlink() {
                    true => Ok(kind),
                    false => entry.metadata().map(|metadata| metadata.file_type()),
                })
            else {
                continue;
            };
            if check_name(&name).is_ok() && (kind.is_file() || kind.is_dir()) {
                let kind = if kind.is_dir() { Kind::Folder } else { Kind::File };
                entries.push(Entry { ino: platform::ino(&entry), name, kind });
            }
        }
        Ok(entries)
    }

    /// Opens this file, and cuts it if asked to.
    ///
    /// # Errors
    /// ISDIR, and those of [`LiveFile::open`].
    pub(in super::super) fn open(&self, how: OpenHow, account: &Arc<Account>) -> Result<Arc<LiveFile>, Errno> {
        let At::File(dir, ..) = &self.at else { return Err(Errno::Isdir) };
        LiveFile::open(&self.granted, dir, &self.path, how, account)
    }

    /// Makes an empty file or folder in this folder.
    ///
    /// # Errors
    /// ROFS, EXIST (also where a link is), DQUOT (too deep), NOSPC (too many), and what the host says.
    pub(in super::super) fn create(&self, name: &str, kind: Kind, account: &Account) -> Result<(), Errno> {
        let (dir, path) = self.below_to_write(name)?;
        account.make(&path)?;
        let made = if kind == Kind::Folder {
            dir.create_dir(name)
        } else {
            let mut options = OpenOptions::new();
            options.write(true).create_new(true).follow(FollowSymlinks::No);
            dir.open_with(name, &options).map(|_| ())
        };
        made.map_err(|error| {
            account.unmake();
            errno(error)
        })
    }

    /// Removes the file or empty folder `name`, which is of this kind.
    ///
    /// # Errors
    /// ROFS, NOENT (also for a link), ISDIR, NOTDIR, NOTEMPTY, and what the host says.
    pub(in super::super) fn remove(&self, name: &str, kind: Kind, account: &Arc<Account>) -> Result<(), Errno> {
        let (dir, _) = self.below_to_write(name)?;
        let found = self.lookup(name)?;
        match (kind, found.kind()) {
            (Kind::Folder, Kind::Folder) => dir.remove_dir(name),
            (Kind::Folder, _) => return Err(Errno::Notdir),
            (_, Kind::Folder) => return Err(Errno::Isdir),
            _ => dir.remove_file(name),
        }
        .map_err(errno)?;
        found.settle(account);
        Ok(())
    }

    /// Gives something another place in the same mount, as POSIX has it.
    ///
    /// # Errors
    /// ROFS, NOENT, ACCES for what leads to the cache, EXIST for a link in its way, DQUOT (it, or something in it, would go too deep), OVERFLOW (what is in it
    /// cannot all be looked at), and what the host says.
    pub(in super::super) fn rename(
        from: (&Self, &str),
        to: (&Self, &str),
        account: &Arc<Account>,
    ) -> Result<(), Errno> {
        let (old, _) = from.0.below_to_write(from.1)?;
        let (new, path) = to.0.below_to_write(to.1)?;
        let moved = from.0.lookup(from.1)?;
        moved.check_movable()?;
        account.reach(&path)?;
        if moved.kind() == Kind::Folder && path.split('/').count() > moved.path.split('/').count() {
            moved.check_depth(account, &path, &mut 0)?;
        }
        let replaced = match to.0.lookup(to.1) {
            Ok(replaced) => Some(replaced),
            Err(Errno::Noent) if new.symlink_metadata(to.1).is_ok() => return Err(Errno::Exist),
            Err(Errno::Noent) => None,
            Err(errno) => return Err(errno),
        };
        match (moved.kind(), replaced.as_ref().map(Self::kind)) {
            (Kind::Folder, Some(Kind::File)) => return Err(Errno::Notdir),
            (Kind::File, Some(Kind::Folder)) => return Err(Errno::Isdir),
            _ => {}
        }
        old.rename(from.1, new, to.1).map_err(errno)?;
        if let Some(replaced) = replaced.filter(|replaced| !replaced.is_same(&moved)) {
            replaced.settle(account);
        }
        Ok(())
    }

    /// Whether what is in this folder may go to where the folder would be at `path`. It is no deeper than the account allows.
    ///
    /// # Errors
    /// DQUOT, NAMETOOLONG, and OVERFLOW where more is in it than one call may look at.
    fn check_depth(&self, account: &Account, path: &str, looked: &mut usize) -> Result<(), Errno> {
        for Entry { name, kind, .. } in self.list_within(MOST_MOVED - *looked, MOST_NAMES)? {
            let path = format!("{path}/{name}");
            account.reach(&path)?;
            *looked += 1;
            if *looked >= MOST_MOVED {
                return Err(Errno::Overflow);
            }
            if kind == Kind::Folder {
                self.lookup(&name)?.check_depth(account, &path, looked)?;
            }
        }
        Ok(())
    }

    /// # Errors
    /// ROFS; PERM for a file that has other names, which may lie outside of the mount; and what the host says.
    pub(in super::super) fn set_times(&self, to: Stamp) -> Result<(), Errno> {
        if !self.granted.writable {
            return Err(Errno::Rofs);
        }
        if self.kind() == Kind::File && self.describe()?.links > 1 {
            return Err(Errno::Perm);
        }
        let [accessed, modified] = [to.accessed, to.modified].map(|time| time.map(time_of));
        let set = |time: Option<SystemTime>| time.map(|time| SystemTimeSpec::Absolute(CapTime::from_std(time)));
        match &self.at {
            At::Folder(dir) => dir.set_times(".", set(accessed), set(modified)),
            At::File(dir, ..) => dir.set_symlink_times(self.name(), set(accessed), set(modified)),
            At::Open(file) => file.set_times(accessed, modified),
        }
        .map_err(errno)
    }

    fn name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&*self.path, |(_, name)| name)
    }

    /// This folder, and the path of `name` in it.
    fn below(&self, name: &str) -> Result<(&Arc<Dir>, Arc<str>), Errno> {
        let At::Folder(dir) = &self.at else { return Err(Errno::Notdir) };
        check_name(name)?;
        let path = if self.is_root() { name.to_owned() } else { format!("{}/{name}", self.path) };
        if path.len() > MAX_PATH {
            return Err(Errno::Nametoolong);
        }
        Ok((dir, path.into()))
    }

    fn below_to_write(&self, name: &str) -> Result<(&Arc<Dir>, Arc<str>), Errno> {
        let below = self.below(name)?;
        if self.granted.writable { Ok(below) } else { Err(Errno::Rofs) }
    }

    fn is_same(&self, other: &Self) -> bool {
        let [one, other] = [self, other].map(|live| live.describe().map(|stat| (stat.device, stat.ino)));
        one.is_ok() && one == other
    }

    /// It is gone. A file with other names still takes its room, and one that is open does so until it is closed.
    fn settle(&self, account: &Arc<Account>) {
        account.unmake();
        if let At::File(_, seen, id) = &self.at
            && seen.links == 1
            && !held::owe(*id, account)
        {
            account.shrink(seen.bytes);
        }
    }

    /// How many names are looked up to find it anew.
    pub(in super::super) fn depth(&self) -> usize {
        self.path.split('/').count()
    }

    /// The way to the cache stays where it is: what lies in its place at the next start is trusted.
    fn check_movable(&self) -> Result<(), Errno> {
        let At::Folder(dir) = &self.at else { return Ok(()) };
        let id = FileId::of(&dir.dir_metadata().map_err(errno)?);
        if self.granted.leads_to_cache(id) { Err(Errno::Acces) } else { Ok(()) }
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Live").field(&self.guest_path()).finish()
    }
}

impl Granted {
    /// The number of the host's device is nobody's business, and each mount is one of its own to the guest.
    pub(super) fn stat(&self, found: &Metadata) -> Filestat {
        let nanoseconds = |time: io::Result<CapTime>| time.map_or(0, |time| since_epoch(time.into_std()));
        let modified = nanoseconds(found.modified());
        let kind = if found.is_dir() { Kind::Folder } else { Kind::File };
        Filestat {
            // Between that of everything else and what does not fit into 32 bits.
            device: number(&self.guest) & 0x7fff_ffff | 2,
            ino: found.ino(),
            kind,
            links: if kind == Kind::Folder { 1 } else { found.nlink() },
            bytes: if kind == Kind::Folder { 0 } else { found.len() },
            times: Times {
                accessed: nanoseconds(found.accessed()),
                modified,
                changed: platform::changed(found).unwrap_or(modified),
            },
        }
    }
}

/// Nothing but one name that this host would take for one.
fn check_name(name: &str) -> Result<(), Errno> {
    match name {
        "" | "." | ".." => Err(Errno::Noent),
        _ if name.contains(['/', '\0']) || !is_host_name(name) => Err(Errno::Noent),
        _ if name.len() > MAX_NAME => Err(Errno::Nametoolong),
        _ => Ok(()),
    }
}

fn since_epoch(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn time_of(nanoseconds: u64) -> SystemTime {
    UNIX_EPOCH + std::time::Duration::from_nanos(nanoseconds)
}

#[cfg(test)]
#[path = "live/tests.rs"]
mod tests;
