//! Choosing and keeping packages with the real pip, whose whole index is a folder that the test fills.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::RwLockWriteGuard;

use tempfile::TempDir;

use super::super::pip::Pip;
use super::super::testing::{files_in, package, while_forking};
use super::inside::Inside;
use super::store::Chosen;
use super::*;
use crate::provision::Cache;
use crate::{Cancel, Config, Error, Progress, Result};

/// An index, a cache, and the interpreter's own package: numpy 2.5.2.
struct Place {
    above: TempDir,
    config: Config,
    progress: Progress,
    cancel: Cancel,
    _forking: RwLockWriteGuard<'static, ()>,
}

impl Place {
    fn new() -> Self {
        let forking = while_forking();
        let above = tempfile::tempdir().unwrap();
        fs::create_dir(above.path().join("index")).unwrap();
        let over = crate::Overrides { cache_dir: Some(above.path().join("cache")), ..Default::default() };
        let config = Config { offline: false, ..Config::resolve(over).unwrap() };
        Cache::open(&config.cache_dir).unwrap();
        Self { above, config, progress: Progress::default(), cancel: Cancel::new(), _forking: forking }
    }

    fn index(&self) -> PathBuf {
        self.above.path().join("index")
    }

    fn offer(&self, name: &str, version: &str, requires: &[&str]) {
        let module = format!("{name}.py");
        let bytes = package(name, version, requires, &[(&module, b"import sys\n")]);
        fs::write(self.index().join(format!("{name}-{version}-py3-none-any.whl")), bytes).unwrap();
    }

    /// A source package that builds itself, and leaves `ran` behind when anything of it runs.
    fn offer_source(&self, name: &str, folder: &Path) -> PathBuf {
        let mut archive = Vec::new();
        let script = format!("open({:?}, 'w')\n", self.ran());
        let info = format!("Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n");
        let project = "[build-system]\nrequires = []\nbuild-backend = \"backend\"\nbackend-path = [\".\"]\n";
        for (file, text) in
            [("setup.py", script.as_str()), ("backend.py", &script), ("pyproject.toml", project), ("PKG-INFO", &info)]
        {
            let mut header = [0_u8; 512];
            header[..name.len() + file.len() + 5].copy_from_slice(format!("{name}-1.0/{file}").as_bytes());
            header[100..107].copy_from_slice(b"0000644");
            header[124..135].copy_from_slice(format!("{:011o}", text.len()).as_bytes());
            header[136..147].copy_from_slice(b"00000000000");
            header[156] = b'0';
            header[257..263].copy_from_slice(b"ustar\0");
            header[148..156].fill(b' ');
            let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
            header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
            header[154] = 0;
            archive.extend(header);
            archive.extend(text.as_bytes());
            archive.resize(archive.len().next_multiple_of(512), 0);
        }
        archive.extend([0; 1024]);
        let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut zipped, &archive).unwrap();
        let path = folder.join(format!("{name}-1.0.tar.gz"));
        fs::write(&path, zipped.finish().unwrap()).unwrap();
        path
    }

    fn ran(&self) -> PathBuf {
        self.above.path().join("ran")
    }

    /// pip with the index as its only source, set up as a user would.
    fn store(&self) -> Store<'_> {
        self.store_with(&[])
    }

    fn store_with(&self, settings: &[&str]) -> Store<'_> {
        let links = format!("PIP_FIND_LINKS={}", self.index().display());
        let python = [&["env", "PIP_NO_INDEX=1", &links][..], settings, &["python3"]].concat();
        self.store_by(Pip::with(&[&python]))
    }

    fn store_by(&self, pip: Pip) -> Store<'_> {
        let numpy = Inside::of("Name: numpy\nVersion: 2.5.2\n").unwrap();
        Store::open(&self.config, &self.progress, &self.cancel).unwrap().with(vec![numpy], pip)
    }

    fn choose(&self, request: &PackageRequest) -> Result<(Chosen, TempDir)> {
        let folder = tempfile::tempdir().unwrap();
        self.store().choose(request, &[], &folder.path().join("0")).map(|chosen| (chosen, folder))
    }

    /// As if everything that was chosen were needed.
    fn lock(&self, store: &Store<'_>, request: &PackageRequest) -> Result<Lock> {
        store.lock(request, |folder| store.keep(store.choose(request, &[], folder)?, |_| true))
    }

    #[track_caller]
    fn refused(&self, request: &str, message: &str) -> Error {
        let error = self.choose(&ask(request)).map(drop).unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains(message), "{error}");
        assert!(error.to_string().lines().count() + error.advice().unwrap().lines().count() <= 3, "{error:?}");
        error
    }
}

fn ask(packages: &str) -> PackageRequest {
    packages.split_whitespace().fold(PackageRequest::new(), |request, package| request.with(package).unwrap())
}

fn pins(lock: &Lock) -> Vec<String> {
    lock.pins.iter().map(|(name, pin)| format!("{name} {}", pin.version)).collect()
}

#[test]
fn a_request_becomes_a_lock_once_and_later_needs_neither_pip_nor_index() {
    let place = Place::new();
    place.offer("app", "2.0", &["dep>=1", "numpy", "windows; sys_platform == 'win32'", "old; python_version < '3.15'"]);
    place.offer("dep", "1.5", &[]);
    let (store, request) = (place.store(), ask("app"));
    let lock = place.lock(&store, &request).unwrap();
    assert_eq!(pins(&lock), ["app 2.0", "dep 1.5"], "what is inside is not fetched, markers are the guest's");
    place.offer("app", "3.0", &[]);
    fs::remove_dir_all(place.index()).unwrap();
    let elsewhere = place.store_by(Pip::with(&[&["/nowhere/python3"]]));
    let again = elsewhere.lock(&request, |_| panic!("it is locked")).unwrap();
    assert_eq!(again, lock);
    let wheels = elsewhere.wheels(&again, place.above.path()).unwrap();
    assert_eq!(wheels.len(), 2);
    let site =
        elsewhere.site(&request, &again, |_, site| elsewhere.unpack(&wheels, site, &mut Room::default())).unwrap();
    let files = files_in(&site.path().join(SITE));
    assert!(files.contains(&"app.py".into()) && files.contains(&"dep-1.5.dist-info/METADATA".into()), "{files:?}");
    assert_eq!(elsewhere.site(&request, &again, |_, _| panic!("it is there")).unwrap(), site);
    assert_eq!(files_in(&place.config.cache_dir.join("staging")), [""; 0]);
    // Pruning keeps what this version can use, and not what can be unpacked anew.
    let removed = Cache::open(&place.config.cache_dir).unwrap().prune(Store::keeps).unwrap();
    assert!(
        removed.len() == 2 && removed.iter().all(|(path, _)| path.parent().unwrap().ends_with("wheels")),
        "{removed:?}"
    );
    assert!(!Store::keeps("packages", "000000000000-x") && !Store::keeps("image", "x"));
}

#[test]
fn the_users_lock_gives_the_same_bytes_elsewhere_and_no_others() {
    let place = Place::new();
    place.offer("app", "1.0", &[]);
    let file = place.above.path().join("packages.lock");
    let request = ask("app").lock(&file);
    let lock = place.lock(&place.store(), &request).unwrap();
    assert!(fs::read_to_string(&file).unwrap().contains("app==1.0 --hash=sha256:"));
    // Another machine, with an index that has grown.
    place.offer("app", "2.0", &[]);
    fs::remove_dir_all(&place.config.cache_dir).unwrap();
    let store = place.store();
    for request in [&request, &PackageRequest::new().lock(&file)] {
        let obeyed = store.lock(request, |_| panic!("it is locked")).unwrap();
        assert_eq!((&obeyed, store.wheels(&obeyed, place.above.path()).unwrap().len()), (&lock, 1));
    }
    // One whose index serves other bytes under the same name.
    let other = package("app", "1.0", &[], &[("app.py", b"evil")]);
    fs::write(place.index().join("app-1.0-py3-none-any.whl"), other).unwrap();
    fs::remove_dir_all(&place.config.cache_dir).unwrap();
    let store = place.store();
    let error = store.wheels(&lock, place.above.path()).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("does not have the locked hash"), "{error}");
    assert_eq!(files_in(&place.config.cache_dir.join("staging")), [""; 0]);
    assert!(!place.config.cache_dir.join("wheels").exists());
}

#[test]
fn nothing_of_a_package_runs_on_this_machine() {
    let place = Place::new();
    let source = place.offer_source("evil", place.above.path());
    place.offer("app", "1.0", &[&format!("evil @ file://{}", source.display())]);
    place.refused("app", "would have to be built");
    assert!(!place.ran().exists(), "it ran");
    let source = place.offer_source("source", &place.index());
    let error = place.refused("source", "source is to be had as source only");
    assert!(error.advice().unwrap().contains("pip wheel"), "{error:?}");
    // Settings of the user's that ask for sources.
    let folder = tempfile::tempdir().unwrap();
    let store = place.store_with(&["PIP_NO_BINARY=:all:", "PIP_PREFER_BINARY=0"]);
    assert!(store.choose(&ask("source"), &[], folder.path()).is_err());
    assert!(!place.ran().exists(), "it ran");
    // The trap itself works: without the guard, pip runs it.
    let mut plain = std::process::Command::new("python3");
    plain.args(["-m", "pip", "download", "--no-deps", "--no-index", "--quiet", "-d"]).arg(folder.path()).arg(source);
    let _ = plain.stderr(std::process::Stdio::null()).status().unwrap();
    assert!(place.ran().exists(), "a test that cannot fail");
}

#[test]
fn what_cannot_run_inside_is_refused_by_name() {
    let place = Place::new();
    place.offer("app", "1.0", &["fast"]);
    let compiled = place.index().join("fast-1.0-cp313-cp313-manylinux_2_28_x86_64.whl");
    fs::write(compiled, package("fast", "1.0", &[], &[])).unwrap();
    place.refused("app", "fast holds compiled code (fast-1.0-cp313-cp313-manylinux_2_28_x86_64.whl)");
    place.refused("nosuch", "the package index knows no wheel of nosuch");
    place.refused("app==2.0", "no pure-Python version of app fits app==2.0; the newest are 1.0");
    place.refused("numpy<2", "numpy<2 was asked for, but numpy 2.5.2 is inside and stays");
    place.offer("wants", "1.0", &["numpy>3"]);
    place.refused("wants", "wants 1.0 depends on numpy>3, but numpy 2.5.2 is inside and stays");
    let lies = package("lies", "1.0", &[], &[("lies/_fast.cpython-315.so", b"\x7fELF")]);
    fs::write(place.index().join("lies-1.0-py3-none-any.whl"), lies).unwrap();
    let (store, request) = (place.store(), ask("lies"));
    let lock = place.lock(&store, &request).unwrap();
    let wheels = store.wheels(&lock, place.above.path()).unwrap();
    let built = store.site(&request, &lock, |_, site| store.unpack(&wheels, site, &mut Room::default()));
    let error = built.unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("lies-1.0.whl: it holds compiled code"), "{error}");
    assert!(!place.config.cache_dir.join("packages").exists(), "nothing half made is kept");
}

#[test]
fn hashes_of_a_requirements_file_are_obeyed() {
    let place = Place::new();
    place.offer("app", "1.0", &[]);
    let file = place.above.path().join("requirements.txt");
    fs::write(&file, format!("app --hash=sha256:{}\n", "0".repeat(64))).unwrap();
    let error = place.choose(&PackageRequest::new().with_requirements(&file).unwrap()).map(drop).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("has none of the hashes"), "{error}");
    // Nor does a choice that was made without them stand in for one.
    let store = place.store();
    let lock = place.lock(&store, &ask("app")).unwrap();
    assert!(place.lock(&store, &PackageRequest::new().with_requirements(&file).unwrap()).is_err());
    fs::write(&file, format!("app --hash=sha256:{}\n", lock.pins["app"].hashes[0])).unwrap();
    assert_eq!(place.lock(&store, &PackageRequest::new().with_requirements(&file).unwrap()).unwrap(), lock);
}

#[test]
fn offline_only_what_is_there_is_used() {
    let mut place = Place::new();
    place.offer("app", "1.0", &[]);
    let request = ask("app");
    let lock = place.lock(&place.store(), &request).unwrap();
    place.config.offline = true;
    let store = place.store();
    assert_eq!(place.lock(&store, &request).unwrap(), lock);
    assert_eq!(store.wheels(&lock, place.above.path()).unwrap().len(), 1);
    let error = place.lock(&store, &ask("app other")).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("working offline"), "{error}");
    fs::remove_dir_all(place.config.cache_dir.join("wheels")).unwrap();
    assert!(store.wheels(&lock, place.above.path()).unwrap_err().to_string().contains("app is not in the cache"));
}

#[test]
fn a_download_that_is_cut_short_leaves_nothing_behind() {
    let place = Place::new();
    let script = place.above.path().join("half");
    let half =
        r#"while [ $# -gt 0 ]; do [ "$1" = -d ] && out=$2; shift; done; echo PK > $out/app-1.0-py3-none-any.whl"#;
    for (end, told) in [("kill -9 $$", "signal"), ("echo 'ERROR: No space left' >&2; exit 1", "No space left")] {
        fs::write(&script, format!("{half}\n{end}\n")).unwrap();
        let store = place.store_by(Pip::with(&[&["sh", script.to_str().unwrap()]]));
        let error = place.lock(&store, &ask("app")).unwrap_err();
        assert!(error.is_unavailable() && error.to_string().contains(told), "{error}");
        for kind in ["package-locks", "wheels"] {
            assert!(!place.config.cache_dir.join(kind).exists(), "{kind}");
        }
        assert_eq!(files_in(&place.config.cache_dir.join("staging")), [""; 0]);
    }
    place.cancel.cancel();
    assert!(place.lock(&place.store(), &ask("app")).unwrap_err().is_cancelled());
}

#[test]
fn without_pip_the_advice_says_what_to_install() {
    let place = Place::new();
    let store = place.store_by(Pip::with(&[&["/nowhere/python3"], &["/nowhere/python"]]));
    let error = place.lock(&store, &ask("app")).unwrap_err();
    assert!(error.is_unavailable() && error.to_string().contains("not installed"), "{error}");
    assert!(error.advice().unwrap().contains("install Python 3 with pip"), "{error:?}");
}

#[test]
fn names_are_compared_as_the_index_does() {
    for (name, expected) in [("Foo.Bar__baz", "foo-bar-baz"), ("a--b", "a-b"), ("A", "a"), ("x_", "x")] {
        assert_eq!(normal(name), expected);
    }
    assert!(is_version("1!2.0.post1+local-1") && !is_version("") && !is_version("../1") && !is_version("1 2"));
}
