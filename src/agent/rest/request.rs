//! Requests to an agent, the same at every attempt.

use serde::Serialize;

use crate::agent::AgentErrorKind;
use crate::agent::attempts::AttemptFailure;
use crate::http::{HttpFault, HttpFaultKind, Method, Url};
use crate::secret::Secret;

/// A request, and the form of its reply.
#[derive(Clone)]
pub(in crate::agent) struct AgentRequest {
    pub(in crate::agent) method: Method,
    pub(in crate::agent) url: Url,
    /// JSON.
    pub(in crate::agent) body: Option<Vec<u8>>,
    pub(in crate::agent) form: ReplyForm,
    /// The `Accept` header, where it is not JSON alone.
    pub(in crate::agent) accept: Option<&'static str>,
    /// Headers of this request alone.
    pub(in crate::agent) headers: Vec<(String, Secret)>,
    /// The header that carries the key, and the prefix of its value.
    pub(in crate::agent) key_header: (&'static str, &'static str),
    /// The key of this request, where it is not the agent's; `Some(None)` sends none.
    pub(in crate::agent) own_key: Option<Option<Secret>>,
    pub(in crate::agent) hints: Hints,
}

/// The form of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::agent) enum ReplyForm {
    /// One JSON document.
    Document,
    /// Server-sent events.
    Events,
    /// Server-sent events where the content type says so, else one JSON document.
    EventsOrDocument,
    /// One JSON document per line.
    Lines,
}

/// Hints for requests that fail; empty where there is none.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::agent) struct Hints {
    /// For a refused connection.
    pub(in crate::agent) unreachable: &'static str,
    /// For 401 and 403.
    pub(in crate::agent) unauthorized: &'static str,
    /// For 404.
    pub(in crate::agent) not_found: &'static str,
}

/// The hints of a transport with a base URL and a key.
macro_rules! hints {
    ($key:literal, $secret:literal, $not_found:expr) => {
        $crate::agent::rest::Hints {
            unreachable: concat!("; is the agent running? target.", $key, ".baseUrl says where it is looked for"),
            unauthorized: concat!(
                "; check the agent's key (target.",
                $key,
                ".",
                $secret,
                " or EVAL_JOB_AGENT_API_KEY)"
            ),
            not_found: $not_found,
        }
    };
}
pub(in crate::agent) use hints;

/// `Authorization: Bearer`, the default.
pub(in crate::agent) const BEARER: (&str, &str) = ("authorization", "Bearer ");

impl AgentRequest {
    /// A request for a document, with a bearer key and nothing beside.
    pub(in crate::agent) fn to(method: Method, url: Url, hints: Hints) -> AgentRequest {
        AgentRequest {
            method,
            url,
            body: None,
            form: ReplyForm::Document,
            accept: None,
            headers: Vec::new(),
            key_header: BEARER,
            own_key: None,
            hints,
        }
    }

    /// Sets the body.
    pub(in crate::agent) fn with_body(self, body: &impl Serialize) -> AgentRequest {
        // It could fail only for a map with other keys than strings, which no body has.
        AgentRequest { body: serde_json::to_vec(body).ok(), ..self }
    }

    /// Sets the form of the reply.
    pub(in crate::agent) fn in_form(self, form: ReplyForm, accept: Option<&'static str>) -> AgentRequest {
        AgentRequest { form, accept, ..self }
    }
}

impl Hints {
    /// Turns a fault into a failure, with a hint.
    pub(super) fn on_fault(&self, fault: HttpFault) -> AttemptFailure {
        let is_refused = matches!(fault.kind, HttpFaultKind::Unsendable | HttpFaultKind::Untrusted);
        let failure = AttemptFailure::from(fault);
        if is_refused { failure } else { self.on(failure) }
    }

    /// Adds a hint to a failure.
    pub(in crate::agent) fn on(&self, mut failure: AttemptFailure) -> AttemptFailure {
        failure.error.message.push_str(match failure.error.kind {
            AgentErrorKind::Unreachable => self.unreachable,
            AgentErrorKind::Unauthorized => self.unauthorized,
            AgentErrorKind::NotFound => self.not_found,
            _ => "",
        });
        failure
    }
}
