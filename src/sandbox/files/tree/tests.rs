use super::*;

const NOW: u64 = 100;
const LATER: u64 = 200;

fn tree() -> Tree {
    Tree::new(Quota { bytes: 1 << 20, entries: 100, depth: 5 }, NOW)
}

fn bounded(bytes: u64, entries: u64, depth: u64) -> Tree {
    Tree::new(Quota { bytes, entries, depth }, NOW)
}

/// Walks down from `/work`, making what is missing: folders, and a file last if the path does not end in a slash.
fn make(tree: &mut Tree, path: &str) -> Ino {
    let mut at = Tree::WORK;
    let mut parts = path.split('/').peekable();
    while let Some(name) = parts.next().filter(|name| !name.is_empty()) {
        let kind = if parts.peek().is_some() { Kind::Folder } else { Kind::File };
        at = tree.lookup(at, name).unwrap_or_else(|_| tree.create(at, name, kind, NOW).unwrap());
    }
    at
}

fn find(tree: &Tree, path: &str) -> Result<Ino, Errno> {
    path.split('/').filter(|name| !name.is_empty()).try_fold(Tree::WORK, |at, name| tree.lookup(at, name))
}

fn contents(tree: &Tree, file: Ino) -> Vec<u8> {
    let mut bytes = vec![0; tree.stat(file).unwrap().bytes as usize];
    assert_eq!(tree.read(file, 0, &mut bytes), Ok(bytes.len()));
    bytes
}

fn names(tree: &Tree, folder: Ino) -> Vec<String> {
    tree.list(folder).unwrap().into_iter().map(|(name, ..)| name).collect()
}

#[test]
fn the_roots_are_there_and_not_counted() {
    let tree = bounded(0, 0, 0);
    for root in [Tree::WORK, Tree::TMP] {
        let stat = tree.stat(root).unwrap();
        assert_eq!((stat.kind, stat.bytes, stat.links, stat.times.modified), (Kind::Folder, 0, 1, NOW));
        assert_eq!((tree.parent(root), tree.list(root)), (None, Ok(vec![])));
    }
    assert_eq!(tree.used(), Used { bytes: 0, entries: 0 });
}

#[test]
fn what_was_created_is_found_and_listed_by_name() {
    let mut tree = tree();
    let b = tree.create(Tree::TMP, "b", Kind::File, LATER).unwrap();
    let a = tree.create(Tree::TMP, "a", Kind::Folder, LATER).unwrap();
    let entries = vec![("a".into(), a, Kind::Folder), ("b".into(), b, Kind::File)];
    assert_eq!(tree.list(Tree::TMP), Ok(entries));
    assert_eq!((tree.lookup(Tree::TMP, "b"), tree.lookup(Tree::WORK, "b")), (Ok(b), Err(Errno::Noent)));
    assert_eq!((tree.lookup(b, "x"), tree.list(b)), (Err(Errno::Notdir), Err(Errno::Notdir)));
    assert_eq!((tree.parent(a), tree.stat(Tree::TMP).unwrap().times.modified), (Some(Tree::TMP), LATER));
    assert_eq!(tree.used(), Used { bytes: 0, entries: 2 });
    assert_eq!(tree.create(Tree::TMP, "b", Kind::Folder, NOW), Err(Errno::Exist));
    assert_eq!(tree.create(b, "x", Kind::File, NOW), Err(Errno::Notdir));
    assert_eq!(tree.create(Ino(99), "x", Kind::File, NOW), Err(Errno::Noent));
}

#[test]
fn names_are_checked() {
    let mut tree = tree();
    make(&mut tree, "a");
    for name in ["", ".", "..", "a/b", "/", "a\0"] {
        assert_eq!(tree.create(Tree::WORK, name, Kind::File, NOW), Err(Errno::Inval), "{name:?}");
        assert_eq!(tree.rename((Tree::WORK, "a"), (Tree::WORK, name), NOW), Err(Errno::Inval), "{name:?}");
    }
    let (longest, longer) = ("ä".repeat(127) + "a", "ä".repeat(128));
    assert_eq!(tree.create(Tree::WORK, &longer, Kind::File, NOW), Err(Errno::Nametoolong));
    assert!(tree.create(Tree::WORK, &longest, Kind::File, NOW).is_ok());
}

#[test]
fn entries_are_bounded() {
    let mut tree = bounded(10, 2, 5);
    let a = make(&mut tree, "a/");
    make(&mut tree, "b");
    assert_eq!(tree.create(a, "c", Kind::Folder, NOW), Err(Errno::Nospc));
    assert_eq!(tree.create(Tree::WORK, "b", Kind::File, NOW), Err(Errno::Exist), "what is there is said first");
    assert_eq!(tree.rename((Tree::WORK, "b"), (a, "b"), NOW), Ok(()), "no new entry");
    tree.unlink(a, "b", NOW).unwrap();
    assert!(tree.create(a, "c", Kind::File, NOW).is_ok());
}

#[test]
fn depth_is_bounded_for_what_is_made_and_for_what_is_moved() {
    let mut tree = bounded(10, 100, 3);
    let two = make(&mut tree, "a/b/");
    let three = tree.create(two, "c", Kind::Folder, NOW).unwrap();
    assert_eq!(tree.create(three, "d", Kind::File, NOW), Err(Errno::Dquot));
    make(&mut tree, "x/y/z");
    make(&mut tree, "e/");
    let before = tree.entries();
    assert_eq!(tree.rename((Tree::WORK, "x"), (find(&tree, "e").unwrap(), "x"), NOW), Err(Errno::Dquot));
    assert_eq!(tree.rename((Tree::WORK, "e"), (three, "e"), NOW), Err(Errno::Dquot));
    assert_eq!(tree.entries(), before, "a refusal changes nothing");
    assert_eq!(tree.rename((Tree::WORK, "x"), (Tree::TMP, "x"), NOW), Ok(()), "as deep as before");
    assert_eq!(tree.rename((Tree::WORK, "e"), (two, "e"), NOW), Ok(()), "just deep enough");
}

#[test]
fn paths_are_bounded_for_what_is_made_and_for_what_is_moved() {
    let mut tree = bounded(0, 100, 100);
    let name = "n".repeat(254);
    let deep = (0..16).fold(Tree::WORK, |at, _| tree.create(at, &name, Kind::Folder, NOW).unwrap());
    // There are 16 names of 254 bytes and 15 slashes above it: 4079 bytes.
    assert_eq!(tree.create(deep, &"x".repeat(17), Kind::File, NOW), Err(Errno::Nametoolong));
    let last = tree.create(deep, &"x".repeat(16), Kind::File, NOW).unwrap();
    let before = tree.entries();
    let longer = "n".repeat(255);
    assert_eq!(tree.rename((Tree::WORK, &name), (Tree::WORK, &longer), NOW), Err(Errno::Nametoolong));
    assert_eq!(tree.rename((deep, &"x".repeat(16)), (deep, &"y".repeat(17)), NOW), Err(Errno::Nametoolong));
    assert_eq!(tree.entries(), before, "a refusal changes nothing");
    assert_eq!(tree.rename((deep, &"x".repeat(16)), (deep, &"y".repeat(16)), NOW), Ok(()), "no longer than before");
    tree.unlink(deep, &"y".repeat(16), NOW).unwrap();
    assert_eq!((tree.stat(last), tree.rename((Tree::WORK, &name), (Tree::TMP, &longer), NOW)), (None, Ok(())));
    // What is in it may be longer than the name that leads to it.
    let folder = tree.create(Tree::WORK, "f", Kind::Folder, NOW).unwrap();
    tree.create(folder, &"z".repeat(255), Kind::File, NOW).unwrap();
    assert_eq!(tree.rename((Tree::WORK, "f"), (deep, "f"), NOW), Err(Errno::Nametoolong));
    assert!(Tree::from_entries(tree.quota(), tree.next_ino(), tree.entries()).is_ok());
    let mut entries = tree.entries();
    entries.iter_mut().find(|entry| entry.ino == folder).unwrap().place = Some((deep, "f".into()));
    assert_eq!(Tree::from_entries(tree.quota(), tree.next_ino(), entries).err(), Some("a path is too long"));
}

/// POSIX's table of renames: (what there is, from, to, the answer, what there is then). A name with a slash at its end
/// is a folder.
#[test]
fn renames_are_those_of_posix() {
    use Errno::{Inval, Isdir, Noent, Notdir, Notempty};
    type Case<'a> = (&'a str, &'a str, &'a str, Result<(), Errno>, &'a str);
    let cases: &[Case] = &[
        ("f", "f", "g", Ok(()), "g"),
        ("f g", "f", "g", Ok(()), "g"),
        ("f d/", "f", "d/g", Ok(()), "d/ d/g"),
        ("f", "f", "f", Ok(()), "f"),
        ("d/", "d", "d", Ok(()), "d/"),
        ("f", "none", "f", Err(Noent), "f"),
        ("f", "f", "none/g", Err(Noent), "f"),
        ("f g", "f", "g/h", Err(Notdir), "f g"),
        ("f g", "f/h", "g", Err(Notdir), "f g"),
        ("f d/", "f", "d", Err(Isdir), "d/ f"),
        ("f d/g", "f", "d", Err(Isdir), "d/ d/g f"),
        ("d/f", "d/f", "d", Err(Isdir), "d/ d/f"),
        ("f d/", "d", "f", Err(Notdir), "d/ f"),
        ("d/ e/", "d", "e", Ok(()), "e/"),
        ("d/f e/", "d", "e", Ok(()), "e/ e/f"),
        ("d/ e/f", "d", "e", Err(Notempty), "d/ e/ e/f"),
        ("d/e/", "d/e", "d", Err(Notempty), "d/ d/e/"),
        ("d/", "d", "d/e", Err(Inval), "d/"),
        ("d/e/", "d", "d/e", Err(Inval), "d/ d/e/"),
        ("d/e/", "d", "d/e/f", Err(Inval), "d/ d/e/"),
        ("d/e/f", "d/e", "e", Ok(()), "d/ e/ e/f"),
    ];
    for (before, from, to, answer, after) in cases {
        let mut tree = tree();
        before.split(' ').for_each(|path| _ = make(&mut tree, path));
        let place = |path: &'static str| match path.rsplit_once('/') {
            None => Ok((Tree::WORK, path)),
            Some((folder, name)) => Ok((find(&tree, folder)?, name)),
        };
        let result = place(from).and_then(|from| Ok((from, place(to)?)));
        let result = result.and_then(|(from, to)| tree.rename(from, to, LATER));
        assert_eq!(result, *answer, "{before}: {from} to {to}");
        let mut all = Vec::new();
        walk(&tree, Tree::WORK, "", &mut all);
        assert_eq!(all.join(" "), *after, "{before}: {from} to {to}");
        assert_eq!(tree.used().entries, all.len() as u64);
    }
}

fn walk(tree: &Tree, folder: Ino, prefix: &str, all: &mut Vec<String>) {
    for (name, ino, kind) in tree.list(folder).unwrap() {
        assert_eq!(tree.parent(ino), Some(folder));
        match kind {
            Kind::File => all.push(format!("{prefix}{name}")),
            Kind::Folder => {
                all.push(format!("{prefix}{name}/"));
                walk(tree, ino, &format!("{prefix}{name}/"), all);
            }
        }
    }
}

#[test]
fn renaming_touches_the_folders_and_frees_what_is_replaced() {
    let mut tree = tree();
    let (a, b, d) = (make(&mut tree, "a"), make(&mut tree, "d/b"), make(&mut tree, "d/"));
    tree.write(a, 0, b"aaa", NOW).unwrap();
    tree.write(b, 0, b"bb", NOW).unwrap();
    tree.rename((Tree::WORK, "a"), (d, "b"), LATER).unwrap();
    assert_eq!((tree.used(), tree.stat(b)), (Used { bytes: 3, entries: 2 }, None));
    let times = |ino| tree.stat(ino).unwrap().times;
    assert_eq!((times(d).modified, times(Tree::WORK).modified, times(a).changed), (LATER, LATER, LATER));
    assert_eq!(times(a).modified, NOW);
}

#[test]
fn an_unlinked_file_lives_and_counts_until_its_last_holder_lets_go() {
    let mut tree = bounded(10, 1, 5);
    let file = make(&mut tree, "f");
    tree.hold(file);
    tree.hold(file);
    tree.write(file, 0, b"12345", NOW).unwrap();
    tree.unlink(Tree::WORK, "f", LATER).unwrap();
    let stat = tree.stat(file).unwrap();
    assert_eq!((stat.links, stat.bytes, stat.times.changed, tree.parent(file)), (0, 5, LATER, None));
    assert_eq!(tree.lookup(Tree::WORK, "f"), Err(Errno::Noent));
    assert_eq!(tree.used(), Used { bytes: 5, entries: 1 });
    assert_eq!(tree.create(Tree::WORK, "g", Kind::File, NOW), Err(Errno::Nospc));
    assert_eq!((tree.write(file, 5, b"67890x", NOW), contents(&tree, file).len()), (Ok(5), 10));
    tree.release(file);
    assert_eq!(tree.used(), Used { bytes: 10, entries: 1 });
    tree.release(file);
    assert_eq!((tree.used(), tree.stat(file)), (Used { bytes: 0, entries: 0 }, None));
    tree.release(file);
    assert_eq!((tree.read(file, 0, &mut [0]), tree.write(file, 0, b"x", NOW)), (Err(Errno::Badf), Err(Errno::Badf)));
    assert_ne!(make(&mut tree, "f"), file, "a number means one file only");
}

#[test]
fn a_removed_folder_that_is_held_is_empty_and_stays_so() {
    let mut tree = tree();
    let folder = make(&mut tree, "d/");
    make(&mut tree, "d/f");
    tree.hold(folder);
    assert_eq!(tree.remove_folder(Tree::WORK, "d", NOW), Err(Errno::Notempty));
    tree.unlink(folder, "f", NOW).unwrap();
    tree.remove_folder(Tree::WORK, "d", NOW).unwrap();
    assert_eq!((tree.list(folder), tree.parent(folder), tree.used().entries), (Ok(vec![]), None, 1));
    assert_eq!(tree.create(folder, "f", Kind::File, NOW), Err(Errno::Noent));
    make(&mut tree, "g");
    assert_eq!(tree.rename((Tree::WORK, "g"), (folder, "g"), NOW), Err(Errno::Noent));
    tree.release(folder);
    assert_eq!((tree.stat(folder), tree.used().entries), (None, 1));
}

#[test]
fn the_right_kind_is_removed() {
    let mut tree = tree();
    make(&mut tree, "f");
    make(&mut tree, "d/");
    assert_eq!(tree.unlink(Tree::WORK, "d", NOW), Err(Errno::Isdir));
    assert_eq!(tree.remove_folder(Tree::WORK, "f", NOW), Err(Errno::Notdir));
    assert_eq!(tree.unlink(Tree::WORK, "none", NOW), Err(Errno::Noent));
    assert_eq!(tree.remove_folder(Tree::WORK, "..", NOW), Err(Errno::Noent));
    assert_eq!(names(&tree, Tree::WORK), ["d", "f"]);
}

#[test]
fn a_write_is_cut_at_the_quota() {
    let mut tree = bounded(10, 5, 5);
    let (a, b, d) = (make(&mut tree, "a"), make(&mut tree, "b"), make(&mut tree, "d/"));
    assert_eq!(tree.write(a, 0, b"1234567", NOW), Ok(7));
    assert_eq!(tree.write(b, 0, b"1234567", LATER), Ok(3));
    assert_eq!((contents(&tree, b), tree.stat(b).unwrap().times.modified), (b"123".to_vec(), LATER));
    assert_eq!(tree.write(b, 3, b"4", NOW), Err(Errno::Nospc));
    assert_eq!(tree.write(b, 10, b"4", NOW), Err(Errno::Nospc), "no file could be so long now");
    assert_eq!(tree.write(b, 11, b"4", NOW), Err(Errno::Fbig), "no file could ever be so long");
    assert_eq!(tree.write(b, u64::MAX, b"4", NOW), Err(Errno::Fbig));
    assert_eq!(tree.write(b, 2, b"xyz", NOW), Ok(1), "what is there may be written over");
    assert_eq!(tree.write(b, u64::MAX, b"", NOW), Ok(0));
    assert_eq!(tree.write(d, 0, b"", NOW), Err(Errno::Isdir));
    assert_eq!(tree.write(Ino(99), 0, b"", NOW), Err(Errno::Badf));
    assert_eq!(tree.used().bytes, 10);
}

#[test]
fn holes_count_and_read_as_zeros() {
    let mut tree = bounded(10, 5, 5);
    let file = make(&mut tree, "f");
    assert_eq!(tree.write(file, 4, b"ab", NOW), Ok(2));
    assert_eq!((contents(&tree, file), tree.used().bytes), (b"\0\0\0\0ab".to_vec(), 6));
    let mut four = [7; 4];
    assert_eq!((tree.read(file, 5, &mut four), four), (Ok(1), [b'b', 7, 7, 7]));
    assert_eq!(tree.read(file, 6, &mut four), Ok(0));
    assert_eq!(tree.read(file, u64::MAX, &mut four), Ok(0));
    assert_eq!(tree.read(Tree::WORK, 0, &mut four), Err(Errno::Isdir));
}

#[test]
fn resizing_keeps_to_the_quota() {
    let mut tree = bounded(10, 5, 5);
    let (a, b) = (make(&mut tree, "a"), make(&mut tree, "b"));
    tree.write(a, 0, b"1234", NOW).unwrap();
    assert_eq!(tree.resize(b, 6, LATER), Ok(()));
    assert_eq!((contents(&tree, b), tree.stat(b).unwrap().times.modified), (vec![0; 6], LATER));
    assert_eq!(tree.resize(b, 7, NOW), Err(Errno::Nospc));
    assert_eq!(tree.resize(b, 11, NOW), Err(Errno::Fbig));
    assert_eq!(tree.resize(b, u64::MAX, NOW), Err(Errno::Fbig));
    assert_eq!(tree.resize(a, 2, NOW), Ok(()));
    assert_eq!(tree.resize(a, 4, NOW), Ok(()));
    assert_eq!(contents(&tree, a), b"12\0\0");
    assert_eq!(tree.resize(Tree::WORK, 0, NOW), Err(Errno::Isdir));
    assert_eq!(tree.resize(Ino(99), 0, NOW), Err(Errno::Badf));
}

#[test]
fn nothing_overflows_without_a_quota() {
    let mut tree = bounded(u64::MAX, u64::MAX, u64::MAX);
    let (a, b) = (make(&mut tree, "a"), make(&mut tree, "b"));
    assert_eq!(tree.resize(a, u64::MAX, NOW), Ok(()));
    assert_eq!(tree.resize(b, 1, NOW), Err(Errno::Nospc));
    assert_eq!(tree.write(a, u64::MAX - 2, b"12345", NOW), Ok(2));
    assert_eq!(tree.write(a, u64::MAX, b"12345", NOW), Err(Errno::Nospc));
    let mut end = [7; 4];
    assert_eq!((tree.read(a, u64::MAX - 3, &mut end), end), (Ok(3), [0, b'1', b'2', 7]));
    assert_eq!(tree.resize(a, 0, NOW), Ok(()));
    assert_eq!(tree.used().bytes, 0);
}

#[test]
fn a_lower_quota_keeps_what_is_there() {
    let mut tree = tree();
    let file = make(&mut tree, "a/b/f");
    tree.write(file, 0, b"12345678", NOW).unwrap();
    tree.set_quota(Quota { bytes: 5, entries: 2, depth: 1 });
    assert_eq!((contents(&tree, file).len(), tree.used()), (8, Used { bytes: 8, entries: 3 }));
    assert_eq!(tree.write(file, 7, b"xy", NOW), Ok(1));
    assert_eq!(tree.write(file, 8, b"y", NOW), Err(Errno::Fbig));
    assert_eq!(tree.resize(file, 8, NOW), Ok(()));
    assert_eq!(tree.resize(file, 9, NOW), Err(Errno::Fbig));
    let (a, b) = (find(&tree, "a").unwrap(), find(&tree, "a/b").unwrap());
    assert_eq!(tree.create(Tree::WORK, "g", Kind::File, NOW), Err(Errno::Nospc));
    assert_eq!(tree.create(a, "g", Kind::File, NOW), Err(Errno::Dquot));
    assert_eq!(tree.rename((b, "f"), (b, "g"), NOW), Ok(()), "no deeper than it is");
    assert_eq!(tree.resize(file, 4, NOW), Ok(()));
    assert_eq!(tree.write(file, 4, b"xy", NOW), Ok(1));
}

#[test]
fn times_are_set() {
    let mut tree = tree();
    let file = make(&mut tree, "f");
    tree.set_times(file, Some(1), None, LATER).unwrap();
    assert_eq!(tree.stat(file).unwrap().times, Times { accessed: 1, modified: NOW, changed: LATER });
    tree.set_times(Tree::TMP, None, Some(u64::MAX), LATER).unwrap();
    assert_eq!(tree.stat(Tree::TMP).unwrap().times, Times { accessed: NOW, modified: u64::MAX, changed: LATER });
    assert_eq!(tree.set_times(Ino(99), None, None, NOW), Err(Errno::Badf));
}

#[test]
fn clones_do_not_see_each_other() {
    let mut tree = tree();
    let (file, open) = (make(&mut tree, "d/f"), make(&mut tree, "open"));
    tree.write(file, 0, b"before", NOW).unwrap();
    tree.hold(open);
    let mut clone = tree.clone();
    assert!(tree.is_same(&clone) && tree.same_content(&clone, file));
    let folder = find(&tree, "d").unwrap();
    tree.write(file, 0, b"after!", LATER).unwrap();
    tree.unlink(Tree::WORK, "open", LATER).unwrap();
    tree.release(open);
    let new = tree.create(folder, "new", Kind::File, LATER).unwrap();
    clone.rename((folder, "f"), (Tree::TMP, "g"), LATER).unwrap();
    assert!(!tree.is_same(&clone) && !tree.same_content(&clone, file));
    assert_eq!((contents(&tree, file), contents(&clone, file)), (b"after!".to_vec(), b"before".to_vec()));
    assert_eq!((names(&tree, folder), names(&clone, folder)), (vec!["f".into(), "new".into()], vec![]));
    assert_eq!((tree.stat(open), clone.stat(open).map(|stat| stat.links)), (None, Some(1)));
    assert_eq!((clone.stat(new), clone.lookup(Tree::TMP, "g")), (None, Ok(file)));
    clone.unlink(Tree::WORK, "open", LATER).unwrap();
    assert!(clone.stat(open).is_some(), "the clone has its own holders");
}

#[test]
fn content_is_the_same_until_it_is_written() {
    let mut tree = tree();
    let file = make(&mut tree, "f");
    tree.write(file, 0, &[1; 100_000], NOW).unwrap();
    let clone = tree.clone();
    assert!(tree.same_content(&clone, file) && !tree.same_content(&clone, Tree::WORK));
    tree.set_times(file, None, Some(1), NOW).unwrap();
    tree.rename((Tree::WORK, "f"), (Tree::TMP, "g"), NOW).unwrap();
    assert!(tree.same_content(&clone, file) && !tree.is_same(&clone));
    tree.resize(file, 100_001, NOW).unwrap();
    assert!(!tree.same_content(&clone, file));
    assert!(!tree.same_content(&clone, Tree::WORK) && !tree.same_content(&clone, Ino(99)));
}

/// A tree of each kind of thing: nested, in both roots, with a hole, unlinked but held.
fn varied() -> Tree {
    let mut tree = tree();
    let (file, gone) = (make(&mut tree, "a/b/f"), make(&mut tree, "a/gone"));
    tree.write(file, 200_000, b"end", LATER).unwrap();
    tree.create(Tree::TMP, "t", Kind::Folder, LATER).unwrap();
    tree.write(gone, 0, b"gone", NOW).unwrap();
    tree.hold(gone);
    tree.unlink(find(&tree, "a").unwrap(), "gone", LATER).unwrap();
    tree
}

#[test]
fn a_tree_comes_back_from_its_entries() {
    let tree = varied();
    let mut back = Tree::from_entries(tree.quota(), tree.next_ino(), tree.entries()).unwrap();
    assert_eq!((back.entries(), back.used(), back.next_ino()), (tree.entries(), tree.used(), tree.next_ino()));
    assert_eq!(names(&back, Tree::WORK), ["a"]);
    let file = find(&back, "a/b/f").unwrap();
    assert_eq!(back.stored(file).unwrap().map(|(at, _)| at).collect::<Vec<_>>(), [3 << 16], "the hole is one again");
    let mut reversed = tree.entries();
    reversed.reverse();
    assert!(Tree::from_entries(tree.quota(), tree.next_ino(), reversed).is_ok());
    assert_eq!(back.used().entries, 5);
    back.drop_unheld();
    assert_eq!(back.used(), Used { bytes: 200_003, entries: 4 });
}

#[test]
fn broken_entries_are_refused() {
    let tree = varied();
    let whole = tree.entries();
    let (a, b) = (find(&tree, "a").unwrap(), find(&tree, "a/b").unwrap());
    let (f, t) = (find(&tree, "a/b/f").unwrap(), tree.lookup(Tree::TMP, "t").unwrap());
    let refused = |why: &str, quota: Quota, next: u32, entries: Vec<Entry>| {
        assert_eq!(Tree::from_entries(quota, next, entries).err(), Some(why));
    };
    let broken = |why: &str, ino: Ino, change: &dyn Fn(&mut Entry)| {
        let mut entries = whole.clone();
        change(entries.iter_mut().find(|entry| entry.ino == ino).unwrap());
        refused(why, tree.quota(), tree.next_ino(), entries);
    };
    let put = |folder: Ino, name: &str| {
        let name = name.to_owned();
        move |entry: &mut Entry| entry.place = Some((folder, name.clone()))
    };
    broken("an entry is not under a root", a, &put(b, "a"));
    broken("an entry is not under a root", a, &put(a, "a"));
    broken("an entry is not under a root", a, &|entry| entry.place = None);
    broken("an entry is not in a folder", f, &put(Ino(0), "f"));
    broken("an entry is not in a folder", t, &put(f, "t"));
    broken("two entries have one name", t, &put(Tree::WORK, "a"));
    broken("a name is not one", t, &put(Tree::WORK, "../x"));
    broken("a name is not one", t, &put(Tree::WORK, &"x".repeat(256)));
    broken("a root is missing", Tree::TMP, &put(Tree::WORK, "tmp"));
    broken("a root is missing", Tree::WORK, &|entry| entry.body = Body::File(vec![]));
    broken("two entries have one number", t, &|entry| entry.ino = a);
    broken("a number is out of its range", t, &|entry| entry.ino = Ino(tree.next_ino()));
    broken("a number is out of its range", t, &|entry| entry.ino = Ino(0));
    refused("a root is missing", tree.quota(), tree.next_ino(), whole[1..].to_vec());
    refused("a root is missing", tree.quota(), 3, vec![]);
    let quota = tree.quota();
    let next = tree.next_ino();
    refused("there are more bytes than the quota allows", Quota { bytes: 200_006, ..quota }, next, whole.clone());
    refused("there are more entries than the quota allows", Quota { entries: 4, ..quota }, next, whole.clone());
    refused("an entry is deeper than the quota allows", Quota { depth: 2, ..quota }, next, whole.clone());
    assert!(Tree::from_entries(Quota { bytes: 200_007, entries: 5, depth: 3 }, next, whole.clone()).is_ok());
}

#[test]
fn numbers_can_run_out() {
    let roots = tree().entries();
    let mut tree = Tree::from_entries(tree().quota(), u32::MAX - 1, roots).unwrap();
    make(&mut tree, "last");
    assert_eq!(tree.create(Tree::WORK, "more", Kind::File, NOW), Err(Errno::Nospc));
    assert!(Tree::from_entries(tree.quota(), tree.next_ino(), tree.entries()).is_ok());
}

#[test]
fn many_names_and_deep_folders_are_no_trouble() {
    let mut tree = bounded(0, 100_000, u64::MAX);
    let mut at = Tree::WORK;
    for _ in 0..50_000 {
        at = tree.store.add(Kind::Folder, (at, "d".into()), NOW).unwrap();
        let parent = tree.parent(at).unwrap();
        tree.change_names(parent, NOW, |names| names.insert("d".into(), at));
    }
    let before = tree.entries();
    assert_eq!(tree.rename((Tree::WORK, "d"), (at, "x"), NOW), Err(Errno::Inval));
    let folder = tree.create(Tree::TMP, "t", Kind::Folder, NOW).unwrap();
    assert_eq!(tree.rename((Tree::WORK, "d"), (folder, "x"), NOW), Err(Errno::Nametoolong));
    assert_eq!(tree.rename((Tree::WORK, "d"), (Tree::TMP, "x"), NOW), Ok(()), "no longer than before");
    assert_eq!(tree.way(at), Some(Way { names: 50_000, bytes: 99_999 }));
    assert_eq!(Tree::from_entries(tree.quota(), tree.next_ino(), before).err(), Some("a path is too long"));
}
