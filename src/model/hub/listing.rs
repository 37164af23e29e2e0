//! What the hub says a repository holds: read as untrusted, and only names kept that could be chosen.

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::super::choice::{Listed, matters};
use super::client::{Client, Want};
use super::layout::{is_plain, is_sha256, is_tag};
use super::name::HubName;
use super::trouble::Trouble;

const MAX_DOCUMENT: u64 = 16 << 20;
const MAX_FILES: usize = 10_000;

/// A commit and those of its files that could be part of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listing {
    pub commit: String,
    pub files: Vec<RemoteFile>,
    /// All of the commit's, not only the one that was asked for.
    pub whole: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RemoteFile {
    pub name: String,
    pub bytes: Option<u64>,
    pub sha256: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    sha: String,
    #[serde(default)]
    siblings: Vec<Sibling>,
}

#[derive(Deserialize)]
struct Sibling {
    rfilename: String,
    size: Option<u64>,
    lfs: Option<Lfs>,
}

#[derive(Deserialize)]
struct Lfs {
    sha256: Option<String>,
    size: Option<u64>,
}

impl Listing {
    pub fn ask(client: &Client, name: &HubName) -> Result<Self, Trouble> {
        let path = format!("/api/models/{}/revision/{}", name.repo, name.revision.replace('/', "%2F"));
        let reply = client.get(&path, Want::Document)?;
        let mut text = Vec::new();
        let mut body = reply.body.into_with_config().limit(MAX_DOCUMENT).reader();
        body.read_to_end(&mut text).map_err(ureq::Error::from)?;
        Self::read(&text)
    }

    fn read(text: &[u8]) -> Result<Self, Trouble> {
        let odd = |why: &str| Trouble::Odd(format!("the hub's list of files makes no sense: {why}"));
        let document: Document = serde_json::from_slice(text).map_err(|error| odd(&error.to_string()))?;
        if !is_tag(&document.sha) {
            return Err(odd("no commit"));
        }
        let usable = document.siblings.into_iter().filter(|file| is_plain(&file.rfilename) && matters(&file.rfilename));
        let files = usable.take(MAX_FILES).map(|file| {
            let (sha256, size) = file.lfs.map_or((None, None), |lfs| (lfs.sha256, lfs.size));
            RemoteFile {
                name: file.rfilename,
                bytes: size.or(file.size),
                sha256: sha256.filter(|sha256| is_sha256(sha256)),
            }
        });
        Ok(Self { commit: document.sha, files: files.collect(), whole: true })
    }

    pub fn file(&self, name: &str) -> Option<&RemoteFile> {
        self.files.iter().find(|file| file.name == name)
    }

    pub fn listed(&self) -> Vec<Listed> {
        self.files.iter().map(|file| Listed { name: file.name.clone(), bytes: file.bytes }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_elsewhere_are_not_in_the_list() {
        let sha256 = "ab".repeat(32);
        let text = format!(
            r#"{{"sha": "c0ffee", "gated": false, "siblings": [
                {{"rfilename": "../../.ssh/x.gguf", "size": 1}}, {{"rfilename": "/etc/x.gguf"}}, {{"rfilename": "a\\x.gguf"}},
                {{"rfilename": "README.md", "size": 5}}, {{"rfilename": "config.json", "size": 7}},
                {{"rfilename": "x.gguf", "size": 130, "lfs": {{"sha256": "{sha256}", "size": 99, "pointerSize": 130}}}}]}}"#
        );
        let listing = Listing::read(text.as_bytes()).unwrap_or_else(|trouble| panic!("{trouble:?}"));
        let file = |name: &str, bytes, sha256| RemoteFile { name: name.into(), bytes: Some(bytes), sha256 };
        assert_eq!(listing.commit, "c0ffee");
        assert_eq!(listing.files, [file("config.json", 7, None), file("x.gguf", 99, Some(sha256))]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["", "[]", "{}", r#"{"sha": "../x"}"#, r#"{"sha": 5}"#, "<html>"] {
            assert!(matches!(Listing::read(text.as_bytes()), Err(Trouble::Odd(_))), "{text}");
        }
    }
}
