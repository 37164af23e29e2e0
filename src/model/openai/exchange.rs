//! One HTTP request and its answer, piece by piece, with an end to every wait.
//!
//! The request runs on a thread of its own, since name resolution, connecting and reading all block. Whoever waits for the
//! pieces looks at `Cancel` meanwhile. When it leaves, whatever the reason, the connection is shut down, which ends the
//! thread's read; resolving and connecting end by their own limit. So no thread outlives its exchange by more than that.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use ureq::http::header::{AUTHORIZATION, CONTENT_ENCODING, LOCATION, RETRY_AFTER};
use ureq::http::{HeaderMap, HeaderName, HeaderValue, Request};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Proxy};

use super::broken::Broken;
use crate::error::OrInternal;
use crate::{Cancel, Error, Result};

/// How long a wait sleeps before it looks at `Cancel` again.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes read at once, and how many such pieces may lie unread.
const PIECE: usize = 16 << 10;
const AHEAD: usize = 8;
/// Bytes of the answer's head.
const MOST_HEAD: usize = 64 << 10;

/// How long to wait for what, and how often to try again.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    /// For the name, and then for the connection.
    pub connect: Duration,
    /// Until the answer begins: a server may load the model first, then read the prompt.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub between: Duration,
    /// Further attempts when the server is busy or starting.
    pub busy_retries: u32,
    /// Further attempts when nobody listens, or the connection breaks before the first piece.
    pub broken_retries: u32,
    /// Before the first further attempt; each time it doubles.
    pub pause: Duration,
    /// It never grows beyond this, and a server may not ask for more.
    pub longest_pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(600),
            between: Duration::from_secs(300),
            busy_retries: 6,
            broken_retries: 2,
            pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
        }
    }
}

/// What of an answer's head is read.
#[derive(Debug)]
pub(super) struct Head {
    pub status: u16,
    pub location: Option<String>,
    /// In whole seconds; a date is not read.
    pub retry_after: Option<Duration>,
    pub encoding: Option<String>,
}

impl Head {
    fn of(status: u16, headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.trim().to_owned());
        let seconds = text(RETRY_AFTER).and_then(|text| text.parse().ok());
        Self {
            status,
            location: text(LOCATION),
            retry_after: seconds.map(Duration::from_secs),
            encoding: text(CONTENT_ENCODING).filter(|encoding| !encoding.eq_ignore_ascii_case("identity")),
        }
    }
}

/// Why a wait ended without a piece.
#[derive(Debug)]
pub(super) enum Lost {
    Cancelled,
    /// Nothing came in this time.
    Silent(Duration),
    Broken(Broken),
}

enum Piece {
    Head(Head),
    Bytes(Vec<u8>),
    End,
    Broken(Broken),
}

/// A request under way; dropping it hangs up.
pub(super) struct Exchange {
    agent: Agent,
    pieces: Receiver<Piece>,
}

impl Exchange {
    /// Sends `body` by POST, or asks by GET when there is none. The key goes to this address alone: redirects are answers
    /// like others.
    ///
    /// # Errors
    /// A thread that could not be had, an address or a key that cannot be sent.
    pub fn begin(
        url: &str,
        key: Option<&str>,
        body: Option<Vec<u8>>,
        proxy: Option<Proxy>,
        patience: &Patience,
    ) -> Result<Self> {
        let agent = agent(proxy, patience);
        let request = request(url, key, body)?;
        let (sender, pieces) = sync_channel(AHEAD);
        let client = agent.clone();
        std::thread::Builder::new()
            .name("model-server".into())
            .spawn(move || run(&client, request, &sender))
            .or_internal("the thread that talks to the model server")?;
        Ok(Self { agent, pieces })
    }

    /// The head of the answer.
    pub fn head(&self, patience: &Patience, cancel: &Cancel) -> Result<Head, Lost> {
        match self.next(patience.first_byte, cancel)? {
            Piece::Head(head) => Ok(head),
            Piece::Broken(broken) => Err(Lost::Broken(broken)),
            Piece::Bytes(_) | Piece::End => Err(Lost::Broken(Broken::Cut)),
        }
    }

    /// The next bytes of the body; `None` at its end.
    pub fn bytes(&self, patience: Duration, cancel: &Cancel) -> Result<Option<Vec<u8>>, Lost> {
        match self.next(patience, cancel)? {
            Piece::Bytes(bytes) => Ok(Some(bytes)),
            Piece::End => Ok(None),
            Piece::Broken(broken) => Err(Lost::Broken(broken)),
            Piece::Head(_) => Err(Lost::Broken(Broken::Cut)),
        }
    }

    /// The body to its end, `most` bytes of it.
    pub fn rest(&self, most: usize, patience: Duration, cancel: &Cancel) -> Result<Vec<u8>, Lost> {
        let mut all = Vec::new();
        while let Some(bytes) = self.bytes(patience, cancel)? {
            all.extend_from_slice(&bytes[..bytes.len().min(most - all.len())]);
            if all.len() == most {
                break;
            }
        }
        Ok(all)
    }

    fn next(&self, patience: Duration, cancel: &Cancel) -> Result<Piece, Lost> {
        let begun = Instant::now();
        loop {
            if cancel.is_cancelled() {
                return Err(Lost::Cancelled);
            }
            let left = patience.saturating_sub(begun.elapsed());
            match self.pieces.recv_timeout(left.min(LOOK)) {
                Ok(piece) => return Ok(piece),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(Lost::Silent(patience)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Lost::Broken(Broken::Cut)),
            }
        }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.agent.clone().shutdown();
    }
}

/// One for each exchange, so that hanging up ends no other.
fn agent(proxy: Option<Proxy>, patience: &Patience) -> Agent {
    // The platform's certificates, so that a company's own authority counts.
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(proxy)
        .tls_config(tls)
        .user_agent(concat!("slm-code-interpreter/", env!("CARGO_PKG_VERSION")))
        .timeout_resolve(Some(patience.connect))
        .timeout_connect(Some(patience.connect))
        .max_response_header_size(MOST_HEAD)
        .build()
        .into()
}

fn request(url: &str, key: Option<&str>, body: Option<Vec<u8>>) -> Result<Request<Option<Vec<u8>>>> {
    let mut request = Request::builder().uri(url).header("accept", "text/event-stream, application/json");
    request = match &body {
        Some(_) => request.method("POST").header("content-type", "application/json"),
        None => request.method("GET"),
    };
    if let Some(key) = key {
        // The error would hold nothing of the key, but need not be shown to know that.
        let mut value = HeaderValue::from_str(&format!("Bearer {key}"))
            .map_err(|_| Error::usage("the key for the model server cannot stand in a header"))?;
        value.set_sensitive(true);
        request = request.header(AUTHORIZATION, value);
    }
    request.body(body).map_err(|error| Error::usage(error).context("the model server's address"))
}

/// Runs the request to its end, or until nobody takes its pieces any more.
fn run(agent: &Agent, request: Request<Option<Vec<u8>>>, pieces: &SyncSender<Piece>) {
    let (head, body) = request.into_parts();
    let answered = match body {
        Some(body) => agent.run(Request::from_parts(head, body)),
        None => agent.run(Request::from_parts(head, ())),
    };
    let answer = match answered {
        Ok(answer) => answer,
        Err(error) => {
            // Whoever left does not want to know.
            let _ = pieces.send(Piece::Broken(Broken::of(error)));
            return;
        }
    };
    let send = |piece| pieces.send(piece).is_ok();
    if !send(Piece::Head(Head::of(answer.status().as_u16(), answer.headers()))) {
        return;
    }
    let mut reader = answer.into_body().into_reader();
    let mut buffer = vec![0; PIECE];
    loop {
        let piece = match reader.read(&mut buffer) {
            Ok(0) => Piece::End,
            Ok(read) => Piece::Bytes(buffer[..read].to_vec()),
            Err(error) => Piece::Broken(Broken::of(error.into())),
        };
        let goes_on = matches!(piece, Piece::Bytes(_));
        if !send(piece) || !goes_on {
            return;
        }
    }
}
