//! How fast one thing may flow, requests or tokens: what is known of its limit, and how that is learned.
//!
//! From headers: what is left is spread over the time until there is more. From refusals: additive increase, multiplicative
//! decrease, as TCP does it, from the pace that went well until then; the increase halves the way to the rate that was last refused (as BIC-TCP does), so that the
//! limit is approached more often than it is passed.

use std::collections::VecDeque;

use super::Allowance;

/// What is left of the rate after a refusal.
const DECREASE: f64 = 0.93;

/// The smallest step up, as a part of the rate that was last refused.
const SMALLEST_STEP: f64 = 0.003;

/// How much of a limit is dared while less of it is left than the time that it must last asks for.
const RETURNS: f64 = 0.97;

/// Limits are counted by the minute.
const MINUTE: f64 = 60.0;

/// A step up needs so much quiet, in seconds, and so many accepted requests.
const QUIET: (f64, u32) = (15.0, 10);

/// Units of one request a second: below that, a refusal alone is no reason to go much slower. It may be one of a server that
/// refuses now and then.
const DARED: f64 = 1.0;

/// What is left of a rate below that.
const SLIGHTLY: f64 = 0.95;

/// The pace of a burst is that of so many seconds, at least and at most.
const BURST: (f64, f64) = (0.25, 10.0);

/// A wait that is longer speaks of a limit by the minute.
const SHORT: f64 = 5.0;

/// So many accepted requests since the last refusal show that a pace is hardly too fast.
const SETTLED: u32 = 4;

/// Until the limit was met for the second time, the rate doubles after so many accepted requests.
const DOUBLING: u32 = 4;

/// The pace of one thing.
#[derive(Debug)]
pub(super) struct Pace {
    /// What one request takes at least.
    unit: f64,
    /// Units a second that are always dared.
    least: f64,
    /// Units a second; `None` while nothing was ever refused.
    rate: Option<f64>,
    /// The rate that was refused last; infinite until the limit was met twice.
    ceiling: f64,
    step: f64,
    quiet_since: f64,
    quiet_count: u32,
    quiet_units: f64,
    /// Accepted of what left after the last refusal.
    since_refusal: u32,
    /// Accepted since the last refusal, whenever it left.
    heard: u32,
    /// Whether a wait did not help: the limit is low.
    is_low: bool,
    left: Option<Left>,
    last_departure: f64,
    last_units: f64,
    /// Units that have left since the beginning.
    sent: f64,
    accepted: VecDeque<(f64, f64)>,
}

/// What the endpoint said is left.
#[derive(Debug, Clone, Copy)]
struct Left {
    limit: Option<f64>,
    remaining: f64,
    until: f64,
    counted: f64,
    /// What had left when the endpoint counted.
    sent: f64,
}

impl Pace {
    pub(super) fn new(unit: f64, least: f64) -> Pace {
        Pace {
            unit,
            least,
            rate: None,
            ceiling: f64::INFINITY,
            step: 0.0,
            quiet_since: 0.0,
            quiet_count: 0,
            quiet_units: 0.0,
            since_refusal: 0,
            heard: 0,
            is_low: false,
            left: None,
            last_departure: f64::NEG_INFINITY,
            last_units: 0.0,
            sent: 0.0,
            accepted: VecDeque::new(),
        }
    }

    /// When the next request may leave.
    pub(super) fn ready_at(&mut self, now: f64) -> f64 {
        let by_rate = self.rate.map_or(f64::NEG_INFINITY, |rate| self.last_departure + self.last_units / rate);
        let by_left = match self.left_at(now) {
            None => f64::NEG_INFINITY,
            Some(left) => {
                let seconds = left.until - now;
                // What is counted by the minute comes back at this pace, however the endpoint counts.
                let comes_back = left.limit.filter(|_| seconds <= MINUTE).map_or(0.0, |limit| RETURNS * limit / MINUTE);
                let free = left.remaining - (self.sent - left.sent) + comes_back * (now - left.counted).max(0.0);
                if free < self.unit && comes_back > 0.0 {
                    left.until.min(now + (self.unit - free) / comes_back + 0.001)
                } else if free < self.unit {
                    left.until
                } else {
                    self.last_departure + self.last_units / (free / seconds).max(comes_back)
                }
            }
        };
        by_rate.max(by_left)
    }

    /// What is left by now: when its time has passed, the whole limit for another minute.
    fn left_at(&mut self, now: f64) -> Option<Left> {
        let left = self.left?;
        if now >= left.until {
            let full = |limit| Left {
                remaining: limit,
                until: left.until.max(now - MINUTE) + MINUTE,
                sent: self.sent,
                counted: now,
                ..left
            };
            self.left = left.limit.map(full);
        }
        self.left
    }

    pub(super) fn departed(&mut self, now: f64, units: f64) {
        // A timer that rang late is made up for by the next one, but by no more than that.
        let due = self.ready_at(now).max(now - self.rate.map_or(0.0, |rate| units / rate));
        self.last_departure = if due.is_finite() { due.min(now) } else { now };
        self.last_units = units;
        self.sent += units;
    }

    /// What has left so far.
    pub(super) fn sent(&self) -> f64 {
        self.sent
    }

    /// A request was accepted. It is news if it left after the last refusal.
    pub(super) fn arrived(&mut self, now: f64, spent: f64, is_news: bool) {
        self.accepted.push_back((now, spent));
        self.forget(now);
        self.heard += 1;
        if is_news {
            self.since_refusal += 1;
            self.quiet_count += 1;
            self.quiet_units += spent;
            self.speed_up(now);
        }
    }

    fn speed_up(&mut self, now: f64) {
        let Some(rate) = self.rate else { return };
        let quiet = now - self.quiet_since;
        let doubles = self.ceiling.is_infinite();
        let enough =
            if doubles { self.quiet_count >= DOUBLING } else { quiet >= QUIET.0 && self.quiet_count >= QUIET.1 };
        if !enough {
            return;
        }
        // A rate that nobody uses has not been tried.
        let used = self.quiet_units >= 0.7 * rate * quiet;
        self.quiet_since = now;
        (self.quiet_count, self.quiet_units) = (0, 0.0);
        if !used {
            return;
        }
        self.rate = Some(if doubles {
            rate * 2.0
        } else if rate < self.ceiling * (1.0 - 2.0 * SMALLEST_STEP) {
            self.step = SMALLEST_STEP * self.ceiling;
            rate + ((self.ceiling - rate) / 2.0).max(self.step)
        } else {
            // Beyond what was refused last the limit may have been raised: ever larger steps.
            let beyond = rate + self.step;
            self.step *= 1.3;
            beyond
        });
    }

    /// A refusal: the wait that it asks for; how many came in a row with nothing accepted in between, and for how long.
    pub(super) fn slow_down(&mut self, now: f64, asked: Option<f64>, (strikes, seconds): (u32, f64)) {
        self.forget(now);
        let by_the_minute = self.units_since(now - MINUTE) / MINUTE;
        let is_settled = self.since_refusal >= SETTLED;
        self.rate = match (self.rate, strikes) {
            // Not enough is known; the wait alone helps.
            (None, 1) if self.accepted.len() < SETTLED as usize => None,
            (None, 1) if asked.is_some_and(|asked| asked > SHORT) => Some(by_the_minute.max(self.least)),
            (None, 1) => {
                let began = self.accepted.front().map_or(now, |(moment, _)| *moment);
                let seconds = (now - began).clamp(BURST.0, BURST.1);
                Some((self.units_since(now - BURST.1) / seconds).max(DARED * self.unit))
            }
            (Some(rate), 1) if is_settled => {
                // Pauses are part of the last minute: once the limit is known, it is not taken to be far below.
                let least = if self.ceiling.is_infinite() { 0.5 } else { 0.8 };
                let limit = by_the_minute.clamp(least * rate, rate);
                self.ceiling = limit;
                Some(DECREASE * limit)
            }
            (Some(rate), 1) => {
                let least = match asked {
                    // One a wait is what the endpoint itself speaks of.
                    Some(asked) => rate.min(self.unit / asked.max(0.05)),
                    None if self.is_low => self.least,
                    None => (SLIGHTLY * rate).min(DARED * self.unit),
                };
                Some((rate / 2.0).max(least).max(self.least))
            }
            // The answers to what had left before came in between: no two in a row.
            (rate, 2) if self.heard > 0 => rate,
            // The wait was too short.
            (rate, 2) => {
                self.is_low = true;
                rate.map(|rate| (rate / 2.0).max(self.least))
            }
            // Seconds don't help: the limit is one by the minute. From here on it is not the pace that is wrong.
            (rate, 3..) if seconds >= SHORT && !self.accepted.is_empty() => {
                Some(rate.map_or(by_the_minute, |rate| rate.min(by_the_minute)).max(self.least))
            }
            (rate, _) => rate,
        };
        self.quiet_since = now;
        (self.quiet_count, self.quiet_units, self.since_refusal, self.heard) = (0, 0.0, 0, 0);
    }

    fn units_since(&self, moment: f64) -> f64 {
        self.accepted.iter().filter(|(at, _)| *at > moment).map(|(_, units)| units).sum()
    }

    /// What a reply said. `counted` is about when the endpoint counted, `sent` what had left by then.
    pub(super) fn told(&mut self, counted: f64, sent: f64, allowance: &Allowance) {
        let Allowance { limit, remaining, seconds } = *allowance;
        // Replies overtake each other: the request that left last tells the latest.
        if self.left.is_none_or(|left| sent >= left.sent) {
            self.left = Some(Left { limit, remaining, until: counted + seconds, counted, sent });
        }
    }

    fn forget(&mut self, now: f64) {
        while self.accepted.front().is_some_and(|(moment, _)| *moment <= now - MINUTE) {
            self.accepted.pop_front();
        }
    }
}
