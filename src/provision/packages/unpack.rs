//! The boundary to wheels: bytes that others made become files in a folder of ours, bounded in number, size and name.
//!
//! A wheel's digest is checked before it comes here. Nothing of it is run, and what is written is read by guests alone.
//! Modules come out (the archive's own root and `*.data/purelib`); scripts, headers and data for elsewhere do not.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::{is_version, normal};
use crate::error::OrInternal;
use crate::{Cancel, Error, Result};

/// With their folders, and fewer than a seal takes.
const MAX_FILES: u64 = 30_000;
const MAX_BYTES: u64 = 512 << 20;
/// Members of an archive: what stays in it comes on top of the files. The host has memory for each before any is looked at.
const MAX_MEMBERS: u16 = 60_000;
/// What an archive takes for a member besides its bytes.
const MEMBER: u64 = 1 << 10;
/// Folders inside folders, fewer than a seal takes.
const MAX_DEPTH: usize = 14;
const MAX_NAME: usize = 200;
/// A wheel's own size.
pub(super) const MAX_WHEEL: u64 = 256 << 20;
const CHUNK: usize = 1 << 20;

/// What machines run, by the end of a file's name.
const COMPILED: [&str; 4] = [".so", ".pyd", ".dylib", ".dll"];

/// What all packages of a folder may still take.
pub(crate) struct Room {
    files: u64,
    bytes: u64,
}

impl Default for Room {
    fn default() -> Self {
        Self { files: MAX_FILES, bytes: MAX_BYTES }
    }
}

/// Name and version of a wheel for any Python 3, out of its file name; else why it is none.
pub(super) fn pure(file: &str) -> Result<(String, String), String> {
    let parts: Vec<_> = file.strip_suffix(".whl").unwrap_or_default().split('-').collect();
    let (name, version, [python, abi, platform]) = match parts[..] {
        [name, version, python, abi, platform] | [name, version, _, python, abi, platform] => {
            (name, version, [python, abi, platform])
        }
        _ => return Err(format!("{file:?} is not named as a wheel")),
    };
    let sound = |name: &str| {
        !name.is_empty() && name.len() <= 100 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._".contains(&b))
    };
    if !sound(name) || !is_version(version) {
        return Err(format!("{file:?} is not named as a wheel"));
    }
    if abi != "none" || platform != "any" || !python.split('.').any(|python| python.starts_with("py3")) {
        return Err(format!("{file} holds compiled code, for {platform}"));
    }
    Ok((normal(name), version.to_owned()))
}

impl Room {
    /// Writes the modules of a wheel into `folder`. A file that another wheel has brought stays.
    ///
    /// # Errors
    /// Unavailable: compiled code, a name that leads out of the folder, more or larger files than there is room for.
    pub(crate) fn unpack(&mut self, wheel: &mut File, folder: &Path, cancel: &Cancel) -> Result<()> {
        self.all(wheel, folder, cancel, |name| Ok(module(name)?.map(str::to_owned)))
    }

    /// Writes the `.pyc` files of an archive that a guest has made, which go where modules lie and nowhere else.
    ///
    /// # Errors
    /// As [`unpack`](Self::unpack).
    pub(crate) fn unpack_compiled(&mut self, archive: &mut File, folder: &Path, cancel: &Cancel) -> Result<()> {
        // It is the guest's, which may have more room for files than this has.
        if archive.metadata().or_internal("reading the bytecode")?.len() > self.bytes + u64::from(MAX_MEMBERS) * MEMBER
        {
            return Err(full());
        }
        self.all(archive, folder, cancel, |name| {
            let (above, file) = name
                .rsplit_once("/__pycache__/")
                .or(name.strip_prefix("__pycache__/").map(|file| ("", file)))
                .unwrap_or_default();
            let expected = !file.contains('/')
                && file.ends_with(".pyc")
                && !folder.join(name).exists()
                && folder.join(above).is_dir();
            if expected {
                Ok(Some(name.to_owned()))
            } else {
                Err(format!("{name:?} is no compiled module of these packages"))
            }
        })
    }

    /// `place` says where a member goes, if anywhere.
    fn all(
        &mut self,
        file: &mut File,
        folder: &Path,
        cancel: &Cancel,
        place: impl Fn(&str) -> Result<Option<String>, String>,
    ) -> Result<()> {
        few_members(file)?;
        file.seek(SeekFrom::Start(0)).or_internal("reading a wheel")?;
        let mut archive = ZipArchive::new(file).map_err(|error| Error::unavailable(error).context("not a wheel"))?;
        let mut seen = HashSet::new();
        for index in 0..archive.len() {
            cancel.check()?;
            let entry = archive.by_index(index).map_err(Error::unavailable)?;
            let name = entry.name().map_err(Error::unavailable)?.into_owned();
            if entry.is_dir() {
                continue;
            }
            if !entry.is_file() {
                return Err(Error::unavailable(format!("{name:?} is a link")));
            }
            let Some(to) = place(&name).map_err(Error::unavailable)? else { continue };
            let to = inside(&to).map_err(Error::unavailable)?;
            if !seen.insert(to.clone()) {
                return Err(Error::unavailable(format!("{name:?} is there twice")));
            }
            self.folders(&to, folder)?;
            self.file(entry, &folder.join(to), cancel)?;
        }
        Ok(())
    }

    /// Makes the folders above a file `to` of `folder`.
    fn folders(&mut self, to: &Path, folder: &Path) -> Result<()> {
        let mut above: Vec<_> = to.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()).collect();
        above.reverse();
        for above in above {
            let path = folder.join(above);
            if path.is_dir() {
                continue;
            }
            self.files = self.files.checked_sub(1).ok_or_else(full)?;
            fs::create_dir(path).map_err(Error::unavailable)?;
        }
        Ok(())
    }

    fn file(&mut self, mut entry: impl Read, path: &Path, cancel: &Cancel) -> Result<()> {
        let mut file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
            opened => opened.or_internal(path.display())?,
        };
        self.files = self.files.checked_sub(1).ok_or_else(full)?;
        let mut buffer = vec![0; CHUNK];
        loop {
            cancel.check()?;
            match entry.read(&mut buffer).map_err(Error::unavailable)? {
                0 => return Ok(()),
                read => {
                    self.bytes = self.bytes.checked_sub(read as u64).ok_or_else(full)?;
                    file.write_all(&buffer[..read]).or_internal(path.display())?;
                }
            }
        }
    }
}

fn full() -> Error {
    Error::unavailable(format!("more than {MAX_FILES} files and folders, or {} MiB", MAX_BYTES >> 20))
        .context("the packages are too large")
        .advise("name fewer packages")
}

/// Refuses an archive that says it has more members than are taken, before memory is set aside for them. Whatever could
/// be taken for its end record counts; zip64 is for more than are taken.
fn few_members(file: &mut File) -> Result<()> {
    const LOCATOR: usize = 20;
    const END: usize = 22;
    const MAX_COMMENT: u64 = 1 << 16;
    let doing = "reading a wheel";
    let length = file.metadata().or_internal(doing)?.len();
    let tail = length.min((LOCATOR + END) as u64 + MAX_COMMENT + 4);
    file.seek(SeekFrom::Start(length - tail)).or_internal(doing)?;
    let mut bytes = Vec::new();
    Read::by_ref(file).take(tail).read_to_end(&mut bytes).or_internal(doing)?;
    for (at, end) in bytes.windows(END).enumerate().filter(|(_, end)| end.starts_with(b"PK\x05\x06")) {
        let counts = [u16::from_le_bytes([end[8], end[9]]), u16::from_le_bytes([end[10], end[11]])];
        let is_zip64 = at.checked_sub(LOCATOR).is_some_and(|at| bytes[at..].starts_with(b"PK\x06\x07"));
        if is_zip64 || counts.iter().any(|count| *count > MAX_MEMBERS) {
            return Err(full().context(format!("an archive of more than {MAX_MEMBERS} members")));
        }
    }
    Ok(())
}

/// Where a member of a wheel goes; `None` for what is not for the library.
fn module(name: &str) -> Result<Option<&str>, String> {
    let file = name.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    if COMPILED.iter().any(|end| file.ends_with(end)) || file.contains(".so.") {
        return Err(format!("it holds compiled code ({name})"));
    }
    match name.split_once('/') {
        Some((first, rest)) if first.ends_with(".data") => {
            Ok(rest.split_once('/').filter(|(kind, _)| matches!(*kind, "purelib" | "platlib")).map(|(_, rest)| rest))
        }
        // Bytecode of another Python, which could stand in for the modules.
        _ if file.ends_with(".pyc") => Ok(None),
        _ => Ok(Some(name)),
    }
}

/// A member's name as a path that cannot lead out of where it is put, whatever system reads it.
fn inside(name: &str) -> Result<PathBuf, String> {
    let parts: Vec<_> = name.split('/').collect();
    let harmless = |part: &&str| {
        !matches!(*part, "" | "." | "..")
            && part.len() <= MAX_NAME
            && !part.contains(['\\', ':'])
            && !part.chars().any(char::is_control)
    };
    if parts.len() > MAX_DEPTH || !parts.iter().all(harmless) {
        return Err(format!("it holds a file named {name:?}"));
    }
    Ok(parts.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{files_in, zip};
    use super::*;

    fn unpacked(room: &mut Room, members: &[(&str, &[u8])], folder: &Path) -> Result<()> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&zip(members)).unwrap();
        room.unpack(&mut file, folder, &Cancel::new())
    }

    #[test]
    fn only_what_belongs_on_the_path_comes_out() {
        let folder = tempfile::tempdir().unwrap();
        let members: &[(&str, &[u8])] = &[
            ("pkg/__init__.py", b"x = 1"),
            ("pkg/data/.hidden", b"h"),
            ("pkg/__pycache__/a.cpython-39.pyc", b"old"),
            ("pkg-1.0.dist-info/METADATA", b"Name: pkg"),
            ("pkg-1.0.data/purelib/more.py", b"m"),
            ("pkg-1.0.data/scripts/pkg", b"#!python"),
            ("pkg-1.0.data/data/etc/passwd", b"no"),
        ];
        unpacked(&mut Room::default(), members, folder.path()).unwrap();
        assert_eq!(
            files_in(folder.path()),
            ["more.py", "pkg-1.0.dist-info/METADATA", "pkg/__init__.py", "pkg/data/.hidden"]
        );
        unpacked(&mut Room::default(), &[("more.py", b"another's")], folder.path()).unwrap();
        assert_eq!(fs::read(folder.path().join("more.py")).unwrap(), b"m", "what is there stays");
    }

    #[test]
    fn hostile_members_are_refused() {
        let deep = "d/".repeat(MAX_DEPTH) + "x.py";
        let long = "n".repeat(MAX_NAME + 1);
        for name in [
            "../evil.py",
            "a/../../evil.py",
            "/etc/evil",
            "a\\..\\evil",
            "C:evil",
            "a//b",
            "./a",
            "a/.",
            "a/\n.py",
            "x-1.data/purelib/../../evil",
            "x-1.data/purelib//etc/evil",
            &deep,
            &long,
            "pkg/_speed.cpython-315.so",
            "pkg/lib.SO",
            "pkg/libz.so.1",
            "pkg/a.pyd",
            "pkg/a.dylib",
            "pkg/a.dll",
        ] {
            let folder = tempfile::tempdir().unwrap();
            let error = unpacked(&mut Room::default(), &[(name, b"evil")], folder.path()).expect_err(name);
            assert!(error.is_unavailable(), "{name}: {error}");
            assert_eq!(files_in(folder.path()), [""; 0], "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let twice: &[(&str, &[u8])] = &[("x-1.data/purelib/a.py", b"1"), ("a.py", b"2")];
        assert!(unpacked(&mut Room::default(), twice, folder.path()).unwrap_err().to_string().contains("twice"));
        let mut no_zip = tempfile::tempfile().unwrap();
        no_zip.write_all(b"PK\x05\x06 nothing").unwrap();
        assert!(Room::default().unpack(&mut no_zip, folder.path(), &Cancel::new()).unwrap_err().is_unavailable());
    }

    #[test]
    fn bombs_end_at_the_bounds() {
        let folder = tempfile::tempdir().unwrap();
        let members: &[(&str, &[u8])] = &[("a", &[0; 600]), ("b", &[0; 600])];
        let mut room = Room { files: 2, bytes: 1_000 };
        assert!(unpacked(&mut room, members, folder.path()).unwrap_err().to_string().contains("too large"));
        let folder = tempfile::tempdir().unwrap();
        let mut room = Room { files: 1, bytes: 10_000 };
        assert!(unpacked(&mut room, members, folder.path()).unwrap_err().to_string().contains("too large"));
        let folder = tempfile::tempdir().unwrap();
        unpacked(&mut Room { files: 2, bytes: 1_200 }, members, folder.path()).unwrap();
    }

    #[test]
    fn folders_count_as_files_do() {
        let members: &[(&str, &[u8])] = &[("a/b/x", b""), ("a/b/y", b""), ("a/c/z", b"")];
        for (files, fits) in [(5, false), (6, true)] {
            let folder = tempfile::tempdir().unwrap();
            let done = unpacked(&mut Room { files, bytes: 1_000 }, members, folder.path());
            assert_eq!(done.is_ok(), fits, "{files}");
            assert!(done.err().is_none_or(|error| error.to_string().contains("too large")));
        }
    }

    #[test]
    fn an_archive_of_too_many_members_is_refused_unopened() {
        let mut end = zip(&[]);
        end[8..12].copy_from_slice(&[0xff; 4]);
        let zip64 = [b"PK\x06\x07".as_slice(), &[0; 16], &zip(&[])].concat();
        for bytes in [end, zip64] {
            // A comment behind it hides neither.
            for comment in [0, 60_000] {
                let mut file = tempfile::tempfile().unwrap();
                file.write_all(&[bytes.as_slice(), &vec![b' '; comment]].concat()).unwrap();
                let error = few_members(&mut file).unwrap_err();
                assert!(error.is_unavailable() && error.to_string().contains("members"), "{error}");
            }
        }
        let mut archive = tempfile::tempfile().unwrap();
        archive.write_all(&zip(&[("__pycache__/a.pyc", b"")])).unwrap();
        few_members(&mut archive).unwrap();
        archive.set_len(MAX_BYTES + u64::from(MAX_MEMBERS) * MEMBER + 1).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let error = Room::default().unpack_compiled(&mut archive, folder.path(), &Cancel::new()).unwrap_err();
        assert!(error.to_string().contains("too large"), "{error}");
    }

    #[test]
    fn a_guest_brings_compiled_modules_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("pkg")).unwrap();
        fs::write(folder.path().join("pkg/a.py"), "real").unwrap();
        let compiled = |name: &str| {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&zip(&[(name, b"code")])).unwrap();
            Room::default().unpack_compiled(&mut file, folder.path(), &Cancel::new())
        };
        compiled("pkg/__pycache__/a.cpython-315.pyc").unwrap();
        compiled("__pycache__/b.cpython-315.pyc").unwrap();
        for name in [
            "pkg/a.py",
            "pkg/a.pyc",
            "a.pyc",
            "pkg/__pycache__/a.py",
            "pkg/__pycache__/x/a.pyc",
            "new/__pycache__/a.pyc",
            "../__pycache__/a.pyc",
            "pkg/__pycache__/a.cpython-315.pyc",
        ] {
            assert!(compiled(name).is_err(), "{name}");
        }
        assert_eq!(fs::read(folder.path().join("pkg/a.py")).unwrap(), b"real");
    }

    #[test]
    fn file_names_tell_what_a_wheel_is() {
        let named = |name: &str, version: &str| Ok((name.to_owned(), version.to_owned()));
        assert_eq!(pure("Foo_Bar-1.0-py3-none-any.whl"), named("foo-bar", "1.0"));
        assert_eq!(pure("six-1.17.0-1-py2.py3-none-any.whl"), named("six", "1.17.0"));
        for file in [
            "a-1.0-cp313-cp313-manylinux_2_28_x86_64.whl",
            "a-1.0-py3-none-win32.whl",
            "a-1.0-cp38-abi3-any.whl",
            "a-1.0-py2-none-any.whl",
        ] {
            assert!(pure(file).unwrap_err().contains("compiled"), "{file}");
        }
        for file in [
            "a.whl",
            "a-1.0.tar.gz",
            "",
            "a-../x-py3-none-any.whl",
            "../a-1-py3-none-any.whl",
            "a-1-2-3-py3-none-any.whl",
        ] {
            assert!(pure(file).unwrap_err().contains("not named"), "{file}");
        }
    }
}
