//! The daemon, over raw connections, as scripts and hostile pages reach it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tool::{bare_tool, ready, tool};

/// Far beyond what any answer here takes.
const HANG: Duration = Duration::from_secs(120);

struct Daemon {
    child: Child,
    address: SocketAddr,
    /// Its stderr, line by line: always read, so that it never waits for a reader.
    lines: Receiver<String>,
    drain: Option<JoinHandle<()>>,
}

impl Daemon {
    /// Starts one on a free port, as the announcement on its stdout says.
    fn start(mut command: std::process::Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line:?}"));
        let (send, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let drain = std::thread::spawn(move || {
            // Whether anybody listens or not, the stream is read to its end.
            stderr.lines().map_while(Result::ok).for_each(|line| drop(send.send(line)));
        });
        Self { address: address.parse().unwrap(), child, lines, drain: Some(drain) }
    }

    /// One with a scripted model that is ready.
    fn scripted(replies: &[Value]) -> (Self, tempfile::TempDir) {
        ready();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("replies.jsonl");
        let lines: Vec<_> = replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
        std::fs::write(&file, lines.join("\n")).unwrap();
        let model = format!("scripted:{}", file.display());
        let daemon = Self::start(tool(&["serve", "--port", "0", "--verbose", "--model", &model]));
        daemon.settled("ready");
        (daemon, folder)
    }

    /// Asks `/status` until nothing loads any more.
    #[track_caller]
    fn settled(&self, expected: &str) -> Value {
        let start = Instant::now();
        loop {
            let status = self.get("/status").json();
            if status["status"] != "loading" {
                assert_eq!(status["status"], expected, "{status}");
                return status;
            }
            assert!(start.elapsed() < HANG, "{status}");
            std::thread::yield_now();
        }
    }

    fn send(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n{body}").unwrap();
        stream
    }

    fn ask(&self, head: &str, body: &str) -> Reply {
        Reply::read(self.send(head, body))
    }

    fn get(&self, path: &str) -> Reply {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}", self.address), "")
    }

    fn begin(&self, path: &str, body: &str) -> TcpStream {
        let length = body.len();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {length}",
            self.address
        );
        self.send(&head, body)
    }

    fn post(&self, path: &str, body: &str) -> Reply {
        Reply::read(self.begin(path, body))
    }

    fn cell(&self, body: &Value) -> Reply {
        self.post("/v1/exec", &body.to_string())
    }

    /// Waits for a line with `word` on its stderr, `times` over.
    #[track_caller]
    fn await_line(&self, word: &str, times: usize) {
        let mut seen = Vec::new();
        while seen.iter().filter(|line: &&String| line.contains(word)).count() < times {
            seen.push(self.lines.recv_timeout(HANG).unwrap_or_else(|_| panic!("no {word:?} in {seen:?}")));
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Our own child, which may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(drain) = self.drain.take() {
            let _ = drain.join();
        }
    }
}

struct Reply {
    code: u16,
    head: String,
    body: String,
}

impl Reply {
    fn read(mut stream: TcpStream) -> Self {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let code = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { code, head: head.to_ascii_lowercase(), body: body.into() }
    }

    #[track_caller]
    fn json(&self) -> Value {
        assert!(self.head.contains("content-type: application/json"), "{}", self.head);
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    /// Checks the status and gives the text of `{"error": "…"}`.
    #[track_caller]
    fn error(&self, code: u16) -> String {
        assert_eq!(self.code, code, "{}", self.body);
        let value = self.json();
        assert_eq!(value.as_object().unwrap().len(), 1, "{value}");
        value["error"].as_str().unwrap().to_owned()
    }
}

fn fenced(code: &str) -> Value {
    json!(format!("```python\n{code}\n```"))
}

#[test]
fn the_seeds_calls() {
    let (daemon, _folder) = Daemon::scripted(&[fenced("print(answer)"), fenced("print(6 * 7)")]);
    let status = daemon.get("/status").json();
    assert_eq!((&status["status"], &status["port"]), (&json!("ready"), &json!(daemon.address.port())));
    let reply = daemon.post("/execute", r#"{"instruction": "Print the answer.", "max_retries": 3}"#);
    assert_eq!(reply.code, 200, "{}", reply.body);
    let answer = reply.json();
    assert_eq!((&answer["success"], &answer["attempts"]), (&json!(true), &json!(2)));
    assert_eq!(answer["stdout"], "42\n");
    for key in ["stderr", "code", "response", "steps", "stop_reason", "model", "usage"] {
        assert!(answer.get(key).is_some(), "{key}");
    }
    let spent = daemon.post("/execute", r#"{"instruction": "Again."}"#).error(500);
    assert!(spent.starts_with("Inference execution failed: "), "{spent}");
}

#[test]
fn a_model_that_fails_later_loses_no_attempt() {
    let (daemon, _folder) = Daemon::scripted(&[fenced("print('so far')\nprint(answer)")]);
    let reply = daemon.post("/execute", r#"{"instruction": "Print the answer."}"#);
    assert_eq!(reply.code, 200, "{}", reply.body);
    let answer = reply.json();
    assert_eq!((&answer["success"], &answer["stop_reason"]), (&json!(false), &json!("model_error")));
    assert_eq!((&answer["stdout"], &answer["attempts"]), (&json!("so far\n"), &json!(1)));
    assert_eq!(answer["steps"][0]["outcome"]["error"]["type"], "NameError");
    assert!(!answer["error"].as_str().unwrap().is_empty());
}

#[test]
fn what_exit_handlers_print_is_part_of_the_answer() {
    let (daemon, _folder) =
        Daemon::scripted(&[fenced("import atexit\natexit.register(lambda: print('bye'))\nprint('hi')")]);
    assert_eq!(daemon.post("/execute", r#"{"instruction": "Greet.", "stream": false}"#).json()["stdout"], "hi\nbye\n");
}

#[test]
fn the_seeds_error_texts() {
    let (daemon, _folder) = Daemon::scripted(&[]);
    assert!(daemon.post("/execute", "{oops").error(400).starts_with("Invalid JSON payload: "));
    assert_eq!(daemon.post("/execute", "{}").error(400), "Missing field: 'instruction'");
    assert_eq!(daemon.post("/v1/exec", "{}").error(400), "Missing field: 'code'");
    daemon.get("/nowhere").error(404);
    daemon.get("/execute").error(405);
}

#[test]
fn a_cell_has_its_outcome_and_its_limits() {
    let (daemon, _folder) = Daemon::scripted(&[]);
    let outcome = daemon.cell(&json!({"code": "print('hi')\n1 + 1"})).json();
    assert_eq!((&outcome["status"], &outcome["stdout"]), (&json!("ok"), &json!("hi\n")));
    assert_eq!(outcome["result"]["text/plain"], "2");
    let outcome = daemon.cell(&json!({"code": "while True: pass", "limits": {"wall": 1.5}})).json();
    assert_eq!((&outcome["status"], &outcome["limit"]["allowed"]), (&json!("timeout"), &json!(1.5)));
    let fuel = || daemon.cell(&json!({"code": "while True: pass", "limits": {"fuel": 20_000_000, "wall": 60}})).json();
    let (first, second) = (fuel(), fuel());
    assert_eq!(first["status"], "fuel");
    assert_eq!(first["usage"]["fuel"], second["usage"]["fuel"]);
    let unknown = daemon.cell(&json!({"code": "1", "limits": {"timeout": 1}})).error(400);
    assert!(unknown.contains("wall, fuel, memory, output"), "{unknown}");
    for (limits, number) in [
        (json!({"wall": 3601}), "3600"),
        (json!({"memory": (1u64 << 30) + 1}), "1073741824"),
        (json!({"output": (16u64 << 20) + 1}), "16777216"),
        (json!({"scratch": (256u64 << 20) + 1}), "268435456"),
        (json!({"entries": 10_001}), "10000"),
        (json!({"depth": 65}), "64"),
        (json!({"open_files": 257}), "256"),
        (json!({"display": (16u64 << 20) + 1}), "16777216"),
        (json!({"displays": (64u64 << 20) + 1}), "67108864"),
    ] {
        let refused = daemon.cell(&json!({"code": "1", "limits": limits})).error(400);
        assert!(refused.contains(number), "{refused}");
    }
    let all = json!({"wall": 5, "fuel": 1_000_000_000, "memory": 256 << 20, "output": 1000, "scratch": 1 << 20,
                     "entries": 10, "depth": 3, "open_files": 5, "display": 100, "displays": 1000});
    let outcome = daemon.cell(&json!({"code": "display(1)\nprint('x' * 2000)", "limits": all})).json();
    assert_eq!((&outcome["status"], &outcome["truncated"][0]["kept"]), (&json!("ok"), &json!(1000)), "{outcome}");
    let outcome = daemon.cell(&json!({"code": "display('x' * 100)", "limits": all})).json();
    assert_eq!((&outcome["status"], &outcome["error"]["type"]), (&json!("error"), &json!("RuntimeError")), "{outcome}");
    let refused = daemon.cell(&json!({"code": "1", "deterministic": "yes"})).error(400);
    assert!(refused.contains("'deterministic' must be true, false or a seed"), "{refused}");
}

#[test]
fn a_deterministic_cell_has_the_same_outcome_every_time() {
    let (daemon, _folder) = Daemon::scripted(&[]);
    let code = "import random, time\nrandom.random(), time.time()";
    let outcome = |seed: Value| daemon.cell(&json!({"code": code, "deterministic": seed})).body;
    assert_eq!(outcome(json!(true)), outcome(json!(0)));
    assert_ne!(outcome(json!(1)), outcome(json!(0)));
    assert_ne!(outcome(json!(false)), outcome(json!(null)));
}

#[test]
fn connections_that_say_nothing_keep_nobody_out() {
    let (daemon, _folder) = Daemon::scripted(&[]);
    let silent: Vec<_> = (0..140)
        .map(|_| {
            let mut stream = TcpStream::connect(daemon.address).unwrap();
            write!(stream, "GET /status HTTP/1.1\r\nHo").unwrap();
            stream
        })
        .collect();
    assert_eq!(daemon.get("/status").json()["status"], "ready");
    assert_eq!(daemon.cell(&json!({"code": "1 + 1"})).json()["result"]["text/plain"], "2");
    drop(silent);
    daemon.ask("GET /status HTTP/1.1\r\nHost", "").error(400);
    daemon.ask(&format!("GET /status HTTP/1.1\r\nHost: localhost\r\nx: {}", "x".repeat(300 << 10)), "").error(431);
}

#[test]
fn other_sites_and_other_names_are_refused() {
    let (daemon, _folder) = Daemon::scripted(&[]);
    let own = daemon.address;
    for header in [
        "Host: evil.example".to_owned(),
        format!("Host: evil.example:{}", own.port()),
        format!("Host: {own}\r\nOrigin: http://evil.example"),
        format!("Host: {own}\r\nOrigin: null"),
        format!("Host: {own}\r\nOrigin: http://127.0.0.1:1"),
    ] {
        daemon.ask(&format!("GET /status HTTP/1.1\r\n{header}"), "").error(403);
        let body = r#"{"code":"1"}"#;
        let length = body.len();
        let post =
            format!("POST /v1/exec HTTP/1.1\r\n{header}\r\nContent-Type: application/json\r\nContent-Length: {length}");
        daemon.ask(&post, body).error(403);
    }
    let same = format!("GET /status HTTP/1.1\r\nHost: {own}\r\nOrigin: http://{own}");
    assert_eq!(daemon.ask(&same, "").code, 200);
}

#[test]
fn a_body_that_is_not_json_or_too_large_is_refused() {
    let (daemon, _folder) = Daemon::scripted(&[]);
    let plain =
        format!("POST /v1/exec HTTP/1.1\r\nHost: {}\r\nContent-Type: text/plain\r\nContent-Length: 12", daemon.address);
    assert!(daemon.ask(&plain, r#"{"code":"1"}"#).error(415).contains("Content-Type: application/json"));
    let large = json!({"code": "#".repeat(9 << 20)});
    daemon.cell(&large).error(413);
}

#[test]
fn status_answers_while_a_cell_spins_and_a_client_that_leaves_ends_its_cell() {
    let (daemon, _folder) = Daemon::scripted(&[]);
    // As many as run at once, so that one that went on would keep the last request waiting until it is refused.
    let places = std::thread::available_parallelism().map_or(2, usize::from).max(4);
    let spin = json!({"code": "while True: pass", "limits": {"wall": 3600}}).to_string();
    let clients: Vec<_> = (0..places).map(|_| daemon.begin("/v1/exec", &spin)).collect();
    daemon.await_line("cell 1 of 1 begins", places);
    assert_eq!(daemon.get("/status").json()["status"], "ready");
    drop(clients);
    let outcome = daemon.cell(&json!({"code": "1 + 1"})).json();
    assert_eq!(outcome["result"]["text/plain"], "2", "{outcome}");
}

#[test]
fn without_a_runtime_the_daemon_still_tells_why() {
    let cache = tempfile::tempdir().unwrap();
    let daemon = Daemon::start(bare_tool(cache.path(), &["serve", "--port", "0"]));
    let status = daemon.settled("unavailable");
    assert!(!status["error"].as_str().unwrap().is_empty());
    assert!(daemon.cell(&json!({"code": "1"})).error(503).starts_with("Failed to load the Python runtime: "));
    daemon.post("/execute", r#"{"instruction": "x"}"#).error(503);
}

#[test]
fn without_a_model_cells_still_run() {
    ready();
    let daemon = Daemon::start(tool(&["serve", "--port", "0", "--model", "/nowhere/model.gguf"]));
    let status = daemon.settled("unavailable");
    assert_eq!(status["sandbox"], "ready", "{status}");
    assert_eq!(daemon.cell(&json!({"code": "2 + 2"})).json()["result"]["text/plain"], "4");
    let reply = daemon.post("/execute", r#"{"instruction": "x"}"#);
    assert!(reply.error(reply.code).starts_with("Failed to load ONNX model: "), "{}", reply.body);
    assert!(matches!(reply.code, 500 | 503));
}

#[test]
fn every_session_of_the_daemon_has_its_packages() {
    let index = crate::packages::Index::new();
    let app = index.name("app");
    index.offer("app", "1.0", &[], &[("__init__.py", "n = 42\n")]);
    let folder = tempfile::tempdir().unwrap();
    let (file, code) = (folder.path().join("replies.jsonl"), format!("import {app}\nprint({app}.n)"));
    std::fs::write(&file, json!({ "reply": format!("```python\n{code}\n```") }).to_string()).unwrap();
    let model = format!("scripted:{}", file.display());
    let daemon = Daemon::start(index.tool(&["serve", "--port", "0", "--model", &model, "--with", &app]));
    daemon.settled("ready");
    for _ in 0..2 {
        assert_eq!(daemon.cell(&json!({ "code": code })).json()["stdout"], "42\n");
    }
    let answer = daemon.post("/execute", &json!({ "instruction": "Print n." }).to_string()).json();
    assert_eq!(answer["stdout"], "42\n", "{answer}");
}
