//! How a path may end, and what each call says of it. The table is what Linux answered to the same calls on the same
//! folder, but for EBUSY, which is INVAL here as POSIX has it for a `.` or `..` that would be renamed.

use std::path::PathBuf;
use std::sync::Arc;

use super::super::errno::Errno::{self, Exist, Inval, Isdir, Noent, Notdir, Notempty};
use super::super::tree::{Kind, Quota, Tree};
use super::super::{Files, Mounts, OpenHow};

const WORK: u32 = 5;

const READ: OpenHow =
    OpenHow { create: false, folder: false, exclusive: false, truncate: false, read: true, write: false, flags: 0 };
const CREATE: OpenHow = OpenHow { create: true, write: true, ..READ };

/// Two folders, the one empty, and a file.
fn files() -> Files {
    let mounts = Arc::new(Mounts::new(PathBuf::from("absent"), PathBuf::from("absent")));
    let mut files = Files::new(mounts, Quota { bytes: 1000, entries: 20, depth: 4 }, 6, 1);
    for (name, kind) in [("a", Kind::Folder), ("full", Kind::Folder), ("f", Kind::File)] {
        files.tree.create(Tree::WORK, name, kind, 1).unwrap();
    }
    let full = files.tree.lookup(Tree::WORK, "full").unwrap();
    files.tree.create(full, "x", Kind::File, 1).unwrap();
    files
}

type Call = fn(&mut Files, &str) -> Result<(), Errno>;

/// The columns of the table.
const CALLS: [(&str, Call); 10] = [
    ("mkdir", |files, path| files.create_folder(WORK, path, 2)),
    ("rmdir", |files, path| files.remove_folder(WORK, path, 2)),
    ("unlink", |files, path| files.unlink(WORK, path, 2)),
    ("open", |files, path| files.open(WORK, path, READ, 2).map(|_| ())),
    ("create", |files, path| files.open(WORK, path, CREATE, 2).map(|_| ())),
    ("create anew", |files, path| files.open(WORK, path, OpenHow { exclusive: true, ..CREATE }, 2).map(|_| ())),
    ("open as a folder", |files, path| files.open(WORK, path, OpenHow { folder: true, ..READ }, 2).map(|_| ())),
    ("stat", |files, path| files.stat_at(WORK, path).map(|_| ())),
    ("rename", |files, path| files.rename((WORK, path), (WORK, "new"), 2)),
    ("rename a to", |files, path| files.rename((WORK, "a"), (WORK, path), 2)),
];

type Answers = [Result<(), Errno>; 10];

const GOES: Result<(), Errno> = Ok(());
const fn no(errno: Errno) -> Result<(), Errno> {
    Err(errno)
}

/// Of a path that ends in `.`, and in `..`.
const ITSELF: Answers = [no(Exist), no(Inval), no(Isdir), GOES, no(Isdir), no(Exist), GOES, GOES, no(Inval), no(Inval)];
const ABOVE: Answers =
    [no(Exist), no(Notempty), no(Isdir), GOES, no(Isdir), no(Exist), GOES, GOES, no(Inval), no(Inval)];
/// Of a path that goes through a file, and through what is not there.
const THROUGH_FILE: Answers = [no(Notdir); 10];
const THROUGH_NOTHING: Answers = [no(Noent); 10];

const TABLE: [(&str, Answers); 24] = [
    (".", ITSELF),
    ("./", ITSELF),
    ("..", ABOVE),
    ("a", [no(Exist), GOES, no(Isdir), GOES, no(Isdir), no(Exist), GOES, GOES, GOES, GOES]),
    ("a/", [no(Exist), GOES, no(Isdir), GOES, no(Isdir), no(Isdir), GOES, GOES, GOES, GOES]),
    ("a/.", ITSELF),
    ("a/./", ITSELF),
    ("a/..", ABOVE),
    ("a/../a", [no(Exist), GOES, no(Isdir), GOES, no(Isdir), no(Exist), GOES, GOES, GOES, GOES]),
    ("full", [no(Exist), no(Notempty), no(Isdir), GOES, no(Isdir), no(Exist), GOES, GOES, GOES, no(Notempty)]),
    ("full/", [no(Exist), no(Notempty), no(Isdir), GOES, no(Isdir), no(Isdir), GOES, GOES, GOES, no(Notempty)]),
    ("full/.", ITSELF),
    ("full/..", ABOVE),
    ("f", [no(Exist), no(Notdir), GOES, GOES, GOES, no(Exist), no(Notdir), GOES, GOES, no(Notdir)]),
    (
        "f/",
        [
            no(Exist),
            no(Notdir),
            no(Notdir),
            no(Notdir),
            no(Isdir),
            no(Isdir),
            no(Notdir),
            no(Notdir),
            no(Notdir),
            no(Notdir),
        ],
    ),
    ("f/.", THROUGH_FILE),
    ("f/..", THROUGH_FILE),
    ("f/x", THROUGH_FILE),
    ("no", [GOES, no(Noent), no(Noent), no(Noent), GOES, GOES, no(Noent), no(Noent), no(Noent), GOES]),
    ("no/", [GOES, no(Noent), no(Noent), no(Noent), no(Isdir), no(Isdir), no(Noent), no(Noent), no(Noent), GOES]),
    ("no/.", THROUGH_NOTHING),
    ("no/..", THROUGH_NOTHING),
    ("no/x", THROUGH_NOTHING),
    ("a/f/./x", THROUGH_NOTHING),
];

#[test]
fn every_call_answers_every_ending_as_linux_does() {
    let mut wrong = Vec::new();
    for (path, answers) in TABLE {
        for ((name, call), expected) in CALLS.into_iter().zip(answers) {
            let mut files = files();
            let before = files.tree.entries();
            let found = call(&mut files, path);
            if found != expected {
                wrong.push(format!("{name} {path:?}: {found:?}, Linux {expected:?}"));
            }
            if found.is_err() && files.tree.entries() != before {
                wrong.push(format!("{name} {path:?} failed and changed something"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_is_not_renamed_to_what_only_a_folder_can_be() {
    for (path, expected) in [
        ("a", no(Isdir)),
        ("a/", no(Notdir)),
        ("full/", no(Notdir)),
        ("f", GOES),
        ("f/", no(Notdir)),
        ("no", GOES),
        ("no/", no(Notdir)),
        ("no/.", no(Noent)),
        ("f/.", no(Notdir)),
        ("a/.", no(Inval)),
        ("..", no(Inval)),
    ] {
        assert_eq!(files().rename((WORK, "f"), (WORK, path), 2), expected, "{path}");
    }
}
