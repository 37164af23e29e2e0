//! From the wheel's `python.wasm` to machine code of an interpreter that has already started and imported.
//!
//! mend the waits → put the counter in → instrument → compile → instantiate → preload → snapshot → instrument again → compile again.
//! Instrumenting and the snapshot are wizer's; the second instrumentation exports the stack pointer, so that a session's
//! state can be read and restored. Both compilations share a store of compiled functions: all but a few are the same in both.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::json;
use wasm_encoder::RawSection;
use wasmparser::{ElementItems, ExternalKind, Parser, Payload, ValType};
use wasmtime::{CacheStore, Engine, Module};
use wasmtime_wizer::{InstanceState, ModuleContext, SnapshotVal, Wizer};

use super::budget::{Budget, MemoryCap};
use super::clock::Clock;
use super::engine;
use super::entropy::Entropy;
use super::files::tree::Quota;
use super::files::{Files, Mounts, PREOPENS};
use super::guest::{Guest, World};
use super::instance::{self, End, Instance};
use super::metering;
use super::state::WASM_PAGE;
use super::waits;
use super::watcher::Watcher;
use crate::error::OrInternal;
use crate::progress::{Progress, Step, Unit};
use crate::{Cancel, Capacity, Error, Limits, Metering, Result};

/// What the preloaded interpreter may take of memory, time and files; all of it is far more than it needs.
const MEMORY: u64 = 1 << 30;
const WALL: Duration = Duration::from_secs(300);
const QUOTA: Quota = Quota { bytes: 64 << 20, entries: 1024, depth: 32 };
const OPEN_FILES: u64 = 64;

/// The seed of its random bytes. With it and virtual time the same parts give the same snapshot on machines of one kind.
const SEED: u64 = 0;

/// What is put into the interpreter before the snapshot.
pub(super) struct Recipe<'a> {
    /// The cell driver's modules and their sources.
    pub(super) driver: &'a [(&'a str, &'a str)],
    /// A module whose `build(driver, mounts)` imports what shall stay imported and installs the driver.
    pub(super) preload: &'a str,
}

/// What a build gives.
pub(super) struct Built {
    /// The machine code of the snapshot.
    pub(super) code: Vec<u8>,
    /// The hash of the snapshot itself, which does not depend on when and by whom it was built.
    pub(super) snapshot: blake3::Hash,
}

/// Builds the image. Must run on a worker thread, for its stack.
pub(super) fn build(
    metering: Metering,
    wasm: &Path,
    mounts: Arc<Mounts>,
    recipe: &Recipe<'_>,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<Built> {
    let functions = Arc::new(FunctionStore { progress: progress.clone(), ..FunctionStore::default() });
    let engine = engine::compiler(metering, functions.clone())?;

    // Everything of the first compilation is gone before the second begins: together they would need gigabytes.
    let snapshot = {
        let read = || std::fs::read(wasm).or_internal(format_args!("reading {}", wasm.display()));
        let wasm = waits::mend(&read()?)?;
        let wasm = match metering {
            Metering::Loops => metering::rewrite(&wasm)?,
            Metering::Wasmtime => wasm,
        };
        let mut wizer = Wizer::new();
        wizer.init_func("wizer.initialize").keep_init_func(true);
        let (context, instrumented) = wizer.instrument(&wasm).or_internal("instrumenting Python")?;
        let module = functions.during("compiling Python for this machine", &instrumented, || {
            Module::new(&engine, &instrumented).or_internal("compiling Python")
        })?;
        drop(instrumented);
        cancel.check()?;
        progress.during("starting Python and importing what programs reach for", None, || {
            let instance = preloaded(metering, &engine, &module, mounts, recipe, cancel)?;
            take(&wizer, &context, instance)
        })?
    };
    cancel.check()?;

    functions.reuse_only();
    let hash = blake3::hash(&snapshot);
    let instrumented = {
        let (_, instrumented) = Wizer::new().instrument(&snapshot).or_internal("instrumenting the snapshot")?;
        drop(snapshot);
        instrumented
    };
    let code = functions.during("compiling the snapshot", &instrumented, || {
        engine.precompile_module(&instrumented).or_internal("compiling the snapshot")
    })?;
    Ok(Built { code, snapshot: hash })
}

/// An interpreter that has started and run the recipe.
fn preloaded(
    metering: Metering,
    engine: &Engine,
    module: &Module,
    mounts: Arc<Mounts>,
    recipe: &Recipe<'_>,
    cancel: &Cancel,
) -> Result<Instance> {
    let clock = Clock::counted(metering, 0);
    let files = Files::new(mounts, QUOTA, OPEN_FILES, clock.wall(0));
    let world = World { files, clock, entropy: Entropy::seeded(SEED, 0) };
    let memory = MemoryCap::new(MEMORY, Budget::new(&Capacity::default().memory(MEMORY)).charge());
    let guest = Guest::new(world, memory, &Limits::default());
    let mut instance = Instance::new(&instance::prepare(module)?, guest)?;
    instance.call("_initialize")?;
    instance.call("wizer.initialize")?;
    let watcher = Watcher::start(engine)?;
    let sources: BTreeMap<&str, &str> = recipe.driver.iter().copied().collect();
    let sources = json!(sources).to_string();
    let text = format!(
        "space = {{'__name__': 'preload'}}\nexec(compile({}, '<preload>', 'exec'), space)\nspace['build']({sources}, {})",
        literal(recipe.preload),
        PREOPENS.len()
    );
    let code = format!("exec({}, {{}})", literal(&text));
    let turn = instance.turn(&code, WALL, None, cancel, &watcher)?;
    match turn.end {
        End::Returned(0) => Ok(instance),
        End::Cancelled => Err(Error::cancelled()),
        end => {
            let last = turn.stderr.text.lines().last().unwrap_or_default();
            log::debug!("preloading Python: {}", turn.stderr.text);
            Err(Error::internal(format_args!("{end:?}: {last}")).context("preloading Python"))
        }
    }
}

/// A JSON string is a Python string literal: both know the same escapes.
pub(super) fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// How the custom section begins that the compiler reads: with the length of its name.
const BRANCH_HINTS: &[u8] = b"\x19metadata.code.branch_hint";

/// The module that starts where `instance` stands, without the custom sections that nobody reads: names are 14 MB.
fn take(wizer: &Wizer, context: &ModuleContext<'_>, mut instance: Instance) -> Result<Vec<u8>> {
    let wasm = {
        let mut state = State(&mut instance);
        at_once(wizer.snapshot(context, &mut state))?.or_internal("taking the snapshot")?
    };
    drop(instance);
    let mut stripped = wasm_encoder::Module::new();
    for payload in Parser::new(0).parse_all(&wasm) {
        let payload = payload.or_internal("reading the snapshot")?;
        match payload.as_section() {
            Some((0, range)) if !wasm[range.clone()].starts_with(BRANCH_HINTS) => {}
            None => {}
            Some((id, range)) => {
                stripped.section(&RawSection { id, data: &wasm[range] });
            }
        }
    }
    Ok(stripped.finish())
}

/// The result of a future that waits for nothing: wizer's, since [`State`] never does.
fn at_once<T>(future: impl Future<Output = T>) -> Result<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Ok(result),
        Poll::Pending => Err(Error::internal("wizer waits").context("taking the snapshot")),
    }
}

/// What wizer asks of an instance.
struct State<'a>(&'a mut Instance);

impl InstanceState for State<'_> {
    async fn global_get(&mut self, name: &str, _: ValType) -> SnapshotVal {
        let instance = self.0.wasm_instance();
        let global = instance.get_global(&mut self.0.store, name).expect("wizer exported this global");
        match global.get(&mut self.0.store) {
            wasmtime::Val::I32(value) => SnapshotVal::I32(value),
            wasmtime::Val::I64(value) => SnapshotVal::I64(value),
            wasmtime::Val::F32(value) => SnapshotVal::F32(value),
            wasmtime::Val::F64(value) => SnapshotVal::F64(value),
            wasmtime::Val::V128(value) => SnapshotVal::V128(value.as_u128()),
            _ => unreachable!("wizer refused a module with other globals"),
        }
    }

    async fn memory_contents(&mut self, name: &str, contents: impl FnOnce(&[u8]) + Send) {
        let instance = self.0.wasm_instance();
        match instance.get_memory(&mut self.0.store, name) {
            Some(memory) => contents(memory.data(&self.0.store)),
            // The counter's, which is set before each cell.
            None => {
                let shared = instance.get_shared_memory(&mut self.0.store, name);
                assert!(shared.is_some(), "wizer exported this memory");
                contents(&[0; WASM_PAGE as usize]);
            }
        }
    }
}

/// The compiled functions of the first compilation, each handed out once to the second.
#[derive(Default)]
struct FunctionStore {
    compiled: Mutex<HashMap<Vec<u8>, Vec<u8>>>,
    reuse_only: AtomicBool,
    asked: AtomicU64,
    progress: Progress,
}

impl FunctionStore {
    /// From now on nothing is added, and what is taken is gone: nobody compiles a third time.
    fn reuse_only(&self) {
        self.reuse_only.store(true, Ordering::Relaxed);
    }

    /// Announces a compilation and counts its functions as they are asked for.
    fn during<T>(&self, what: &str, wasm: &[u8], compile: impl FnOnce() -> Result<T>) -> Result<T> {
        self.asked.store(0, Ordering::Relaxed);
        self.progress.during_counted(what, functions(wasm), Unit::Functions, compile)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Vec<u8>, Vec<u8>>> {
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How many functions are compiled for the module: those that it defines, an entry for each that the host or a table may
/// call, and an exit to the host for each type of function.
fn functions(wasm: &[u8]) -> Option<u64> {
    let (mut count, mut entered) = (0, HashSet::new());
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.ok()? {
            Payload::TypeSection(section) => count += u64::from(section.count()),
            Payload::FunctionSection(section) => count += u64::from(section.count()),
            Payload::ExportSection(section) => {
                let exports = section.into_iter().flatten().filter(|export| export.kind == ExternalKind::Func);
                entered.extend(exports.map(|export| export.index));
            }
            Payload::ElementSection(section) => {
                for element in section {
                    if let ElementItems::Functions(functions) = element.ok()?.items {
                        entered.extend(functions.into_iter().flatten());
                    }
                }
            }
            // What follows is code, which tells nothing more.
            Payload::CodeSectionStart { .. } => break,
            _ => {}
        }
    }
    Some(count + entered.len() as u64)
}

impl CacheStore for FunctionStore {
    fn get(&self, key: &[u8]) -> Option<Cow<'_, [u8]>> {
        let asked = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        if asked.is_multiple_of(256) {
            self.progress.step(Step::Advance { done: asked });
        }
        if !self.reuse_only.load(Ordering::Relaxed) {
            return self.lock().get(key).cloned().map(Cow::Owned);
        }
        self.lock().remove(key).map(Cow::Owned)
    }

    fn insert(&self, key: &[u8], value: Vec<u8>) -> bool {
        if self.reuse_only.load(Ordering::Relaxed) {
            return false;
        }
        self.lock().insert(key.to_vec(), value);
        true
    }
}

impl std::fmt::Debug for FunctionStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FunctionStore({} functions)", self.lock().len())
    }
}
