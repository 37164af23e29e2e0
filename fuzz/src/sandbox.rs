//! What a guest says to the host.

#[path = "../../src/sandbox/outcome.rs"]
mod outcome;
#[path = "../../src/sandbox/wire.rs"]
mod wire;

/// Frames as a cell sends them, separated by NUL, which JSON cannot hold. Whatever they are, what is kept of them is
/// bounded by what was sent, and what was refused changes nothing.
pub fn wire(bytes: &[u8]) {
    let mut inbox = wire::Inbox::new(20_000, 50_000);
    for frame in bytes.split(|byte| *byte == 0) {
        let before = kept(&inbox);
        if inbox.receive(frame).is_err() {
            assert_eq!(kept(&inbox), before, "a refused frame left something");
        }
    }
    assert!(inbox.displays.len() <= 256);
    assert!(inbox.error.is_none() || inbox.exit.is_none(), "two ends");
    if let Some(error) = &inbox.error {
        assert!(error.kind.len() <= 256 && error.message.len() <= 16 << 10 && error.traceback.len() <= 64 << 10);
    }
    let held: usize = inbox.displays.iter().chain(&inbox.result).map(bytes_of).sum();
    assert!(held <= bytes.len(), "{held} bytes of {}", bytes.len());
}

fn bytes_of(bundle: &outcome::MimeBundle) -> usize {
    bundle.iter().map(|(mime, text)| mime.len() + text.len()).sum()
}

/// Enough to see a change.
fn kept(inbox: &wire::Inbox) -> (usize, Option<usize>, Option<outcome::CellError>, Option<i32>) {
    (inbox.displays.len(), inbox.result.as_ref().map(bytes_of), inbox.error.clone(), inbox.exit)
}
