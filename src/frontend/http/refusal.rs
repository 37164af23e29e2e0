//! The answer to a head that is no request. hyper gives one of its own, without a body, and has no setting for it; so a
//! connection is mute until its first request was understood, and what could not be is answered here.
//!
//! A bad head that follows a good one on the same connection still gets hyper's own answer.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::callers::Caller;
use super::connections::MOST_HEADER_BYTES;
use super::stall::Stall;
use crate::frontend::json;

/// For a refusal to be written, and for what is still being sent to be read: a connection that is closed before loses
/// the answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// A stream that takes nothing for the client before the client was heard, ends when the client takes nothing, and tells
/// its caller when all is written.
pub struct Mute {
    stream: TokioIo<TcpStream>,
    caller: Arc<Caller>,
    stall: Stall,
}

impl Mute {
    /// `patience` is what the client may leave an answer untaken for.
    pub fn new(stream: TcpStream, caller: Arc<Caller>, patience: Duration) -> Self {
        Self { stream: TokioIo::new(stream), caller, stall: Stall::new(patience) }
    }

    /// Says why nothing came of the connection, if the client sent a head that hyper could not read.
    pub async fn refuse(self, error: &hyper::Error) {
        if self.caller.was_heard() || !error.is_parse() {
            return;
        }
        let answer = answer(error);
        let mut stream = self.stream.into_inner();
        let told = timeout(PATIENCE, async {
            stream.write_all(answer.as_bytes()).await?;
            stream.shutdown().await?;
            let mut unread = [0; 4096];
            while stream.read(&mut unread).await? > 0 {}
            Result::Ok(())
        });
        tokio::select! {
            // Whether it was told or not, the connection ends.
            _ = told => {}
            () = self.caller.asked_to_leave() => {}
        }
    }
}

fn answer(error: &hyper::Error) -> String {
    let (status, text) = if error.is_parse_too_large() {
        let text = format!("Request header too large: at most {MOST_HEADER_BYTES} bytes and 100 lines");
        ("431 Request Header Fields Too Large", text)
    } else {
        ("400 Bad Request", format!("Malformed request: {error}"))
    };
    let body = serde_json::to_string(&json::failure(&text)).unwrap_or_default();
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

impl Read for Mute {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: ReadBufCursor<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl Write for Mute {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        if self.caller.was_heard() {
            let written = Pin::new(&mut self.stream).poll_write(context, bytes);
            self.stall.judge(context, written)
        } else {
            Poll::Ready(Ok(bytes.len()))
        }
    }

    /// Asked for when hyper has written all that it has.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(context))?;
        self.stall.is_over();
        self.caller.has_written();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        if self.caller.was_heard() { Pin::new(&mut self.stream).poll_shutdown(context) } else { Poll::Ready(Ok(())) }
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        if self.caller.was_heard() {
            let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
            self.stall.judge(context, written)
        } else {
            Poll::Ready(Ok(parts.iter().map(|part| part.len()).sum()))
        }
    }
}
