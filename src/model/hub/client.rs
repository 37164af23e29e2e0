//! Requests to the hub: redirects followed by hand, so that the token goes to the hub alone; waits that end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ureq::http::{HeaderMap, Uri};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::layout::is_tag;
use super::place::Place;
use super::trouble::Trouble;
use crate::Cancel;
use crate::progress::{Progress, Step};

const MAX_REDIRECTS: usize = 8;
/// Names, signatures and cookies of the networks that deliver files.
const MAX_HEADERS: usize = 64 << 10;
/// No server makes us wait longer, whatever it asks for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// How long what is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a name, and again for a connection.
    pub connect: Duration,
    /// For the next bytes.
    pub silence: Duration,
    /// For a whole answer that is no file.
    pub answer: Duration,
    /// Attempts in all, as long as nothing new comes.
    pub tries: u32,
    /// Before the second attempt; twice as long before each further one.
    pub pause: Duration,
}

impl Patience {
    pub const USUAL: Self = Self {
        connect: Duration::from_secs(10),
        silence: Duration::from_secs(30),
        answer: Duration::from_secs(60),
        tries: 5,
        pause: Duration::from_millis(500),
    };
    /// To find out whether it is there at all.
    pub const SHORT: Self = Self {
        connect: Duration::from_secs(1),
        silence: Duration::from_secs(2),
        answer: Duration::from_secs(3),
        tries: 1,
        pause: Duration::ZERO,
    };
}

pub(super) struct Client {
    agent: Agent,
    pub endpoint: String,
    token: Option<String>,
    pub patience: Patience,
}

/// An answer with its head; of a file that lies elsewhere also what the hub itself said about it.
pub(super) struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    /// As `headers`, of the answers that sent us on.
    hub: Vec<HeaderMap>,
    pub body: Body,
}

impl Reply {
    /// A header of the first answer that has it: the hub's own words come before those of whoever delivers.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.hub.iter().chain([&self.headers]).find_map(|headers| headers.get(name)?.to_str().ok())
    }
}

/// What a request asks for.
#[derive(Clone, Copy)]
pub(super) enum Want {
    /// A document, read whole in [`Patience::answer`].
    Document,
    /// What a file is: its first byte.
    Facts,
    /// A file from this byte on.
    From(u64),
}

impl Client {
    pub fn new(place: &Place, patience: Patience) -> Self {
        // A hub on this machine is not behind the proxy.
        let local = authority(&place.endpoint).is_some_and(|authority| is_loopback(&authority));
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(patience.connect))
            .timeout_connect(Some(patience.connect))
            .timeout_per_read(Some(patience.silence))
            .timeout_per_write(Some(patience.silence))
            .timeout_recv_response(Some(patience.silence))
            .max_response_header_size(MAX_HEADERS)
            .proxy(if local { None } else { Proxy::try_from_env() })
            .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
            .user_agent(concat!("slm-code-interpreter/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.into(), endpoint: place.endpoint.clone(), token: place.token.clone(), patience }
    }

    pub fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Does `work`, whose requests fail at once when `cancel` is called.
    pub fn interruptible<T>(&self, cancel: &Cancel, work: impl FnOnce() -> T) -> T {
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                let _unparks = cancel.unparks_me();
                while !done.load(Ordering::Acquire) && !cancel.is_cancelled() {
                    thread::park();
                }
                if cancel.is_cancelled() {
                    self.agent.clone().shutdown();
                }
            });
            // Also when `work` panics, or the scope would wait for ever.
            let _ends = Ends { done: &done, watcher: watcher.thread() };
            work()
        })
    }

    /// Does `attempt` until it goes well or its trouble does not pass; `attempt` tells whether anything new came since
    /// the last one.
    pub fn insist<T>(
        &self,
        progress: &Progress,
        cancel: &Cancel,
        mut attempt: impl FnMut(&mut bool) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let mut failures = 0;
        loop {
            cancel.check()?;
            let mut advanced = false;
            let trouble = match attempt(&mut advanced) {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            // Whatever a cancelled request says, this is why it failed.
            cancel.check()?;
            failures = if advanced { 1 } else { failures + 1 };
            if !trouble.passes() || failures >= self.patience.tries {
                return Err(trouble);
            }
            let pause = match &trouble {
                Trouble::Status { retry_after: Some(wait), .. } => *wait,
                _ => self.patience.pause * 2_u32.pow(failures - 1),
            };
            let text = format!("{}; trying again ({} of {})", trouble.what(), failures + 1, self.patience.tries);
            progress.step(Step::Note { text: &text });
            cancel.sleep(pause);
        }
    }

    /// Asks `path`, which begins with a slash, of the hub, and follows where it leads.
    pub fn get(&self, path: &str, want: Want) -> Result<Reply, Trouble> {
        let mut url = format!("{}{path}", self.endpoint);
        let mut hub = Vec::new();
        for _ in 0..=MAX_REDIRECTS {
            let response = self.ask(&url, want)?;
            let (head, body) = response.into_parts();
            let status = head.status.as_u16();
            let location = head.headers.get("location").and_then(|value| value.to_str().ok());
            match (status, location) {
                (301 | 302 | 303 | 307 | 308, Some(location)) => {
                    // The hub has said all there is to know.
                    if matches!(want, Want::Facts)
                        && head.headers.contains_key("x-linked-size")
                        && head.headers.contains_key("x-linked-etag")
                    {
                        return Ok(Reply { status, headers: head.headers, hub, body });
                    }
                    url = follow(&url, location)?;
                    hub.push(head.headers);
                }
                (200 | 206, _) => return Ok(Reply { status, headers: head.headers, hub, body }),
                // An empty file has no first byte.
                (416, _) => return Ok(Reply { status, headers: head.headers, hub, body }),
                _ => return Err(refusal(status, &head.headers)),
            }
        }
        Err(Trouble::Odd(format!("the hub sends us on more than {MAX_REDIRECTS} times")))
    }

    fn ask(&self, url: &str, want: Want) -> Result<ureq::http::Response<Body>, Trouble> {
        let mut request = self.agent.get(url).header("accept-encoding", "identity");
        request = match want {
            Want::Document | Want::From(0) => request,
            Want::Facts => request.header("range", "bytes=0-0"),
            Want::From(start) => request.header("range", format!("bytes={start}-")),
        };
        if matches!(want, Want::Document | Want::Facts) {
            request = request.config().timeout_global(Some(self.patience.answer)).build();
        }
        if let Some(token) = &self.token
            && origin(url) == origin(&self.endpoint)
        {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        Ok(request.call()?)
    }
}

struct Ends<'a> {
    done: &'a AtomicBool,
    watcher: &'a thread::Thread,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Release);
        self.watcher.unpark();
    }
}

fn refusal(code: u16, headers: &HeaderMap) -> Trouble {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let reason = text("x-error-code").filter(|reason| is_tag(reason)).unwrap_or_default().to_owned();
    let seconds = text("retry-after").and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
    Trouble::Status { code, reason, retry_after: seconds.map(|wait| wait.min(MAX_RETRY_AFTER)) }
}

/// Where `location` leads from `url`; never from https to http, and nowhere but to the web.
fn follow(url: &str, location: &str) -> Result<String, Trouble> {
    let odd = || Trouble::Odd("the hub sends us to a place that is none".into());
    let from: Uri = url.parse().map_err(|_| odd())?;
    let (scheme, host) = (from.scheme_str().unwrap_or_default(), from.authority().map_or("", |host| host.as_str()));
    let to = if location.contains("://") {
        location.to_owned()
    } else if location.starts_with("//") {
        format!("{scheme}:{location}")
    } else if location.starts_with('/') {
        format!("{scheme}://{host}{location}")
    } else {
        let folder = from.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{scheme}://{host}{folder}/{location}")
    };
    let parsed: Uri = to.parse().map_err(|_| odd())?;
    let good = match parsed.scheme_str() {
        Some("https") => true,
        Some("http") => scheme == "http",
        _ => false,
    };
    if good && parsed.authority().is_some_and(|host| !host.as_str().contains('@')) { Ok(to) } else { Err(odd()) }
}

/// Scheme, host and port: who it is that reads a header.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let uri: Uri = url.parse().ok()?;
    let scheme = uri.scheme_str()?.to_ascii_lowercase();
    let port = uri.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, uri.host()?.to_ascii_lowercase(), port))
}

fn authority(url: &str) -> Option<String> {
    url.parse::<Uri>().ok()?.host().map(str::to_owned)
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_stays_on_the_web_and_encrypted() {
        let from = "https://hub/org/name/resolve/main/x";
        assert_eq!(follow(from, "/api/y?z").unwrap(), "https://hub/api/y?z");
        assert_eq!(follow(from, "//cdn/y").unwrap(), "https://cdn/y");
        assert_eq!(follow(from, "https://cdn/y").unwrap(), "https://cdn/y");
        assert_eq!(follow(from, "y").unwrap(), "https://hub/org/name/resolve/main/y");
        assert_eq!(follow("http://hub/x", "http://cdn/y").unwrap(), "http://cdn/y");
        for to in ["http://cdn/y", "file:///etc/passwd", "ftp://x/y", "https://me@cdn/y", "https://", "x y://"] {
            assert!(matches!(follow(from, to), Err(Trouble::Odd(_))), "{to}");
        }
    }

    #[test]
    fn who_reads_the_token_is_scheme_host_and_port() {
        assert_eq!(origin("https://Hub/x"), origin("https://hub:443/y?z"));
        for other in ["http://hub/x", "https://hub:444/x", "https://hub.evil/x", "https://evil/hub"] {
            assert_ne!(origin("https://hub/x"), origin(other), "{other}");
        }
    }

    #[test]
    fn a_hub_on_this_machine_needs_no_proxy() {
        for host in ["localhost", "127.0.0.1", "127.1.2.3", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.evil", "10.0.0.1", "huggingface.co"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn no_server_makes_us_wait_long() {
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "86400".parse().unwrap());
        headers.insert("x-error-code", "GatedRepo".parse().unwrap());
        let Trouble::Status { code: 429, reason, retry_after: Some(MAX_RETRY_AFTER) } = refusal(429, &headers) else {
            panic!("another trouble");
        };
        assert_eq!(reason, "GatedRepo");
    }
}
