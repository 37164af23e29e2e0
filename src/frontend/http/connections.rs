//! Takes connections: a bounded number of them, each with a deadline for its headers, until the daemon is to stop.

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

use super::callers::{Caller, Callers};
use super::refusal::Mute;
use super::stop;

/// Connections at once. The next one takes the place of the one that has been silent longest; when all have requests
/// under way it waits, and those after it wait in the system's queue.
pub const MOST: u32 = 128;
/// How long the head of a request may take; also the longest an idle connection is kept.
pub const HEADERS_WITHIN: Duration = Duration::from_secs(5);
/// Headers are read into memory.
pub const MOST_HEADER_BYTES: usize = 64 << 10;
/// Out of descriptors, most likely; a busy loop would not free any.
const AFTER_FAILURE: Duration = Duration::from_millis(100);
/// How long answers that are under way may take once the daemon is to stop.
const FAREWELL: Duration = Duration::from_secs(3);

/// Serves until `stopped` turns true. The head of a request must come within `patience`.
pub async fn serve(listener: TcpListener, router: Router, stopped: watch::Receiver<bool>, patience: Duration) {
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
    patience: Duration,
) {
    // Answers are written whole, so waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let (inner, speaker) = (TowerToHyperService::new(router), caller.clone());
    let service = service_fn(move |request| {
        speaker.speaks();
        let (answer, speaker) = (inner.call(request), speaker.clone());
        async move {
            let answer = answer.await;
            speaker.falls_silent();
            answer
        }
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(MOST_HEADER_BYTES)
        .serve_connection(Mute::new(stream, caller.clone()), service);
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
                // An earlier answer may not be written to its end yet.
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
