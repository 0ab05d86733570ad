//! Failed attempts and retries.

use std::time::Duration;

use super::outage::excuse;
use super::{AgentContext, AgentError, AgentErrorKind};
use crate::clock::Clock;
use crate::evidence::FailedAttempt;
use crate::http::{HttpFault, HttpFaultKind, HttpReply};
use crate::limiter::{AfterRefusal, ConversationLimiter, Permit};
use crate::retry::{Delays, retry_after};

/// The attempts at one message: the session records those that failed; the caller owns the record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attempts {
    /// The failed attempts, in order, the last one too.
    pub failures: Vec<FailedAttempt>,
    /// The message was sent again although an earlier attempt may have been received.
    pub maybe_delivered: bool,
}

impl Attempts {
    /// Records an attempt that failed, and how long it took.
    pub(super) fn failed(&mut self, error: &AgentError, maybe_received: bool, took_ms: Option<f64>) {
        let was_cut = error.kind == AgentErrorKind::Cut;
        let untimed = FailedAttempt::untimed(error.message.clone(), maybe_received);
        self.failures.push(FailedAttempt { took_ms, was_cut, ..untimed });
    }
}

/// One failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AttemptFailure {
    pub(super) error: AgentError,
    /// Whether the agent can have received the message all the same.
    pub(super) maybe_received: bool,
    pub(super) retry: Retry,
}

/// Whether a failed attempt is worth another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// The same request will fail the same way.
    Never,
    /// After the usual wait, or the longer one that the agent asks for.
    After(Option<Duration>),
    /// When the agent takes requests again: there were too many (429, 503), with the wait that it asks for.
    RateLimited(Option<Duration>),
    /// The same while other conversations are served: it may be busy with them, and says so in another way. Else after the
    /// usual wait, or never.
    MaybeLimited { is_transient: bool },
    /// At once, without the part that was refused; nothing of it is recorded.
    AtOnce,
    /// In another way, which is recorded: at once, or after this long by a poll for the reply.
    Instead { what: &'static str, poll: Option<Duration> },
}

/// No reply, or none that can be read.
impl From<HttpFault> for AttemptFailure {
    fn from(fault: HttpFault) -> AttemptFailure {
        let usual = Retry::After(None);
        let (kind, retry) = match fault.kind {
            HttpFaultKind::Unsendable => (AgentErrorKind::Unsendable, Retry::Never),
            HttpFaultKind::Untrusted => (AgentErrorKind::Unreachable, Retry::Never),
            HttpFaultKind::NoDescriptor => (AgentErrorKind::NoDescriptor, usual),
            HttpFaultKind::NoNetwork => (AgentErrorKind::NoNetwork, usual),
            HttpFaultKind::Unreachable => (AgentErrorKind::Unreachable, usual),
            HttpFaultKind::Cut => (AgentErrorKind::Cut, usual),
            HttpFaultKind::Timeout | HttpFaultKind::Broken => (AgentErrorKind::Timeout, usual),
            HttpFaultKind::Redirect(status) => (AgentErrorKind::Status(status), Retry::Never),
            HttpFaultKind::WrongType | HttpFaultKind::Unreadable => (AgentErrorKind::Unreadable, usual),
            HttpFaultKind::Useless => (AgentErrorKind::BadReply, usual),
            // It would come again, and the message would be said twice.
            HttpFaultKind::BeyondLimit => (AgentErrorKind::BeyondLimit, Retry::Never),
        };
        let error = AgentError { kind, message: fault.message };
        AttemptFailure { error, maybe_received: fault.kind.maybe_received(), retry }
    }
}

impl AttemptFailure {
    /// A failure that the agent itself reports: it is never tried again.
    pub(super) fn reported(kind: AgentErrorKind, message: String) -> AttemptFailure {
        AttemptFailure { error: AgentError { kind, message }, maybe_received: true, retry: Retry::Never }
    }

    /// A status that is not a success.
    pub(super) fn from_reply(reply: &HttpReply, clock: Clock) -> AttemptFailure {
        let asked = reply.retry_after.as_deref().and_then(|value| retry_after(value, clock.wall()));
        AttemptFailure::from_status(reply.status, reply.refusal(), asked)
    }

    /// A status, as it came or as an error within a success names it.
    pub(super) fn from_status(status: u16, message: String, asked: Option<Duration>) -> AttemptFailure {
        let (kind, maybe_received, retry) = match status {
            401 | 403 => (AgentErrorKind::Unauthorized, false, Retry::Never),
            404 => (AgentErrorKind::NotFound, false, Retry::Never),
            429 => (AgentErrorKind::Busy, false, Retry::RateLimited(asked)),
            503 if asked.is_some() => (AgentErrorKind::Busy, false, Retry::RateLimited(asked)),
            // Servers that limit their connections say no more than this.
            503 => (AgentErrorKind::Busy, false, Retry::MaybeLimited { is_transient: true }),
            409 | 423 if asked.is_some() => (AgentErrorKind::Busy, false, Retry::RateLimited(asked)),
            status @ (409 | 423) => {
                (AgentErrorKind::Status(status), false, Retry::MaybeLimited { is_transient: false })
            }
            status @ 500.. => (AgentErrorKind::Status(status), true, Retry::After(asked)),
            status => (AgentErrorKind::Status(status), false, Retry::Never),
        };
        AttemptFailure { error: AgentError { kind, message }, maybe_received, retry }
    }
}

/// The attempts at one call: the waits before and between them, and the record of those that failed.
pub(super) struct Retries<'a> {
    pub(super) delays: Delays,
    limiter: &'a ConversationLimiter,
    attempts: &'a mut Attempts,
    /// The waits at the limiter that no failed attempt has: a limit that was honoured is no failure, unless it is one in the end.
    limited_ms: f64,
}

impl<'a> Retries<'a> {
    /// Each call draws its own jitter.
    pub(super) fn new(context: &'a AgentContext, nth_call: u64, attempts: &'a mut Attempts) -> Retries<'a> {
        let delays = context.retry.delays(context.rng_seed.wrapping_add(nth_call)).timed_by(context.clock);
        Retries { delays, limiter: &context.limiter, attempts, limited_ms: 0.0 }
    }

    /// Makes a call that is not a message, with retries.
    pub(super) async fn run<T, F>(mut self, attempt: impl Fn() -> F + Send) -> Result<T, AgentError>
    where
        F: Future<Output = Result<T, AttemptFailure>> + Send,
    {
        loop {
            let permit = self.admit().await?;
            match attempt().await {
                Ok(outcome) => {
                    self.limiter.opened(permit);
                    return Ok(outcome);
                }
                Err(failure) => self.failed(permit, failure).await?,
            }
        }
    }

    /// Waits for the limiter that all conversations with the agent share. The wait is recorded with the attempt before, and
    /// is no part of the next one.
    ///
    /// # Errors
    /// The limiter lets nothing through.
    pub(super) async fn admit(&mut self) -> Result<Option<Permit<'a>>, AgentError> {
        loop {
            let permit = self.limiter.acquire().await;
            match (self.delays.lap_ms(), self.attempts.failures.last_mut()) {
                (Some(waited_ms), Some(before)) if before.waited_ms.is_some() || waited_ms >= 1.0 => {
                    *before.waited_ms.get_or_insert(0.0) += waited_ms;
                }
                (Some(waited_ms), None) => self.limited_ms += waited_ms,
                _ => {}
            }
            match permit {
                Ok(permit) => return Ok(permit),
                Err(_) => self.wait(refused_together("the agent refuses every request (429)".to_owned())).await?,
            }
        }
    }

    /// Reports a failure to the limiter and waits for the next attempt. Nothing is recorded of a failure that was not the
    /// agent's fault.
    ///
    /// # Errors
    /// There is no attempt left.
    pub(super) async fn failed(
        &mut self,
        permit: Option<Permit<'_>>,
        failure: AttemptFailure,
    ) -> Result<(), AgentError> {
        match settled(self.limiter, permit, failure) {
            Ok(()) => Ok(()),
            Err(failure) => {
                let is_limit = failure.error.kind == AgentErrorKind::Busy && failure.retry == Retry::Never;
                let outcome = self.wait(failure).await;
                if let Some(failed) = self.attempts.failures.last_mut().filter(|_| is_limit && self.limited_ms >= 1.0) {
                    *failed.waited_ms.get_or_insert(0.0) += std::mem::take(&mut self.limited_ms);
                }
                outcome
            }
        }
    }

    /// Records a failed attempt, and the step that replaces the next one.
    pub(super) fn instead(&mut self, failure: &AttemptFailure, what: &str) {
        let error = format!("{}; {what}", failure.error.message);
        let took_ms = self.delays.lap_ms();
        let was_cut = failure.error.kind == AgentErrorKind::Cut;
        let untimed = FailedAttempt::untimed(error, failure.maybe_received);
        self.attempts.failures.push(FailedAttempt { took_ms, was_cut, ..untimed });
    }

    /// Records a failed attempt and waits for the next one; meanwhile it is checked whether something else was down.
    ///
    /// # Errors
    /// There is no attempt left.
    async fn wait(&mut self, failure: AttemptFailure) -> Result<(), AgentError> {
        let AttemptFailure { error, maybe_received, retry } = failure;
        self.attempts.failed(&error, maybe_received, self.delays.lap_ms());
        let delay = match retry {
            Retry::After(asked) | Retry::RateLimited(asked) => self.delays.next(asked),
            Retry::MaybeLimited { is_transient } => self.delays.next(None).filter(|_| is_transient),
            Retry::Never | Retry::AtOnce | Retry::Instead { .. } => None,
        };
        let Some(delay) = delay else {
            let excuse = excuse(&error).await;
            if let Some(failed) = self.attempts.failures.last_mut() {
                failed.excuse = excuse;
            }
            return Err(error);
        };
        self.attempts.maybe_delivered |= maybe_received;
        self.limiter.report_retry(&error.message, delay);
        let ((), excuse) = tokio::join!(tokio::time::sleep(delay), excuse(&error));
        if let Some(failed) = self.attempts.failures.last_mut() {
            failed.excuse = excuse;
            failed.waited_ms = self.delays.lap_ms();
        }
        Ok(())
    }
}

/// The error where it is unknown whether the agent would serve a conversation alone.
fn refused_together(what: String) -> AttemptFailure {
    let message = format!(
        "{what} while other conversations of ours are open, so nobody can tell whether it would serve one alone; try \
         target.maxConcurrency, or -j 1"
    );
    let error = AgentError { kind: AgentErrorKind::RefusedTogether, message };
    AttemptFailure { error, maybe_received: false, retry: Retry::Never }
}

/// Reports a failure to the limiter. `Ok` where it was not the agent's fault: then the same is tried again.
fn settled(
    limiter: &ConversationLimiter,
    permit: Option<Permit<'_>>,
    failure: AttemptFailure,
) -> Result<(), AttemptFailure> {
    let asked = match failure.retry {
        Retry::RateLimited(asked) => asked,
        Retry::MaybeLimited { .. } if limiter.others_are_served() => None,
        _ => return Err(failure),
    };
    let retry = match limiter.refused(permit, asked) {
        // The limiter makes the next one wait, and a limit that was honoured is no failure.
        Some(AfterRefusal::Retry) => return Ok(()),
        Some(AfterRefusal::GiveUp) => return Err(refused_together(failure.error.message)),
        Some(AfterRefusal::AgentFailed) => Retry::Never,
        None => Retry::After(asked),
    };
    Err(AttemptFailure { retry, ..failure })
}

/// An id for a conversation to which the agent gives none: 32 hex digits, the same for the same seed.
pub(super) fn own_session_id(rng_seed: u64, nth: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(rng_seed ^ nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    format!("{:032x}", rng.u128(..))
}
