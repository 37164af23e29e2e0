//! Packages that the user names, through the built program and the library. The index is a folder of each test's own.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use slm_code_interpreter::{Cancel, Config, Overrides, PackageRequest, Packages, Progress, Python, SessionOptions};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::tool::{Done, finish, ready, tool};

/// A folder of wheels, and the program set up for it.
pub struct Index {
    folder: TempDir,
    /// Names that no other test has, so that the shared cache holds nothing for them.
    prefix: String,
}

impl Index {
    pub fn new() -> Self {
        ready();
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().file_name().unwrap().to_string_lossy().to_lowercase();
        let prefix: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        Self { folder, prefix: format!("t{prefix}") }
    }

    pub fn name(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A wheel whose package is called `name` behind the prefix, with these files below it.
    pub fn offer(&self, name: &str, version: &str, requires: &[&str], files: &[(&str, &str)]) {
        let name = self.name(name);
        let requires = requires.iter().fold(String::new(), |lines, line| lines + "Requires-Dist: " + line + "\n");
        let info = format!("{name}-{version}.dist-info");
        let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}");
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let mut put = |file: String, text: &str| {
            writer.start_file(file, SimpleFileOptions::default()).unwrap();
            writer.write_all(text.as_bytes()).unwrap();
        };
        files.iter().for_each(|(file, text)| put(format!("{name}/{file}"), text));
        put(format!("{info}/METADATA"), &metadata);
        put(
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        );
        put(format!("{info}/RECORD"), "");
        let bytes = writer.finish().unwrap().into_inner();
        fs::write(self.path(&format!("{name}-{version}-py3-none-any.whl")), bytes).unwrap();
    }

    /// The program, whose pip has this index alone.
    pub fn tool(&self, arguments: &[&str]) -> Command {
        let mut command = tool(arguments);
        command.env("PIP_NO_INDEX", "1").env("PIP_FIND_LINKS", self.folder.path());
        command
    }

    #[track_caller]
    fn run(&self, arguments: &[&str]) -> Done {
        finish(self.tool(arguments))
    }
}

/// The cache is everyone's: what the test has put there goes with it.
impl Drop for Index {
    fn drop(&mut self) {
        let Ok(config) = Config::resolve(Overrides::default()) else { return };
        for kind in ["packages", "package-locks", "wheels"] {
            for entry in fs::read_dir(config.cache_dir.join(kind)).into_iter().flatten().flatten() {
                if names(&entry.path(), 2).iter().any(|name| name.contains(&self.prefix)) {
                    let _ = fs::remove_dir_all(entry.path());
                }
            }
        }
    }
}

/// Names of files and folders, so deep, and the text of locks.
fn names(folder: &Path, depth: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.file_name().to_string_lossy().into_owned());
        match depth {
            _ if entry.file_name() == "lock.txt" => found.extend(fs::read_to_string(entry.path())),
            0 => {}
            _ => found.extend(names(&entry.path(), depth - 1)),
        }
    }
    found
}

#[test]
fn a_package_and_what_it_needs_are_imported_once_fetched() {
    let index = Index::new();
    let (app, dep) = (index.name("app"), index.name("dep"));
    let module =
        format!("import numpy, {dep}\ndef answer():\n    return {dep}.base * numpy.int64(2)\ndef fail():\n    1/0\n");
    let needs = [&format!("{dep}>=1")[..], "numpy>=2", "colorama; sys_platform == 'win32'"];
    index.offer("app", "1.2", &needs, &[("__init__.py", &module), ("data.txt", "inside"), ("sub/__init__.py", "")]);
    index.offer("dep", "1.0", &[], &[("__init__.py", "base = 21\n"), ("broken.py", "def (:\n")]);
    let code = format!(
        "import importlib.metadata as m, importlib.resources as r, {app}\n\
         print({app}.answer(), m.version('{app}'), r.files('{app}').joinpath('data.txt').read_text())\n\
         print({app}.__file__, {app}.__spec__.cached.endswith('.cpython-315.pyc'))\n\
         import os; print(os.path.exists({app}.__spec__.cached))"
    );
    let expected = format!("42 1.2 inside\n/usr/local/lib/packages/{app}/__init__.py True\nTrue\n");
    assert_eq!(index.run(&["exec", "--with", &app, "-c", &code]).exits(0).stdout, expected);
    // Neither pip nor the index is asked again.
    fs::remove_dir_all(index.folder.path()).unwrap();
    assert_eq!(index.run(&["exec", "--offline", "--with", &app, "-c", &code]).exits(0).stdout, expected);
    let failing = format!("import {app}\n{app}.fail()");
    let failed = index.run(&["exec", "--offline", "--with", &app, "-c", &failing]).exits(1);
    assert!(
        failed.stderr.contains(&format!("File \"/usr/local/lib/packages/{app}/__init__.py\", line 5, in fail")),
        "{}",
        failed.stderr
    );
    assert!(failed.stderr.contains("1/0"), "its source is shown: {}", failed.stderr);
    let listed = index.run(&["packages", "--offline", "--with", &app, "--json"]).exits(0).json();
    let row = |name: &str| listed.as_array().unwrap().iter().find(|row| row["name"] == name).cloned().unwrap();
    let expected = serde_json::json!({ "name": app, "version": "1.2", "place": "added" });
    assert_eq!((row(&app), row("numpy")["place"].clone()), (expected, Value::from("inside")));
    assert!(
        !index.run(&["exec", "-c", &format!("import {app}")]).exits(1).stdout.contains(&app),
        "other sessions have none"
    );
}

#[test]
fn packages_are_read_only_and_come_after_the_library_and_before_the_programs_files() {
    let index = Index::new();
    let app = index.name("app");
    index.offer("app", "1.0", &[], &[("__init__.py", "where = 'package'\n")]);
    let code = format!(
        "import sys\nopen('{app}.py', 'w').write('where = 1')\nimport {app}\nprint({app}.where, sys.path)\n\
         for write in (lambda: open('/usr/local/lib/packages/x', 'w'), lambda: open({app}.__file__, 'a')):\n\
         \x20   try: write(); print('written')\n    except OSError as error: print(error.errno == 69 or error.strerror)\n"
    );
    let done = index.run(&["exec", "--with", &app, "-c", &code]).exits(0);
    let lines: Vec<_> = done.stdout.lines().collect();
    assert_eq!(lines[0], "package ['/usr/local/lib/python315.zip', '/usr/local/lib/packages', '/work']");
    assert_eq!(lines.len(), 3, "{}", done.stdout);
    assert!(lines[1..].iter().all(|line| *line != "written"), "{}", done.stdout);
}

#[test]
fn a_lock_is_written_and_obeyed() {
    let index = Index::new();
    let (app, lock, wanted) = (index.name("app"), index.path("packages.lock"), index.path("wanted.txt"));
    let (lock, wanted) = (lock.to_str().unwrap(), wanted.to_str().unwrap());
    index.offer("app", "1.0", &[], &[("__init__.py", "")]);
    fs::write(wanted, format!("# ours\n{app}>=1\n")).unwrap();
    let code = format!("import importlib.metadata as m; print(m.version('{app}'))");
    let exec = |arguments: &[&str]| index.run(&[&["exec", "-c", &code][..], arguments].concat());
    assert_eq!(exec(&["--with-requirements", wanted, "--lock", lock]).exits(0).stdout, "1.0\n");
    let text = fs::read_to_string(lock).unwrap();
    assert!(text.contains(&format!("{app}==1.0 --hash=sha256:")), "{text}");
    index.offer("app", "2.0", &[], &[("__init__.py", "")]);
    assert_eq!(exec(&["--lock", lock]).exits(0).stdout, "1.0\n");
    let newer = exec(&["--lock", lock, "--with", &format!("{app}>=2")]).exits(69).stderr;
    assert!(newer.contains(&format!("{app}>=2 is asked for, and 1.0 is chosen")), "{newer}");
    let lacking = exec(&["--lock", lock, "--with", &index.name("other")]).exits(69).stderr;
    assert!(lacking.contains(&format!("the lock lacks {}", index.name("other"))), "{lacking}");
    assert_eq!(fs::read_to_string(lock).unwrap(), text);
    fs::write(lock, "--index-url https://h/\n").unwrap();
    assert!(exec(&["--lock", lock]).exits(2).stderr.contains("line 1: not the name"));
}

#[test]
fn wheels_that_lie_are_refused_in_three_lines() {
    let index = Index::new();
    let told = |package: &str| {
        let done = index.run(&["exec", "-c", "print('ran')", "--with", package]).exits(69);
        assert_eq!(done.stdout, "");
        let error: Vec<_> = done.stderr.lines().skip_while(|line| !line.starts_with("error: ")).collect();
        assert!((2..=3).contains(&error.len()), "{}", done.stderr);
        done.stderr
    };
    let (liar, address, code) = (index.name("liar"), index.name("address"), index.name("code"));
    index.offer("other", "1.0", &[], &[]);
    fs::rename(
        index.path(&format!("{}-1.0-py3-none-any.whl", index.name("other"))),
        index.path(&format!("{liar}-1.0-py3-none-any.whl")),
    )
    .unwrap();
    assert!(told(&liar).contains(&liar), "pip or the guest says which");
    let dep = index.name("dep");
    index.offer("dep", "1.0", &[], &[]);
    let url = format!("{dep} @ file://{}", index.path(&format!("{dep}-1.0-py3-none-any.whl")).display());
    index.offer("address", "1.0", &[&url], &[]);
    assert!(told(&address).contains("is an address"), "{}", told(&address));
    index.offer("code", "1.0", &[], &[("fast.cpython-315-wasm32-wasi.so", "\0asm")]);
    assert!(told(&code).contains("it holds compiled code"));
    let usage = index.run(&["exec", "-c", "1", "--with", "git+https://h/x"]).exits(2).stderr;
    assert!(usage.contains("not the name of a package"), "{usage}");
}

#[test]
fn a_saved_session_asks_for_its_packages() {
    let index = Index::new();
    let (app, late) = (index.name("app"), index.name("late"));
    index.offer("app", "1.0", &[], &[("__init__.py", "n = 1"), ("sub.py", "n = 2")]);
    index.offer("late", "1.0", &[], &[("__init__.py", "n = 3")]);
    let saved = index.path("s.slm");
    let saved = saved.to_str().unwrap();
    index.run(&["exec", "--with", &app, "-c", &format!("import {app}"), "--save", saved]).exits(0);
    let goes_on = format!("import {app}.sub; print({app}.n, {app}.sub.n)");
    assert_eq!(index.run(&["exec", "--with", &app, "--load", saved, "-c", &goes_on]).exits(0).stdout, "1 2\n");
    let without = index.run(&["exec", "--load", saved, "-c", &goes_on]).exits(2).stderr;
    assert!(without.contains(&format!("it had the package {app}==1.0, which is not given")), "{without}");
    // More than it had is seen as well, and so is what a session is given that had nothing.
    let more = format!("import {late}, {app}.sub; print({late}.n)");
    let both = ["exec", "--with", &app, "--with", &late, "--load", saved, "-c", &more];
    assert_eq!(index.run(&both).exits(0).stdout, "3\n");
    let plain = index.path("plain.slm");
    let plain = plain.to_str().unwrap();
    index.run(&["exec", "-c", "x = 5", "--save", plain]).exits(0);
    let code = format!("import {late}; print(x, {late}.n)");
    assert_eq!(index.run(&["exec", "--with", &late, "--load", plain, "-c", &code]).exits(0).stdout, "5 3\n");
    // One whose cells have made that impossible says so.
    index.run(&["exec", "-c", "import sys; sys.path = None", "--save", plain]).exits(0);
    let broken = index.run(&["exec", "--with", &late, "--load", plain, "-c", &code]).exits(2).stderr;
    assert!(broken.contains("did not take its packages"), "{broken}");
}

#[test]
fn what_pip_is_told_of_the_guest_is_what_the_guest_says() {
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/provision/packages/mod.rs");
    let text = fs::read_to_string(guard).unwrap();
    let code = "from packaging.markers import default_environment as d\nfor k, v in d().items(): print(f'(\"{k}\", \"{v}\"),')";
    let told = index_free(code);
    assert!(told.lines().count() == 11 && told.lines().all(|line| text.contains(line)), "{told}");
}

fn index_free(code: &str) -> String {
    crate::tool::run(&["exec", "-c", code]).exits(0).stdout
}

#[test]
fn the_library_gives_them_to_sessions_forks_and_undone_cells() {
    let index = Index::new();
    let app = index.name("app");
    index.offer("app", "1.0", &[], &[("__init__.py", "n = 1")]);
    let lock = index.path("lock");
    // This process's environment is not this test's to change, so the program fetches and the library finds.
    index.run(&["exec", "-c", "1", "--with", &app, "--lock", lock.to_str().unwrap()]).exits(0);
    let (config, progress, cancel) =
        (Config::resolve(Overrides::default()).unwrap(), Progress::default(), Cancel::new());
    let python = Python::open(&config, &progress, &cancel).unwrap();
    let request = PackageRequest::new().with(&app).unwrap();
    let packages = Packages::open(&request, &python, &config, &progress, &cancel).unwrap();
    let listed = packages.list();
    assert!(listed.len() == 1 && listed[0].added && (&listed[0].name, &listed[0].version[..]) == (&app, "1.0"));
    assert!(
        Packages::inside(&config, &progress, &cancel).unwrap().iter().any(|one| one.name == "pandas" && !one.added)
    );
    let mut session = python.session(SessionOptions::default().packages(&packages)).unwrap();
    let import = format!("import {app}\nprint({app}.n)");
    let mut fork = session.fork().unwrap();
    for session in [&mut session, &mut fork] {
        assert_eq!(session.exec(&import, &cancel).unwrap().stdout, "1\n");
        assert!(session.rewind().unwrap());
        assert_eq!(session.exec(&import, &cancel).unwrap().stdout, "1\n");
        session.restart();
        assert_eq!(session.exec(&import, &cancel).unwrap().stdout, "1\n");
    }
    let mut plain = python.session(SessionOptions::default()).unwrap();
    assert_eq!(plain.exec(&import, &cancel).unwrap().error.unwrap().kind, "ModuleNotFoundError");
    let checkpoint = session.checkpoint().unwrap();
    assert!(plain.restore(&checkpoint).unwrap_err().to_string().contains("it had the package"));
    session.restore(&checkpoint).unwrap();
}
