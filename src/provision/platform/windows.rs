//! Windows: the profile folder's access list keeps others out, which this code does not look at; size and write time
//! tell of a change. The write time can be set by anyone who may write, and there is no change time to be had from
//! the standard library, so what is executed is hashed at every start.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Child, Command};

use super::Fingerprint;

const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

pub(in crate::provision) const PYTHONS: &[&[&str]] = &[&["python3"], &["python"], &["py", "-3"]];

pub(crate) fn fingerprint(metadata: &Metadata) -> Fingerprint {
    [
        metadata.file_size() as i64,
        metadata.last_write_time() as i64,
        metadata.creation_time() as i64,
        i64::from(metadata.file_attributes()),
        0,
        0,
        0,
    ]
}

pub(crate) fn fingerprint_suffices(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    !["cwasm", "dll", "exe"].iter().any(|executed| extension.eq_ignore_ascii_case(executed))
}

pub(in crate::provision) fn not_ours(_metadata: &Metadata) -> Option<String> {
    None
}

pub(crate) fn not_ours_nor_roots(_metadata: &Metadata) -> Option<String> {
    None
}

pub(in crate::provision) fn create_private(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

pub(in crate::provision) fn make_private(_path: &Path, _metadata: &Metadata) -> io::Result<()> {
    Ok(())
}

pub(in crate::provision) fn open_no_link(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)
}

/// A handle must be able to write for its content to be flushed.
pub(in crate::provision) fn sync_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// NTFS keeps its own journal of names.
pub(in crate::provision) fn sync_folder(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Not to be had from the standard library: what does not fit is found when it is written.
pub(in crate::provision) fn room(_folder: &Path) -> Option<u64> {
    None
}

pub(in crate::provision) fn separate(_command: &mut Command) {}

pub(in crate::provision) fn end(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}
