//! What a failed call means: its kind, whether the message can have arrived, whether it is worth another try.

use std::time::Duration;

use crate::agent::{AgentError, AgentErrorKind};
use crate::clock::Clock;
use crate::http::{HttpFault, HttpFaultKind, HttpReply};
use crate::retry::retry_after;

/// One try that brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) error: AgentError,
    /// Whether the agent can have received the request all the same.
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
}

/// Which call failed; it decides what there is to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Opening a session.
    Open,
    /// Talking in one, or looking at its state.
    Talk,
    /// Creating a knowledge context.
    Knowledge,
}

impl Failure {
    /// No reply, or none that can be read.
    pub(super) fn of_fault(fault: HttpFault, purpose: Purpose) -> Failure {
        let usual = Again::After(None);
        let (kind, again) = match fault.kind {
            HttpFaultKind::Unsendable => (AgentErrorKind::Unreachable, Again::Never),
            HttpFaultKind::Unreachable => (AgentErrorKind::Unreachable, usual),
            HttpFaultKind::Timeout | HttpFaultKind::Broken => (AgentErrorKind::Timeout, usual),
            HttpFaultKind::Redirect(status) => (AgentErrorKind::Status(status), Again::Never),
            HttpFaultKind::WrongType | HttpFaultKind::Unreadable => (AgentErrorKind::BadReply, usual),
        };
        let message = format!("{}{}", fault.message, hint(kind, fault.kind, purpose));
        Failure { error: AgentError { kind, message }, maybe_received: fault.kind.maybe_received(), again }
    }

    /// A status that is not a success.
    pub(super) fn of_status(reply: &HttpReply, purpose: Purpose, clock: Clock) -> Failure {
        let asked = || reply.retry_after.as_deref().and_then(|value| retry_after(value, clock.wall()));
        let (kind, maybe_received, again) = match reply.status {
            401 | 403 => (AgentErrorKind::Unauthorized, false, Again::Never),
            404 => (AgentErrorKind::NotFound, false, Again::Never),
            429 | 503 => (AgentErrorKind::Busy, false, Again::After(asked())),
            status @ 500.. => (AgentErrorKind::Status(status), true, Again::After(asked())),
            status => (AgentErrorKind::Status(status), false, Again::Never),
        };
        let message = format!("{}{}", reply.refusal(), hint(kind, HttpFaultKind::Unreadable, purpose));
        Failure { error: AgentError { kind, message }, maybe_received, again }
    }
}

/// What to try, where there is something to try.
fn hint(kind: AgentErrorKind, fault: HttpFaultKind, purpose: Purpose) -> &'static str {
    match (kind, purpose) {
        (AgentErrorKind::Unreachable, _) if fault == HttpFaultKind::Unsendable => "",
        (AgentErrorKind::Unreachable, Purpose::Knowledge) => {
            "; is the knowledge-graph service running? target.embabel.knowledge.baseUrl says where it is looked for"
        }
        (AgentErrorKind::Unreachable, _) => {
            "; is the agent running? target.embabel.baseUrl says where it is looked for"
        }
        (AgentErrorKind::Unauthorized, _) => {
            "; check the agent's API key (target.embabel.apiKey or EVAL_JOB_AGENT_API_KEY)"
        }
        (AgentErrorKind::NotFound, Purpose::Open) => {
            "; check target.embabel.baseUrl and target.embabel.path, and that the agent knows the chatbot"
        }
        _ => "",
    }
}
