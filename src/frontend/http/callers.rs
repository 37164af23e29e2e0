//! The connections there are: a bounded number, of which those that say nothing make room for who comes next.
//!
//! Opening a connection and staying silent costs nothing, so silent ones must not be able to keep others out. One that
//! has a request under way is never ended here.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// All connections.
pub struct Callers {
    places: Arc<Semaphore>,
    silent: Mutex<Silent>,
    /// Told when a connection falls silent, and so could make room.
    fell_silent: Notify,
}

/// Who owes the rest of a request's head, by the order in which they fell silent.
#[derive(Default)]
struct Silent {
    order: BTreeMap<u64, Arc<Notify>>,
    next: u64,
}

/// One connection.
pub struct Caller {
    callers: Arc<Callers>,
    /// The key in `Silent::order`, while it is there.
    silent: Mutex<Option<u64>>,
    asked_to_leave: Arc<Notify>,
    /// Whether a whole head has ever come.
    heard: AtomicBool,
    /// Whether an answer is made and waits to be written.
    answered: AtomicBool,
    _place: OwnedSemaphorePermit,
}

impl Callers {
    pub fn new(most: usize) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(most));
        Arc::new(Self { places, silent: Mutex::default(), fell_silent: Notify::new() })
    }

    /// A place for one more, who is silent as yet; when there is none, whoever has been silent longest must leave.
    pub async fn admit(self: &Arc<Self>) -> Arc<Caller> {
        let place = loop {
            if let Ok(place) = self.places.clone().try_acquire_owned() {
                break place;
            }
            // Made before somebody is asked, so that nobody's falling silent is missed meanwhile.
            let fell_silent = self.fell_silent.notified();
            if let Some((_, leave)) = lock(&self.silent).order.pop_first() {
                leave.notify_one();
            }
            tokio::select! {
                Ok(place) = self.places.clone().acquire_owned() => break place,
                () = fell_silent => {}
            }
        };
        let caller = Arc::new(Caller {
            callers: self.clone(),
            silent: Mutex::default(),
            asked_to_leave: Arc::default(),
            heard: AtomicBool::new(false),
            answered: AtomicBool::new(false),
            _place: place,
        });
        caller.falls_silent();
        caller
    }

    /// Waits until all of the `most` places are free: every connection has ended.
    pub async fn all_gone(&self, most: u32) {
        // An error says that the semaphore was closed, which nobody does.
        let _ = self.places.acquire_many(most).await;
    }
}

impl Caller {
    /// The head of a request has come.
    pub fn speaks(&self) {
        self.heard.store(true, Ordering::Relaxed);
        // The answer before was made, or the next request could not have come; that it is written changes nothing now.
        self.answered.store(false, Ordering::Relaxed);
        if let Some(key) = lock(&self.silent).take() {
            lock(&self.callers.silent).order.remove(&key);
        }
    }

    /// The answer is made.
    pub fn is_answered(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// All that was to be written is. When that was an answer, the next request may come, or none.
    pub fn has_written(&self) {
        if self.answered.swap(false, Ordering::Relaxed) {
            self.falls_silent();
        }
    }

    fn falls_silent(&self) {
        let mut silent = lock(&self.callers.silent);
        let key = silent.next;
        silent.next += 1;
        silent.order.insert(key, self.asked_to_leave.clone());
        drop(silent);
        *lock(&self.silent) = Some(key);
        self.callers.fell_silent.notify_waiters();
    }

    /// Waits until its place is needed. It may have begun to speak just then; see [`is_silent`](Self::is_silent).
    pub async fn asked_to_leave(&self) {
        self.asked_to_leave.notified().await;
    }

    /// Whether it owes a request. One that does not, and was asked to leave, stays, and somebody else is asked.
    pub fn is_silent(&self) -> bool {
        let silent = lock(&self.silent).is_some();
        if !silent {
            self.callers.fell_silent.notify_waiters();
        }
        silent
    }

    /// Whether a whole head has ever come.
    pub fn was_heard(&self) -> bool {
        self.heard.load(Ordering::Relaxed)
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        self.speaks();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    fn is_asked(caller: &Caller) -> bool {
        pin!(caller.asked_to_leave()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn who_has_been_silent_longest_leaves_and_who_speaks_stays() {
        block_on(async {
            let callers = Callers::new(3);
            let [first, second, third] = [callers.admit().await, callers.admit().await, callers.admit().await];
            first.speaks();
            let mut fourth = pin!(callers.admit());
            tokio::select! {
                _ = fourth.as_mut() => panic!("there is no place"),
                () = second.asked_to_leave() => {}
            }
            assert!(!is_asked(&first) && !is_asked(&third) && second.is_silent());
            drop(second);
            let fourth = fourth.await;
            assert!(fourth.is_silent() && !fourth.was_heard() && first.was_heard());
        });
    }

    #[test]
    fn when_all_speak_the_next_one_waits_for_the_first_that_falls_silent_or_goes() {
        block_on(async {
            let callers = Callers::new(2);
            let [first, second] = [callers.admit().await, callers.admit().await];
            first.speaks();
            second.speaks();
            let mut third = pin!(callers.admit());
            let pending = |third: std::pin::Pin<&mut _>| {
                Future::poll(third, &mut Context::from_waker(Waker::noop())).is_pending()
            };
            assert!(pending(third.as_mut()) && !is_asked(&first) && !is_asked(&second));
            second.falls_silent();
            assert!(pending(third.as_mut()) && is_asked(&second) && !is_asked(&first));
            drop(first);
            drop(third.await);
        });
    }

    #[test]
    fn who_still_reads_an_answer_is_not_silent() {
        block_on(async {
            let caller = Callers::new(1).admit().await;
            caller.speaks();
            caller.has_written();
            assert!(!caller.is_silent(), "nothing is answered yet");
            caller.is_answered();
            assert!(!caller.is_silent());
            caller.has_written();
            assert!(caller.is_silent());
            // The next request came before the answer was written.
            caller.speaks();
            caller.is_answered();
            caller.speaks();
            caller.has_written();
            assert!(!caller.is_silent());
        });
    }

    #[test]
    fn one_that_spoke_just_when_it_was_asked_stays_and_another_is_asked() {
        block_on(async {
            let callers = Callers::new(2);
            let [first, second] = [callers.admit().await, callers.admit().await];
            let mut third = pin!(callers.admit());
            let mut poll = || Future::poll(third.as_mut(), &mut Context::from_waker(Waker::noop())).is_pending();
            assert!(poll() && is_asked(&first));
            first.speaks();
            assert!(!first.is_silent());
            assert!(poll() && is_asked(&second));
        });
    }
}
