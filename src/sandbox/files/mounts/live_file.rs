//! A file that is open in a folder that a session was given, and how files of the host's are opened at all.

use std::fs::{File, FileTimes};
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::super::Filestat;
use super::super::errno::Errno;
use super::super::paths::OpenHow;
use super::account::Account;
use super::granted::Granted;
use super::held::{self, FileId};
use super::live::Live;
use super::{kernel, platform, read_some};

/// A regular file that a session has open.
pub(in super::super) struct LiveFile {
    pub(super) granted: Arc<Granted>,
    /// The names on the way to it when it was opened.
    pub(super) path: Arc<str>,
    file: File,
    id: FileId,
}

impl LiveFile {
    /// Opens the file `path`, whose last name is in `dir`, and cuts it if asked to.
    ///
    /// # Errors
    /// ROFS; NOENT when it is no regular file any more; ACCES when the kernel shows it; PERM for writing to one that has
    /// other names, which may lie outside of the mount; and what the host says.
    pub(super) fn open(
        granted: &Arc<Granted>,
        dir: &Dir,
        path: &Arc<str>,
        how: OpenHow,
        account: &Arc<Account>,
    ) -> Result<Arc<Self>, Errno> {
        let write = how.write || how.truncate;
        if write && !granted.writable {
            return Err(Errno::Rofs);
        }
        let name = path.rsplit_once('/').map_or(&**path, |(_, name)| name);
        let (file, found) = open(dir, name, how.read || !write, write).map_err(errno)?.ok_or(Errno::Noent)?;
        if found.dev() != granted.device && kernel::shows(&file) {
            return Err(Errno::Acces);
        }
        if write && found.nlink() > 1 {
            return Err(Errno::Perm);
        }
        let id = FileId::of(&found);
        held::hold(id);
        let file = Arc::new(Self { granted: granted.clone(), path: path.clone(), file, id });
        if file.describe()?.links == 0 {
            // It was removed before it was held, so that its room was given back.
            return Err(Errno::Noent);
        }
        if how.truncate {
            file.resize(0, account)?;
        }
        Ok(file)
    }

    pub(in super::super) fn read(&self, at: u64, into: &mut [u8]) -> Result<usize, Errno> {
        read_some(&self.file, at, into)
    }

    /// Writes at `at`, or at the end, as much as the account has room for; says where it ended and how many bytes it were.
    ///
    /// # Errors
    /// FBIG, NOSPC (there is no room at all), and what the host says.
    pub(in super::super) fn write(
        &self,
        at: Option<u64>,
        bytes: &[u8],
        account: &Account,
    ) -> Result<(u64, usize), Errno> {
        let now = self.bytes()?;
        let at = at.unwrap_or(now);
        if bytes.is_empty() {
            return Ok((at, 0));
        }
        let end = at.checked_add(bytes.len() as u64).filter(|end| i64::try_from(*end).is_ok()).ok_or(Errno::Fbig)?;
        let wanted = end.saturating_sub(now);
        let room = account.grow(wanted);
        // What lies before the first byte that is written is paid for as well.
        let fits = bytes.len() as u64 - (wanted - room).min(bytes.len() as u64);
        let fits = usize::try_from(fits).unwrap_or(bytes.len());
        let written = if fits == 0 { Err(Errno::Nospc) } else { self.write_some(at, &bytes[..fits]) };
        let grown = self.bytes().map_or(room, |bytes| bytes.saturating_sub(now));
        account.shrink(room.saturating_sub(grown));
        written.map(|written| (at + written as u64, written))
    }

    fn write_some(&self, at: u64, bytes: &[u8]) -> Result<usize, Errno> {
        loop {
            match platform::write_at(&self.file, bytes, at) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                written => return written.map_err(errno),
            }
        }
    }

    /// Cuts it, or lets it grow by zeros.
    ///
    /// # Errors
    /// FBIG, NOSPC, and what the host says.
    pub(in super::super) fn resize(&self, bytes: u64, account: &Account) -> Result<(), Errno> {
        let now = self.bytes()?;
        if i64::try_from(bytes).is_err() {
            return Err(Errno::Fbig);
        }
        let wanted = bytes.saturating_sub(now);
        let room = account.grow(wanted);
        let resized = if room < wanted { Err(Errno::Nospc) } else { self.file.set_len(bytes).map_err(errno) };
        match resized {
            Ok(()) => account.shrink(now.saturating_sub(bytes)),
            Err(_) => account.shrink(room),
        }
        resized
    }

    pub(in super::super) fn bytes(&self) -> Result<u64, Errno> {
        Ok(self.file.metadata().map_err(errno)?.len())
    }

    /// The same as something in a folder.
    pub(in super::super) fn place(self: &Arc<Self>) -> Live {
        Live::of_open(self)
    }

    /// Sets those times that are given.
    pub(super) fn set_times(&self, accessed: Option<SystemTime>, modified: Option<SystemTime>) -> io::Result<()> {
        let times = accessed.map_or(FileTimes::new(), |time| FileTimes::new().set_accessed(time));
        self.file.set_times(modified.map_or(times, |time| times.set_modified(time)))
    }

    pub(super) fn describe(&self) -> Result<Filestat, Errno> {
        Ok(self.granted.stat(&Metadata::from_file(&self.file).map_err(errno)?))
    }
}

impl Drop for LiveFile {
    fn drop(&mut self) {
        if let Some(account) = held::let_go(self.id) {
            account.shrink(self.bytes().unwrap_or_default());
        }
    }
}

impl std::fmt::Debug for LiveFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("LiveFile").field(&self.path).finish()
    }
}

/// Opens the file `name` of a folder for reading, without following a link and without waiting for a pipe. `None` if it is
/// no regular file.
pub(in super::super::super) fn open_regular(dir: &Dir, name: &str) -> io::Result<Option<File>> {
    Ok(open(dir, name, true, false)?.map(|(file, _)| file))
}

fn open(dir: &Dir, name: &str, read: bool, write: bool) -> io::Result<Option<(File, Metadata)>> {
    let mut options = OpenOptions::new();
    options.read(read).write(write).follow(FollowSymlinks::No);
    platform::never_wait(&mut options);
    let file = dir.open_with(name, &options)?.into_std();
    let found = Metadata::from_file(&file)?;
    Ok(found.is_file().then_some((file, found)))
}

/// What the host said, as the guest is told it: a number, and none of the host's words.
#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(super) fn errno(error: io::Error) -> Errno {
    use io::ErrorKind as Kind;
    if platform::is_exhausted(&error) {
        return Errno::Nfile;
    }
    if platform::is_link(&error) {
        return Errno::Noent;
    }
    match error.kind() {
        Kind::NotFound => Errno::Noent,
        Kind::PermissionDenied => Errno::Acces,
        Kind::AlreadyExists => Errno::Exist,
        Kind::NotADirectory => Errno::Notdir,
        Kind::IsADirectory => Errno::Isdir,
        Kind::DirectoryNotEmpty => Errno::Notempty,
        Kind::StorageFull => Errno::Nospc,
        Kind::QuotaExceeded => Errno::Dquot,
        Kind::FileTooLarge => Errno::Fbig,
        Kind::ReadOnlyFilesystem => Errno::Rofs,
        Kind::InvalidInput => Errno::Inval,
        Kind::InvalidFilename => Errno::Nametoolong,
        Kind::ResourceBusy | Kind::ExecutableFileBusy => Errno::Busy,
        Kind::CrossesDevices => Errno::Xdev,
        _ => Errno::Io,
    }
}
