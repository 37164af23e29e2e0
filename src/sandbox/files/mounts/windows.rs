//! What the host's files need from Windows.

use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;

/// `ERROR_TOO_MANY_OPEN_FILES`.
const TOO_MANY_OPEN_FILES: i32 = 4;

/// Reads at a position. It moves the file's own, which nobody uses.
pub(super) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek_read(into, at)
}

/// Whether the process or the system has no handle left.
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    error.raw_os_error() == Some(TOO_MANY_OPEN_FILES)
}
