//! Linux tells which pages of a private mapping are this process's own copies: the ones that are there and not a
//! file's. Since 6.7 it lists them (`PAGEMAP_SCAN`), before that one reads an entry for every page.
//!
//! It can also tell which were written since the last time one asked: pages are protected as they are told, and the
//! kernel lifts the protection at the first write by itself (userfaultfd's asynchronous mode, made for this). That asks
//! for less of each page, so it takes a twentieth of the time, and what was not written since need not be copied again.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::ffi::c_void;
use rustix::fs::{Advice, fadvise};
use rustix::io::Errno;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, Updater, ioctl, opcode};
use rustix::mm::{UserfaultfdFlags, userfaultfd};

use super::pages::{PAGE, Run};

pub(super) struct PageMap {
    file: File,
    /// The machine's pages, in bytes.
    size: usize,
    /// Where the system has it and allows it.
    watch: Option<OwnedFd>,
}

impl PageMap {
    /// `None` where the system does not show it, or has pages that are not a multiple of ours.
    pub(super) fn open() -> Option<Self> {
        Self::new(File::open("/proc/self/pagemap").ok()?)
    }

    /// Tried once with a page of our own: what a system shows may still tell nothing.
    fn new(file: File) -> Option<Self> {
        let size = rustix::param::page_size();
        let map = Self { file, size, watch: watch().ok() };
        let mut own = vec![0_u8; 2 * size];
        let start = own.as_ptr().addr().next_multiple_of(size) - own.as_ptr().addr();
        let page = own.get_mut(start..start + size)?;
        page.fill(1);
        let written = map.written(std::hint::black_box(page))?;
        let whole = [Run { first: 0, count: u32::try_from(size / PAGE).ok()? }];
        (size.is_multiple_of(PAGE) && written == whole).then_some(map)
    }

    /// The pages of `memory` that were ever written; `None` when it cannot tell.
    pub(super) fn written(&self, memory: &[u8]) -> Option<Vec<Run>> {
        let (start, end) = self.range(memory)?;
        let listed = collect(start, |add| self.scan(start, end, OWN, add).is_ok());
        listed.or_else(|| collect(start, |add| self.read(start, end, add).is_ok()))
    }

    /// Begins to watch `memory`, and says whether it could: [`since`](Self::since) tells what is written from here on.
    pub(super) fn begin(&self, memory: &[u8]) -> bool {
        let (Some(watch), Some((start, end))) = (&self.watch, self.range(memory)) else { return false };
        register(watch, start, end).and_then(|()| self.scan(start, end, NEW, &mut |_, _| {})).is_ok()
    }

    /// The pages of `memory` that were written since the last call, or since it was begun. `None` when it cannot tell, as
    /// after the memory grew; then it must be begun anew.
    pub(super) fn since(&self, memory: &[u8]) -> Option<Vec<Run>> {
        let (start, end) = self.range(memory)?;
        // A page of the image that was only read is new here too, so those that are told are looked at once more.
        let mut new = Vec::new();
        self.scan(start, end, NEW, &mut |from, to| new.push((from, to))).ok()?;
        collect(start, |add| new.into_iter().all(|(from, to)| self.scan(from, to, OWN, add).is_ok()))
    }

    fn range(&self, memory: &[u8]) -> Option<(usize, usize)> {
        let start = memory.as_ptr().addr();
        let whole = start.is_multiple_of(self.size) && memory.len().is_multiple_of(self.size);
        whole.then_some((start, start + memory.len()))
    }

    /// Adds what the kernel lists.
    fn scan(&self, start: usize, end: usize, kind: Query, add: &mut dyn FnMut(usize, usize)) -> Result<(), Errno> {
        let mut regions = [Region::default(); 256];
        let mut from = start;
        while from < end {
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                flags: kind.flags,
                start: from as u64,
                end: end as u64,
                vec: regions.as_mut_ptr().expose_provenance() as u64,
                vec_len: regions.len() as u64,
                category_inverted: kind.never,
                category_mask: kind.always | kind.never,
                category_anyof_mask: PRESENT | SWAPPED,
                return_mask: PRESENT | SWAPPED,
                ..Scan::default()
            };
            // SAFETY: `Scan` is laid out as the kernel's `pm_scan_arg`, says its own size, and its vector is `regions`,
            // which outlives the call. The kernel writes to these two, and to the page tables of the range: protection
            // that it lifts by itself, so that what the pages hold and who may write them stays as it was.
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

    fn read(&self, start: usize, end: usize, add: &mut dyn FnMut(usize, usize)) -> std::io::Result<()> {
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

/// The pages that `look` adds, by their addresses, to those of the memory that begins at `start`. What it added before it
/// failed is nobody's.
fn collect(start: usize, look: impl FnOnce(&mut dyn FnMut(usize, usize)) -> bool) -> Option<Vec<Run>> {
    let mut runs = Vec::new();
    look(&mut |from, to| Run::add(&mut runs, (from - start) / PAGE, (to - start) / PAGE)).then_some(runs)
}

/// A userfaultfd that only ever protects pages without telling anybody of faults.
fn watch() -> Result<OwnedFd, Errno> {
    // SAFETY: the descriptor can tell of and serve faults of memory that is registered with it. It stays in this module,
    // which registers for asynchronous protection alone, of which nothing is told and in which nothing is served.
    #[expect(unsafe_code, reason = "opening a userfaultfd")]
    let watch = unsafe { userfaultfd(UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::from_bits_retain(USER_MODE_ONLY)) }?;
    let mut api = Api { api: UFFD_API, features: WP_ASYNC | WP_UNPOPULATED, ioctls: 0 };
    // SAFETY: `Api` is laid out as the kernel's `uffdio_api`, which is all that the call reads and writes.
    #[expect(unsafe_code, reason = "agreeing on the features")]
    unsafe { ioctl(&watch, Updater::<{ opcode::read_write::<Api>(0xAA, 0x3F) }, _>::new(&mut api)) }?;
    Ok(watch)
}

fn register(watch: &OwnedFd, start: usize, end: usize) -> Result<(), Errno> {
    let mut register = Register { start: start as u64, len: (end - start) as u64, mode: MODE_WP, ioctls: 0 };
    // SAFETY: `Register` is laid out as the kernel's `uffdio_register`. The range is that of a slice, so it is mapped;
    // what the pages hold and who may write them is not changed by it.
    #[expect(unsafe_code, reason = "registering a memory to be watched")]
    unsafe {
        ioctl(watch, Updater::<{ opcode::read_write::<Register>(0xAA, 0x00) }, _>::new(&mut register))
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

/// What is asked of each page.
#[derive(Clone, Copy)]
struct Query {
    flags: u64,
    always: u64,
    never: u64,
}

/// Pages that are not a file's: this process's own.
const OWN: Query = Query { flags: 0, always: 0, never: FILE | ZERO };
/// Pages that are not protected, which are protected from then on; an error where none can be.
const NEW: Query = Query { flags: PROTECT | CHECK_ASYNC, always: WRITTEN, never: 0 };

/// Flags of `PAGEMAP_SCAN` (linux/fs.h).
const PROTECT: u64 = 1 << 0;
const CHECK_ASYNC: u64 = 1 << 1;

/// Its categories.
const WRITTEN: u64 = 1 << 1;
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

/// Of linux/userfaultfd.h.
const USER_MODE_ONLY: u32 = 1;
const UFFD_API: u64 = 0xAA;
const WP_UNPOPULATED: u64 = 1 << 13;
const WP_ASYNC: u64 = 1 << 15;
const MODE_WP: u64 = 1 << 1;

/// `struct uffdio_api`.
#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_register`.
#[repr(C)]
struct Register {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

/// Has the system read a file once in order that was just written. How written bytes lie in its cache is left to chance
/// (8 % in large folios was seen); those of a file read in order lie in large ones (98 %), of which a mapping then maps many
/// pages at a time: a fresh interpreter took 0.6 ms instead of 1.0. Nothing depends on it, so what fails is only logged.
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
impl PageMap {
    /// As one that stopped telling.
    pub(super) fn silent() -> Self {
        Self { file: File::open("/dev/null").expect("/dev/null"), size: rustix::param::page_size(), watch: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_opens_and_cannot_tell_is_not_used() {
        assert!(PageMap::open().is_some(), "this system shows its page map");
        assert!(PageMap::new(File::open("/dev/null").expect("/dev/null")).is_none());
        // It answers for each page, that nothing was written.
        assert!(PageMap::new(File::open("/dev/zero").expect("/dev/zero")).is_none());
    }

    #[test]
    fn what_was_found_before_a_failure_is_not_kept() {
        let found = collect(8 * PAGE, |add| {
            add(9 * PAGE, 11 * PAGE);
            false
        });
        assert_eq!(found, None);
        let found = collect(8 * PAGE, |add| {
            add(9 * PAGE, 11 * PAGE);
            true
        });
        assert_eq!(found, Some(vec![Run { first: 1, count: 2 }]));
    }

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
        if map.scan(start, end, OWN, &mut |from, to| listed.push((from, to))).is_ok() {
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
