//! Whose the temporary folders are.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

/// Guest files may hold what only this user may read.
pub(super) fn owner_only(builder: &mut tempfile::Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(0o700));
}
