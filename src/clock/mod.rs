//! The only place that reads a clock.

mod busy;
mod deadline;
mod pause;

pub use busy::{BusyGuard, BusyTime, Queued};
pub use deadline::{Deadline, thread_time};
pub use pause::{was_paused_lately, watch_for_pauses};

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

/// A clock that is passed as an argument: the system's, or one with a fixed calendar time.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    fixed: Option<DateTime<Utc>>,
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Clock {
        Clock { fixed: None }
    }

    /// A clock with this fixed calendar time; durations are still measured.
    pub fn fixed(moment: DateTime<Utc>) -> Clock {
        Clock { fixed: Some(moment) }
    }

    /// The calendar's time.
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub fn wall(&self) -> DateTime<Utc> {
        self.fixed.unwrap_or_else(Utc::now)
    }

    /// When this machine was started; `None` where that is not known.
    pub fn booted_at(&self) -> Option<DateTime<Utc>> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            let up = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
            Some(self.wall() - Duration::try_from(up).ok()?)
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        None
    }

    /// Starts a stopwatch.
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub fn start(&self) -> Stopwatch {
        Stopwatch { since: Instant::now(), paused: pause::total() }
    }

    /// A deadline for what this thread computes from now on.
    pub fn deadline(&self, limit: Duration) -> Deadline {
        Deadline::new(self.start(), limit)
    }
}

/// Measures the time since it was started, without that in which this process was stopped.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch {
    since: Instant,
    /// How long the process had been stopped in all when it was started.
    paused: Duration,
}

impl Stopwatch {
    /// Milliseconds since the start.
    pub fn elapsed_ms(&self) -> f64 {
        self.elapsed().as_secs_f64() * 1000.0
    }

    fn elapsed(&self) -> Duration {
        self.since.elapsed().saturating_sub(pause::total().saturating_sub(self.paused))
    }
}
