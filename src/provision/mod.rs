//! What must be on the machine before anything runs: pinned artefacts fetched by pip and verified, and folders built once.

use std::path::PathBuf;

use crate::{Config, Result};

/// One thing that must be there before everything runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub what: String,
    /// What it is for, as a clause.
    pub why: String,
    /// There, and intact.
    pub present: bool,
    /// On the disk when present; to be downloaded when not and known.
    pub bytes: Option<u64>,
    pub path: Option<PathBuf>,
}

/// Removes from the cache what no current version uses, and says what that was and how large.
pub(crate) fn prune(config: &Config) -> Result<Vec<(PathBuf, u64)>> {
    let _ = config;
    todo!()
}
