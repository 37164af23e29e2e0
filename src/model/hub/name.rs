//! How a model on the hub is named: `org/name`, `org/name@revision`, either with `:file`.

use super::layout::is_plain;

/// The branch that is meant when no revision is named.
const MAIN: &str = "main";
/// The hub's own bound on a repository's name is 96.
const MAX_NAME: usize = 128;

/// A repository on the hub, and perhaps a file or a kind of quantization in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HubName {
    /// `org/name`.
    pub repo: String,
    /// A branch, a tag or a commit.
    pub revision: String,
    pub file: Option<String>,
}

impl HubName {
    /// `None`: this cannot name anything on the hub.
    pub fn parse(name: &str) -> Option<Self> {
        let (place, file) = match name.split_once(':') {
            Some((place, file)) => (place, Some(file)),
            None => (name, None),
        };
        let (repo, revision) = place.split_once('@').unwrap_or((place, MAIN));
        let (org, model) = repo.split_once('/')?;
        let good = is_part(org) && is_part(model) && is_revision(revision) && file.is_none_or(is_plain);
        good.then(|| Self { repo: repo.into(), revision: revision.into(), file: file.map(Into::into) })
    }
}

impl std::fmt::Display for HubName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.repo)?;
        if self.revision != MAIN {
            write!(f, "@{}", self.revision)?;
        }
        self.file.as_ref().map_or(Ok(()), |file| write!(f, ":{file}"))
    }
}

fn is_part(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_alphanumeric())
        && part.len() <= MAX_NAME
        && !part.contains("--")
        && !part.contains("..")
        && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// As `main`, `v1.0`, `refs/pr/3` or a commit.
fn is_revision(revision: &str) -> bool {
    is_plain(revision)
        && revision.len() <= MAX_NAME
        && revision.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_and_put_together() {
        for (text, repo, revision, file) in [
            ("Qwen/Qwen2.5-GGUF", "Qwen/Qwen2.5-GGUF", "main", None),
            ("a/b:x-q8_0.gguf", "a/b", "main", Some("x-q8_0.gguf")),
            ("a/b:onnx/model_q4.onnx", "a/b", "main", Some("onnx/model_q4.onnx")),
            ("a/b@refs/pr/3:Q4_K_M", "a/b", "refs/pr/3", Some("Q4_K_M")),
            ("a/b@v1.0", "a/b", "v1.0", None),
        ] {
            let name = HubName::parse(text).unwrap();
            assert_eq!((name.repo.as_str(), name.revision.as_str(), name.file.as_deref()), (repo, revision, file));
            assert_eq!(name.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_name_is_none() {
        for text in [
            "", "a", "a/", "/b", "a/b/c", "../b", "a/..", "a/b:", "a/b:../x", "a/b:/x", "a/b:x\\y", "a/b@", "a/b@../x",
            "a/b@x y", "a--b/c", "-a/b", "a/b:x//y", "a/b:x:y", "a b/c",
        ] {
            assert_eq!(HubName::parse(text), None, "{text}");
        }
    }
}
