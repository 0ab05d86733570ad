//! The limiter of an agent: what all conversations of a run with one target share.
//!
//! Invariants: an agent that refuses a request (429, or 503 with `Retry-After`) while other conversations of ours are open
//! may be refusing the crowd, so all of them go slower, and nobody's failure is counted, also where it never ends; one that
//! refuses the only conversation is at fault, after some patience.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Awaited, Concerns, Pauses, Permit, RateLimiter, Storm, Telling, Told};
use crate::clock::{Clock, Stopwatch};

/// How long a conversation is refused, whatever waits the agent asks for, until nothing more is asked of it.
const OWN_PATIENCE: Duration = Duration::from_secs(60);

/// How long an agent refuses whatever it is asked, with no message answered in between, until the conversations beside
/// others wait for it no more: each tries once, and they learn from each other. Those that are alone go by their own time.
const IN_VAIN: Duration = Duration::from_secs(45);

/// The limiter of the agent under test.
pub struct TargetLimiter {
    shared: Arc<Shared>,
    pauses: Pauses,
    rng_seed: u64,
    telling: Option<Arc<Telling>>,
}

struct Shared {
    limiter: RateLimiter,
    clock: Clock,
    /// Milliseconds of nothing but refusals that show a lone conversation enough.
    patience_ms: f64,
    crowd: Mutex<Crowd>,
    /// Since when nothing was served beside others, and since when to lone conversations.
    unserved: Mutex<Unserved>,
    in_vain: Duration,
}

#[derive(Default)]
struct Unserved {
    crowd: Option<Stopwatch>,
    alone: Option<Stopwatch>,
}

/// The conversations that are open, and how long there was more than one.
#[derive(Default)]
struct Crowd {
    open: u32,
    since: Option<Stopwatch>,
    before_ms: f64,
}

impl Crowd {
    fn elapsed_ms(&self) -> f64 {
        self.before_ms + self.since.map_or(0.0, |since| since.elapsed_ms())
    }
}

impl Shared {
    fn crowd(&self) -> MutexGuard<'_, Crowd> {
        unpoisoned(&self.crowd)
    }

    fn enter(&self) {
        let mut crowd = self.crowd();
        crowd.open += 1;
        if crowd.open == 2 {
            crowd.since = Some(self.clock.start());
        }
    }

    fn served(&self) {
        *unpoisoned(&self.unserved) = Unserved::default();
    }

    /// Whether refusals have lasted too long for another wait. Notes this one.
    fn is_in_vain(&self, is_alone: bool) -> bool {
        let mut unserved = unpoisoned(&self.unserved);
        let since = if is_alone { &mut unserved.alone } else { &mut unserved.crowd };
        since.get_or_insert_with(|| self.clock.start()).elapsed_ms() >= self.in_vain.as_secs_f64() * 1000.0
    }

    /// How long a request beside others may still wait.
    fn left(&self) -> Duration {
        let passed_ms = unpoisoned(&self.unserved).crowd.map_or(0.0, |since| since.elapsed_ms());
        self.in_vain.saturating_sub(Duration::from_secs_f64(passed_ms / 1000.0))
    }

    fn leave(&self) {
        let mut crowd = self.crowd();
        crowd.open = crowd.open.saturating_sub(1);
        if crowd.open < 2 {
            (crowd.before_ms, crowd.since) = (crowd.elapsed_ms(), None);
        }
    }
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
    notes: Mutex<Notes>,
}

/// What a conversation knows of its refusals and waits.
#[derive(Default)]
struct Notes {
    refusals: Refusals,
    /// Since when it is refused whatever it asks, and since when that can't be for others' sake.
    refused: Option<Stopwatch>,
    refused_alone: Option<Stopwatch>,
    waited_ms: f64,
    /// Whether anything was answered, and whether the last was refused for good.
    is_answered: bool,
    is_given_up: bool,
    /// Refusals of a lone conversation since it was answered last: a limit, if it is answered again, else a failure.
    alone: u32,
}

impl TargetLimiter {
    /// A limiter of an agent about which nothing is known yet; `telling` hears of long waits.
    pub fn new(clock: Clock, rng_seed: u64, telling: Option<Arc<Telling>>) -> TargetLimiter {
        TargetLimiter::with_pauses(clock, rng_seed, Pauses::AGENT, telling)
    }

    fn with_pauses(clock: Clock, rng_seed: u64, pauses: Pauses, telling: Option<Arc<Telling>>) -> TargetLimiter {
        let ear = telling.clone().map(|telling| (Awaited::Agent, telling));
        let limiter = RateLimiter::new(clock, pauses, rng_seed, ear);
        let patience_ms = pauses.patience * 1000.0;
        let shared = Arc::new(Shared {
            limiter,
            clock,
            patience_ms,
            crowd: Mutex::default(),
            unserved: Mutex::default(),
            in_vain: IN_VAIN.mul_f64((pauses.patience / Pauses::AGENT.patience).min(1.0)),
        });
        TargetLimiter { shared, pauses, rng_seed, telling }
    }

    /// A conversation begins; it is over when all clones of its place are dropped.
    pub fn enter(&self) -> Place {
        self.shared.enter();
        Place(Some(Arc::new(Seat { shared: self.shared.clone(), notes: Mutex::default() })))
    }

    /// A conversation begins with an agent of its own: nobody else's requests reach that one.
    pub fn enter_alone(&self) -> Place {
        TargetLimiter::with_pauses(self.shared.clock, self.rng_seed, self.pauses, self.telling.clone()).enter()
    }
}

impl Seat {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        unpoisoned(&self.notes)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let notes = self.notes();
        if notes.is_answered && !notes.is_given_up {
            self.shared.served();
        }
        drop(notes);
        self.shared.leave();
    }
}

/// What a refusal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blame {
    /// Other conversations are open: nobody has failed.
    Crowd,
    /// The same, and enough was asked: nobody can tell whether the agent would serve one alone.
    CrowdForLong,
    /// Nobody else is there, and it may be asked again when the limiter says so: a limit that is honoured is no failure.
    Agent,
    /// It is the agent's failure, and enough was asked.
    Enough,
}

impl Place {
    /// Waits until a request may be sent; `None` where nothing limits.
    ///
    /// # Errors
    /// Nothing was let through for too long, while others were open.
    pub async fn admit(&self) -> Result<Option<Permit<'_>>, Storm> {
        let Some(seat) = &self.0 else { return Ok(None) };
        let waiting = Waiting { seat, crowded_ms: seat.shared.crowd().elapsed_ms() };
        let (shared, limiter) = (&seat.shared, &seat.shared.limiter);
        let visit = limiter.arrive();
        let permit = loop {
            match tokio::time::timeout(shared.left(), limiter.admit(visit, 1.0)).await {
                Ok(permit) => break permit,
                Err(_) if shared.crowd().open < 2 => break limiter.admit(visit, 1.0).await,
                Err(_) if shared.left().is_zero() => break Err(Storm),
                // Something was served meanwhile.
                Err(_) => {}
            }
        };
        drop(waiting);
        seat.notes().is_given_up |= permit.is_err();
        permit.map(Some)
    }

    /// A request was answered.
    pub fn answered(&self, permit: Option<Permit<'_>>) {
        let (Some(seat), Some(permit)) = (&self.0, permit) else { return };
        let mut notes = seat.notes();
        // That a session is opened shows nothing yet.
        if notes.is_answered || notes.refused.is_some() {
            seat.shared.served();
        }
        notes.is_answered = true;
        notes.refusals.requests += std::mem::take(&mut notes.alone);
        notes.refusals.conversations = notes.refusals.conversations.max(u32::from(notes.refusals.requests > 0));
        (notes.refused, notes.refused_alone) = (None, None);
        permit.accepted(None, &Told::default());
    }

    /// A request was refused; the wait that the agent asks for. `None` where nothing limits.
    pub fn refused(&self, permit: Option<Permit<'_>>, asked: Option<Duration>) -> Option<Blame> {
        let (Some(seat), Some(permit)) = (&self.0, permit) else { return None };
        let is_storm = permit.refused(Concerns::Unknown, asked, &Told::default());
        let shared = &seat.shared;
        let open = shared.crowd().open;
        let mut notes = seat.notes();
        let is_too_long = |since: Stopwatch| since.elapsed_ms() >= OWN_PATIENCE.as_secs_f64() * 1000.0;
        let since = *notes.refused.get_or_insert_with(|| shared.clock.start());
        if open >= 2 {
            notes.refused_alone = None;
            notes.refusals.requests += 1;
            notes.refusals.conversations = notes.refusals.conversations.max(open);
            let is_enough = shared.is_in_vain(false) || is_storm || is_too_long(since);
            notes.is_given_up |= is_enough;
            return Some(if is_enough { Blame::CrowdForLong } else { Blame::Crowd });
        }
        let alone = *notes.refused_alone.get_or_insert_with(|| shared.clock.start());
        // A storm may have been raised by others who have gone; half of the patience is waits that the end foresees.
        let is_own_storm = is_storm && alone.elapsed_ms() >= shared.patience_ms / 2.0;
        let is_enough = shared.is_in_vain(true) || is_own_storm || is_too_long(alone);
        notes.is_given_up |= is_enough;
        notes.alone += 1;
        Some(if is_enough { Blame::Enough } else { Blame::Agent })
    }

    /// How often the agent refused because of others.
    pub fn refusals(&self) -> Option<Refusals> {
        let refusals = self.0.as_ref()?.notes().refusals;
        (refusals.requests > 0).then_some(refusals)
    }

    /// The milliseconds for which requests have waited for the others' sake since this was last asked.
    pub fn take_waited_ms(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |seat| std::mem::take(&mut seat.notes().waited_ms))
    }
}

/// Notes how long somebody has waited while others were open, also if nobody waits to the end. Alone it is the agent that is
/// waited for.
struct Waiting<'a> {
    seat: &'a Seat,
    /// How long there was a crowd when it began.
    crowded_ms: f64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let waited_ms = self.seat.shared.crowd().elapsed_ms() - self.crowded_ms;
        self.seat.notes().waited_ms += waited_ms;
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

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

    #[tokio::test]
    async fn an_agent_that_refuses_a_crowd_for_ever_has_not_failed_and_the_last_one_has_patience_of_its_own() {
        let limiter = limiter();
        let (one, other) = (limiter.enter(), limiter.enter());
        // Sent away by the storm, or told that it was one: never a failure of the agent's.
        let refused = async |place: &Place| loop {
            let Ok(permit) = place.admit().await else { return };
            match place.refused(permit, None).unwrap() {
                Blame::Crowd => {}
                Blame::CrowdForLong => return,
                blame => panic!("{blame:?}"),
            }
        };
        tokio::join!(refused(&one), refused(&other));
        drop(other);
        let began = Clock::system().start();
        loop {
            let permit = one.admit().await.unwrap();
            match one.refused(permit, None).unwrap() {
                Blame::Agent => {}
                Blame::Enough => break,
                blame => panic!("{blame:?}"),
            }
        }
        assert!(began.elapsed_ms() >= QUICK.patience * 500.0, "{} ms", began.elapsed_ms());
    }

    #[tokio::test]
    async fn a_conversation_with_an_agent_of_its_own_is_alone() {
        let limiter = limiter();
        let (one, other) = (limiter.enter_alone(), limiter.enter_alone());
        let first = one.admit().await.unwrap();
        assert_eq!(one.refused(first, None), Some(Blame::Agent));
        // The other one's agent has said nothing.
        assert!(other.admit().await.unwrap().is_some());
        assert_eq!(other.take_waited_ms(), 0.0);
    }

    #[tokio::test]
    async fn only_what_was_waited_while_others_were_open_is_waited_for_them() {
        const SLOW: Pauses = Pauses { first: 0.2, longest: 0.2, ..Pauses::AGENT };
        let limiter = TargetLimiter::with_pauses(Clock::system(), 1, SLOW, None);
        let (one, other) = (limiter.enter(), limiter.enter());
        let permit = one.admit().await.unwrap();
        assert_eq!(one.refused(permit, None), Some(Blame::Crowd));
        let mut waiting = Box::pin(one.admit());
        assert!(futures_util::poll!(&mut waiting).is_pending());
        tokio::time::sleep(Duration::from_millis(40)).await;
        drop(other);
        drop(waiting.await);
        let waited = one.take_waited_ms();
        assert!((30.0..180.0).contains(&waited), "{waited} ms");
        assert_eq!(one.take_waited_ms(), 0.0);
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
