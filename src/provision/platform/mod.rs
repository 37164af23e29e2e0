//! What the operating systems do differently: who owns a file and who may write it, how a change of it is noticed,
//! how it reaches the disk, and how a child process is ended.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::not_ours_nor_roots;
#[cfg(unix)]
pub(super) use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::not_ours_nor_roots;
#[cfg(windows)]
pub(super) use windows::*;

/// What changes when a file's content may have changed: numbers that only mean something to this machine.
pub(super) type Fingerprint = [i64; 7];
