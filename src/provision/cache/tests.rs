//! Builders that fail, die, wait and race; folders that were tampered with; pruning.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, RwLockReadGuard, mpsc};

use super::super::testing::{while_forking, while_nobody_forks};
use super::*;

const KIND: &str = "images";
const KEY: &str = "abc-1";

struct Place {
    cache: Cache,
    _above: TempDir,
    _quiet: Option<RwLockReadGuard<'static, ()>>,
}

impl Place {
    fn new() -> Self {
        Self { _quiet: Some(while_nobody_forks()), ..Self::among_forks() }
    }

    fn among_forks() -> Self {
        let above = tempfile::tempdir().unwrap();
        Self { cache: Cache::open(&above.path().join("cache")).unwrap(), _above: above, _quiet: None }
    }

    fn build(&self, key: &str, text: &str) -> Result<Folder> {
        self.cache.folder(KIND, key, "it", &Progress::default(), &Cancel::new(), |staging| fill(staging, text))
    }

    /// What must be there without being built.
    #[track_caller]
    fn found(&self, key: &str) -> Folder {
        self.cache.folder(KIND, key, "it", &Progress::default(), &Cancel::new(), |_| panic!("built again")).unwrap()
    }

    fn staged(&self) -> Vec<String> {
        names_in(&self.cache.root.join(STAGING)).unwrap()
    }

    fn content(&self, key: &str) -> String {
        fs::read_to_string(self.cache.place(KIND, key).join("file")).unwrap()
    }
}

fn fill(staging: &Path, text: &str) -> Result<()> {
    fs::write(staging.join("file"), text).or_internal("writing")
}

/// A progress that keeps the notes, and does `then` at each.
fn noting(then: impl Fn(&str) + Send + Sync + 'static) -> Progress {
    Progress::new(move |step| {
        if let Step::Note { text } = step {
            then(text);
        }
    })
}

#[test]
fn a_folder_is_built_once_and_found_after() {
    let place = Place::new();
    assert_eq!(place.cache.find(KIND, KEY), None);
    let built = place.build(KEY, "text").unwrap();
    assert_eq!(built.bytes(), 4);
    assert_eq!(place.found(KEY), built);
    assert_eq!(place.cache.find(KIND, KEY), Some(built));
    assert_eq!(place.staged(), [""; 0]);
}

#[test]
fn a_failed_build_leaves_nothing() {
    let place = Place::new();
    let failed = place.cache.folder(KIND, KEY, "it", &Progress::default(), &Cancel::new(), |staging| {
        fill(staging, "half")?;
        Err(Error::internal("the disk is full"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
    assert_eq!(place.cache.find(KIND, KEY), None);
    assert_eq!(place.staged(), [""; 0]);
    place.build(KEY, "whole").unwrap();
    assert_eq!(place.content(KEY), "whole");
}

#[test]
fn a_cancel_during_or_after_the_build_leaves_nothing() {
    let place = Place::new();
    let cancel = Cancel::new();
    let cancelled = place.cache.folder(KIND, KEY, "it", &Progress::default(), &cancel, |staging| {
        cancel.cancel();
        fill(staging, "whole, but nobody waits for it any more")
    });
    assert!(cancelled.unwrap_err().is_cancelled());
    assert_eq!(place.cache.find(KIND, KEY), None);
    assert_eq!(place.staged(), [""; 0]);
}

#[test]
fn a_damaged_folder_is_built_again_and_the_reason_told() {
    let place = Place::new();
    place.build(KEY, "good").unwrap();
    fs::write(place.cache.place(KIND, KEY).join("file"), "evil").unwrap();
    assert_eq!(place.cache.find(KIND, KEY), None);

    let (send, notes) = mpsc::channel();
    let progress = noting(move |text| send.send(text.to_string()).unwrap());
    place.cache.folder(KIND, KEY, "the image", &progress, &Cancel::new(), |staging| fill(staging, "good")).unwrap();
    assert_eq!(place.content(KEY), "good");
    let note = notes.recv().unwrap();
    assert!(note.contains("the image") && note.contains("file was changed"), "{note}");
    assert_eq!(place.staged(), [""; 0]);
}

#[test]
fn a_foreign_or_writable_folder_is_built_again() {
    let place = Place::new();
    let file = place.build(KEY, "good").unwrap().path().join("file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    place.build(KEY, "anew").unwrap();
    assert_eq!(place.content(KEY), "anew");
    if chown(&file, Some(1234), None).is_ok() {
        place.build(KEY, "once more").unwrap();
        assert_eq!(place.content(KEY), "once more");
    }
}

#[test]
fn a_folder_without_a_seal_is_not_trusted() {
    let place = Place::new();
    fs::create_dir_all(place.cache.place(KIND, KEY)).unwrap();
    fill(&place.cache.place(KIND, KEY), "planted").unwrap();
    assert_eq!(place.cache.find(KIND, KEY), None);
    place.build(KEY, "built").unwrap();
    assert_eq!(place.content(KEY), "built");
}

#[test]
fn a_sealed_folder_under_another_name_is_not_trusted() {
    let place = Place::new();
    place.build("old", "old").unwrap();
    fs::rename(place.cache.place(KIND, "old"), place.cache.place(KIND, "new")).unwrap();
    place.build("new", "new").unwrap();
    assert_eq!(place.content("new"), "new");
}

#[test]
fn what_a_dead_builder_left_is_swept_and_what_a_live_one_builds_is_not() {
    let place = Place::new();
    for name in [staging_prefix(KIND, KEY), staging_prefix(KIND, "other"), staging_prefix(KIND, "alive")] {
        let left = place.cache.root.join(STAGING).join(format!("{name}xyz"));
        fs::create_dir(&left).unwrap();
        fill(&left, "half").unwrap();
    }
    fs::write(place.cache.root.join(STAGING).join(".seal-abc"), "half").unwrap();
    let _alive = place.cache.try_lock(KIND, "alive").unwrap().unwrap();
    place.build(KEY, "whole").unwrap();
    assert_eq!(place.staged(), [format!("{}xyz", staging_prefix(KIND, "alive"))]);
}

#[test]
fn the_second_builder_waits_says_so_and_uses_what_the_first_built() {
    let place = Place::new();
    let (waits, waiting) = mpsc::channel();
    let (building, builds) = mpsc::channel();
    let cache = &place.cache;
    std::thread::scope(|scope| {
        let first = scope.spawn(move || {
            cache.folder(KIND, KEY, "it", &Progress::default(), &Cancel::new(), |staging| {
                building.send(()).unwrap();
                let note: String = waiting.recv().unwrap();
                assert_eq!(note, "waiting for another process that is building it");
                fill(staging, "by the first")
            })
        });
        builds.recv().unwrap();
        let progress = noting(move |text| waits.send(text.to_string()).unwrap());
        let second = place.cache.folder(KIND, KEY, "it", &progress, &Cancel::new(), |_| panic!("built twice"));
        assert_eq!(second.unwrap(), first.join().unwrap().unwrap());
    });
}

#[test]
fn a_waiting_builder_can_be_cancelled() {
    let place = Place::new();
    let _busy = place.cache.try_lock(KIND, KEY).unwrap().unwrap();
    let cancel = Cancel::new();
    let handle = cancel.clone();
    let progress = noting(move |_| handle.cancel());
    let waited = place.cache.folder(KIND, KEY, "it", &progress, &cancel, |_| panic!("the lock is taken"));
    assert!(waited.unwrap_err().is_cancelled());
}

#[test]
fn of_many_at_once_one_builds() {
    let place = Place::new();
    let builds = AtomicUsize::new(0);
    let folders = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let cache = Cache::open(place.cache.path()).unwrap();
                let build = |staging: &Path| {
                    builds.fetch_add(1, Ordering::SeqCst);
                    fill(staging, "text")
                };
                let built = cache.folder(KIND, KEY, "it", &Progress::default(), &Cancel::new(), build).unwrap();
                folders.lock().unwrap().push(built);
            });
        }
    });
    assert_eq!(builds.into_inner(), 1);
    let folders = folders.into_inner().unwrap();
    assert_eq!(folders.len(), 8);
    assert!(folders.iter().all(|folder| *folder == folders[0]));
}

const CACHE_OF_THE_DOOMED: &str = "SLM_TEST_CACHE_OF_THE_DOOMED";

/// Not a test: the process that [`a_killed_builder_leaves_nothing_that_is_trusted`] starts and kills.
#[test]
#[ignore = "runs until it is killed"]
fn doomed() {
    let Some(path) = std::env::var_os(CACHE_OF_THE_DOOMED) else { return };
    let cache = Cache::open(Path::new(&path)).unwrap();
    let _ = cache.folder(KIND, KEY, "it", &Progress::default(), &Cancel::new(), |staging| {
        fill(staging, "half")?;
        let mut out = std::io::stdout();
        writeln!(out, "\nhalf built").unwrap();
        out.flush().unwrap();
        loop {
            std::thread::park();
        }
    });
}

#[test]
fn a_killed_builder_leaves_nothing_that_is_trusted() {
    let _forking = while_forking();
    let place = Place::among_forks();
    let mut doomed = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "provision::cache::tests::doomed", "--ignored", "--nocapture"])
        .env(CACHE_OF_THE_DOOMED, place.cache.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(doomed.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "half built"), "the other process did not begin");
    assert!(place.cache.try_lock(KIND, KEY).unwrap().is_none(), "another process holds the lock");

    // While it lives this one waits; its death frees the lock.
    let doomed = Mutex::new(doomed);
    let progress = noting(move |_| {
        let mut doomed = doomed.lock().unwrap();
        doomed.kill().unwrap();
        doomed.wait().unwrap();
    });
    place.cache.folder(KIND, KEY, "it", &progress, &Cancel::new(), |staging| fill(staging, "whole")).unwrap();
    assert_eq!(place.content(KEY), "whole");
    assert_eq!(place.staged(), [""; 0]);
}

#[test]
fn pruning_removes_our_own_folders_that_nobody_wants_and_nothing_else() {
    let place = Place::new();
    for key in ["kept", "old", "busy"] {
        place.build(key, key).unwrap();
    }
    let foreign = place.cache.root.join("holiday").join("photos");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("beach.jpg"), "sun").unwrap();
    fs::write(place.cache.root.join("notes.txt"), "mine").unwrap();
    let _busy = place.cache.try_lock(KIND, "busy").unwrap().unwrap();

    let removed = place.cache.prune(|kind, key| (kind, key) == (KIND, "kept")).unwrap();
    assert_eq!(removed.len(), 1);
    assert_eq!(removed[0].0, place.cache.place(KIND, "old"));
    assert!(removed[0].1 > 3, "the file and its seal");
    place.found("kept");
    place.found("busy");
    assert!(!place.cache.place(KIND, "old").exists());
    assert!(foreign.join("beach.jpg").exists() && place.cache.root.join("notes.txt").exists());
    assert_eq!(place.staged(), [""; 0]);
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_cache_that_is_new_or_was_empty_is_closed_to_others_and_may_be_reached_through_a_link() {
    let above = tempfile::tempdir().unwrap();
    let loose = above.path().join("loose");
    fs::create_dir(&loose).unwrap();
    set_mode(&loose, 0o777);
    symlink(&loose, above.path().join("link")).unwrap();
    let cache = Cache::open(&above.path().join("link")).unwrap();
    assert_eq!(cache.path(), loose.canonicalize().unwrap());
    let new = above.path().join("deep/new");
    Cache::open(&new).unwrap();
    for folder in [loose, new] {
        assert_eq!(mode(&folder), 0o700);
        assert!(folder.join("CACHEDIR.TAG").is_file());
    }
}

#[test]
fn a_folder_that_held_other_things_keeps_its_mode_and_gets_no_tag() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join(".profile"), "mine").unwrap();
    fs::create_dir_all(home.path().join("locks/of/mine")).unwrap();
    for path in [home.path().to_path_buf(), home.path().join("locks")] {
        set_mode(&path, 0o755);
    }
    let cache = Cache::open(home.path()).unwrap();
    cache.folder(KIND, KEY, "it", &Progress::default(), &Cancel::new(), |staging| fill(staging, "text")).unwrap();
    assert_eq!((mode(home.path()), mode(&home.path().join("locks"))), (0o755, 0o755));
    assert!(!home.path().join("CACHEDIR.TAG").exists());
    for folder in [STAGING, KIND] {
        assert_eq!(mode(&home.path().join(folder)), 0o700, "{folder}");
    }
}

#[test]
fn a_folder_that_others_can_write_is_refused_with_advice_and_left_as_it_was() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("something"), "").unwrap();
    set_mode(home.path(), 0o775);
    for refused in [Cache::open(home.path()), Cache::inspect(home.path())] {
        let error = refused.unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains("can be written by other users"), "{error:?}");
        assert!(error.advice().unwrap().contains("SLM_CODE_INTERPRETER_CACHE_DIR"), "{error:?}");
    }
    assert_eq!((mode(home.path()), names_in(home.path()).unwrap().len()), (0o775, 1));
}

#[test]
fn a_look_finds_what_is_there_and_changes_nothing() {
    let place = Place::new();
    let nothing = place.cache.path().join("nowhere");
    assert_eq!(Cache::inspect(&nothing).unwrap().find(KIND, KEY), None);
    assert!(!nothing.exists());

    let file = place.build(KEY, "text").unwrap().path().join("file");
    let seal = place.cache.place(KIND, KEY).join(".seal");
    let before = fs::read(&seal).unwrap();
    // The same content in another file: its fingerprint could be noted anew.
    fs::copy(&file, place.cache.path().join("copy")).unwrap();
    set_mode(&place.cache.path().join("copy"), 0o600);
    fs::rename(place.cache.path().join("copy"), &file).unwrap();
    assert!(Cache::inspect(place.cache.path()).unwrap().find(KIND, KEY).is_some());
    assert_eq!(fs::read(&seal).unwrap(), before);
    place.found(KEY);
    assert_ne!(fs::read(&seal).unwrap(), before, "who may note it does");
}

#[test]
fn a_cache_of_another_user_is_refused_with_advice() {
    let above = tempfile::tempdir().unwrap();
    let theirs = above.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    symlink(&theirs, above.path().join("link")).unwrap();
    if chown(&theirs, Some(1234), None).is_err() {
        return; // Only root can give folders away.
    }
    let mode = theirs.metadata().unwrap().permissions().mode() & 0o777;
    for path in [theirs, above.path().join("link")] {
        let error = Cache::open(&path).unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains("another user (id 1234)"), "{error:?}");
        assert!(error.advice().unwrap().contains("SLM_CODE_INTERPRETER_CACHE_DIR"), "{error:?}");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "left as it was");
    }
}

#[test]
fn names_that_would_lead_elsewhere_are_refused() {
    let place = Place::new();
    for bad in ["", "..", ".hidden", "a/b", "a+b", "a b", &"x".repeat(129)] {
        assert!(place.build(bad, "").is_err(), "{bad:?}");
        assert_eq!(place.cache.find(bad, "key"), None);
    }
}
