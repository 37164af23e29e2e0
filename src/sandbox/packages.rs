//! Packages that the user names, for sessions: chosen by pip, judged and compiled by a guest, kept in the cache.
//!
//! What a wheel's metadata mean is decided in the guest, by the interpreter that they are for: its own markers and
//! versions count, and untrusted texts are read where they can do no harm (`python-runtime/packages.py`).

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::files::Packages as Mounted;
use super::{Python, Session, SessionOptions, Status};
use crate::error::OrInternal;
use crate::provision::packages::{Checked, Inside, Lock, PackageRequest, Room, SITE, Store};
use crate::{Cancel, Config, Error, Limits, Progress, Result, Step};

const SCRIPT: &str = include_str!("../../python-runtime/packages.py");
/// Where sessions see their packages.
pub(super) const TARGET: &str = super::files::PACKAGES;
/// How often pip is asked again for what the guest finds missing.
const ROUNDS: usize = 4;
/// What the guest writes its bytecode into, under `/work`.
const COMPILED: &str = "compiled.zip";

/// A package as `import` and `importlib.metadata` see it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// One that was asked for, or that such a one needs; else it is inside in any session.
    pub added: bool,
}

/// Pure-Python packages for sessions, besides those inside: chosen, fetched, verified and unpacked. Cheap to clone;
/// sessions that are given clones share one folder, which they see as `/usr/local/lib/packages`, read-only, on `sys.path`
/// behind the library and before their own files.
///
/// ```no_run
/// use slm_code_interpreter::{Cancel, Config, Overrides, PackageRequest, Packages, Progress, Python, SessionOptions};
///
/// # fn main() -> slm_code_interpreter::Result<()> {
/// let (config, progress, cancel) = (Config::resolve(Overrides::default())?, Progress::default(), Cancel::new());
/// let python = Python::open(&config, &progress, &cancel)?;
/// let request = PackageRequest::new().with("rich")?;
/// let packages = Packages::open(&request, &python, &config, &progress, &cancel)?;
/// let mut session = python.session(SessionOptions::default().packages(&packages))?;
/// session.exec("import rich", &cancel)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Packages {
    mounted: Mounted,
    list: Arc<[Package]>,
    /// What names them in a saved session: `name==version`, in order.
    label: Arc<[String]>,
}

impl Packages {
    /// Finds what was asked for in the cache, or has pip choose and fetch it, once for each request: later the same
    /// versions and bytes are taken, without network. See [`PackageRequest::lock`] for the same on another machine.
    ///
    /// # Errors
    /// [`is_unavailable`](Error::is_unavailable) when there is no pip, no network, no such package, or only one that holds
    /// compiled code; its advice says what to do.
    pub fn open(
        request: &PackageRequest,
        python: &Python,
        config: &Config,
        progress: &Progress,
        cancel: &Cancel,
    ) -> Result<Self> {
        let store = Store::open(config, progress, cancel)?;
        let lock = store.lock(request, |folder| settle(&store, request, python, folder))?;
        let folder = store.site(request, &lock, |staging, site| fill(&store, request, &lock, python, staging, site))?;
        let package =
            |(name, version): (&String, &str)| Package { name: name.clone(), version: version.to_owned(), added: true };
        Ok(Self {
            mounted: Mounted::new(folder.path().join(SITE)),
            list: lock.pins.iter().map(|(name, pin)| package((name, &pin.version))).collect(),
            label: lock.pins.iter().map(|(name, pin)| format!("{name}=={}", pin.version)).collect(),
        })
    }

    /// What every session has, without starting an interpreter: looked up in the interpreter's own files, which are
    /// fetched if need be.
    ///
    /// # Errors
    /// As [`Python::open`].
    pub fn inside(config: &Config, progress: &Progress, cancel: &Cancel) -> Result<Vec<Package>> {
        let package =
            |inside: &Inside| Package { name: inside.name.clone(), version: inside.version.clone(), added: false };
        Ok(Store::open(config, progress, cancel)?.inside()?.iter().map(package).collect())
    }

    /// Those that were added, by name.
    pub fn list(&self) -> &[Package] {
        &self.list
    }

    pub(super) fn mounted(&self) -> &Mounted {
        &self.mounted
    }

    pub(super) fn label(&self) -> &Arc<[String]> {
        &self.label
    }

    /// Whether this version could still use a folder of the cache.
    pub(crate) fn keeps(kind: &str, key: &str) -> bool {
        Store::keeps(kind, key)
    }
}

impl fmt::Debug for Packages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Packages").field(&self.label).finish()
    }
}

/// Has pip choose, until the guest finds nothing missing.
fn settle(store: &Store<'_>, request: &PackageRequest, python: &Python, folder: &Path) -> Result<Lock> {
    let mut more: Vec<String> = Vec::new();
    for round in 0..ROUNDS {
        let chosen = store.choose(request, &more, &folder.join(round.to_string()))?;
        let mut guest = Guest::new(python, &chosen.paths(), store.cancel())?;
        let checked = guest.check(request, &json!(chosen.offered))?;
        checked.holds()?;
        let missing = checked.missing()?;
        if missing.is_empty() {
            for [name, taken, newest] in checked.older() {
                let text = format!(
                    "{name} {taken} is taken: newer ones, up to {newest}, hold or need compiled code, or do not go with the rest"
                );
                store.progress().step(Step::Note { text: &text });
            }
            return store.keep(chosen, |name| checked.needed.iter().any(|needed| needed == name));
        }
        more.extend(missing);
    }
    Err(Error::unavailable(format!("pip does not bring what they need: {}", more.join(", ")))
        .advise("name these too, or other versions"))
}

/// Makes the folder that sessions see.
fn fill(
    store: &Store<'_>,
    request: &PackageRequest,
    lock: &Lock,
    python: &Python,
    staging: &Path,
    site: &Path,
) -> Result<()> {
    let wheels = store.wheels(lock, staging)?;
    let mut guest = Guest::new(python, &wheels, store.cancel())?;
    let checked = guest.check(request, &json!({}))?;
    checked.holds()?;
    let missing = checked.missing()?;
    if !missing.is_empty() {
        return Err(Error::unavailable(format!("the lock lacks {}", missing.join(", ")))
            .advise("remove the lock to choose anew"));
    }
    let mut room = Room::default();
    store.unpack(&wheels, site, &mut room)?;
    store.progress().during("compiling the packages, once", None, || {
        let mut archive = guest.compile(staging)?;
        room.unpack_compiled(&mut archive, site, store.cancel())
    })
}

/// A session that looks at wheels and runs nothing of them.
struct Guest<'a> {
    session: Session,
    cancel: &'a Cancel,
}

impl<'a> Guest<'a> {
    fn new(python: &Python, wheels: &[PathBuf], cancel: &'a Cancel) -> Result<Self> {
        let limits = Limits {
            wall: Duration::from_secs(900),
            memory: 1 << 30,
            scratch: 2 << 30,
            output: 16 << 20,
            ..Limits::default()
        };
        let mut session = python.session(SessionOptions::new(limits).undo(false))?;
        wheels.iter().try_for_each(|wheel| session.put_file(wheel))?;
        let mut guest = Self { session, cancel };
        guest.run(SCRIPT)?;
        Ok(guest)
    }

    fn check(&mut self, request: &PackageRequest, offered: &serde_json::Value) -> Result<Checked> {
        let call = json!([request.texts(), offered]).to_string();
        let text = self.run(&format!("print(check(*json.loads({})))", super::snapshot::literal(&call)))?;
        Checked::read(&text)
    }

    /// The archive of bytecode.
    fn compile(&mut self, staging: &Path) -> Result<File> {
        self.run("compile_all()")?;
        let folder =
            tempfile::Builder::new().prefix("out").tempdir_in(staging).or_internal("compiling the packages")?;
        self.session.export(folder.path())?;
        File::open(folder.path().join(COMPILED)).or_internal("compiling the packages")
    }

    fn run(&mut self, code: &str) -> Result<String> {
        let outcome = self.session.exec(code, self.cancel)?;
        match outcome.status {
            Status::Ok => Ok(outcome.stdout),
            Status::Cancelled => Err(Error::cancelled()),
            status => {
                let why = outcome.error.map(|error| format!("{}: {}", error.kind, error.message));
                let why = why.unwrap_or_else(|| status.as_str().to_owned());
                Err(Error::unavailable(why)
                    .context("the packages cannot be looked at")
                    .advise("a wheel may be damaged or too large: name other packages or versions"))
            }
        }
    }
}
