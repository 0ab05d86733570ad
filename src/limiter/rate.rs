//! The rate of requests or tokens per second, as far as the limit is known.
//!
//! From headers: the remaining units are spread over the time until the reset. From refusals: additive increase, multiplicative
//! decrease (AIMD), from the rate that was accepted until then. `tests::simulation` measures the effect of the refinements.

use std::collections::VecDeque;

use super::RateLimitWindow;

/// The rate after a refusal, as a part of the rate before.
const DECREASE: f64 = 0.93;

/// One step up.
const INCREASE: f64 = 1.02;

/// The seconds without a refusal and the accepted requests that a step up needs.
const QUIET: (f64, u32) = (15.0, 10);

/// The accepted requests after which the rate doubles, until a limit was met for the second time.
const DOUBLING: u32 = 4;

/// The part of a rate that must have been used for it to count as tried.
const USED: f64 = 0.7;

/// The accepted requests that are needed to estimate a rate.
const ENOUGH: u32 = 4;

/// The part of a limit that is used while less remains than the rest of its time needs.
const RETURNS: f64 = 0.97;

/// The window of limits.
const MINUTE: f64 = 60.0;

/// Where nothing remains, the next try comes after this many seconds, however far away the endpoint's reset is.
const LONGEST_WAIT: f64 = 90.0;

/// The shortest and the longest time over which the rate of a burst is measured, in seconds.
const BURST: (f64, f64) = (0.25, 10.0);

/// The rate of one thing, requests or tokens.
#[derive(Debug, Default)]
pub(super) struct Rate {
    /// The least that one request takes.
    unit: f64,
    /// The units per second that are always tried.
    least: f64,
    /// Units per second; `None` before the first refusal.
    rate: Option<f64>,
    /// Whether a limit was met at a rate that had been accepted before.
    is_limit_known: bool,
    quiet_since: f64,
    quiet_count: u32,
    quiet_units: f64,
    /// The accepted requests among those sent after the last refusal.
    since_refusal: u32,
    reported: Option<Reported>,
    last_sent_at: f64,
    last_units: f64,
    /// The units sent since the beginning.
    sent: f64,
    /// Times and units of the requests accepted within the last minute.
    accepted: VecDeque<(f64, f64)>,
}

/// The remaining part of a limit, as the endpoint reported it.
#[derive(Debug, Clone, Copy)]
struct Reported {
    limit: Option<f64>,
    remaining: f64,
    until: f64,
    counted_at: f64,
    /// The units sent when the endpoint counted.
    sent: f64,
}

impl Rate {
    pub(super) fn new(unit: f64, least: f64) -> Rate {
        Rate { unit, least, last_sent_at: f64::NEG_INFINITY, ..Rate::default() }
    }

    /// The time when the next request may be sent.
    pub(super) fn ready_at(&mut self, now: f64) -> f64 {
        let by_rate = self.rate.map_or(f64::NEG_INFINITY, |rate| self.last_sent_at + self.last_units / rate);
        let Some(reported) = self.reported_by(now) else { return by_rate };
        let seconds = reported.until - now;
        // A limit by the minute comes back at this rate, however the endpoint counts.
        let limit = reported.limit.filter(|_| seconds <= MINUTE);
        let comes_back = limit.map_or(0.0, |limit| RETURNS * limit / MINUTE);
        let returned = comes_back * (now - reported.counted_at).max(0.0);
        let free = reported.remaining - (self.sent - reported.sent) + returned;
        by_rate.max(if free >= self.unit {
            self.last_sent_at + self.last_units / (free / seconds).max(comes_back)
        } else if comes_back > 0.0 {
            reported.until.min(now + (self.unit - free) / comes_back + 0.001)
        } else {
            reported.until
        })
    }

    /// The report at this time: after the reset, the whole limit remains for another minute.
    fn reported_by(&mut self, now: f64) -> Option<Reported> {
        let reported = self.reported?;
        if now >= reported.until {
            self.reported = reported.limit.map(|limit| Reported {
                remaining: limit,
                until: reported.until.max(now - MINUTE) + MINUTE,
                counted_at: now,
                sent: self.sent,
                ..reported
            });
        }
        self.reported
    }

    /// A request is sent. Returns the units sent so far, with it.
    pub(super) fn sent(&mut self, now: f64, units: f64) -> f64 {
        (self.last_sent_at, self.last_units) = (now, units);
        self.sent += units;
        self.sent
    }

    /// A request was accepted. It is news if it was sent after the last refusal.
    pub(super) fn accepted(&mut self, now: f64, units: f64, is_news: bool) {
        self.accepted.push_back((now, units));
        self.forget(now);
        if is_news {
            self.since_refusal += 1;
            self.quiet_count += 1;
            self.quiet_units += units;
            self.speed_up(now);
        }
    }

    fn speed_up(&mut self, now: f64) {
        let Some(rate) = self.rate else { return };
        let quiet = now - self.quiet_since;
        let (factor, is_enough) = match self.is_limit_known {
            true => (INCREASE, quiet >= QUIET.0 && self.quiet_count >= QUIET.1),
            false => (2.0, self.quiet_count >= DOUBLING),
        };
        if is_enough {
            if self.quiet_units >= USED * rate * quiet {
                self.rate = Some(factor * rate);
            }
            self.quiet_from(now);
        }
    }

    fn quiet_from(&mut self, now: f64) {
        (self.quiet_since, self.quiet_count, self.quiet_units) = (now, 0, 0.0);
    }

    /// A request was refused; `in_a_row` counts the refusals with nothing accepted in between.
    pub(super) fn refused(&mut self, now: f64, in_a_row: u32) {
        self.forget(now);
        let by_the_minute = self.accepted_since(now - MINUTE) / MINUTE;
        let slower = match (self.rate, in_a_row) {
            (None, 1) if self.accepted.len() < ENOUGH as usize => None,
            (None, 1) => {
                let began = self.accepted.front().map_or(now, |(moment, _)| *moment);
                let seconds = (now - began).clamp(BURST.0, BURST.1);
                Some((self.accepted_since(now - BURST.1) / seconds).max(self.unit))
            }
            (Some(rate), 1) if self.since_refusal >= ENOUGH => {
                self.is_limit_known = true;
                Some(DECREASE * by_the_minute.clamp(rate / 2.0, rate))
            }
            (Some(rate), 1) => Some(DECREASE * rate),
            // Short pauses don't help: the limit is per minute.
            (rate, 4..) if !self.accepted.is_empty() => {
                Some(rate.map_or(by_the_minute, |rate| rate.min(by_the_minute)))
            }
            (rate, _) => rate,
        };
        self.rate = slower.map(|rate| rate.max(self.least));
        self.since_refusal = 0;
        self.quiet_from(now);
    }

    fn accepted_since(&self, moment: f64) -> f64 {
        self.accepted.iter().filter(|(at, _)| *at > moment).map(|(_, units)| units).sum()
    }

    /// Takes in the report of a reply: the approximate time when the endpoint counted, and the units sent by then.
    pub(super) fn reported(&mut self, counted_at: f64, sent: f64, window: &RateLimitWindow) {
        let RateLimitWindow { limit, remaining, seconds } = *window;
        let seconds = if remaining < self.unit { seconds.min(LONGEST_WAIT) } else { seconds };
        // Replies may come out of order: that to the latest request counts.
        if self.reported.is_none_or(|reported| sent >= reported.sent) {
            self.reported = Some(Reported { limit, remaining, until: counted_at + seconds, counted_at, sent });
        }
    }

    fn forget(&mut self, now: f64) {
        while self.accepted.front().is_some_and(|(moment, _)| *moment <= now - MINUTE) {
            self.accepted.pop_front();
        }
    }
}
