//! The image on disk: built once per machine, found by the hash of all its inputs, mapped only when its seal holds.
//!
//! This is where bytes of a file become native code of this process. Whoever can write that file runs code as us, so
//! it lies in an owner-only folder whose seal (`provision::seal`) is checked before every load.

use std::path::Path;
use std::sync::Arc;

use wasmtime::{Engine, InstancePre, MemoryType, Module};

use super::budget::Budget;
use super::engine;
use super::files::{Mounts, PREOPENS};
use super::guest::Guest;
use super::instance;
use super::memory::{Finder, reread};
use super::snapshot::{self, Built, Recipe};
use super::state::WASM_PAGE;
use super::stock::{Parts, Stock};
use super::watcher::Watcher;
use super::worker::{Workers, stay_on_worker};
use crate::capacity::machine_memory;
use crate::error::OrInternal;
use crate::progress::{Progress, Step};
use crate::provision::{self, Cache, Folder, Item, MPL_DATA, PYTHON_LIB, PYTHON_WASM};
use crate::{Cancel, Config, Error, Metering, Result};

const RECIPE: Recipe<'static> = Recipe {
    driver: &[
        ("_slm_alone", include_str!("../../python-runtime/_slm_alone.py")),
        ("_slm_loop", include_str!("../../python-runtime/_slm_loop.py")),
        ("_slm_pools", include_str!("../../python-runtime/_slm_pools.py")),
        ("_slm_values", include_str!("../../python-runtime/_slm_values.py")),
        ("_slm_shared", include_str!("../../python-runtime/_slm_shared.py")),
        ("_slm_numpy", include_str!("../../python-runtime/_slm_numpy.py")),
        ("_slm_wire", include_str!("../../python-runtime/_slm_wire.py")),
        ("_slm_bundle", include_str!("../../python-runtime/_slm_bundle.py")),
        ("_slm_error", include_str!("../../python-runtime/_slm_error.py")),
        ("_slm_missing", include_str!("../../python-runtime/_slm_missing.py")),
        ("_slm_sources", include_str!("../../python-runtime/_slm_sources.py")),
        ("_slm_magic", include_str!("../../python-runtime/_slm_magic.py")),
        ("_slm_desktop", include_str!("../../python-runtime/_slm_desktop.py")),
        ("_slm_hashes", include_str!("../../python-runtime/_slm_hashes.py")),
        ("_slm_decimal", include_str!("../../python-runtime/_slm_decimal.py")),
        ("_slm_world", include_str!("../../python-runtime/_slm_world.py")),
        ("_slm_figures", include_str!("../../python-runtime/_slm_figures.py")),
        ("_slm_ipython", include_str!("../../python-runtime/_slm_ipython.py")),
        ("_slm_cell", include_str!("../../python-runtime/_slm_cell.py")),
    ],
    preload: concat!(include_str!("../../wasm/memory.py"), include_str!("../../wasm/preload.py")),
};

/// The kind of images in the cache, and what one is called.
const KIND: &str = "image";
const WHAT: &str = "the Python image";

/// The files inside the image's folder: the machine code, and the hash of what it was compiled from.
const CODE: &str = "python.cwasm";
const SNAPSHOT: &str = "snapshot.blake3";

/// What happens to the wasm before it is a snapshot, and what it finds and so may remember: its environment, folders,
/// time and random bytes. How the rest of the calls is answered is no part of it, so that not every change of `files`
/// and `wasi` costs a build: a snapshot is as good with a host that has been mended since. Nor could a session be mixed
/// up with another's snapshot by that: a saved one names the snapshot by its content.
const BUILDERS: [&str; 13] = [
    include_str!("snapshot.rs"),
    include_str!("waits.rs"),
    include_str!("guest.rs"),
    include_str!("metering/calls.rs"),
    include_str!("metering/labels.rs"),
    include_str!("metering/bulk.rs"),
    include_str!("metering/rewrite.rs"),
    include_str!("../metering.rs"),
    include_str!("clock.rs"),
    include_str!("entropy.rs"),
    include_str!("files/mod.rs"),
    include_str!("files/hub.rs"),
    include_str!("wasi/process.rs"),
];

/// A loaded image, with what runs its instances.
pub(super) struct Image {
    pub(super) pre: InstancePre<Guest>,
    pub(super) metering: Metering,
    pub(super) watcher: Arc<Watcher>,
    pub(super) workers: Workers,
    pub(super) budget: Arc<Budget>,
    pub(super) finder: Arc<Finder>,
    pub(super) stock: Stock,
    pub(super) mounts: Arc<Mounts>,
    /// What names the snapshot's content. A saved session holds only what differs from it.
    pub(super) snapshot: [u8; 32],
}

impl Image {
    pub(super) fn open(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Self> {
        let cache = Cache::open(&config.cache_dir)?;
        let engine = engine::runner(config.metering)?;
        let wheel = provision::fetch(&provision::PYTHON, config, &cache, progress, cancel)?;
        let folder = cache.folder(KIND, &key(config.metering, &engine), WHAT, progress, cancel, |staging| {
            build(config.metering, &wheel, staging, progress, cancel)
        })?;
        Self::load(config, &engine, &wheel, &folder)
    }

    fn load(config: &Config, engine: &Engine, wheel: &Folder, folder: &Folder) -> Result<Self> {
        let Config { metering, capacity, .. } = config;
        let path = folder.path().join(CODE);
        // SAFETY: `deserialize_file` trusts the file to be what this version of wasmtime wrote, now and while it is
        // mapped. `Cache::folder` has just checked the seal: the file is a regular one of ours in a folder that only
        // we can write, and either untouched since `build` wrote it or hashed whole against the digest noted then.
        // The key of the folder holds wasmtime's version and settings, and the file's header repeats them.
        #[expect(unsafe_code, reason = "mapping precompiled code; the seal is checked just before")]
        let module = unsafe { Module::deserialize_file(engine, &path) };
        let module = module
            .or_internal(format_args!("loading {}", path.display()))
            .map_err(|error| error.advise("remove that folder; the next start builds it anew"))?;
        let (pre, finder) = (instance::prepare(&module)?, Arc::new(Finder::new()));
        // No folder that a session is given besides shows the cache.
        let mounts = mounts(wheel).without(&config.cache_dir).or_internal("looking at the cache")?;
        let (budget, mounts) = (Budget::new(capacity), Arc::new(mounts));
        let watcher = Arc::new(Watcher::start(engine)?);
        let parts = Parts {
            pre: pre.clone(),
            finder: finder.clone(),
            budget: budget.clone(),
            mounts: mounts.clone(),
            watcher: watcher.clone(),
        };
        Ok(Self {
            stock: Stock::start(capacity.ready, parts)?,
            pre,
            metering: *metering,
            watcher,
            workers: Workers::new(capacity.workers),
            budget,
            finder,
            mounts,
            snapshot: read_hash(&folder.path().join(SNAPSHOT))?,
        })
    }

    /// How many globals can change.
    pub(super) fn globals(&self) -> usize {
        let can_change = |export: &wasmtime::ExportType<'_>| {
            export.ty().global().is_some_and(|global| global.mutability() == wasmtime::Mutability::Var)
        };
        self.pre.module().exports().filter(can_change).count()
    }

    /// The linear memory that an interpreter starts with.
    pub(super) fn memory_bytes(&self) -> u64 {
        let memory = self.pre.module().get_export("memory").and_then(|memory| memory.memory().map(MemoryType::minimum));
        memory.unwrap_or_default() * WASM_PAGE
    }
}

/// The read-only folders that the wheel holds.
fn mounts(wheel: &Folder) -> Mounts {
    Mounts::new(wheel.path().join(PYTHON_LIB), wheel.path().join(MPL_DATA))
}

fn read_hash(path: &Path) -> Result<[u8; 32]> {
    let doing = || format!("reading {}", path.display());
    let text = std::fs::read_to_string(path).or_internal(doing())?;
    Ok(*blake3::Hash::from_hex(text.trim()).or_internal(doing())?.as_bytes())
}

/// What the sandbox needs, and whether it is there.
pub(super) fn inventory(config: &Config) -> Result<Vec<Item>> {
    let cache = Cache::inspect(&config.cache_dir)?;
    let key = key(config.metering, &engine::runner(config.metering)?);
    Ok(vec![
        Item::fetched(&cache, config, &provision::PYTHON),
        Item::built(&cache, KIND, &key, WHAT, "programs start from it in a millisecond"),
    ])
}

/// Whether this version, on this machine, could still use a folder of the cache.
pub(super) fn keeps(kind: &str, key: &str) -> bool {
    let wheel = provision::PYTHON.place().is_some_and(|place| (place.0, place.1.as_str()) == (kind, key));
    wheel
        || kind == KIND
            && Metering::ALL
                .into_iter()
                .any(|metering| engine::runner(metering).is_ok_and(|engine| self::key(metering, &engine) == key))
}

/// Names all that decides what the image holds. The engine's own hash covers wasmtime's version, its settings, the
/// target and the processor's features.
fn key(metering: Metering, engine: &Engine) -> String {
    use std::hash::{Hash, Hasher};
    struct Blake(blake3::Hasher);
    impl Hasher for Blake {
        fn finish(&self) -> u64 {
            unreachable!("the whole digest is taken")
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
    }
    let mut hasher = Blake(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    (metering, BUILDERS, env!("CARGO_PKG_VERSION"), provision::PYTHON.place(), RECIPE.driver, RECIPE.preload, PREOPENS)
        .hash(&mut hasher);
    hasher.0.finalize().to_hex()[..32].to_owned()
}

/// What a build takes at its peak, in bytes of memory.
const BUILD_MEMORY: u64 = 3_000_000_000;

/// Builds the image into `staging`. The compiler cannot be interrupted, so it runs on a thread that a cancel leaves
/// behind; nothing of what it still makes is used.
fn build(metering: Metering, wheel: &Folder, staging: &Path, progress: &Progress, cancel: &Cancel) -> Result<()> {
    let doing = "building the Python image";
    if let Some(free) = machine_memory("MemAvailable").filter(|free| *free < BUILD_MEMORY) {
        let text = format!(
            "building the Python image takes about {} MB of memory and {} MB are free: if it is slow or ended by the \
             system, close other programs and start again",
            BUILD_MEMORY / 1_000_000,
            free / 1_000_000
        );
        progress.step(Step::Note { text: &text });
    }
    let (send, receive) = std::sync::mpsc::sync_channel(1);
    let (wheel, code_progress, code_cancel) = (wheel.clone(), progress.clone(), cancel.clone());
    std::thread::spawn(move || {
        let wasm = wheel.path().join(PYTHON_WASM);
        let built = stay_on_worker(|| {
            snapshot::build(metering, &wasm, Arc::new(mounts(&wheel)), &RECIPE, &code_progress, &code_cancel)
        });
        // Nobody listens after a cancel.
        let _ = send.send(built.and_then(|built| built));
    });
    let Built { code, snapshot } = loop {
        match receive.recv_timeout(std::time::Duration::from_millis(50)) {
            Ok(built) => break built?,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => cancel.check()?,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Error::internal("the compiler stopped").context(doing));
            }
        }
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = staging.join(name);
        std::fs::write(&path, bytes).or_internal(format_args!("writing {}", path.display()))
    };
    write(SNAPSHOT, snapshot.to_hex().as_bytes())?;
    progress.during("writing the image", Some(code.len() as u64), || {
        write(CODE, &code)?;
        drop(code);
        reread(&staging.join(CODE));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_the_same_for_the_same_engine_and_fits_a_folder_name() {
        let key = key(Metering::Loops, &engine::runner(Metering::Loops).unwrap());
        assert_eq!(key, super::key(Metering::Loops, &engine::runner(Metering::Loops).unwrap()));
        assert_ne!(key, super::key(Metering::Wasmtime, &engine::runner(Metering::Wasmtime).unwrap()));
        assert!(key.len() == 32 && key.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
