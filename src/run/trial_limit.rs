//! `limits.trial`.

use std::sync::Arc;
use std::time::Duration;

use crate::cassette::while_answered;
use crate::clock::{BusyTime, Clock, Stopwatch};
use crate::limiter::ConversationLimiter;

/// The shortest time after which it is looked how much of `limits.trial` is left.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Waits for an answer; `None` where so many seconds have passed in which something was under way.
pub(super) async fn within<F: Future>(seconds: f64, busy: &BusyTime, future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(while_answered(future));
    loop {
        let left = Duration::from_secs_f64((seconds - busy.elapsed_ms() / 1000.0).max(0.0));
        // Looked at now and then: while everything is queued the time that is left stays the same.
        let wait = if left.is_zero() { left } else { left.max(LOOK_AGAIN) };
        match tokio::time::timeout(wait, &mut future).await {
            Ok(outcome) => return outcome,
            Err(_) if left.is_zero() => return None,
            Err(_) => {}
        }
    }
}

/// The times of a message, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AgentTime {
    /// The agent's, with the waits for its rate limit.
    pub(super) spent_ms: f64,
    /// The wait for other conversations, which counts neither as the agent's time nor as the conversation's.
    pub(super) waited_ms: f64,
    /// The part of `spent_ms` in which the agent refused the message with no other conversation open.
    pub(super) refused_ms: f64,
}

/// The clocks when a message is sent, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentStart {
    at_ms: f64,
    written_ms: f64,
}

/// `limits.trial`, as it runs down.
pub(super) struct TrialLimit {
    pub(super) seconds: f64,
    since: Stopwatch,
    /// The agent's part of it.
    agent_ms: f64,
    /// The time for which the agent refused requests with no other conversation open: its rate limit's, and not its own.
    refused_ms: f64,
    /// The time that does not count: while the graph was captured, and while a request waited for our other conversations.
    paused_ms: f64,
    /// The time that was used before, where the conversation goes on.
    before_ms: f64,
    limiter: ConversationLimiter,
    /// The time in which our own model makes up results of the agent's tools.
    writing: Option<Arc<BusyTime>>,
}

impl TrialLimit {
    pub(super) fn new(seconds: f64, since: Stopwatch, limiter: ConversationLimiter) -> TrialLimit {
        TrialLimit {
            seconds,
            since,
            agent_ms: 0.0,
            refused_ms: 0.0,
            paused_ms: 0.0,
            before_ms: 0.0,
            limiter,
            writing: None,
        }
    }

    /// The limit of a conversation in which a model of ours makes up results of the agent's tools: that time is nobody's.
    pub(super) fn without(self, writing: Arc<BusyTime>) -> TrialLimit {
        TrialLimit { writing: Some(writing), ..self }
    }

    fn writing_ms(&self) -> f64 {
        self.writing.as_ref().map_or(0.0, |writing| writing.elapsed_ms())
    }

    /// The limit of a conversation that goes on: so much was used before, and so much of that by the agent.
    pub(super) fn after(self, [used_ms, agent_ms]: [f64; 2]) -> TrialLimit {
        TrialLimit { before_ms: used_ms, agent_ms, ..self }
    }

    pub(super) fn elapsed_ms(&self) -> f64 {
        self.since.elapsed_ms()
    }

    /// Excludes time that is not the conversation's.
    pub(super) fn pause(&mut self, ms: f64) {
        self.paused_ms += ms;
    }

    /// Starts counting the agent's time; earlier waits don't belong to this turn.
    pub(super) fn agent_begins(&self) -> AgentStart {
        self.limiter.take_waited_ms();
        self.limiter.take_refused_ms();
        AgentStart { at_ms: self.elapsed_ms(), written_ms: self.writing_ms() }
    }

    /// Stops counting: the times since `before`.
    pub(super) fn agent_ends(&mut self, before: AgentStart) -> AgentTime {
        let (waited_ms, written_ms) = (self.limiter.take_waited_ms(), self.writing_ms() - before.written_ms);
        let spent_ms = (self.elapsed_ms() - before.at_ms - waited_ms - written_ms).max(0.0);
        let refused_ms = self.limiter.take_refused_ms().min(spent_ms);
        self.pause(waited_ms + written_ms);
        self.refused_ms += refused_ms;
        self.agent_ms += spent_ms - refused_ms;
        AgentTime { spent_ms, waited_ms, refused_ms }
    }

    /// Excludes time of the agent's that is not its doing.
    pub(super) fn excuse(&mut self, agent_ms: f64) {
        self.agent_ms = (self.agent_ms - agent_ms).max(0.0);
        self.pause(agent_ms);
    }

    /// Waits for something; `None` where the time ran out. The time for which a request waits for its turn while other
    /// conversations are served doesn't count, nor that of our own model.
    pub(super) async fn within<F: Future>(&self, future: F) -> Option<F::Output> {
        let mut future = std::pin::pin!(while_answered(future));
        let idle_ms = || self.limiter.queued_ms() + self.writing_ms();
        let before = idle_ms();
        loop {
            let queued_ms = idle_ms() - before;
            let left = Duration::from_secs_f64((self.seconds - (self.spent_ms() - queued_ms) / 1000.0).max(0.0));
            // Looked at now and then: while it is queued the time that is left stays the same.
            let wait = if queued_ms > 0.0 && !left.is_zero() { left.max(Duration::from_millis(50)) } else { left };
            match tokio::time::timeout(wait, &mut future).await {
                Ok(outcome) => return outcome,
                Err(_) if left.is_zero() => return None,
                Err(_) => {}
            }
        }
    }

    /// Waits for one of our own models; `None` where the time ran out. The time for which its request waits in our own queues
    /// doesn't count.
    pub(super) async fn within_busy<F: Future>(
        &mut self,
        busy: &Arc<BusyTime>,
        clock: Clock,
        future: F,
    ) -> Option<F::Output> {
        let since = clock.start();
        let under_way = busy.begin();
        let outcome = within(self.left().as_secs_f64(), busy, future).await;
        drop(under_way);
        self.pause((since.elapsed_ms() - busy.elapsed_ms()).max(0.0));
        outcome
    }

    pub(super) fn left(&self) -> Duration {
        Duration::from_secs_f64((self.seconds - self.spent_ms() / 1000.0).max(0.0))
    }

    /// The milliseconds that are used of it.
    pub(super) fn spent_ms(&self) -> f64 {
        self.before_ms + self.elapsed_ms() - self.paused_ms
    }

    pub(super) fn is_spent_by_agent(&self) -> bool {
        self.agent_ms >= self.spent_ms() / 2.0
    }

    /// Whether its rate limit took more than all else beside the agent's own time.
    pub(super) fn is_spent_by_refusals(&self) -> bool {
        self.refused_ms * 2.0 > self.spent_ms() - self.agent_ms
    }

    pub(super) fn ran_out_while(&self, what: &str) -> String {
        format!("the conversation's time limit of {} s (limits.trial) ran out while {what}", self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_that_goes_on_has_the_time_that_is_left() {
        let new = || TrialLimit::new(30.0, Clock::system().start(), ConversationLimiter::default());
        let left = |limit: &TrialLimit| limit.left().as_secs_f64();
        assert!(left(&new()) > 29.0 && new().spent_ms() < 1_000.0);
        let resumed = new().after([20_000.0, 16_000.0]);
        assert!((9.0..=10.0).contains(&left(&resumed)), "{}", left(&resumed));
        assert!(resumed.is_spent_by_agent() && resumed.spent_ms() >= 20_000.0);
        assert!(!new().after([20_000.0, 4_000.0]).is_spent_by_agent());
        let mut excused = new().after([20_000.0, 16_000.0]);
        excused.excuse(16_000.0);
        assert!((25.0..=26.0).contains(&left(&excused)) && !excused.is_spent_by_agent(), "{}", left(&excused));
        assert_eq!(left(&new().after([31_000.0, 0.0])), 0.0);
    }

    #[test]
    fn what_the_rate_limit_took_is_not_the_agents() {
        let new = || TrialLimit::new(30.0, Clock::system().start(), ConversationLimiter::default());
        let refused = TrialLimit { refused_ms: 15_000.0, ..new().after([24_000.0, 5_000.0]) };
        assert!(!refused.is_spent_by_agent() && refused.is_spent_by_refusals());
        assert!(!new().after([24_000.0, 5_000.0]).is_spent_by_refusals());
    }
}
