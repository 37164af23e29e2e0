//! What the host's files need from a Unix.

use std::fs::File;
use std::io;
use std::os::unix::fs::{DirEntryExt, FileExt};

use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::fs::{DirEntry, Metadata, MetadataExt, OpenOptions};

/// Reads at a position without moving the file's own, which all sessions share.
pub(super) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(into, at)
}

/// Writes at a position.
pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.write_at(bytes, at)
}

/// A pipe is opened, or refused, at once.
pub(super) fn never_wait(options: &mut OpenOptions) {
    options.nonblock(true);
}

/// The number of a file or folder, as a listing tells it.
pub(super) fn ino(entry: &DirEntry) -> u64 {
    entry.ino()
}

/// When what is known of a file was changed, in nanoseconds since the Unix epoch.
pub(super) fn changed(found: &Metadata) -> Option<u64> {
    let seconds = u64::try_from(found.ctime()).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(found.ctime_nsec()).ok()?)
}

/// Whether something was not opened because it is a link.
pub(super) fn is_link(error: &io::Error) -> bool {
    error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) == Some(rustix::io::Errno::LOOP)
}

/// Whether the process or the system has no descriptor left.
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}
