//! Models from the hub: found, fetched into the hub's usual cache, and from then on used without asking it again.
//!
//! No crate for the hub is used: those that exist neither check sizes and digests nor can be cancelled nor end a wait,
//! and without its transfers little is left but the names of three folders. What is fetched lies where every other
//! tool finds it ([`layout`]). Everything that a server says is untrusted: names, sizes, redirects ([`listing`],
//! [`transfer`], [`client`]).

mod client;
mod layout;
mod listing;
mod name;
mod place;
#[cfg(test)]
#[path = "../../../tests/it/hub/server.rs"]
mod server;
mod transfer;
mod trouble;

pub(super) use name::HubName;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::client::{Client, Patience, Want};
use self::layout::{Layout, sha256_of};
use self::listing::{Listing, RemoteFile};
use self::place::Place;
use self::transfer::{Facts, Wanted};
use self::trouble::Trouble;
use super::choice::{Choice, choose, is_beside, is_gguf};
use super::http::Proxies;
use super::identity;
use super::notes::Notes;
use crate::progress::{Progress, Step};
use crate::{Cancel, Error, Result};

/// What describes a model is read whole into memory somewhere.
const MAX_BESIDE: u64 = 256 << 20;

pub(super) struct Hub {
    place: Place,
    client: Client,
    notes: Notes,
    offline: bool,
}

/// What a name stands for: a commit, and which of its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    name: HubName,
    listing: Listing,
    pub choice: Choice,
}

impl Plan {
    /// Of a model in one GGUF file: its name, and its SHA-256 when that is known.
    pub fn gguf(&self) -> Option<(&str, Option<&str>)> {
        let Choice::Gguf(file) = &self.choice else { return None };
        Some((file, self.listing.file(file).and_then(|file| file.sha256.as_deref())))
    }
}

/// A listing as it is noted, with whose it is.
#[derive(Serialize, Deserialize)]
struct Noted {
    repo: String,
    revision: String,
    listing: Listing,
}

impl Hub {
    /// `cache` is our own cache folder, for notes; `offline` comes beside what the environment says.
    ///
    /// # Errors
    /// An environment that names no place for the hub's cache, or an endpoint that is none.
    pub fn new(cache: &Path, offline: bool) -> Result<Self> {
        let (place, proxies) = (Place::from_environment()?, Proxies::from_environment());
        Ok(Self::with(place, proxies, Patience::USUAL, Notes::of(cache), offline))
    }

    /// The same, but it gives up within seconds.
    pub fn hasty(cache: &Path, offline: bool) -> Result<Self> {
        let (place, proxies) = (Place::from_environment()?, Proxies::from_environment());
        Ok(Self::with(place, proxies, Patience::SHORT, Notes::of(cache), offline))
    }

    fn with(place: Place, proxies: Proxies, patience: Patience, notes: Notes, offline: bool) -> Self {
        let offline = offline || place.offline;
        Self { client: Client::new(&place, proxies, patience), place, notes, offline }
    }

    pub fn is_offline(&self) -> bool {
        self.offline
    }

    /// What `name` is known to stand for, without any network.
    pub fn known(&self, name: &HubName) -> Option<Plan> {
        let layout = self.layout(name);
        let commit = layout.commit(&name.revision);
        if let Some(Noted { repo, revision, listing }) = self.notes.read(&self.note_name(name))
            && (&repo, &revision) == (&name.repo, &name.revision)
            // Another tool may have fetched a newer commit of the branch since.
            && commit.as_ref().is_none_or(|commit| *commit == listing.commit)
            && (listing.whole || name.file.as_ref().is_some_and(|file| listing.file(file).is_some()))
            && let Ok(choice) = choose(&listing.listed(), name.file.as_deref())
        {
            return Some(Plan { name: name.clone(), listing, choice });
        }
        let file = name.file.as_deref().filter(|file| is_gguf(file))?;
        layout.file(&commit?, file, None)?;
        self.local(name)
    }

    /// What the hub says, or, where it cannot be asked, what is here.
    ///
    /// # Errors
    /// Unavailable, with what to do: no network, no such model or file, not allowed. Cancelled.
    pub fn plan(&self, name: &HubName, progress: &Progress, cancel: &Cancel) -> Result<Plan> {
        if let Some(plan) = self.known(name) {
            return Ok(plan);
        }
        if self.offline {
            return self.local(name).ok_or_else(|| missing_offline(&name.to_string()));
        }
        let asked = self.client.interruptible(cancel, || self.ask(name, progress, cancel));
        let trouble = match asked {
            Ok(plan) => {
                self.note(name, &plan.listing);
                return Ok(plan);
            }
            Err(trouble) => trouble,
        };
        let asleep = matches!(trouble, Trouble::Unreachable(_) | Trouble::Silent | Trouble::Cut(_));
        match self.local(name).filter(|_| asleep) {
            Some(plan) => {
                let text = format!("{}; what is here of {} is used", trouble.what(), name.repo);
                progress.step(Step::Note { text: &text });
                Ok(plan)
            }
            None => Err(self.told(name, trouble)),
        }
    }

    /// Whether all files are in the hub's cache.
    pub fn has(&self, plan: &Plan) -> bool {
        plan.choice.files().into_iter().all(|file| self.file(plan, file).is_some())
    }

    /// The place of a file of the plan, if it is there.
    pub fn file(&self, plan: &Plan, file: &str) -> Option<PathBuf> {
        let known = plan.listing.file(file).and_then(|file| file.bytes);
        self.layout(&plan.name).file(&plan.listing.commit, file, known)
    }

    /// Where the cache holds the file that `name` names, of whichever commit; its content is for the caller to check.
    pub fn held(&self, name: &HubName, sha256: &str, bytes: u64) -> Option<PathBuf> {
        self.layout(name).held(name.file.as_deref()?, sha256, bytes)
    }

    /// The folder of the plan's commit, with all files of the plan in it.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); also a full disk, and content that is not what was announced.
    pub fn fetch(&self, plan: &Plan, progress: &Progress, cancel: &Cancel) -> Result<PathBuf> {
        let (layout, commit) = (self.layout(&plan.name), &plan.listing.commit);
        let mut listing = plan.listing.clone();
        for file in plan.choice.files() {
            if self.is_right(plan, file, progress, cancel)? {
                continue;
            }
            if self.offline {
                return Err(missing_offline(&format!("{}:{file}", plan.name.repo)));
            }
            let fetched = self.client.interruptible(cancel, || self.bring(&layout, plan, file, progress, cancel));
            let facts = fetched.map_err(|trouble| self.told(&plan.name, trouble))?;
            layout.point(commit, file, &facts.tag)?;
            if let Some(sha256) = facts.sha256() {
                identity::remember_sha256(&layout.snapshot(commit).join(file), sha256, &self.notes);
            }
            if let Some(known) = listing.files.iter_mut().find(|known| known.name == file) {
                (known.bytes, known.sha256) = (Some(facts.bytes), facts.sha256().map(str::to_owned));
            }
        }
        layout.remember(&plan.name.revision, commit)?;
        self.note(&plan.name, &listing);
        Ok(layout.snapshot(commit))
    }

    /// Whether the file is here with the content that its SHA-256 names, where one is known. A wrong one loses its place.
    fn is_right(&self, plan: &Plan, file: &str, progress: &Progress, cancel: &Cancel) -> Result<bool> {
        let Some(path) = self.file(plan, file) else { return Ok(false) };
        let listed = plan.listing.file(file).and_then(|file| file.sha256.clone());
        let Some(sha256) = listed.or_else(|| sha256_of(&path)) else { return Ok(true) };
        if identity::has_sha256(&path, &sha256, &self.notes, progress, cancel)? {
            return Ok(true);
        }
        let what = format!("{file} of {}", plan.name.repo);
        if self.offline {
            return Err(Error::unavailable("its content is not what its SHA-256 says, and this works offline")
                .context(format!("{what}, {}", path.display()))
                .advise("when online run this again, and it is fetched anew"));
        }
        progress.step(Step::Note { text: &format!("{what} here is not what the hub has; it is fetched again") });
        self.layout(&plan.name).unpoint(&plan.listing.commit, file)?;
        Ok(false)
    }

    /// Whether the hub answers now, about the file that `name` names.
    pub fn answers(&self, name: &HubName, cancel: &Cancel) -> Result<()> {
        let file = name.file.as_deref().unwrap_or_default();
        let asked =
            self.client.interruptible(cancel, || self.client.get(&resolve(name, &name.revision, file), Want::Facts));
        cancel.check()?;
        asked.map(drop).map_err(|trouble| self.told(name, trouble))
    }

    fn ask(&self, name: &HubName, progress: &Progress, cancel: &Cancel) -> Result<Plan, Trouble> {
        if let Some(file) = name.file.as_deref().filter(|file| is_gguf(file)) {
            match self.facts(&resolve(name, &name.revision, file), progress, cancel) {
                Ok(facts) => {
                    let sha256 = facts.sha256().map(str::to_owned);
                    let files = vec![RemoteFile { name: file.into(), bytes: Some(facts.bytes), sha256 }];
                    let listing = Listing { commit: facts.commit, files, whole: false };
                    return self.chosen(name, listing);
                }
                // The list tells which files there are, or whether it is the repository that is missing.
                Err(trouble) if trouble.code() == 404 => {}
                Err(trouble) => return Err(trouble),
            }
        }
        let listing = self.client.insist(progress, cancel, |_| Listing::ask(&self.client, name))?;
        self.chosen(name, listing)
    }

    fn chosen(&self, name: &HubName, listing: Listing) -> Result<Plan, Trouble> {
        let choice = choose(&listing.listed(), name.file.as_deref()).map_err(|error| {
            let advice = error.advice().unwrap_or_default().to_owned();
            Error::unavailable(error).context(format!("the model {} from the hub", name.repo)).advise(advice)
        })?;
        Ok(Plan { name: name.clone(), listing, choice })
    }

    fn facts(&self, path: &str, progress: &Progress, cancel: &Cancel) -> Result<Facts, Trouble> {
        self.client.insist(progress, cancel, |_| Facts::read(&self.client.get(path, Want::Facts)?))
    }

    fn bring(
        &self,
        layout: &Layout,
        plan: &Plan,
        file: &str,
        progress: &Progress,
        cancel: &Cancel,
    ) -> Result<Facts, Trouble> {
        let path = resolve(&plan.name, &plan.listing.commit, file);
        let facts = self.facts(&path, progress, cancel)?;
        if facts.commit != plan.listing.commit {
            return Err(Trouble::Odd(format!("the hub gives `{file}` of another commit than it was asked for")));
        }
        let known = plan.listing.file(file);
        if known.is_some_and(|known| known.sha256.is_some() && known.sha256.as_deref() != facts.sha256()) {
            return Err(Trouble::Odd(format!("the hub announces two different contents of `{file}`")));
        }
        if is_beside(file) && facts.bytes > MAX_BESIDE {
            return Err(Trouble::Odd(format!("`{file}` has {} bytes, which no such file has", facts.bytes)));
        }
        let what = format!("{file} of {}", plan.name.repo);
        let is_right = |blob: &Path| match facts.sha256() {
            Some(sha256) => identity::has_sha256(blob, sha256, &self.notes, progress, cancel),
            None => Ok(true),
        };
        let wanted = Wanted { path: &path, what: &what, facts: &facts, is_right: &is_right };
        transfer::fetch(&self.client, layout, &wanted, progress, cancel)?;
        Ok(facts)
    }

    /// The best that the cache holds of the commit that is known of the revision.
    fn local(&self, name: &HubName) -> Option<Plan> {
        let layout = self.layout(name);
        let commit = layout.commit(&name.revision)?;
        let listed = layout.list(&commit);
        let choice = choose(&listed, name.file.as_deref()).ok()?;
        let files = listed.into_iter().map(|file| {
            let sha256 = sha256_of(&layout.snapshot(&commit).join(&file.name));
            RemoteFile { name: file.name, bytes: file.bytes, sha256 }
        });
        let listing = Listing { files: files.collect(), commit, whole: false };
        Some(Plan { name: name.clone(), listing, choice })
    }

    fn layout(&self, name: &HubName) -> Layout {
        Layout::new(&self.place.cache, &name.repo)
    }

    fn note(&self, name: &HubName, listing: &Listing) {
        let (repo, revision) = (name.repo.clone(), name.revision.clone());
        self.notes.write(&self.note_name(name), &Noted { repo, revision, listing: listing.clone() });
    }

    /// What is known of one cache is not of another.
    fn note_name(&self, name: &HubName) -> String {
        let file = name.file.as_deref().filter(|file| is_gguf(file)).unwrap_or_default();
        let text = format!("{}\n{}\n{}\n{file}", self.place.cache.display(), name.repo, name.revision);
        format!("hub-{}", &blake3::hash(text.as_bytes()).to_hex()[..32])
    }

    fn told(&self, name: &HubName, trouble: Trouble) -> Error {
        trouble.error(&name.repo, &format!("{}/{}", self.client.endpoint, name.repo), self.client.has_token())
    }
}

/// The path of a file on the hub.
fn resolve(name: &HubName, revision: &str, file: &str) -> String {
    format!("/{}/resolve/{}/{}", name.repo, revision.replace('/', "%2F"), encoded(file))
}

/// As the path of an address has it.
fn encoded(file: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    file.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn missing_offline(what: &str) -> Error {
    Error::unavailable(format!("{what} is not in the hub's cache, and this works offline")).advise(format!(
        "when online run `slm-code-interpreter setup --model {what}`, or name a .gguf file that is here"
    ))
}

#[cfg(test)]
mod tests;
