//! One conversation's part of the limiter.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::target::{RefusedSince, TargetState, unpoisoned};
use super::{Permit, RateLimitExhausted, RateLimitHeaders, WaitReason};

/// Requests of a conversation that the agent refused because of others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refusals {
    /// Requests that were refused.
    pub requests: u32,
    /// The most conversations that were open meanwhile.
    pub conversations: u32,
}

/// The next step of a conversation after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterRefusal {
    /// It retries when the limiter permits: a limit that is respected is not a failure.
    Retry,
    /// It gives up without a failure: others were open, so the agent might have served it alone.
    GiveUp,
    /// It gives up, and the agent has failed: no other conversation was open.
    AgentFailed,
}

/// A conversation's part of the [`TargetLimiter`](super::TargetLimiter); the conversation ends when all clones are dropped. The
/// default limits nothing.
#[derive(Clone, Default)]
pub struct ConversationLimiter(Option<Arc<OpenConversation>>);

struct OpenConversation {
    shared: Arc<TargetState>,
    state: Mutex<ConversationState>,
}

#[derive(Default)]
struct ConversationState {
    refusals: Refusals,
    /// The time since which all its requests are refused.
    refused: Option<RefusedSince>,
    /// Refusals while it was alone, since its last answer: a limit, if it is answered again, else a failure.
    refused_alone: u32,
    waited_ms: f64,
    /// Whether anything was answered, and whether the last request was given up.
    is_answered: bool,
    is_given_up: bool,
}

impl OpenConversation {
    fn state(&self) -> MutexGuard<'_, ConversationState> {
        unpoisoned(&self.state)
    }
}

impl Drop for OpenConversation {
    fn drop(&mut self) {
        let is_served = {
            let state = self.state();
            state.is_answered && !state.is_given_up
        };
        if is_served {
            self.shared.served();
        }
        self.shared.close();
    }
}

impl ConversationLimiter {
    pub(super) fn open(shared: Arc<TargetState>) -> ConversationLimiter {
        shared.open();
        ConversationLimiter(Some(Arc::new(OpenConversation { shared, state: Mutex::default() })))
    }

    /// Waits until a request may be sent; `None` where there is no limiter.
    ///
    /// # Errors
    /// No request was permitted for too long, while other conversations were open.
    pub async fn acquire(&self) -> Result<Option<Permit<'_>>, RateLimitExhausted> {
        let Some(conversation) = &self.0 else { return Ok(None) };
        let shared = &conversation.shared;
        let waiting = WaitTimer { conversation, together_ms: shared.together_ms() };
        let waiter = shared.limiter.waiter();
        let permit = loop {
            let left = shared.patience_left();
            match tokio::time::timeout(left, shared.limiter.acquire(waiter, 1.0)).await {
                Ok(permit) => break permit,
                Err(_) if shared.open_conversations() < 2 => break shared.limiter.acquire(waiter, 1.0).await,
                Err(_) if shared.patience_left().is_zero() => break Err(RateLimitExhausted),
                // A request was served meanwhile.
                Err(_) => {}
            }
        };
        drop(waiting);
        conversation.state().is_given_up |= permit.is_err();
        permit.map(Some)
    }

    /// Reports that a request failed and is made again after this wait.
    pub fn report_retry(&self, error: &str, wait: Duration) {
        if let Some(conversation) = &self.0 {
            conversation.shared.limiter.report_retry(WaitReason::AGENT, error, wait);
        }
    }

    /// A request was answered.
    pub fn answered(&self, permit: Option<Permit<'_>>) {
        let (Some(conversation), Some(permit)) = (&self.0, permit) else { return };
        let mut state = conversation.state();
        // An opened session does not count as served.
        if state.is_answered || state.refused.is_some() {
            conversation.shared.served();
        }
        state.is_answered = true;
        state.refusals.requests += std::mem::take(&mut state.refused_alone);
        state.refusals.conversations = state.refusals.conversations.max(u32::from(state.refusals.requests > 0));
        state.refused = None;
        permit.accepted(None, &RateLimitHeaders::default());
    }

    /// A request was refused, with the wait that the agent asks for. `None` where there is no limiter.
    pub fn refused(&self, permit: Option<Permit<'_>>, retry_after: Option<Duration>) -> Option<AfterRefusal> {
        let (Some(conversation), Some(permit)) = (&self.0, permit) else { return None };
        permit.refused(retry_after, &RateLimitHeaders::default());
        let shared = &conversation.shared;
        let open = shared.open_conversations();
        let is_exhausted = shared.note_refusal(open < 2, retry_after);
        let mut state = conversation.state();
        let after = if open < 2 {
            state.refused_alone += 1;
            match is_exhausted {
                true => AfterRefusal::AgentFailed,
                // The others have given up, and nothing was served since: being alone now proves no more.
                false if shared.patience_left().is_zero() => AfterRefusal::GiveUp,
                false => AfterRefusal::Retry,
            }
        } else {
            state.refusals.requests += 1;
            state.refusals.conversations = state.refusals.conversations.max(open);
            let since = state.refused.get_or_insert_with(|| shared.refused_since(false, retry_after));
            if is_exhausted || since.is_over() { AfterRefusal::GiveUp } else { AfterRefusal::Retry }
        };
        state.is_given_up |= after != AfterRefusal::Retry;
        Some(after)
    }

    /// The requests that the agent refused because of others.
    pub fn refusals(&self) -> Option<Refusals> {
        let refusals = self.0.as_ref()?.state().refusals;
        (refusals.requests > 0).then_some(refusals)
    }

    /// The milliseconds for which requests have waited because of others since this was last asked.
    pub fn take_waited_ms(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |conversation| std::mem::take(&mut conversation.state().waited_ms))
    }
}

/// Measures how long a request has waited while other conversations were open, also if it is dropped. The wait of a single
/// conversation is the agent's time.
struct WaitTimer<'a> {
    conversation: &'a OpenConversation,
    /// The time for which several were open when it began.
    together_ms: f64,
}

impl Drop for WaitTimer<'_> {
    fn drop(&mut self) {
        let waited_ms = self.conversation.shared.together_ms() - self.together_ms;
        self.conversation.state().waited_ms += waited_ms;
    }
}
