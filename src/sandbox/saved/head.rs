//! What a saved session holds besides bytes, as JSON.
//!
//! A few bytes of JSON can name much: a list that could take more memory than its text is bounded while it is read.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Bounds, Unreadable};

/// Pages of memory as [`Machine`] counts them, and what memory grows by.
pub(in super::super) const PAGE: u64 = 4096;
pub(in super::super) const WASM_PAGE: u64 = 64 << 10;

/// The roots of a tree, which do not count as its entries.
const ROOTS: u64 = 2;
/// Descriptors that are open from the start, which do not count as open files.
const GIVEN: u64 = 8;

/// All but bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Head {
    /// `None`: no cell has entered the interpreter.
    pub(in super::super) machine: Option<Machine>,
    pub(in super::super) cells: u32,
    /// Names of global variables that every fresh interpreter is given, each with the bytes of its text.
    #[serde(deserialize_with = "few::<_, _, 65_536>")]
    pub(in super::super) bindings: Vec<(String, u64)>,
    #[serde(deserialize_with = "few::<_, _, 65_536>")]
    pub(in super::super) args: Vec<String>,
    /// Paths under `/work` of files that were given to the session, and their SHA-256.
    #[serde(deserialize_with = "few::<_, _, 65_536>")]
    pub(in super::super) given: Vec<(String, [u8; 32])>,
    /// Nanoseconds that the guest's monotonic clock has counted; in a deterministic session that is all of time.
    pub(in super::super) age: u64,
    pub(in super::super) deterministic: Option<Deterministic>,
    /// The next inode number.
    pub(in super::super) next: u32,
    /// Of as many as a head has room for.
    #[serde(deserialize_with = "few::<_, _, 262_144>")]
    pub(in super::super) entries: Vec<Entry>,
    #[serde(deserialize_with = "few::<_, _, 65_536>")]
    pub(in super::super) descriptors: Vec<Descriptor>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Machine {
    /// Of linear memory.
    pub(in super::super) bytes: u64,
    #[serde(deserialize_with = "few::<_, _, 64>")]
    pub(in super::super) globals: Vec<u64>,
    /// First page and count of each run of pages that are not the image's; there are no more pages in 4 GiB.
    #[serde(deserialize_with = "few::<_, _, 1_048_576>")]
    pub(in super::super) runs: Vec<(u32, u32)>,
    /// What its driver was told that one displayed object may take, and all of a cell.
    pub(in super::super) displays: (u64, u64),
    /// The packages that its modules may come from, `name==version` each.
    #[serde(default, deserialize_with = "few::<_, _, 1_024>")]
    pub(in super::super) packages: Vec<String>,
}

/// Where the seeded entropy of a deterministic session stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Deterministic {
    /// Of the generator, as in [`SessionOptions`](super::super::SessionOptions).
    pub(in super::super) seed: u64,
    /// 32-bit words drawn so far.
    pub(in super::super) drawn: u64,
}

/// A file or folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Entry {
    pub(in super::super) ino: u32,
    /// The folder and the name in it; `None` for a root, and for what was removed while it was open.
    pub(in super::super) place: Option<(u32, String)>,
    /// Accessed, modified, changed: nanoseconds since the Unix epoch.
    pub(in super::super) times: [u64; 3],
    /// A file's size; a folder has none.
    pub(in super::super) bytes: Option<u64>,
}

/// A descriptor that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct Descriptor {
    pub(in super::super) number: u32,
    pub(in super::super) target: Target,
    /// Where the next read or write begins.
    pub(in super::super) at: u64,
    /// Preview 1's `fdflags`.
    pub(in super::super) flags: u16,
    pub(in super::super) read: bool,
    pub(in super::super) write: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Target {
    /// Standard input, output or error.
    Stream(u8),
    /// One of the folders that are open from the start.
    Preopen(u8),
    /// An inode of the session's own files.
    Scratch(u32),
    /// A path of the read-only folders, as the guest names it.
    Library(String),
    /// A path in what a user gave to the session, as the guest names it, and the host's number of what was there.
    Granted(String, Option<u64>),
}

impl Head {
    /// Refuses more than the bounds allow to be there at once.
    pub(super) fn counts(&self, bounds: &Bounds) -> Result<(), Unreadable> {
        let entries = (self.entries.len() as u64).saturating_sub(ROOTS);
        let open = (self.descriptors.len() as u64).saturating_sub(GIVEN);
        for (what, count, allowed) in
            [("files and folders", entries, bounds.entries), ("open files", open, bounds.open_files)]
        {
            if count > allowed {
                return Err(Unreadable::TooMany(what, count, allowed));
            }
        }
        Ok(())
    }

    /// Bytes of all texts.
    pub(super) fn texts(&self) -> Result<u64, Unreadable> {
        sum(self.bindings.iter().map(|binding| binding.1))
    }

    /// Bytes of all pages, which lie in order within the memory.
    pub(super) fn pages(&self, bounds: &Bounds) -> Result<u64, Unreadable> {
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

    /// Bytes of all files.
    pub(super) fn contents(&self) -> Result<u64, Unreadable> {
        sum(self.entries.iter().filter_map(|entry| entry.bytes))
    }
}

fn sum(mut sizes: impl Iterator<Item = u64>) -> Result<u64, Unreadable> {
    sizes.try_fold(0_u64, u64::checked_add).ok_or(Unreadable::Damaged("its sizes are impossibly large"))
}

/// A list of at most `MOST`.
fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>, const MOST: usize>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_seq(Few::<T, MOST>(PhantomData))
}

struct Few<T, const MOST: usize>(PhantomData<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Few<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut taken = Vec::new();
        while let Some(one) = list.next_element()? {
            if taken.len() == MOST {
                return Err(A::Error::custom("the list is too long"));
            }
            taken.push(one);
        }
        Ok(taken)
    }
}
