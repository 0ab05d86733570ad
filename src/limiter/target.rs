//! The limiter of an agent: what all conversations of a run with one target share.
//!
//! Invariants: an agent that refuses a request (429, or 503 with `Retry-After`) while other conversations of ours are open
//! may be refusing the crowd, so all of them go slower, and nobody's failure is counted; one that refuses the only
//! conversation is at fault, after some patience.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{Concerns, Pauses, Permit, RateLimiter, Storm, Telling, Told};
use crate::clock::{Clock, Stopwatch};

/// How long one conversation is refused while others are not, until that is the agent's fault.
const OWN_PATIENCE: Duration = Duration::from_secs(60);

/// The limiter of the agent under test.
pub struct TargetLimiter {
    shared: Arc<Shared>,
}

struct Shared {
    limiter: RateLimiter,
    clock: Clock,
    /// Conversations that are open.
    open: AtomicU32,
}

/// How often the agent refused a request of a conversation because of others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusals {
    /// Requests that were refused.
    pub requests: u32,
    /// The most conversations that were open meanwhile.
    pub conversations: u32,
}

/// A conversation's place among those that are open. The default stands alone, with no limiter at all.
#[derive(Clone, Default)]
pub struct Place(Option<Arc<Seat>>);

struct Seat {
    shared: Arc<Shared>,
    requests: AtomicU32,
    conversations: AtomicU32,
    waited_us: AtomicU64,
    /// Since when it is refused whatever it asks.
    refused: Mutex<Option<Stopwatch>>,
}

impl TargetLimiter {
    /// A limiter of an agent about which nothing is known yet; `telling` hears of long waits.
    pub fn new(clock: Clock, rng_seed: u64, telling: Option<Arc<Telling>>) -> TargetLimiter {
        TargetLimiter::with_pauses(clock, rng_seed, Pauses::AGENT, telling)
    }

    fn with_pauses(clock: Clock, rng_seed: u64, pauses: Pauses, telling: Option<Arc<Telling>>) -> TargetLimiter {
        let limiter = RateLimiter::new(clock, pauses, rng_seed, telling);
        TargetLimiter { shared: Arc::new(Shared { limiter, clock, open: AtomicU32::new(0) }) }
    }

    /// A conversation begins; it is over when all clones of its place are dropped.
    pub fn enter(&self) -> Place {
        self.shared.open.fetch_add(1, Ordering::SeqCst);
        Place(Some(Arc::new(Seat {
            shared: self.shared.clone(),
            requests: AtomicU32::new(0),
            conversations: AtomicU32::new(0),
            waited_us: AtomicU64::new(0),
            refused: Mutex::new(None),
        })))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.shared.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What a refusal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// Other conversations are open: nobody has failed.
    Crowd,
    /// It is the agent's failure, and may be asked again when the limiter says so.
    Agent,
    /// It is the agent's failure, and enough was asked.
    Enough,
}

impl Place {
    /// Waits until a request may be sent; `None` where nothing limits.
    ///
    /// # Errors
    /// Nothing was let through for too long.
    pub async fn admit(&self) -> Result<Option<Permit<'_>>, Storm> {
        let Some(seat) = &self.0 else { return Ok(None) };
        let since = seat.shared.clock.start();
        let waiting = Waiting { seat, since };
        let limiter = &seat.shared.limiter;
        let permit = limiter.admit(limiter.arrive(), 1.0).await;
        drop(waiting);
        permit.map(Some)
    }

    /// A request was answered.
    pub fn answered(&self, permit: Option<Permit<'_>>) {
        let (Some(seat), Some(permit)) = (&self.0, permit) else { return };
        *seat.refused.lock().unwrap_or_else(PoisonError::into_inner) = None;
        permit.accepted(None, &Told::default());
    }

    /// A request was refused; the wait that the agent asks for. `None` where nothing limits.
    pub fn refused(&self, permit: Option<Permit<'_>>, asked: Option<Duration>) -> Option<Blame> {
        let (Some(seat), Some(permit)) = (&self.0, permit) else { return None };
        let is_storm = permit.refused(Concerns::Unknown, asked, &Told::default());
        let mut refused = seat.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let since = refused.get_or_insert_with(|| seat.shared.clock.start());
        let is_too_long = since.elapsed_ms() >= OWN_PATIENCE.as_secs_f64() * 1000.0;
        let open = seat.shared.open.load(Ordering::SeqCst);
        if is_storm || is_too_long {
            return Some(Blame::Enough);
        }
        if open < 2 {
            return Some(Blame::Agent);
        }
        seat.requests.fetch_add(1, Ordering::Relaxed);
        seat.conversations.fetch_max(open, Ordering::Relaxed);
        Some(Blame::Crowd)
    }

    /// How often the agent refused because of others.
    pub fn refusals(&self) -> Option<Refusals> {
        let seat = self.0.as_ref()?;
        let of = |count: &AtomicU32| count.load(Ordering::Relaxed);
        let refusals = Refusals { requests: of(&seat.requests), conversations: of(&seat.conversations) };
        (refusals.requests > 0).then_some(refusals)
    }

    /// The milliseconds for which requests have waited for the others' sake since this was last asked.
    pub fn take_waited_ms(&self) -> f64 {
        let waited = self.0.as_ref().map_or(0, |seat| seat.waited_us.swap(0, Ordering::Relaxed));
        waited as f64 / 1000.0
    }
}

/// Notes how long somebody has waited, also if nobody waits to the end.
struct Waiting<'a> {
    seat: &'a Seat,
    since: Stopwatch,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // Alone it is the agent that is waited for.
        if self.seat.shared.open.load(Ordering::SeqCst) > 1 {
            let waited = (self.since.elapsed_ms() * 1000.0) as u64;
            self.seat.waited_us.fetch_add(waited, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: Pauses = Pauses { first: 0.002, longest: 0.01, patience: 0.05, ..Pauses::AGENT };

    fn limiter() -> TargetLimiter {
        TargetLimiter::with_pauses(Clock::system(), 1, QUICK, None)
    }

    #[tokio::test]
    async fn who_is_alone_meets_an_agent_at_fault_after_some_patience() {
        let limiter = limiter();
        let place = limiter.enter();
        let mut blames = Vec::new();
        while blames.last() != Some(&Blame::Enough) {
            let permit = place.admit().await.unwrap();
            blames.push(place.refused(permit, None).unwrap());
        }
        assert!(blames.len() >= 4 && blames.len() <= 20, "{blames:?}");
        assert!(blames[..blames.len() - 1].iter().all(|blame| *blame == Blame::Agent), "{blames:?}");
        assert_eq!(place.refusals(), None);
    }

    #[tokio::test]
    async fn a_refusal_while_others_are_open_is_nobodys_failure_and_is_counted() {
        let limiter = limiter();
        let (one, other) = (limiter.enter(), limiter.enter());
        let (first, second) = (one.admit().await.unwrap(), other.admit().await.unwrap());
        assert_eq!(one.refused(first, None), Some(Blame::Crowd));
        other.answered(second);
        assert_eq!(one.refusals(), Some(Refusals { requests: 1, conversations: 2 }));
        assert_eq!(other.refusals(), None);
        drop(other);
        let again = one.admit().await.unwrap();
        assert_eq!(one.refused(again, None), Some(Blame::Agent));
    }

    /// An agent that serves two at once, 20 conversations of 10 messages each: all are answered, few are refused.
    #[tokio::test]
    async fn the_number_of_requests_at_once_settles_where_an_agent_takes_them() {
        let limiter = limiter();
        let (serving, refusals, served) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0));
        let talk = async || {
            let place = limiter.enter();
            let mut left = 10;
            while left > 0 {
                let permit = place.admit().await.unwrap();
                if serving.fetch_add(1, Ordering::SeqCst) >= 2 {
                    serving.fetch_sub(1, Ordering::SeqCst);
                    refusals.fetch_add(1, Ordering::SeqCst);
                    assert_eq!(place.refused(permit, None), Some(Blame::Crowd));
                    continue;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
                serving.fetch_sub(1, Ordering::SeqCst);
                served.fetch_add(1, Ordering::SeqCst);
                place.answered(permit);
                left -= 1;
            }
            // Whoever is done first leaves the others in company.
            place
        };
        let places = futures_util::future::join_all((0..20).map(|_| talk())).await;
        assert_eq!((places.len(), served.into_inner()), (20, 200));
        let refusals = refusals.into_inner();
        assert!(refusals <= 60, "{refusals}");
    }
}
