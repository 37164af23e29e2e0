//! Takes connections: a bounded number of them, each with a deadline for its headers, until the daemon is to stop.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

use super::stop;

/// Connections at once; the next one waits in the system's queue.
const MOST: u32 = 128;
/// Also the longest an idle connection is kept.
const HEADERS_WITHIN: Duration = Duration::from_secs(15);
/// Headers are read into memory.
const MOST_HEADER_BYTES: usize = 64 << 10;
/// Out of descriptors, most likely; a busy loop would not free any.
const AFTER_FAILURE: Duration = Duration::from_millis(100);
/// How long answers that are under way may take once the daemon is to stop.
const FAREWELL: Duration = Duration::from_secs(3);

pub async fn serve(listener: TcpListener, router: Router, stopped: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(MOST as usize));
    let accept = async {
        loop {
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(connection(stream, router.clone(), stopped.clone(), place))),
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
    // Every place free again: every connection has ended.
    let _ = timeout(FAREWELL, places.acquire_many(MOST)).await;
}

async fn connection(stream: TcpStream, router: Router, stopped: watch::Receiver<bool>, _place: OwnedSemaphorePermit) {
    // Answers are written whole, so waiting to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADERS_WITHIN)
        .max_buf_size(MOST_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop(stopped) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        log::debug!("a connection ended early: {error}");
    }
}
