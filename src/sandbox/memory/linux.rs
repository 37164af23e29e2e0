//! Linux tells which pages of a private mapping are this process's own copies: the ones that are there and not a
//! file's. Since 6.7 it lists them (`PAGEMAP_SCAN`), before that one reads an entry for every page.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::ffi::c_void;
use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};

use super::pages::{PAGE, Run};

pub(super) struct PageMap {
    file: File,
    /// The machine's pages, in bytes.
    size: usize,
}

impl PageMap {
    /// `None` where the system does not show it, or has pages that are not a multiple of ours.
    pub(super) fn open() -> Option<Self> {
        let size = rustix::param::page_size();
        let file = File::open("/proc/self/pagemap").ok()?;
        size.is_multiple_of(PAGE).then_some(Self { file, size })
    }

    /// Adds the pages of `memory` that were written, and says whether it could tell.
    pub(super) fn written(&self, memory: &[u8], runs: &mut Vec<Run>) -> bool {
        let start = memory.as_ptr().addr();
        if !start.is_multiple_of(self.size) || !memory.len().is_multiple_of(self.size) {
            return false;
        }
        let mut add = |from: usize, to: usize| Run::add(runs, (from - start) / PAGE, (to - start) / PAGE);
        let end = start + memory.len();
        self.scan(start, end, &mut add).or_else(|_| self.read(start, end, &mut add)).is_ok()
    }

    /// Adds what the kernel lists. It adds nothing if the kernel does not know how.
    fn scan(&self, start: usize, end: usize, add: &mut impl FnMut(usize, usize)) -> Result<(), Errno> {
        let mut regions = [Region::default(); 256];
        let mut from = start;
        while from < end {
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                start: from as u64,
                end: end as u64,
                vec: regions.as_mut_ptr().expose_provenance() as u64,
                vec_len: regions.len() as u64,
                category_inverted: FILE | ZERO,
                category_mask: FILE | ZERO,
                category_anyof_mask: PRESENT | SWAPPED,
                return_mask: PRESENT | SWAPPED,
                ..Scan::default()
            };
            // SAFETY: `Scan` is laid out as the kernel's `pm_scan_arg`, says its own size, and its vector is `regions`,
            // which outlives the call; the kernel writes to these two only, and only reads the page tables of the range.
            #[expect(unsafe_code, reason = "asking the kernel which pages were written")]
            let found = unsafe { ioctl(&self.file, PageMapScan(&mut scan)) }?;
            for region in regions.iter().take(found) {
                add(address(region.start), address(region.end));
            }
            let walked = address(scan.walk_end);
            if walked <= from {
                return Err(Errno::INVAL);
            }
            from = walked;
        }
        Ok(())
    }

    fn read(&self, start: usize, end: usize, add: &mut impl FnMut(usize, usize)) -> std::io::Result<()> {
        let mut buffer = [0; ENTRIES * ENTRY];
        for from in (start..end).step_by(ENTRIES * self.size) {
            let entries = &mut buffer[..ENTRY * ENTRIES.min((end - from) / self.size)];
            self.file.read_exact_at(entries, (from / self.size * ENTRY) as u64)?;
            let entries = entries.as_chunks::<ENTRY>().0.iter().map(|entry| u64::from_le_bytes(*entry));
            for (page, _) in entries.enumerate().filter(|(_, entry)| is_written(*entry)) {
                add(from + page * self.size, from + (page + 1) * self.size);
            }
        }
        Ok(())
    }
}

/// An address of this process, which the kernel gives as 64 bits on every machine.
fn address(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Bytes of an entry of the page map, and how many are read at once.
const ENTRY: usize = 8;
const ENTRIES: usize = 8192;

/// Whether an entry (Documentation/admin-guide/mm/pagemap.rst) is of a page that is there or swapped out, and not a
/// file's.
fn is_written(entry: u64) -> bool {
    let (present, swapped, file) = (entry >> 63 & 1 == 1, entry >> 62 & 1 == 1, entry >> 61 & 1 == 1);
    swapped || present && !file
}

/// Categories of `PAGEMAP_SCAN` (linux/fs.h).
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
/// Read but never written: there is one page of zeros for all.
const ZERO: u64 = 1 << 5;

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// The call, which gives the number of regions it found.
struct PageMapScan<'a>(&'a mut Scan);

// SAFETY: the opcode is `_IOWR('f', 16, struct pm_scan_arg)`, whose argument is a pointer to a `Scan`, which is what
// `as_ptr` gives; its result is a count and no pointer.
#[expect(unsafe_code, reason = "describing the kernel's call")]
unsafe impl Ioctl for PageMapScan<'_> {
    type Output = usize;
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        opcode::read_write::<Scan>(b'f', 16)
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(found: IoctlOutput, _: *mut c_void) -> Result<usize, Errno> {
        usize::try_from(found).map_err(|_| Errno::INVAL)
    }
}

/// Has the system hold a file that was just written in large pages. What is written while memory is short, as at the end
/// of a build, comes to lie in its cache page by page; what is read in order lies in large folios, which a mapping of
/// the file then maps many pages at a time: a fresh interpreter takes a third less time. Nothing depends on it, so what
/// fails is only logged.
pub(in super::super) fn reread(path: &Path) {
    match read_again(path) {
        Ok(bytes) => log::debug!("read {bytes} bytes of {} once more", path.display()),
        Err(error) => log::debug!("reading {} once more: {error}", path.display()),
    }
}

fn read_again(path: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    // What is not on the disk yet cannot be dropped.
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    fadvise(&file, 0, None, Advice::Sequential)?;
    std::io::copy(&mut file, &mut std::io::sink())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The older way must find what the newer one does, and no more than pages of zeros besides.
    #[test]
    fn both_ways_find_the_same() {
        let map = PageMap::open().expect("this system shows its page map");
        let mut memory = vec![0_u8; 64 * map.size];
        let start = memory.as_ptr().addr().next_multiple_of(map.size);
        let offset = start - memory.as_ptr().addr();
        for page in [1, 2, 3, 10, 40, 41] {
            memory[offset + page * map.size] = 1;
        }
        let pages = |found: &[(usize, usize)]| -> Vec<usize> {
            found
                .iter()
                .flat_map(|(from, to)| (*from..*to).step_by(map.size))
                .map(|at| (at - start) / map.size)
                .collect()
        };
        let (mut listed, mut read) = (Vec::new(), Vec::new());
        let end = start + 50 * map.size;
        map.read(start, end, &mut |from, to| read.push((from, to))).expect("an entry for each page");
        if map.scan(start, end, &mut |from, to| listed.push((from, to))).is_ok() {
            assert_eq!(pages(&listed), pages(&read));
        }
        for page in [1, 2, 3, 10, 40, 41] {
            assert!(pages(&read).contains(&page), "{page}");
        }
    }

    #[test]
    fn a_file_is_read_again_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 300_000]).expect("written");
        assert_eq!(read_again(&path).expect("the system takes the advice"), 300_000);
        assert!(read_again(&folder.path().join("absent")).is_err());
    }
}
