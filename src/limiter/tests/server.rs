//! A server's limit of requests or tokens by the minute.

use std::collections::VecDeque;

use crate::limiter::RateLimitWindow;

/// How the server counting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Counting {
    /// A bucket that is refilled all the time.
    Bucket,
    /// By the minute of the clock.
    Window,
    /// By the last 60 seconds.
    Sliding,
}

/// The limits that the server reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reporting {
    Nothing,
    RetryAfter,
    Headers,
}

pub(super) struct SimulatedLimit {
    counting: Counting,
    limit: f64,
    /// Bucket: what is left. Window: what was used.
    level: f64,
    at: f64,
    log: VecDeque<(f64, f64)>,
}

impl SimulatedLimit {
    pub(super) fn new(counting: Counting, limit: f64) -> SimulatedLimit {
        let level = if counting == Counting::Bucket { limit } else { 0.0 };
        SimulatedLimit { counting, limit, level, at: 0.0, log: VecDeque::new() }
    }

    pub(super) fn move_to(&mut self, now: f64) {
        match self.counting {
            Counting::Bucket => self.level = (self.level + (now - self.at) * self.limit / 60.0).min(self.limit),
            Counting::Window if (now / 60.0).floor() > (self.at / 60.0).floor() => self.level = 0.0,
            Counting::Window => {}
            Counting::Sliding => {
                let over = self.log.iter().take_while(|(moment, _)| *moment <= now - 60.0).count();
                self.level -= self.log.drain(..over).map(|(_, units)| units).sum::<f64>();
            }
        }
        self.at = now;
    }

    pub(super) fn left(&self) -> f64 {
        if self.counting == Counting::Bucket { self.level } else { self.limit - self.level }
    }

    pub(super) fn take(&mut self, now: f64, units: f64) {
        match self.counting {
            Counting::Bucket => self.level -= units,
            Counting::Window => self.level += units,
            Counting::Sliding => {
                self.level += units;
                self.log.push_back((now, units));
            }
        }
        self.move_to(now);
    }

    /// Seconds until so much is there.
    pub(super) fn wait(&self, now: f64, units: f64) -> f64 {
        match self.counting {
            Counting::Bucket => (units - self.level) * 60.0 / self.limit,
            Counting::Window => 60.0 - now % 60.0,
            Counting::Sliding => self.log.front().map_or(0.0, |(moment, _)| moment + 60.0 - now),
        }
    }

    pub(super) fn window(&self, now: f64) -> RateLimitWindow {
        let seconds = match self.counting {
            Counting::Bucket => (self.limit - self.level) * 60.0 / self.limit,
            Counting::Window => 60.0 - now % 60.0,
            Counting::Sliding => self.log.back().map_or(60.0, |(moment, _)| moment + 60.0 - now),
        };
        RateLimitWindow { limit: Some(self.limit), remaining: self.left().floor().max(0.0), seconds: seconds.max(0.05) }
    }
}
