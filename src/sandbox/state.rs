//! What a session is, as a value: kept before each cell, handed out as a [`Checkpoint`], written into a file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use super::budget::Charge;
use super::clock::Clock;
use super::entropy::Entropy;
use super::files::Files;
use super::files::tree::{Body, Entry, Ino, Quota, Times, Tree};
use super::guest::World;
use super::image::Image;
use super::memory::{Pages, Run};
use super::options::SessionOptions;
use super::saved::{self, Bounds, Deterministic, Head, Saved};
use super::scratch::Scratch;
use crate::{Error, Limits, Metering, Result};

/// Wasm counts memory in these.
pub(super) const WASM_PAGE: u64 = 64 << 10;

/// An interpreter between two cells, apart from its image.
pub(super) struct Machine {
    /// Of linear memory.
    pub(super) bytes: u64,
    /// The bits of every global that can change, in the order of the image's exports.
    pub(super) globals: Vec<u64>,
    pub(super) pages: Pages,
    /// What its driver was told that one displayed object may take, and all of a cell.
    pub(super) displays: (u64, u64),
    /// The packages that it was told to import from, `name==version` each.
    pub(super) packages: Arc<[String]>,
}

/// What an interpreter starts from.
#[derive(Clone)]
pub(super) enum Interpreter {
    /// The image: no cell has entered it.
    Fresh,
    Kept(Arc<Kept>),
    /// There was one, and it was not kept: a fresh one takes its place.
    Lost,
}

/// A machine, and the account of its bytes.
pub(super) struct Kept {
    pub(super) machine: Machine,
    _charge: Charge,
}

impl Interpreter {
    /// Keeps the machine if the memory that sessions share has room for it.
    pub(super) fn keep(machine: Machine, mut charge: Charge) -> Self {
        if charge.set(machine.pages.len() as u64) {
            Self::Kept(Arc::new(Kept { machine, _charge: charge }))
        } else {
            Self::Lost
        }
    }

    /// Its pages, to be kept up to date, unless somebody else holds them.
    pub(super) fn into_pages(self) -> Pages {
        match self {
            Self::Kept(kept) => Arc::into_inner(kept).map(|kept| kept.machine.pages).unwrap_or_default(),
            Self::Fresh | Self::Lost => Pages::default(),
        }
    }
}

/// A session between two cells. Cheap to clone.
#[derive(Clone)]
pub(super) struct State {
    pub(super) interpreter: Interpreter,
    pub(super) world: World,
    pub(super) scratch: Scratch,
    pub(super) cells: u32,
    /// Texts that every fresh interpreter is given as global variables.
    pub(super) bindings: Arc<BTreeMap<String, String>>,
}

impl State {
    /// # Errors
    /// More memory or files than the limits allow.
    pub(super) fn fits(&self, limits: &Limits) -> Result<()> {
        let memory = match &self.interpreter {
            Interpreter::Kept(kept) => kept.machine.bytes,
            Interpreter::Fresh | Interpreter::Lost => 0,
        };
        let files = &self.world.files;
        let used = files.tree().used();
        for (what, holds, allowed) in [
            ("bytes of memory", memory, limits.memory),
            ("bytes of files", used.bytes, limits.scratch),
            ("files and folders", used.entries, limits.entries),
            ("open files", files.opened().len() as u64, limits.open_files.saturating_add(8)),
        ] {
            if holds > allowed {
                let text = format!("the state holds {holds} {what}, and {allowed} are allowed");
                return Err(Error::usage(text).advise("allow as much as the session had that it is from"));
            }
        }
        Ok(())
    }

    /// The packages that its interpreter was told to import from.
    pub(super) fn packages(&self) -> &[String] {
        match &self.interpreter {
            Interpreter::Kept(kept) => &kept.machine.packages,
            Interpreter::Fresh | Interpreter::Lost => &[],
        }
    }

    fn save(&self, options: &SessionOptions) -> Saved {
        let (machine, pages) = match &self.interpreter {
            Interpreter::Kept(kept) => {
                let Machine { bytes, globals, pages, displays, packages } = &kept.machine;
                let (runs, pages) = pages.in_order();
                let runs = runs.into_iter().map(|run| (run.first, run.count)).collect();
                let packages = packages.to_vec();
                let machine =
                    saved::Machine { bytes: *bytes, globals: globals.clone(), runs, displays: *displays, packages };
                (Some(machine), pages)
            }
            Interpreter::Fresh | Interpreter::Lost => (None, Vec::new()),
        };
        let files = &self.world.files;
        let (entries, contents) = entries(files.tree());
        let texts = self.bindings.values().map(String::as_str).collect::<String>().into_bytes();
        let head = Head {
            machine,
            cells: self.cells,
            bindings: self.bindings.iter().map(|(name, text)| (name.clone(), text.len() as u64)).collect(),
            args: options.args.clone(),
            given: self.scratch.given().clone().into_iter().collect(),
            age: self.world.clock.monotonic(0),
            deterministic: self.world.entropy.position().map(|(seed, drawn)| Deterministic { seed, drawn }),
            next: files.tree().next_ino(),
            entries,
            descriptors: files.opened(),
        };
        Saved { head, texts, pages, contents }
    }

    /// What [`Checkpoint::save`] wrote. `options` get the saved arguments and, if it was deterministic, its seed.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, of another image, or holds more than the limits allow.
    pub(super) fn load(image: &Arc<Image>, path: &Path, options: &mut SessionOptions) -> Result<Self> {
        let refused = |why: &dyn std::fmt::Display| {
            Error::usage(why).context(format_args!("cannot go on from {}", path.display()))
        };
        let Limits { memory, scratch, entries, open_files, .. } = options.limits;
        let bounds = Bounds { image: image.snapshot, memory, scratch, entries, open_files };
        // Before it is opened: a pipe would wait for somebody to write to it.
        let metadata = fs::metadata(path).map_err(|error| refused(&error))?;
        if !metadata.is_file() {
            return Err(refused(&"it is not a regular file"));
        }
        let file = fs::File::open(path).map_err(|error| refused(&error))?;
        let mut bytes = Vec::new();
        file.take(bounds.file()).read_to_end(&mut bytes).map_err(|error| refused(&error))?;
        if bytes.len() as u64 == bounds.file() {
            return Err(refused(&"it is larger than the limits on memory and files allow"));
        }
        let Saved { head, texts, pages, contents } = saved::decode(&bytes, &bounds).map_err(|error| refused(&error))?;
        drop(bytes);

        let interpreter = match head.machine {
            None => Interpreter::Fresh,
            Some(saved::Machine { bytes, globals, runs, displays, packages }) => {
                options
                    .has(&packages)
                    .map_err(|error| error.context(format_args!("cannot go on from {}", path.display())))?;
                if globals.len() != image.globals() {
                    return Err(refused(&"it is damaged: its globals are not the image's"));
                }
                let runs: Vec<_> = runs.into_iter().map(|(first, count)| Run { first, count }).collect();
                let (pages, packages) = (Pages::new(&runs, pages), packages.into());
                let machine = Machine { bytes, globals, pages, displays, packages };
                match Interpreter::keep(machine, image.budget.charge()) {
                    Interpreter::Lost => return Err(Error::busy("there is no memory left for another session")),
                    kept => kept,
                }
            }
        };
        let (clock, entropy) = match &head.deterministic {
            None => (Clock::real(head.age), Entropy::System),
            Some(Deterministic { seed, drawn }) => {
                (Clock::counted(image.metering, head.age), Entropy::seeded(*seed, *drawn))
            }
        };
        options.deterministic = head.deterministic.map(|saved| saved.seed).or(options.deterministic);
        options.args = head.args;
        let tree = tree(options.quota(), head.next, head.entries, &contents).map_err(|why| refused(&why))?;
        let files = Files::reopen(image.mounts.clone(), tree, options.limits.open_files, head.descriptors)
            .map_err(|why| refused(&why))?;
        let bindings = bindings(head.bindings, &texts).map_err(|why| refused(&why))?;
        Ok(Self {
            interpreter,
            world: World { files, clock, entropy },
            scratch: Scratch::new(head.given.into_iter().collect()),
            cells: head.cells,
            bindings: Arc::new(bindings),
        })
    }
}

/// The texts that lie one after the other, under their names.
fn bindings(names: Vec<(String, u64)>, texts: &[u8]) -> Result<BTreeMap<String, String>, &'static str> {
    let mut rest = texts;
    let one = |(name, bytes)| {
        let bytes = usize::try_from(bytes).ok().filter(|bytes| *bytes <= rest.len()).ok_or("a text is not whole")?;
        let (text, others) = rest.split_at(bytes);
        rest = others;
        Ok((name, String::from_utf8(text.to_vec()).map_err(|_| "a text is none")?))
    };
    names.into_iter().map(one).collect()
}

/// The entries of a tree, and the contents of its files, one after the other.
fn entries(tree: &Tree) -> (Vec<saved::Entry>, Vec<u8>) {
    let mut contents = Vec::new();
    let entry = |Entry { ino, place, times, body }| saved::Entry {
        ino: ino.0,
        place: place.map(|(folder, name)| (folder.0, name)),
        times: [times.accessed, times.modified, times.changed],
        bytes: match body {
            Body::Folder => None,
            Body::File(bytes) => {
                contents.extend_from_slice(&bytes);
                Some(bytes.len() as u64)
            }
        },
    };
    (tree.entries().into_iter().map(entry).collect(), contents)
}

/// The tree that [`entries`] took apart.
fn tree(quota: Quota, next: u32, entries: Vec<saved::Entry>, contents: &[u8]) -> Result<Tree, &'static str> {
    let mut rest = contents;
    let mut entry = |saved::Entry { ino, place, times: [accessed, modified, changed], bytes }| {
        let body = match bytes.map(usize::try_from) {
            None => Body::Folder,
            Some(Ok(bytes)) if bytes <= rest.len() => {
                let (content, others) = rest.split_at(bytes);
                rest = others;
                Body::File(content.to_vec())
            }
            Some(_) => return Err("a file is not whole"),
        };
        let place = place.map(|(folder, name)| (Ino(folder), name));
        Ok(Entry { ino: Ino(ino), place, times: Times { accessed, modified, changed }, body })
    };
    let entries = entries.into_iter().map(&mut entry).collect::<Result<_, _>>()?;
    Tree::from_entries(quota, next, entries)
}

impl World {
    /// Takes on the limits on files of a session, and its kind of time and random bytes. Time goes on from where it is.
    pub(super) fn adopt(&mut self, options: &SessionOptions, metering: Metering) {
        self.files.set_limits(options.quota(), options.limits.open_files);
        if self.clock.is_counted() != options.deterministic.is_some() {
            let lived = self.clock.monotonic(0);
            (self.clock, self.entropy) = match options.deterministic {
                None => (Clock::real(lived), Entropy::System),
                Some(seed) => (Clock::counted(metering, lived), Entropy::seeded(seed, 0)),
            };
        }
    }
}

/// A session's state, kept apart from it: variables, files, counters. Cheap to clone; the clones share it.
#[derive(Clone)]
pub struct Checkpoint {
    image: Arc<Image>,
    state: State,
    /// For the bytes of its files.
    _charge: Arc<Charge>,
}

impl Checkpoint {
    pub(super) fn new(image: Arc<Image>, state: State, charge: Charge) -> Self {
        Self { image, state, _charge: Arc::new(charge) }
    }

    /// The state, for a session of `image`.
    pub(super) fn state(&self, image: &Arc<Image>) -> Result<State> {
        if !Arc::ptr_eq(&self.image, image) {
            return Err(Error::usage("the checkpoint is of another Python image"));
        }
        Ok(self.state.clone())
    }

    /// Writes it beside `path`, readable by its owner alone, and puts it there when it is whole.
    pub(super) fn save(&self, options: &SessionOptions, path: &Path) -> Result<()> {
        let refused = |why: &dyn std::fmt::Display| {
            Error::usage(why).context(format_args!("cannot save the session as {}", path.display()))
        };
        let bytes = saved::encode(&self.state.save(options), &self.image.snapshot).map_err(|error| refused(&error))?;
        // Behind a link, so that not the link is replaced.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file =
            tempfile::Builder::new().prefix(".saving-").tempfile_in(folder).map_err(|error| refused(&error))?;
        file.write_all(&bytes).map_err(|error| refused(&error))?;
        file.as_file().sync_all().map_err(|error| refused(&error))?;
        file.persist(&path).map_err(|error| refused(&error.error))?;
        Ok(())
    }
}

impl fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkpoint").field("cells", &self.state.cells).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::PAGE;
    use super::*;

    /// `saved` knows nothing of the rest, so it has numbers of its own.
    #[test]
    fn what_is_saved_is_counted_in_the_same_pages() {
        assert_eq!((saved::head::PAGE, saved::head::WASM_PAGE), (PAGE as u64, WASM_PAGE));
    }
}
