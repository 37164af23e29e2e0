//! Requests to the hub: redirects followed by hand, so that the token goes to the hub alone; waits that end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Uri};
use ureq::{Agent, Body};

use super::layout::is_tag;
use super::place::{Place, Token};
use super::trouble::Trouble;
use crate::model::http::{self, Proxies};
use crate::progress::{Progress, Step};
use crate::{Cancel, Error};

const MAX_REDIRECTS: usize = 8;
/// No server makes us wait longer, whatever it asks for.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// How long what is waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// For a name, and again for a connection.
    pub connect: Duration,
    /// For the next bytes.
    pub silence: Duration,
    /// For a whole answer that is no file, wherever it leads.
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
    proxies: Proxies,
    pub endpoint: String,
    /// `None` too where everybody on the way could read it.
    token: Option<Token>,
    /// What is to be told about the token before the first request.
    warning: Mutex<Option<String>>,
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
    pub fn new(place: &Place, proxies: Proxies, patience: Patience) -> Self {
        let agent = http::agent(patience.connect)
            .timeout_per_read(Some(patience.silence))
            .timeout_per_write(Some(patience.silence))
            .timeout_recv_response(Some(patience.silence))
            .build();
        let is_private = place.endpoint.parse().is_ok_and(|endpoint| is_private(&endpoint));
        let (token, withheld) = match place.token.clone() {
            Some(token) if !is_private => (None, Some(token)),
            token => (token, None),
        };
        let warning = withheld.map(|token| {
            format!(
                "the token in {} is not sent to {}, which is reached without encryption",
                token.from, place.endpoint
            )
        });
        let endpoint = place.endpoint.clone();
        Self { agent: agent.into(), proxies, endpoint, token, warning: Mutex::new(warning), patience }
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
        let warning = self.warning.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(text) = warning {
            progress.step(Step::Note { text: &text });
        }
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

    /// Asks `path`, which begins with a slash, of the hub, and follows where it leads. Unless a file is wanted, all of it
    /// together ends within [`Patience::answer`].
    pub fn get(&self, path: &str, want: Want) -> Result<Reply, Trouble> {
        let mut url = format!("{}{path}", self.endpoint);
        let (mut hub, begun) = (Vec::new(), Instant::now());
        for _ in 0..=MAX_REDIRECTS {
            let response = self.ask(&url, want, self.patience.answer.saturating_sub(begun.elapsed()))?;
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

    /// One request; `left` is for one that wants no file.
    fn ask(&self, url: &str, want: Want, left: Duration) -> Result<ureq::http::Response<Body>, Trouble> {
        let place: Uri = url.parse().map_err(|_| Trouble::Odd("the hub's address is none".into()))?;
        let proxy = self.proxies.between(is_https(&place), place.host().unwrap_or_default())?;
        let mut request = self.agent.get(url).header("accept-encoding", "identity").config().proxy(proxy);
        if matches!(want, Want::Document | Want::Facts) {
            if left.is_zero() {
                return Err(Trouble::Silent);
            }
            request = request.timeout_global(Some(left));
        }
        let mut request = request.build();
        request = match want {
            Want::Document | Want::From(0) => request,
            Want::Facts => request.header("range", "bytes=0-0"),
            Want::From(start) => request.header("range", format!("bytes={start}-")),
        };
        if let Some(token) = &self.token
            && origin(url) == origin(&self.endpoint)
        {
            let value = http::bearer(&token.text).ok_or_else(|| {
                Error::usage(format!("{} holds something else than one word of printable ASCII", token.from))
                    .advise("put the token alone there, or nothing")
            })?;
            request = request.header("authorization", value);
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

fn is_https(place: &Uri) -> bool {
    place.scheme_str().is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"))
}

fn is_private(place: &Uri) -> bool {
    http::is_private(is_https(place), place.host().unwrap_or_default())
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
