//! Rate limits. All requests to an endpoint with one key wait in one queue ([`RateLimiter`]): those of persona and judge, of
//! all trials. The agent under test has one too ([`TargetLimiter`]), for all conversations with it.
//!
//! In: requests that want to be sent, and what became of them: accepted, refused, rate-limit headers. Out: a [`Permit`] for
//! each, when it may be sent, or [`RateLimitExhausted`].
//!
//! Invariants: the queue is fair, and leaving it costs nothing; a refusal of one request applies to all. While nothing is
//! known, requests pass as they come. A refusal (429) slows all down at once and by a factor; time without refusals speeds up
//! by small steps (AIMD). Where the endpoint reports the remaining requests in its headers, they are spread over the time
//! until the reset. Where everything is refused, single requests are let through at growing intervals, and in the end all
//! that wait get [`RateLimitExhausted`].
//!
//! [`controller`] has the rules, with the time as an argument; [`queue`] runs them by the real clock.

mod backoff;
mod controller;
mod conversation;
mod headers;
mod queue;
mod rate;
mod target;
mod waitlist;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::clock::Clock;
use crate::secret::Secret;

pub use crate::retry::{OnWait, WaitReason};
pub use backoff::BackoffPolicy;
pub use conversation::{AfterRefusal, ConversationLimiter, Refusals};
pub use headers::{RateLimitHeaders, RateLimitWindow};
pub use queue::{Permit, RateLimitExhausted, RateLimiter, Waiter};
pub use target::TargetLimiter;

/// The limiters of all endpoints and keys of a run.
pub struct Limiters {
    clock: Clock,
    rng_seed: u64,
    on_wait: Option<Arc<OnWait>>,
    by_endpoint: Mutex<HashMap<(String, String), Arc<RateLimiter>>>,
}

impl Limiters {
    /// No limiter yet; all of them report their waits to `on_wait`.
    pub fn new(clock: Clock, rng_seed: u64, on_wait: Option<Arc<OnWait>>) -> Limiters {
        Limiters { clock, rng_seed, on_wait, by_endpoint: Mutex::default() }
    }

    /// The one limiter of this endpoint and key.
    pub fn limiter(&self, base_url: &str, key: Option<&Secret>) -> Arc<RateLimiter> {
        let key = key.map(|key| key.expose().to_owned()).unwrap_or_default();
        let Limiters { clock, rng_seed, on_wait, by_endpoint } = self;
        let mut by_endpoint = by_endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = by_endpoint.entry((base_url.trim_end_matches('/').to_owned(), key)).or_insert_with(|| {
            let on_wait = on_wait.clone().map(|on_wait| (WaitReason::Model, on_wait));
            Arc::new(RateLimiter::new(*clock, BackoffPolicy::MODEL, *rng_seed, on_wait))
        });
        limiter.clone()
    }
}
