//! A model server of the tests' own: it speaks HTTP and the chat API as the real ones do, and misbehaves as it is told to.
//! Shared by the client's own tests and by those of the built program.
#![allow(dead_code, reason = "each of the two uses a part of it")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `POST /v1/chat/completions`.
    pub line: String,
    /// In small letters.
    pub head: String,
    /// Null when there was none.
    pub body: Value,
}

/// One step of an answer.
#[derive(Clone)]
pub enum Act {
    Send(Vec<u8>),
    /// Stays silent until the client has left; then the test is told.
    AwaitHangUp,
    /// Sends the same until the client has left; then the test is told.
    Endless(Vec<u8>),
    /// The same, but with pauses, so that it would not be much in an hour.
    Pings(Vec<u8>),
}

/// What is answered to the n-th request, counted from 0.
type Answer = dyn Fn(usize, &Asked) -> Vec<Act> + Send + Sync;

pub struct ModelServer {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    left: Mutex<Receiver<()>>,
    is_over: Arc<AtomicBool>,
}

impl ModelServer {
    pub fn start(answer: impl Fn(usize, &Asked) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, is_over) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (sender, left) = channel();
        let (log, over, answer): (_, _, Arc<Answer>) = (asked.clone(), is_over.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                let (log, answer, sender) = (log.clone(), answer.clone(), sender.clone());
                std::thread::spawn(move || serve(stream.unwrap(), &log, &*answer, &sender));
            }
        });
        Self { address, asked, left: Mutex::new(left), is_over }
    }

    /// Answers each request for a reply with the next of `replies`, streamed; there is one model, `served`.
    pub fn of_replies(replies: &[&str]) -> Self {
        let replies: Vec<String> = replies.iter().map(|reply| (*reply).to_owned()).collect();
        let next = Mutex::new(replies.into_iter());
        Self::start(move |_, asked| {
            if asked.line.starts_with("GET") {
                return vec![models(&["served"])];
            }
            match next.lock().unwrap().next() {
                Some(reply) => vec![Act::Send(streamed(&reply).into_bytes())],
                None => vec![status(500, "", &json!({"error": {"message": "no reply is left"}}).to_string())],
            }
        })
    }

    /// An address where nobody listens.
    pub fn nowhere() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    }

    pub fn base(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub fn bare(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until a client has left in the middle of an answer.
    pub fn await_hang_up(&self) {
        self.left.lock().unwrap().recv_timeout(std::time::Duration::from_secs(60)).expect("the client stays");
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.address));
    }
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<Asked>>, answer: &Answer, left: &Sender<()>) {
    let Some(asked) = read(&mut stream) else { return };
    let number = {
        let mut log = log.lock().unwrap();
        log.push(asked.clone());
        log.len() - 1
    };
    for act in answer(number, &asked) {
        let told = match act {
            Act::Send(bytes) => {
                if stream.write_all(&bytes).is_err() {
                    return;
                }
                continue;
            }
            Act::AwaitHangUp => stream.read(&mut [0]).map(drop),
            Act::Pings(bytes) => ping(&mut stream, &bytes),
            Act::Endless(bytes) => {
                while stream.write_all(&bytes).is_ok() {}
                Ok(())
            }
        };
        drop(told);
        // A test that does not ask is over perhaps.
        let _ = left.send(());
        return;
    }
    // Without the second half of the end, what the client has not read may be lost.
    drop(stream.shutdown(Shutdown::Write));
    drop(stream.read(&mut [0]));
}

fn ping(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    stream.set_read_timeout(Some(std::time::Duration::from_millis(5)))?;
    loop {
        stream.write_all(bytes)?;
        match stream.read(&mut [0]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            left => return left.map(drop),
        }
    }
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let text = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let (line, head) = text.split_once("\r\n").unwrap();
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    while bytes.len() < end + length.unwrap_or(0) {
        let read = stream.read(&mut buffer).ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&buffer[..read]);
    }
    let body = serde_json::from_slice(&bytes[end..]).unwrap_or(Value::Null);
    let line = line.rsplit_once(' ').unwrap().0.to_owned();
    Some(Asked { line, head, body })
}

/// A whole answer with a body of known length.
pub fn status(code: u16, headers: &str, body: &str) -> Act {
    let length = body.len();
    let head = format!("HTTP/1.1 {code} Said\r\ncontent-length: {length}\r\n{headers}connection: close\r\n\r\n");
    Act::Send([head.as_bytes(), body.as_bytes()].concat())
}

/// A list of models.
pub fn models(names: &[&str]) -> Act {
    let data: Vec<Value> = names.iter().map(|name| json!({"id": name, "object": "model"})).collect();
    status(200, "content-type: application/json\r\n", &json!({"object": "list", "data": data}).to_string())
}

/// The head of a stream that ends with the connection.
pub fn stream_head() -> Act {
    Act::Send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec())
}

/// An event of a stream.
pub fn event(value: &Value) -> Act {
    Act::Send(format!("data: {value}\n\n").into_bytes())
}

/// The event that brings `text`.
pub fn delta(text: &str) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]})
}

/// A whole answer, as a well-behaved server streams it: in chunks, a piece of a few characters in each event.
pub fn streamed(reply: &str) -> String {
    let mut events = vec![json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": null}}]})];
    let characters: Vec<char> = reply.chars().collect();
    events.extend(characters.chunks(5).map(|piece| delta(&piece.iter().collect::<String>())));
    events.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    events.push(json!({"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}}));
    let lines = events.iter().map(|event| format!("data: {event}\n\n")).chain(["data: [DONE]\n\n".to_owned()]);
    let chunks = lines.map(|line| format!("{:x}\r\n{line}\r\n", line.len()));
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    format!("{head}{}0\r\n\r\n", chunks.collect::<String>())
}
