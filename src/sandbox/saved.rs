//! A session as one file: what it looks like, and reading one that anybody may have written.
//!
//! ```text
//! magic (16) | the image's snapshot, BLAKE3 (32) | BLAKE3 of the rest (32) | zlib stream of:
//!     length of the head, u32 | head, JSON | texts bound to variables | pages of memory | contents of files
//! ```
//!
//! All numbers are little-endian. The digest finds damage, not malice: what is read is as untrusted as the code of a
//! cell, which can bring about any of it. So a reader checks only what the host itself relies on: sizes, order, counts.
//! Memory is taken in proportion to what is there, not to what is announced. Pure: no wasmtime, no files. The submodules
//! have explicit paths so that this file can be included from elsewhere, to be fuzzed.

#[path = "saved/head.rs"]
pub(super) mod head;

use std::fmt;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

pub(super) use head::{Descriptor, Deterministic, Entry, Head, Machine, Target};

/// The last byte is the format's version.
const MAGIC: [u8; 16] = *b"slm-ci session\0\x02";
const DIGEST: usize = 32;
const PREFIX: usize = MAGIC.len() + 2 * DIGEST;

/// Bytes of a head. One of a file or folder takes about 130 of them.
const MAX_HEAD: u64 = 8 << 20;

/// A saved session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Saved {
    pub(super) head: Head,
    /// Those of `head.bindings`, one after the other.
    pub(super) texts: Vec<u8>,
    /// The pages of `head.machine`, one after the other.
    pub(super) pages: Vec<u8>,
    /// The contents of the files in `head.entries`, one after the other.
    pub(super) contents: Vec<u8>,
}

/// What a reader takes.
pub(super) struct Bounds {
    pub(super) image: [u8; DIGEST],
    /// Bytes of linear memory, and of texts bound to variables.
    pub(super) memory: u64,
    /// Bytes of files.
    pub(super) scratch: u64,
    /// Files and folders.
    pub(super) entries: u64,
    pub(super) open_files: u64,
}

impl Bounds {
    /// The largest stream that can hold what is allowed.
    fn stream(&self) -> u64 {
        MAX_HEAD.saturating_add(self.memory.saturating_mul(2)).saturating_add(self.scratch)
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
    /// The same for what is counted.
    TooMany(&'static str, u64, u64),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => f.write_str("it is not a saved session"),
            Self::Version(version) => {
                write!(f, "it has version {version} of the format, this program reads {}", MAGIC[15])
            }
            Self::OtherImage => {
                f.write_str("it was saved with another Python image: by another version, or with another --metering")
            }
            Self::Damaged(why) => write!(f, "it is damaged: {why}"),
            Self::TooLarge(what, bytes, allowed) => {
                write!(f, "it holds {bytes} bytes of {what}, and {allowed} are allowed")
            }
            Self::TooMany(what, count, allowed) => write!(f, "it holds {count} {what}, and {allowed} are allowed"),
        }
    }
}

/// The whole file.
///
/// # Errors
/// A head that no reader would take.
pub(super) fn encode(saved: &Saved, image: &[u8; DIGEST]) -> io::Result<Vec<u8>> {
    let head = serde_json::to_vec(&saved.head)?;
    if head.len() as u64 > MAX_HEAD || serde_json::from_slice::<Head>(&head).is_err() {
        return Err(io::Error::other("the session has more files, names or arguments than a saved one can hold"));
    }
    let length = u32::try_from(head.len()).map_err(io::Error::other)?;
    let mut stream = ZlibEncoder::new(vec![0; PREFIX], Compression::fast());
    for part in [&length.to_le_bytes()[..], &head, &saved.texts, &saved.pages, &saved.contents] {
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
    let head: Head = {
        let text = take(&mut stream, u32::from_le_bytes(length).into(), MAX_HEAD, "names")?;
        serde_json::from_slice(&text).map_err(|_| Unreadable::Damaged("its head makes no sense"))?
    };
    head.counts(bounds)?;
    let texts = take(&mut stream, head.texts()?, bounds.memory, "texts")?;
    let pages = take(&mut stream, head.pages(bounds)?, bounds.memory, "memory")?;
    let contents = take(&mut stream, head.contents()?, bounds.scratch, "files")?;
    if stream.read(&mut length).map_err(|_| Unreadable::Damaged("its end makes no sense"))? > 0 {
        return Err(Unreadable::Damaged("it goes on after its end"));
    }
    Ok(Saved { head, texts, pages, contents })
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

#[cfg(test)]
#[path = "saved/tests.rs"]
mod tests;
