//! What this process holds, as its system tells: on Linux from `/proc/self`, elsewhere nothing is known.

use std::path::Path;

/// Bytes of resident memory.
pub fn resident() -> Option<u64> {
    status("VmRSS:")
}

/// The most bytes that were resident since [`forget_peak`].
pub fn peak() -> Option<u64> {
    status("VmHWM:")
}

pub fn forget_peak() {
    // Where it cannot be written, the peak is that of the whole process: the larger figure.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

fn status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
}

/// Open descriptors, without the one that this look needs.
pub fn descriptors() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1))
}

/// Files and folders below `folder`.
pub fn entries(folder: &Path) -> usize {
    let Ok(inside) = std::fs::read_dir(folder) else { return 0 };
    inside
        .flatten()
        .map(|entry| 1 + if entry.file_type().is_ok_and(|kind| kind.is_dir()) { entries(&entry.path()) } else { 0 })
        .sum()
}
