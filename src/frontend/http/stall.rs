//! How long a client may leave untaken what is written to it.

use std::future::Future;
use std::io::{ErrorKind, Result};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Sleep, sleep};

/// What a client must take, while there is as much, within each stretch of its patience. A byte now and then would
/// keep an answer for days.
const LEAST: usize = 1 << 20;

/// The watch over one connection's writes.
pub struct Stall {
    patience: Duration,
    /// Runs since the client last left something untaken.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Bytes taken since.
    taken: usize,
}

impl Stall {
    pub fn new(patience: Duration) -> Self {
        Self { patience, deadline: None, taken: 0 }
    }

    /// What a write came to, or the error that ends the connection.
    pub fn judge(&mut self, context: &mut Context<'_>, written: Poll<Result<usize>>) -> Poll<Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => {
                self.taken = self.taken.saturating_add(*bytes);
                if self.taken >= LEAST {
                    self.is_over();
                }
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => {
                let deadline = self.deadline.get_or_insert_with(|| {
                    self.taken = 0;
                    Box::pin(sleep(self.patience))
                });
                if deadline.as_mut().poll(context).is_ready() {
                    return Poll::Ready(Err(ErrorKind::TimedOut.into()));
                }
            }
        }
        written
    }

    /// All that there was is written.
    pub fn is_over(&mut self) {
        self.deadline = None;
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    /// Whether a client that does so after its deadline is ended when it next leaves something.
    fn is_ended(then: impl FnOnce(&mut Stall, &mut Context<'_>)) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut stall = Stall::new(Duration::from_millis(1));
            let mut then = Some(then);
            let error = poll_fn(|context| stall.judge(context, Poll::Pending)).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            stall.patience = Duration::from_secs(3600);
            poll_fn(|context| {
                if let Some(then) = then.take() {
                    then(&mut stall, context);
                }
                Poll::Ready(stall.judge(context, Poll::Pending).is_ready())
            })
            .await
        })
    }

    #[test]
    fn who_takes_too_little_is_ended_and_who_takes_enough_or_all_is_not() {
        assert!(is_ended(|_, _| {}));
        assert!(is_ended(|stall, context| drop(stall.judge(context, Poll::Ready(Ok(LEAST - 1))))));
        assert!(!is_ended(|stall, context| drop(stall.judge(context, Poll::Ready(Ok(LEAST))))));
        assert!(!is_ended(|stall, _| stall.is_over()));
    }
}
