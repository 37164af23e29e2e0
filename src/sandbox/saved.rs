//! A session as one file: what it looks like, and reading one that anybody may have written.
//!
//! ```text
//! magic (16) | the image's snapshot, BLAKE3 (32) | BLAKE3 of the rest (32) | zlib stream of:
//!     length of the head, u32 | head, JSON | pages of memory | contents of files, one after the other
//! ```
//!
//! All numbers are little-endian. The digest finds damage, not malice: what is read is as untrusted as the code of a
//! cell, which can bring about any of it. So a reader checks only what the host itself relies on: sizes, order, counts.
//! Pure: no wasmtime, no files.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use serde::{Deserialize, Serialize};

/// The last byte is the format's version.
const MAGIC: [u8; 16] = *b"slm-ci session\0\x01";
const DIGEST: usize = 32;
const PREFIX: usize = MAGIC.len() + 2 * DIGEST;

/// Bytes of a head: names, texts bound to variables, arguments.
const MAX_HEAD: u64 = 64 << 20;

/// Pages of memory as [`Head`] counts them, and what memory grows by.
pub(super) const PAGE: u64 = 4096;
pub(super) const WASM_PAGE: u64 = 64 << 10;

/// A saved session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Saved {
    pub(super) head: Head,
    /// The pages of `head.machine`, one after the other.
    pub(super) pages: Vec<u8>,
    /// The contents of the files in `head.entries`, one after the other.
    pub(super) contents: Vec<u8>,
}

/// All but bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    /// `None`: no cell has entered the interpreter.
    pub(super) machine: Option<Machine>,
    pub(super) cells: u32,
    pub(super) bindings: BTreeMap<String, String>,
    pub(super) args: Vec<String>,
    /// Paths under `/work` of files that were given to the session, and their SHA-256.
    pub(super) given: BTreeMap<String, [u8; 32]>,
    /// Nanoseconds that the guest's monotonic clock has counted; in a deterministic session that is all of time.
    pub(super) age: u64,
    pub(super) deterministic: Option<Deterministic>,
    /// The next inode number.
    pub(super) next: u32,
    pub(super) entries: Vec<Entry>,
    pub(super) descriptors: Vec<Descriptor>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machine {
    /// Of linear memory.
    pub(super) bytes: u64,
    pub(super) globals: Vec<u64>,
    /// First page and count of each run of pages that are not the image's.
    pub(super) runs: Vec<(u32, u32)>,
    /// What its driver was told that one displayed object may take, and all of a cell.
    pub(super) displays: (u64, u64),
}

/// Where the seeded entropy of a deterministic session stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Deterministic {
    /// Of the generator, as in [`SessionOptions`](super::SessionOptions).
    pub(super) seed: u64,
    /// 32-bit words drawn so far.
    pub(super) drawn: u64,
}

/// A file or folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) ino: u32,
    /// The folder and the name in it; `None` for a root, and for what was removed while it was open.
    pub(super) place: Option<(u32, String)>,
    /// Accessed, modified, changed: nanoseconds since the Unix epoch.
    pub(super) times: [u64; 3],
    /// A file's size; a folder has none.
    pub(super) bytes: Option<u64>,
}

/// A descriptor that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Descriptor {
    pub(super) number: u32,
    pub(super) target: Target,
    /// Where the next read or write begins.
    pub(super) at: u64,
    /// Preview 1's `fdflags`.
    pub(super) flags: u16,
    pub(super) read: bool,
    pub(super) write: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Target {
    /// Standard input, output or error.
    Stream(u8),
    /// One of the folders that are open from the start.
    Preopen(u8),
    /// An inode of the session's own files.
    Scratch(u32),
    /// A path of the read-only folders, as the guest names it.
    Library(String),
}

/// What a reader takes.
pub(super) struct Bounds {
    pub(super) image: [u8; DIGEST],
    /// Bytes of linear memory, and of files.
    pub(super) memory: u64,
    pub(super) scratch: u64,
}

impl Bounds {
    /// The largest stream that can hold what is allowed.
    fn stream(&self) -> u64 {
        MAX_HEAD.saturating_add(self.memory).saturating_add(self.scratch)
    }

    /// The largest file worth reading: what does not compress grows a little.
    pub(super) fn file(&self) -> u64 {
        let stream = self.stream();
        stream.saturating_add(stream / 256).saturating_add(4096)
    }
}

/// Why a file is not a session that can be gone on with.
#[derive(Debug, PartialEq)]
pub(super) enum Unreadable {
    /// It does not begin like one.
    Foreign,
    /// A version that this program does not know.
    Version(u8),
    OtherImage,
    Damaged(&'static str),
    /// What, how much of it, and how much is allowed.
    TooLarge(&'static str, u64, u64),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("it is not a saved session"),
            Self::Version(version) => {
                write!(f, "it has version {version} of the format, this program reads {}", MAGIC[15])
            }
            Self::OtherImage => f.write_str("it was saved with another Python image"),
            Self::Damaged(why) => write!(f, "it is damaged: {why}"),
            Self::TooLarge(what, bytes, allowed) => {
                write!(f, "it holds {bytes} bytes of {what}, and {allowed} are allowed")
            }
        }
    }
}

/// The whole file.
///
/// # Errors
/// A head beyond its bound.
pub(super) fn encode(saved: &Saved, image: &[u8; DIGEST]) -> io::Result<Vec<u8>> {
    let head = serde_json::to_vec(&saved.head)?;
    if head.len() as u64 > MAX_HEAD {
        return Err(io::Error::other("the names and texts of the session are too long"));
    }
    let length = u32::try_from(head.len()).map_err(io::Error::other)?;
    let mut stream = ZlibEncoder::new(vec![0; PREFIX], Compression::fast());
    for part in [&length.to_le_bytes()[..], &head, &saved.pages, &saved.contents] {
        stream.write_all(part)?;
    }
    let mut file = stream.finish()?;
    let digest = *blake3::hash(&file[PREFIX..]).as_bytes();
    for (at, part) in [(0, &MAGIC[..]), (MAGIC.len(), image), (MAGIC.len() + DIGEST, &digest)] {
        file[at..at + part.len()].copy_from_slice(part);
    }
    Ok(file)
}

/// A session that the bounds allow. Whether its files make one tree is for their own reader to see.
pub(super) fn decode(file: &[u8], bounds: &Bounds) -> Result<Saved, Unreadable> {
    let (name, version) = (MAGIC.len() - 1, MAGIC[MAGIC.len() - 1]);
    if file.len() < PREFIX || file[..name] != MAGIC[..name] {
        return Err(Unreadable::Foreign);
    }
    if file[name] != version {
        return Err(Unreadable::Version(file[name]));
    }
    let (image, rest) = file[MAGIC.len()..].split_at(DIGEST);
    let (digest, stream) = rest.split_at(DIGEST);
    if image != bounds.image {
        return Err(Unreadable::OtherImage);
    }
    if blake3::hash(stream).as_bytes() != digest {
        return Err(Unreadable::Damaged("its digest is another"));
    }

    let mut stream = ZlibDecoder::new(stream).take(bounds.stream().saturating_add(5));
    let mut length = [0; 4];
    stream.read_exact(&mut length).map_err(|_| Unreadable::Damaged("it ends early"))?;
    let head = take(&mut stream, u32::from_le_bytes(length).into(), MAX_HEAD, "names and texts")?;
    let head: Head = serde_json::from_slice(&head).map_err(|_| Unreadable::Damaged("its head makes no sense"))?;
    let pages = take(&mut stream, head.pages(bounds)?, bounds.memory, "memory")?;
    let contents = take(&mut stream, head.contents()?, bounds.scratch, "files")?;
    if stream.read(&mut length).map_err(|_| Unreadable::Damaged("its end makes no sense"))? > 0 {
        return Err(Unreadable::Damaged("it goes on after its end"));
    }
    Ok(Saved { head, pages, contents })
}

/// So many bytes, if they are allowed. Memory is taken as they come, not as they are announced.
fn take(stream: &mut impl Read, bytes: u64, allowed: u64, what: &'static str) -> Result<Vec<u8>, Unreadable> {
    if bytes > allowed {
        return Err(Unreadable::TooLarge(what, bytes, allowed));
    }
    let mut taken = Vec::new();
    let read = stream.take(bytes).read_to_end(&mut taken);
    match read {
        Ok(read) if read as u64 == bytes => Ok(taken),
        _ => Err(Unreadable::Damaged("it ends early")),
    }
}

impl Head {
    /// Bytes of all pages, which lie in order within the memory.
    fn pages(&self, bounds: &Bounds) -> Result<u64, Unreadable> {
        let Some(machine) = &self.machine else { return Ok(0) };
        if machine.bytes > bounds.memory {
            return Err(Unreadable::TooLarge("memory", machine.bytes, bounds.memory));
        }
        if !machine.bytes.is_multiple_of(WASM_PAGE) {
            return Err(Unreadable::Damaged("its memory has no whole pages"));
        }
        let (mut end, mut pages) = (0_u64, 0_u64);
        for &(first, count) in &machine.runs {
            if u64::from(first) < end || count == 0 {
                return Err(Unreadable::Damaged("its pages are not in order"));
            }
            end = u64::from(first) + u64::from(count);
            pages += u64::from(count);
        }
        if end > machine.bytes / PAGE {
            return Err(Unreadable::Damaged("it has pages beyond its memory"));
        }
        Ok(pages * PAGE)
    }

    fn contents(&self) -> Result<u64, Unreadable> {
        let mut sizes = self.entries.iter().filter_map(|entry| entry.bytes);
        sizes.try_fold(0_u64, u64::checked_add).ok_or(Unreadable::Damaged("its files are impossibly large"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: [u8; DIGEST] = [7; DIGEST];
    const BOUNDS: Bounds = Bounds { image: IMAGE, memory: 1 << 20, scratch: 1 << 16 };

    fn saved() -> Saved {
        let machine =
            Machine { bytes: 1 << 17, globals: vec![1, u64::MAX], runs: vec![(0, 1), (3, 2)], displays: (1, 2) };
        let file = Entry { ino: 3, place: Some((1, "a\n\"ü".into())), times: [1, 2, 3], bytes: Some(5) };
        let head = Head {
            machine: Some(machine),
            cells: 4,
            bindings: BTreeMap::from([("user_input".into(), "text".into())]),
            args: vec!["x".into()],
            given: BTreeMap::from([("data.csv".into(), [9; 32])]),
            age: 5,
            deterministic: Some(Deterministic { seed: 1, drawn: 2 }),
            next: 9,
            entries: vec![Entry { ino: 1, ..Entry::default() }, file],
            descriptors: vec![Descriptor {
                number: 8,
                target: Target::Library("/usr/local/lib/python315.zip".into()),
                at: 3,
                flags: 1,
                read: true,
                write: false,
            }],
        };
        Saved { head, pages: (0..3 * 4096).map(|at| (at % 251) as u8).collect(), contents: b"hello".to_vec() }
    }

    fn refused(change: impl FnOnce(&mut Saved)) -> Unreadable {
        let mut saved = saved();
        change(&mut saved);
        decode(&encode(&saved, &IMAGE).unwrap(), &BOUNDS).unwrap_err()
    }

    #[test]
    fn what_is_written_is_read() {
        for saved in [saved(), Saved::default()] {
            assert_eq!(decode(&encode(&saved, &IMAGE).unwrap(), &BOUNDS), Ok(saved));
        }
    }

    #[test]
    fn any_damage_is_noticed() {
        let file = encode(&saved(), &IMAGE).unwrap();
        for at in 0..file.len() {
            let mut damaged = file.clone();
            damaged[at] ^= 1;
            let found = decode(&damaged, &BOUNDS).unwrap_err();
            let expected = match at {
                0..15 => Unreadable::Foreign,
                15 => Unreadable::Version(0),
                16..48 => Unreadable::OtherImage,
                _ => Unreadable::Damaged("its digest is another"),
            };
            assert_eq!(found, expected, "byte {at}");
        }
        for end in 0..file.len() {
            assert!(decode(&file[..end], &BOUNDS).is_err(), "{end} bytes");
        }
    }

    #[test]
    fn what_is_too_large_is_told_before_it_is_read() {
        let machine = |saved: &mut Saved| saved.head.machine.clone().unwrap();
        let larger = |saved: &mut Saved| saved.head.machine = Some(Machine { bytes: 2 << 20, ..machine(saved) });
        assert_eq!(refused(larger), Unreadable::TooLarge("memory", 2 << 20, 1 << 20));
        assert_eq!(
            refused(|saved| saved.head.entries[1].bytes = Some(1 << 40)),
            Unreadable::TooLarge("files", 1 << 40, 1 << 16)
        );
        let endless = |saved: &mut Saved| saved.contents = vec![0; 64 << 20];
        assert_eq!(refused(endless), Unreadable::Damaged("it goes on after its end"));
    }

    #[test]
    fn pages_lie_in_order_within_the_memory() {
        for (runs, why) in [
            (vec![(0, 2), (1, 1)], "its pages are not in order"),
            (vec![(0, 0), (1, 3)], "its pages are not in order"),
            (vec![(u32::MAX, u32::MAX)], "it has pages beyond its memory"),
            (vec![(31, 2), (40, 1)], "it has pages beyond its memory"),
            (vec![(0, 4)], "it ends early"),
        ] {
            let found = refused(|saved| saved.head.machine.as_mut().unwrap().runs = runs.clone());
            assert_eq!(found, Unreadable::Damaged(why), "{runs:?}");
        }
        let odd = refused(|saved| saved.head.machine.as_mut().unwrap().bytes += 4096);
        assert_eq!(odd, Unreadable::Damaged("its memory has no whole pages"));
        let overflow = |saved: &mut Saved| {
            saved.head.entries[1].bytes = Some(u64::MAX);
            saved.head.entries.push(Entry { ino: 4, bytes: Some(1), ..Entry::default() });
        };
        assert_eq!(refused(overflow), Unreadable::Damaged("its files are impossibly large"));
    }
}
