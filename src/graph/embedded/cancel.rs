//! Whether a request is committed or cancelled: decided once, by the one who waits for it or by the thread that works on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use graphdblite::bounds::Signal;

const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const CANCELLED: u8 = 2;

/// The state of a request. A write that was reported as too slow is never committed afterwards.
#[derive(Debug, Default)]
pub(super) struct CommitOrCancel {
    state: AtomicU8,
    signal: Arc<Signal>,
}

impl CommitOrCancel {
    /// The worker is about to commit: false when the request was cancelled before.
    pub(super) fn commit(&self) -> bool {
        self.decide(COMMITTED)
    }

    /// The one who waits gives up, and the engine stops: false when the effect is already being committed.
    pub(super) fn cancel(&self) -> bool {
        let cancelled = self.decide(CANCELLED);
        if cancelled {
            self.signal.stop.store(true, Ordering::Release);
        }
        cancelled
    }

    /// By which the engine learns that it must stop.
    pub(super) fn signal(&self) -> Arc<Signal> {
        Arc::clone(&self.signal)
    }

    /// The addition to the error of a statement that took too long.
    pub(super) fn delay(&self) -> &'static str {
        if self.signal.waits.load(Ordering::Acquire) {
            " It was waiting until another statement that takes much memory is done, as only one such runs at a time, \
             and that counts as its time (limits.query)."
        } else {
            ""
        }
    }

    /// Whether the caller has stopped waiting.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Acquire) == CANCELLED
    }

    fn decide(&self, state: u8) -> bool {
        self.state.compare_exchange(OPEN, state, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// The side of the one who waits: a request is cancelled when it is dropped.
#[derive(Debug, Default)]
pub(super) struct CancelOnDrop(pub(super) Arc<CommitOrCancel>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_decided_once() {
        let kept = CommitOrCancel::default();
        assert!(kept.commit());
        assert!(!kept.cancel());
        let abandoned = CommitOrCancel::default();
        assert!(abandoned.cancel());
        assert!(!abandoned.commit());
        assert!(abandoned.is_cancelled());
    }
}
