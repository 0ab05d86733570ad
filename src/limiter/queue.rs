//! The queue in which requests wait for the controller's permit.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::controller::{AdmissionDecision, Controller, InFlight};
use super::{BackoffPolicy, OnWait, RateLimitHeaders, WaitReason};
use crate::clock::{Clock, Stopwatch};

/// Shorter waits, in seconds, are not reported.
const REPORTED_WAIT: f64 = 2.0;

/// The limiter of one endpoint and key.
pub struct RateLimiter {
    started: Stopwatch,
    controller: Mutex<Controller>,
    /// Held by the first of the queue; tokio's lock is fair.
    pub(super) first: tokio::sync::Mutex<()>,
    changed: Notify,
    on_wait: Option<(WaitReason<'static>, Arc<OnWait>)>,
    /// The end of the wait that was last reported.
    reported_until: Mutex<f64>,
}

/// No request was permitted for too long: all that wait give up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitExhausted;

/// A request's place in time: how many times the limiter had been exhausted when it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiter(u64);

impl RateLimiter {
    /// A limiter of an endpoint about which nothing is known yet. The `rng_seed` draws the jitter that keeps several
    /// processes from sending at the same moment.
    pub fn new(
        clock: Clock,
        policy: BackoffPolicy,
        rng_seed: u64,
        on_wait: Option<(WaitReason<'static>, Arc<OnWait>)>,
    ) -> RateLimiter {
        RateLimiter {
            started: clock.start(),
            controller: Mutex::new(Controller::new(policy, rng_seed)),
            first: tokio::sync::Mutex::default(),
            changed: Notify::new(),
            on_wait,
            reported_until: Mutex::new(0.0),
        }
    }

    /// A waiter for a request that is to be sent now or later.
    pub fn waiter(&self) -> Waiter {
        Waiter(self.controller().times_exhausted())
    }

    /// Waits until a request of about this many tokens, prompt and reply, may be sent. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// The limiter was exhausted since the waiter came.
    pub async fn acquire(&self, waiter: Waiter, tokens: f64) -> Result<Permit<'_>, RateLimitExhausted> {
        if self.controller().fails_fast(self.now()) {
            return Err(RateLimitExhausted);
        }
        let _first = self.first.lock().await;
        loop {
            // Registered before the controller decides, so that no change in between is missed.
            let changed = self.changed.notified();
            let now = self.now();
            let decision = {
                let mut controller = self.controller();
                if controller.times_exhausted() != waiter.0 {
                    return Err(RateLimitExhausted);
                }
                controller.request(now, tokens)
            };
            match decision {
                AdmissionDecision::Send(in_flight) => return Ok(Permit { limiter: self, in_flight: Some(in_flight) }),
                AdmissionDecision::WaitForReply => changed.await,
                AdmissionDecision::WaitUntil(moment) => {
                    self.report_wait(now, moment);
                    let wait = Duration::try_from_secs_f64(moment - now).unwrap_or_default();
                    tokio::select! {
                        () = tokio::time::sleep(wait.max(Duration::from_millis(1))) => {}
                        () = changed => {}
                    }
                }
            }
        }
    }

    pub(super) fn report_wait(&self, now: f64, moment: f64) {
        let Some((reason, on_wait)) = &self.on_wait else { return };
        let mut reported_until = self.reported_until.lock().unwrap_or_else(PoisonError::into_inner);
        if moment - now >= REPORTED_WAIT && now >= *reported_until {
            *reported_until = moment;
            on_wait(*reason, Duration::from_secs_f64(moment - now));
        }
    }

    /// Reports that a request failed and is made again after this wait.
    pub fn report_retry(&self, service: &str, error: &str, wait: Duration) {
        if let Some((_, on_wait)) = &self.on_wait {
            on_wait(WaitReason::Retry { service, error }, wait);
        }
    }

    pub(super) fn now(&self) -> f64 {
        self.started.elapsed_ms() / 1000.0
    }

    /// The value is valid even if a holder of the lock panicked.
    fn controller(&self) -> MutexGuard<'_, Controller> {
        self.controller.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update<T>(&self, change: impl FnOnce(&mut Controller, f64) -> T) -> T {
        let now = self.now();
        let changed = change(&mut self.controller(), now);
        self.changed.notify_waiters();
        changed
    }
}

/// The permission to send one request. Dropped unused, it counts as a request without a response.
pub struct Permit<'a> {
    limiter: &'a RateLimiter,
    in_flight: Option<InFlight>,
}

impl Permit<'_> {
    /// The request was served; `tokens` is its usage, where the reply reports it.
    pub fn accepted(mut self, tokens: Option<u64>, headers: &RateLimitHeaders) {
        if let Some(sent) = self.in_flight.take() {
            self.limiter.update(|controller, now| controller.accepted(now, sent, tokens.map(|it| it as f64), headers));
        }
    }

    /// The request was refused by a rate limit, which may ask for a wait.
    pub fn refused(mut self, retry_after: Option<Duration>, headers: &RateLimitHeaders) {
        if let Some(sent) = self.in_flight.take() {
            let retry_after = retry_after.map(|asked| asked.as_secs_f64());
            self.limiter.update(|controller, now| controller.refused(now, sent, retry_after, headers));
        }
    }

    /// The request was refused for others of ours that are served.
    pub(super) fn refused_for_others(mut self, retry_after: Option<Duration>) {
        if let Some(sent) = self.in_flight.take() {
            let retry_after = retry_after.map(|asked| asked.as_secs_f64());
            self.limiter.update(|controller, now| controller.refused_for_others(now, sent, retry_after));
        }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if let Some(sent) = self.in_flight.take() {
            self.limiter.update(|controller, _| controller.lost(sent));
        }
    }
}
