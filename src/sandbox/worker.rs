//! Threads with a stack deep enough for wasm. A cell runs on one of them, whichever thread asked for it.
//!
//! Python recursion is bounded by `engine::WASM_STACK`, which is more than an ordinary thread has; entering wasm on
//! such a thread would overflow the real stack instead of raising `RecursionError`. There are at most so many; they are
//! started when they are needed and kept. Whoever finds them all busy waits in order of arrival.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use super::engine::WASM_STACK;
use crate::error::OrInternal;
use crate::{Cancel, Error, Result};

/// What the host's own frames may use on top of wasm's.
const HOST_STACK: usize = 4 << 20;

/// How long a worker looks for a next job, and an asker for an answer, before they sleep. To be woken takes as long as a
/// short cell. They yield between looks: without it a machine that has no core to spare runs cells at half the speed.
const LOOK: Duration = Duration::from_micros(50);

type Job = Box<dyn FnOnce() + Send>;

/// The workers of one image. Those that are idle end when this is dropped, the others after their job.
pub(super) struct Workers(Arc<Pool>);

struct Pool {
    most: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Workers without a job; the last one here was busy last, and its stack is still in the caches.
    idle: Vec<Idle>,
    /// Jobs that no worker has taken, in order of arrival. Empty as long as anybody is idle.
    waiting: VecDeque<(Ticket, Job)>,
    /// Workers alive or being started.
    threads: usize,
    last: Ticket,
    closed: bool,
}

/// Numbers the jobs that had to wait.
type Ticket = u64;

struct Idle {
    thread: Thread,
    slot: Arc<Flagged<Option<Job>>>,
}

thread_local! {
    static ON_WORKER: Cell<bool> = const { Cell::new(false) };
}

/// A job that did not run, and what it was given, if that is still there.
pub(super) struct Refused<T> {
    pub(super) error: Error,
    pub(super) given: Option<T>,
}

impl Workers {
    /// At most `most` threads, of which none is started yet.
    pub(super) fn new(most: usize) -> Self {
        Self(Arc::new(Pool { most: most.max(1), state: Mutex::default() }))
    }

    /// Runs `job` on a worker and waits for it; on a worker already, it runs in place. A panic is carried over.
    ///
    /// # Errors
    /// [`is_cancelled`](Error::is_cancelled) when `cancel` came before a worker was free: nothing has run. A job that
    /// has begun looks at `cancel` itself. Otherwise there is no worker, and none could be started.
    pub(super) fn run<T, R>(
        &self,
        cancel: &Cancel,
        given: T,
        job: impl FnOnce(T) -> R + Send + 'static,
    ) -> Result<R, Refused<T>>
    where
        T: Send + 'static,
        R: Send + 'static,
    {
        if ON_WORKER.get() {
            return Ok(job(given));
        }
        let call = Arc::new(Call { given: Mutex::new(Some(given)), answer: Flagged::default() });
        let promise = Promise { call: call.clone(), asker: thread::current() };
        let ticket = self.0.submit(Box::new(move || {
            let promise = promise;
            let given = lock(&promise.call.given).take();
            let done = given.map(|given| catch_unwind(AssertUnwindSafe(|| job(given))));
            *lock(&promise.call.answer.value) = done;
        }));
        let waited = ticket.and_then(|ticket| self.0.wait(cancel, ticket, &call.answer));
        let answer = waited.and_then(|()| {
            let answer = lock(&call.answer.value).take();
            answer.ok_or_else(|| Error::internal("no thread for Python could be started"))
        });
        match answer {
            Ok(answer) => Ok(answer.unwrap_or_else(|panic| resume_unwind(panic))),
            Err(error) => Err(Refused { error, given: lock(&call.given).take() }),
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.closed = true;
        for idle in std::mem::take(&mut state.idle) {
            idle.slot.raise(&idle.thread);
        }
    }
}

/// One run: what goes in and what comes out.
struct Call<T, R> {
    given: Mutex<Option<T>>,
    answer: Flagged<Option<Result<R, Box<dyn Any + Send>>>>,
}

/// Wakes the asker when it is dropped: after the job, or with a job that nobody will do.
struct Promise<T, R> {
    call: Arc<Call<T, R>>,
    asker: Thread,
}

impl<T, R> Drop for Promise<T, R> {
    fn drop(&mut self) {
        self.call.answer.raise(&self.asker);
    }
}

/// A value with a flag that says it is there, for one thread that waits for it.
#[derive(Default)]
struct Flagged<T> {
    raised: AtomicBool,
    value: Mutex<T>,
}

impl<T> Flagged<T> {
    fn raise(&self, waiter: &Thread) {
        self.raised.store(true, Ordering::Release);
        waiter.unpark();
    }

    /// Looks again and again for a short while, then sleeps until it is raised.
    fn wait(&self) {
        let began = Instant::now();
        while !self.raised.load(Ordering::Acquire) && began.elapsed() < LOOK {
            thread::yield_now();
        }
        self.sleep(|| false);
    }

    /// Sleeps until it is raised or `enough` says so, which is asked whenever this thread is unparked.
    fn sleep(&self, mut enough: impl FnMut() -> bool) {
        while !self.raised.load(Ordering::Acquire) && !enough() {
            thread::park();
        }
    }
}

impl Pool {
    /// Gives `job` to an idle worker, or to a new one, or lets it wait; then its ticket is returned.
    fn submit(self: &Arc<Self>, job: Job) -> Result<Option<Ticket>> {
        let mut state = lock(&self.state);
        if let Some(idle) = state.idle.pop() {
            drop(state);
            *lock(&idle.slot.value) = Some(job);
            idle.slot.raise(&idle.thread);
            return Ok(None);
        }
        state.last += 1;
        let ticket = state.last;
        state.waiting.push_back((ticket, job));
        if state.threads < self.most {
            state.threads += 1;
            drop(state);
            self.start()?;
        }
        Ok(Some(ticket))
    }

    /// Starts a worker, which takes the first job that waits.
    fn start(self: &Arc<Self>) -> Result<()> {
        let pool = self.clone();
        let Err(error) = worker().spawn(move || on_worker(|| pool.serve())) else { return Ok(()) };
        let mut state = lock(&self.state);
        state.threads -= 1;
        if state.threads > 0 {
            // The others will come to the job in their turn.
            log::warn!("no further thread for Python: {error}");
            return Ok(());
        }
        let orphans = std::mem::take(&mut state.waiting);
        drop(state);
        drop(orphans);
        Err(Error::internal(error)
            .context("starting a thread for Python")
            .advise("end other programs or raise their limit"))
    }

    /// Waits for an answer. A job that still waits itself can be cancelled.
    fn wait<R>(&self, cancel: &Cancel, ticket: Option<Ticket>, answer: &Flagged<R>) -> Result<()> {
        let Some(ticket) = ticket else {
            answer.wait();
            return Ok(());
        };
        let _unparks = cancel.unparks_me();
        let mut withdrawn = false;
        answer.sleep(|| {
            withdrawn = cancel.is_cancelled() && self.withdraw(ticket);
            withdrawn
        });
        if withdrawn { Err(Error::cancelled()) } else { Ok(()) }
    }

    /// Takes a job back, if no worker has taken it.
    fn withdraw(&self, ticket: Ticket) -> bool {
        let mut state = lock(&self.state);
        let at = state.waiting.iter().position(|(waiting, _)| *waiting == ticket);
        let job = at.and_then(|at| state.waiting.remove(at));
        drop(state);
        job.is_some()
    }

    /// What a worker does all its life.
    fn serve(&self) {
        let slot = Arc::new(Flagged::default());
        while let Some(job) = self.next(&slot) {
            job();
        }
    }

    /// The next job; None when there will be no more.
    fn next(&self, slot: &Arc<Flagged<Option<Job>>>) -> Option<Job> {
        let mut state = lock(&self.state);
        if let Some((_, job)) = state.waiting.pop_front() {
            return Some(job);
        }
        if state.closed {
            return None;
        }
        slot.raised.store(false, Ordering::Relaxed);
        state.idle.push(Idle { thread: thread::current(), slot: slot.clone() });
        drop(state);
        slot.wait();
        lock(&slot.value).take()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn worker() -> thread::Builder {
    thread::Builder::new().name("python".into()).stack_size(WASM_STACK + HOST_STACK)
}

/// Marks this thread as a worker while `work` runs.
fn on_worker<R>(work: impl FnOnce() -> R) -> R {
    ON_WORKER.set(true);
    let result = work();
    ON_WORKER.set(false);
    result
}

/// A worker thread that belongs to nobody's cells.
pub(super) fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<thread::JoinHandle<()>> {
    worker().name(name.to_owned()).spawn(|| on_worker(work)).or_internal("starting a thread for Python")
}

/// Runs `work` on a new worker thread and waits: for callers that run many cells and want no hand-over between them.
/// It is the caller's thread, and counts against no bound.
pub(super) fn stay_on_worker<R: Send>(work: impl FnOnce() -> R + Send) -> Result<R> {
    thread::scope(|scope| {
        let handle = worker().spawn_scoped(scope, || on_worker(work)).or_internal("starting a thread for Python")?;
        Ok(handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc::channel;

    use super::*;

    /// Far longer than anything here takes.
    const HANG: Duration = Duration::from_secs(60);

    fn run<R: Send + 'static>(workers: &Workers, job: impl FnOnce() -> R + Send + 'static) -> R {
        workers.run(&Cancel::new(), (), |()| job()).map_err(|refused| refused.error).unwrap()
    }

    /// Waits for what another thread is about to do.
    fn until(what: &str, mut holds: impl FnMut() -> bool) {
        let hang = Instant::now() + HANG;
        while !holds() {
            assert!(Instant::now() < hang, "{what}");
            thread::yield_now();
        }
    }

    fn waiting(workers: &Workers) -> usize {
        lock(&workers.0.state).waiting.len()
    }

    #[test]
    fn a_worker_is_reused_and_nested_jobs_run_in_place() {
        let workers = Arc::new(Workers::new(2));
        let first = run(&workers, || thread::current().id());
        until("the worker is idle again", || lock(&workers.0.state).idle.len() == 1);
        let nested = workers.clone();
        let (second, inner) = run(&workers, move || (thread::current().id(), run(&nested, || thread::current().id())));
        assert_eq!(first, second);
        assert_eq!(second, inner);
        assert_ne!(first, thread::current().id());
    }

    #[test]
    fn a_panic_reaches_the_asker_and_the_worker_lives_on() {
        let workers = Workers::new(1);
        let caught = catch_unwind(AssertUnwindSafe(|| run(&workers, || panic!("on purpose"))));
        assert_eq!(caught.unwrap_err().downcast_ref(), Some(&"on purpose"));
        assert_eq!(run(&workers, || 7), 7);
        assert_eq!(lock(&workers.0.state).threads, 1);
    }

    #[test]
    fn stays_on_one_worker() {
        let workers = Workers::new(1);
        let same = stay_on_worker(|| {
            let here = thread::current().id();
            run(&workers, move || thread::current().id() == here)
        });
        assert!(same.unwrap());
        assert_eq!(lock(&workers.0.state).threads, 0);
    }

    #[test]
    fn never_more_than_so_many_and_everybody_is_served() {
        let workers = Workers::new(3);
        let (at_once, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        thread::scope(|scope| {
            for asker in 0..12 {
                let (workers, at_once, most) = (&workers, &at_once, &most);
                scope.spawn(move || {
                    for round in 0..200 {
                        let (at_once, most) = (at_once.clone(), most.clone());
                        let answer = run(workers, move || {
                            most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                            thread::yield_now();
                            at_once.fetch_sub(1, Ordering::SeqCst);
                            (asker, round)
                        });
                        assert_eq!(answer, (asker, round));
                    }
                });
            }
        });
        assert!((1..=3).contains(&most.load(Ordering::SeqCst)), "{most:?} at once");
        assert!(lock(&workers.0.state).threads <= 3);
    }

    #[test]
    fn whoever_waits_is_served_in_order_of_arrival() {
        let workers = Workers::new(1);
        let (release, held) = channel::<()>();
        let (tell, order) = channel();
        thread::scope(|scope| {
            let workers = &workers;
            scope.spawn(move || run(workers, move || held.recv().unwrap()));
            until("the worker is busy", || lock(&workers.0.state).threads == 1 && waiting(workers) == 0);
            for number in 0..5 {
                let tell = tell.clone();
                scope.spawn(move || run(workers, move || tell.send(number).unwrap()));
                until("it waits", || waiting(workers) == number + 1);
            }
            release.send(()).unwrap();
        });
        drop(tell);
        assert_eq!(order.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_cancel_ends_the_wait_and_gives_back_what_was_given() {
        let workers = Workers::new(1);
        let (release, held) = channel::<()>();
        thread::scope(|scope| {
            let workers = &workers;
            let busy = scope.spawn(move || run(workers, move || held.recv().unwrap()));
            until("the worker is busy", || lock(&workers.0.state).threads == 1 && waiting(workers) == 0);
            let cancel = Cancel::new();
            let handle = cancel.clone();
            let waiter = scope.spawn(move || workers.run(&handle, "mine", |_| panic!("it was cancelled")));
            until("it waits", || waiting(workers) == 1);
            cancel.cancel();
            let refused = waiter.join().unwrap().map(|(): ()| ()).err().unwrap();
            assert!(refused.error.is_cancelled());
            assert_eq!((refused.given, waiting(workers)), (Some("mine"), 0));
            release.send(()).unwrap();
            busy.join().unwrap();
        });
        assert_eq!(run(&workers, || 7), 7);
    }

    #[test]
    fn a_cancel_leaves_alone_what_has_begun() {
        let workers = Workers::new(1);
        let cancel = Cancel::new();
        let handle = cancel.clone();
        let answer = workers.run(&cancel, 7, move |given| {
            handle.cancel();
            given
        });
        assert_eq!(answer.map_err(|refused| refused.error).unwrap(), 7);
    }

    #[test]
    fn the_workers_end_with_their_owner() {
        let workers = Arc::new(Workers::new(2));
        run(&workers, || ());
        // The last owner may be a job.
        let (last, pool) = (workers.clone(), Arc::downgrade(&workers.0));
        let inner = stay_on_worker(|| run(&workers, move || drop(last)));
        inner.unwrap();
        drop(workers);
        until("every worker has ended", || pool.strong_count() == 0);
    }
}
