//! The daemon over real connections, with whatever needs no sandbox.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::{Body, Bytes};

use super::*;

const LONG: Duration = Duration::from_secs(60);
/// What only a test that hangs would see.
const NEVER: Duration = Duration::from_secs(3600);

/// The length of an answer that does not fit into what the system keeps for a connection.
const LARGE: usize = 64 << 20;

/// The bytes of such an answer.
struct Large(Vec<u8>, Sender<()>);

impl AsRef<[u8]> for Large {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        // Not every test listens.
        let _ = self.1.send(());
    }
}

/// A daemon that has loaded nothing yet, a route that works until it is cancelled, and one with much to say.
struct Daemon {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    /// `true` when the work of `/slow` began, then whether it was cancelled.
    slow: Receiver<bool>,
    /// Told when an answer of `/large` is not kept any more.
    dropped: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl Daemon {
    fn start() -> Self {
        Self::waits(NEVER)
    }

    /// One that waits so long for the next part of an answer to be taken.
    fn waits(answer: Duration) -> Self {
        let (stop, stopped) = watch::channel(false);
        let (report, slow) = channel();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let app = Arc::new(App::new(address.port(), None, stopped.clone()));
        let work = {
            let app = app.clone();
            move || async move {
                let done = app.cells.run(move |cancel| {
                    report.send(true).unwrap();
                    let cancelled = cancel.sleep(LONG);
                    report.send(cancelled).unwrap();
                    cancelled
                });
                done.await.map(|(cancelled, _)| cancelled.to_string())
            }
        };
        let (report, dropped) = channel();
        let large = move || async move { Body::from(Bytes::from_owner(Large(vec![b'x'; LARGE], report))) };
        let router = router(app).route("/slow", get(work)).route("/large", get(large));
        let patience = connections::Patience { head: NEVER, answer };
        let thread = std::thread::spawn(move || {
            runtime.block_on(connections::serve(listener, router, stopped, patience));
            runtime.shutdown_timeout(LONG);
        });
        Self { address, stop, slow, dropped, thread: Some(thread) }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// Sends `head` and its blank line, then `body`; gives everything that comes back.
    fn ask(&self, head: &str, body: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n{body}").unwrap();
        answer(stream)
    }

    fn post(&self, path: &str, body: &str) -> String {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}"
        );
        self.ask(&head, body)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn answer(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[test]
fn status_is_there_while_the_model_loads() {
    let daemon = Daemon::start();
    let answer = daemon.ask("GET /status HTTP/1.1\r\nHost: 127.0.0.1", "");
    assert_eq!(status(&answer), "200", "{answer}");
    let value: serde_json::Value = serde_json::from_str(body(&answer)).unwrap();
    assert_eq!(value["status"], "loading");
    assert_eq!(value["port"], daemon.address.port());
    for (path, body) in [("/execute", r#"{"instruction":"x"}"#), ("/v1/exec", r#"{"code":"1"}"#)] {
        let answer = daemon.post(path, body);
        assert_eq!(status(&answer), "503", "{answer}");
        assert!(answer.contains("still loading") && answer.contains("retry-after: 2"), "{answer}");
    }
}

#[test]
fn the_seeds_error_texts() {
    let daemon = Daemon::start();
    let answer = daemon.post("/execute", "{oops");
    assert_eq!(status(&answer), "400");
    assert!(body(&answer).starts_with(r#"{"error":"Invalid JSON payload: "#), "{answer}");
    assert_eq!(body(&daemon.post("/execute", "{}")), r#"{"error":"Missing field: 'instruction'"}"#);
    assert!(body(&daemon.post("/execute", "[1]")).contains("Invalid JSON payload: expected an object"));
    assert_eq!(status(&daemon.post("/execute", "")), "400");
}

#[test]
fn every_refusal_is_json() {
    let daemon = Daemon::start();
    let local = "Host: localhost";
    for (head, code, word) in [
        (format!("GET /nowhere HTTP/1.1\r\n{local}"), "404", "Not found"),
        (format!("GET /execute HTTP/1.1\r\n{local}"), "405", "Method not allowed"),
        ("GET /status HTTP/1.1\r\nHost: evil.example".into(), "403", "Host"),
        (format!("GET /status HTTP/1.1\r\n{local}\r\nOrigin: null"), "403", "origin"),
        (format!("OPTIONS /execute HTTP/1.1\r\n{local}\r\nOrigin: http://evil.example"), "403", "origin"),
        (format!("POST /execute HTTP/1.1\r\n{local}\r\nContent-Length: 0"), "415", "Content-Type: application/json"),
        (
            format!("POST /status HTTP/1.1\r\n{local}\r\nContent-Type: application/json\r\nContent-Length: 0"),
            "405",
            "Method",
        ),
    ] {
        let answer = daemon.ask(&head, "");
        assert_eq!(status(&answer), code, "{head}: {answer}");
        let value: serde_json::Value = serde_json::from_str(body(&answer)).unwrap();
        assert!(value["error"].as_str().unwrap().contains(word), "{answer}");
    }
}

#[test]
fn a_body_is_bounded_announced_or_not() {
    let daemon = Daemon::start();
    let large = "x".repeat(body::MOST_BYTES + 1);
    assert_eq!(status(&daemon.post("/v1/exec", &large)), "413");
    let head = "POST /v1/exec HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json";
    let chunked = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    assert_eq!(status(&daemon.ask(&format!("{head}\r\nTransfer-Encoding: chunked"), &chunked)), "413");
    // Nobody reads a terabyte to be polite, and nobody who waits for leave sends a byte in vain.
    assert_eq!(status(&daemon.ask(&format!("{head}\r\nContent-Length: 1000000000000"), "")), "413");
    let waiting = format!("{head}\r\nContent-Length: {}\r\nExpect: 100-continue", large.len());
    assert_eq!(status(&daemon.ask(&waiting, "")), "413");
}

#[test]
fn silent_connections_make_room_and_busy_ones_stay() {
    let daemon = Daemon::start();
    let mut busy = daemon.connect();
    write!(busy, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(daemon.slow.recv_timeout(LONG).unwrap(), "it began");
    let mut kept = daemon.connect();
    let silent: Vec<_> = (0..connections::MOST + 12)
        .map(|number| {
            let mut stream = daemon.connect();
            // Half of them send half a head.
            if number % 2 == 0 {
                write!(stream, "GET /status HTTP/1.1\r\nHost: loc").unwrap();
            }
            stream
        })
        .collect();
    let answer = daemon.ask("GET /status HTTP/1.1\r\nHost: localhost", "");
    assert_eq!(status(&answer), "200", "{answer}");
    assert_eq!(kept.read(&mut [0]).unwrap(), 0, "the oldest had to leave");
    busy.shutdown(Shutdown::Both).unwrap();
    assert!(daemon.slow.recv_timeout(LONG / 2).unwrap(), "its work went on until it left");
    drop(silent);
}

#[test]
fn an_idle_connection_is_silent_too() {
    let daemon = Daemon::start();
    let mut idle: Vec<_> = (0..connections::MOST)
        .map(|_| {
            let mut stream = daemon.connect();
            write!(stream, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
            stream
        })
        .collect();
    assert_eq!(status(&daemon.ask("GET /status HTTP/1.1\r\nHost: localhost", "")), "200");
    let mut rest = String::new();
    idle[0].read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with('}'), "its answer came whole: {rest}");
}

/// Asks for the large answer and reads its first words.
fn ask_for_much(daemon: &Daemon) -> TcpStream {
    let mut reader = daemon.connect();
    write!(reader, "GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut first = [0; 12];
    reader.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    reader
}

#[test]
fn a_slow_reader_is_not_silent() {
    let daemon = Daemon::start();
    let reader = ask_for_much(&daemon);
    let mut silent: Vec<_> = (1..connections::MOST).map(|_| daemon.connect()).collect();
    assert_eq!(status(&daemon.ask("GET /status HTTP/1.1\r\nHost: localhost", "")), "200");
    assert_eq!(silent[0].read(&mut [0]).unwrap(), 0, "the oldest that was silent had to leave");
    assert_eq!(body(&answer(reader)).len(), LARGE, "the reader got all of its answer");
}

#[test]
fn an_answer_that_nobody_reads_is_not_kept() {
    let daemon = Daemon::waits(Duration::from_millis(1));
    let reader = ask_for_much(&daemon);
    daemon.dropped.recv_timeout(LONG).unwrap();
    drop(reader);
}

#[test]
fn what_is_no_request_is_refused_in_json() {
    let daemon = Daemon::start();
    let long = "x".repeat(300 << 10);
    let many: String = (0..200).map(|number| format!("x-{number}: 1\r\n")).collect();
    for (head, code, word) in [
        ("\x16\x03\x01\x02\r\n\r\n".to_owned(), "400", "Malformed request: "),
        ("GET /status HTTP/1.1\r\nHost localhost\r\n\r\n".into(), "400", "Malformed request: "),
        (
            format!("GET /status HTTP/1.1\r\nHost: localhost\r\nx: {long}\r\n\r\n"),
            "431",
            "at most 65536 bytes and 100 lines",
        ),
        (format!("GET /{long} HTTP/1.1\r\nHost: localhost\r\n\r\n"), "431", "at most 65536 bytes and 100 lines"),
        (format!("GET /status HTTP/1.1\r\nHost: localhost\r\n{many}\r\n"), "431", "too large"),
    ] {
        let mut stream = daemon.connect();
        stream.write_all(head.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let answer = answer(stream);
        assert_eq!(status(&answer), code, "{}: {answer}", &head[..head.len().min(60)]);
        let value: serde_json::Value = serde_json::from_str(body(&answer)).unwrap();
        assert!(value["error"].as_str().unwrap().contains(word), "{answer}");
        assert!(answer.contains("content-type: application/json") && answer.contains("connection: close"), "{answer}");
    }
}

#[test]
fn a_connection_that_ends_before_it_said_anything_gets_no_answer() {
    let daemon = Daemon::start();
    for beginning in ["", "GET /status"] {
        let mut stream = daemon.connect();
        stream.write_all(beginning.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(answer(stream), "", "{beginning:?}");
    }
}

#[test]
fn a_client_that_leaves_ends_its_work() {
    let daemon = Daemon::start();
    let mut stream = daemon.connect();
    write!(stream, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(daemon.slow.recv_timeout(LONG).unwrap(), "it began");
    let other = daemon.ask("GET /status HTTP/1.1\r\nHost: localhost", "");
    assert_eq!(status(&other), "200", "while the work goes on");
    stream.shutdown(Shutdown::Both).unwrap();
    assert!(daemon.slow.recv_timeout(LONG / 2).unwrap(), "cancelled, not over");
}

#[test]
fn a_daemon_that_stops_answers_what_it_began() {
    let mut daemon = Daemon::start();
    let mut stream = daemon.connect();
    write!(stream, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert!(daemon.slow.recv_timeout(LONG).unwrap());
    daemon.stop.send_replace(true);
    let answer = answer(stream);
    assert_eq!((status(&answer), body(&answer)), ("200", "true"), "{answer}");
    daemon.thread.take().unwrap().join().unwrap();
    assert!(TcpStream::connect(daemon.address).is_err(), "no new ones");
}
