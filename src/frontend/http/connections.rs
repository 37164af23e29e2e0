//! Takes connections: a bounded number of them, each with a deadline for its headers and for reading its answers, until
//! the daemon is to stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioTimer;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use super::answers::Told;
use super::callers::{Caller, Callers};
use super::refusal::Mute;
use super::stop;

/// Connections at once. The next one takes the place of the one that has been silent longest; when all have requests
/// under way it waits, and those after it wait in the system's queue.
pub const MOST: u32 = 128;
/// How long a client is waited for.
#[derive(Clone, Copy)]
pub struct Patience {
    /// For the head of a request; also the longest an idle connection is kept.
    pub head: Duration,
    /// For the next part of an answer to be taken.
    pub answer: Duration,
}

pub const PATIENCE: Patience = Patience { head: Duration::from_secs(5), answer: Duration::from_secs(30) };
/// Headers are read into memory.
pub const MOST_HEADER_BYTES: usize = 64 << 10;
/// Out of descriptors, most likely; a busy loop would not free any.
const AFTER_FAILURE: Duration = Duration::from_millis(100);
/// How long answers that are under way may take once the daemon is to stop.
const FAREWELL: Duration = Duration::from_secs(3);

/// Serves until `stopped` turns true.
pub async fn serve(listener: TcpListener, router: Router, stopped: watch::Receiver<bool>, patience: Patience) {
    let callers = Callers::new(MOST as usize);
    let accept = async {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Only now is it known that somebody needs a place.
                    let caller = callers.admit().await;
                    drop(tokio::spawn(connection(stream, router.clone(), stopped.clone(), caller, patience)));
                }
                Err(error) => {
                    log::warn!("a connection could not be taken: {error}");
                    sleep(AFTER_FAILURE).await;
                }
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop(stopped.clone()) => {}
    }
    drop(listener);
    let _ = timeout(FAREWELL, callers.all_gone(MOST)).await;
}

async fn connection(
    stream: TcpStream,
    router: Router,
    stopped: watch::Receiver<bool>,
    caller: Arc<Caller>,
    patience: Patience,
) {
    // Answers are written whole, so waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let (inner, speaker) = (TowerToHyperService::new(router), caller.clone());
    let service = service_fn(move |request| {
        speaker.speaks();
        let (answer, speaker) = (inner.call(request), speaker.clone());
        async move { answer.await.map(|answer| answer.map(|body| Told::new(body, speaker))) }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience.head)
        .max_buf_size(MOST_HEADER_BYTES)
        .serve_connection(Mute::new(stream, caller.clone(), patience.answer), service);
    let ended = loop {
        tokio::select! {
            ended = &mut connection => break ended,
            () = stop(stopped.clone()) => {
                std::pin::Pin::new(&mut connection).graceful_shutdown();
                break (&mut connection).await;
            }
            () = caller.asked_to_leave() => match (caller.is_silent(), caller.was_heard()) {
                (false, _) => {}
                (true, false) => return,
                // A next request may just be coming.
                (true, true) => {
                    std::pin::Pin::new(&mut connection).graceful_shutdown();
                    match timeout(FAREWELL, &mut connection).await {
                        Ok(ended) => break ended,
                        Err(_) => return,
                    }
                }
            }
        }
    };
    if let Err(error) = ended {
        log::debug!("a connection ended early: {error}");
        connection.into_parts().io.refuse(&error).await;
    }
}
