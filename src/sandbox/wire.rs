//! What the cell driver says over `host.call`: one JSON document a frame, bounded, and data only.
//!
//! Whoever runs in the guest can send these, so nothing here decides a status, a count or a file: a frame supplies
//! texts about the cell it came from, which can lie about themselves only.

use serde::Deserialize;

use super::outcome::{CellError, MimeBundle};

/// The longest frame that is read at all: a display of 4 MiB and its JSON. The driver keeps below all of these.
pub(super) const MAX_FRAME: usize = (4 << 20) + 4096;

/// The longest frame of any other kind.
const MAX_TEXT_FRAME: usize = (1 << 20) + 4096;

/// What the displays of one cell may hold together.
const MAX_DISPLAYS: usize = 16 << 20;

/// Types one bundle may hold; each costs the host more than its bytes.
const MAX_TYPES: usize = 32;

/// Displays of one cell, and frames of any other kind; the rest is refused. They are counted apart, so that a cell
/// which shows too much can still say how it ended.
const MAX_FRAMES: usize = 256;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Frame {
    /// The last expression's value.
    Result {
        data: MimeBundle,
    },
    /// Something the cell showed.
    Display {
        data: MimeBundle,
    },
    Error {
        r#type: String,
        message: String,
        line: Option<u32>,
        traceback: String,
    },
    /// The cell asked to exit; 0 is an ordinary end.
    Exit {
        code: i32,
    },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

pub(super) fn decode(bytes: &[u8]) -> Result<Frame, Malformed> {
    if bytes.len() > MAX_FRAME {
        return Err(Malformed);
    }
    match serde_json::from_slice(bytes) {
        Ok(Frame::Display { data } | Frame::Result { data }) if data.len() > MAX_TYPES => Err(Malformed),
        Ok(frame @ Frame::Display { .. }) => Ok(frame),
        Ok(frame) if bytes.len() <= MAX_TEXT_FRAME => Ok(frame),
        _ => Err(Malformed),
    }
}

/// What the frames of one cell amount to: the last word of each kind, the displays in order.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) result: Option<MimeBundle>,
    pub(super) displays: Vec<MimeBundle>,
    pub(super) error: Option<CellError>,
    pub(super) exit: Option<i32>,
    received: usize,
    displays_received: usize,
    display_bytes: usize,
}

impl Inbox {
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let frame = decode(bytes)?;
        let received = match &frame {
            Frame::Display { .. } => &mut self.displays_received,
            _ => &mut self.received,
        };
        if *received == MAX_FRAMES {
            return Err(Malformed);
        }
        *received += 1;
        match frame {
            Frame::Result { data } => self.result = Some(data),
            Frame::Display { .. } if self.display_bytes + bytes.len() > MAX_DISPLAYS => return Err(Malformed),
            Frame::Display { data } => {
                self.display_bytes += bytes.len();
                self.displays.push(data);
            }
            Frame::Error { r#type, message, line, traceback } => {
                self.error = Some(CellError { kind: r#type, message, line, traceback });
                self.exit = None;
            }
            Frame::Exit { code } => {
                self.exit = Some(code);
                self.error = None;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_are_not_ours_are_refused() {
        for bytes in
            [&b""[..], b"null", b"{", b"[]", b"\xff\xfe", br#"{"kind":"status","ok":true}"#, br#"{"kind":"exit"}"#]
        {
            assert_eq!(decode(bytes), Err(Malformed), "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(decode(&vec![b' '; MAX_FRAME + 1]), Err(Malformed));
        // Nesting is bounded by the parser, not by our stack.
        assert_eq!(decode("[".repeat(100_000).as_bytes()), Err(Malformed));
    }

    #[test]
    fn only_displays_may_be_large() {
        let frame =
            |kind: &str, bytes: usize| format!(r#"{{"kind":"{kind}","data":{{"image/png":"{}"}}}}"#, "A".repeat(bytes));
        assert!(decode(frame("display", 4 << 20).as_bytes()).is_ok());
        assert_eq!(decode(frame("display", 5 << 20).as_bytes()), Err(Malformed));
        assert!(decode(frame("result", 1 << 20).as_bytes()).is_ok());
        assert_eq!(decode(frame("result", 2 << 20).as_bytes()), Err(Malformed));
        let mut inbox = Inbox::default();
        let accepted = (0..8).filter(|_| inbox.receive(frame("display", 4_000_000).as_bytes()).is_ok()).count();
        assert_eq!(accepted, 4);
    }

    /// The frames of the driver's own tests, as it sends them.
    #[test]
    fn the_drivers_golden_frames_are_understood() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let golden: serde_json::Value = serde_json::from_str(&text).unwrap();
            let mut inbox = Inbox::default();
            for frame in golden["frames"].as_array().unwrap() {
                assert_eq!(inbox.receive(frame.as_str().unwrap().as_bytes()), Ok(()), "{}", entry.path().display());
                seen += 1;
            }
            let failed = inbox.error.is_some() || inbox.exit.is_some_and(|code| code != 0);
            assert_eq!(failed, golden["turn"] == 1, "{}", entry.path().display());
        }
        assert!(seen > 10, "only {seen} frames");
    }

    #[test]
    fn a_flood_of_frames_is_bounded() {
        let mut inbox = Inbox::default();
        let frame = br#"{"kind":"display","data":{"text/plain":"x"}}"#;
        let accepted = (0..10_000).filter(|_| inbox.receive(frame).is_ok()).count();
        assert_eq!((accepted, inbox.displays.len()), (MAX_FRAMES, MAX_FRAMES));
        assert_eq!(inbox.receive(br#"{"kind":"exit","code":3}"#), Ok(()), "displays leave room for the end");
    }

    #[test]
    fn the_last_word_counts() {
        let error = br#"{"kind":"error","type":"KeyError","message":"1","line":null,"traceback":""}"#;
        let mut inbox = Inbox::default();
        inbox.receive(br#"{"kind":"exit","code":7}"#).unwrap();
        inbox.receive(error).unwrap();
        assert_eq!((inbox.exit, inbox.error.is_some()), (None, true));
        inbox.receive(br#"{"kind":"exit","code":7}"#).unwrap();
        assert_eq!((inbox.exit, inbox.error.is_some()), (Some(7), false));
    }
}
