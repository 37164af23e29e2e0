//! What the operating systems do differently: who owns a file and who may write it, how a change of it is noticed,
//! how it reaches the disk, how much room is left there, and how a child process is ended.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(super) use unix::*;
#[cfg(unix)]
pub(crate) use unix::{fingerprint, fingerprint_suffices, not_ours_nor_roots};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(super) use windows::*;
#[cfg(windows)]
pub(crate) use windows::{fingerprint, fingerprint_suffices, not_ours_nor_roots};

/// What changes when a file's content may have changed: numbers that only mean something to this machine.
pub(crate) type Fingerprint = [i64; 7];
