//! Limits of what may be computed.

use std::marker::PhantomData;
use std::time::Duration;

use super::Stopwatch;

/// So many times its limit may a computation take where others keep the processor from it.
const WALL_TIMES: u32 = 12;

/// A limit of the processor time of the thread that made it: a loaded machine takes nothing off it. It is over after twelve times as long
/// by the clock in any case, and where no processor time is known (Windows) after as long by the clock. It can't leave its thread.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    since: Stopwatch,
    thread_since: Option<Duration>,
    limit: Duration,
    stays: PhantomData<*const ()>,
}

impl Deadline {
    pub(super) fn new(since: Stopwatch, limit: Duration) -> Deadline {
        Deadline { since, thread_since: thread_time(), limit, stays: PhantomData }
    }

    /// Whether the deadline has passed.
    pub fn is_over(&self) -> bool {
        let elapsed = self.since.elapsed();
        // The thread can't have worked for longer, and the clock takes less time to read.
        elapsed >= self.limit && is_past(self.limit, elapsed, self.worked())
    }

    /// The limit.
    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// The processor time since it was made.
    fn worked(&self) -> Option<Duration> {
        Some(thread_time()?.saturating_sub(self.thread_since?))
    }
}

/// Whether a computation is past its limit after so long by the clock, and so much processor time where that is known.
fn is_past(limit: Duration, elapsed: Duration, worked: Option<Duration>) -> bool {
    worked.unwrap_or(elapsed) >= limit || elapsed >= limit.saturating_mul(WALL_TIMES)
}

/// The processor time of this thread so far; `None` where the system does not tell.
pub fn thread_time() -> Option<Duration> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple", target_os = "freebsd"))]
    {
        Duration::try_from(rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime)).ok()
    }
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple", target_os = "freebsd")))]
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[test]
    fn what_others_take_of_the_processor_counts_only_far_beyond_the_limit() {
        let seconds = Duration::from_secs;
        for (elapsed, worked, is_over) in [
            (4, Some(4), false),
            (5, Some(5), true),
            (30, Some(2), false),
            (59, Some(4), false),
            (60, Some(2), true),
            (4, None, false),
            (5, None, true),
        ] {
            assert_eq!(is_past(seconds(5), seconds(elapsed), worked.map(seconds)), is_over, "{elapsed} {worked:?}");
        }
    }

    #[test]
    fn work_on_another_thread_is_not_charged_and_ones_own_is() {
        let deadline = Clock::system().deadline(Duration::from_millis(500));
        let other = std::thread::spawn(|| {
            let since = Clock::system().start();
            while since.elapsed_ms() < 550.0 {}
        });
        other.join().unwrap();
        assert!(deadline.since.elapsed() >= deadline.limit());
        assert_eq!(deadline.is_over(), thread_time().is_none());
        while !deadline.is_over() {}
        assert!(
            deadline
                .worked()
                .is_none_or(|worked| worked >= deadline.limit || deadline.since.elapsed() >= 12 * deadline.limit)
        );
    }
}
