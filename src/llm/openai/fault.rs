//! What a failed request means: whether it is worth another try, and what a person can do about it.

use std::time::Duration;

use super::wire::{NoWords, WireError};
use crate::clock::Clock;
use crate::http::{HttpFault, HttpFaultKind, HttpReply};
use crate::llm::LlmError;
use crate::retry::retry_after;

/// One try that brought nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) error: LlmError,
    /// Whether it is worth another try now.
    pub(super) again: bool,
    /// The wait that the endpoint asks for.
    pub(super) asked: Option<Duration>,
}

impl Failure {
    fn for_good(message: String) -> Failure {
        Failure { error: LlmError { message, transient: false }, again: false, asked: None }
    }

    fn for_now(message: String, asked: Option<Duration>) -> Failure {
        Failure { error: LlmError { message, transient: true }, again: true, asked }
    }

    /// No reply, or none that can be read.
    pub(super) fn of_fault(fault: HttpFault) -> Failure {
        match fault.kind {
            HttpFaultKind::Unreachable => {
                Failure::for_now(format!("{}; check OPENAI_BASE_URL and the network", fault.message), None)
            }
            HttpFaultKind::Timeout | HttpFaultKind::Broken | HttpFaultKind::Unreadable => {
                Failure::for_now(fault.message, None)
            }
            HttpFaultKind::Redirect(_) | HttpFaultKind::WrongType => {
                Failure::for_good(format!("{}; check OPENAI_BASE_URL", fault.message))
            }
            HttpFaultKind::Unsendable => Failure::for_good(fault.message),
        }
    }

    /// A status that is not a success.
    pub(super) fn of_status(reply: &HttpReply, model: &str, clock: Clock) -> Failure {
        Failure::of_error(reply, reply.status, &WireError::of_body(&reply.body), model, clock)
    }

    /// An error that came with the status of a success.
    pub(super) fn in_band(reply: &HttpReply, error: &WireError, model: &str, clock: Clock) -> Failure {
        // Without a status of its own it is the fault of the model behind a gateway.
        let presumed = if error.kind == "invalid_request_error" { 400 } else { 502 };
        let status = error.code.parse().unwrap_or(presumed);
        Failure::of_error(reply, status, error, model, clock)
    }

    fn of_error(reply: &HttpReply, status: u16, error: &WireError, model: &str, clock: Clock) -> Failure {
        let message = if reply.is_success() {
            format!("{}: answered with an error: {}", reply.place, reply.quote(&error.message))
        } else if error.message.is_empty() {
            reply.refusal()
        } else {
            format!("{}: answered {status}: {}", reply.place, reply.quote(&error.message))
        };
        match status {
            _ if error.out_of_money() => {
                Failure::for_good(format!("{message}; the account has no credit left: check its billing"))
            }
            401 => Failure::for_good(format!("{message}; check OPENAI_API_KEY")),
            403 => Failure::for_good(format!("{message}; check that OPENAI_API_KEY may use the model {model:?}")),
            404 => Failure::for_good(format!("{message}; check the name of the model, {model:?}, and OPENAI_BASE_URL")),
            // Groq's word for a model that missed the schema this time.
            400 if error.code == "json_validate_failed" => Failure::for_now(message, None),
            408 | 429 | 500.. => {
                let asked = reply.retry_after.as_deref().and_then(|value| retry_after(value, clock.wall()));
                Failure::for_now(message, asked)
            }
            _ => Failure::for_good(message),
        }
    }

    /// A success without words. A model that said nothing at all may say something when it is asked again.
    pub(super) fn of_silence(reply: &HttpReply, why: &NoWords) -> Failure {
        let (what, transient) = match why {
            NoWords::Refused(words) => (format!("the model refuses: {}", reply.quote(words)), false),
            NoWords::Filtered => ("the provider's content filter took the reply away".to_owned(), false),
            NoWords::Cut => {
                ("the reply was cut off at the model's token limit; try a model with a larger one".to_owned(), false)
            }
            NoWords::Nothing => ("the reply holds no text".to_owned(), true),
            NoWords::NoChoice => ("the reply holds no choices; check OPENAI_BASE_URL".to_owned(), true),
        };
        let error = LlmError { message: format!("{}: {what}", reply.place), transient };
        Failure { error, again: *why == NoWords::Nothing, asked: None }
    }
}
