//! Who decides about a request: the one who waits for it, or the thread that works on it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use graphdblite::bounds::Signal;

const OPEN: u8 = 0;
const KEPT: u8 = 1;
const ABANDONED: u8 = 2;

/// Whether a request's effect is kept or abandoned: decided once, so that a write which was reported as too slow is
/// never committed afterwards.
#[derive(Debug, Default)]
pub(super) struct Fate {
    state: AtomicU8,
    signal: Arc<Signal>,
}

impl Fate {
    /// The worker is about to keep the effect: false when it was abandoned before.
    pub(super) fn keep(&self) -> bool {
        self.decide(KEPT)
    }

    /// The one who waits gives up: false when the effect is already being kept.
    pub(super) fn abandon(&self) -> bool {
        let abandoned = self.decide(ABANDONED);
        if abandoned {
            self.signal.stop.store(true, Ordering::Release);
        }
        abandoned
    }

    /// Tells the engine to stop when nobody waits any longer.
    pub(super) fn signal(&self) -> Arc<Signal> {
        Arc::clone(&self.signal)
    }

    /// What a statement that took too long is told besides.
    pub(super) fn delay(&self) -> &'static str {
        if self.signal.waits.load(Ordering::Acquire) {
            " It was waiting until another statement that takes much memory is done, as only one such runs at a time, \
             and that counts as its time (limits.query)."
        } else {
            ""
        }
    }

    /// Whether nobody waits any longer.
    pub(super) fn is_abandoned(&self) -> bool {
        self.state.load(Ordering::Acquire) == ABANDONED
    }

    fn decide(&self, fate: u8) -> bool {
        self.state.compare_exchange(OPEN, fate, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// The side of the one who waits: when it goes, nobody waits any longer.
#[derive(Debug, Default)]
pub(super) struct Abandon(pub(super) Arc<Fate>);

impl Drop for Abandon {
    fn drop(&mut self) {
        self.0.abandon();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fate_is_decided_once() {
        let kept = Fate::default();
        assert!(kept.keep());
        assert!(!kept.abandon());
        let abandoned = Fate::default();
        assert!(abandoned.abandon());
        assert!(!abandoned.keep());
        assert!(abandoned.is_abandoned());
    }
}
