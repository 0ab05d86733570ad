//! The only place that reads a clock.

mod busy;

pub use busy::{BusyTime, Queued, UnderWay};

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

    /// Starts a stopwatch.
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub fn start(&self) -> Stopwatch {
        Stopwatch(Instant::now())
    }

    /// A deadline this far from now.
    pub fn deadline(&self, limit: Duration) -> Deadline {
        Deadline { since: self.start(), limit }
    }
}

/// A time limit that runs from when it was made.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    since: Stopwatch,
    limit: Duration,
}

impl Deadline {
    /// Whether the deadline has passed.
    pub fn is_over(&self) -> bool {
        self.since.0.elapsed() >= self.limit
    }

    /// The remaining time.
    pub fn left(&self) -> Duration {
        self.limit.saturating_sub(self.since.0.elapsed())
    }

    /// The limit.
    pub fn limit(&self) -> Duration {
        self.limit
    }
}

/// Measures the time since it was started.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Milliseconds since the start.
    pub fn elapsed_ms(&self) -> f64 {
        self.0.elapsed().as_secs_f64() * 1000.0
    }
}
