//! Unix: owner and mode bits decide, device, inode and both times tell of a change.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, geteuid, kill_process_group};

use super::Fingerprint;

pub(in crate::provision) const PYTHONS: &[&[&str]] = &[&["python3"], &["python"]];

pub(crate) fn fingerprint(metadata: &Metadata) -> Fingerprint {
    [
        metadata.size() as i64,
        metadata.dev() as i64,
        metadata.ino() as i64,
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ]
}

/// The kernel sets the change time itself at every write and change of mode, so an equal fingerprint is proof enough.
pub(crate) fn fingerprint_suffices(_file: &Path) -> bool {
    true
}

/// Why someone else could have made or changed this, if so.
pub(in crate::provision) fn not_ours(metadata: &Metadata) -> Option<String> {
    match metadata.uid() {
        uid if uid == geteuid().as_raw() => writable_by_others(metadata),
        uid => Some(format!("belongs to another user (id {uid})")),
    }
}

/// As [`not_ours`], but what the administrator installed is trusted as well.
pub(crate) fn not_ours_nor_roots(metadata: &Metadata) -> Option<String> {
    if metadata.uid() == 0 { writable_by_others(metadata) } else { not_ours(metadata) }
}

fn writable_by_others(metadata: &Metadata) -> Option<String> {
    let mode = metadata.mode() & 0o7777;
    (mode & 0o022 != 0).then(|| format!("can be written by other users (mode {mode:o})"))
}

/// Makes a folder that was never open to others, not even for a moment.
pub(in crate::provision) fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Takes from everyone else what they may do with a file or folder of ours. Root could do it with those of others too,
/// which is not wanted.
pub(in crate::provision) fn make_private(path: &Path, metadata: &Metadata) -> io::Result<()> {
    if metadata.uid() != geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mode = if metadata.is_dir() { 0o700 } else { 0o600 };
    if metadata.mode() & 0o7777 == mode { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(mode)) }
}

/// Opens for reading what is itself a file; a link is an error, and a pipe in its place cannot make us wait.
pub(in crate::provision) fn open_no_link(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

pub(in crate::provision) fn sync_file(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

pub(in crate::provision) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Bytes that this user may still write on the file system of `folder`; `None` where it does not tell.
pub(in crate::provision) fn room(folder: &Path) -> Option<u64> {
    let facts = rustix::fs::statvfs(folder).ok()?;
    // What is mounted without a size (some of FUSE) says that nothing fits.
    (facts.f_blocks > 0).then(|| facts.f_bavail.saturating_mul(facts.f_frsize))
}

/// Gives the child a process group, so that what it starts itself (a shim, a wrapper) ends with it.
pub(in crate::provision) fn separate(command: &mut Command) {
    command.process_group(0);
}

pub(in crate::provision) fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself a moment ago.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}
