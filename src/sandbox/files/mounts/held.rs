//! Which files of the host are open in sessions, so that one that is removed meanwhile is paid for until it is closed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cap_fs_ext::MetadataExt;
use cap_std::fs::Metadata;

use super::account::Account;

/// The host's numbers of a device and of a file or folder on it. No other has them while it is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileId {
    device: u64,
    ino: u64,
}

impl FileId {
    pub(super) fn of(found: &Metadata) -> Self {
        Self { device: found.dev(), ino: found.ino() }
    }
}

struct Held {
    /// How many times it is open.
    times: usize,
    /// Who gets its bytes back when it is closed, once it is removed.
    owed: Option<Arc<Account>>,
}

/// One for the process: two mounts, and two sessions, may have one file.
static OPEN: Mutex<BTreeMap<FileId, Held>> = Mutex::new(BTreeMap::new());

/// It is open once more.
pub(super) fn hold(id: FileId) {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.entry(id).or_insert(Held { times: 0, owed: None }).times += 1;
}

/// It was removed: whether it is still open, and so is paid for until it is closed.
pub(super) fn owe(id: FileId, account: &Arc<Account>) -> bool {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(held) = open.get_mut(&id) else { return false };
    held.owed = Some(account.clone());
    true
}

/// It is open once less: who gets its bytes back now.
pub(super) fn let_go(id: FileId) -> Option<Arc<Account>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let held = open.get_mut(&id)?;
    held.times -= 1;
    if held.times > 0 { None } else { open.remove(&id)?.owed }
}
