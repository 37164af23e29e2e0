//! Which hub, with which token, and where its cache is: the variables that all of its tools read.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use crate::{Error, Result};

const ENDPOINT: &str = "https://huggingface.co";
const MAX_TOKEN: u64 = 4096;

/// What opens gated models, and the variable or file that it comes from, for people.
#[derive(Clone)]
pub(super) struct Token {
    pub text: String,
    pub from: String,
}

#[derive(Clone)]
pub(super) struct Place {
    /// Scheme and host, perhaps with a path; without a slash at its end.
    pub endpoint: String,
    pub token: Option<Token>,
    /// The folder `hub` of its cache.
    pub cache: PathBuf,
    /// `HF_HUB_OFFLINE`.
    pub offline: bool,
}

impl Place {
    /// # Errors
    /// Usage: an endpoint that is none; unavailable: no home folder.
    pub fn from_environment() -> Result<Self> {
        Self::of(&|name| std::env::var_os(name), dirs::home_dir())
    }

    fn of(environment: &dyn Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Result<Self> {
        let raw = |name: &str| environment(name).filter(|value| !value.is_empty());
        let text = |name: &str| raw(name).and_then(|value| value.into_string().ok());
        let path = |name: &str| raw(name).map(|value| expanded(PathBuf::from(value), home.as_ref()));
        let base = || {
            path("XDG_CACHE_HOME")
                .or_else(|| home.as_ref().map(|home| home.join(".cache")))
                .map(|folder| folder.join("huggingface"))
        };
        let hub_home = path("HF_HOME").or_else(base);
        let cache = path("HF_HUB_CACHE")
            .or_else(|| path("HUGGINGFACE_HUB_CACHE"))
            .or_else(|| hub_home.as_ref().map(|folder| folder.join("hub")))
            .ok_or_else(|| {
                Error::unavailable("no place for the hub's cache: this account has no home folder")
                    .advise("set HF_HOME")
            })?;
        let token_file = path("HF_TOKEN_PATH").or_else(|| hub_home.map(|folder| folder.join("token")));
        let variable = |name: &str| token(text(name)?, name.to_owned());
        let token = variable("HF_TOKEN")
            .or_else(|| variable("HUGGING_FACE_HUB_TOKEN"))
            .or_else(|| token_file.and_then(read_token));
        let offline = text("HF_HUB_OFFLINE").is_some_and(|value| is_yes(&value));
        let endpoint = text("HF_ENDPOINT").unwrap_or_else(|| ENDPOINT.into());
        Ok(Self { endpoint: checked(&endpoint)?, token, cache: std::path::absolute(&cache).unwrap_or(cache), offline })
    }
}

impl std::fmt::Debug for Place {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Place").field("endpoint", &self.endpoint).field("cache", &self.cache).finish_non_exhaustive()
    }
}

fn checked(endpoint: &str) -> Result<String> {
    let trimmed = endpoint.trim().trim_end_matches('/');
    let uri = trimmed.parse::<ureq::http::Uri>().ok();
    let good = uri.is_some_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https"))
            && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'))
            && uri.query().is_none()
    });
    if good {
        Ok(trimmed.into())
    } else {
        Err(Error::usage(format!("HF_ENDPOINT is {endpoint:?}, which is no address of a hub"))
            .advise(format!("unset it, or set it to something like {ENDPOINT}")))
    }
}

fn token(text: String, from: String) -> Option<Token> {
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(Token { text, from })
}

fn read_token(path: PathBuf) -> Option<Token> {
    let file = File::open(&path).ok().filter(|file| file.metadata().is_ok_and(|facts| facts.is_file()))?;
    let mut text = String::new();
    file.take(MAX_TOKEN).read_to_string(&mut text).ok()?;
    token(text, path.display().to_string())
}

fn expanded(path: PathBuf, home: Option<&PathBuf>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    }
}

fn is_yes(value: &str) -> bool {
    ["1", "on", "yes", "true"].iter().any(|yes| value.trim().eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(variables: &[(&str, &str)]) -> Result<Place> {
        let get =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        Place::of(&get, Some("/home/someone".into()))
    }

    #[test]
    fn the_cache_is_where_other_tools_keep_it() {
        let cache = |variables: &[(&str, &str)]| place(variables).unwrap().cache;
        assert_eq!(cache(&[]), PathBuf::from("/home/someone/.cache/huggingface/hub"));
        assert_eq!(cache(&[("XDG_CACHE_HOME", "/c")]), PathBuf::from("/c/huggingface/hub"));
        assert_eq!(cache(&[("HF_HOME", "~/hf"), ("XDG_CACHE_HOME", "/c")]), PathBuf::from("/home/someone/hf/hub"));
        assert_eq!(cache(&[("HF_HUB_CACHE", "/hub"), ("HF_HOME", "/hf")]), PathBuf::from("/hub"));
        assert_eq!(cache(&[("HF_HOME", "")]), PathBuf::from("/home/someone/.cache/huggingface/hub"));
        assert!(Place::of(&|_| None, None).unwrap_err().is_unavailable());
    }

    #[test]
    fn the_token_comes_from_the_variable_or_from_the_file_of_a_login() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_str().unwrap();
        let token = |variables: &[(&str, &str)]| {
            let found = place(variables).unwrap();
            assert!(!format!("{found:?}").contains("hf_"), "{found:?}");
            found.token.map(|token| (token.text, token.from))
        };
        assert_eq!(token(&[("HF_HOME", home)]), None);
        let file = folder.path().join("token");
        std::fs::write(&file, "hf_file\n").unwrap();
        assert_eq!(token(&[("HF_HOME", home)]), Some(("hf_file".into(), file.display().to_string())));
        for variable in ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"] {
            let set = token(&[("HF_HOME", home), (variable, " hf_set ")]);
            assert_eq!(set, Some(("hf_set".into(), variable.into())));
        }
        let blank = token(&[("HF_HOME", home), ("HF_TOKEN", " ")]);
        assert_eq!(blank.map(|(text, _)| text).as_deref(), Some("hf_file"), "as if it were unset");
    }

    #[test]
    fn an_endpoint_is_an_address_on_the_web() {
        let endpoint = |text: &str| place(&[("HF_ENDPOINT", text)]).map(|place| place.endpoint);
        assert_eq!(place(&[]).unwrap().endpoint, ENDPOINT);
        assert_eq!(endpoint("http://127.0.0.1:80/hub/").unwrap(), "http://127.0.0.1:80/hub");
        for text in
            ["ftp://x", "file:///etc", "huggingface.co", "https://", "https://me:word@x", "https://x/?a=b", "x y"]
        {
            assert!(endpoint(text).unwrap_err().is_usage(), "{text}");
        }
    }

    #[test]
    fn offline_is_a_yes() {
        assert!(place(&[("HF_HUB_OFFLINE", "True")]).unwrap().offline);
        assert!(!place(&[("HF_HUB_OFFLINE", "0")]).unwrap().offline);
    }
}
