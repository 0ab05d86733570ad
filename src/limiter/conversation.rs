//! One conversation's part of the limiter.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use super::target::{RefusedSince, TargetState, WaitStart, unpoisoned};
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
    number: u64,
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
    /// The part of a message's time in which it was refused with no other conversation open, since the last message began.
    refused_ms: f64,
    /// Whether its last request was sent, and not refused.
    is_engaged: bool,
    /// Whether it takes turns with others.
    takes_turns: bool,
    /// The wait for its turn, while it waits.
    queued: Option<WaitStart>,
    /// For how long others were served while it waited before.
    queued_ms: f64,
    /// Whether anything was answered, and whether the last request was given up.
    is_answered: bool,
    is_given_up: bool,
}

impl OpenConversation {
    fn state(&self) -> MutexGuard<'_, ConversationState> {
        unpoisoned(&self.state)
    }

    fn engage(&self, state: &mut ConversationState, is_engaged: bool) {
        if std::mem::replace(&mut state.is_engaged, is_engaged) != is_engaged {
            self.shared.engage(is_engaged);
        }
    }

    /// The time for which a request waits until it is looked at anew whether it is worth it.
    fn refusal_timeout(&self) -> Duration {
        if self.shared.engaged() > 0 { self.shared.patience_together() } else { self.shared.remaining_refusal_time() }
    }

    /// Waits until it is this conversation's turn, where it takes turns with others, and then until a request may be sent.
    async fn admitted(&self) -> Result<Permit<'_>, RateLimitExhausted> {
        let shared = &self.shared;
        let waiter = shared.limiter.waiter();
        if self.takes_turns() {
            let _queued = QueuedRequest::begin(self);
            shared.waitlist.turn(self.number, &shared.limiter).await;
        }
        shared.limiter.acquire(waiter, 1.0).await
    }

    fn takes_turns(&self) -> bool {
        let (mut state, waitlist) = (self.state(), &self.shared.waitlist);
        if state.takes_turns {
            // It may have tried without being refused.
            state.takes_turns = waitlist.has(self.number);
        } else if !state.is_engaged && !state.is_answered && !waitlist.is_empty() {
            // New requests come after those that wait already.
            state.takes_turns = true;
            waitlist.join(self.number);
        }
        state.takes_turns
    }
}

impl Drop for OpenConversation {
    fn drop(&mut self) {
        let is_served = {
            let state = self.state();
            state.is_engaged || state.is_answered && !state.is_given_up
        };
        if is_served {
            self.shared.served();
        }
        // Before the others look who is left.
        self.engage(&mut self.state(), false);
        self.shared.close();
        self.shared.waitlist.served(self.number);
    }
}

impl ConversationLimiter {
    pub(super) fn open(shared: Arc<TargetState>) -> ConversationLimiter {
        let number = shared.open();
        ConversationLimiter(Some(Arc::new(OpenConversation { number, shared, state: Mutex::default() })))
    }

    /// Waits until a request may be sent; `None` where there is no limiter.
    ///
    /// # Errors
    /// No request was permitted for too long, while other conversations were open.
    pub async fn acquire(&self) -> Result<Option<Permit<'_>>, RateLimitExhausted> {
        let Some(conversation) = &self.0 else { return Ok(None) };
        let shared = &conversation.shared;
        let is_refused = conversation.state().refused_alone > 0;
        let waiting = WaitTimer {
            conversation,
            together_ms: shared.together_ms(),
            refused_since: is_refused.then(|| shared.limiter.now()),
        };
        let mut admitted = pin!(conversation.admitted());
        let permit = loop {
            match tokio::time::timeout(conversation.refusal_timeout(), &mut admitted).await {
                Ok(permit) => break permit,
                Err(_) if shared.open_conversations() < 2 => break admitted.await,
                // Others are served, or something was meanwhile.
                Err(_) if shared.engaged() > 0 || !shared.remaining_refusal_time().is_zero() => {}
                Err(_) => break Err(RateLimitExhausted),
            }
        };
        drop(waiting);
        let mut state = conversation.state();
        state.is_given_up |= permit.is_err();
        conversation.engage(&mut state, permit.is_ok());
        permit.map(Some)
    }

    /// Reports that a request failed and is made again after this wait.
    pub fn report_retry(&self, error: &str, wait: Duration) {
        if let Some(conversation) = &self.0 {
            conversation.shared.limiter.report_retry(WaitReason::AGENT, error, wait);
        }
    }

    /// A message was answered.
    pub fn answered(&self, permit: Option<Permit<'_>>) {
        self.accepted(permit, true);
    }

    /// A request was answered that was no message: an opened session shows nothing yet, unless it was refused before.
    pub fn opened(&self, permit: Option<Permit<'_>>) {
        self.accepted(permit, false);
    }

    fn accepted(&self, permit: Option<Permit<'_>>, is_message: bool) {
        let (Some(conversation), Some(permit)) = (&self.0, permit) else { return };
        conversation.shared.accepted();
        let mut state = conversation.state();
        if is_message || state.refused.is_some() {
            conversation.shared.served();
        }
        state.is_answered |= is_message;
        state.refusals.requests += std::mem::take(&mut state.refused_alone);
        state.refusals.conversations = state.refusals.conversations.max(u32::from(state.refusals.requests > 0));
        state.refused = None;
        if std::mem::take(&mut state.takes_turns) {
            conversation.shared.waitlist.served(conversation.number);
        }
        permit.accepted(None, &RateLimitHeaders::default());
    }

    /// A request was refused, with the wait that the agent asks for. `None` where there is no limiter.
    pub fn refused(&self, permit: Option<Permit<'_>>, retry_after: Option<Duration>) -> Option<AfterRefusal> {
        let (Some(conversation), Some(permit)) = (&self.0, permit) else { return None };
        let shared = &conversation.shared;
        let open = shared.open_conversations();
        let is_exhausted = shared.note_refusal(open < 2, retry_after);
        let mut state = conversation.state();
        conversation.engage(&mut state, false);
        let others_are_served = shared.engaged() > 0;
        let was_waiting = state.takes_turns;
        state.takes_turns = open >= 2 && (was_waiting || others_are_served);
        // Whoever was answered before may be refused for the rate of all.
        let concerns_all = !was_waiting && (state.is_answered || shared.waitlist.is_empty());
        match state.takes_turns {
            false => permit.refused(retry_after, &RateLimitHeaders::default()),
            true if concerns_all => permit.refused_for_others(retry_after),
            true => drop(permit),
        }
        if state.takes_turns {
            shared.waitlist.refused(conversation.number, shared.limiter.now(), shared.policy(), retry_after);
        }
        let after = if open < 2 {
            state.refused_alone += 1;
            match is_exhausted {
                true => AfterRefusal::AgentFailed,
                // The others have given up, and nothing was served since: being alone now proves no more.
                false if shared.remaining_refusal_time().is_zero() => AfterRefusal::GiveUp,
                false => AfterRefusal::Retry,
            }
        } else {
            state.refusals.requests += 1;
            state.refusals.conversations = state.refusals.conversations.max(open);
            let since = *state.refused.get_or_insert_with(|| shared.refused_since(false, retry_after));
            let is_over = is_exhausted || since.is_over() && !state.takes_turns;
            if is_over && !others_are_served { AfterRefusal::GiveUp } else { AfterRefusal::Retry }
        };
        state.is_given_up |= after != AfterRefusal::Retry;
        Some(after)
    }

    /// Whether the agent may be serving other conversations at this moment, or was just now, so that it may refuse this one for
    /// them.
    pub fn others_are_served(&self) -> bool {
        let Some(conversation) = &self.0 else { return false };
        let (shared, own) = (&conversation.shared, u32::from(conversation.state().is_engaged));
        shared.open_conversations() >= 2 && (shared.engaged() > own || shared.has_served_lately())
    }

    /// The requests that the agent refused because of others.
    pub fn refusals(&self) -> Option<Refusals> {
        let refusals = self.0.as_ref()?.state().refusals;
        (refusals.requests > 0).then_some(refusals)
    }

    /// Whether the agent has refused a conversation that was alone with it, this one or one before.
    pub fn is_refused_alone(&self) -> bool {
        self.0.as_ref().is_some_and(|conversation| conversation.shared.refuses_alone())
    }

    /// The milliseconds for which requests have waited for their turn while others were served, until now.
    pub fn queued_ms(&self) -> f64 {
        let Some(conversation) = &self.0 else { return 0.0 };
        let state = conversation.state();
        state.queued_ms + state.queued.map_or(0.0, |since| conversation.shared.served_ms(since))
    }

    /// The milliseconds for which requests have waited since this was last asked because the agent refused them with no other
    /// conversation open.
    pub fn take_refused_ms(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |conversation| std::mem::take(&mut conversation.state().refused_ms))
    }

    /// The milliseconds for which requests have waited because of others since this was last asked.
    pub fn take_waited_ms(&self) -> f64 {
        self.0.as_ref().map_or(0.0, |conversation| std::mem::take(&mut conversation.state().waited_ms))
    }
}

/// Notes how long a request waits for its turn, also if it is dropped.
struct QueuedRequest<'a>(&'a OpenConversation);

impl<'a> QueuedRequest<'a> {
    fn begin(conversation: &'a OpenConversation) -> QueuedRequest<'a> {
        let shared = &conversation.shared;
        conversation.state().queued = Some(WaitStart { began: shared.limiter.now(), engaged_ms: shared.engaged_ms() });
        QueuedRequest(conversation)
    }
}

impl Drop for QueuedRequest<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.queued_ms += state.queued.take().map_or(0.0, |since| self.0.shared.served_ms(since));
    }
}

/// Measures how long a request has waited while other conversations were open, also if it is dropped. The wait of a single
/// conversation is the agent's time.
struct WaitTimer<'a> {
    conversation: &'a OpenConversation,
    /// The time for which several were open when it began.
    together_ms: f64,
    /// When it began, where the request before was refused with no other conversation open.
    refused_since: Option<f64>,
}

impl Drop for WaitTimer<'_> {
    fn drop(&mut self) {
        let shared = &self.conversation.shared;
        let waited_ms = shared.together_ms() - self.together_ms;
        let all_ms = self.refused_since.map_or(0.0, |since| (shared.limiter.now() - since) * 1000.0);
        let mut state = self.conversation.state();
        state.waited_ms += waited_ms;
        state.refused_ms += (all_ms - waited_ms).max(0.0);
    }
}
