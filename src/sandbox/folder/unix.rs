//! Whose the temporary folders are.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Guest files may hold what only this user may read.
pub(super) fn owner_only(builder: &mut tempfile::Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(0o700));
}

/// A folder, not a link to one, that nobody else can have put anything into.
pub(super) fn is_ours_alone(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| {
        metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0
    })
}
