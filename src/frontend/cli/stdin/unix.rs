//! What standard input is, on Unix.

use rustix::fs::FileType;

/// A pipe or a regular file: something that was given to us, and that ends.
pub fn carries_data() -> bool {
    rustix::fs::fstat(std::io::stdin())
        .is_ok_and(|stat| matches!(FileType::from_raw_mode(stat.st_mode), FileType::Fifo | FileType::RegularFile))
}
