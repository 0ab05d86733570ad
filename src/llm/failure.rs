//! Classifies failed requests: whether to retry, and what a person can do about it.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::{ApiError, CHECK_NAME, LlmError, LlmErrorKind, NoText, Origin};
use crate::clock::Clock;
use crate::descriptors;
use crate::evidence::Usage;
use crate::http::{HttpFault, HttpFaultKind, HttpReply};
use crate::money::LimitExceeded;
use crate::retry::retry_after;

/// How many characters of a truncated reply are quoted to the model in the retry.
const MAX_QUOTED_CHARS: usize = 200;

/// A wait within this is that of a limit by the day or the month: nobody waits for its end. A longer one is a mistake.
const WAITS_OF_LIMITS: RangeInclusive<Duration> = Duration::from_secs(3601)..=Duration::from_secs(31 * 24 * 3600);

/// A failed try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub(super) error: LlmError,
    /// Whether to retry.
    pub(super) next: NextTry,
}

/// Whether and how a failed try is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextTry {
    /// Nothing: the same request fails again.
    End,
    /// The same question at once, with the allowance for reasoning that it lacked.
    AtOnce,
    /// Another try, after the wait that the endpoint asks for.
    Again(Option<Duration>),
    /// One more try at the most: this one took all the time that there is.
    OnceMore,
    /// Nothing: the rate limit has let nothing through for too long.
    RateLimitExhausted,
    /// Another try when the rate limit allows it; the wait that the endpoint asks for.
    Slower(Option<Duration>),
}

/// The model of a failed request, and where it is.
#[derive(Clone, Copy)]
pub(super) struct ErrorContext<'a> {
    pub(super) model: &'a str,
    pub(super) origin: &'a Origin,
    pub(super) clock: Clock,
}

impl Failure {
    fn for_good(message: String) -> Failure {
        Failure { error: LlmError::for_good(message), next: NextTry::End }
    }

    fn for_all(message: String) -> Failure {
        Failure { error: LlmError { kind: LlmErrorKind::OfAll, ..LlmError::for_good(message) }, next: NextTry::End }
    }

    fn for_now(message: String, next: NextTry) -> Failure {
        Failure { error: LlmError::for_now(message), next }
    }

    /// No reply, or none that can be read.
    pub(super) fn from_fault(fault: HttpFault, origin: &Origin) -> Failure {
        let address = &origin.address;
        match fault.kind {
            HttpFaultKind::NoDescriptor => {
                let message = format!("{}; try {}", fault.message, descriptors::HINT);
                let error = LlmError { kind: LlmErrorKind::NoDescriptor, ..LlmError::for_now(message) };
                Failure { error, next: NextTry::Again(None) }
            }
            HttpFaultKind::Unreachable | HttpFaultKind::NoNetwork => {
                Failure::for_now(format!("{}; check {address} and the network", fault.message), NextTry::Again(None))
            }
            HttpFaultKind::Timeout => {
                let message = format!("{} (limits.model; a busy or local model may need a lower -j)", fault.message);
                Failure::for_now(message, NextTry::OnceMore)
            }
            HttpFaultKind::Cut | HttpFaultKind::Broken | HttpFaultKind::Unreadable | HttpFaultKind::Useless => {
                Failure::for_now(fault.message, NextTry::Again(None))
            }
            HttpFaultKind::Redirect(_) | HttpFaultKind::WrongType => {
                Failure::for_all(format!("{}; check {address}", fault.message))
            }
            HttpFaultKind::Unsendable | HttpFaultKind::Untrusted => Failure::for_all(fault.message),
            HttpFaultKind::BeyondLimit => Failure::for_now(fault.message, NextTry::OnceMore),
        }
    }

    /// A request that was not sent, since nothing happens that is not recorded.
    pub(super) fn not_kept(error: &std::io::Error) -> Failure {
        Failure::for_good(format!("it was not asked, since that can't be recorded: {error}"))
    }

    /// A status that is not a success.
    pub(super) fn from_status(reply: &HttpReply, api_error: &ApiError, context: ErrorContext<'_>) -> Failure {
        Failure::from_api_error(reply, reply.status, api_error, context)
    }

    /// An error that came with the status of a success.
    pub(super) fn in_band(reply: &HttpReply, api_error: &ApiError, context: ErrorContext<'_>) -> Failure {
        // Without a status of its own it is the fault of the model behind a gateway.
        let presumed = match api_error.kind.as_str() {
            "invalid_request_error" => 400,
            "rate_limit_error" => 429,
            _ => 502,
        };
        let status = api_error.code.parse().unwrap_or(presumed);
        Failure::from_api_error(reply, status, api_error, context)
    }

    fn from_api_error(reply: &HttpReply, status: u16, api_error: &ApiError, context: ErrorContext<'_>) -> Failure {
        let ErrorContext { model, origin, clock } = context;
        let message = if reply.is_success() {
            format!("{}: answered with an error: {}", reply.place, reply.quote(&api_error.message))
        } else if api_error.message.is_empty() {
            reply.refusal()
        } else {
            format!("{}: answered {status}: {}", reply.place, reply.quote(&api_error.message))
        };
        let wait = asked(reply, api_error, clock);
        match status {
            _ if api_error.is_out_of_credit() => {
                Failure::for_all(format!("{message}; the account has no credit left: check its billing"))
            }
            _ if api_error.is_daily_limit() => {
                Failure::for_all(format!("{message}; this limit is counted by the day: try again tomorrow"))
            }
            401 => Failure::for_all(format!("{message}; check {}", origin.key)),
            _ if api_error.is_about_key() => Failure::for_all(format!("{message}; check {}", origin.key)),
            403 => Failure::for_all(format!("{message}; check that {} may use the model {model:?}", origin.key)),
            404 => {
                let message = format!("{message}; {CHECK_NAME}, {model:?}, and {}", origin.address);
                let error = LlmError { kind: LlmErrorKind::Misnamed, ..LlmError::for_good(message) };
                Failure { error, next: NextTry::End }
            }
            // Groq's code for a reply that missed the schema.
            400 if api_error.code == "json_validate_failed" => Failure::for_now(message, NextTry::Again(None)),
            429 | 503 | 529 if wait.is_some_and(|wait| WAITS_OF_LIMITS.contains(&wait)) => Failure::for_all(format!(
                "{message}; it asks for a wait of {}: try again then",
                hours(wait.unwrap_or_default())
            )),
            429 => Failure::for_now(message, NextTry::Slower(wait)),
            // A wait that the endpoint asks for applies to all requests.
            503 | 529 if wait.is_some() => Failure::for_now(message, NextTry::Slower(wait)),
            408 | 500.. => Failure::for_now(message, NextTry::Again(wait)),
            _ => Failure::for_good(message),
        }
    }

    /// A success without text. A model that returned nothing at all may answer when it is asked again.
    pub(super) fn no_text(reply: &HttpReply, why: &NoText, usage: Usage, origin: &Origin) -> Failure {
        let (what, transient) = match why {
            NoText::Refused(text) if text.is_empty() => ("the model refuses to answer".to_owned(), false),
            NoText::Refused(text) => (format!("the model refuses: {}", reply.quote(text)), false),
            NoText::Filtered(why) if why.is_empty() => {
                ("the provider's content filter took the reply away".to_owned(), false)
            }
            NoText::Filtered(why) => {
                (format!("the provider's content filter took the reply away ({})", reply.quote(why)), false)
            }
            NoText::CutOff(_) => {
                ("the reply was cut off at its token limit; try a larger maxTokens or another model".to_owned(), false)
            }
            NoText::Nothing => ("the reply holds no text".to_owned(), true),
            NoText::NoChoice => (format!("the reply holds no choices; check {}", origin.address), true),
            NoText::NoVectors => {
                (format!("the reply holds no embeddings of both texts; check {}", origin.address), true)
            }
        };
        let kind = match why {
            NoText::Nothing => LlmErrorKind::Silence,
            NoText::CutOff(text) => LlmErrorKind::CutOff(text.chars().take(MAX_QUOTED_CHARS).collect()),
            _ => LlmErrorKind::Other,
        };
        let message = format!("{}: {what}", reply.place);
        let next = match why {
            NoText::Nothing => NextTry::Again(None),
            NoText::NoChoice => NextTry::OnceMore,
            _ => NextTry::End,
        };
        let error = LlmError { message, transient, usage: Box::new(usage), kind };
        Failure { error, next }
    }

    /// The run's money or tokens do not reach for the request.
    pub(super) fn over_budget(limit_exceeded: &LimitExceeded) -> Failure {
        let message = format!("{limit_exceeded}; try a higher limit, or a smaller maxTokens of the model");
        Failure {
            error: LlmError { kind: LlmErrorKind::OverBudget, ..LlmError::for_good(message) },
            next: NextTry::End,
        }
    }

    /// The endpoint takes no limit for its replies, so that their cost is unbounded.
    pub(super) fn unbounded(model: &str) -> Failure {
        Failure::for_good(format!(
            "the endpoint refuses maxTokens for the model {model:?}, so what a reply can cost has no bound: limits.cost and \
             limits.tokens can't be kept with it"
        ))
    }

    /// The rate limit has let nothing through for too long. `last` is the refusal that is known, if any.
    pub(super) fn rate_limit_exhausted(last: Option<LlmError>, model: &str) -> Failure {
        let what =
            format!("the rate limit lets nothing through for the model {model:?}; nothing more is asked of it now");
        let message = last.map_or(what.clone(), |last| format!("{}; {what}", last.message));
        Failure { error: LlmError::for_now(message), next: NextTry::RateLimitExhausted }
    }
}

/// A long wait in words: `24 hours`.
fn hours(wait: Duration) -> String {
    match wait.as_secs().div_ceil(3600) {
        hours @ 0..=72 => format!("{hours} hours"),
        hours => format!("{} days", hours.div_ceil(24)),
    }
}

/// The wait that an endpoint asks for: `retry-after-ms` (OpenAI's, Azure's), `Retry-After`, or what the body says.
fn asked(reply: &HttpReply, api_error: &ApiError, clock: Clock) -> Option<Duration> {
    let exact = reply.header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    let exact = exact.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
    let usual = || reply.retry_after.as_deref().and_then(|value| retry_after(value, clock.wall()));
    exact.or_else(usual).or(api_error.wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_lacked_a_descriptor_of_ours_is_no_failure_of_the_model() {
        let origin = Origin { address: "judge.model.baseUrl".to_owned(), key: "KEY".to_owned() };
        let of = |kind| Failure::from_fault(HttpFault { kind, message: "no connection".to_owned() }, &origin).error;
        let ours = of(HttpFaultKind::NoDescriptor);
        assert!(
            ours.kind == LlmErrorKind::NoDescriptor && ours.transient && ours.message.contains("ulimit -n"),
            "{ours}"
        );
        assert!(!ours.message.contains("baseUrl"), "{ours}");
        assert_eq!(of(HttpFaultKind::Unreachable).kind, LlmErrorKind::Other);
    }
}
