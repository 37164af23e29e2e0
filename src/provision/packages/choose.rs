//! pip chooses and fetches: as any client would, with the user's index, proxies and settings, and as if it stood in the
//! guest. Wheels alone, and nothing of them runs here (`guarded_pip.py`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::pip::{Call, Pip, QUIETLY};
use super::inside::Inside;
use super::lock::Lock;
use super::{MARKERS, normal, unpack};
use crate::error::OrInternal;
use crate::{Cancel, Error, Progress, Result};

const GUARD: &str = include_str!("guarded_pip.py");
const MAX_LOG: u64 = 64 << 20;
const LOG: &str = "log";
const STAND_INS: &str = "stand-ins";
/// Any platform's, for the guest's version: nothing else runs there.
const PURE: [&str; 12] = [
    "--no-binary",
    ":none:",
    "--only-binary",
    ":all:",
    "--platform",
    "any",
    "--python-version",
    "3.15",
    "--implementation",
    "py",
    "--abi",
    "none",
];

pub(super) struct Chooser<'a> {
    pub(super) pip: &'a Pip,
    pub(super) progress: &'a Progress,
    pub(super) cancel: &'a Cancel,
}

impl Chooser<'_> {
    /// pip's choice for these lines, without what is inside, as wheels in `folder`, which is empty.
    ///
    /// # Errors
    /// Unavailable, with what pip says of it; cancelled.
    pub(super) fn choose(&self, lines: &[&str], inside: &[Inside], folder: &Path) -> Result<Vec<PathBuf>> {
        let stand_ins = folder.join(STAND_INS);
        fs::create_dir_all(&stand_ins).or_internal("preparing the download")?;
        inside.iter().try_for_each(|inside| inside.stand_in(&stand_ins))?;
        let pins = inside.iter().map(|inside| format!("{}=={}\n", inside.normal_name(), inside.version));
        let text = format!("--find-links {STAND_INS}\n-c constraints.txt\n{}\n", lines.join("\n"));
        fs::write(folder.join("constraints.txt"), pins.collect::<String>()).or_internal("preparing the download")?;
        let mut wheels = self.download(&text, &[], folder)?;
        wheels.retain(|wheel| {
            let name = wheel.file_name().unwrap_or_default().to_string_lossy();
            let name = normal(name.split('-').next().unwrap_or_default());
            !inside.iter().any(|inside| inside.normal_name() == name)
        });
        Ok(wheels)
    }

    /// Exactly the wheels of a lock, in `folder`, which is empty.
    ///
    /// # Errors
    /// As [`choose`](Self::choose); a wheel of the index that has none of the locked digests.
    pub(super) fn fetch(&self, lock: &Lock, folder: &Path) -> Result<Vec<PathBuf>> {
        let text: String = lock.pins.iter().map(|(name, pin)| Lock::line(name, pin) + "\n").collect();
        self.download(&text, &["--no-deps", "--require-hashes"], folder)
    }

    fn download(&self, requirements: &str, how: &[&str], folder: &Path) -> Result<Vec<PathBuf>> {
        let (out, log, file) = (folder.join("out"), folder.join(LOG), folder.join("requirements.txt"));
        fs::create_dir_all(&out).and_then(|()| fs::write(&file, requirements)).or_internal("preparing the download")?;
        let markers = serde_json::Value::from_iter(MARKERS).to_string();
        let mut arguments: Vec<OsString> = ["-c", GUARD, &markers, "download"].map(Into::into).into();
        arguments.extend(PURE.iter().chain(how).chain(&QUIETLY).map(Into::into));
        arguments.extend(["-r".into(), file.into(), "-d".into(), out.clone().into()]);
        arguments.extend(["--log".into(), log.clone().into()]);
        // Where the user is, so that relative paths in their settings for pip mean what they mean to them.
        let here = std::env::current_dir().unwrap_or_else(|_| folder.to_path_buf());
        let call = Call { folder, at: &here, arguments, brings: None };
        if let Err(failure) = self.pip.call(&call, self.progress, self.cancel)? {
            if failure.no_pip {
                return Err(Error::unavailable(failure.why).advise(
                    "install Python 3 with pip, which fetches packages; what is in the cache needs none of it",
                ));
            }
            if failure.why.contains("pinned hash") {
                return Err(Error::unavailable("the package index served a file that does not have the locked hash").advise(
                    "do not use that file; if the package was published anew on purpose, remove the lock to choose anew",
                ));
            }
            return Err(super::log::told(&read(&log), &failure.why));
        }
        let mut wheels = Vec::new();
        for entry in fs::read_dir(&out).or_internal(out.display())? {
            let path = entry.or_internal(out.display())?.path();
            let length = path.symlink_metadata().or_internal(path.display())?.len();
            if length > unpack::MAX_WHEEL {
                let (name, most) = (path.file_name().unwrap_or_default().to_string_lossy(), unpack::MAX_WHEEL >> 20);
                return Err(Error::unavailable(format!("{name} is larger than {most} MiB")));
            }
            wheels.push(path);
        }
        wheels.sort();
        Ok(wheels)
    }
}

/// The versions of `names` that pip has seen, choosing in `folder`.
pub(super) fn offered(names: &[&str], folder: &Path) -> BTreeMap<String, Vec<String>> {
    super::log::offered(&read(&folder.join(LOG)), names)
}

fn read(log: &Path) -> String {
    let mut bytes = Vec::new();
    // Without the log pip's last word has to do.
    let _ = fs::File::open(log).and_then(|file| file.take(MAX_LOG).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}
