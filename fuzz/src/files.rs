//! The file system in memory: calls decoded from bytes, and what must hold after any of them.

#[path = "../../src/sandbox/files/errno.rs"]
mod errno;
#[path = "../../src/sandbox/files/tree.rs"]
#[allow(clippy::module_inception, reason = "the program's name for it")]
mod tree;

use std::collections::{BTreeMap, BTreeSet};

use tree::{Body, Ino, Kind, Quota, Tree};

const QUOTA: Quota = Quota { bytes: 300_000, entries: 12, depth: 4 };
const NAMES: [&str; 6] = ["a", "b", "c", "long name", ".", "x/y"];

/// Reads small numbers off the front; zeros when nothing is left.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    /// Small numbers mostly; now and then those at the edges.
    fn size(&mut self) -> u64 {
        match self.byte() {
            255 => u64::MAX,
            254 => QUOTA.bytes,
            253 => QUOTA.bytes + 1,
            252 => u64::MAX - u64::from(self.byte()),
            251 => 1 << (self.byte() % 64),
            byte => u64::from(byte) << (self.byte() % 12),
        }
    }

    /// The roots, numbers that were given, and some that were not.
    fn ino(&mut self) -> Ino {
        Ino(u32::from(self.byte() % 24))
    }

    fn name(&mut self) -> &'static str {
        NAMES[usize::from(self.byte()) % NAMES.len()]
    }
}

/// Calls in any order with any arguments: the account is true, the quotas hold, a call that fails has changed nothing,
/// a copy does not see what becomes of its original, and what is written down can be read back.
pub fn tree(bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let mut tree = Tree::new(QUOTA, 0);
    let mut held = BTreeMap::new();
    let mut copy = None;
    for now in 1..400 {
        if bytes.0.is_empty() {
            break;
        }
        let before = tree.clone();
        let failed = step(&mut tree, &mut bytes, &mut held, now).is_err();
        if failed {
            assert!(tree.entries() == before.entries(), "a call that failed has changed something");
        }
        check(&tree);
        if bytes.0.first() == Some(&77) {
            copy = Some((tree.clone(), tree.entries()));
        }
        if let Some((copy, entries)) = &copy {
            assert!(copy.entries() == *entries, "a copy saw what became of its original");
        }
    }
    let entries = tree.entries();
    let again = Tree::from_entries(QUOTA, tree.next_ino(), entries.clone()).expect("what was written can be read");
    assert!(again.entries() == entries && again.used() == tree.used(), "what was read is another tree");
    for (ino, count) in held {
        for _ in 0..count {
            tree.release(ino);
        }
    }
    check(&tree);
    let unlinked = |entry: &tree::Entry| entry.place.is_none() && entry.ino != Tree::WORK && entry.ino != Tree::TMP;
    assert!(!tree.entries().iter().any(unlinked), "what nobody holds is still there");
}

fn step(tree: &mut Tree, bytes: &mut Bytes<'_>, held: &mut BTreeMap<Ino, u32>, now: u64) -> Result<(), errno::Errno> {
    match bytes.byte() % 12 {
        0 => tree.create(bytes.ino(), bytes.name(), Kind::File, now).map(drop),
        1 => tree.create(bytes.ino(), bytes.name(), Kind::Folder, now).map(drop),
        2 => tree.unlink(bytes.ino(), bytes.name(), now),
        3 => tree.remove_folder(bytes.ino(), bytes.name(), now),
        4 | 5 => {
            let from = (bytes.ino(), bytes.name());
            tree.rename(from, (bytes.ino(), bytes.name()), now)
        }
        6 | 7 => {
            let (file, at, length) = (bytes.ino(), bytes.size(), bytes.size().min(400_000));
            let data = vec![bytes.byte(); length as usize];
            let written = tree.write(file, at, &data, now)?;
            assert!(written <= data.len());
            let mut read = vec![0; written];
            assert_eq!(tree.read(file, at, &mut read), Ok(written));
            assert!(read == data[..written], "it reads what was not written");
            Ok(())
        }
        8 => tree.resize(bytes.ino(), bytes.size(), now),
        9 => {
            let ino = bytes.ino();
            if tree.stat(ino).is_some() {
                tree.hold(ino);
                *held.entry(ino).or_default() += 1;
            }
            Ok(())
        }
        10 => {
            let ino = bytes.ino();
            if let Some(count) = held.get_mut(&ino).filter(|count| **count > 0) {
                *count -= 1;
                tree.release(ino);
            }
            Ok(())
        }
        _ => {
            let mut buffer = [0; 700];
            let _ = tree.set_times(bytes.ino(), Some(bytes.size()), None, now);
            let _ = tree.lookup(bytes.ino(), bytes.name());
            let _ = tree.parent(bytes.ino());
            let _ = tree.read(bytes.ino(), bytes.size(), &mut buffer);
            Ok(())
        }
    }
}

/// Counts everything anew, and walks from the roots.
fn check(tree: &Tree) {
    let entries = tree.entries();
    let used = tree.used();
    let sizes = entries.iter().map(|entry| match &entry.body {
        Body::File(bytes) => bytes.len() as u64,
        Body::Folder => 0,
    });
    assert_eq!(used.bytes, sizes.sum::<u64>(), "the account of bytes");
    assert_eq!(used.entries + 2, entries.len() as u64, "the account of entries");
    assert!(used.bytes <= QUOTA.bytes && used.entries <= QUOTA.entries, "beyond the quota: {used:?}");

    let mut seen = BTreeSet::new();
    let mut todo = vec![(Tree::WORK, 0), (Tree::TMP, 0)];
    while let Some((folder, depth)) = todo.pop() {
        assert!(seen.insert(folder), "a folder in two places");
        assert!(depth <= QUOTA.depth, "deeper than the quota");
        for (name, ino, kind) in tree.list(folder).expect("a folder") {
            assert_eq!(tree.lookup(folder, &name), Ok(ino));
            assert_eq!(tree.stat(ino).map(|stat| (stat.kind, stat.links)), Some((kind, 1)));
            if kind == Kind::Folder {
                assert_eq!(tree.parent(ino), Some(folder));
                todo.push((ino, depth + 1));
            } else {
                assert!(depth < QUOTA.depth, "deeper than the quota");
                assert!(seen.insert(ino), "a file in two places");
            }
        }
    }
    // What was not reached is open and has no name.
    for entry in entries.iter().filter(|entry| !seen.contains(&entry.ino)) {
        assert!(entry.place.is_none(), "{:?} is in a place and cannot be reached", entry.ino);
    }
}
