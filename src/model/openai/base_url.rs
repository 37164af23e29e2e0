//! Where the server is: the address that a person gave, checked once.

use std::fmt;

use ureq::http::Uri;

use crate::model::http;
use crate::{Error, Result};

const EXAMPLE: &str = "write it as http://localhost:11434/v1 or https://models.example.org/v1";

/// An address without user, password, query or slash at its end: it can be shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BaseUrl {
    root: String,
    host: String,
    is_https: bool,
    /// It names no path. Most servers then mean `/v1`; whether this one does is learned from its first 404.
    is_bare: bool,
    with_v1: bool,
}

impl BaseUrl {
    /// # Errors
    /// Usage. The text itself is in no message: it may hold a password.
    pub fn parse(text: &str) -> Result<Self> {
        let refused = |why: &str| Err(Error::usage(format!("the base URL {why}")).advise(EXAMPLE));
        let text = text.trim();
        let Some((scheme, rest)) = text.split_once("://") else {
            return refused("does not begin with http:// or https://");
        };
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return refused("does not begin with http:// or https://");
        }
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if authority.contains('@') {
            return Err(Error::usage("the base URL holds a user or a password")
                .advise("put the key into the variable SLM_CODE_INTERPRETER_API_KEY, and leave it out of the URL"));
        }
        if rest.contains(['?', '#']) {
            return refused("has a query or a fragment, which cannot be continued with a path");
        }
        let path = rest[authority.len()..].trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").unwrap_or(path).trim_end_matches('/');
        let root = format!("{scheme}://{authority}{path}");
        let uri = match root.parse::<Uri>() {
            Ok(uri) => uri,
            Err(_) => return refused("is no URL"),
        };
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_ascii_lowercase();
        let names_port = authority.rsplit_once(':').is_some_and(|(_, port)| !port.contains(']'));
        if host.is_empty() || (names_port && uri.port_u16().is_none_or(|port| port == 0)) {
            return refused("names no host, or no valid port");
        }
        Ok(Self { root, host, is_https: scheme == "https", is_bare: path.is_empty(), with_v1: true })
    }

    /// The address of `path`, which begins with a slash.
    pub fn to(&self, path: &str) -> String {
        let v1 = if self.is_bare && self.with_v1 { "/v1" } else { "" };
        format!("{}{v1}{path}", self.root)
    }

    /// Tries the other place once, if there is one: whether there is.
    pub fn tries_without_v1(&mut self) -> bool {
        self.is_bare && std::mem::replace(&mut self.with_v1, false)
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Whether what is sent there stays on this machine.
    pub fn is_loopback(&self) -> bool {
        http::is_loopback(&self.host)
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slashes_and_paths_are_put_in_order() {
        for (text, chat) in [
            ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            (" HTTP://localhost:11434/v1// ", "http://localhost:11434/v1/chat/completions"),
            ("http://localhost:8080", "http://localhost:8080/v1/chat/completions"),
            ("http://localhost:8080/", "http://localhost:8080/v1/chat/completions"),
            ("https://h/openai/v1/chat/completions", "https://h/openai/v1/chat/completions"),
            ("https://h/api", "https://h/api/chat/completions"),
            ("http://[::1]:80/v1", "http://[::1]:80/v1/chat/completions"),
        ] {
            assert_eq!(BaseUrl::parse(text).unwrap().to("/chat/completions"), chat, "{text}");
        }
    }

    #[test]
    fn a_bare_address_has_two_places() {
        let mut bare = BaseUrl::parse("http://h:1").unwrap();
        assert!(bare.tries_without_v1());
        assert_eq!(bare.to("/models"), "http://h:1/models");
        assert!(!bare.tries_without_v1(), "once");
        assert!(!BaseUrl::parse("http://h:1/v1").unwrap().tries_without_v1());
    }

    #[test]
    fn what_is_no_address_is_refused_without_showing_it() {
        for text in [
            "localhost:11434/v1",
            "ftp://h/v1",
            "http://",
            "http:///v1",
            "http://h:0/v1",
            "http://h:port/v1",
            "http://h:99999/v1",
            "http://h /v1",
            "http://h/v1?key=secret",
            "http://h/v1#secret",
            "",
            "://",
            "http://[::1",
            "https://user:secret@h/v1",
            "https://secret@h",
            "http://h:/v1",
            "http://[::1]:x/v1",
        ] {
            let error = BaseUrl::parse(text).unwrap_err();
            assert!(error.is_usage() && error.advice().is_some(), "{text}");
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
        assert!(BaseUrl::parse("http://a:b@h").unwrap_err().advice().unwrap().contains("SLM_CODE_INTERPRETER_API_KEY"));
    }

    #[test]
    fn this_machine_is_told_from_others() {
        for own in
            ["http://localhost", "http://LOCALHOST:1", "http://127.0.0.1/v1", "http://127.9.9.9", "http://[::1]:1"]
        {
            assert!(BaseUrl::parse(own).unwrap().is_loopback(), "{own}");
        }
        for other in
            ["http://localhost.example.org", "http://10.0.0.1", "https://127.0.0.1.example.org", "http://[::2]"]
        {
            assert!(!BaseUrl::parse(other).unwrap().is_loopback(), "{other}");
        }
    }
}
