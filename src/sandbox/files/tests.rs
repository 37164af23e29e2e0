//! The namespace, descriptors and calls, as preview 1 and POSIX have them.

use std::sync::Arc;

use super::errno::Errno;
use super::mounts::{HostNode, Source};
use super::table::{Descriptor, Folder};
use super::tree::{Quota, Tree};
use super::{Files, Grants, Kind, Mounts, OpenHow, PREOPENS, Packages, Place, Stamp, Stream, Whence};
use crate::sandbox::saved::{Descriptor as Opened, Target};

const LIB: u32 = 3;
const MPL: u32 = 4;
const WORK: u32 = 5;
const TMP: u32 = 6;
const ROOT: u32 = 7;

const READ: OpenHow =
    OpenHow { create: false, folder: false, exclusive: false, truncate: false, read: true, write: false, flags: 0 };
const WRITE: OpenHow = OpenHow { create: true, truncate: true, read: false, write: true, ..READ };
const BOTH: OpenHow = OpenHow { create: true, write: true, ..READ };
const APPEND: OpenHow = OpenHow { flags: 1, ..BOTH };
const FOLDER: OpenHow = OpenHow { folder: true, ..READ };

/// Small quotas over two host folders: `python315.zip` in one, `fonts/a.ttf` and `rc` in the other.
fn files() -> (tempfile::TempDir, Files) {
    let host = tempfile::tempdir().unwrap();
    let (lib, mpl) = (host.path().join("lib"), host.path().join("mpl"));
    std::fs::create_dir_all(&lib).unwrap();
    std::fs::create_dir_all(mpl.join("fonts")).unwrap();
    std::fs::write(lib.join("python315.zip"), "zip").unwrap();
    std::fs::write(mpl.join("fonts/a.ttf"), "ttf").unwrap();
    std::fs::write(mpl.join("rc"), "rc").unwrap();
    let quota = Quota { bytes: 1000, entries: 20, depth: 4 };
    (host, Files::new(Arc::new(Mounts::new(lib, mpl)), quota, 6, 1))
}

fn put(files: &mut Files, path: &str, text: &str) {
    let fd = files.open(ROOT, path, WRITE, 2).unwrap();
    assert_eq!(files.write(fd, text.as_bytes(), 2), Ok(text.len()));
    files.close(fd).unwrap();
}

fn text(files: &mut Files, path: &str) -> Result<String, Errno> {
    let fd = files.open(ROOT, path, READ, 3)?;
    let mut bytes = vec![0; 2000];
    let read = files.read(fd, &mut bytes)?;
    files.close(fd)?;
    Ok(String::from_utf8(bytes[..read].to_vec()).unwrap())
}

/// The names in a folder, as a walk with a buffer of so many bytes finds them.
fn names(files: &mut Files, fd: u32, size: usize) -> Result<Vec<String>, Errno> {
    let (mut names, mut cookie) = (Vec::new(), 0);
    loop {
        let mut buffer = vec![0; size];
        let written = files.list(fd, cookie, &mut buffer)?;
        let mut rest = &buffer[..written];
        while rest.len() >= 24 {
            let len = u32::from_le_bytes(rest[16..20].try_into().unwrap()) as usize;
            let Some(name) = rest.get(24..24 + len) else { break };
            cookie = u64::from_le_bytes(rest[..8].try_into().unwrap());
            names.push(String::from_utf8(name.to_vec()).unwrap());
            rest = &rest[24 + len..];
        }
        if written < size {
            return Ok(names);
        }
    }
}

#[test]
fn the_preopens_have_their_numbers_and_names() {
    let (_host, files) = files();
    let found: Vec<_> = (3..8).map(|fd| files.preopen(fd).unwrap()).collect();
    assert_eq!(found, PREOPENS);
    assert_eq!(found[2..], ["/work", "/tmp", "/"]);
    for fd in [0, 1, 2, 8, u32::MAX] {
        assert_eq!(files.preopen(fd), Err(Errno::Badf), "{fd}");
    }
}

#[test]
fn a_path_is_walked_name_by_name_through_one_namespace() {
    let (_host, mut files) = files();
    files.create_folder(WORK, "a", 2).unwrap();
    put(&mut files, "work/a/f", "text");
    let work = files.stat(WORK).unwrap();
    for (fd, path) in [
        (WORK, "."),
        (ROOT, "work"),
        (ROOT, "./work//"),
        (ROOT, "work/a/.."),
        (WORK, "../work"),
        (WORK, "a/../../../work/."),
        (TMP, "../work"),
        (LIB, "../../../work"),
        (ROOT, "usr/local/lib/../../../../../work"),
    ] {
        assert_eq!(files.stat_at(fd, path), Ok(work), "{path}");
    }
    assert_eq!(files.stat_at(ROOT, ".."), files.stat(ROOT));
    assert_eq!(
        files.stat_at(ROOT, "usr/local/lib/python315.zip").map(|stat| (stat.kind, stat.bytes)),
        Ok((Kind::File, 3))
    );
    for (fd, path, errno) in [
        (WORK, "", Errno::Noent),
        (WORK, "b", Errno::Noent),
        (WORK, "b/..", Errno::Noent),
        (WORK, "a/f/..", Errno::Notdir),
        (WORK, "a/f/", Errno::Notdir),
        (WORK, "a/f/.", Errno::Notdir),
        (WORK, "a/f/g", Errno::Notdir),
        (WORK, "/work", Errno::Perm),
        (WORK, "a\0", Errno::Inval),
        (MPL, "..", Errno::Perm),
        (MPL, "fonts/../../lib", Errno::Perm),
        (ROOT, "usr/local/lib/python315.zip/matplotlib/mpl-data", Errno::Notdir),
        (ROOT, "etc", Errno::Noent),
        (0, "a", Errno::Notdir),
        (9, "a", Errno::Badf),
    ] {
        assert_eq!(files.stat_at(fd, path), Err(errno), "{fd} {path:?}");
    }
    assert_eq!(files.stat_at(WORK, &"x".repeat(256)), Err(Errno::Nametoolong));
    assert_eq!(files.stat_at(WORK, &"./".repeat(2049)), Err(Errno::Nametoolong));
    assert_eq!(files.stat_at(WORK, &"./".repeat(2048)), Ok(work));
    let fd = files.open(WORK, "a/f", READ, 3).unwrap();
    assert_eq!(files.stat_at(fd, "."), Err(Errno::Notdir));
}

#[test]
fn what_is_not_the_sessions_own_is_read_only_and_says_so() {
    let (_host, mut files) = files();
    let before = files.tree().clone();
    for (fd, folder) in [(ROOT, ""), (ROOT, "dev/"), (ROOT, "usr/"), (ROOT, "usr/local/"), (LIB, ""), (MPL, "fonts/")] {
        let path = format!("{folder}new");
        assert_eq!(files.create_folder(fd, &path, 5), Err(Errno::Rofs), "{path}");
        assert_eq!(files.open(fd, &path, WRITE, 5), Err(Errno::Rofs), "{path}");
        assert_eq!(files.open(fd, &path, READ, 5), Err(Errno::Noent), "{path}");
        assert_eq!(files.unlink(fd, &path, 5), Err(Errno::Noent), "{path}");
        assert_eq!(files.remove_folder(fd, &path, 5), Err(Errno::Noent), "{path}");
    }
    for (fd, file) in [(LIB, "python315.zip"), (MPL, "rc"), (MPL, "fonts/a.ttf")] {
        for how in [WRITE, BOTH, OpenHow { truncate: true, ..READ }] {
            assert_eq!(files.open(fd, file, how, 5), Err(Errno::Rofs), "{file}");
        }
        assert_eq!(files.unlink(fd, file, 5), Err(Errno::Rofs), "{file}");
        let stamp = Stamp { accessed: Some(1), modified: None };
        assert_eq!(files.set_times_at(fd, file, stamp, 5), Err(Errno::Rofs), "{file}");
        assert_eq!(files.rename((fd, file), (WORK, "stolen"), 5), Err(Errno::Rofs), "{file}");
        assert_eq!(files.open(fd, file, OpenHow { create: true, ..READ }, 5).map(|fd| files.close(fd)), Ok(Ok(())));
    }
    put(&mut files, "work/mine", "x");
    assert_eq!(files.rename((WORK, "mine"), (ROOT, "mine"), 5), Err(Errno::Rofs));
    for folder in ["work", "tmp", "dev", "usr", "usr/local", "usr/local/lib"] {
        assert_eq!(files.rename((ROOT, folder), (WORK, "moved"), 5), Err(Errno::Rofs), "{folder}");
        assert_eq!(files.remove_folder(ROOT, folder, 5), Err(Errno::Rofs), "{folder}");
        assert_eq!(files.unlink(ROOT, folder, 5), Err(Errno::Rofs), "{folder}");
        assert_eq!(files.create_folder(ROOT, folder, 5), Err(Errno::Exist), "{folder}");
    }
    files.unlink(WORK, "mine", 5).unwrap();
    assert_eq!(files.tree().used(), before.used());
}

#[test]
fn host_files_are_read_at_positions_and_cannot_be_written() {
    let (_host, mut files) = files();
    let fd = files.open(MPL, "fonts/a.ttf", READ, 5).unwrap();
    let mut bytes = [0; 2];
    assert_eq!((files.read(fd, &mut bytes), bytes), (Ok(2), *b"tt"));
    assert_eq!((files.read(fd, &mut bytes), bytes[0]), (Ok(1), b'f'));
    assert_eq!((files.read_at(fd, 1, &mut bytes), bytes), (Ok(2), *b"tf"));
    assert_eq!(files.seek(fd, -1, Whence::End), Ok(2));
    assert_eq!(files.read_at(fd, u64::MAX, &mut bytes), Ok(0));
    assert_eq!(files.write(fd, b"x", 5), Err(Errno::Badf));
    assert_eq!(files.set_size(fd, 0, 5), Err(Errno::Inval));
    let stat = files.stat(fd).unwrap();
    assert_eq!((stat.bytes, stat.times.modified), (3, 1_767_225_600_000_000_000));
    assert_eq!(files.stat_at(MPL, "fonts/a.ttf"), Ok(stat));
}

#[test]
fn descriptors_are_the_lowest_free_number_and_bounded() {
    let (_host, mut files) = files();
    for name in 'a'..='g' {
        put(&mut files, &format!("work/{name}"), "x");
    }
    let opened: Vec<_> = ('a'..='f').map(|name| files.open(WORK, &name.to_string(), READ, 5)).collect();
    assert_eq!(opened, (8..14).map(Ok).collect::<Vec<_>>());
    let used = files.tree().used();
    // None is left, and nothing is made or cut on the way to finding that out.
    for (path, how) in [("g", READ), ("g", WRITE), ("new", WRITE), (".", FOLDER)] {
        assert_eq!(files.open(WORK, path, how, 5), Err(Errno::Mfile), "{path}");
    }
    assert_eq!(files.tree().used(), used);
    assert_eq!(files.open(WORK, "h", READ, 5), Err(Errno::Mfile));
    files.close(10).unwrap();
    files.close(9).unwrap();
    assert_eq!(files.close(9), Err(Errno::Badf));
    assert_eq!(files.open(WORK, ".", FOLDER, 5), Ok(9));
    assert_eq!(files.open(MPL, "rc", READ, 5), Ok(10));
    assert_eq!(files.open(MPL, "rc", READ, 5), Err(Errno::Mfile));
    // Those that are open from the start do not count, and their numbers are free once they are closed.
    files.close(0).unwrap();
    files.close(LIB).unwrap();
    assert_eq!(files.open(WORK, "a", READ, 5), Err(Errno::Mfile));
    files.close(13).unwrap();
    assert_eq!(files.open(WORK, "a", READ, 5), Ok(0));
    assert_eq!(files.stream(0), Ok(None));
    for fd in [13, 14, u32::MAX] {
        assert_eq!(files.stat(fd), Err(Errno::Badf), "{fd}");
        assert_eq!(files.read(fd, &mut []), Err(Errno::Badf), "{fd}");
        assert_eq!(files.write(fd, b"", 5), Err(Errno::Badf), "{fd}");
        assert_eq!(files.seek(fd, 0, Whence::Here), Err(Errno::Badf), "{fd}");
    }
}

#[test]
fn renumbering_replaces_and_frees() {
    let (_host, mut files) = files();
    put(&mut files, "work/a", "aaa");
    put(&mut files, "work/b", "bb");
    let (a, b) = (files.open(WORK, "a", READ, 5).unwrap(), files.open(WORK, "b", READ, 5).unwrap());
    files.unlink(WORK, "b", 5).unwrap();
    assert_eq!(files.tree().used().bytes, 5);
    files.renumber(a, a).unwrap();
    files.renumber(a, b).unwrap();
    assert_eq!(files.tree().used().bytes, 3, "what was replaced is closed, and so gone");
    assert_eq!((files.stat(a).err(), files.stat(b).unwrap().bytes), (Some(Errno::Badf), 3));
    assert_eq!(files.renumber(a, b), Err(Errno::Badf));
    assert_eq!(files.renumber(b, 100), Err(Errno::Badf));
    // A stream can be replaced; then there is room for one more.
    files.renumber(b, 1).unwrap();
    assert_eq!((files.stream(1), files.stat(1).unwrap().bytes), (Ok(None), 3));
    files.renumber(2, 0).unwrap();
    assert_eq!(files.stream(0), Ok(Some(Stream::Stderr)));
    let opened = (0..6).map(|_| files.open(WORK, "a", READ, 5)).filter(Result::is_ok).count();
    assert_eq!(opened, 5, "one of six is descriptor 1");
}

#[test]
fn reads_and_writes_move_the_position_and_those_at_a_position_do_not() {
    let (_host, mut files) = files();
    let fd = files.open(WORK, "f", BOTH, 5).unwrap();
    assert_eq!(files.write(fd, b"hello", 6), Ok(5));
    assert_eq!(files.write_at(fd, 7, b"you", 6), Ok(3));
    assert_eq!(files.write_at(fd, 0, b"J", 6), Ok(1));
    assert_eq!(files.seek(fd, 0, Whence::Here), Ok(5));
    let mut bytes = [0xff; 20];
    assert_eq!((files.read(fd, &mut bytes), &bytes[..5]), (Ok(5), &b"\0\0you"[..]));
    assert_eq!((files.read(fd, &mut bytes), files.read_at(fd, 10, &mut bytes)), (Ok(0), Ok(0)));
    assert_eq!((files.read_at(fd, 0, &mut bytes[..5]), &bytes[..5]), (Ok(5), &b"Jello"[..]));
    assert_eq!(files.write(fd, b"!", 7), Ok(1));
    assert_eq!(text(&mut files, "work/f").unwrap(), "Jello\0\0you!");
    assert_eq!(files.stat(fd).unwrap().times.modified, 7);
}

#[test]
fn appending_ignores_the_position() {
    let (_host, mut files) = files();
    put(&mut files, "work/f", "one");
    let fd = files.open(WORK, "f", APPEND, 5).unwrap();
    assert_eq!(files.write(fd, b" two", 5), Ok(4));
    assert_eq!(files.seek(fd, 0, Whence::Here), Ok(7));
    files.seek(fd, 0, Whence::Start).unwrap();
    assert_eq!(files.write_at(fd, 0, b" three", 5), Ok(6));
    let mut bytes = [0; 3];
    assert_eq!((files.read(fd, &mut bytes), bytes), (Ok(3), *b"one"));
    files.set_flags(fd, 0).unwrap();
    assert_eq!(files.write(fd, b"+", 5), Ok(1));
    assert_eq!(text(&mut files, "work/f").unwrap(), "one+two three");
    assert_eq!(files.set_flags(fd, 1 << 5), Err(Errno::Inval));
}

#[test]
fn a_position_is_never_negative_nor_beyond_what_a_file_offset_holds() {
    let (_host, mut files) = files();
    put(&mut files, "work/f", "12345");
    let fd = files.open(WORK, "f", BOTH, 5).unwrap();
    assert_eq!(files.seek(fd, 3, Whence::Start), Ok(3));
    assert_eq!(files.seek(fd, -3, Whence::Here), Ok(0));
    assert_eq!(files.seek(fd, -1, Whence::Here), Err(Errno::Inval));
    assert_eq!(files.seek(fd, -6, Whence::End), Err(Errno::Inval));
    assert_eq!(files.seek(fd, i64::MIN, Whence::End), Err(Errno::Inval));
    assert_eq!(files.seek(fd, i64::MAX, Whence::End), Err(Errno::Overflow));
    let far = u64::try_from(i64::MAX).unwrap();
    assert_eq!(files.seek(fd, i64::MAX, Whence::Start), Ok(far));
    assert_eq!(files.seek(fd, 1, Whence::Here), Err(Errno::Overflow));
    assert_eq!(files.seek(fd, 0, Whence::Here), Ok(far));
    assert_eq!(files.read(fd, &mut [0; 5]), Ok(0));
    assert_eq!(files.write(fd, b"x", 5), Err(Errno::Fbig));
    assert_eq!(files.write_at(fd, u64::MAX, b"x", 5), Err(Errno::Fbig));
    assert_eq!(files.write(fd, b"", 5), Ok(0));
    for fd in [0, 1, 2] {
        assert_eq!(files.seek(fd, 0, Whence::Here), Err(Errno::Spipe));
    }
    assert_eq!(files.seek(WORK, 0, Whence::Here), Err(Errno::Badf));
}

#[test]
fn access_is_what_the_file_was_opened_for() {
    let (_host, mut files) = files();
    put(&mut files, "work/f", "x");
    let (read, write) = (files.open(WORK, "f", READ, 5).unwrap(), files.open(WORK, "f", WRITE, 5).unwrap());
    assert_eq!(files.write(read, b"y", 5), Err(Errno::Badf));
    assert_eq!(files.write_at(read, 0, b"y", 5), Err(Errno::Badf));
    assert_eq!(files.set_size(read, 0, 5), Err(Errno::Inval));
    assert_eq!(files.read(write, &mut [0]), Err(Errno::Badf));
    assert_eq!(files.read_at(write, 0, &mut [0]), Err(Errno::Badf));
    assert_eq!(files.set_size(write, 10, 5), Ok(()));
    assert_eq!(files.set_size(write, 1001, 5), Err(Errno::Fbig));
    assert_eq!(files.read(WORK, &mut [0]), Err(Errno::Isdir));
    assert_eq!(files.read_at(WORK, 0, &mut [0]), Err(Errno::Isdir));
    assert_eq!(files.write(WORK, b"y", 5), Err(Errno::Badf));
    let rights = |fd| files.fdstat(fd).unwrap().rights;
    assert_eq!((rights(read) >> 1 & 1, rights(read) >> 6 & 1), (1, 0));
    assert_eq!((rights(write) >> 1 & 1, rights(write) >> 6 & 1), (0, 1));
    assert_eq!(files.fdstat(WORK).unwrap().inheriting, (1 << 30) - 1);
}

#[test]
fn devices_hold_nothing_and_take_everything() {
    let (_host, mut files) = files();
    put(&mut files, "work/f", "x");
    for (name, random) in [("null", false), ("random", true), ("urandom", true)] {
        let path = format!("dev/{name}");
        let (read, write) = (files.open(ROOT, &path, READ, 5).unwrap(), files.open(ROOT, &path, WRITE, 5).unwrap());
        let both = files.open(ROOT, &path, APPEND, 5).unwrap();
        let mut bytes = [7; 4];
        for fd in [read, both] {
            assert_eq!(files.is_random(fd), Ok(random), "{name}");
            let expected = if random { Err(Errno::Io) } else { Ok(0) };
            assert_eq!((files.read(fd, &mut bytes), files.read_at(fd, 9, &mut bytes)), (expected, expected), "{name}");
        }
        let refused = if random { Err(Errno::Badf) } else { Ok(false) };
        assert_eq!((files.is_random(write), files.read(write, &mut bytes)), (refused, Err(Errno::Badf)), "{name}");
        for fd in [write, both] {
            assert_eq!(
                (files.write(fd, &[1; 5000], 5), files.write_at(fd, 9, &[1; 9], 5)),
                (Ok(5000), Ok(9)),
                "{name}"
            );
        }
        assert_eq!(
            (files.write(read, b"x", 5), files.write_at(read, 0, b"x", 5)),
            (Err(Errno::Badf), Err(Errno::Badf))
        );
        for from in [Whence::Start, Whence::Here, Whence::End] {
            assert_eq!(files.seek(both, -5, from), Ok(0), "{name}");
        }
        let stat = files.stat(both).unwrap();
        assert_eq!((stat.kind, stat.bytes, Ok(stat)), (Kind::Device, 0, files.stat_at(ROOT, &path)), "{name}");
        let fdstat = files.fdstat(both).unwrap();
        assert_eq!((fdstat.kind, fdstat.flags, fdstat.rights >> 2 & 1), (Kind::Device, 1, 1), "{name} is no terminal");
        assert_eq!((files.set_size(both, 0, 5), files.sync(both)), (Err(Errno::Inval), Err(Errno::Inval)), "{name}");
        for (path, how, errno) in [
            (format!("{path}/"), READ, Errno::Notdir),
            (format!("{path}/x"), READ, Errno::Notdir),
            (path.clone(), FOLDER, Errno::Notdir),
            (path.clone(), OpenHow { exclusive: true, ..WRITE }, Errno::Exist),
        ] {
            assert_eq!(files.open(ROOT, &path, how, 5), Err(errno), "{path}");
        }
        assert_eq!(files.create_folder(ROOT, &path, 5), Err(Errno::Exist), "{name}");
        assert_eq!(files.unlink(ROOT, &path, 5), Err(Errno::Rofs), "{name}");
        assert_eq!(files.rename((ROOT, &path), (WORK, name), 5), Err(Errno::Rofs), "{name}");
        assert_eq!(files.rename((WORK, "f"), (ROOT, &path), 5), Err(Errno::Rofs), "{name}");
        for fd in [read, write, both] {
            files.close(fd).unwrap();
        }
    }
    assert_eq!((files.tree().used().bytes, files.is_random(0), files.is_random(99)), (1, Ok(false), Err(Errno::Badf)));
}

#[test]
fn streams_are_no_files() {
    let (_host, mut files) = files();
    assert_eq!(files.read(0, &mut [0; 4]), Ok(0), "the end of stdin");
    assert_eq!(files.read(1, &mut [0; 4]), Err(Errno::Badf));
    assert_eq!(files.read_at(0, 0, &mut [0; 4]), Err(Errno::Spipe));
    assert_eq!(files.write_at(1, 0, b"x", 5), Err(Errno::Spipe));
    assert_eq!(files.sync(1), Err(Errno::Inval));
    assert_eq!(files.set_times(1, Stamp { accessed: None, modified: None }, 5), Err(Errno::Inval));
    assert_eq!(files.list(1, 0, &mut [0; 50]), Err(Errno::Notdir));
    for fd in [0, 1, 2] {
        let stat = files.fdstat(fd).unwrap();
        // libc's isatty: a character device without the rights to seek and tell.
        assert_eq!((stat.kind, stat.rights & (1 << 2 | 1 << 5)), (Kind::Device, 1 << 2 | 1 << 5));
        assert_eq!(files.socket(fd), Err(Errno::Notsock));
    }
    assert_eq!(files.socket(99), Err(Errno::Badf));
}

#[test]
fn opening_goes_by_posix() {
    let (_host, mut files) = files();
    files.create_folder(WORK, "d", 2).unwrap();
    put(&mut files, "work/f", "text");
    let exclusive = OpenHow { exclusive: true, ..WRITE };
    for (path, how, errno) in [
        ("f", exclusive, Errno::Exist),
        ("d", exclusive, Errno::Exist),
        (".", exclusive, Errno::Exist),
        ("f", FOLDER, Errno::Notdir),
        ("f/", READ, Errno::Notdir),
        ("f/", WRITE, Errno::Isdir),
        ("new/", WRITE, Errno::Isdir),
        ("d", WRITE, Errno::Isdir),
        ("d", OpenHow { write: true, ..READ }, Errno::Isdir),
        ("d", OpenHow { create: true, ..READ }, Errno::Isdir),
        ("nothing", READ, Errno::Noent),
        ("nothing", FOLDER, Errno::Noent),
        ("no/new", WRITE, Errno::Noent),
        ("f/new", WRITE, Errno::Notdir),
        ("new", OpenHow { folder: true, ..WRITE }, Errno::Inval),
        (&"n".repeat(256), WRITE, Errno::Nametoolong),
    ] {
        assert_eq!(files.open(WORK, path, how, 5), Err(errno), "{path} {how:?}");
    }
    assert_eq!(text(&mut files, "work/f").unwrap(), "text", "nothing was cut");
    let fd = files.open(WORK, "new", exclusive, 5).unwrap();
    assert_eq!((files.stat(fd).unwrap().links, files.stat(fd).unwrap().bytes), (1, 0));
    let fd = files.open(WORK, "f", WRITE, 5).unwrap();
    assert_eq!(files.stat(fd).unwrap().bytes, 0);
    let fd = files.open(WORK, "d/", READ, 5).unwrap();
    assert_eq!(files.open(fd, "../f", READ, 5).map(|fd| files.close(fd)), Ok(Ok(())));
}

#[test]
fn changes_of_names_go_by_posix() {
    let (_host, mut files) = files();
    files.create_folder(WORK, "d", 2).unwrap();
    put(&mut files, "work/f", "f");
    put(&mut files, "tmp/g", "g");
    for (from, to, errno) in [
        ("nothing", "x", Errno::Noent),
        ("f", "d", Errno::Isdir),
        ("d", "f", Errno::Notdir),
        ("f/", "x", Errno::Notdir),
        ("f", "x/", Errno::Notdir),
        ("d", "d/x", Errno::Inval),
        (".", "x", Errno::Inval),
        ("f", "..", Errno::Inval),
        ("f", "no/x", Errno::Noent),
    ] {
        assert_eq!(files.rename((WORK, from), (WORK, to), 5), Err(errno), "{from} {to}");
    }
    files.rename((WORK, "f"), (TMP, "g"), 5).unwrap();
    assert_eq!(text(&mut files, "tmp/g").unwrap(), "f");
    files.rename((WORK, "d/"), (WORK, "e/"), 5).unwrap();
    assert_eq!(files.unlink(WORK, "e", 5), Err(Errno::Isdir));
    assert_eq!(files.unlink(WORK, "e/", 5), Err(Errno::Isdir));
    assert_eq!(files.unlink(TMP, "g/", 5), Err(Errno::Notdir));
    assert_eq!(files.remove_folder(TMP, "g", 5), Err(Errno::Notdir));
    assert_eq!(files.remove_folder(WORK, "e/.", 5), Err(Errno::Inval));
    assert_eq!(files.remove_folder(WORK, "e/", 5), Ok(()));
    for path in [".", "..", "../work/."] {
        assert!(files.remove_folder(WORK, path, 5).is_err(), "{path}");
        assert_eq!(files.create_folder(WORK, path, 5), Err(Errno::Exist), "{path}");
    }
    assert_eq!(files.link((TMP, "g"), (WORK, "g")), Err(Errno::Perm));
    assert_eq!(files.link((TMP, "h"), (WORK, "g")), Err(Errno::Noent));
    assert_eq!(files.symlink(WORK, "g"), Err(Errno::Perm));
    assert_eq!(files.read_link(TMP, "g"), Err(Errno::Inval));
    assert_eq!(files.read_link(TMP, "h"), Err(Errno::Noent));
    let stamp = Stamp { accessed: Some(11), modified: None };
    files.set_times_at(TMP, "g", stamp, 12).unwrap();
    let times = files.stat_at(TMP, "g").unwrap().times;
    assert_eq!((times.accessed, times.changed), (11, 12));
}

#[test]
fn an_unlinked_file_lives_as_long_as_it_is_open() {
    let (_host, mut files) = files();
    put(&mut files, "work/f", "text");
    let fd = files.open(WORK, "f", BOTH, 5).unwrap();
    files.unlink(WORK, "f", 5).unwrap();
    assert_eq!(files.stat_at(WORK, "f"), Err(Errno::Noent));
    assert_eq!(files.write_at(fd, 4, b"!", 5), Ok(1));
    let mut bytes = [0; 5];
    assert_eq!((files.read(fd, &mut bytes), bytes), (Ok(5), *b"text!"));
    assert_eq!((files.stat(fd).unwrap().links, files.tree().used().bytes), (0, 5));
    let clone = files.clone();
    files.close(fd).unwrap();
    assert_eq!((files.tree().used().bytes, files.tree().used().entries), (0, 0));
    let mut clone = clone;
    assert_eq!(clone.read_at(fd, 0, &mut bytes), Ok(5), "a copy has it open still");
    clone.close_all();
    assert_eq!((clone.tree().used().entries, clone.read_at(fd, 0, &mut bytes)), (0, Err(Errno::Badf)));
}

#[test]
fn a_removed_folder_that_is_open_is_empty_for_good() {
    let (_host, mut files) = files();
    files.create_folder(WORK, "d", 2).unwrap();
    let fd = files.open(WORK, "d", FOLDER, 5).unwrap();
    files.remove_folder(WORK, "d", 5).unwrap();
    assert_eq!(files.open(fd, "x", WRITE, 5), Err(Errno::Noent));
    assert_eq!(files.create_folder(fd, "x", 5), Err(Errno::Noent));
    assert_eq!(files.stat_at(fd, ".."), Err(Errno::Noent));
    assert_eq!(files.stat_at(fd, ".").map(|stat| stat.links), Ok(0));
    assert_eq!(names(&mut files, fd, 100), Ok(vec![".".into(), "..".into()]));
    files.close(fd).unwrap();
    assert_eq!(files.tree().used().entries, 0);
}

#[test]
fn folders_are_listed_sorted_through_any_buffer() {
    let (_host, mut files) = files();
    for name in ["b", "a", "ä"] {
        put(&mut files, &format!("work/{name}"), "");
    }
    files.create_folder(WORK, &"long".repeat(60), 5).unwrap();
    let all = vec![".".to_owned(), "..".into(), "a".into(), "b".into(), "long".repeat(60), "ä".into()];
    for size in [24 + 240, 300, 333, 4096] {
        assert_eq!(names(&mut files, WORK, size), Ok(all.clone()), "{size}");
    }
    assert_eq!(names(&mut files, ROOT, 4096).unwrap()[2..], ["dev", "tmp", "usr", "work"]);
    let fd = files.open(ROOT, "dev", FOLDER, 5).unwrap();
    assert_eq!(names(&mut files, fd, 4096).unwrap()[2..], ["null", "random", "urandom"]);
    assert_eq!(names(&mut files, LIB, 4096).unwrap()[2..], ["python315.zip"]);
    assert_eq!(names(&mut files, MPL, 4096).unwrap()[2..], ["fonts", "rc"]);
    let fd = files.open(WORK, "a", READ, 5).unwrap();
    assert_eq!(files.list(fd, 0, &mut [0; 50]), Err(Errno::Notdir));
    let mut buffer = [0; 24 + 1 + 24 + 2];
    assert_eq!(files.list(ROOT, 0, &mut buffer), Ok(buffer.len()));
    let number = |at: usize| u64::from_le_bytes(buffer[at..at + 8].try_into().unwrap());
    assert_eq!((number(8), number(25 + 8)), (super::number("/"), super::number("/")), "`/` is above itself");
}

#[test]
fn a_walk_sees_the_folder_as_it_was_when_it_began() {
    let (_host, mut files) = files();
    for name in ["a", "b", "c", "d"] {
        put(&mut files, &format!("work/{name}"), "");
    }
    // Room for `.`, `..` and one name, whole.
    let mut buffer = [0; 25 + 26 + 25];
    assert_eq!(files.list(WORK, 0, &mut buffer), Ok(buffer.len()));
    files.unlink(WORK, "a", 5).unwrap();
    put(&mut files, "work/0", "");
    let mut rest = [0; 200];
    let written = files.list(WORK, 3, &mut rest).unwrap();
    assert_eq!((written, rest[24], rest[25 + 24], rest[50 + 24]), (75, b'b', b'c', b'd'));
    assert_eq!(names(&mut files, WORK, 4096).unwrap()[2..], ["0", "b", "c", "d"], "a new walk begins anew");
}

#[test]
fn as_many_walks_as_there_are_descriptors_get_through() {
    let (_host, mut files) = files();
    for name in 'a'..='e' {
        put(&mut files, &format!("work/{name}"), "");
    }
    let quota = files.tree().quota();
    let mut files = Files::reopen(files.mounts.clone(), files.tree().clone(), 20, files.opened())
        .unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(files.tree().quota(), quota);
    let fds: Vec<_> = (0..20).map(|_| files.open(WORK, ".", FOLDER, 5).unwrap()).collect();
    // All of them step by step: `.`, `..` and `a`, then the rest.
    let mut buffer = [0; 25 + 26 + 25];
    assert!(fds.iter().all(|fd| files.list(*fd, 0, &mut buffer) == Ok(buffer.len())));
    for fd in fds {
        let mut rest = [0; 200];
        assert_eq!((files.list(fd, 3, &mut rest), rest[24], rest[75 + 24]), (Ok(100), b'b', b'e'), "{fd}");
    }
}

#[test]
fn quotas_say_what_they_are() {
    let (_host, mut files) = files();
    let fd = files.open(WORK, "f", BOTH, 5).unwrap();
    assert_eq!(files.write(fd, &[7; 600], 5), Ok(600));
    assert_eq!(files.write(fd, &[7; 600], 5), Ok(400), "what fits");
    assert_eq!(files.write(fd, &[7; 600], 5), Err(Errno::Nospc));
    assert_eq!(files.tree().used().bytes, 1000);
    files.create_folder(WORK, "1", 5).unwrap();
    files.create_folder(WORK, "1/2", 5).unwrap();
    files.create_folder(WORK, "1/2/3", 5).unwrap();
    put(&mut files, "work/1/2/3/f", "");
    assert_eq!(files.create_folder(WORK, "1/2/3/4", 5), Ok(()));
    assert_eq!(files.create_folder(WORK, "1/2/3/4/5", 5), Err(Errno::Dquot));
    assert_eq!(files.open(WORK, "1/2/3/4/f", WRITE, 5), Err(Errno::Dquot));
    let made = (0..).take_while(|name| files.create_folder(TMP, &name.to_string(), 5).is_ok()).count();
    assert_eq!((made, files.tree().used().entries), (14, 20));
    assert_eq!(files.create_folder(TMP, "more", 5), Err(Errno::Nospc));
    assert_eq!(files.tree().quota().entries, 20);
}

#[test]
fn closing_all_is_the_state_of_a_fresh_interpreter() {
    let (_host, mut files) = files();
    let fd = files.open(WORK, "kept", WRITE, 5).unwrap();
    let gone = files.open(WORK, "gone", WRITE, 5).unwrap();
    files.unlink(WORK, "gone", 5).unwrap();
    files.close(1).unwrap();
    files.renumber(gone, WORK).unwrap();
    files.close_all();
    assert_eq!((files.preopen(WORK), files.stream(1)), (Ok("/work"), Ok(Some(Stream::Stdout))));
    assert_eq!(files.stat(fd), Err(Errno::Badf));
    assert_eq!(names(&mut files, WORK, 4096).unwrap()[2..], ["kept"]);
    assert_eq!(files.tree().used().entries, 1);
    assert_eq!((0..6).filter(|_| files.open(WORK, "kept", READ, 5).is_ok()).count(), 6, "all of them are free again");
}

#[test]
fn streams_that_were_closed_are_there_again() {
    let (_host, mut files) = files();
    for fd in [0, 1, 2] {
        files.close(fd).unwrap();
    }
    let own = files.open(WORK, "f", BOTH, 5).unwrap();
    assert_eq!(own, 0, "it has the lowest number");
    files.reopen_streams();
    assert_eq!(files.stream(0), Ok(None), "what the program has open stays");
    assert_eq!((files.stream(1), files.stream(2)), (Ok(Some(Stream::Stdout)), Ok(Some(Stream::Stderr))));
    files.close(own).unwrap();
    files.reopen_streams();
    files.reopen_streams();
    assert_eq!(files.stream(0), Ok(Some(Stream::Stdin)));
    let opened: Vec<_> = (0..7).filter_map(|_| files.open(WORK, "f", READ, 5).ok()).collect();
    assert_eq!(opened.len(), 6, "a stream is not counted");
    files.renumber(2, opened[0]).unwrap();
    files.reopen_streams();
    assert_eq!(
        (files.stream(opened[0]), files.stream(2)),
        (Ok(Some(Stream::Stderr)), Err(Errno::Badf)),
        "it has moved"
    );
}

#[test]
fn what_cannot_be_named_is_not_saved_as_something_else() {
    let mounts = Arc::new(Mounts::new("absent".into(), "absent".into()));
    let mut files = Files::new(mounts, Quota { bytes: 0, entries: 0, depth: 0 }, 6, 1);
    let before = files.opened();
    let place = Place::Host(HostNode::root(Source::Lib));
    files.table.insert(Descriptor::Folder(Folder { place, preopen: None })).unwrap();
    assert_eq!(files.opened(), before);
}

#[test]
fn open_descriptors_are_saved_and_opened_again() {
    let (_host, mut files) = files();
    put(&mut files, "work/f", "0123456789");
    files.create_folder(WORK, "d", 5).unwrap();
    let fds = [
        files.open(WORK, "f", BOTH, 5).unwrap(),
        files.open(WORK, "f", READ, 5).unwrap(),
        files.open(WORK, "d", FOLDER, 5).unwrap(),
        files.open(MPL, "fonts/a.ttf", READ, 5).unwrap(),
        files.open(ROOT, "usr", FOLDER, 5).unwrap(),
        files.open(ROOT, "dev/urandom", BOTH, 5).unwrap(),
    ];
    files.seek(fds[0], 4, Whence::Start).unwrap();
    files.read(fds[3], &mut [0; 2]).unwrap();
    files.set_flags(fds[0], 1).unwrap();
    files.unlink(WORK, "f", 5).unwrap();
    files.close(fds[1]).unwrap();
    files.close(0).unwrap();
    files.renumber(2, TMP).unwrap();
    let opened = files.opened();
    let tree =
        |files: &Files| Tree::from_entries(files.tree().quota(), files.tree().next_ino(), files.tree().entries());
    let again = Files::reopen(files.mounts.clone(), tree(&files).unwrap(), 6, opened.clone());
    let mut again = again.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(again.opened(), opened);
    assert_eq!(opened[0], Opened { number: 1, target: Target::Stream(1), at: 0, flags: 0, read: true, write: false });
    assert_eq!(opened[2].target, Target::Preopen(1));
    for fd in fds {
        assert_eq!(again.stat(fd), files.stat(fd), "{fd}");
        assert_eq!(again.fdstat(fd), files.fdstat(fd), "{fd}");
    }
    assert_eq!(again.seek(fds[0], 0, Whence::Here), Ok(4));
    let mut bytes = [0; 4];
    assert_eq!((again.read(fds[3], &mut bytes), bytes[0]), (Ok(1), b'f'));
    assert_eq!((again.read(fds[0], &mut bytes), bytes), (Ok(4), *b"4567"));
    assert_eq!(again.stream(TMP), Ok(Some(Stream::Stderr)));
    assert_eq!((again.is_random(fds[5]), again.write(fds[5], b"x", 5)), (Ok(true), Ok(1)));
    again.close(fds[0]).unwrap();
    assert_eq!((again.tree().used().bytes, again.tree().used().entries), (0, 1));
    // What nobody has open goes.
    let unopened = Files::reopen(files.mounts.clone(), tree(&files).unwrap(), 6, Vec::new());
    assert_eq!(unopened.map(|files| files.tree().used().entries), Ok(1));
}

#[test]
fn descriptors_that_none_could_have_are_refused() {
    let (_host, mut files) = files();
    put(&mut files, "work/f", "x");
    let fd = files.open(WORK, "f", BOTH, 5).unwrap();
    let good = files.opened().into_iter().find(|one| one.number == fd).unwrap();
    let refused = |opened: Vec<Opened>| {
        Files::reopen(files.mounts.clone(), files.tree().clone(), 2, opened).map(|_| ()).expect_err("refused")
    };
    let library = |path: &str| Opened { target: Target::Library(path.into()), write: false, ..good.clone() };
    for (bad, why) in [
        (Opened { number: 10, ..good.clone() }, "number"),
        (Opened { number: u32::MAX, ..good.clone() }, "number"),
        (Opened { at: 1 << 63, ..good.clone() }, "position"),
        (Opened { flags: 32, ..good.clone() }, "flags"),
        (Opened { target: Target::Stream(3), ..good.clone() }, "stream"),
        (Opened { target: Target::Preopen(5), ..good.clone() }, "start"),
        (Opened { target: Target::Scratch(99), ..good.clone() }, "not there"),
        (Opened { target: Target::Library("/usr/local/lib/python315.zip".into()), ..good.clone() }, "writing"),
        (library("/usr/local/lib/../../../etc/passwd"), "not there"),
        (library("/usr/local/library"), "not there"),
        (library("/usr/local/lib/"), "not there"),
        (library("/etc/passwd"), "not there"),
        (library("/dev/zero"), "not there"),
        (library("/dev/null/"), "not there"),
        (library(""), "not there"),
    ] {
        let told = refused(vec![bad.clone()]);
        assert!(told.contains(why), "{bad:?}: {told}");
    }
    assert!(refused(vec![good.clone(), good.clone()]).contains("one number"));
    let many = (7..10).map(|number| Opened { number, ..good.clone() }).collect();
    assert!(refused(many).contains("more files"));
}

#[test]
fn packages_go_with_the_session_and_not_with_its_state() {
    let (host, files) = files();
    let site = host.path().join("site");
    std::fs::create_dir_all(&site).unwrap();
    std::fs::write(site.join("m.py"), "code").unwrap();
    let (plain, with) =
        (files.mounts.clone(), Arc::new(files.mounts.with(Some(Packages::new(site)), Grants::default())));
    let mut files = Files::new(with.clone(), files.tree().quota(), 6, 1);
    let package = files.open(LIB, "packages/m.py", READ, 2).unwrap();
    let folder = files.open(ROOT, "usr/local/lib/packages", FOLDER, 2).unwrap();
    let own = files.open(WORK, "f", BOTH, 2).unwrap();
    files.unlink(WORK, "f", 2).unwrap();
    assert_eq!(files.stat_at(folder, ".."), files.stat(LIB));
    assert_eq!(files.open(folder, "m.py", WRITE, 2), Err(Errno::Rofs));
    files.set_limits(files.tree().quota(), 1);
    let mut elsewhere = files.clone();
    elsewhere.see(&plain);
    assert_eq!((elsewhere.stat(package), elsewhere.stat(folder)), (Err(Errno::Io), Err(Errno::Io)), "dead");
    assert_eq!(elsewhere.stat_at(LIB, "packages/m.py"), Err(Errno::Noent));
    assert_eq!(elsewhere.write(own, b"still there", 3), Ok(11));
    let mut back = elsewhere;
    back.see(&with);
    assert_eq!(names(&mut back, folder, 100), Ok(vec![".".into(), "..".into(), "m.py".into()]));
    let mut bytes = [0; 9];
    assert_eq!((back.read(package, &mut bytes), &bytes[..4]), (Ok(4), &b"code"[..]));
}
