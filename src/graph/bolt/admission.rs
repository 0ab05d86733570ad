//! Where connections wait until their clients have shown the password, and what slows guessing down.
//!
//! Those inside have places of their own, which nobody outside can take. Outside there is always room for a newcomer:
//! when it is full, the one who has got least far for longest has to go. So idle connections, however many, keep nobody
//! out who says the password.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::{Clock, Stopwatch};

/// The progress of a client's handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HandshakeProgress {
    /// It is connected.
    Connected,
    /// It speaks Bolt.
    Speaks,
    /// It has sent a password and waits for the answer.
    Waits,
}

/// The connections whose clients have not shown the password.
#[derive(Debug)]
pub(super) struct PendingClients {
    most: usize,
    waiting: Mutex<PendingCounts>,
}

#[derive(Debug, Default)]
struct PendingCounts {
    next: u64,
    clients: BTreeMap<u64, (HandshakeProgress, CancellationToken)>,
}

impl PendingClients {
    pub(super) fn new(most: usize) -> Arc<PendingClients> {
        Arc::new(PendingClients { most: most.max(1), waiting: Mutex::default() })
    }

    /// Admits a new connection; another one may be closed for it.
    pub(super) fn enter(self: &Arc<PendingClients>) -> PendingClient {
        let mut waiting = self.waiting();
        if waiting.clients.len() >= self.most {
            let least = waiting.clients.iter().min_by_key(|(number, (progress, _))| (*progress, **number));
            if let Some(number) = least.map(|(number, _)| *number)
                && let Some((_, evicted)) = waiting.clients.remove(&number)
            {
                evicted.cancel();
            }
        }
        let (number, evicted) = (waiting.next, CancellationToken::new());
        waiting.next += 1;
        waiting.clients.insert(number, (HandshakeProgress::Connected, evicted.clone()));
        PendingClient { pending: Arc::clone(self), number, evicted }
    }

    fn waiting(&self) -> MutexGuard<'_, PendingCounts> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that is not authenticated yet, until it is dropped.
#[derive(Debug)]
pub(super) struct PendingClient {
    pending: Arc<PendingClients>,
    number: u64,
    evicted: CancellationToken,
}

impl PendingClient {
    /// Cancelled when it has to leave.
    pub(super) fn eviction_token(&self) -> CancellationToken {
        self.evicted.clone()
    }

    pub(super) fn reached(&self, progress: HandshakeProgress) {
        if let Some((reached, _)) = self.pending.waiting().clients.get_mut(&self.number) {
            *reached = progress;
        }
    }
}

impl Drop for PendingClient {
    fn drop(&mut self) {
        self.pending.waiting().clients.remove(&self.number);
    }
}

/// Every wrong password makes the next answers come later, whichever they are: a client that guesses learns nothing from
/// not waiting, and one that knows the password is late by a second at most. Those that were wrong are answered one after
/// the other, however many guess at the same time.
#[derive(Debug)]
pub(super) struct LoginThrottle {
    clock: Clock,
    failures: Mutex<(u32, Option<Stopwatch>)>,
    /// When the last wrong password was answered. It is waited for in the order of asking; who leaves gives up the turn.
    last_answer: tokio::sync::Mutex<Option<Stopwatch>>,
}

/// The time between two answers to wrong passwords.
const BETWEEN: Duration = Duration::from_millis(200);

/// The delay after one failure; it doubles with each.
const FIRST: Duration = Duration::from_millis(50);

/// The longest delay.
const LONGEST: Duration = Duration::from_secs(1);

/// The milliseconds without a failure after which one failure is forgotten.
const FAILURE_DECAY_MS: f64 = 5_000.0;

impl LoginThrottle {
    pub(super) fn new(clock: Clock) -> LoginThrottle {
        LoginThrottle { clock, failures: Mutex::default(), last_answer: tokio::sync::Mutex::default() }
    }

    /// The delay of the next answer.
    pub(super) fn delay(&self) -> Duration {
        match self.failures() {
            0 => Duration::ZERO,
            failures => FIRST.saturating_mul(1 << (failures - 1).min(16)).min(LONGEST),
        }
    }

    /// Counts a wrong password, and waits until its client may be answered.
    pub(super) async fn failed(&self) {
        self.count();
        let mut last_answer = self.last_answer.lock().await;
        let since =
            last_answer.as_ref().map_or(BETWEEN, |last| Duration::from_secs_f64(last.elapsed_ms().max(0.0) / 1000.0));
        tokio::time::sleep(BETWEEN.saturating_sub(since)).await;
        *last_answer = Some(self.clock.start());
    }

    fn count(&self) {
        let failures = self.failures().saturating_add(1).min(32);
        *self.state() = (failures, Some(self.clock.start()));
    }

    fn failures(&self) -> u32 {
        let (failures, last) = *self.state();
        let forgotten = last.map_or(0.0, |last| last.elapsed_ms() / FAILURE_DECAY_MS);
        failures.saturating_sub(forgotten as u32)
    }

    fn state(&self) -> MutexGuard<'_, (u32, Option<Stopwatch>)> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_always_room_for_a_newcomer() {
        let pending = PendingClients::new(3);
        let speaks = pending.enter();
        speaks.reached(HandshakeProgress::Speaks);
        let (first, second) = (pending.enter(), pending.enter());
        let third = pending.enter();
        assert!(first.eviction_token().is_cancelled(), "the one that is idle for longest goes");
        assert!(!speaks.eviction_token().is_cancelled() && !second.eviction_token().is_cancelled());
        second.reached(HandshakeProgress::Waits);
        third.reached(HandshakeProgress::Waits);
        let fourth = pending.enter();
        assert!(speaks.eviction_token().is_cancelled(), "then the one that has only spoken");
        drop((second, third));
        let more = (pending.enter(), pending.enter());
        assert!(!fourth.eviction_token().is_cancelled() && !more.0.eviction_token().is_cancelled());
    }

    #[test]
    fn each_wrong_password_slows_the_next_answer_down() {
        let throttle = LoginThrottle::new(Clock::system());
        assert_eq!(throttle.delay(), Duration::ZERO);
        let delays: Vec<u128> = (0..8)
            .map(|_| {
                throttle.count();
                throttle.delay().as_millis()
            })
            .collect();
        assert_eq!(delays, [50, 100, 200, 400, 800, 1000, 1000, 1000]);
        (0..100).for_each(|_| throttle.count());
        assert_eq!(throttle.delay(), LONGEST);
    }

    #[tokio::test]
    async fn simultaneous_guesses_are_answered_one_after_the_other() {
        let (throttle, stopwatch) = (LoginThrottle::new(Clock::system()), Clock::system().start());
        throttle.failed().await;
        assert!(stopwatch.elapsed_ms() < 200.0, "the first one is answered at once");
        tokio::join!(throttle.failed(), throttle.failed(), throttle.failed());
        assert!(stopwatch.elapsed_ms() >= 590.0, "{}", stopwatch.elapsed_ms());
    }
}
