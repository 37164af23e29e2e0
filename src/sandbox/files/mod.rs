//! The files a session sees.
//!
//! Read in this order: `tree` (files and folders in memory, with their quotas), `errno` (the words for what went wrong).

pub(super) mod errno;
pub(super) mod tree;
