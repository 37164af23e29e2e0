//! The security boundary of the cache: what may be trusted without being read again.
//!
//! Native code is mapped from the cache, so whoever can change a file there runs code as us. A folder is trusted only
//! with a seal in it: a file that notes, for every other file, its BLAKE3 digest and the fingerprint (device, inode,
//! size, both times) that it had when it was sealed. [`check`] demands that folder, seal and every noted file are
//! regular, belong to this user, can be written by nobody else, and that nothing is there that was not noted. Equal
//! fingerprints are then trusted without reading, because hashing 300 MB would cost more than the whole start; on any
//! difference (a restored backup, a cache copied from another machine) the file is hashed, and only the noted digest
//! is accepted, after which the new fingerprint is noted. Owner and mode are never forgiven, whatever the digest.
//!
//! The seal holds the folder's name, so a sealed folder cannot be passed off as another, and ends in a digest of
//! itself, so half a seal is none. It is no signature: against someone who can already write as this user, nothing in
//! this user's cache can be protected.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Write as _};
use std::path::Path;

use super::platform::{self, Fingerprint};
use crate::error::OrInternal;
use crate::{Cancel, Error, Result};

/// The seal's own file name; its dot keeps it apart from what wheels hold.
const SEAL: &str = ".seal";
/// How the name of a seal begins until it is in its place.
pub(super) const RENEWED: &str = ".seal-";
const HEADER: &str = "slm-code-interpreter seal 1";
const MAX_FILES: usize = 40_000;
const MAX_DEPTH: usize = 16;
/// Threads that bring files to the disk.
const WRITERS: usize = 16;
const MAX_SEAL: u64 = 16 << 20;

/// Why a folder is not trusted, in words that follow "the folder … ".
#[derive(Debug)]
pub(super) struct Broken(pub String);

impl<T: std::fmt::Display> From<T> for Broken {
    fn from(why: T) -> Self {
        Self(why.to_string())
    }
}

struct Note {
    digest: blake3::Hash,
    fingerprint: Fingerprint,
}

/// The notes of one folder, by relative path with `/` between the names.
type Notes = BTreeMap<String, Note>;

/// Seals `folder` as `name`: makes everything in it private, hashes it, and brings it to the disk.
pub(super) fn close(folder: &Path, name: &str, cancel: &Cancel) -> Result<()> {
    let doing = || format!("sealing {}", folder.display());
    let found = walk(folder).map_err(|Broken(why)| why).or_internal(doing())?;
    // Bringing a file to the disk is mostly waiting, and disks take many at once.
    let share = found.len().div_ceil(WRITERS).max(64);
    let noted = std::thread::scope(|scope| {
        let note = |part| move || close_part(folder, part, cancel);
        let threads: Vec<_> = found.chunks(share).map(|part| scope.spawn(note(part))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(Error::internal("a thread of it stopped").context(doing())))
        };
        threads.into_iter().map(join).collect::<Result<Vec<Notes>>>()
    })?;
    let notes: Notes = noted.into_iter().flatten().collect();
    let metadata = folder.symlink_metadata().or_internal(doing())?;
    platform::make_private(folder, &metadata).or_internal(doing())?;
    write(&notes, name, folder, folder).or_internal(doing())
}

/// Makes some of what [`walk`] found private, hashes it, and brings it to the disk.
fn close_part(folder: &Path, part: &[(String, Metadata)], cancel: &Cancel) -> Result<Notes> {
    let doing = || format!("sealing {}", folder.display());
    let mut notes = Notes::new();
    for (relative, metadata) in part {
        cancel.check()?;
        let path = folder.join(relative);
        platform::make_private(&path, metadata).or_internal(doing())?;
        if metadata.is_dir() {
            platform::sync_folder(&path).or_internal(doing())?;
        } else {
            platform::sync_file(&path).or_internal(doing())?;
            let note = read_whole(&path).map_err(|Broken(why)| why).or_internal(doing())?;
            notes.insert(relative.clone(), note);
        }
    }
    Ok(notes)
}

/// Whether `folder` is intact as `name`, and how many bytes it holds. `scratch` is a folder on the same file system,
/// for noting new fingerprints; without it none are noted.
pub(super) fn check(folder: &Path, name: &str, scratch: Option<&Path>) -> Result<u64, Broken> {
    private(&folder.symlink_metadata()?, "it")?;
    let mut notes = read(folder, name)?;
    let mut bytes = 0;
    let mut seen = 0;
    let mut renewed = false;
    for (relative, metadata) in walk(folder)? {
        private(&metadata, &relative)?;
        if metadata.is_dir() {
            continue;
        }
        let note = notes.get_mut(&relative).ok_or_else(|| format!("{relative} does not belong there"))?;
        renewed |= check_file(&folder.join(&relative), &relative, &metadata, note)?;
        bytes += metadata.len();
        seen += 1;
    }
    if seen != notes.len() {
        return Err(format!("{} of its {} files are missing", notes.len() - seen, notes.len()).into());
    }
    if renewed
        && let Some(scratch) = scratch
        && let Err(error) = write(&notes, name, folder, scratch)
    {
        // A cache on a read-only file system is hashed at every start, and no worse than that.
        log::debug!("{name}: the new fingerprints could not be noted: {error}");
    }
    Ok(bytes)
}

/// Whether `folder` was sealed by us, intact or not: what pruning may remove.
pub(super) fn is_sealed(folder: &Path) -> bool {
    let mut start = [0; HEADER.len()];
    platform::open_no_link(&folder.join(SEAL)).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == HEADER.as_bytes()
}

/// True when the fingerprint had changed but the content had not.
fn check_file(path: &Path, relative: &str, metadata: &Metadata, note: &mut Note) -> Result<bool, Broken> {
    let same = platform::fingerprint(metadata) == note.fingerprint;
    if same && platform::fingerprint_suffices(path) {
        return Ok(false);
    }
    let now = read_whole(path)?;
    if now.digest != note.digest {
        return Err(format!("{relative} was changed").into());
    }
    note.fingerprint = now.fingerprint;
    Ok(!same)
}

fn private(metadata: &Metadata, what: &str) -> Result<(), Broken> {
    match platform::not_ours(metadata) {
        Some(why) => Err(format!("{what} {why}").into()),
        None if metadata.is_dir() || metadata.is_file() => Ok(()),
        None => Err(format!("{what} is neither a file nor a folder").into()),
    }
}

/// Hashes a file through one handle, and refuses one that changes meanwhile.
fn read_whole(path: &Path) -> Result<Note, Broken> {
    let mut file = platform::open_no_link(path)?;
    let before = file.metadata()?;
    private(&before, "what was opened")?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => break,
            read => hasher.update(&buffer[..read]),
        };
    }
    let fingerprint = platform::fingerprint(&before);
    if platform::fingerprint(&file.metadata()?) != fingerprint {
        return Err(format!("{} changed while it was read", path.display()).into());
    }
    Ok(Note { digest: hasher.finalize(), fingerprint })
}

/// Everything under `folder` except its seal, folders included, links not followed.
fn walk(folder: &Path) -> Result<Vec<(String, Metadata)>, Broken> {
    let mut found = Vec::new();
    let mut folders = vec![(String::new(), 0)];
    while let Some((prefix, depth)) = folders.pop() {
        if depth > MAX_DEPTH {
            return Err(format!("its folders are more than {MAX_DEPTH} deep").into());
        }
        for entry in fs::read_dir(folder.join(&prefix))? {
            let entry = entry?;
            let name = entry.file_name().into_string().map_err(|name| format!("{name:?} is not valid UTF-8"))?;
            if name.contains('\n') {
                return Err(format!("{name:?} holds a line break").into());
            }
            if depth == 0 && name == SEAL {
                continue;
            }
            let relative = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                folders.push((relative.clone(), depth + 1));
            } else if !metadata.is_file() {
                return Err(format!("{relative} is neither a file nor a folder").into());
            }
            found.push((relative, metadata));
            if found.len() > MAX_FILES {
                return Err(format!("it holds more than {MAX_FILES} files").into());
            }
        }
    }
    Ok(found)
}

/// Puts the seal in its place by renaming, so that it is whole or not there.
fn write(notes: &Notes, name: &str, folder: &Path, scratch: &Path) -> io::Result<()> {
    let mut text = format!("{HEADER}\n{name}\n");
    for (relative, note) in notes {
        text.push_str(note.digest.to_hex().as_str());
        for number in note.fingerprint {
            let _ = write!(text, " {number}");
        }
        let _ = writeln!(text, " {relative}");
    }
    let end = blake3::hash(text.as_bytes()).to_hex();
    let mut file = tempfile::Builder::new().prefix(RENEWED).tempfile_in(scratch)?;
    writeln!(file, "{text}{end}")?;
    platform::make_private(file.path(), &file.as_file().metadata()?)?;
    file.as_file().sync_all()?;
    file.persist(folder.join(SEAL))?;
    platform::sync_folder(folder)
}

fn read(folder: &Path, name: &str) -> Result<Notes, Broken> {
    let file = platform::open_no_link(&folder.join(SEAL)).map_err(|error| format!("it has no seal ({error})"))?;
    let metadata = file.metadata()?;
    private(&metadata, "its seal")?;
    if !metadata.is_file() || metadata.len() > MAX_SEAL {
        return Err("its seal is not one of ours".into());
    }
    let mut text = String::new();
    File::take(file, MAX_SEAL).read_to_string(&mut text)?;
    parse(&text, name).ok_or_else(|| "its seal is damaged or another folder's".into())
}

fn parse(text: &str, name: &str) -> Option<Notes> {
    let (body, end) = text.strip_suffix('\n')?.rsplit_once('\n')?;
    let body = &text[..=body.len()];
    if blake3::Hash::from_hex(end).ok()? != blake3::hash(body.as_bytes()) {
        return None;
    }
    let mut lines = body.lines();
    if lines.next() != Some(HEADER) || lines.next() != Some(name) {
        return None;
    }
    lines.map(parse_note).collect()
}

fn parse_note(line: &str) -> Option<(String, Note)> {
    let mut parts = line.splitn(2 + Fingerprint::default().len(), ' ');
    let digest = blake3::Hash::from_hex(parts.next()?).ok()?;
    let mut fingerprint = Fingerprint::default();
    for number in &mut fingerprint {
        *number = parts.next()?.parse().ok()?;
    }
    Some((parts.next()?.to_string(), Note { digest, fingerprint }))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{OpenOptions, Permissions};
    use std::io::{Seek, SeekFrom};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    const NAME: &str = "images/abc";

    /// A sealed folder with two files, and beside it a scratch folder.
    struct Sealed {
        above: TempDir,
    }

    impl Sealed {
        fn new() -> Self {
            let sealed = Self { above: tempfile::tempdir().unwrap() };
            fs::create_dir_all(sealed.folder().join("deep/er")).unwrap();
            fs::create_dir(sealed.scratch()).unwrap();
            fs::write(sealed.image(), vec![7; 3 << 20]).unwrap();
            fs::write(sealed.folder().join("deep/er/a name with spaces"), "text").unwrap();
            close(&sealed.folder(), NAME, &Cancel::new()).unwrap();
            assert_eq!(sealed.check().unwrap(), (3 << 20) + 4);
            sealed
        }

        fn folder(&self) -> PathBuf {
            self.above.path().join("it")
        }

        fn scratch(&self) -> PathBuf {
            self.above.path().join("scratch")
        }

        fn image(&self) -> PathBuf {
            self.folder().join("image.cwasm")
        }

        fn check(&self) -> Result<u64, Broken> {
            check(&self.folder(), NAME, Some(&self.scratch()))
        }

        #[track_caller]
        fn refused_for(&self, reason: &str) {
            let Broken(why) = self.check().unwrap_err();
            assert!(why.contains(reason), "{why:?} does not say {reason:?}");
        }

        fn noted(&self) -> Vec<u8> {
            fs::read(self.folder().join(SEAL)).unwrap()
        }
    }

    fn flip_a_byte(path: &Path) {
        let mut file = OpenOptions::new().write(true).open(path).unwrap();
        file.seek(SeekFrom::Start(1 << 20)).unwrap();
        file.write_all(&[6]).unwrap();
    }

    #[test]
    fn a_flipped_byte_is_found() {
        let sealed = Sealed::new();
        flip_a_byte(&sealed.image());
        sealed.refused_for("image.cwasm was changed");
    }

    #[test]
    fn a_flipped_byte_is_found_behind_the_old_modification_time() {
        let sealed = Sealed::new();
        let old = sealed.image().metadata().unwrap().modified().unwrap();
        flip_a_byte(&sealed.image());
        OpenOptions::new().write(true).open(sealed.image()).unwrap().set_modified(old).unwrap();
        assert_eq!(sealed.image().metadata().unwrap().modified().unwrap(), old);
        sealed.refused_for("image.cwasm was changed");
    }

    #[test]
    fn the_same_content_in_another_file_is_hashed_and_noted_anew() {
        let sealed = Sealed::new();
        let before = sealed.noted();
        fs::copy(sealed.image(), sealed.folder().join("other")).unwrap();
        fs::rename(sealed.folder().join("other"), sealed.image()).unwrap();
        sealed.check().unwrap();
        let renewed = sealed.noted();
        assert_ne!(before, renewed);
        sealed.check().unwrap();
        assert_eq!(renewed, sealed.noted(), "the second look finds equal fingerprints");
        assert_eq!(fs::read_dir(sealed.scratch()).unwrap().count(), 0);
    }

    #[test]
    fn what_others_can_write_is_refused_though_the_content_is_the_same() {
        for (file, mode) in [("image.cwasm", 0o620), ("deep", 0o702), (SEAL, 0o660), ("", 0o770)] {
            let sealed = Sealed::new();
            fs::set_permissions(sealed.folder().join(file), Permissions::from_mode(mode)).unwrap();
            sealed.refused_for("can be written by other users");
        }
    }

    #[test]
    fn what_belongs_to_another_user_is_refused_though_the_content_is_the_same() {
        for file in ["image.cwasm", "deep", SEAL, ""] {
            let sealed = Sealed::new();
            if chown(sealed.folder().join(file), Some(1234), None).is_err() {
                return; // Only root can give files away.
            }
            sealed.refused_for("belongs to another user (id 1234)");
        }
    }

    #[test]
    fn a_link_in_place_of_a_file_or_folder_is_refused() {
        let sealed = Sealed::new();
        let elsewhere = sealed.scratch().join("image");
        fs::rename(sealed.image(), &elsewhere).unwrap();
        symlink(&elsewhere, sealed.image()).unwrap();
        sealed.refused_for("neither a file nor a folder");

        for name in ["it", "it/deep", "it/.seal"] {
            let sealed = Sealed::new();
            let path = sealed.above.path().join(name);
            let elsewhere = sealed.scratch().join("moved");
            fs::rename(&path, &elsewhere).unwrap();
            symlink(&elsewhere, &path).unwrap();
            assert!(sealed.check().is_err(), "{name}");
        }
    }

    #[test]
    fn a_file_too_many_or_too_few_is_found() {
        let sealed = Sealed::new();
        fs::write(sealed.folder().join("deep/extra"), "").unwrap();
        sealed.refused_for("deep/extra does not belong there");
        fs::remove_file(sealed.folder().join("deep/extra")).unwrap();
        sealed.check().unwrap();
        fs::remove_file(sealed.image()).unwrap();
        sealed.refused_for("1 of its 2 files are missing");
    }

    #[test]
    fn a_seal_is_of_use_in_its_own_place_only() {
        let sealed = Sealed::new();
        let Broken(why) = check(&sealed.folder(), "images/abd", Some(&sealed.scratch())).unwrap_err();
        assert!(why.contains("another folder's"), "{why}");
    }

    #[test]
    fn a_seal_cut_anywhere_or_with_any_byte_changed_is_none() {
        let sealed = Sealed::new();
        let text = sealed.noted();
        for length in 0..text.len() {
            fs::write(sealed.folder().join(SEAL), &text[..length]).unwrap();
            assert!(sealed.check().is_err(), "cut after {length} bytes");
            let mut changed = text.clone();
            changed[length] ^= 1;
            fs::write(sealed.folder().join(SEAL), &changed).unwrap();
            assert!(sealed.check().is_err(), "changed at byte {length}");
        }
        fs::remove_file(sealed.folder().join(SEAL)).unwrap();
        sealed.refused_for("has no seal");
    }

    #[test]
    fn sealing_closes_what_a_loose_umask_left_open_and_refuses_links() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("it");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("file"), "").unwrap();
        for path in [&folder, &folder.join("file")] {
            fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
        }
        close(&folder, NAME, &Cancel::new()).unwrap();
        check(&folder, NAME, Some(above.path())).unwrap();

        symlink("/etc/passwd", folder.join("link")).unwrap();
        assert!(close(&folder, NAME, &Cancel::new()).is_err());
    }

    /// Not a test of right or wrong: `cargo test --release --lib seal::tests::measure -- --ignored --nocapture`.
    #[test]
    #[ignore = "measures"]
    fn measure() {
        let above = tempfile::tempdir_in(std::env::var_os("CARGO_MANIFEST_DIR").unwrap()).unwrap();
        let shapes: [(&str, usize, usize); 2] = [("image", 3, 100 << 20), ("python", 280, 600 << 10)];
        for (what, files, bytes) in shapes {
            let folder = above.path().join(what);
            fs::create_dir(&folder).unwrap();
            for index in 0..files {
                fs::write(folder.join(format!("file {index}")), vec![index as u8; bytes]).unwrap();
            }
            let start = std::time::Instant::now();
            close(&folder, NAME, &Cancel::new()).unwrap();
            println!("{what}: {files} files of {bytes} bytes sealed in {:?}", start.elapsed());
            let mut times: Vec<_> = (0..101)
                .map(|_| {
                    let start = std::time::Instant::now();
                    check(&folder, NAME, Some(above.path())).unwrap();
                    start.elapsed()
                })
                .collect();
            times.sort();
            println!("{what}: checked in {:?} (median of 101)", times[50]);
            let start = std::time::Instant::now();
            for index in 0..files {
                read_whole(&folder.join(format!("file {index}"))).unwrap();
            }
            let seconds = start.elapsed().as_secs_f64();
            println!("{what}: hashed at {:.2} GB/s", (files * bytes) as f64 / seconds / 1e9);
        }
    }
}
