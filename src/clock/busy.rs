//! The time for which something is done, without that for which all of it waits in queues of our own.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Clock, Stopwatch};

/// Measures the time for which at least one of several things is under way and does not wait in a queue.
#[derive(Debug)]
pub struct BusyTime {
    clock: Clock,
    state: Mutex<BusyState>,
}

#[derive(Debug, Default)]
struct BusyState {
    under_way: i64,
    /// Milliseconds until it was last idle, and since when it is busy again.
    before_ms: f64,
    since: Option<Stopwatch>,
}

/// One thing that is under way, until it is dropped.
#[derive(Debug)]
pub struct BusyGuard(Arc<BusyTime>);

/// One thing that waits in a queue, until it is dropped.
#[derive(Debug)]
pub struct Queued(Arc<BusyTime>);

impl BusyTime {
    /// One that measures nothing yet.
    pub fn new(clock: Clock) -> Arc<BusyTime> {
        Arc::new(BusyTime { clock, state: Mutex::default() })
    }

    /// Something begins.
    pub fn begin(self: &Arc<Self>) -> BusyGuard {
        self.change(1);
        BusyGuard(self.clone())
    }

    /// Something that is under way begins to wait.
    pub fn queue(self: &Arc<Self>) -> Queued {
        self.change(-1);
        Queued(self.clone())
    }

    /// The time so far, in milliseconds.
    pub fn elapsed_ms(&self) -> f64 {
        let state = self.state();
        state.before_ms + state.since.map_or(0.0, |since| since.elapsed_ms())
    }

    fn change(&self, by: i64) {
        let mut state = self.state();
        state.under_way += by;
        match (state.under_way > 0, state.since) {
            (true, None) => state.since = Some(self.clock.start()),
            (false, Some(since)) => {
                state.before_ms += since.elapsed_ms();
                state.since = None;
            }
            _ => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, BusyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.change(-1);
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        self.0.change(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_only_while_something_is_under_way_and_not_queued() {
        let busy = BusyTime::new(Clock::system());
        let is_running = || busy.state().since.is_some();
        assert!(!is_running());
        let first = busy.begin();
        let queued = busy.queue();
        assert!(!is_running(), "the only one waits");
        let second = busy.begin();
        assert!(is_running(), "another one does not");
        drop(second);
        assert!(!is_running());
        drop(queued);
        assert!(is_running());
        drop(first);
        let after = busy.elapsed_ms();
        assert!(!is_running() && busy.elapsed_ms() == after);
    }
}
