//! Where metadata says no more than size and time. The guest cannot make links (WASI's are refused there), and a file
//! that keeps both size and time of modification counts as unchanged.

use cap_std::fs::Metadata;

pub(super) fn links(_: &Metadata) -> u64 {
    1
}

pub(super) fn identity(_: &Metadata) -> [i64; 3] {
    [0; 3]
}
