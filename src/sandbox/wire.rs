//! What the cell driver says over `host.call`: one JSON document a frame, bounded, and data only.
//!
//! Whoever runs in the guest can send these, so nothing here decides a status, a count or a file: a frame supplies
//! texts about the cell it came from, which can lie about themselves only.

use serde::Deserialize;

use super::outcome::{CellError, MimeBundle};

/// The longest frame of any kind but a display. The driver keeps below it.
const MAX_FRAME: usize = (1 << 20) + 4096;

/// Types one bundle may hold; each costs the host more than its bytes.
const MAX_TYPES: usize = 32;

/// Displays of one cell, and frames of any other kind; the rest is refused. They are counted apart, so that a cell
/// which shows too much can still say how it ended.
const MAX_FRAMES: usize = 256;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Frame {
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

/// Reads a frame that is at most `display` bytes long if it is a display.
fn decode(bytes: &[u8], display: usize) -> Result<Frame, Malformed> {
    if bytes.len() > MAX_FRAME.max(display) {
        return Err(Malformed);
    }
    let frame = serde_json::from_slice(bytes).map_err(|_| Malformed)?;
    let longest = if matches!(frame, Frame::Display { .. }) { display } else { MAX_FRAME };
    match &frame {
        _ if bytes.len() > longest => Err(Malformed),
        Frame::Display { data } | Frame::Result { data } if data.len() > MAX_TYPES => Err(Malformed),
        _ => Ok(frame),
    }
}

/// What the frames of one cell amount to: the last word of each kind, the displays in order. The default takes no
/// displays.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) result: Option<MimeBundle>,
    pub(super) displays: Vec<MimeBundle>,
    pub(super) error: Option<CellError>,
    pub(super) exit: Option<i32>,
    received: usize,
    displays_received: usize,
    display_bytes: usize,
    /// The most bytes of one display's frame, and of all of a cell's together.
    most: (usize, usize),
}

impl Inbox {
    /// An empty one that takes frames of displays of at most `display` bytes each and `displays` bytes together.
    pub(super) fn new(display: u64, displays: u64) -> Self {
        let bound = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self { most: (bound(display), bound(displays)), ..Self::default() }
    }

    /// The length beyond which no frame need be read: it would be refused.
    pub(super) fn longest(&self) -> usize {
        MAX_FRAME.max(self.most.0)
    }

    /// What has come, for the end of a cell. An empty one with the same bounds stays.
    pub(super) fn take(&mut self) -> Self {
        let empty = Self { most: self.most, ..Self::default() };
        std::mem::replace(self, empty)
    }

    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let frame = decode(bytes, self.most.0)?;
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
            Frame::Display { .. } if bytes.len() > self.most.1 - self.display_bytes => return Err(Malformed),
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

    /// One with the bounds that a session has by default.
    fn inbox() -> Inbox {
        Inbox::new(4 << 20, 16 << 20)
    }

    /// A frame of exactly `length` bytes.
    fn frame(kind: &str, length: usize) -> Vec<u8> {
        let empty = format!(r#"{{"kind":"{kind}","data":{{"image/png":""}}}}"#).len();
        let data = "A".repeat(length - empty);
        format!(r#"{{"kind":"{kind}","data":{{"image/png":"{data}"}}}}"#).into_bytes()
    }

    #[test]
    fn frames_that_are_not_ours_are_refused() {
        for bytes in
            [&b""[..], b"null", b"{", b"[]", b"\xff\xfe", br#"{"kind":"status","ok":true}"#, br#"{"kind":"exit"}"#]
        {
            assert_eq!(inbox().receive(bytes), Err(Malformed), "{:?}", String::from_utf8_lossy(bytes));
        }
        // Nesting is bounded by the parser, not by our stack.
        assert_eq!(inbox().receive("[".repeat(100_000).as_bytes()), Err(Malformed));
    }

    #[test]
    fn each_kind_has_its_bound() {
        for (display, longest) in [(4 << 20, 4 << 20), (10_000, MAX_FRAME), (0, MAX_FRAME)] {
            let mut inbox = Inbox::new(display as u64, u64::MAX);
            assert_eq!(inbox.longest(), longest);
            assert_eq!(inbox.receive(&frame("display", display + 100)), Err(Malformed), "{display}");
            assert_eq!(inbox.receive(&frame("result", MAX_FRAME + 1)), Err(Malformed));
            assert_eq!(inbox.receive(&frame("result", MAX_FRAME)), Ok(()));
            assert!(inbox.displays.is_empty() && inbox.result.is_some());
        }
        assert_eq!(inbox().receive(&frame("display", 4 << 20)), Ok(()));
        assert_eq!(inbox().receive(&frame("display", (4 << 20) + 1)), Err(Malformed));
        assert_eq!(Inbox::default().receive(&frame("display", 100)), Err(Malformed));
    }

    #[test]
    fn displays_together_have_their_bound_and_a_smaller_one_may_still_fit() {
        let mut inbox = Inbox::new(1000, 2500);
        let taken = [1000, 1000, 1000, 500, 100].map(|length| inbox.receive(&frame("display", length)).is_ok());
        assert_eq!((taken, inbox.displays.len()), ([true, true, false, true, false], 3));
        let first = inbox.take();
        assert_eq!((first.displays.len(), inbox.displays.len()), (3, 0));
        assert_eq!(inbox.receive(&frame("display", 1000)), Ok(()), "the next cell begins anew");
        assert_eq!(inbox.receive(&frame("display", 1001)), Err(Malformed), "with the same bounds");
    }

    /// The frames of the driver's own tests, as it sends them.
    #[test]
    fn the_drivers_golden_frames_are_understood() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let golden: serde_json::Value = serde_json::from_str(&text).unwrap();
            let mut inbox = inbox();
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
        let mut inbox = inbox();
        let frame = br#"{"kind":"display","data":{"text/plain":"x"}}"#;
        let accepted = (0..10_000).filter(|_| inbox.receive(frame).is_ok()).count();
        assert_eq!((accepted, inbox.displays.len()), (MAX_FRAMES, MAX_FRAMES));
        assert_eq!(inbox.receive(br#"{"kind":"exit","code":3}"#), Ok(()), "displays leave room for the end");
    }

    #[test]
    fn the_last_word_counts() {
        let error = br#"{"kind":"error","type":"KeyError","message":"1","line":null,"traceback":""}"#;
        let mut inbox = inbox();
        inbox.receive(br#"{"kind":"exit","code":7}"#).unwrap();
        inbox.receive(error).unwrap();
        assert_eq!((inbox.exit, inbox.error.is_some()), (None, true));
        inbox.receive(br#"{"kind":"exit","code":7}"#).unwrap();
        assert_eq!((inbox.exit, inbox.error.is_some()), (Some(7), false));
    }
}
