//! One HTTP request and its answer, piece by piece, with an end to every wait.
//!
//! The request runs on a thread of its own, since name resolution, connecting and reading all block. Whoever waits for the
//! pieces looks at `Cancel` meanwhile. When it leaves, whatever the reason, the connection is shut down, which ends the
//! thread's read; resolving and connecting end by their own limit. So no thread outlives its exchange by more than that.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use ureq::http::header::{AUTHORIZATION, CONTENT_ENCODING, LOCATION, RETRY_AFTER};
use ureq::http::{HeaderMap, HeaderName, Request};
use ureq::{Agent, Proxy};

use crate::error::OrInternal;
use crate::model::http::{self, Broken};
use crate::{Cancel, Error, Result};

/// How long a wait sleeps before it looks at `Cancel` again.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes read at once, and how many such pieces may lie unread.
const PIECE: usize = 16 << 10;
const AHEAD: usize = 8;

/// How long to wait for what, and how often to try again.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    /// For the name, and then for the connection.
    pub connect: Duration,
    /// From the request to the first word of the reply: a server may load the model first, then read the prompt.
    pub first_word: Duration,
    /// From one word of a reply to the next; what only keeps the connection alive is none.
    pub between: Duration,
    /// For a whole reply.
    pub reply: Duration,
    /// For the counts of tokens when the program is there.
    pub tail: Duration,
    /// For a list of models, whole, and for the words of an error.
    pub document: Duration,
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
            first_word: Duration::from_secs(600),
            between: Duration::from_secs(300),
            reply: Duration::from_secs(2 * 3600),
            tail: Duration::from_secs(2),
            document: Duration::from_secs(30),
            busy_retries: 6,
            broken_retries: 2,
            pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(30),
        }
    }
}

/// A wait that has begun, and its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    begun: Instant,
    length: Duration,
}

impl Wait {
    pub fn new(length: Duration) -> Self {
        Self { begun: Instant::now(), length }
    }

    fn left(&self) -> Duration {
        self.length.saturating_sub(self.begun.elapsed())
    }

    /// The one of the two that ends first.
    pub fn or(self, other: Self) -> Self {
        if other.left() < self.left() { other } else { self }
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
    /// What is waited for did not come in this time.
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
        // One for each exchange, so that hanging up ends no other.
        let agent: Agent = http::agent(patience.connect).proxy(proxy).build().into();
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
    pub fn head(&self, wait: Wait, cancel: &Cancel) -> Result<Head, Lost> {
        match self.next(wait, cancel)? {
            Piece::Head(head) => Ok(head),
            Piece::Broken(broken) => Err(Lost::Broken(broken)),
            Piece::Bytes(_) | Piece::End => Err(Lost::Broken(Broken::Cut)),
        }
    }

    /// The next bytes of the body; `None` at its end.
    pub fn bytes(&self, wait: Wait, cancel: &Cancel) -> Result<Option<Vec<u8>>, Lost> {
        match self.next(wait, cancel)? {
            Piece::Bytes(bytes) => Ok(Some(bytes)),
            Piece::End => Ok(None),
            Piece::Broken(broken) => Err(Lost::Broken(broken)),
            Piece::Head(_) => Err(Lost::Broken(Broken::Cut)),
        }
    }

    /// The body to its end, `most` bytes of it.
    pub fn rest(&self, most: usize, wait: Wait, cancel: &Cancel) -> Result<Vec<u8>, Lost> {
        let mut all = Vec::new();
        while let Some(bytes) = self.bytes(wait, cancel)? {
            all.extend_from_slice(&bytes[..bytes.len().min(most - all.len())]);
            if all.len() == most {
                break;
            }
        }
        Ok(all)
    }

    /// The next piece. When the wait is over none is taken, or a server that never pauses would have no end.
    fn next(&self, wait: Wait, cancel: &Cancel) -> Result<Piece, Lost> {
        loop {
            if cancel.is_cancelled() {
                return Err(Lost::Cancelled);
            }
            let left = wait.left();
            if left.is_zero() {
                return Err(Lost::Silent(wait.length));
            }
            match self.pieces.recv_timeout(left.min(LOOK)) {
                Ok(piece) => return Ok(piece),
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

fn request(url: &str, key: Option<&str>, body: Option<Vec<u8>>) -> Result<Request<Option<Vec<u8>>>> {
    let mut request = Request::builder().uri(url).header("accept", "text/event-stream, application/json");
    request = match &body {
        Some(_) => request.method("POST").header("content-type", "application/json"),
        None => request.method("GET"),
    };
    if let Some(key) = key {
        let value =
            http::bearer(key).ok_or_else(|| Error::usage("the key for the model server cannot stand in a header"))?;
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
