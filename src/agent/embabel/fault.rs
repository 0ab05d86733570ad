//! What there is to try when a call of Embabel's protocol fails.

use crate::agent::AgentErrorKind;
use crate::agent::attempts::Failure;
use crate::clock::Clock;
use crate::http::{HttpFault, HttpFaultKind, HttpReply};

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

/// No reply, or none that can be read.
pub(super) fn failed(fault: HttpFault, purpose: Purpose) -> Failure {
    let of = fault.kind;
    Failure::of_fault(fault).with_hint(|kind| hint(kind, of, purpose))
}

/// A status that is not a success.
pub(super) fn refused(reply: &HttpReply, purpose: Purpose, clock: Clock) -> Failure {
    Failure::of_status(reply, clock).with_hint(|kind| hint(kind, HttpFaultKind::Unreadable, purpose))
}

/// What to try, where there is something to try.
fn hint(kind: AgentErrorKind, fault: HttpFaultKind, purpose: Purpose) -> &'static str {
    match (kind, purpose) {
        (AgentErrorKind::Unreachable, _) if fault == HttpFaultKind::Untrusted => "",
        (AgentErrorKind::Unreachable, Purpose::Knowledge) => {
            "; is the knowledge-graph service running? target.embabel.knowledge.baseUrl says where it is looked for"
        }
        (AgentErrorKind::Unreachable, _) => {
            "; is the agent running? target.embabel.baseUrl says where it is looked for"
        }
        (AgentErrorKind::Unauthorized, Purpose::Knowledge) => {
            "; the agent's key goes to the agent's own scheme, host and port only: check target.embabel.knowledge.apiKey"
        }
        (AgentErrorKind::Unauthorized, _) => {
            "; check the agent's API key (target.embabel.apiKey or EVAL_JOB_AGENT_API_KEY)"
        }
        (AgentErrorKind::NotFound, Purpose::Open) => {
            "; check target.embabel.baseUrl and target.embabel.path, and that the agent knows the chatbot (target.chatbot)"
        }
        (AgentErrorKind::NotFound, Purpose::Talk) => {
            "; the agent does not know the session any more, or has no such path"
        }
        _ => "",
    }
}
