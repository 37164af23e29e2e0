//! What the host's files need from Windows.

use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;

use cap_std::fs::{DirEntry, Metadata, OpenOptions};

/// `ERROR_TOO_MANY_OPEN_FILES`.
const TOO_MANY_OPEN_FILES: i32 = 4;

/// Reads at a position. It moves the file's own, which nobody uses.
pub(super) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(into, at)
}

/// Writes at a position. It moves the file's own, which nobody uses.
pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.seek_write(bytes, at)
}

/// Pipes lie in no folder here.
pub(super) fn never_wait(_: &mut OpenOptions) {}

/// A listing tells none.
pub(super) fn ino(_: &DirEntry) -> u64 {
    0
}

/// Nobody keeps it here.
pub(super) fn changed(_: &Metadata) -> Option<u64> {
    None
}

/// A link that is not followed is told by what it is, not by an error.
pub(super) fn is_link(_: &io::Error) -> bool {
    false
}

/// Whether the process or the system has no handle left.
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    error.raw_os_error() == Some(TOO_MANY_OPEN_FILES)
}
