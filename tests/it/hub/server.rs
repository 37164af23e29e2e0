//! A hub of the tests' own: the paths and headers of the real one, and every way of misbehaving that a test asks for.
#![allow(dead_code, reason = "the library's own tests and those of the program each use a part of it")]

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use sha2::{Digest, Sha256};

pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// What one request is answered with.
#[derive(Clone, Debug)]
pub enum Act {
    /// As the hub would.
    Serve,
    Status(u16, Vec<(&'static str, String)>),
    /// So many bytes of the body, then the end of the connection.
    Cut(usize),
    /// Nothing at all, while the connection stays.
    Silent,
    /// So many bytes of the body, then nothing.
    Stall(usize),
    /// To another address; the hub's own words about the file come with it.
    Redirect(String),
    /// As the hub would, but with another size of the file.
    Sized(u64),
    /// As the hub would, but with another content than the one that is announced.
    Swapped(Vec<u8>),
    /// The whole file, whatever part was asked for.
    Whole,
    /// One body of text, with status 200.
    Text(String),
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub path: String,
    /// As in the header.
    pub range: Option<String>,
    pub authorization: Option<String>,
    /// How many requests for the same came before it: facts (the first byte) and files are counted apart.
    pub before: usize,
}

impl Seen {
    /// Only what the file is.
    pub fn is_facts(&self) -> bool {
        self.range.as_deref() == Some("bytes=0-0")
    }

    /// The file itself, or the rest of it.
    pub fn is_file(&self) -> bool {
        self.path.contains("/resolve/") && !self.is_facts()
    }

    /// The first byte asked for.
    pub fn start(&self) -> usize {
        let start =
            self.range.as_deref().and_then(|range| range.strip_prefix("bytes=")?.split('-').next()?.parse().ok());
        start.unwrap_or(0)
    }
}

pub struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

type Decide = dyn Fn(&Seen) -> Act + Send + Sync;

struct State {
    repo: String,
    files: BTreeMap<String, Vec<u8>>,
    decide: Box<Decide>,
    seen: Mutex<Vec<Seen>>,
    /// Connections on which nothing more comes.
    held: Mutex<Vec<TcpStream>>,
    ends: AtomicBool,
}

impl Server {
    /// Serves `files` as the repository `repo`; `decide` says how.
    pub fn start(repo: &str, files: &[(&str, &[u8])], decide: impl Fn(&Seen) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let files = files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect();
        let state = Arc::new(State {
            repo: repo.into(),
            files,
            decide: Box::new(decide),
            seen: Mutex::default(),
            held: Mutex::default(),
            ends: AtomicBool::new(false),
        });
        let shared = state.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if shared.ends.load(Ordering::Relaxed) {
                    return;
                }
                let state = shared.clone();
                // A client that went away is for the test to judge.
                thread::spawn(move || drop(state.answer(stream)));
            }
        });
        Self { address, state }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// All requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    /// The first bytes that files were asked from, in order.
    pub fn starts(&self) -> Vec<usize> {
        self.seen().iter().filter(|seen| seen.is_file()).map(Seen::start).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.ends.store(true, Ordering::Relaxed);
        self.state.held.lock().unwrap().clear();
        // Wakes the listener, which sees that it ends.
        drop(TcpStream::connect(self.address));
    }
}

pub fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

impl State {
    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let Some(seen) = self.read(&mut stream)? else { return Ok(()) };
        let act = (self.decide)(&seen);
        match act {
            Act::Silent => {
                self.held.lock().unwrap().push(stream);
                Ok(())
            }
            Act::Status(code, headers) => write_head(&mut stream, code, &headers, 0),
            Act::Text(text) => {
                write_head(&mut stream, 200, &[], text.len())?;
                stream.write_all(text.as_bytes())
            }
            act => self.serve(stream, &seen, act),
        }
    }

    fn read(&self, stream: &mut TcpStream) -> std::io::Result<Option<Seen>> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read(&mut byte)? == 0 {
                return Ok(None);
            }
            head.push(byte[0]);
            if head.len() == 4 && head != b"GET " {
                // Whoever speaks TLS here waits for an answer of the same kind.
                write_head(stream, 400, &[], 0)?;
                return Ok(None);
            }
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        let header = |name: &str| {
            let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with(&format!("{name}: ")));
            line.map(|line| line[name.len() + 2..].to_owned())
        };
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut seen = Seen { path, range: header("range"), authorization: header("authorization"), before: 0 };
        let mut all = self.seen.lock().unwrap();
        seen.before = all.iter().filter(|other| other.path == seen.path && other.is_facts() == seen.is_facts()).count();
        all.push(seen.clone());
        Ok(Some(seen))
    }

    fn serve(&self, mut stream: TcpStream, seen: &Seen, act: Act) -> std::io::Result<()> {
        let missing = |reason: &str| vec![("X-Error-Code", reason.to_owned())];
        if seen
            .path
            .strip_prefix("/api/models/")
            .is_some_and(|rest| rest.starts_with(&format!("{}/revision/", self.repo)))
        {
            let names =
                self.files.keys().map(|name| format!("{{\"rfilename\": {name:?}}}")).collect::<Vec<_>>().join(", ");
            let text = format!("{{\"sha\": \"{COMMIT}\", \"siblings\": [{names}]}}");
            write_head(&mut stream, 200, &[], text.len())?;
            return stream.write_all(text.as_bytes());
        }
        let Some(rest) = seen.path.strip_prefix(&format!("/{}/resolve/", self.repo)) else {
            return write_head(&mut stream, 404, &missing("RepoNotFound"), 0);
        };
        let name = rest.split_once('/').map_or("", |(_, name)| name).replace("%20", " ");
        let Some(bytes) = self.files.get(&name) else {
            return write_head(&mut stream, 404, &missing("EntryNotFound"), 0);
        };
        let (tag, size) = (sha256(bytes), if let Act::Sized(size) = act { size } else { bytes.len() as u64 });
        let mut headers = vec![
            ("X-Repo-Commit", COMMIT.to_owned()),
            ("X-Linked-Etag", format!("\"{tag}\"")),
            ("X-Linked-Size", size.to_string()),
            ("ETag", "\"of-this-answer-alone\"".to_owned()),
        ];
        if let Act::Redirect(to) = &act {
            headers.push(("Location", to.clone()));
            return write_head(&mut stream, 302, &headers, 0);
        }
        let body = if let Act::Swapped(other) = &act { other } else { bytes };
        let start = if matches!(act, Act::Whole) { 0 } else { seen.start().min(body.len()) };
        let end = if seen.is_facts() && !matches!(act, Act::Whole) { body.len().min(1) } else { body.len() };
        let code = if seen.range.is_some() && !matches!(act, Act::Whole) { 206 } else { 200 };
        if code == 206 {
            headers.push(("Content-Range", format!("bytes {start}-{}/{}", end.saturating_sub(1), body.len())));
        }
        let body = &body[start..end];
        write_head(&mut stream, code, &headers, body.len())?;
        match act {
            Act::Cut(after) => stream.write_all(&body[..after.min(body.len())]),
            Act::Stall(after) => {
                stream.write_all(&body[..after.min(body.len())])?;
                self.held.lock().unwrap().push(stream);
                Ok(())
            }
            _ => stream.write_all(body),
        }
    }
}

fn write_head(stream: &mut TcpStream, code: u16, headers: &[(&str, String)], len: usize) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {code} x\r\nContent-Length: {len}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes())
}
