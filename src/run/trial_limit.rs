//! `limits.trial`.

use std::time::Duration;

use crate::clock::Stopwatch;
use crate::limiter::ConversationLimiter;

/// `limits.trial`, as it runs down.
pub(super) struct TrialLimit {
    pub(super) seconds: f64,
    pub(super) since: Stopwatch,
    /// How much of it the agent took.
    pub(super) agent_ms: f64,
    /// How long it stood still: while the graph was captured, and while a request waited for our other conversations.
    pub(super) watching_ms: f64,
    /// The conversation's limiter, which knows how long it waited for others.
    pub(super) limiter: ConversationLimiter,
}

impl TrialLimit {
    pub(super) fn left(&self) -> Duration {
        Duration::from_secs_f64((self.seconds - self.spent_ms() / 1000.0).max(0.0))
    }

    fn spent_ms(&self) -> f64 {
        self.since.elapsed_ms() - self.watching_ms
    }

    pub(super) fn is_spent_by_agent(&self) -> bool {
        self.agent_ms >= self.spent_ms() / 2.0
    }

    pub(super) fn words(&self, while_what: &str) -> String {
        format!("the conversation's time limit of {} s (limits.trial) ran out while {while_what}", self.seconds)
    }
}
