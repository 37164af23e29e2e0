//! One file from the hub into its cache: resumed, counted, hashed, and in its place only when it is whole.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use super::client::{Client, Reply, Want};
use super::layout::{self, Layout, is_sha256, is_tag};
use super::trouble::Trouble;
use crate::error::OrInternal;
use crate::progress::{Progress, Step};
use crate::{Cancel, Error, Result};

/// Bytes between two looks at `cancel`.
const CHUNK: usize = 256 << 10;
/// What the weights of a model may take; no single file of one is larger.
const MAX_WEIGHTS: u64 = 256 << 30;
/// What comes in less than this in a while of [`SLOW`] is as good as nothing.
const TRICKLE: u64 = 16 << 10;
const SLOW: Duration = Duration::from_secs(60);
/// So much more is worth another full count of attempts.
const ADVANCE: u64 = 1 << 20;

/// What the hub says about a file before it comes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    pub commit: String,
    /// Names the content: its SHA-256 for large files.
    pub tag: String,
    pub bytes: u64,
}

impl Facts {
    pub fn read(reply: &Reply) -> Result<Self, Trouble> {
        let odd = |what: &str| Trouble::Odd(format!("the hub does not say {what}"));
        let tag = reply.header("x-linked-etag").or_else(|| reply.header("etag"));
        let tag = tag.map(|tag| tag.trim().trim_start_matches("W/").trim_matches('"')).filter(|tag| is_tag(tag));
        let commit = reply.header("x-repo-commit").filter(|commit| is_tag(commit));
        let bytes = match reply.header("x-linked-size") {
            Some(size) => size.trim().parse().ok(),
            None => whole_size(reply),
        };
        Ok(Self {
            commit: commit.ok_or_else(|| odd("which commit the file is of (X-Repo-Commit)"))?.to_owned(),
            tag: tag.ok_or_else(|| odd("which content the file has (ETag)"))?.to_owned(),
            bytes: bytes.filter(|bytes| *bytes <= MAX_WEIGHTS).ok_or_else(|| odd("how large the file is"))?,
        })
    }

    pub fn sha256(&self) -> Option<&str> {
        Some(self.tag.as_str()).filter(|tag| is_sha256(tag))
    }
}

fn whole_size(reply: &Reply) -> Option<u64> {
    let own = |name: &str| reply.headers.get(name)?.to_str().ok();
    match reply.status {
        200 => own("content-length")?.trim().parse().ok(),
        _ => own("content-range")?.rsplit_once('/')?.1.trim().parse().ok(),
    }
}

/// A file that is to come.
pub(super) struct Wanted<'a> {
    /// Of its address.
    pub path: &'a str,
    /// For people.
    pub what: &'a str,
    pub facts: &'a Facts,
    /// Whether a blob that is there already has the content that its name tells.
    pub is_right: &'a dyn Fn(&Path) -> Result<bool>,
}

/// Brings the file into the cache as the blob that its facts name, unless that is there whole and right.
pub(super) fn fetch(
    client: &Client,
    layout: &Layout,
    wanted: &Wanted<'_>,
    progress: &Progress,
    cancel: &Cancel,
) -> Result<(), Trouble> {
    let Wanted { path, what, facts, is_right } = wanted;
    let _lock = layout.lock(&facts.tag, what, progress, cancel)?;
    let blob = layout.blob(&facts.tag);
    if blob.metadata().is_ok_and(|found| found.is_file() && found.len() == facts.bytes) {
        if is_right(&blob)? {
            return Ok(());
        }
        progress.step(Step::Note { text: &format!("{what} here is not what its name says; it is fetched again") });
        layout::remove(&blob).or_internal(blob.display())?;
    }
    let place = layout.part(&facts.tag);
    let mut part = Part::open(&place, facts.bytes, cancel)?;
    progress.during(&format!("fetching {what}"), Some(facts.bytes), || {
        let mut counted = part.len;
        client.insist(progress, cancel, |advanced| {
            let done = part.go_on(client, path, progress, cancel);
            *advanced = part.len >= counted.saturating_add(ADVANCE);
            if *advanced {
                counted = part.len;
            }
            done
        })
    })?;
    let digest = format!("{:x}", part.hasher.finalize());
    if facts.sha256().is_some_and(|wanted| wanted != digest) {
        drop(part.file);
        layout::remove(&place).or_internal(place.display())?;
        return Err(Error::unavailable(format!(
            "what came is not what was announced (its SHA-256 begins with {})",
            &digest[..16]
        ))
        .context(what)
        .advise("it was removed; run it again, and if it repeats, check HF_ENDPOINT and any proxy in between")
        .into());
    }
    part.file.sync_all().map_err(|error| on_disk(&place, &error))?;
    std::fs::rename(&place, &blob).map_err(|error| on_disk(&blob, &error))?;
    Ok(())
}

/// What has come so far.
struct Part {
    file: File,
    hasher: Sha256,
    len: u64,
    bytes: u64,
}

impl Part {
    /// What an earlier attempt left counts, as far as it can be a beginning.
    fn open(place: &Path, bytes: u64, cancel: &Cancel) -> Result<Self> {
        let open = OpenOptions::new().read(true).append(true).create(true).open(place);
        let file = open.map_err(|error| on_disk(place, &error))?;
        let mut part = Self { file, hasher: Sha256::new(), len: 0, bytes };
        if part.file.metadata().map_err(|error| on_disk(place, &error))?.len() > bytes {
            part.restart().map_err(|error| on_disk(place, &error))?;
        }
        let mut chunk = vec![0; CHUNK];
        loop {
            cancel.check()?;
            match part.file.read(&mut chunk).map_err(|error| on_disk(place, &error))? {
                0 => return Ok(part),
                read => {
                    part.hasher.update(&chunk[..read]);
                    part.len += read as u64;
                }
            }
        }
    }

    fn restart(&mut self) -> std::io::Result<()> {
        self.file.set_len(0)?;
        (self.hasher, self.len) = (Sha256::new(), 0);
        Ok(())
    }

    /// One request for all that is missing.
    fn go_on(&mut self, client: &Client, path: &str, progress: &Progress, cancel: &Cancel) -> Result<(), Trouble> {
        if self.len == self.bytes {
            return Ok(());
        }
        let reply = client.get(path, Want::From(self.len))?;
        if reply.status != 206 {
            // Whoever delivers does not know how to go on, or has nothing there: from the beginning.
            self.restart().map_err(|error| disk_trouble(&error))?;
            if reply.status == 416 {
                return Err(Trouble::Cut("the hub has no more of it".into()));
            }
        }
        let announced = whole_size(&reply);
        if announced.is_some_and(|announced| announced != self.bytes)
            || (reply.status == 206 && start(&reply) != Some(self.len))
        {
            return Err(Trouble::Odd(format!(
                "what comes is not the file that was announced ({} bytes, not {})",
                announced.map_or("another part of it".into(), |bytes| bytes.to_string()),
                self.bytes
            )));
        }
        self.take(reply, progress, cancel)
    }

    fn take(&mut self, reply: Reply, progress: &Progress, cancel: &Cancel) -> Result<(), Trouble> {
        // One byte more would be one too many, and is seen.
        let mut body = reply.body.into_with_config().limit(self.bytes - self.len + 1).reader();
        let (mut chunk, mut since, mut window) = (vec![0; CHUNK], Instant::now(), 0);
        loop {
            cancel.check()?;
            let read = match body.read(&mut chunk) {
                Ok(0) if self.len == self.bytes => return Ok(()),
                Ok(0) => return Err(Trouble::Cut(format!("{} of {} bytes came", self.len, self.bytes))),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(ureq::Error::from(error).into()),
            };
            if self.len + read as u64 > self.bytes {
                self.restart().map_err(|error| disk_trouble(&error))?;
                return Err(Trouble::Odd(format!("more comes than the {} bytes that were announced", self.bytes)));
            }
            self.file.write_all(&chunk[..read]).map_err(|error| disk_trouble(&error))?;
            self.hasher.update(&chunk[..read]);
            self.len += read as u64;
            progress.step(Step::Advance { done: self.len });
            window += read as u64;
            if since.elapsed() >= SLOW {
                if window < TRICKLE {
                    return Err(Trouble::Silent);
                }
                (since, window) = (Instant::now(), 0);
            }
        }
    }
}

/// The first byte of a part, as `Content-Range: bytes 5-9/10` tells it.
fn start(reply: &Reply) -> Option<u64> {
    let range = reply.headers.get("content-range")?.to_str().ok()?;
    range.trim().strip_prefix("bytes ")?.split_once('-')?.0.trim().parse().ok()
}

fn disk_trouble(error: &std::io::Error) -> Trouble {
    Trouble::Ours(on_disk(Path::new("the hub's cache"), error))
}

fn on_disk(place: &Path, error: &std::io::Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room, or set HF_HOME to a folder on a larger disk; what has come is kept, and it goes on from there"
        }
        _ => "set HF_HOME to a folder on a local disk that you can write",
    };
    Error::unavailable(error).context(place.display()).advise(advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_says_what_helps() {
        let told = |kind: ErrorKind| on_disk(Path::new("/hub"), &kind.into());
        let full = told(ErrorKind::StorageFull);
        assert!(full.is_unavailable() && full.to_string().starts_with("/hub: "), "{full:?}");
        assert!(full.advice().unwrap().contains("make room") && full.advice().unwrap().contains("goes on from there"));
        assert!(told(ErrorKind::PermissionDenied).advice().unwrap().contains("HF_HOME"));
    }
}
