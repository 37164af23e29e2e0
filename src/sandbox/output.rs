//! A guest's output stream: so many bytes are kept, the rest is counted and dropped, and the program never notices.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// The host's end; clones share the same bytes.
#[derive(Clone)]
pub(super) struct Output(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    dropped: u64,
    limit: usize,
}

/// What a stream got since the last look.
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) kept: u64,
    pub(super) dropped: u64,
}

impl Output {
    pub(super) fn new(limit: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self(Arc::new(Mutex::new(Kept { limit, ..Kept::default() })))
    }

    /// Takes what was printed and starts anew. Invalid UTF-8 becomes U+FFFD; a character that the limit cut in two is
    /// replaced as well, since its other half is gone.
    pub(super) fn take(&self) -> Printed {
        let mut kept = self.lock();
        let bytes = std::mem::take(&mut kept.bytes);
        let dropped = std::mem::take(&mut kept.dropped);
        Printed { kept: bytes.len() as u64, text: lossy(bytes), dropped }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.lock();
        let room = kept.limit.saturating_sub(kept.bytes.len()).min(bytes.len());
        kept.bytes.extend_from_slice(&bytes[..room]);
        kept.dropped += (bytes.len() - room) as u64;
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(64 << 10)
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_up_to_the_limit_and_counts_the_rest() {
        let output = Output::new(5);
        output.push(b"abc");
        output.push(b"defg");
        output.push(b"hi");
        let printed = output.take();
        assert_eq!((printed.text.as_str(), printed.kept, printed.dropped), ("abcde", 5, 4));
        output.push(b"next");
        let printed = output.take();
        assert_eq!((printed.text.as_str(), printed.dropped), ("next", 0));
    }

    #[test]
    fn invalid_utf8_is_replaced_also_at_a_cut() {
        let output = Output::new(4);
        output.push("aé€".as_bytes()); // 1 + 2 + 3 bytes: the cut falls into the last character
        assert_eq!(output.take().text, "aé\u{fffd}");
        output.push(b"\xff\0x");
        assert_eq!(output.take().text, "\u{fffd}\0x");
    }
}
