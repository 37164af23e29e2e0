//! Answers on their way out. Whoever asks for much and reads nothing makes the daemon keep it, so what all clients have
//! not taken yet is bounded together, and each must go on taking (`stall`).

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::callers::Caller;
use super::problem::Problem;
use super::work::Place;

/// All large answers that are not sent yet, in bytes. One that is larger than that is the only one.
const MOST: usize = 256 << 20;
/// Up to here an answer is not counted: there are no more of them than connections.
const SMALL: usize = 256 << 10;
/// Longer than a client that has stopped reading is kept.
const PATIENCE: Duration = Duration::from_secs(60);
/// Room is counted in pieces of so many bytes.
const PIECE: usize = 1 << 10;

/// The room for answers that are not sent yet.
pub struct Answers {
    room: Arc<Semaphore>,
    pieces: usize,
    patience: Duration,
}

/// The bytes of an answer, and the room that they take until the last of them is sent or given up.
struct Unsent {
    json: Vec<u8>,
    _room: Option<OwnedSemaphorePermit>,
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}

impl Answers {
    pub fn new() -> Self {
        Self::of(MOST, PATIENCE)
    }

    fn of(bytes: usize, patience: Duration) -> Self {
        let pieces = bytes / PIECE;
        Self { room: Arc::new(Semaphore::new(pieces)), pieces, patience }
    }

    /// The answer of a body that was [written](write), as soon as there is room for it. Until then `place` is kept, so
    /// that nothing is begun whose answer would have to be kept besides.
    pub async fn send(&self, json: Vec<u8>, place: Place) -> Result<Response, Problem> {
        let room = if json.len() <= SMALL { None } else { Some(self.wait(json.len()).await?) };
        drop(place);
        let mut response = Body::from(Bytes::from_owner(Unsent { json, _room: room })).into_response();
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(response)
    }

    async fn wait(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
        let pieces = bytes.div_ceil(PIECE).min(self.pieces);
        let room = self.room.clone().acquire_many_owned(u32::try_from(pieces).unwrap_or(u32::MAX));
        match timeout(self.patience, room).await {
            Ok(Ok(room)) => Ok(room),
            _ => Err(Problem::later("Too busy: other clients have not read their answers; try again", 1)),
        }
    }
}

/// The body of an answer; on the thread of the work, since it may be long.
pub fn write(form: &impl Serialize) -> Result<Vec<u8>, Problem> {
    let mut json = serde_json::to_vec(form).map_err(|error| Problem::failed(format!("Execution failed: {error}")))?;
    json.shrink_to_fit();
    Ok(json)
}

/// A body that tells its caller when all of it was handed over to be sent.
pub struct Told {
    body: Body,
    caller: Arc<Caller>,
}

impl Told {
    pub fn new(body: Body, caller: Arc<Caller>) -> Self {
        Self { body, caller }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.caller.is_answered();
    }
}

impl HttpBody for Told {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::task::Waker;

    use tokio::sync::watch;

    use super::super::work::Places;
    use super::*;

    #[test]
    fn who_does_not_read_keeps_others_from_large_answers_and_not_from_small_ones() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (_stop, stopped) = watch::channel(false);
        let places = Places::impatient(1, stopped);
        // Room for two.
        let answers = Answers::of(5 * SMALL, Duration::ZERO);
        let answer = async |bytes: usize| {
            let (json, place) = places.run(move |_| vec![b' '; bytes]).await?;
            answers.send(json, place).await
        };
        runtime.block_on(async {
            let first = answer(2 * SMALL).await.unwrap();
            let second = answer(2 * SMALL).await.unwrap();
            assert!(format!("{:?}", answer(2 * SMALL).await.unwrap_err()).contains("Too busy"));
            let small = answer(SMALL).await.unwrap();
            assert_eq!(small.headers()[CONTENT_TYPE], "application/json");
            drop(first);
            assert!(answer(100 * SMALL).await.is_err(), "it waits for all of the room");
            let third = answer(2 * SMALL).await.unwrap();
            drop((second, third));
            assert!(answer(100 * SMALL).await.is_ok(), "and gets it");
        });
    }

    #[test]
    fn an_answer_without_room_keeps_its_place() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (_stop, stopped) = watch::channel(false);
        let places = Places::impatient(1, stopped);
        let answers = Answers::of(2 * SMALL, PATIENCE);
        runtime.block_on(async {
            let done = async || places.run(|_| vec![b' '; 2 * SMALL]).await.unwrap();
            let (json, place) = done().await;
            let first = answers.send(json, place).await.unwrap();
            let (json, place) = done().await;
            let mut second = std::pin::pin!(answers.send(json, place));
            assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert!(format!("{:?}", places.run(|_| ()).await.err().unwrap()).contains("every place is taken"));
            drop(first);
            second.await.unwrap();
            assert!(places.run(|_| ()).await.is_ok());
        });
    }
}
