//! What the clients of the hub and of model servers share: how an agent is set up, the proxies between, whom a secret may
//! be sent to, and how a connection fails. With them the only room that knows `ureq`.

mod broken;
mod proxies;

pub(super) use self::broken::Broken;
pub(super) use self::proxies::Proxies;

use std::net::IpAddr;
use std::time::Duration;

use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::http::HeaderValue;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::AgentScope;

/// Bytes of an answer's head: names, signatures and cookies of the networks that deliver files.
const MOST_HEAD: usize = 64 << 10;

/// An agent that takes every status as an answer, redirects too, passes no proxy that it is not told, and waits no longer
/// than `connect` for a name, and again for a connection.
pub(super) fn agent(connect: Duration) -> ConfigBuilder<AgentScope> {
    // The platform's certificates, so that a company's own authority counts.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .tls_config(tls)
        .user_agent(concat!("slm-code-interpreter/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(connect))
        .timeout_connect(Some(connect))
        .max_response_header_size(MOST_HEAD)
}

/// The header that proves who asks, which no log shows; `None`: `secret` is not one word of printable ASCII.
pub(super) fn bearer(secret: &str) -> Option<HeaderValue> {
    let is_word = !secret.is_empty() && secret.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = HeaderValue::from_str(&format!("Bearer {secret}")).ok().filter(|_| is_word)?;
    value.set_sensitive(true);
    Some(value)
}

/// Whether nobody on the way reads what is sent there.
pub(super) fn is_private(is_https: bool, host: &str) -> bool {
    is_https || is_loopback(host)
}

/// Whether what is sent to `host`, as an address has it, stays on this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_told_from_others() {
        for own in ["localhost", "LocalHost", "127.0.0.1", "127.9.9.9", "[::1]", "::1"] {
            assert!(is_loopback(own) && is_private(false, own), "{own}");
        }
        for other in ["localhost.example.org", "10.0.0.1", "127.0.0.1.example.org", "::2", "huggingface.co", ""] {
            assert!(!is_loopback(other) && !is_private(false, other) && is_private(true, other), "{other}");
        }
    }

    #[test]
    fn a_secret_is_one_word_and_not_shown() {
        let value = bearer("hf_secret").unwrap();
        assert!(value.is_sensitive() && !format!("{value:?}").contains("secret"), "{value:?}");
        for bad in ["", "a b", "a\nb", "a\0", "é", "a\u{7f}"] {
            assert_eq!(bearer(bad), None, "{bad:?}");
        }
    }
}
