//! What the host's files need from a Unix.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Reads at a position without moving the file's own, which all sessions share.
pub(super) fn read_at(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.read_at(into, at)
}

/// Whether the process or the system has no descriptor left.
pub(super) fn is_exhausted(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
    matches!(code, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE))
}
