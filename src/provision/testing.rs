//! What the tests here share: a tiny artefact with a real wheel, and keeping the tests that start processes apart.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::artefact::{Artefact, Member, Platform, Tags, Wheel};
use crate::Config;

/// Between fork and exec a child shares every lock of this process, which a test that counts on a free lock would see.
static FORKS: RwLock<()> = RwLock::new(());

pub(super) fn while_nobody_forks() -> RwLockReadGuard<'static, ()> {
    FORKS.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn while_forking() -> RwLockWriteGuard<'static, ()> {
    FORKS.write().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The bytes of a wheel shaped like the interpreter's.
pub(super) fn wheel_bytes() -> Vec<u8> {
    let fonts = zip(&[("fonts/a.ttf", b"a font"), ("matplotlibrc", b"settings")]);
    let library = zip(&[("os.pyc", b"code"), ("matplotlib/mpl-data.zip", &fonts)]);
    zip(&[
        ("pkg/python.wasm", &[7; 100_000]),
        ("pkg/stdlib.zip", &library),
        ("pkg/LICENSES/one.txt", b"do"),
        ("pkg/LICENSES/two.txt", b"what"),
        ("pkg/__init__.py", b"raise SystemExit"),
    ])
}

/// The bytes of a wheel of pure Python, with what its metadata say that it requires.
pub(super) fn package(name: &str, version: &str, requires: &[&str], files: &[(&str, &[u8])]) -> Vec<u8> {
    let info = format!("{name}-{version}.dist-info");
    let requires = requires.iter().fold(String::new(), |lines, line| lines + "Requires-Dist: " + line + "\n");
    let metadata = format!("Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}");
    let (of_metadata, of_wheel) = (format!("{info}/METADATA"), format!("{info}/WHEEL"));
    let record = format!("{info}/RECORD");
    let wheel = b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n";
    let own: &[(&str, &[u8])] = &[(&of_metadata, metadata.as_bytes()), (&of_wheel, wheel), (&record, b"")];
    zip(&[files, own].concat())
}

const MEMBERS: &[Member] = &[
    Member::File { from: "pkg/python.wasm", to: "python.wasm", most: 100_000 },
    Member::File { from: "pkg/stdlib.zip", to: "lib/python315.zip", most: 10_000 },
    Member::Nested { inside: "lib/python315.zip", from: "matplotlib/mpl-data.zip", to: "mpl-data", most: 100 },
    Member::Folder { from: "pkg/LICENSES/", to: "LICENSES", most: 100 },
];

/// An artefact whose wheel is [`wheel_bytes`]; it lives as long as the tests.
pub(super) fn artefact() -> &'static Artefact {
    artefact_of(&wheel_bytes(), MEMBERS)
}

pub(super) fn artefact_of(bytes: &[u8], members: &'static [Member]) -> &'static Artefact {
    let sha256 = format!("{:x}", Sha256::digest(bytes));
    let wheel = Wheel {
        platform: Platform::Any,
        file: "pkg-1.0-py3-none-any.whl",
        sha256: sha256.leak(),
        bytes: bytes.len() as u64,
        tags: Tags { platform: "any", python: "3.13", implementation: "py", abi: "none" },
        members,
    };
    Box::leak(Box::new(Artefact {
        name: "pkg",
        version: "1.0",
        what: "the test package",
        why: "no test can run without it",
        variable: "PKG_WHEEL",
        at_hand: |config: &Config| Ok(config.python_wheel.clone()),
        wheels: Vec::leak(vec![wheel]),
    }))
}

/// Every file under `folder`, by relative path, in order.
pub(super) fn files_in(folder: &Path) -> Vec<String> {
    fn visit(root: &Path, folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                visit(root, &path, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let mut found = Vec::new();
    visit(folder, folder, &mut found);
    found.sort();
    found
}
