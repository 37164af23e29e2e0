//! The body of an answer, as it comes: events of a stream, or one JSON document from a server that does not stream.

use super::wire::{self, Bad, Part};
use serde_json::Value;

/// Bytes of one line, and of one event.
const MOST_EVENT: usize = 1 << 20;
/// Bytes of a document.
const MOST_DOCUMENT: usize = 8 << 20;
/// Bytes of all that a server sends for one reply.
const MOST_BODY: usize = 64 << 20;

/// Why a body cannot be used.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// A web page.
    Html,
    NotJson(String),
    NotUtf8,
    /// One line, or the whole, is longer than any answer.
    TooLong(usize),
    /// It ended before the reply did.
    Cut,
    Empty,
    /// The server reports an error.
    Error(Value),
}

impl From<Bad> for Fault {
    fn from(bad: Bad) -> Self {
        match bad {
            Bad::NotJson(why) => Self::NotJson(why),
            Bad::Error(value) => Self::Error(value),
        }
    }
}

enum Form {
    Unknown,
    Document,
    Events,
}

/// Reads what comes piece by piece; what it holds back is bounded.
pub(super) struct Body {
    form: Form,
    /// The line, or the document, so far.
    held: Vec<u8>,
    /// The data of the event so far.
    event: String,
    /// The last line ended with a carriage return, which a line feed may complete.
    after_return: bool,
    taken: usize,
    is_ended: bool,
}

impl Body {
    pub fn new() -> Self {
        let (held, event) = (Vec::new(), String::new());
        Self { form: Form::Unknown, held, event, after_return: false, taken: 0, is_ended: false }
    }

    /// Takes the next bytes and appends what they say to `parts`; what they say before a fault is there too.
    pub fn feed(&mut self, mut bytes: &[u8], parts: &mut Vec<Part>) -> Result<(), Fault> {
        self.taken += bytes.len();
        if self.taken > MOST_BODY {
            return Err(Fault::TooLong(MOST_BODY));
        }
        if let Form::Unknown = self.form {
            // A byte order mark and blanks say nothing yet.
            self.held.extend_from_slice(bytes);
            bytes = &[];
            let mark = b"\xef\xbb\xbf";
            let said = self.held.strip_prefix(mark).unwrap_or(&self.held).trim_ascii_start();
            match said.first() {
                None if self.held.len() > MOST_EVENT => return Err(Fault::TooLong(MOST_EVENT)),
                None => return Ok(()),
                Some(_) if mark.starts_with(&self.held) => return Ok(()),
                Some(b'<') => return Err(Fault::Html),
                Some(b'{') => self.form = Form::Document,
                Some(_) => {
                    self.form = Form::Events;
                    let held = said.to_vec();
                    self.held.clear();
                    return self.lines(&held, parts);
                }
            }
        }
        match self.form {
            Form::Events => self.lines(bytes, parts),
            _ if self.held.len() + bytes.len() > MOST_DOCUMENT => Err(Fault::TooLong(MOST_DOCUMENT)),
            _ => {
                self.held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// There is no more.
    pub fn finish(&mut self, parts: &mut Vec<Part>) -> Result<(), Fault> {
        match self.form {
            Form::Unknown => Err(Fault::Empty),
            Form::Document => {
                let text = std::str::from_utf8(&self.held).map_err(|_| Fault::NotUtf8)?;
                let said = wire::parts(text.trim_start_matches('\u{feff}'))?;
                if said.is_empty() {
                    return Err(Fault::NotJson("it holds no reply".into()));
                }
                parts.extend(said);
                parts.push(Part::Done);
                Ok(())
            }
            // Some servers leave out the blank line after the last event.
            Form::Events => {
                self.line(parts)?;
                self.dispatch(parts)
            }
        }
    }

    fn lines(&mut self, bytes: &[u8], parts: &mut Vec<Part>) -> Result<(), Fault> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
                return self.hold(rest);
            };
            self.hold(&rest[..end])?;
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            self.line(parts)?;
        }
        Ok(())
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.held.len() + bytes.len() > MOST_EVENT {
            return Err(Fault::TooLong(MOST_EVENT));
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes the line that is held.
    fn line(&mut self, parts: &mut Vec<Part>) -> Result<(), Fault> {
        if self.held.is_empty() {
            return self.dispatch(parts);
        }
        let line = std::str::from_utf8(&self.held).map_err(|_| Fault::NotUtf8)?;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        // A comment has no field's name; an `error` line is an older server's way to say so.
        if matches!(field, "data" | "error") {
            if self.event.len() + value.len() > MOST_EVENT {
                return Err(Fault::TooLong(MOST_EVENT));
            }
            if !self.event.is_empty() {
                self.event.push('\n');
            }
            self.event.push_str(value.strip_prefix(' ').unwrap_or(value));
        }
        self.held.clear();
        Ok(())
    }

    /// Takes the event that is complete.
    fn dispatch(&mut self, parts: &mut Vec<Part>) -> Result<(), Fault> {
        let event = std::mem::take(&mut self.event);
        match event.trim() {
            "" => {}
            _ if self.is_ended => {}
            "[DONE]" => {
                self.is_ended = true;
                parts.push(Part::Done);
            }
            json => parts.extend(wire::parts(json)?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `pieces` say, and how it ends.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (String, bool, Result<(), Fault>) {
        let (mut body, mut parts) = (Body::new(), Vec::new());
        let fed = pieces.into_iter().try_for_each(|piece| body.feed(piece, &mut parts));
        let ended = fed.and_then(|()| body.finish(&mut parts));
        let text = parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None });
        (text.collect(), parts.contains(&Part::Done), ended)
    }

    fn delta(text: &str) -> String {
        serde_json::json!({"choices": [{"delta": {"content": text}}]}).to_string()
    }

    #[test]
    fn a_stream_cut_anywhere_says_the_same() {
        let (a, b) = (delta("é😀"), delta("\n```"));
        let (left, right) = b.split_once(':').unwrap();
        // A mark, comments, an event of two lines, other fields, all ends of lines, no blank line at the end.
        let stream = format!(
            "\u{feff}: hello\r\n\r\ndata: {a}\r\n\r\n:\n\nevent: message\rid: 7\rdata:{left}:\rdata: {right}\r\rretry: 1\n\ndata: [DONE]"
        );
        let bytes = stream.as_bytes();
        let expected = ("é😀\n```".to_owned(), true, Ok(()));
        assert_eq!(read([bytes]), expected);
        for at in 0..bytes.len() {
            assert_eq!(read([&bytes[..at], &bytes[at..]]), expected, "cut at {at}");
        }
        assert_eq!(read(bytes.chunks(1)), expected);
    }

    #[test]
    fn random_pieces_say_the_same() {
        let seed: u64 = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(|| {
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64
        });
        println!("SEED={seed}");
        let mut state = seed | 1;
        let mut below = |most: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % most
        };
        let ends = ["\n\n", "\r\n\r\n", "\r\r", "\n: x\n\n"];
        for _ in 0..300 {
            let words: Vec<String> = (0..below(20)).map(|n| format!("{n}é€😀")).collect();
            let events = words.iter().map(|word| format!("data: {}{}", delta(word), ends[below(4)]));
            let stream = format!(":\n\n{}data: [DONE]\n\n", events.collect::<String>());
            let (mut rest, mut pieces) = (stream.as_bytes(), Vec::new());
            while !rest.is_empty() {
                let (piece, after) = rest.split_at(1 + below(40).min(rest.len() - 1));
                pieces.push(piece);
                rest = after;
            }
            assert_eq!(read(pieces), (words.concat(), true, Ok(())), "{stream:?}");
        }
    }

    #[test]
    fn a_document_is_one_reply() {
        let document = serde_json::json!({"choices": [{"message": {"content": "all é"}, "finish_reason": "stop"}]});
        for text in [document.to_string(), format!("\u{feff} \r\n{document}\n")] {
            assert_eq!(read([text.as_bytes()]), ("all é".into(), true, Ok(())));
            assert_eq!(read(text.as_bytes().chunks(1)), ("all é".into(), true, Ok(())));
        }
        assert!(matches!(read([&b"{\"choices\": [{\"mess"[..]]).2, Err(Fault::NotJson(_))));
        assert!(matches!(read([&b"{}"[..]]).2, Err(Fault::NotJson(_))));
        assert!(matches!(read([&b"{\"error\": \"no\"}"[..]]).2, Err(Fault::Error(_))));
    }

    #[test]
    fn what_is_no_answer_is_told_apart() {
        for (bytes, fault) in [
            (&b""[..], Fault::Empty),
            (b" \r\n\n", Fault::Empty),
            (b"<!DOCTYPE html>", Fault::Html),
            (b"\xef\xbb\xbf\n <html>", Fault::Html),
            (b"data: \xff\xfe\n\n", Fault::NotUtf8),
            (b"{\"choices\": \"\xff\"}", Fault::NotUtf8),
        ] {
            assert_eq!(read([bytes]).2, Err(fault), "{bytes:?}");
        }
        assert!(matches!(read([&b"data: {\"choices\"\n\n"[..]]).2, Err(Fault::NotJson(_))));
        let told = [delta("so far").as_str(), "{\"error\": {\"message\": \"out of memory\"}}"]
            .map(|json| format!("data: {json}\n\n"));
        let (text, _, ended) = read([told.concat().as_bytes()]);
        assert!(text == "so far" && matches!(ended, Err(Fault::Error(_))), "what came before the error is kept");
        assert!(matches!(
            read([&b"error: {\"message\": \"no\", \"object\": \"error\"}\n\n"[..]]).2,
            Err(Fault::Error(_))
        ));
    }

    #[test]
    fn nothing_grows_without_bound() {
        let chunk = [b'x'; 1 << 16];
        let endless = |first: &'static [u8]| read(std::iter::once(first).chain(std::iter::repeat(&chunk[..]))).2;
        assert_eq!(endless(b"data: "), Err(Fault::TooLong(MOST_EVENT)));
        assert_eq!(endless(b"{"), Err(Fault::TooLong(MOST_DOCUMENT)));
        let blank = [b' '; 1 << 16];
        assert_eq!(read(std::iter::repeat(&blank[..])).2, Err(Fault::TooLong(MOST_EVENT)));
        let line = [b"data: ", &[b'x'; 1000][..], b"\n"].concat();
        assert_eq!(read(std::iter::repeat(&line[..])).2, Err(Fault::TooLong(MOST_EVENT)));
        let pings = b": ping\n\n".repeat(1000);
        assert_eq!(read(std::iter::repeat(&pings[..])).2, Err(Fault::TooLong(MOST_BODY)));
    }
}
