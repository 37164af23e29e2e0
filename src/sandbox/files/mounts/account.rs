//! By how much one session has made the folders that it was given larger.
//!
//! What grows is added, what shrinks or goes is taken off again, and the balance is never below zero: so a folder never
//! holds more than it did without the session and the quota together. It belongs to the session and not to its state:
//! going back to an earlier state gives nothing back.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::errno::Errno;
use super::super::tree::{MAX_PATH, Quota};

#[derive(Default)]
pub(in super::super) struct Account {
    bytes: Balance,
    entries: Balance,
    depth: u64,
}

#[derive(Default)]
struct Balance {
    used: AtomicU64,
    allowed: u64,
}

impl Balance {
    fn new(allowed: u64) -> Self {
        Self { used: AtomicU64::new(0), allowed }
    }

    /// Takes as much of `wanted` as there is, and says how much.
    fn take(&self, wanted: u64) -> u64 {
        let mut taken = 0;
        let more = |used: u64| {
            taken = wanted.min(self.allowed.saturating_sub(used));
            Some(used + taken)
        };
        // It always gives a number.
        let _ = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        taken
    }

    fn give(&self, amount: u64) {
        let less = |used: u64| Some(used.saturating_sub(amount));
        let _ = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, less);
    }
}

impl Account {
    pub(super) fn new(Quota { bytes, entries, depth }: Quota) -> Self {
        Self { bytes: Balance::new(bytes), entries: Balance::new(entries), depth }
    }

    /// Room for a file to grow by as much of `wanted` as there is.
    pub(super) fn grow(&self, wanted: u64) -> u64 {
        self.bytes.take(wanted)
    }

    /// A file became smaller, or did not grow by all it had room for.
    pub(super) fn shrink(&self, bytes: u64) {
        self.bytes.give(bytes);
    }

    /// Room for one more file or folder, at this path in its mount.
    ///
    /// # Errors
    /// DQUOT (too deep), NAMETOOLONG, NOSPC.
    pub(super) fn make(&self, path: &str) -> Result<(), Errno> {
        self.reach(path)?;
        if self.entries.take(1) == 1 { Ok(()) } else { Err(Errno::Nospc) }
    }

    /// Whether something may be at this path.
    ///
    /// # Errors
    /// DQUOT (too deep), NAMETOOLONG.
    pub(super) fn reach(&self, path: &str) -> Result<(), Errno> {
        if path.split('/').count() as u64 > self.depth {
            return Err(Errno::Dquot);
        }
        if path.len() > MAX_PATH { Err(Errno::Nametoolong) } else { Ok(()) }
    }

    /// A file or folder is gone, or was not made after all.
    pub(super) fn unmake(&self) {
        self.entries.give(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_balance_is_bounded_on_both_sides() {
        let account = Account::new(Quota { bytes: 100, entries: 2, depth: 2 });
        assert_eq!((account.grow(60), account.grow(60), account.grow(1)), (60, 40, 0));
        account.shrink(30);
        assert_eq!(account.grow(u64::MAX), 30);
        account.shrink(1000);
        assert_eq!(account.grow(101), 100, "what others made smaller is no room for this one");
        assert_eq!([account.make("a"), account.make("a/b"), account.make("c")], [Ok(()), Ok(()), Err(Errno::Nospc)]);
        account.unmake();
        assert_eq!(account.make("a/b/c"), Err(Errno::Dquot));
        assert_eq!(account.make(&"x".repeat(MAX_PATH + 1)), Err(Errno::Nametoolong));
        assert_eq!(account.make("c"), Ok(()));
    }
}
