//! Conversations that an agent refuses while it serves others of ours: they take turns instead of asking again and again.
//!
//! One of them tries at a time, the next one when it was answered or at once when another conversation has ended, else further
//! and further apart. A refused request goes to the end, so that one that is refused for ever never keeps the others waiting.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Notify;

use super::target::unpoisoned;
use super::{BackoffPolicy, RateLimiter};

/// A refusal comes at once: a request that waits longer than these seconds is being served.
const REFUSED_WITHIN: f64 = 1.0;

/// The conversations that wait for their turn, by their numbers.
#[derive(Default)]
pub(super) struct Waitlist {
    state: Mutex<WaitlistState>,
    changed: Notify,
}

#[derive(Default)]
struct WaitlistState {
    waiting: VecDeque<u64>,
    /// The one that tries, and since when.
    trying: Option<(u64, f64)>,
    /// Refusals in a row.
    refusals: u32,
    /// No try before this moment; and before that one, as the agent asked for it.
    ready_at: f64,
    asked_until: f64,
}

/// The answer to a conversation that wants to try.
#[derive(Debug, PartialEq)]
enum NextTurn {
    Now,
    At(f64),
    AfterOthers,
}

impl WaitlistState {
    fn turn(&mut self, conversation: u64, now: f64) -> NextTurn {
        if self.waiting.front() != Some(&conversation) {
            return NextTurn::AfterOthers;
        }
        let tried = self.trying.map_or(f64::NEG_INFINITY, |(_, since)| since + REFUSED_WITHIN);
        let ready = self.ready_at.max(self.asked_until).max(tried);
        if ready > now {
            return NextTurn::At(ready);
        }
        self.waiting.pop_front();
        self.trying = Some((conversation, now));
        NextTurn::Now
    }

    fn leave(&mut self, conversation: u64) {
        self.waiting.retain(|other| *other != conversation);
        self.trying = self.trying.filter(|(trying, _)| *trying != conversation);
    }

    fn refused(&mut self, conversation: u64, now: f64, policy: &BackoffPolicy, retry_after: Option<f64>) {
        self.leave(conversation);
        self.waiting.push_back(conversation);
        self.refusals += 1;
        self.ready_at = now + policy.pause(self.refusals, None);
        self.asked_until = self.asked_until.max(now + policy.credible(retry_after).unwrap_or_default());
    }

    /// Capacity may be free again: the first of the list tries now.
    fn reset_pauses(&mut self) {
        self.refusals = 0;
        self.ready_at = 0.0;
    }
}

impl Waitlist {
    pub(super) fn is_empty(&self) -> bool {
        unpoisoned(&self.state).waiting.is_empty()
    }

    /// Whether a conversation waits.
    pub(super) fn has(&self, conversation: u64) -> bool {
        unpoisoned(&self.state).waiting.contains(&conversation)
    }

    /// Puts a conversation at the end, which was not refused yet.
    pub(super) fn join(&self, conversation: u64) {
        unpoisoned(&self.state).waiting.push_back(conversation);
    }

    /// Puts a conversation at the end that was refused, with the wait that the agent asks for.
    pub(super) fn refused(&self, conversation: u64, now: f64, policy: &BackoffPolicy, retry_after: Option<Duration>) {
        let asked = retry_after.map(|asked| asked.as_secs_f64());
        unpoisoned(&self.state).refused(conversation, now, policy, asked);
        self.changed.notify_waiters();
    }

    /// A conversation was answered, or has ended.
    pub(super) fn served(&self, conversation: u64) {
        let mut state = unpoisoned(&self.state);
        state.leave(conversation);
        state.reset_pauses();
        drop(state);
        self.changed.notify_waiters();
    }

    /// Waits until a conversation of the list may try.
    pub(super) async fn turn(&self, conversation: u64, limiter: &RateLimiter) {
        loop {
            // Before the list is asked, so that no change in between is missed.
            let changed = self.changed.notified();
            let now = limiter.now();
            let turn = unpoisoned(&self.state).turn(conversation, now);
            match turn {
                NextTurn::Now => {
                    // Who comes next learns when it is its turn.
                    self.changed.notify_waiters();
                    return;
                }
                NextTurn::AfterOthers => changed.await,
                NextTurn::At(moment) => {
                    limiter.report_wait(now, moment);
                    let wait = Duration::try_from_secs_f64(moment - now).unwrap_or_default();
                    tokio::select! {
                        () = tokio::time::sleep(wait.max(Duration::from_millis(1))) => {}
                        () = changed => {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_tries_at_a_time_and_whoever_is_refused_goes_to_the_end() {
        let mut list = WaitlistState { waiting: VecDeque::from([1, 2, 3]), ..WaitlistState::default() };
        assert_eq!(list.turn(2, 0.0), NextTurn::AfterOthers);
        assert_eq!(list.turn(1, 0.0), NextTurn::Now);
        assert_eq!(list.turn(2, 0.1), NextTurn::At(REFUSED_WITHIN), "who waits for a reply that long is being served");
        list.refused(1, 0.2, &BackoffPolicy::AGENT, None);
        assert_eq!(list.turn(2, 0.2), NextTurn::At(0.45));
        assert_eq!(list.turn(2, 0.5), NextTurn::Now);
        list.refused(2, 0.5, &BackoffPolicy::AGENT, Some(5.0));
        assert_eq!(list.turn(3, 0.6), NextTurn::At(5.5), "the agent asked for it");
        list.reset_pauses();
        assert_eq!(list.turn(3, 0.6), NextTurn::At(5.5));
        assert_eq!(list.turn(3, 5.5), NextTurn::Now);
        list.leave(3);
        assert_eq!(list.turn(1, 5.6), NextTurn::Now, "it was answered");
        list.leave(1);
        list.leave(2);
        assert!(list.waiting.is_empty() && list.trying.is_none());
    }
}
