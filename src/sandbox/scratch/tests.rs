//! What goes in, what is told of it, what comes out.

use cap_std::fs::Dir;

use super::super::files::tree::Quota;
use super::*;

const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

fn tree() -> Tree {
    Tree::new(Quota { bytes: 1 << 20, entries: 10, depth: 3 }, 0)
}

/// As a cell would, the folders included.
fn write(tree: &mut Tree, path: &str, text: &str) {
    let mut parts = path.split('/').peekable();
    let mut at = Tree::WORK;
    while let Some(name) = parts.next() {
        let kind = if parts.peek().is_some() { Kind::Folder } else { Kind::File };
        at = tree.lookup(at, name).or_else(|_| tree.create(at, name, kind, 0)).unwrap();
    }
    tree.resize(at, 0, 0).unwrap();
    tree.write(at, 0, text.as_bytes(), 0).unwrap();
}

fn told(before: &Tree, now: &Tree) -> Vec<(String, Change, u64)> {
    changes(before, now, &Cancel::new()).into_iter().map(|c| (c.path, c.change, c.bytes)).collect()
}

#[test]
fn changes_are_told_with_their_digest() {
    let mut tree = tree();
    let empty = tree.clone();
    write(&mut tree, "a.txt", "abc");
    write(&mut tree, "deep/er/b.txt", "");
    let changes = changes(&empty, &tree, &Cancel::new());
    assert_eq!(changes.iter().map(|c| c.path.as_str()).collect::<Vec<_>>(), ["a.txt", "deep/er/b.txt"]);
    assert_eq!(changes[0].sha256.as_deref(), Some(ABC));
    let before = tree.clone();
    assert_eq!(told(&before, &tree), []);
    write(&mut tree, "a.txt", "abcd");
    let deep = tree.lookup(Tree::WORK, "deep").and_then(|deep| tree.lookup(deep, "er")).unwrap();
    tree.unlink(deep, "b.txt", 0).unwrap();
    assert_eq!(
        told(&before, &tree),
        [("a.txt".into(), Change::Modified, 4), ("deep/er/b.txt".into(), Change::Deleted, 0)]
    );
}

#[test]
fn only_contents_under_work_are_changes() {
    let mut tree = tree();
    write(&mut tree, "same", "x");
    write(&mut tree, "replaced", "y");
    let before = tree.clone();
    tree.create(Tree::TMP, "elsewhere", Kind::File, 1).unwrap();
    tree.create(Tree::WORK, "folder", Kind::Folder, 1).unwrap();
    let same = tree.lookup(Tree::WORK, "same").unwrap();
    tree.set_times(same, Some(5), Some(5), 5).unwrap();
    assert_eq!(told(&before, &tree), []);
    let new = tree.create(Tree::WORK, "new", Kind::File, 1).unwrap();
    tree.write(new, 0, b"z", 1).unwrap();
    tree.rename((Tree::WORK, "new"), (Tree::WORK, "replaced"), 1).unwrap();
    assert_eq!(told(&before, &tree), [("replaced".into(), Change::Modified, 1)]);
}

#[test]
fn a_cancel_leaves_digests_out() {
    let mut tree = tree();
    let before = tree.clone();
    write(&mut tree, "a", "abc");
    let cancel = Cancel::new();
    cancel.cancel();
    let changes = changes(&before, &tree, &cancel);
    assert_eq!((changes[0].bytes, changes[0].sha256.as_deref()), (3, None));
}

#[test]
fn only_what_cells_made_is_exported() {
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("given.csv"), "x").unwrap();
    std::fs::write(host.path().join("other.csv"), "x").unwrap();
    let (mut scratch, mut tree) = (Scratch::default(), tree());
    write(&mut tree, "sub/made.csv", "y");
    for name in ["given.csv", "other.csv"] {
        scratch.put_host(&mut tree, &host.path().join(name), 7).unwrap();
    }
    let out = host.path().join("out");
    assert_eq!(scratch.export(&tree, &out).unwrap(), ["sub/made.csv"]);
    assert_eq!(std::fs::read_to_string(out.join("sub/made.csv")).unwrap(), "y");
    // What was given is a result once a cell has changed it.
    let other = tree.lookup(Tree::WORK, "other.csv").unwrap();
    tree.write(other, 1, b"z", 8).unwrap();
    assert_eq!(scratch.export(&tree, &out).unwrap(), ["other.csv", "sub/made.csv"]);
    assert_eq!(std::fs::read_to_string(out.join("other.csv")).unwrap(), "xz");
}

#[test]
fn what_cannot_be_put_leaves_nothing() {
    let host = tempfile::tempdir().unwrap();
    let (mut scratch, mut tree) = (Scratch::default(), tree());
    let mut put = |tree: &mut Tree, name: &str, bytes: usize| {
        std::fs::write(host.path().join(name), vec![7; bytes]).unwrap();
        scratch.put_host(tree, &host.path().join(name), 0)
    };
    put(&mut tree, "a", 1 << 19).unwrap();
    assert!(put(&mut tree, "a", 1).unwrap_err().to_string().contains("/work already has a file named a"));
    let error = put(&mut tree, "large", (1 << 19) + 1).unwrap_err();
    assert!(error.is_usage());
    assert!(
        error.to_string().ends_with("has 524289 bytes, and 524288 of the scratch limit of 1048576 bytes are left"),
        "{error}"
    );
    assert_eq!(error.advice(), Some("raise the limit with --scratch"));
    for number in 1..10 {
        put(&mut tree, &number.to_string(), 1).unwrap();
    }
    let error = put(&mut tree, "one more", 1).unwrap_err();
    assert!(error.to_string().contains("10 files and folders"), "{error}");
    assert_eq!(tree.used().entries, 10);
    assert!(Scratch::default().put_host(&mut tree, host.path(), 0).unwrap_err().is_usage());
    assert_eq!(tree.used().entries, 10);
}

#[test]
fn changes_come_in_the_order_of_their_paths() {
    let mut tree = tree();
    for path in ["a/x", "a.b", "b", "c", "d/y"] {
        write(&mut tree, path, "");
    }
    let mut now = Tree::new(tree.quota(), 0);
    // A file where a folder was, and a folder where a file was.
    for path in ["a", "a-b", "c/z"] {
        write(&mut now, path, "1");
    }
    let (mut paths, mut sorted) = (vec![], vec![]);
    for change in changes(&tree, &now, &Cancel::new()) {
        paths.push((change.path.clone(), change.change));
        sorted.push((change.path, change.change));
    }
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(paths, sorted);
    let all = ["a", "a-b", "a.b", "a/x", "b", "c", "c/z", "d/y"];
    assert_eq!(paths.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), all);
    assert_eq!(paths.iter().filter(|(_, change)| *change == Change::Created).count(), 3);
}

#[test]
fn so_many_changes_are_told_and_no_more() {
    let mut tree = Tree::new(Quota { bytes: 0, entries: 20_000, depth: 2 }, 0);
    let before = tree.clone();
    for number in 0..MOST_CHANGES + 5 {
        tree.create(Tree::WORK, &format!("{number:05}"), Kind::File, 0).unwrap();
    }
    let created = told(&before, &tree);
    assert_eq!((created.len(), created[0].0.as_str(), created[9_999].0.as_str()), (10_000, "00000", "09999"));
    assert_eq!(told(&tree, &before).len(), 10_000, "deleted ones as well");
}

#[test]
fn holes_are_zeros_in_digests_and_in_what_is_copied_out() {
    let host = tempfile::tempdir().unwrap();
    for (start, bytes) in [(0, 0), (0, 200_000), (70_000, 70_003), (3 * PIECE as u64 - 1, 4 * PIECE as u64)] {
        let (mut tree, mut whole) = (tree(), vec![0; bytes as usize]);
        let before = tree.clone();
        let file = tree.create(Tree::WORK, "f", Kind::File, 0).unwrap();
        tree.resize(file, bytes, 0).unwrap();
        if start > 0 {
            tree.write(file, start, b"abc"[..(bytes - start).min(3) as usize].as_ref(), 0).unwrap();
            tree.read(file, 0, &mut whole).unwrap();
        }
        let digest: [u8; 32] = Sha256::digest(&whole).into();
        assert_eq!(changes(&before, &tree, &Cancel::new())[0].sha256.as_deref(), Some(&*hex(&digest)), "{start}");
        assert_eq!(Scratch::default().export(&tree, host.path()).unwrap(), ["f"]);
        assert!(std::fs::read(host.path().join("f")).unwrap() == whole, "{start} {bytes}");
    }
}

/// Opening it would wait for a writer.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_is_no_file_to_put() {
    let host = tempfile::tempdir().unwrap();
    let pipe = host.path().join("pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let (send, answer) = std::sync::mpsc::channel();
    std::thread::spawn(move || send.send(Scratch::default().put_host(&mut tree(), &pipe, 0)));
    let error = answer.recv_timeout(std::time::Duration::from_secs(60)).expect("it waits").unwrap_err();
    assert!(error.to_string().contains("neither a regular file nor a folder"), "{error}");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let (host, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (scratch, mut tree) = (Scratch::default(), tree());
    write(&mut tree, "a.txt", "guest");
    let (victim, target) = (host.path().join("victim"), out.path().join("a.txt"));
    std::fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(&victim, &target).unwrap();
    assert!(scratch.export(&tree, out.path()).unwrap_err().to_string().contains("in the way"));
    std::fs::remove_file(&target).unwrap();
    std::fs::hard_link(&victim, &target).unwrap();
    scratch.export(&tree, out.path()).unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "guest");
    // A folder that is a link out of the folder leads nowhere either.
    write(&mut tree, "sub/b.txt", "guest");
    std::os::unix::fs::symlink(host.path(), out.path().join("sub")).unwrap();
    assert!(scratch.export(&tree, out.path()).is_err());
    assert!(!host.path().join("b.txt").exists());
}

#[test]
fn a_folder_is_put_whole_without_its_links_or_not_at_all() {
    let host = tempfile::tempdir().unwrap();
    let data = host.path().join("data");
    std::fs::create_dir_all(data.join("sub/empty")).unwrap();
    std::fs::write(data.join("a.csv"), "abc").unwrap();
    std::fs::write(data.join("sub/größe x"), "").unwrap();
    std::fs::write(host.path().join("secret"), "secret").unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(host.path().join("secret"), data.join("link")).unwrap();
        std::os::unix::fs::symlink(host.path(), data.join("sub/above")).unwrap();
    }
    let (mut scratch, mut tree) = (Scratch::default(), tree());
    let before = tree.clone();
    scratch.put_host(&mut tree, &data, 3).unwrap();
    let all = [("data/a.csv".into(), Change::Created, 3), ("data/sub/größe x".into(), Change::Created, 0)];
    assert_eq!(told(&before, &tree), all);
    assert_eq!(tree.used().entries, 5);
    assert_eq!(scratch.given().keys().collect::<Vec<_>>(), ["data/a.csv", "data/sub/größe x"]);
    assert_eq!(hex(&scratch.given()["data/a.csv"]), ABC);
    assert_eq!(scratch.export(&tree, &host.path().join("out")).unwrap(), [""; 0], "what was given is no result");
    assert!(scratch.put_host(&mut tree, &data, 3).unwrap_err().to_string().contains("already has"));
    // Whatever does not fit: nothing of it is there, and what there was stays.
    for quota in [
        Quota { bytes: 2, ..before.quota() },
        Quota { entries: 4, ..before.quota() },
        Quota { depth: 2, ..before.quota() },
    ] {
        let (mut scratch, mut small) = (Scratch::default(), Tree::new(quota, 0));
        let error = scratch.put_host(&mut small, &data, 3).unwrap_err();
        assert!(error.is_usage() && error.advice().is_some(), "{error}");
        assert_eq!((small.used().entries, scratch.given().len()), (0, 0), "{error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn f12_a_folder_that_changes_while_it_is_put_gives_nothing_from_outside() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let host = tempfile::tempdir().unwrap();
    let data = host.path().join("data");
    std::fs::create_dir_all(data.join("d")).unwrap();
    std::fs::create_dir(host.path().join("outside")).unwrap();
    for (path, text) in [("data/f", "mine"), ("data/d/f", "mine"), ("outside/f", "secret")] {
        std::fs::write(host.path().join(path), text).unwrap();
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (beside, kept) = (host.path().join("beside"), host.path().join("kept"));
            while !over.load(Ordering::Relaxed) {
                std::os::unix::fs::symlink(host.path().join("outside/f"), &beside).unwrap();
                std::fs::rename(&beside, data.join("f")).unwrap();
                std::fs::rename(data.join("d"), &kept).unwrap();
                std::os::unix::fs::symlink(host.path().join("outside"), data.join("d")).unwrap();
                std::fs::write(&beside, "mine").unwrap();
                std::fs::rename(&beside, data.join("f")).unwrap();
                std::fs::remove_file(data.join("d")).unwrap();
                std::fs::rename(&kept, data.join("d")).unwrap();
            }
        });
        for _ in 0..1000 {
            let (mut scratch, mut tree) = (Scratch::default(), tree());
            // It may fail, where something was there first and then a link.
            if scratch.put_host(&mut tree, &data, 3).is_ok() {
                for entry in look::list(&tree) {
                    assert_eq!(look::get(&tree, &entry.path).unwrap(), b"mine", "{}", entry.path);
                }
            }
        }
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn files_are_put_got_listed_and_removed_by_their_paths() {
    let (mut scratch, mut tree) = (Scratch::default(), tree());
    for (path, text) in [("a.txt", "abc"), ("d/e/f", ""), ("d/new\nline", "x"), ("-\u{202e}", "y"), ("a.txt", "again")]
    {
        scratch.put_bytes(&mut tree, path, text.as_bytes(), 1_500_000_000).unwrap();
        assert_eq!(look::get(&tree, path).unwrap(), text.as_bytes(), "{path:?}");
    }
    let listed: Vec<_> = look::list(&tree).into_iter().map(|file| (file.path, file.bytes)).collect();
    let all = [("-\u{202e}", 1), ("a.txt", 5), ("d/e/f", 0), ("d/new\nline", 1)];
    assert_eq!(listed, all.map(|(path, bytes)| (path.to_owned(), bytes)));
    let made = std::time::UNIX_EPOCH + std::time::Duration::from_millis(1500);
    assert!(look::list(&tree).iter().all(|file| file.modified == made));
    look::remove(&mut tree, "d", 2).unwrap();
    look::remove(&mut tree, "a.txt", 2).unwrap();
    assert_eq!((look::list(&tree).len(), tree.used().entries, tree.used().bytes), (1, 1, 1));
    for path in ["d", "a.txt", "a.txt/b"] {
        assert!(look::get(&tree, path).unwrap_err().is_usage() && look::remove(&mut tree, path, 2).is_err(), "{path}");
    }
}

#[test]
fn f07_a_path_that_leads_elsewhere_is_none() {
    let (mut scratch, mut tree) = (Scratch::default(), tree());
    write(&mut tree, "d/f", "x");
    for path in [
        "",
        "/",
        "/work/d/f",
        "/etc/passwd",
        "..",
        "../tmp/x",
        "d/../../tmp",
        "d/..",
        "./d/f",
        "d//f",
        "d/f/",
        "d\0",
        ".",
    ] {
        let errors = [
            scratch.put_bytes(&mut tree, path, b"x", 0).err(),
            look::get(&tree, path).err(),
            look::remove(&mut tree, path, 0).err(),
        ];
        for error in errors {
            let error = error.unwrap();
            assert!(
                error.is_usage() && error.advice().is_some_and(|advice| advice.contains("relative")),
                "{path:?}: {error}"
            );
        }
    }
    for (path, words) in [
        ("d", "a folder is where the file"),
        ("d/f/x", "a file is where a folder"),
        ("d/f/x/y", "a file is where a folder"),
    ] {
        let error = scratch.put_bytes(&mut tree, path, b"y", 0).unwrap_err();
        assert!(error.is_usage() && error.to_string().contains(words), "{path}: {error}");
    }
    assert_eq!(look::get(&tree, "d/f").unwrap(), b"x");
    assert!(look::get(&tree, "d").unwrap_err().to_string().contains("is a folder"));
    assert_eq!((tree.used().entries, scratch.given().len()), (2, 0));
}

#[test]
fn what_does_not_fit_leaves_the_file_that_was_there() {
    let (mut scratch, mut tree) = (Scratch::default(), tree());
    scratch.put_bytes(&mut tree, "a", &[1; 1 << 19], 0).unwrap();
    let given = scratch.given().clone();
    let error = scratch.put_bytes(&mut tree, "a", &vec![2; (1 << 20) + 1], 0).unwrap_err();
    assert!(error.to_string().contains("1048577 bytes, and 1048576 of"), "{error}");
    assert!(scratch.put_bytes(&mut tree, "1/2/3/4", b"", 0).unwrap_err().advice().unwrap().contains("--depth"));
    assert_eq!((look::get(&tree, "a").unwrap(), tree.used().entries, scratch.given()), (vec![1; 1 << 19], 1, &given));
    scratch.put_bytes(&mut tree, "a", &vec![3; 1 << 20], 0).unwrap();
    assert_eq!(tree.used().bytes, 1 << 20);
}

#[test]
fn digests_are_right_whatever_became_of_a_file() {
    let mut tree = Tree::new(Quota { bytes: 64 << 20, entries: 10, depth: 3 }, 0);
    let sha = |bytes: &[u8]| hex(&Sha256::digest(bytes).into());
    let file = tree.create(Tree::WORK, "f", Kind::File, 0).unwrap();
    let mut whole: Vec<u8> = (0..64 << 20).map(|at: u32| (at >> 8) as u8).collect();
    tree.write(file, 0, &whole, 0).unwrap();
    let before = tree.clone();
    for (at, text) in [(0, &b"start"[..]), (PIECE - 2, b"over a border"), ((64 << 20) - 3, b"end")] {
        tree.write(file, at as u64, text, 1).unwrap();
        whole[at..at + text.len()].copy_from_slice(text);
        assert_eq!(changes(&before, &tree, &Cancel::new())[0].sha256, Some(sha(&whole)), "{at}");
    }
    for bytes in [1_000_000, 3, 0, 70_000] {
        tree.resize(file, bytes, 2).unwrap();
        whole.resize(bytes as usize, 0);
        assert_eq!(changes(&before, &tree, &Cancel::new())[0].sha256, Some(sha(&whole)), "{bytes}");
    }
}

#[test]
fn moves_and_replacements_are_told_by_path() {
    let mut tree = tree();
    for path in ["given", "kept", "d/inner", "file"] {
        write(&mut tree, path, path);
    }
    let before = tree.clone();
    tree.rename((Tree::WORK, "given"), (Tree::WORK, "moved"), 1).unwrap();
    tree.rename((Tree::WORK, "d"), (Tree::WORK, "e"), 1).unwrap();
    tree.unlink(Tree::WORK, "file", 1).unwrap();
    write(&mut tree, "file/in", "");
    use Change::{Created, Deleted};
    let all = [("d/inner", Deleted, 0), ("e/inner", Created, 7), ("file", Deleted, 0), ("file/in", Created, 0)];
    let all = all.into_iter().chain([("given", Deleted, 0), ("moved", Created, 5)]);
    assert_eq!(
        told(&before, &tree),
        all.map(|(path, change, bytes)| (path.to_owned(), change, bytes)).collect::<Vec<_>>()
    );
    let empty = changes(&before, &tree, &Cancel::new()).into_iter().find(|change| change.path == "file/in").unwrap();
    assert_eq!(empty.sha256, Some(hex(&Sha256::digest([]).into())));
    // There and back again is no change.
    let there = tree.clone();
    tree.rename((Tree::WORK, "kept"), (Tree::WORK, "away"), 2).unwrap();
    tree.rename((Tree::WORK, "away"), (Tree::WORK, "kept"), 2).unwrap();
    assert_eq!(told(&there, &tree), []);
}

#[test]
fn f10_odd_names_come_out_as_they_are() {
    let (out, scratch) = (tempfile::tempdir().unwrap(), Scratch::default());
    let mut tree = Tree::new(Quota { bytes: 1000, entries: 100, depth: 40 }, 0);
    let long = vec!["x".repeat(127); 30].join("/");
    let odd = [
        " lead",
        "-rf",
        "...",
        "a\nb",
        "a\u{7f}b",
        "con",
        "d/nul.txt",
        "größe",
        "\u{202e}gpj",
        "a\\b",
        "c:d",
        "*?",
        &long,
    ];
    for name in odd {
        write(&mut tree, name, name.get(..3).unwrap_or("x"));
    }
    let mut names: Vec<_> = odd.map(str::to_owned).into();
    match scratch.export(&tree, out.path()) {
        Ok(copied) => {
            names.sort();
            assert_eq!(copied, names);
        }
        // Others are copied all the same.
        Err(error) => {
            assert!(cfg!(windows) && error.to_string().contains("takes no file or folder of the name"), "{error}");
            names = vec![" lead".into(), "größe".into(), long];
        }
    }
    for name in &names {
        let dir = Dir::open_ambient_dir(out.path(), cap_std::ambient_authority()).unwrap();
        assert!(dir.exists(name), "{name:?}");
    }
}

#[test]
fn what_is_there_is_replaced_whole_and_nothing_is_left_beside_it() {
    let (out, scratch, mut tree) = (tempfile::tempdir().unwrap(), Scratch::default(), tree());
    std::fs::write(out.path().join("a"), "theirs, and longer").unwrap();
    std::fs::write(out.path().join("d"), "a file where a folder must be").unwrap();
    std::fs::create_dir(out.path().join("b")).unwrap();
    for path in ["a", "b", "c", "d/e", "z"] {
        write(&mut tree, path, "mine");
    }
    let open = std::fs::File::open(out.path().join("a")).unwrap();
    let error = scratch.export(&tree, out.path()).unwrap_err();
    let words = ["/b: ", "something else than a file is in the way (and 1 more)", "3 others were copied"];
    assert!(error.is_usage() && words.iter().all(|word| error.to_string().contains(word)), "{error}");
    assert_eq!(open.metadata().unwrap().len(), 18, "whoever reads the old one still does");
    let mut left: Vec<_> = std::fs::read_dir(out.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a", "b", "c", "d", "z"]);
    for name in ["a", "c", "z"] {
        assert_eq!(std::fs::read_to_string(out.path().join(name)).unwrap(), "mine");
    }
}

#[cfg(unix)]
#[test]
fn no_folder_on_the_way_out_is_a_link() {
    let (out, scratch, mut tree) = (tempfile::tempdir().unwrap(), Scratch::default(), tree());
    write(&mut tree, "sub/f", "mine");
    std::fs::create_dir(out.path().join("real")).unwrap();
    std::os::unix::fs::symlink("real", out.path().join("sub")).unwrap();
    assert!(scratch.export(&tree, out.path()).unwrap_err().to_string().contains("than a folder is in the way"));
    assert_eq!(std::fs::read_dir(out.path().join("real")).unwrap().count(), 0);
}
