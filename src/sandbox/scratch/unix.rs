//! What a file's metadata says beyond size and time.

use cap_std::fs::{Metadata, MetadataExt};

/// How many names the file has; more than one may mean that it is not the guest's own.
pub(super) fn links(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

/// Which file it is, and when anything of it last changed: two files that agree in this are the same, unchanged.
pub(super) fn identity(metadata: &Metadata) -> [i64; 3] {
    [metadata.ino().cast_signed(), metadata.ctime(), metadata.ctime_nsec()]
}
