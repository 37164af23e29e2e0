//! Which proxy stands between, by the variables that other programs obey too.

use ureq::Proxy;

use super::is_loopback;
use crate::{Error, Result};

/// The variables, which may hold passwords. Small letters count as well, and first.
pub(in crate::model) struct Proxies {
    /// For `https://`, for `http://`, and for both: each with its name.
    https: Option<(&'static str, String)>,
    http: Option<(&'static str, String)>,
    all: Option<(&'static str, String)>,
    exempt: String,
}

impl Proxies {
    pub fn from_environment() -> Self {
        Self::of(&|name| std::env::var(name).ok())
    }

    pub fn of(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let variable = |name: &'static str| {
            let value = variable(&name.to_ascii_lowercase()).or_else(|| variable(name))?;
            Some((name, value.trim().to_owned())).filter(|(_, value)| !value.is_empty())
        };
        let [https, http, all] = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY"].map(variable);
        Self { https, http, all, exempt: variable("NO_PROXY").map(|(_, list)| list).unwrap_or_default() }
    }

    /// The proxy for `host`, as an address has it: `HTTPS_PROXY` or `HTTP_PROXY` by the address's scheme, else
    /// `ALL_PROXY`, unless `NO_PROXY` names the host. What stays on this machine never passes one.
    ///
    /// # Errors
    /// Usage, when the variable holds no HTTP proxy's address; it is not shown, since it may hold a password.
    pub fn between(&self, is_https: bool, host: &str) -> Result<Option<Proxy>> {
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        if is_loopback(&host) || is_listed(&host, &self.exempt) {
            return Ok(None);
        }
        let by_scheme = if is_https { &self.https } else { &self.http };
        let Some((name, address)) = by_scheme.as_ref().or(self.all.as_ref()) else { return Ok(None) };
        let refused = |why: &str| {
            Error::usage(format!("the variable {name} {why}"))
                .advise(format!("set it as http://proxy:3128, or name {host} in NO_PROXY"))
        };
        let proxy = Proxy::new(address).map_err(|_| refused("holds no proxy's address"))?;
        match proxy.protocol() {
            ureq::ProxyProtocol::Http | ureq::ProxyProtocol::Https => Ok(Some(proxy)),
            _ => Err(refused("names a SOCKS proxy, which is not supported")),
        }
    }
}

/// Whether `list`, names parted by commas, holds `host` or a domain it is in.
fn is_listed(host: &str, list: &str) -> bool {
    list.split([',', ' ']).any(|entry| {
        let entry = entry.trim().to_ascii_lowercase();
        let entry = entry.trim_start_matches("*.").trim_start_matches('.');
        let within =
            |domain: &str| host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
        // A port after the name is read over: it narrows what is rarely narrowed.
        let name = entry.rsplit_once(':').map_or(entry, |(name, port)| match port.parse::<u16>() {
            Ok(_) if !name.contains(':') => name,
            _ => entry,
        });
        name == "*" || (!name.is_empty() && within(name.trim_matches(['[', ']'])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(url: &str, variables: &[(&str, &str)]) -> Option<String> {
        let find =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let url: ureq::http::Uri = url.parse().unwrap();
        let proxy = Proxies::of(&find).between(url.scheme_str() == Some("https"), url.host().unwrap()).unwrap();
        proxy.map(|proxy| format!("{}:{}", proxy.host(), proxy.port()))
    }

    #[test]
    fn the_scheme_chooses_and_this_machine_needs_none() {
        let both = [("HTTP_PROXY", "http://plain:1"), ("https_proxy", "secure:2"), ("ALL_PROXY", "http://any:3")];
        assert_eq!(chosen("http://h", &both).as_deref(), Some("plain:1"));
        assert_eq!(chosen("https://h", &both).as_deref(), Some("secure:2"));
        assert_eq!(chosen("https://h", &both[2..]).as_deref(), Some("any:3"));
        assert_eq!(chosen("https://h", &both[..1]), None);
        for own in ["http://localhost:1", "http://127.0.0.1:1", "http://[::1]:1"] {
            assert_eq!(chosen(own, &both), None, "{own}");
        }
    }

    #[test]
    fn exempt_hosts_are_reached_directly() {
        let listed = |url, list| chosen(url, &[("HTTP_PROXY", "http://p:1"), ("NO_PROXY", list)]).is_none();
        for list in ["*", "a.example.org", "x, example.org", ".example.org", "*.example.org", "example.org:8080"] {
            assert!(listed("http://a.example.org:8080", list), "{list}");
        }
        for list in ["", "b.example.org", "ample.org", "org.", ","] {
            assert!(!listed("http://a.example.org", list), "{list}");
        }
        assert!(listed("http://[fd00::1]:1", "fd00::1"));
    }

    #[test]
    fn a_bad_value_is_named_and_not_shown() {
        for (value, why) in [("http://me:secret@[", "no proxy"), ("socks5://me:secret@h:1", "SOCKS")] {
            let find = |name: &str| (name == "ALL_PROXY").then(|| value.to_owned());
            let error = Proxies::of(&find).between(false, "h").unwrap_err();
            let text = format!("{error:?}");
            assert!(error.is_usage() && text.contains("ALL_PROXY") && text.contains(why), "{text}");
            assert!(!text.contains("secret"), "{text}");
        }
    }
}
