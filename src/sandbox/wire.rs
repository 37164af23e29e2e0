//! What the cell driver says over `host.call`: one JSON document a frame, bounded, and data only.
//!
//! Whoever runs in the guest can send these, so nothing here decides a status, a count or a file: a frame supplies
//! texts about the cell it came from, which can lie about themselves only.

use serde::Deserialize;

use super::outcome::{CellError, MimeBundle};

/// The longest frame that is read at all. The driver keeps its texts below this.
pub(super) const MAX_FRAME: usize = 1 << 20;

/// Frames of one cell that are kept; the rest is refused.
const MAX_FRAMES: usize = 256;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Frame {
    /// The last expression's value.
    Result { data: MimeBundle },
    /// Something the cell showed.
    Display { data: MimeBundle },
    Error {
        r#type: String,
        message: String,
        line: Option<u32>,
        traceback: String,
    },
    /// The cell asked to exit; 0 is an ordinary end.
    Exit { code: i32 },
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

pub(super) fn decode(bytes: &[u8]) -> Result<Frame, Malformed> {
    if bytes.len() > MAX_FRAME {
        return Err(Malformed);
    }
    serde_json::from_slice(bytes).map_err(|_| Malformed)
}

/// What the frames of one cell amount to: the last word of each kind, the displays in order.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) result: Option<MimeBundle>,
    pub(super) displays: Vec<MimeBundle>,
    pub(super) error: Option<CellError>,
    pub(super) exit: Option<i32>,
    received: usize,
}

impl Inbox {
    pub(super) fn receive(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        if self.received == MAX_FRAMES {
            return Err(Malformed);
        }
        self.received += 1;
        match decode(bytes)? {
            Frame::Result { data } => self.result = Some(data),
            Frame::Display { data } => self.displays.push(data),
            Frame::Error { r#type, message, line, traceback } => {
                self.error = Some(CellError { kind: r#type, message, line, traceback });
            }
            Frame::Exit { code } => self.exit = Some(code),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_are_not_ours_are_refused() {
        for bytes in [&b""[..], b"null", b"{", b"[]", b"\xff\xfe", br#"{"kind":"status","ok":true}"#, br#"{"kind":"exit"}"#] {
            assert_eq!(decode(bytes), Err(Malformed), "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(decode(&vec![b' '; MAX_FRAME + 1]), Err(Malformed));
        // Nesting is bounded by the parser, not by our stack.
        assert_eq!(decode("[".repeat(100_000).as_bytes()), Err(Malformed));
    }

    #[test]
    fn a_flood_of_frames_is_bounded() {
        let mut inbox = Inbox::default();
        let frame = br#"{"kind":"display","data":{"text/plain":"x"}}"#;
        let accepted = (0..10_000).filter(|_| inbox.receive(frame).is_ok()).count();
        assert_eq!((accepted, inbox.displays.len()), (MAX_FRAMES, MAX_FRAMES));
    }
}
