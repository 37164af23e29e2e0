//! The bridge from async to the synchronous core: a bounded number of pieces of work, each on a thread of its own, each
//! stopped as soon as nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;

use super::problem::Problem;
use super::stop;
use crate::Cancel;

/// How long a request waits for a free place before it is asked to come back.
const PATIENCE: Duration = Duration::from_secs(30);

/// Places for so much work at once.
pub struct Places {
    free: Arc<Semaphore>,
    patience: Duration,
    stopped: watch::Receiver<bool>,
}

/// The place that a piece of work had; dropped, it is free for another.
pub struct Place(#[expect(dead_code, reason = "only held")] OwnedSemaphorePermit);

/// Cancels when it is dropped: when the work is over, which changes nothing, or when the client has gone and its
/// request's future with it.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Places {
    pub fn new(count: usize, stopped: watch::Receiver<bool>) -> Self {
        Self { free: Arc::new(Semaphore::new(count)), patience: PATIENCE, stopped }
    }

    #[cfg(test)]
    pub fn impatient(count: usize, stopped: watch::Receiver<bool>) -> Self {
        Self { patience: Duration::ZERO, ..Self::new(count, stopped) }
    }

    /// Does `work` on a thread that may block. The handle it gets is cancelled when this future is dropped or the
    /// daemon stops. Its place goes on being taken until the caller is done with what came of it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cancel) -> T + Send + 'static,
    ) -> Result<(T, Place), Problem> {
        let place = timeout(self.patience, self.free.clone().acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            return Err(Problem::later("Too busy: every place is taken; try again", 1));
        };
        let cancel = Cancel::new();
        let guard = CancelOnDrop(cancel.clone());
        let mut done = tokio::task::spawn_blocking(move || {
            // Kept by the thread, not by the request: work that is still ending still takes its place.
            let place = Place(place);
            (work(&cancel), place)
        });
        let result = tokio::select! {
            result = &mut done => result,
            () = stop(self.stopped.clone()) => {
                drop(guard);
                done.await
            }
        };
        result.map_err(|_| Problem::failed("Execution failed: a fault in the daemon itself"))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
    }

    #[test]
    fn work_nobody_waits_for_is_cancelled() {
        let (runtime, (_stop, stopped)) = (runtime(), watch::channel(false));
        let places = Places::new(1, stopped);
        let (begun, has_begun) = channel();
        let (ended, has_ended) = channel();
        runtime.block_on(async {
            let work = places.run(move |cancel| {
                begun.send(()).unwrap();
                ended.send(cancel.sleep(LONG)).unwrap();
            });
            tokio::select! {
                _ = work => panic!("it sleeps for a minute"),
                _ = tokio::task::spawn_blocking(move || has_begun.recv().unwrap()) => {}
            }
        });
        assert!(has_ended.recv_timeout(LONG / 2).unwrap(), "woken by the cancel, not by the clock");
    }

    #[test]
    fn a_daemon_that_stops_cancels_and_still_answers() {
        let (runtime, (stop, stopped)) = (runtime(), watch::channel(false));
        let places = Places::new(1, stopped);
        let answer = runtime.block_on(places.run(move |cancel| {
            stop.send_replace(true);
            cancel.sleep(LONG)
        }));
        assert!(answer.unwrap().0);
    }

    #[test]
    fn no_more_than_so_many_at_once() {
        let (runtime, (_stop, stopped)) = (runtime(), watch::channel(false));
        let places = Places::impatient(1, stopped);
        let (release, wait) = channel::<()>();
        let (begun, has_begun) = channel();
        runtime.block_on(async {
            let first = places.run(move |_| {
                begun.send(()).unwrap();
                wait.recv().unwrap();
                "first"
            });
            let second = async {
                tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
                let refusal = places.run(|_| ()).await;
                release.send(()).unwrap();
                refusal
            };
            let (first, second) = tokio::join!(first, second);
            assert_eq!(first.unwrap().0, "first");
            assert!(format!("{:?}", second.err().unwrap()).contains("Too busy"));
            assert!(places.run(|_| ()).await.is_ok(), "the place is free again");
        });
    }

    #[test]
    fn a_panic_is_an_answer() {
        let (runtime, (_stop, stopped)) = (runtime(), watch::channel(false));
        let places = Places::new(1, stopped);
        let failed = runtime.block_on(places.run(|_| panic!("expected by this test")));
        let told = format!("{:?}", failed.map(|((), _)| ()).unwrap_err());
        assert!(told.contains("Execution failed: ") && !told.contains("Inference"), "cells have no model: {told}");
    }
}
