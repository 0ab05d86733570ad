//! What a failed try over HTTP means, and how a message is tried again.

use std::time::Duration;

use super::witness::excuse;
use super::{AgentError, AgentErrorKind};
use crate::clock::Clock;
use crate::evidence::FailedTry;
use crate::http::{HttpFault, HttpFaultKind, HttpReply};
use crate::limiter::{Blame, Permit, Place};
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

/// One try that brought nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Failure {
    pub(super) error: AgentError,
    /// Whether the agent can have received the message all the same.
    pub(super) maybe_received: bool,
    pub(super) again: Again,
}

/// Whether a failed try is worth another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Again {
    /// The same request will fail the same way.
    Never,
    /// After the usual wait, or the longer one that the agent asks for.
    After(Option<Duration>),
    /// When the agent takes requests again: it said that there are too many, and the wait that it asks for.
    Slower(Option<Duration>),
}

impl Failure {
    /// No reply, or none that can be read.
    pub(super) fn of_fault(fault: HttpFault) -> Failure {
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
        Failure { error, maybe_received: fault.kind.maybe_received(), again }
    }

    /// A status that is not a success.
    pub(super) fn of_status(reply: &HttpReply, clock: Clock) -> Failure {
        let asked = reply.retry_after.as_deref().and_then(|value| retry_after(value, clock.wall()));
        Failure::of_number(reply.status, reply.refusal(), asked)
    }

    /// A status, as it came or as an error within a success names it.
    pub(super) fn of_number(status: u16, message: String, asked: Option<Duration>) -> Failure {
        let (kind, maybe_received, again) = match status {
            401 | 403 => (AgentErrorKind::Unauthorized, false, Again::Never),
            404 => (AgentErrorKind::NotFound, false, Again::Never),
            429 => (AgentErrorKind::Busy, false, Again::Slower(asked)),
            503 if asked.is_some() => (AgentErrorKind::Busy, false, Again::Slower(asked)),
            503 => (AgentErrorKind::Busy, false, Again::After(None)),
            status @ 500.. => (AgentErrorKind::Status(status), true, Again::After(asked)),
            status => (AgentErrorKind::Status(status), false, Again::Never),
        };
        Failure { error: AgentError { kind, message }, maybe_received, again }
    }

    /// The same with what to try, where there is something to try.
    pub(super) fn with_hint<Hint: AsRef<str>>(mut self, hint: impl FnOnce(AgentErrorKind) -> Hint) -> Failure {
        self.error.message.push_str(hint(self.error.kind).as_ref());
        self
    }
}

/// One try, when the limiter that all conversations with the agent share lets it pass; again for as long as a refusal is
/// nobody's fault.
pub(super) async fn admitted<T, Try>(
    place: &Place,
    once: impl Fn() -> Try + Send + Sync,
    (delays, attempts): (&mut Delays, &mut Attempts),
) -> Result<T, Failure>
where
    Try: Future<Output = Result<T, Failure>> + Send,
{
    loop {
        let permit = admission(place, (delays, attempts)).await?;
        match once().await {
            Ok(reply) => {
                place.answered(permit);
                return Ok(reply);
            }
            Err(failure) => settled(place, permit, failure)?,
        }
    }
}

/// Waits for the limiter; the failure is that it lets nothing through. What was waited is told of the try before, and is no
/// part of the one that comes.
pub(super) async fn admission<'a>(
    place: &'a Place,
    (delays, attempts): (&mut Delays, &mut Attempts),
) -> Result<Option<Permit<'a>>, Failure> {
    let permit = place.admit().await;
    if let (Some(waited_ms), Some(before)) = (delays.lap_ms(), attempts.failures.last_mut())
        && (before.waited_ms.is_some() || waited_ms >= 1.0)
    {
        *before.waited_ms.get_or_insert(0.0) += waited_ms;
    }
    permit.map_err(|_| crowded("the agent refuses every request (429)".to_owned()))
}

/// That it can't be told whether the agent would serve a conversation alone.
fn crowded(what: String) -> Failure {
    let message = format!(
        "{what} while other conversations of ours are open, so nobody can tell whether it would serve one alone; try \
         target.maxConcurrency, or -j 1"
    );
    let error = AgentError { kind: AgentErrorKind::Crowded, message };
    Failure { error, maybe_received: false, again: Again::Never }
}

/// Tells the limiter of a failure. Nothing is left of one that was not the agent's fault: then the same is tried again.
pub(super) fn settled(place: &Place, permit: Option<Permit<'_>>, failure: Failure) -> Result<(), Failure> {
    let Again::Slower(asked) = failure.again else { return Err(failure) };
    let again = match place.refused(permit, asked) {
        // The limiter makes the next one wait, and a limit that was honoured is no failure.
        Some(Blame::Crowd | Blame::Agent) => return Ok(()),
        Some(Blame::CrowdForLong) => return Err(crowded(failure.error.message)),
        Some(Blame::Enough) => Again::Never,
        None => Again::After(asked),
    };
    Err(Failure { again, ..failure })
}

/// Keeps a failed try in mind and waits for the next one; the error, when there is none left. Whether something else was
/// wrong is looked at meanwhile.
pub(super) async fn fail(failure: Failure, delays: &mut Delays, attempts: &mut Attempts) -> Result<(), AgentError> {
    let Failure { error, maybe_received, again } = failure;
    attempts.failed(&error, maybe_received, delays.lap_ms());
    let delay = match again {
        Again::Never => None,
        Again::After(asked) => delays.next(asked),
        Again::Slower(_) => Some(Duration::ZERO),
    };
    let Some(delay) = delay else {
        let excuse = excuse(&error).await;
        if let Some(failed) = attempts.failures.last_mut() {
            failed.excuse = excuse;
        }
        return Err(error);
    };
    attempts.maybe_delivered |= maybe_received;
    let ((), excuse) = tokio::join!(tokio::time::sleep(delay), excuse(&error));
    if let Some(failed) = attempts.failures.last_mut() {
        failed.excuse = excuse;
        failed.waited_ms = delays.lap_ms();
    }
    Ok(())
}

/// An id for a conversation to which the agent gives none: 32 hex digits, the same in the same run of the same job.
pub(super) fn own_session_id(rng_seed: u64, nth: u64) -> String {
    let mut rng = fastrand::Rng::with_seed(rng_seed ^ nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    format!("{:032x}", rng.u128(..))
}
