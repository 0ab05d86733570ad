//! The limiter of an agent, shared by all conversations of a run with one target.
//!
//! Invariants: an agent that refuses a request (429, or 503 with `Retry-After`) while other conversations of ours are open may
//! refuse because of their number: all of them slow down, and no failure is counted, however long it lasts; an agent that
//! refuses the only conversation has failed, after a time limit.
//! Who is refused while others are served waits for its turn ([`Waitlist`]), however long the others take.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::waitlist::Waitlist;
use super::{BackoffPolicy, ConversationLimiter, OnWait, RateLimiter, WaitReason};
use crate::clock::{Clock, Stopwatch};

/// The time for which an agent may refuse all requests, with no message answered in between, until concurrent conversations
/// stop waiting for it.
const SHARED_REFUSAL_TIMEOUT: Duration = Duration::from_secs(45);

/// The same for a single conversation.
const SINGLE_REFUSAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A request that was accepted so many seconds ago shows that the agent still serves some.
const LATELY: f64 = 2.0;

/// The limiter of the agent under test.
pub struct TargetLimiter(Arc<TargetState>);

#[derive(Clone)]
pub(super) struct Settings {
    pub(super) clock: Clock,
    pub(super) rng_seed: u64,
    pub(super) policy: BackoffPolicy,
    pub(super) patience_together: Duration,
    pub(super) patience_alone: Duration,
    pub(super) on_wait: Option<Arc<OnWait>>,
}

impl TargetLimiter {
    /// A limiter of an agent about which nothing is known yet; long waits are reported to `on_wait`.
    pub fn new(clock: Clock, rng_seed: u64, on_wait: Option<Arc<OnWait>>) -> TargetLimiter {
        TargetLimiter::with(Settings {
            clock,
            rng_seed,
            policy: BackoffPolicy::AGENT,
            patience_together: SHARED_REFUSAL_TIMEOUT,
            patience_alone: SINGLE_REFUSAL_TIMEOUT,
            on_wait,
        })
    }

    pub(super) fn with(settings: Settings) -> TargetLimiter {
        let on_wait = settings.on_wait.clone().map(|on_wait| (WaitReason::Agent, on_wait));
        let limiter = RateLimiter::new(settings.clock, settings.policy, settings.rng_seed, on_wait);
        TargetLimiter(Arc::new(TargetState {
            limiter,
            waitlist: Waitlist::default(),
            settings,
            conversations: Mutex::default(),
            unserved: Mutex::default(),
        }))
    }

    /// A conversation begins.
    pub fn open_conversation(&self) -> ConversationLimiter {
        ConversationLimiter::open(self.0.clone())
    }

    /// A conversation begins with an agent of its own, which no other conversation uses.
    pub fn open_separate_conversation(&self) -> ConversationLimiter {
        TargetLimiter::with(self.0.settings.clone()).open_conversation()
    }
}

/// The state that the conversations share.
pub(super) struct TargetState {
    pub(super) limiter: RateLimiter,
    pub(super) waitlist: Waitlist,
    settings: Settings,
    conversations: Mutex<OpenConversations>,
    unserved: Mutex<Unserved>,
}

/// The times since which nothing was served to concurrent conversations, and to single ones.
#[derive(Default)]
struct Unserved {
    together: Option<RefusedSince>,
    alone: Option<RefusedSince>,
}

/// The beginning of a request's wait for its turn.
#[derive(Clone, Copy)]
pub(super) struct WaitStart {
    /// When it began, in seconds of the limiter's clock.
    pub(super) began: f64,
    /// For how many milliseconds any conversation had been engaged then.
    pub(super) engaged_ms: f64,
}

/// The time since which everything is refused, and the limit of patience.
#[derive(Clone, Copy)]
pub(super) struct RefusedSince {
    since: Stopwatch,
    patience: Duration,
}

impl RefusedSince {
    fn left(self) -> Duration {
        self.patience.saturating_sub(Duration::from_secs_f64(self.since.elapsed_ms() / 1000.0))
    }

    pub(super) fn is_over(self) -> bool {
        self.left().is_zero()
    }
}

/// The number of open conversations, and the time for which there was more than one.
#[derive(Default)]
struct OpenConversations {
    /// How many were ever opened.
    opened: u64,
    count: u32,
    /// How many had their last request accepted: the agent may be serving them instead of others.
    engaged: u32,
    engaged_since: Option<Stopwatch>,
    engaged_before_ms: f64,
    /// When a request was accepted last, in seconds of the limiter.
    accepted_at: f64,
    together_since: Option<Stopwatch>,
    together_before_ms: f64,
}

impl OpenConversations {
    fn engaged_ms(&self) -> f64 {
        self.engaged_before_ms + self.engaged_since.map_or(0.0, |since| since.elapsed_ms())
    }

    fn together_ms(&self) -> f64 {
        self.together_before_ms + self.together_since.map_or(0.0, |since| since.elapsed_ms())
    }
}

impl TargetState {
    /// Another conversation begins; its number.
    pub(super) fn open(&self) -> u64 {
        let mut conversations = unpoisoned(&self.conversations);
        conversations.opened += 1;
        conversations.count += 1;
        if conversations.count == 2 {
            conversations.together_since = Some(self.settings.clock.start());
        }
        conversations.opened
    }

    pub(super) fn close(&self) {
        let mut conversations = unpoisoned(&self.conversations);
        conversations.count = conversations.count.saturating_sub(1);
        if conversations.count < 2 {
            conversations.together_before_ms = conversations.together_ms();
            conversations.together_since = None;
        }
    }

    pub(super) fn open_conversations(&self) -> u32 {
        unpoisoned(&self.conversations).count
    }

    /// Adds or removes a conversation whose last request was accepted.
    pub(super) fn engage(&self, is_engaged: bool) {
        let mut conversations = unpoisoned(&self.conversations);
        let engaged = conversations.engaged;
        conversations.engaged = if is_engaged { engaged + 1 } else { engaged.saturating_sub(1) };
        match (engaged, is_engaged) {
            (0, true) => conversations.engaged_since = Some(self.settings.clock.start()),
            (1, false) => {
                conversations.engaged_before_ms = conversations.engaged_ms();
                conversations.engaged_since = None;
            }
            _ => {}
        }
    }

    /// A request was accepted.
    pub(super) fn accepted(&self) {
        let now = self.limiter.now();
        unpoisoned(&self.conversations).accepted_at = now;
    }

    /// Whether a request was accepted just now, of whichever conversation.
    pub(super) fn has_served_lately(&self) -> bool {
        let now = self.limiter.now();
        let accepted_at = unpoisoned(&self.conversations).accepted_at;
        accepted_at > 0.0 && now - accepted_at < LATELY
    }

    /// For how many milliseconds of a wait that began then others were served: until the last request that was accepted, or
    /// as long as any conversation was engaged.
    pub(super) fn served_ms(&self, since: WaitStart) -> f64 {
        let WaitStart { began, engaged_ms } = since;
        let conversations = unpoisoned(&self.conversations);
        let accepted_ms = (conversations.accepted_at - began) * 1000.0;
        accepted_ms.max(conversations.engaged_ms() - engaged_ms).max(0.0)
    }

    /// For how many milliseconds any was, from the beginning.
    pub(super) fn engaged_ms(&self) -> f64 {
        unpoisoned(&self.conversations).engaged_ms()
    }

    /// The open conversations whose last request was not refused.
    pub(super) fn engaged(&self) -> u32 {
        unpoisoned(&self.conversations).engaged
    }

    pub(super) fn policy(&self) -> &BackoffPolicy {
        &self.settings.policy
    }

    /// The time for which a request waits while others are served, until it is looked at anew whether they still are.
    pub(super) fn patience_together(&self) -> Duration {
        self.settings.patience_together
    }

    /// The milliseconds for which more than one was open, from the beginning.
    pub(super) fn together_ms(&self) -> f64 {
        unpoisoned(&self.conversations).together_ms()
    }

    /// A message was answered.
    pub(super) fn served(&self) {
        *unpoisoned(&self.unserved) = Unserved::default();
    }

    /// Everything is refused from now on. The first wait that the agent asks for is respected, however long.
    pub(super) fn refused_since(&self, is_alone: bool, retry_after: Option<Duration>) -> RefusedSince {
        let Settings { clock, policy, patience_together, patience_alone, .. } = &self.settings;
        let patience = if is_alone { *patience_alone } else { *patience_together };
        let asked = policy.credible(retry_after.map(|asked| asked.as_secs_f64())).unwrap_or_default();
        // The pause is up to a tenth longer than the wait that is asked for.
        RefusedSince { since: clock.start(), patience: patience.max(Duration::from_secs_f64(1.2 * asked)) }
    }

    /// Notes a refusal. Returns whether the limit of patience is reached.
    pub(super) fn note_refusal(&self, is_alone: bool, retry_after: Option<Duration>) -> bool {
        let mut unserved = unpoisoned(&self.unserved);
        let since = if is_alone { &mut unserved.alone } else { &mut unserved.together };
        since.get_or_insert_with(|| self.refused_since(is_alone, retry_after)).is_over()
    }

    /// Whether the last request of a single conversation was refused, and nothing was answered since.
    pub(super) fn refuses_alone(&self) -> bool {
        unpoisoned(&self.unserved).alone.is_some()
    }

    /// The time for which a concurrent request may still wait.
    pub(super) fn remaining_refusal_time(&self) -> Duration {
        unpoisoned(&self.unserved).together.map_or(self.settings.patience_together, RefusedSince::left)
    }
}

pub(super) fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
