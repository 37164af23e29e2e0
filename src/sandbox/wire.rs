//! What the cell driver says over `host.call`: one JSON document a frame, bounded, and data only.
//!
//! Whoever runs in the guest can send these, so nothing here decides a status, a count or a file: a frame supplies
//! texts about the cell it came from, which can lie about themselves only.

use std::fmt;

use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::outcome::{CellError, MimeBundle};

/// The longest frame of an error or an exit, and of a result unless a display may be longer. The driver keeps below it.
const MAX_FRAME: usize = (1 << 20) + 4096;

/// The longest frame of a display, whatever a session allows. A cell cannot be stopped while it is read, which takes a
/// tenth of a second when every character of it is escaped.
pub(super) const MAX_DISPLAY: usize = 64 << 20;

/// Types one bundle may hold; each costs the host more than its bytes.
const MAX_TYPES: usize = 32;

/// Displays of one cell, and frames of any other kind; the rest is refused. They are counted apart, so that a cell
/// which shows too much can still say how it ended.
const MAX_FRAMES: usize = 256;

/// Bytes of an exception's class, its message and its traceback: the driver's own bounds.
const NAME: usize = 256;
const MESSAGE: usize = 16 << 10;
const TRACEBACK: usize = 64 << 10;
/// Bytes of a MIME type, of which the driver counts characters.
const MIME: usize = 4 * NAME;

/// What a frame is, as it says first of all.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// The last expression's value.
    Result,
    /// Something the cell showed.
    Display,
    Error,
    /// The cell asked to exit; 0 is an ordinary end.
    Exit,
}

impl Kind {
    /// The kind of a frame that begins as the driver's do. No more of it is read, so that nothing is kept for later.
    fn of(bytes: &[u8]) -> Option<Self> {
        let word = bytes.strip_prefix(br#"{"kind":""#)?;
        let kinds: [(&[u8], _); 4] = [
            (br#"result","#, Self::Result),
            (br#"display","#, Self::Display),
            (br#"error","#, Self::Error),
            (br#"exit","#, Self::Exit),
        ];
        kinds.into_iter().find(|(beginning, _)| word.starts_with(beginning)).map(|(_, kind)| kind)
    }
}

/// `result` and `display`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BundleFrame {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    data: Bundle,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorFrame {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    r#type: Text<NAME>,
    message: Text<MESSAGE>,
    line: Option<u32>,
    traceback: Text<TRACEBACK>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExitFrame {
    #[serde(rename = "kind")]
    _kind: IgnoredAny,
    code: i32,
}

/// A text of at most so many bytes.
struct Text<const MOST: usize>(String);

impl<'de, const MOST: usize> Deserialize<'de> for Text<MOST> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Bounded<const MOST: usize>;

        impl<const MOST: usize> Visitor<'_> for Bounded<MOST> {
            type Value = Text<MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a text of at most {MOST} bytes")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                if text.len() > MOST { Err(E::custom("too long")) } else { Ok(Text(text.to_owned())) }
            }
        }

        json.deserialize_str(Bounded)
    }
}

/// A bundle of at most [`MAX_TYPES`].
struct Bundle(MimeBundle);

impl<'de> Deserialize<'de> for Bundle {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Types;

        impl<'de> Visitor<'de> for Types {
            type Value = Bundle;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MAX_TYPES} types")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bundle, A::Error> {
                let mut bundle = MimeBundle::new();
                let mut types = 0;
                while let Some(Text(mime)) = map.next_key::<Text<MIME>>()? {
                    if types == MAX_TYPES {
                        return Err(A::Error::custom("too many types"));
                    }
                    types += 1;
                    bundle.insert(mime, map.next_value()?);
                }
                Ok(Bundle(bundle))
            }
        }

        json.deserialize_map(Types)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Malformed> {
    serde_json::from_slice(bytes).map_err(|_| Malformed)
}

/// What the frames of one cell amount to: the last word of each kind, the displays in order. The default takes no
/// displays.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) result: Option<MimeBundle>,
    pub(super) displays: Vec<MimeBundle>,
    pub(super) error: Option<CellError>,
    pub(super) exit: Option<i32>,
    /// Frames of any other kind than a display.
    received: usize,
    display_bytes: usize,
    /// The most bytes of one display's frame, and of all of a cell's together.
    most: (usize, usize),
}

impl Inbox {
    /// An empty one that takes frames of displays of at most `display` bytes each, and never more than [`MAX_DISPLAY`],
    /// and `displays` bytes together.
    pub(super) fn new(display: u64, displays: u64) -> Self {
        let bound = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self { most: (bound(display).min(MAX_DISPLAY), bound(displays)), ..Self::default() }
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
        let kind = Kind::of(bytes).filter(|kind| self.has_room(*kind, bytes.len())).ok_or(Malformed)?;
        match kind {
            Kind::Result => self.result = Some(read::<BundleFrame>(bytes)?.data.0),
            Kind::Display => {
                self.displays.push(read::<BundleFrame>(bytes)?.data.0);
                self.display_bytes += bytes.len();
            }
            Kind::Error => {
                let ErrorFrame { r#type, message, line, traceback, .. } = read(bytes)?;
                self.error = Some(CellError { kind: r#type.0, message: message.0, line, traceback: traceback.0 });
                self.exit = None;
            }
            Kind::Exit => {
                self.exit = Some(read::<ExitFrame>(bytes)?.code);
                self.error = None;
            }
        }
        if kind != Kind::Display {
            self.received += 1;
        }
        Ok(())
    }

    /// Whether a frame of so many bytes may come, which is asked before it is read.
    fn has_room(&self, kind: Kind, bytes: usize) -> bool {
        match kind {
            Kind::Display => {
                self.displays.len() < MAX_FRAMES && bytes <= self.most.0.min(self.most.1 - self.display_bytes)
            }
            Kind::Result => self.received < MAX_FRAMES && bytes <= self.longest(),
            Kind::Error | Kind::Exit => self.received < MAX_FRAMES && bytes <= MAX_FRAME,
        }
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
    fn nothing_but_the_drivers_own_fields_is_read() {
        for frame in [
            r#"{"kind":"display","data":{"text/plain":"x"},"x":[[0],[0]]}"#,
            r#"{"kind":"display","x":[[0],[0]],"data":{"text/plain":"x"}}"#,
            r#"{"kind":"display","data":{"text/plain":"x"},"data":{}}"#,
            r#"{"kind":"display","data":{"text/plain":"x"},"kind":"exit"}"#,
            r#"{"kind":"display","data":{"text/plain":[[0],[0]]}}"#,
            r#"{"kind":"display","data":[]}"#,
            r#"{"data":{"text/plain":"x"},"kind":"display"}"#,
            r#"{ "kind":"display","data":{"text/plain":"x"}}"#,
            r#"{"kind":"exit","code":1,"x":1}"#,
            r#"{"kind":"error","type":"E","message":"","line":null,"traceback":"","x":1}"#,
        ] {
            let mut inbox = inbox();
            assert_eq!(inbox.receive(frame.as_bytes()), Err(Malformed), "{frame}");
            assert!(inbox.displays.is_empty() && inbox.exit.is_none() && inbox.error.is_none());
        }
    }

    #[test]
    fn texts_and_types_have_the_drivers_bounds() {
        let error = |name: usize, message: usize, traceback: usize| {
            // Escaped, so that the bound is seen to be that of the text.
            let [name, message, traceback] = [name, message, traceback].map(|length| r"\u0041".repeat(length));
            let frame = format!(
                r#"{{"kind":"error","type":"{name}","message":"{message}","line":1,"traceback":"{traceback}"}}"#
            );
            inbox().receive(frame.as_bytes())
        };
        assert_eq!(error(NAME, MESSAGE, TRACEBACK), Ok(()));
        for beyond in [error(NAME + 1, 1, 1), error(1, MESSAGE + 1, 1), error(1, 1, TRACEBACK + 1)] {
            assert_eq!(beyond, Err(Malformed));
        }
        let bundle = |mime: &str, types: usize| {
            let types: Vec<_> = (0..types).map(|number| format!(r#""{mime}{}":"""#, number % 40)).collect();
            inbox().receive(format!(r#"{{"kind":"display","data":{{{}}}}}"#, types.join(",")).as_bytes())
        };
        assert_eq!(bundle("t", MAX_TYPES), Ok(()));
        assert_eq!(bundle("t", MAX_TYPES + 1), Err(Malformed));
        assert_eq!(bundle("t", 400), Err(Malformed), "also if they are the same");
        assert_eq!(bundle(&"ж".repeat(MIME / 2 - 1), 1), Ok(()));
        assert_eq!(bundle(&"ж".repeat(MIME / 2), 1), Err(Malformed));
    }

    #[test]
    fn each_kind_has_its_bound() {
        for (display, longest) in [(4 << 20, 4 << 20), (10_000, MAX_FRAME), (0, MAX_FRAME)] {
            let mut inbox = Inbox::new(display as u64, u64::MAX);
            assert_eq!(inbox.longest(), longest);
            assert_eq!(inbox.receive(&frame("display", display + 100)), Err(Malformed), "{display}");
            assert_eq!(inbox.receive(&frame("result", longest + 1)), Err(Malformed));
            assert_eq!(inbox.receive(&frame("result", longest)), Ok(()));
            assert!(inbox.displays.is_empty() && inbox.result.is_some());
        }
        assert_eq!(inbox().receive(&frame("display", 4 << 20)), Ok(()));
        assert_eq!(inbox().receive(&frame("display", (4 << 20) + 1)), Err(Malformed));
        assert_eq!(Inbox::default().receive(&frame("display", 100)), Err(Malformed));
        assert_eq!(Inbox::new(u64::MAX, u64::MAX).longest(), MAX_DISPLAY);
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
