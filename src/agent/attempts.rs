//! What a failed try over HTTP means, and how a message is tried again.

use std::time::Duration;

use super::witness::excuse;
use super::{AgentContext, AgentError, AgentErrorKind};
use crate::clock::Clock;
use crate::evidence::FailedTry;
use crate::http::{HttpFault, HttpFaultKind, HttpReply};
use crate::limiter::{AfterRefusal, ConversationLimiter, Permit};
use crate::retry::{Delays, retry_after};

/// The attempts at one message: whoever says it records here what failed, and who waits for the reply owns it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attempts {
    /// Those that failed, in order, the last one too.
    pub failures: Vec<FailedTry>,
    /// The message was sent again although an earlier attempt may have been received.
    pub maybe_delivered: bool,
}

impl Attempts {
    /// Records an attempt that failed, and how long it took.
    pub(super) fn failed(&mut self, error: &AgentError, maybe_received: bool, took_ms: Option<f64>) {
        self.failures.push(FailedTry { took_ms, ..FailedTry::untimed(error.message.clone(), maybe_received) });
    }
}

/// One attempt that brought nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttemptFailure {
    pub(super) error: AgentError,
    /// Whether the agent can have received the message all the same.
    pub(super) maybe_received: bool,
    pub(super) again: Again,
}

/// Whether a failed attempt is worth another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// The same request will fail the same way.
    Never,
    /// After the usual wait, or the longer one that the agent asks for.
    After(Option<Duration>),
    /// When the agent takes requests again: it said that there are too many, and the wait that it asks for.
    Slower(Option<Duration>),
    /// At once, without what was refused; nothing of it is recorded.
    AtOnce,
    /// At once, in another way, of which this is recorded; or, after this long, by a look at what became of the message.
    Instead { what: &'static str, look: Option<Duration> },
}

/// No reply, or none that can be read.
impl From<HttpFault> for AttemptFailure {
    fn from(fault: HttpFault) -> AttemptFailure {
        let usual = Again::After(None);
        let (kind, again) = match fault.kind {
            HttpFaultKind::Unsendable => (AgentErrorKind::Unsendable, Again::Never),
            HttpFaultKind::Untrusted => (AgentErrorKind::Unreachable, Again::Never),
            HttpFaultKind::NoDescriptor => (AgentErrorKind::NoDescriptor, usual),
            HttpFaultKind::Unreachable => (AgentErrorKind::Unreachable, usual),
            HttpFaultKind::Timeout | HttpFaultKind::Broken => (AgentErrorKind::Timeout, usual),
            HttpFaultKind::Redirect(status) => (AgentErrorKind::Status(status), Again::Never),
            HttpFaultKind::WrongType | HttpFaultKind::Unreadable => (AgentErrorKind::Unreadable, usual),
            HttpFaultKind::Useless => (AgentErrorKind::BadReply, usual),
        };
        let error = AgentError { kind, message: fault.message };
        AttemptFailure { error, maybe_received: fault.kind.maybe_received(), again }
    }
}

impl AttemptFailure {
    /// A failure that the agent itself reports: it is never tried again.
    pub(super) fn reported(kind: AgentErrorKind, message: String) -> AttemptFailure {
        AttemptFailure { error: AgentError { kind, message }, maybe_received: true, again: Again::Never }
    }

    /// A status that is not a success.
    pub(super) fn of_status(reply: &HttpReply, clock: Clock) -> AttemptFailure {
        let asked = reply.retry_after.as_deref().and_then(|value| retry_after(value, clock.wall()));
        AttemptFailure::of_number(reply.status, reply.refusal(), asked)
    }

    /// A status, as it came or as an error within a success names it.
    pub(super) fn of_number(status: u16, message: String, asked: Option<Duration>) -> AttemptFailure {
        let (kind, maybe_received, again) = match status {
            401 | 403 => (AgentErrorKind::Unauthorized, false, Again::Never),
            404 => (AgentErrorKind::NotFound, false, Again::Never),
            429 => (AgentErrorKind::Busy, false, Again::Slower(asked)),
            503 if asked.is_some() => (AgentErrorKind::Busy, false, Again::Slower(asked)),
            503 => (AgentErrorKind::Busy, false, Again::After(None)),
            status @ 500.. => (AgentErrorKind::Status(status), true, Again::After(asked)),
            status => (AgentErrorKind::Status(status), false, Again::Never),
        };
        AttemptFailure { error: AgentError { kind, message }, maybe_received, again }
    }
}

/// The attempts at one call: the waits before them and between them, and what failed.
pub(super) struct Retries<'a> {
    pub(super) delays: Delays,
    limiter: &'a ConversationLimiter,
    attempts: &'a mut Attempts,
}

impl<'a> Retries<'a> {
    /// Each call draws its own jitter.
    pub(super) fn new(context: &'a AgentContext, nth_call: u64, attempts: &'a mut Attempts) -> Retries<'a> {
        let delays = context.retry.delays(context.rng_seed.wrapping_add(nth_call)).timed_by(context.clock);
        Retries { delays, limiter: &context.limiter, attempts }
    }

    /// Waits for the limiter that all conversations with the agent share. What was waited is told of the attempt before, and
    /// is no part of the one that comes. The error is that nothing is let through.
    pub(super) async fn admit(&mut self) -> Result<Option<Permit<'a>>, AgentError> {
        loop {
            let permit = self.limiter.acquire().await;
            if let (Some(waited_ms), Some(before)) = (self.delays.lap_ms(), self.attempts.failures.last_mut())
                && (before.waited_ms.is_some() || waited_ms >= 1.0)
            {
                *before.waited_ms.get_or_insert(0.0) += waited_ms;
            }
            match permit {
                Ok(permit) => return Ok(permit),
                Err(_) => self.wait(refused_together("the agent refuses every request (429)".to_owned())).await?,
            }
        }
    }

    /// Tells the limiter of a failure and waits for the next attempt; the error, when there is none left. Nothing is
    /// recorded of a failure that was not the agent's fault.
    pub(super) async fn failed(
        &mut self,
        permit: Option<Permit<'_>>,
        failure: AttemptFailure,
    ) -> Result<(), AgentError> {
        match settled(self.limiter, permit, failure) {
            Ok(()) => Ok(()),
            Err(failure) => self.wait(failure).await,
        }
    }

    /// Records a failed attempt, and what is done instead of saying the same again.
    pub(super) fn instead(&mut self, failure: &AttemptFailure, what: &str) {
        let error = format!("{}; {what}", failure.error.message);
        let took_ms = self.delays.lap_ms();
        self.attempts.failures.push(FailedTry { took_ms, ..FailedTry::untimed(error, failure.maybe_received) });
    }

    /// Records a failed attempt and waits for the next one; the error, when there is none left. Whether something else was
    /// wrong is looked at meanwhile.
    async fn wait(&mut self, failure: AttemptFailure) -> Result<(), AgentError> {
        let AttemptFailure { error, maybe_received, again } = failure;
        self.attempts.failed(&error, maybe_received, self.delays.lap_ms());
        let delay = match again {
            Again::After(asked) | Again::Slower(asked) => self.delays.next(asked),
            Again::Never | Again::AtOnce | Again::Instead { .. } => None,
        };
        let Some(delay) = delay else {
            let excuse = excuse(&error).await;
            if let Some(failed) = self.attempts.failures.last_mut() {
                failed.excuse = excuse;
            }
            return Err(error);
        };
        self.attempts.maybe_delivered |= maybe_received;
        let ((), excuse) = tokio::join!(tokio::time::sleep(delay), excuse(&error));
        if let Some(failed) = self.attempts.failures.last_mut() {
            failed.excuse = excuse;
            failed.waited_ms = self.delays.lap_ms();
        }
        Ok(())
    }
}

/// That it can't be told whether the agent would serve a conversation alone.
fn refused_together(what: String) -> AttemptFailure {
    let message = format!(
        "{what} while other conversations of ours are open, so nobody can tell whether it would serve one alone; try \
         target.maxConcurrency, or -j 1"
    );
    let error = AgentError { kind: AgentErrorKind::RefusedTogether, message };
    AttemptFailure { error, maybe_received: false, again: Again::Never }
}

/// Tells the limiter of a failure. Nothing is left of one that was not the agent's fault: then the same is tried again.
fn settled(
    limiter: &ConversationLimiter,
    permit: Option<Permit<'_>>,
    failure: AttemptFailure,
) -> Result<(), AttemptFailure> {
    let Again::Slower(asked) = failure.again else { return Err(failure) };
    let again = match limiter.refused(permit, asked) {
        // The limiter makes the next one wait, and a limit that was honoured is no failure.
        Some(AfterRefusal::Retry) => return Ok(()),
        Some(AfterRefusal::GiveUp) => return Err(refused_together(failure.error.message)),
        Some(AfterRefusal::AgentFailed) => Again::Never,
        None => Again::After(asked),
    };
    Err(AttemptFailure { again, ..failure })
}

/// An id for a conversation to which the agent gives none: 32 hex digits, the same in the same run of the same job.
pub(super) fn own_session_id(rng_seed: u64, nth: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(rng_seed ^ nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    format!("{:032x}", rng.u128(..))
}
