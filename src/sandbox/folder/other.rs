//! Whose the temporary folders are: the user's own already.

use std::path::Path;

pub(super) fn owner_only(_: &mut tempfile::Builder<'_, '_>) {}

/// A folder, not a link to one.
pub(super) fn is_ours_alone(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}
