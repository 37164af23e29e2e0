//! Downloads by `pip`: an ordinary client that honours the user's own index, mirrors, proxies and certificates.
//!
//! It runs in a folder of its own inside the staging folder, with its temporary files there too, so that a cancel or a
//! crash leaves nothing behind and the size of the growing file can be shown. That the working folder is empty also
//! matters because `python -m pip` imports from it: a `pip.py` lying where the user happens to be is not ours to run.
//! [`packages`](super::packages) calls it another way.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use super::artefact::Wheel;
use super::platform;
use crate::error::OrInternal;
use crate::{Cancel, Error, Progress, Result, Step};

const POLL: Duration = Duration::from_millis(100);
const MAX_LOG: u64 = 64 << 10;
/// Room for messages that is taken beforehand, so that pip can still say that the disk is full.
const RESERVED: usize = MAX_LOG as usize;
const MAX_LINE: usize = 300;
/// What Windows' stand-in for a Python that is not installed returns.
const WINDOWS_STAND_IN: i32 = 9009;

/// The ways to start Python on this machine, tried in order.
pub(super) struct Pip {
    pythons: Vec<Vec<String>>,
}

impl Default for Pip {
    fn default() -> Self {
        let owned = |command: &&[&str]| command.iter().map(|part| part.to_string()).collect();
        Self { pythons: platform::PYTHONS.iter().map(owned).collect() }
    }
}

/// One call of pip: what follows `python`, and the folder that holds what it leaves: `tmp/`, `messages`, and whatever
/// else its arguments name.
pub(super) struct Call<'a> {
    pub folder: &'a Path,
    /// Where it runs.
    pub at: &'a Path,
    pub arguments: Vec<OsString>,
    /// The file that must be there when it has ended well.
    pub brings: Option<PathBuf>,
}

/// Why a call came to nothing, when that is no cancel and not our own fault.
pub(super) struct Failure {
    /// Of each Python that was tried, in one line.
    pub why: String,
    /// None of them had pip.
    pub no_pip: bool,
}

impl Pip {
    #[cfg(test)]
    pub(super) fn with(pythons: &[&[&str]]) -> Self {
        let owned = |command: &&[&str]| command.iter().map(|part| part.to_string()).collect();
        Self { pythons: pythons.iter().map(owned).collect() }
    }

    /// Fetches the wheel of `requirement` (`name==version`) into `folder`, which holds nothing else, and says where it is. It
    /// is not verified here beyond what pip itself does. `caching`: pip may keep a copy of its own.
    ///
    /// # Errors
    /// Unavailable, with the line of pip's that tells why.
    pub(super) fn download(
        &self,
        requirement: &str,
        wheel: &Wheel,
        caching: bool,
        folder: &Path,
        progress: &Progress,
        cancel: &Cancel,
    ) -> Result<PathBuf> {
        let (out, requirements) = (folder.join(OUT), folder.join("requirements.txt"));
        let text = format!("{requirement} --hash=sha256:{}\n", wheel.sha256);
        fs::create_dir_all(&out).and_then(|()| fs::write(&requirements, text)).or_internal(PREPARING)?;
        let mut arguments: Vec<OsString> = ["-m", "pip", "download", "--require-hashes", "-r"].map(Into::into).into();
        arguments.push(requirements.into());
        arguments.extend(choice(wheel).into_iter().map(Into::into));
        arguments.extend(["-d".into(), out.clone().into()]);
        arguments.extend(QUIETLY.map(Into::into));
        arguments.extend((!caching).then(|| "--no-cache-dir".into()));
        let path = out.join(wheel.file);
        let call = Call { folder, at: folder, arguments, brings: Some(path.clone()) };
        let what = format!("downloading {}", requirement.replace("==", " "));
        progress.during(&what, Some(wheel.bytes), || {
            self.call(&call, progress, cancel)?.map(|()| path).map_err(|failure| {
                match call.met_a_full_disk(&failure, wheel.bytes) {
                    true => Error::full(failure.why),
                    false => Error::unavailable(failure.why),
                }
            })
        })
    }

    /// Calls pip by the first Python that has it.
    ///
    /// # Errors
    /// Cancelled, or our own fault.
    pub(super) fn call(&self, call: &Call<'_>, progress: &Progress, cancel: &Cancel) -> Result<Result<(), Failure>> {
        let mut reasons = Vec::new();
        let mut no_pip = true;
        for python in &self.pythons {
            match call.run(python, progress, cancel)? {
                Ok(()) => return Ok(Ok(())),
                Err((why, try_next)) => {
                    reasons.push(format!("{}: {why}", python.join(" ")));
                    if !try_next {
                        no_pip = false;
                        break;
                    }
                }
            }
        }
        // What an actual pip said tells more than that some other name is not installed.
        Ok(Err(Failure { why: reasons.join("; "), no_pip }))
    }
}

/// Below a call's folder.
const OUT: &str = "out";
const TMP: &str = "tmp";
/// How Python tells of a full disk, in every language.
const PYTHONS_ENOSPC: &str = "[Errno 28]";
const PREPARING: &str = "preparing the download";
/// What every call is told.
pub(super) const QUIETLY: [&str; 5] = ["--disable-pip-version-check", "--no-input", "--quiet", "--progress-bar", "off"];

/// What to type to get the same file elsewhere.
pub(super) fn by_hand(requirement: &str, wheel: &Wheel) -> String {
    format!("python3 -m pip download {} {requirement}", choice(wheel).join(" "))
}

fn choice(wheel: &Wheel) -> Vec<&'static str> {
    let tags = &wheel.tags;
    let mut arguments = vec!["--no-deps", "--only-binary", ":all:"];
    arguments.extend(["--platform", tags.platform, "--python-version", tags.python]);
    arguments.extend(["--implementation", tags.implementation, "--abi", tags.abi]);
    arguments
}

impl Call<'_> {
    fn tmp(&self) -> PathBuf {
        self.folder.join(TMP)
    }

    fn log(&self) -> PathBuf {
        self.folder.join("messages")
    }

    fn command(&self, python: &[String]) -> Result<Command> {
        fs::create_dir_all(self.tmp()).or_internal(PREPARING)?;
        let mut log = File::create(self.log()).or_internal(PREPARING)?;
        log.write_all(&[0; RESERVED]).and_then(|()| log.rewind()).or_internal(PREPARING)?;
        let mut command = Command::new(&python[0]);
        command.args(&python[1..]).args(&self.arguments);
        for variable in ["TMPDIR", "TEMP", "TMP"] {
            command.env(variable, self.tmp());
        }
        // Downloading installs nothing, so a rule against installing outside a virtual environment is not meant.
        command.env("PIP_REQUIRE_VIRTUALENV", "0");
        command.current_dir(self.at);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        platform::separate(&mut command);
        Ok(command)
    }

    /// When it comes to nothing: why, and whether the next way to start Python may do better.
    fn run(&self, python: &[String], progress: &Progress, cancel: &Cancel) -> Result<Result<(), (String, bool)>> {
        let child = match self.command(python)?.spawn() {
            Ok(child) => child,
            Err(error) => {
                let missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
                return Ok(Err((if missing { "not installed".to_string() } else { error.to_string() }, true)));
            }
        };
        let status = self.wait(child, progress, cancel)?;
        let brought = self.brings.as_ref().is_none_or(|path| path.is_file());
        if status.success() && brought {
            return Ok(Ok(()));
        }
        let log = self.messages();
        let try_next = log.contains("No module named pip") || status.code() == Some(WINDOWS_STAND_IN);
        let why = telling(&log).unwrap_or_else(|| match (status.success(), &self.brings) {
            (true, Some(path)) => {
                format!("pip did not bring {}", path.file_name().unwrap_or_default().to_string_lossy())
            }
            _ => format!("pip ended with {status} and no message"),
        });
        Ok(Err((why, try_next)))
    }

    /// Whether a call failed because the disk is full, when it was to bring so many bytes. Where its messages are lost too
    /// (file systems that copy on write), only the room that is left tells, some of which it has just made again.
    fn met_a_full_disk(&self, failure: &Failure, bytes: u64) -> bool {
        let has_room = || platform::room(self.folder).is_none_or(|free| free >= 2 * bytes);
        failure.why.contains(PYTHONS_ENOSPC) || (self.messages().is_empty() && !has_room())
    }

    /// Shows how far it is, until it ends or is cancelled.
    fn wait(&self, child: Child, progress: &Progress, cancel: &Cancel) -> Result<ExitStatus> {
        let mut child = Ended(child);
        let mut said = false;
        loop {
            if let Some(status) = child.0.try_wait().or_internal("waiting for pip")? {
                return Ok(status);
            }
            progress.step(Step::Advance { done: largest(&self.tmp()).max(largest(&self.folder.join(OUT))) });
            if !said && self.messages().contains("Retrying") {
                said = true;
                progress.step(Step::Note { text: "pip does not reach the package index, and tries again" });
            }
            if cancel.sleep(POLL) {
                return Err(Error::cancelled());
            }
        }
    }

    /// The end of what pip wrote to stderr.
    fn messages(&self) -> String {
        let read = || {
            let mut file = File::open(self.log())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(MAX_LOG)))?;
            let mut bytes = Vec::new();
            file.take(MAX_LOG).read_to_end(&mut bytes)?;
            std::io::Result::Ok(bytes)
        };
        String::from_utf8_lossy(&read().unwrap_or_default()).trim_end_matches('\0').to_owned()
    }
}

/// A child that does not outlive this value, whatever way it is left.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            platform::end(&mut self.0);
        }
    }
}

/// The size of the largest file: pip keeps a second, growing copy for its own cache, so the sum would be twice as much.
fn largest(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => largest(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).max().unwrap_or(0)
}

/// The one line of pip's messages that says what went wrong.
fn telling(log: &str) -> Option<String> {
    let lines = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = if log.contains("DO NOT MATCH THE HASHES") {
        "the package index served a file that does not have the pinned hash"
    } else if let Some(retry) = lines().rfind(|line| line.contains("Retrying (")) {
        // Without an answer pip goes on to claim that the package does not exist.
        let (_, reason) = retry.rsplit_once("connection broken by ").unwrap_or(("", retry));
        let (_, reason) = reason.rsplit_once(">: ").unwrap_or(("", reason));
        return Some(shortened(&format!("the package index cannot be reached: {reason}")));
    } else {
        // Before a traceback, whose last line tells.
        let error = lines().rfind(|line| line.starts_with("ERROR: ") && *line != "ERROR: Exception:");
        error.or_else(|| lines().next_back())?
    };
    Some(shortened(line.trim_start_matches("ERROR: ")))
}

/// Printable, and not longer than a person reads.
pub(super) fn shortened(line: &str) -> String {
    let mut shown = line.chars().filter(|character| !character.is_control());
    let mut short: String = shown.by_ref().take(MAX_LINE).collect();
    if shown.next().is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_cut_off_is_marked() {
        assert_eq!(shortened("\x1b[31mred\r"), "[31mred");
        assert_eq!(shortened(&"é".repeat(MAX_LINE)), "é".repeat(MAX_LINE));
        assert_eq!(shortened(&"x".repeat(MAX_LINE + 1)), format!("{}…", "x".repeat(MAX_LINE)));
    }
}
