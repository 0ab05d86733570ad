//! One gate for all requests to an endpoint with one key: persona and judge of all trials queue at it. The agent under test
//! has one too ([`TargetLimiter`]), at which all conversations with it queue.
//!
//! Invariants: the queue is fair, and leaving it costs nothing; nobody who waits sends; what is learned from one refusal
//! holds for all. While nothing is known, requests pass as they come. A refusal (429) slows all down at once and by a
//! factor; quiet time speeds up by small steps. Where the endpoint says in its headers what is left, that is spread over
//! the time it must last, and nothing is found out by being refused. A storm of refusals lets single requests through,
//! further and further apart, and ends: whoever waits is then sent away.
//!
//! [`gate`] holds the rules, a value to which the time is an argument; here they meet the real clock.

mod gate;
mod pace;
#[cfg(test)]
mod simulation;
mod target;
mod told;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use crate::clock::{Clock, Stopwatch};
use crate::secret::Secret;

pub use gate::{Concerns, Pauses};
use gate::{Gate, Ticket, Verdict};
pub use target::{Blame, Place, Refusals, TargetLimiter};
pub use told::{Allowance, Told};

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// A model of our own.
    Model,
    /// The agent under test, which refuses requests.
    Agent,
    /// The agent's own first words.
    Greeting,
}

/// Takes how long somebody is going to wait.
pub type Telling = dyn Fn(Awaited, Duration) + Send + Sync;

/// Shorter waits are not worth a word.
const WORTH_TELLING: f64 = 2.0;

/// The gate of one endpoint and key.
pub struct RateLimiter {
    started: Stopwatch,
    gate: Mutex<Gate>,
    /// Whoever holds it is the first of the queue; tokio's lock is fair.
    first: tokio::sync::Mutex<()>,
    changed: Notify,
    telling: Option<(Awaited, Arc<Telling>)>,
    /// When the wait that was last told is over.
    told_until: Mutex<f64>,
}

/// The queue was sent away: nothing was let through for too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storm;

/// Since when somebody is waiting: what was before is not their storm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Visit(u64);

impl RateLimiter {
    /// A gate about which nothing is known yet. The `rng_seed` draws what keeps several processes from knocking at once.
    pub fn new(clock: Clock, pauses: Pauses, rng_seed: u64, telling: Option<(Awaited, Arc<Telling>)>) -> RateLimiter {
        RateLimiter {
            started: clock.start(),
            gate: Mutex::new(Gate::new(pauses, rng_seed)),
            first: tokio::sync::Mutex::default(),
            changed: Notify::new(),
            telling,
            told_until: Mutex::new(0.0),
        }
    }

    /// Somebody who wants to send something, now or later.
    pub fn arrive(&self) -> Visit {
        Visit(self.gate().storms())
    }

    /// Waits until a request of about so many tokens, prompt and reply, may be sent. Dropping the future leaves the queue.
    ///
    /// # Errors
    /// The storm that has sent everybody away since they arrived.
    pub async fn admit(&self, visit: Visit, tokens: f64) -> Result<Permit<'_>, Storm> {
        if self.gate().is_hopeless(self.now()) {
            return Err(Storm);
        }
        let _first = self.first.lock().await;
        loop {
            // Before the gate is asked, so that no change in between is missed.
            let changed = self.changed.notified();
            let now = self.now();
            let verdict = {
                let mut gate = self.gate();
                if gate.storms() != visit.0 {
                    return Err(Storm);
                }
                gate.ask(now, tokens)
            };
            match verdict {
                Verdict::Go(ticket) => return Ok(Permit { limiter: self, ticket: Some(ticket) }),
                Verdict::AfterAReply => changed.await,
                Verdict::At(moment) => {
                    self.tell(now, moment);
                    let wait = Duration::try_from_secs_f64(moment - now).unwrap_or(Duration::from_millis(1));
                    tokio::select! {
                        () = tokio::time::sleep(wait.max(Duration::from_millis(1))) => {}
                        () = changed => {}
                    }
                }
            }
        }
    }

    fn tell(&self, now: f64, moment: f64) {
        let mut told_until = self.told_until.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((queue, telling)) = &self.telling
            && moment - now >= WORTH_TELLING
            && now >= *told_until
        {
            *told_until = moment;
            telling(*queue, Duration::from_secs_f64(moment - now));
        }
    }

    fn now(&self) -> f64 {
        self.started.elapsed_ms() / 1000.0
    }

    /// Whatever panicked while it held the gate left a value behind that still counts.
    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle<T>(&self, change: impl FnOnce(&mut Gate, f64) -> T) -> T {
        let now = self.now();
        let changed = change(&mut self.gate(), now);
        self.changed.notify_waiters();
        changed
    }
}

/// The right to send one request. Dropped without a word, it counts as a request of which nothing came back.
pub struct Permit<'a> {
    limiter: &'a RateLimiter,
    ticket: Option<Ticket>,
}

impl Permit<'_> {
    /// The endpoint has worked for it; the tokens, where it said how many.
    pub fn accepted(mut self, tokens: Option<u64>, told: &Told) {
        if let Some(ticket) = self.ticket.take() {
            self.limiter.settle(|gate, now| gate.accepted(now, ticket, tokens.map(|tokens| tokens as f64), told));
        }
    }

    /// It was refused by a rate limit: which one, if it says so, and the wait that it asks for. Whether that was enough to
    /// send the queue away.
    pub fn refused(mut self, concerns: Concerns, asked: Option<Duration>, told: &Told) -> bool {
        self.ticket.take().is_some_and(|ticket| {
            let asked = asked.map(|asked| asked.as_secs_f64());
            self.limiter.settle(|gate, now| gate.refused(now, ticket, concerns, asked, told))
        })
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.limiter.settle(|gate, _| gate.lost(ticket));
        }
    }
}

/// The gates of all endpoints and keys of a run.
pub struct Limiters {
    clock: Clock,
    rng_seed: u64,
    telling: Option<Arc<Telling>>,
    gates: HashMap<(String, String), Arc<RateLimiter>>,
}

impl Limiters {
    /// No gate yet; each tells its waits to the same ear.
    pub fn new(clock: Clock, rng_seed: u64, telling: Option<Arc<Telling>>) -> Limiters {
        Limiters { clock, rng_seed, telling, gates: HashMap::new() }
    }

    /// The one gate of this endpoint and key.
    pub fn of(&mut self, base_url: &str, key: Option<&Secret>) -> Arc<RateLimiter> {
        let key = key.map(|key| key.expose().to_owned()).unwrap_or_default();
        let Limiters { clock, rng_seed, telling, gates } = self;
        let gate = gates.entry((base_url.trim_end_matches('/').to_owned(), key)).or_insert_with(|| {
            let telling = telling.clone().map(|telling| (Awaited::Model, telling));
            Arc::new(RateLimiter::new(*clock, Pauses::MODEL, *rng_seed, telling))
        });
        gate.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const QUICK: Pauses = Pauses { first: 0.001, factor: 2.0, longest: 0.01, asked_cap: 0.01, ..Pauses::MODEL };

    #[tokio::test]
    async fn a_storm_ends_for_all_who_wait_and_never_multiplies_requests() {
        let limiter = RateLimiter::new(Clock::system(), QUICK, 1, None);
        let sent = AtomicUsize::new(0);
        let call = async || {
            let visit = limiter.arrive();
            while let Ok(permit) = limiter.admit(visit, 100.0).await {
                sent.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                permit.refused(Concerns::Unknown, None, &Told::default());
            }
        };
        futures_util::future::join_all((0..50).map(|_| call())).await;
        let sent = sent.into_inner();
        assert!((5..=20).contains(&sent), "{sent} requests of 50 callers");
    }

    #[tokio::test]
    async fn whoever_leaves_the_queue_holds_nobody_up() {
        let slow = Pauses { first: 3600.0, factor: 1.0, longest: 3600.0, asked_cap: 3600.0, ..Pauses::MODEL };
        let limiter = RateLimiter::new(Clock::system(), slow, 1, None);
        let visit = limiter.arrive();
        let other = limiter.admit(visit, 1.0).await.unwrap();
        limiter.admit(visit, 1.0).await.unwrap().refused(Concerns::Unknown, None, &Told::default());
        let mut waiting = Box::pin(limiter.admit(visit, 1.0));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let mut second = Box::pin(limiter.admit(visit, 1.0));
        assert!(futures_util::poll!(&mut second).is_pending());
        drop(waiting);
        assert!(futures_util::poll!(&mut second).is_pending(), "the pause is everybody's");
        drop(other);
        drop(second);
        assert!(limiter.first.try_lock().is_ok());
    }

    #[tokio::test]
    async fn the_first_of_the_queue_tells_once_how_long_it_waits() {
        let told: Arc<Mutex<Vec<u64>>> = Arc::default();
        let ear = told.clone();
        let telling: Arc<Telling> = Arc::new(move |_, wait| ear.lock().unwrap().push(wait.as_secs()));
        let limiter = RateLimiter::new(Clock::system(), Pauses::MODEL, 1, Some((Awaited::Model, telling)));
        let visit = limiter.arrive();
        let permit = limiter.admit(visit, 1.0).await.unwrap();
        permit.refused(Concerns::Requests, Some(Duration::from_secs(30)), &Told::default());
        for _ in 0..3 {
            let mut waiting = Box::pin(limiter.admit(visit, 1.0));
            assert!(futures_util::poll!(&mut waiting).is_pending());
        }
        let told = told.lock().unwrap().clone();
        assert!(told.len() == 1 && (29..=34).contains(&told[0]), "{told:?}");
    }

    #[test]
    fn an_endpoint_with_one_key_has_one_gate() {
        let mut limiters = Limiters::new(Clock::system(), 1, None);
        let (one, two) = (Secret::new("one"), Secret::new("two"));
        let gate = limiters.of("http://h/v1", Some(&one));
        assert!(Arc::ptr_eq(&gate, &limiters.of("http://h/v1/", Some(&one))));
        assert!(!Arc::ptr_eq(&gate, &limiters.of("http://h/v1", Some(&two))));
        assert!(!Arc::ptr_eq(&gate, &limiters.of("http://other/v1", Some(&one))));
    }
}
