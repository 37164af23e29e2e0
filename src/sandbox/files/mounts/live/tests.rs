//! What a session can and cannot do in a folder that it was given, also while others change it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

use super::super::super::errno::Errno;
use super::super::super::tree::Quota;
use super::super::super::{Files, Kind, Mounts, OpenHow, Stamp, Whence};
use super::super::{Grants, Mount};
use super::Live;

const WORK: u32 = 5;
const ROOT: u32 = 7;

const READ: OpenHow =
    OpenHow { create: false, folder: false, exclusive: false, truncate: false, read: true, write: false, flags: 0 };
const WRITE: OpenHow = OpenHow { create: true, truncate: true, read: false, write: true, ..READ };
const BOTH: OpenHow = OpenHow { create: true, write: true, ..READ };
const APPEND: OpenHow = OpenHow { flags: 1, ..BOTH };
const FOLDER: OpenHow = OpenHow { folder: true, ..READ };

const QUOTA: Quota = Quota { bytes: 1000, entries: 20, depth: 4 };

fn with(mounts: &[Mount]) -> Files {
    let image = Mounts::new("absent".into(), "absent".into());
    let grants = Grants::new(mounts, QUOTA).unwrap();
    Files::new(Arc::new(image.with(None, grants)), QUOTA, 6, 1)
}

/// A host with a `secret`, and in it `in` (given as `/data`, read-only) and `out` (as `/out`, to be changed).
fn granted() -> (tempfile::TempDir, Files) {
    let host = tempfile::tempdir().unwrap();
    let path = host.path();
    std::fs::create_dir_all(path.join("in/sub")).unwrap();
    std::fs::create_dir(path.join("out")).unwrap();
    std::fs::write(path.join("secret"), "secret").unwrap();
    std::fs::write(path.join("in/a"), "0123456789").unwrap();
    std::fs::write(path.join("in/sub/b"), "b").unwrap();
    let mounts = [Mount::read_only(path.join("in"), "/data"), Mount::writable(path.join("out"), "/out")];
    let files = with(&mounts.map(Result::unwrap));
    (host, files)
}

fn put(files: &mut Files, path: &str, text: &str) -> Result<(), Errno> {
    let fd = files.open(ROOT, path, WRITE, 2)?;
    let written = files.write(fd, text.as_bytes(), 2);
    files.close(fd).unwrap();
    written.map(|written| assert_eq!(written, text.len()))
}

fn text(files: &mut Files, path: &str) -> Result<String, Errno> {
    let fd = files.open(ROOT, path, READ, 3)?;
    let mut bytes = vec![0; 2000];
    let read = files.read(fd, &mut bytes);
    files.close(fd).unwrap();
    Ok(String::from_utf8(bytes[..read?].to_vec()).unwrap())
}

fn names(files: &mut Files, path: &str) -> Result<Vec<String>, Errno> {
    let fd = files.open(ROOT, path, FOLDER, 3)?;
    let mut bytes = vec![0; 64 << 10];
    let written = files.list(fd, 0, &mut bytes);
    files.close(fd).unwrap();
    let (mut rest, mut names) = (&bytes[..written?], Vec::new());
    while !rest.is_empty() {
        let len = u32::from_le_bytes(rest[16..20].try_into().unwrap()) as usize;
        names.push(String::from_utf8(rest[24..24 + len].to_vec()).unwrap());
        rest = &rest[24 + len..];
    }
    Ok(names.split_off(2))
}

#[test]
fn what_was_given_is_found_read_and_walked() {
    let (host, mut files) = granted();
    assert_eq!(names(&mut files, "data"), Ok(vec!["a".into(), "sub".into()]));
    assert_eq!(text(&mut files, "data/a"), Ok("0123456789".into()));
    assert_eq!(text(&mut files, "data/sub/b"), Ok("b".into()));
    let fd = files.open(ROOT, "data/a", READ, 3).unwrap();
    let mut bytes = [0; 4];
    assert_eq!((files.seek(fd, -2, Whence::End), files.read(fd, &mut bytes), &bytes[..2]), (Ok(8), Ok(2), &b"89"[..]));
    assert_eq!((files.read_at(fd, 3, &mut bytes), &bytes), (Ok(4), b"3456"));
    assert_eq!((files.read_at(fd, u64::MAX, &mut bytes), files.write(fd, b"x", 3)), (Ok(0), Err(Errno::Badf)));
    let (stat, found) = (files.stat(fd).unwrap(), std::fs::metadata(host.path().join("in/a")).unwrap());
    let modified = found.modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    assert_eq!((stat.bytes, u128::from(stat.times.modified), stat.links), (10, modified, 1));
    assert_eq!(files.stat_at(ROOT, "data/a"), Ok(stat));
    assert_ne!(stat.device, files.stat_at(ROOT, "out").unwrap().device);
    // It is seen as it is now.
    std::fs::write(host.path().join("in/a"), "now").unwrap();
    std::fs::write(host.path().join("in/new"), "new").unwrap();
    std::fs::remove_dir_all(host.path().join("in/sub")).unwrap();
    assert_eq!((files.stat(fd).unwrap().bytes, files.read_at(fd, 0, &mut bytes), &bytes[..3]), (3, Ok(3), &b"now"[..]));
    assert_eq!(names(&mut files, "data"), Ok(vec!["a".into(), "new".into()]));
}

#[test]
fn what_was_given_for_reading_cannot_be_changed() {
    let (host, mut files) = granted();
    let stamp = Stamp { accessed: Some(1), modified: Some(1) };
    for how in [WRITE, BOTH, APPEND, OpenHow { truncate: true, ..READ }] {
        assert_eq!(files.open(ROOT, "data/a", how, 2), Err(Errno::Rofs), "{how:?}");
    }
    assert_eq!(files.open(ROOT, "data/new", WRITE, 2), Err(Errno::Rofs));
    assert_eq!(files.create_folder(ROOT, "data/new", 2), Err(Errno::Rofs));
    assert_eq!(files.create_folder(ROOT, "data/sub", 2), Err(Errno::Exist));
    assert_eq!(files.unlink(ROOT, "data/a", 2), Err(Errno::Rofs));
    assert_eq!(files.remove_folder(ROOT, "data/sub", 2), Err(Errno::Rofs));
    assert_eq!(files.rename((ROOT, "data/a"), (ROOT, "data/c"), 2), Err(Errno::Rofs));
    for (from, to) in [("data/a", "work/a"), ("data/a", "out/a"), ("work", "out/w"), ("out", "work/o")] {
        let errno = files.rename((ROOT, from), (ROOT, to), 2).unwrap_err();
        assert!(matches!(errno, Errno::Xdev | Errno::Rofs), "{from} {to}: {errno:?}");
    }
    assert_eq!(files.set_times_at(ROOT, "data/a", stamp, 2), Err(Errno::Rofs));
    let fd = files.open(ROOT, "data/a", READ, 2).unwrap();
    assert_eq!(files.set_times(fd, stamp, 2), Err(Errno::Rofs));
    assert_eq!(files.set_size(fd, 0, 2), Err(Errno::Inval));
    for folder in ["data", "out"] {
        assert_eq!(files.remove_folder(ROOT, folder, 2), Err(Errno::Rofs), "{folder}");
        assert_eq!(files.unlink(ROOT, folder, 2), Err(Errno::Rofs), "{folder}");
        assert_eq!(files.create_folder(ROOT, folder, 2), Err(Errno::Exist), "{folder}");
    }
    assert_eq!(std::fs::read_to_string(host.path().join("in/a")).unwrap(), "0123456789");
    assert_eq!(std::fs::read_dir(host.path().join("in")).unwrap().count(), 2);
}

#[test]
fn what_was_given_for_writing_changes_on_the_host() {
    let (host, mut files) = granted();
    let out = host.path().join("out");
    put(&mut files, "out/f", "first").unwrap();
    let fd = files.open(ROOT, "out/f", APPEND, 2).unwrap();
    assert_eq!((files.write(fd, b" more", 2), files.write_at(fd, 0, b"!", 2)), (Ok(5), Ok(1)));
    assert_eq!(files.open(ROOT, "out/f", OpenHow { exclusive: true, ..BOTH }, 2), Err(Errno::Exist));
    assert_eq!(std::fs::read_to_string(out.join("f")).unwrap(), "first more!");
    assert_eq!((files.set_size(fd, 5, 2), files.stat(fd).unwrap().bytes), (Ok(()), 5));
    let both = files.open(ROOT, "out/f", BOTH, 2).unwrap();
    assert_eq!((files.seek(both, 3, Whence::Start), files.write(both, b"XYZ", 2)), (Ok(3), Ok(3)));
    assert_eq!((files.close(both), files.close(fd)), (Ok(()), Ok(())));
    files.create_folder(ROOT, "out/d", 2).unwrap();
    files.rename((ROOT, "out/f"), (ROOT, "out/d/g"), 2).unwrap();
    assert_eq!(text(&mut files, "out/d/g"), Ok("firXYZ".into()));
    put(&mut files, "out/h", "replaces").unwrap();
    files.rename((ROOT, "out/h"), (ROOT, "out/d/g"), 2).unwrap();
    assert_eq!(std::fs::read_to_string(out.join("d/g")).unwrap(), "replaces");
    assert_eq!(files.rename((ROOT, "out/d/g"), (ROOT, "out/d"), 2), Err(Errno::Isdir));
    assert_eq!(files.rename((ROOT, "out/d"), (ROOT, "out/d/e"), 2), Err(Errno::Inval));
    assert_eq!(files.remove_folder(ROOT, "out/d", 2), Err(Errno::Notempty));
    assert_eq!(
        (files.unlink(ROOT, "out/d", 2), files.remove_folder(ROOT, "out/d/g", 2)),
        (Err(Errno::Isdir), Err(Errno::Notdir))
    );
    let stamp = Stamp { accessed: None, modified: Some(5_000_000_007) };
    for path in ["out/d/g", "out/d", "out"] {
        files.set_times_at(ROOT, path, stamp, 2).unwrap();
        assert_eq!(files.stat_at(ROOT, path).unwrap().times.modified, 5_000_000_007, "{path}");
    }
    assert_eq!((files.unlink(ROOT, "out/d/g", 2), files.remove_folder(ROOT, "out/d", 2)), (Ok(()), Ok(())));
    assert_eq!(std::fs::read_dir(&out).unwrap().count(), 0);
}

#[test]
fn the_folder_grows_by_the_quota_and_no_more() {
    let (host, mut files) = granted();
    std::fs::write(host.path().join("out/theirs"), vec![7; 5000]).unwrap();
    let fd = files.open(ROOT, "out/f", BOTH, 2).unwrap();
    assert_eq!((files.write(fd, &[1; 600], 2), files.write(fd, &[1; 600], 2)), (Ok(600), Ok(400)));
    assert_eq!(files.write(fd, &[1; 1], 2), Err(Errno::Nospc));
    assert_eq!(files.write_at(fd, 0, &[2; 1000], 2), Ok(1000), "what is there can be written over");
    assert_eq!((files.set_size(fd, 1001, 2), files.set_size(fd, u64::MAX, 2)), (Err(Errno::Nospc), Err(Errno::Fbig)));
    assert_eq!(files.write_at(fd, 1 << 40, b"x", 2), Err(Errno::Nospc), "holes count");
    assert_eq!((files.set_size(fd, 100, 2), files.write_at(fd, 950, &[3; 100], 2)), (Ok(()), Ok(50)));
    // Going back to before gives nothing back.
    let mut earlier = files.clone();
    assert_eq!((put(&mut earlier, "out/g", ""), put(&mut earlier, "out/g", "x")), (Ok(()), Err(Errno::Nospc)));
    // What is made smaller that was there before does.
    files.unlink(ROOT, "out/theirs", 2).unwrap();
    assert_eq!(put(&mut files, "out/g", &"x".repeat(1000)), Ok(()));
    assert_eq!(put(&mut files, "out/h", "x"), Err(Errno::Nospc), "and no more than the quota");
    let made = (0..).take_while(|name| files.create_folder(ROOT, &format!("out/{name}"), 2).is_ok()).count();
    // `f`, `g` and `h` were made, `theirs` removed.
    assert_eq!((made, files.create_folder(ROOT, "out/more", 2)), (18, Err(Errno::Nospc)));
    for name in 0..6 {
        files.remove_folder(ROOT, &format!("out/{name}"), 2).unwrap();
    }
    for path in ["out/1", "out/1/2", "out/1/2/3", "out/1/2/3/4"] {
        assert_eq!(files.create_folder(ROOT, path, 2), Ok(()), "{path}");
    }
    assert_eq!(files.create_folder(ROOT, "out/1/2/3/4/5", 2), Err(Errno::Dquot));
    assert_eq!(files.rename((ROOT, "out/g"), (ROOT, "out/1/2/3/4/5"), 2), Err(Errno::Dquot));
    files.create_folder(ROOT, "out/side", 2).unwrap();
    assert_eq!(files.rename((ROOT, "out/1"), (ROOT, "out/side/1"), 2), Err(Errno::Dquot), "4 would go too deep");
    assert_eq!(files.rename((ROOT, "out/1/2/3"), (ROOT, "out/side/3"), 2), Ok(()), "no deeper than it was");
    assert_eq!(files.rename((ROOT, "out/1"), (ROOT, "out/side/3/1"), 2), Ok(()), "2 is the fourth name now");
}

#[test]
fn f07_dots_lead_nowhere_else() {
    let (_host, mut files) = granted();
    let data = files.stat_at(ROOT, "data").unwrap();
    for path in ["data/.", "data/sub/..", "data/./sub/../../data", "work/../data", "data/../out/../data/sub/.."] {
        assert_eq!(files.stat_at(ROOT, path), Ok(data), "{path}");
    }
    let work = files.stat(WORK);
    for path in ["data/../work", "data/sub/../../work", "out/../../../work"] {
        assert_eq!(files.stat_at(ROOT, path), work, "{path}");
    }
    for path in ["data/../secret", "data/sub/../../secret", "data/../in/a", "data/..a", "data/sub/../../../../secret"] {
        assert_eq!(text(&mut files, path), Err(Errno::Noent), "{path}");
        assert!(matches!(put(&mut files, path, "x"), Err(Errno::Rofs | Errno::Noent)), "{path}");
    }
    let sub = files.open(ROOT, "data/sub", FOLDER, 2).unwrap();
    assert_eq!(files.stat_at(sub, ".."), Ok(data));
    assert_eq!(files.stat_at(sub, "../../work"), work);
    assert_eq!(files.rename((ROOT, "out/.."), (ROOT, "out/x"), 2), Err(Errno::Inval));
    assert_eq!(files.unlink(ROOT, "out/..", 2), Err(Errno::Isdir));
}

/// Each `..` costs as many names as it lies deep, and one call looks up 4,096 of them.
#[test]
fn dots_of_one_call_are_bounded() {
    let (host, mut files) = granted();
    let deep = "x/".repeat(20);
    std::fs::create_dir_all(host.path().join("in").join(&deep)).unwrap();
    let stat = files.stat_at(ROOT, &format!("data/{deep}"));
    let walk = |pairs: usize| format!("data/{deep}{}", "../x/".repeat(pairs));
    assert_eq!(files.stat_at(ROOT, &walk(190)), stat);
    assert_eq!(files.stat_at(ROOT, &walk(230)), Err(Errno::Loop));
    assert_eq!(text(&mut files, &format!("data/{}a", "sub/../".repeat(500))), Ok("0123456789".into()));
    assert_eq!(text(&mut files, &format!("data/sub{}/b", "/.".repeat(1000))), Ok("b".into()), "a dot costs nothing");
}

/// Puts `make(path)` where `path` was, by one rename.
#[cfg(unix)]
fn swap(path: &Path, make: impl Fn(&Path)) {
    let beside = path.with_extension("swapped");
    make(&beside);
    std::fs::rename(&beside, path).unwrap();
}

#[cfg(unix)]
#[test]
fn f05_links_are_not_there_whatever_is_done_with_them() {
    use std::os::unix::fs::symlink;
    let (host, mut files) = granted();
    for (folder, given) in [("in", "data"), ("out", "out")] {
        let folder = host.path().join(folder);
        std::fs::create_dir_all(folder.join("real")).unwrap();
        std::fs::write(folder.join("real/f"), "f").unwrap();
        symlink(host.path().join("secret"), folder.join("absolute")).unwrap();
        symlink("../secret", folder.join("relative")).unwrap();
        symlink("real/f", folder.join("inside")).unwrap();
        symlink("nothing", folder.join("dangling")).unwrap();
        symlink(host.path(), folder.join("above")).unwrap();
        symlink("real", folder.join("folder")).unwrap();
        let listed = names(&mut files, given).unwrap();
        assert!(listed.contains(&"real".to_owned()), "{listed:?}");
        for link in ["absolute", "relative", "inside", "dangling", "above", "folder"] {
            assert!(!listed.contains(&link.to_owned()), "{listed:?}");
            let path = format!("{given}/{link}");
            assert_eq!(files.stat_at(ROOT, &path), Err(Errno::Noent), "{path}");
            assert_eq!(text(&mut files, &path), Err(Errno::Noent), "{path}");
            assert_eq!(files.unlink(ROOT, &path, 2), Err(Errno::Noent), "{path}");
            assert_eq!(
                files.remove_folder(ROOT, &path, 2),
                Err(if given == "out" { Errno::Noent } else { Errno::Rofs })
            );
            let taken = Err(if given == "out" { Errno::Exist } else { Errno::Rofs });
            assert_eq!(put(&mut files, &path, "x"), taken, "{path}");
            assert_eq!(files.create_folder(ROOT, &path, 2), taken, "{path}");
            assert_eq!(files.rename((ROOT, &path), (ROOT, &format!("{given}/moved")), 2).err().map(|_| ()), Some(()));
            assert_eq!(files.rename((ROOT, &format!("{given}/real/f")), (ROOT, &path), 2), taken, "{path}");
        }
        for path in ["above/secret", "above/in/a", "folder/f", "real/../above/secret"] {
            assert_eq!(text(&mut files, &format!("{given}/{path}")), Err(Errno::Noent), "{path}");
            assert!(put(&mut files, &format!("{given}/{path}"), "x").is_err(), "{path}");
        }
    }
    assert_eq!(std::fs::read_to_string(host.path().join("secret")).unwrap(), "secret");
}

#[cfg(unix)]
#[test]
fn f05_a_file_with_other_names_is_read_and_not_written() {
    let (host, mut files) = granted();
    for folder in ["in", "out"] {
        std::fs::hard_link(host.path().join("secret"), host.path().join(folder).join("also")).unwrap();
    }
    assert_eq!(
        (text(&mut files, "data/also"), text(&mut files, "out/also")),
        (Ok("secret".into()), Ok("secret".into()))
    );
    for how in [WRITE, BOTH, APPEND, OpenHow { truncate: true, ..READ }] {
        assert_eq!(files.open(ROOT, "out/also", how, 2), Err(Errno::Perm), "{how:?}");
    }
    let touched = Stamp { accessed: Some(1), modified: Some(1) };
    assert_eq!(files.set_times_at(ROOT, "out/also", touched, 2), Err(Errno::Perm));
    assert_eq!(files.unlink(ROOT, "out/also", 2), Ok(()), "a name can go");
    assert_eq!(std::fs::read_to_string(host.path().join("secret")).unwrap(), "secret");
}

#[cfg(target_os = "linux")]
fn pipe(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn f05_pipes_and_sockets_are_not_there() {
    let (host, mut files) = granted();
    for (folder, given) in [("in", "data"), ("out", "out")] {
        pipe(&host.path().join(folder).join("pipe"));
        let _socket = std::os::unix::net::UnixListener::bind(host.path().join(folder).join("socket")).unwrap();
        for name in ["pipe", "socket"] {
            let path = format!("{given}/{name}");
            assert_eq!(files.stat_at(ROOT, &path), Err(Errno::Noent), "{path}");
            assert_eq!(text(&mut files, &path), Err(Errno::Noent), "{path}");
            assert!(put(&mut files, &path, "x").is_err(), "{path}");
            assert!(!names(&mut files, given).unwrap().contains(&name.to_owned()));
        }
    }
}

/// Others put links, pipes, folders and files in each other's places while the guest reads and writes: it only ever gets
/// to see and to change what is a regular file in the folder.
#[cfg(target_os = "linux")]
#[test]
fn f12_nothing_that_is_swapped_meanwhile_leads_out() {
    use std::os::unix::fs::symlink;
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    println!("seed {seed}");
    let (host, mut files) = granted();
    let (out, outside) = (host.path().join("out"), host.path().join("outside"));
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "secret").unwrap();
    for kind in ["real", "spare"] {
        std::fs::create_dir(out.join(kind)).unwrap();
        std::fs::write(out.join(kind).join("f"), "mine").unwrap();
    }
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let (file, folder) = (out.join("f"), out.join("d"));
            let away = out.join("away");
            while !over.load(Ordering::Relaxed) {
                match rng.next_u32() % 5 {
                    0 => swap(&file, |at| std::fs::write(at, "mine").unwrap()),
                    1 => swap(&file, |at| symlink(host.path().join("secret"), at).unwrap()),
                    2 => swap(&file, pipe),
                    3 => {
                        // A folder is no file to rename over: the link goes, then the folder comes.
                        std::fs::remove_file(&folder).ok();
                        std::fs::rename(out.join("real"), &folder).ok();
                    }
                    _ => {
                        std::fs::rename(&folder, out.join("real")).ok();
                        symlink(&outside, &away).ok();
                        std::fs::rename(&away, &folder).ok();
                    }
                }
            }
        });
        let mut rng = ChaCha8Rng::seed_from_u64(!seed);
        let mut read = 0;
        for _ in 0..3000 {
            let path = if rng.next_u32().is_multiple_of(2) { "out/f" } else { "out/d/f" };
            match rng.next_u32() % 4 {
                0 => drop(put(&mut files, path, "mine")),
                1 => drop(files.stat_at(ROOT, path).map(|stat| assert!(stat.bytes <= 4, "{path}"))),
                _ => {
                    if let Ok(text) = text(&mut files, path) {
                        assert!(text.is_empty() || text == "mine", "{path}: {text}");
                        read += 1;
                    }
                }
            }
        }
        over.store(true, Ordering::Relaxed);
        println!("{read} reads found a file");
    });
    assert_eq!(std::fs::read_to_string(host.path().join("secret")).unwrap(), "secret");
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "secret");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "nothing was made there");
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_deleted_meanwhile_is_empty() {
    let (host, mut files) = granted();
    let (sub, open) = (files.open(ROOT, "data/sub", FOLDER, 2).unwrap(), files.open(ROOT, "data/a", READ, 2).unwrap());
    std::fs::remove_dir_all(host.path().join("in")).unwrap();
    std::fs::create_dir_all(host.path().join("in/sub")).unwrap();
    std::fs::write(host.path().join("in/other"), "another folder of the same name").unwrap();
    assert_eq!((names(&mut files, "data"), text(&mut files, "data/other")), (Ok(vec![]), Err(Errno::Noent)));
    assert_eq!(files.stat_at(sub, "b"), Err(Errno::Noent));
    let mut bytes = [0; 10];
    assert_eq!((files.read(open, &mut bytes), &bytes), (Ok(10), b"0123456789"), "what is open stays");
    std::fs::remove_dir_all(host.path().join("out")).unwrap();
    assert_eq!(
        (put(&mut files, "out/f", "x"), files.create_folder(ROOT, "out/d", 2)),
        (Err(Errno::Noent), Err(Errno::Noent))
    );
    assert!(files.stat_at(ROOT, "out").is_ok_and(|stat| stat.kind == Kind::Folder));
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_kernel_shows_of_itself_is_not_there() {
    let mut files = with(&[Mount::read_only("/", "/host").unwrap()]);
    for path in ["host/proc/self/environ", "host/proc/self/mem", "host/proc/kmsg"] {
        assert_eq!(text(&mut files, path), Err(Errno::Acces), "{path}");
    }
    assert_eq!(names(&mut files, "host/proc"), Err(Errno::Acces));
    let error = Mount::read_only("/proc/self", "/data").unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("the kernel shows itself"), "{error}");
}

#[test]
fn names_that_are_odd_survive_and_those_that_are_none_do_not() {
    let (host, mut files) = granted();
    let long = "x".repeat(255);
    for name in ["a b", "größe", "-rf", "\u{202e}txt", "....", "~", "new\nline", "tab\t", "a\\b", "c:d", "con", &long]
    {
        let path = format!("out/{name}");
        // Not every host takes each of them.
        if cfg!(windows) && put(&mut files, &path, "x").is_err() {
            continue;
        }
        assert_eq!(put(&mut files, &path, "x"), Ok(()), "{name:?}");
        assert_eq!(names(&mut files, "out"), Ok(vec![name.to_owned()]));
        assert_eq!(std::fs::read(host.path().join("out").join(name)).unwrap(), b"x", "{name:?}");
        files.unlink(ROOT, &path, 2).unwrap();
    }
    assert_eq!(put(&mut files, &format!("out/{long}x"), "x"), Err(Errno::Nametoolong));
    assert_eq!(put(&mut files, "out/a\0b", "x"), Err(Errno::Inval));
    assert_eq!(std::fs::read_dir(host.path().join("out")).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_text_are_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let (host, mut files) = granted();
    std::fs::write(host.path().join("in").join(std::ffi::OsStr::from_bytes(b"\xff\xfe")), "x").unwrap();
    assert_eq!(names(&mut files, "data"), Ok(vec!["a".into(), "sub".into()]));
}

#[test]
fn what_is_open_elsewhere_is_dead_where_it_was_not_given() {
    let (host, mut files) = granted();
    put(&mut files, "out/f", "text").unwrap();
    let read = files.open(ROOT, "data/a", READ, 2).unwrap();
    let write = files.open(ROOT, "out/f", APPEND, 2).unwrap();
    let folder = files.open(ROOT, "data/sub", FOLDER, 2).unwrap();
    files.seek(read, 4, Whence::Start).unwrap();
    let ends = |files: &mut Files| {
        let mut bytes = [0; 2];
        let read = files.read(read, &mut bytes).map(|read| bytes[..read].to_vec());
        (read, files.write(write, b"!", 3).is_ok(), files.stat_at(folder, "b").is_ok())
    };
    let saved = files.opened();
    // The same folders for another session: what is open stays open.
    let again = [Mount::read_only(host.path().join("in"), "/data"), Mount::writable(host.path().join("out"), "/out")]
        .map(Result::unwrap);
    let mut elsewhere = files.clone();
    elsewhere.see(&with(&again.clone()).mounts);
    assert_eq!(ends(&mut elsewhere), (Ok(b"45".to_vec()), true, true));
    // Less: no writing, another folder.
    let less = [Mount::read_only(host.path().join("out"), "/out"), Mount::read_only(host.path().join("out"), "/data")];
    let mut elsewhere = files.clone();
    elsewhere.see(&with(&less.map(Result::unwrap)).mounts);
    assert_eq!(ends(&mut elsewhere), (Err(Errno::Io), false, false));
    assert_eq!((elsewhere.stat(read), elsewhere.close(read)), (Err(Errno::Io), Ok(())));
    // Nothing, and then all of it again.
    let mut elsewhere = files.clone();
    elsewhere.see(&with(&[]).mounts);
    assert_eq!(elsewhere.opened(), saved, "what is dead is saved as what it was");
    assert_eq!(ends(&mut elsewhere), (Err(Errno::Io), false, false));
    elsewhere.see(&with(&again).mounts);
    assert_eq!(ends(&mut elsewhere), (Ok(b"45".to_vec()), true, true));
    assert_eq!(std::fs::read_to_string(host.path().join("out/f")).unwrap(), "text!!");
}

/// Going deeper, a folder must be looked through whole; where that would take too long it stays.
#[test]
fn a_folder_with_too_much_in_it_goes_no_deeper() {
    let (host, mut files) = granted();
    let many = host.path().join("out/many");
    std::fs::create_dir_all(host.path().join("out/below")).unwrap();
    std::fs::create_dir(&many).unwrap();
    for at in 0..super::MOST_MOVED {
        std::fs::write(many.join(at.to_string()), "").unwrap();
    }
    assert_eq!(files.rename((ROOT, "out/many"), (ROOT, "out/below/many"), 2), Err(Errno::Overflow));
    assert_eq!(files.rename((ROOT, "out/many"), (ROOT, "out/other"), 2), Ok(()), "as deep as before");
    std::fs::remove_file(host.path().join("out/other/0")).unwrap();
    assert_eq!(files.rename((ROOT, "out/other"), (ROOT, "out/below/many"), 2), Ok(()));
}

#[test]
fn a_folder_with_too_much_in_it_is_not_listed_by_half() {
    let (host, _files) = granted();
    for name in ["b", "c", "dddd"] {
        std::fs::write(host.path().join("in").join(name), "").unwrap();
    }
    let folder = Live::root(&Mount::read_only(host.path().join("in"), "/data").unwrap());
    let listed = |entries, names| folder.list_within(entries, names).map(|list| list.len());
    assert_eq!((listed(5, 10), listed(4, 10), listed(5, 9)), (Ok(5), Err(Errno::Overflow), Err(Errno::Overflow)));
    assert!(folder.lookup("dddd").is_ok());
}
