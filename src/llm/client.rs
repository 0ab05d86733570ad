//! Sends the requests of any provider: retries, features that are left out, rate limits.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use sha2::{Digest, Sha256};

use super::failure::{ErrorContext, Failure, NextTry};
use super::reply::usable;
use super::{
    ApiError, KeyAnswer, Llm, LlmError, LlmReply, LlmRequest, LlmRole, MaxTokens, ModelOptions, ModelSettings, NoText,
    ProviderApi, ProviderRequest, ReplyBody, RequestFeatures, UsageMeter, key_check,
};
use crate::evidence::Usage;
use crate::http::{BODY_CAP, Call, Extra, HttpClient, HttpReply, KeyHeader, Method};
use crate::limiter::{Permit, RateLimitHeaders, Waiter};
use crate::money::Reservation;
use crate::secret::Secret;

/// A reply is expected to cost so many tokens until the first came.
const EXPECTED_REPLY: f64 = 150.0;

/// The version of how replies are read: a later one reads another answer out of the same bytes.
const WIRE_VERSION: &str = "1";

/// The most tokens that a model may reason before it speaks, where the job does not say. No list of names tells which
/// models reason: one that does is cut off within its thoughts, once.
const REASONING: u32 = 16_000;

/// A model of any provider.
pub struct Client {
    name: String,
    pub(super) provider: Box<dyn ProviderApi>,
    pub(super) settings: ModelSettings,
    pub(super) http: HttpClient,
    /// The features that the model has not refused, for all requests.
    features: Mutex<RequestFeatures>,
    /// Whether a reply was cut off within what the model reasons before it speaks.
    reasons: AtomicBool,
    /// The number of requests so far: each draws its own jitter.
    calls: AtomicU64,
}

/// One try of a request.
#[derive(Clone, Copy)]
struct RequestAttempt<'a> {
    request: &'a LlmRequest,
    features: RequestFeatures,
    /// The key that the provider refused in the try before.
    refused_key: Option<&'a Secret>,
    meter: &'a UsageMeter,
}

/// The reaction to a failed try.
enum Reaction {
    /// The same question without what was refused, at once.
    Differently,
    /// The same question with another key, at once.
    WithAnotherKey(Secret),
    /// A failure, which may be retried.
    Failed(Failure),
}

impl Client {
    pub(super) fn new(name: &str, provider: Box<dyn ProviderApi>, settings: ModelSettings, http: HttpClient) -> Client {
        Client {
            name: format!("{name}/{}", settings.model),
            features: Mutex::new(provider.first_features()),
            provider,
            reasons: AtomicBool::new(settings.options.effort.is_some()),
            settings,
            http,
            calls: AtomicU64::new(0),
        }
    }

    pub(super) fn features(&self) -> RequestFeatures {
        *self.features.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The options of this request: where the job gives no bound for its reply, what such a reply takes.
    fn options(&self, request: &LlmRequest) -> ModelOptions {
        self.bounded(request, if self.reasons.load(Ordering::Relaxed) { REASONING } else { 0 })
    }

    /// The options of a request whose reply may be longer by this allowance, in tokens, where the job gives no bound.
    fn bounded(&self, request: &LlmRequest, allowance: u32) -> ModelOptions {
        let expected = || Some(request.max_tokens()?.saturating_add(allowance));
        ModelOptions { max_tokens: self.settings.options.max_tokens.or_else(expected), ..self.settings.options }
    }

    pub(super) fn error_context(&self) -> ErrorContext<'_> {
        ErrorContext { model: &self.settings.model, origin: &self.settings.origin, clock: self.settings.clock }
    }

    async fn once(&self, attempt: RequestAttempt<'_>, waiter: Waiter) -> Result<LlmReply, Reaction> {
        let RequestAttempt { request, features, refused_key, meter } = attempt;
        let settings = &self.settings;
        let options = self.options(request);
        let token = self.provider.token(refused_key).await.map_err(Reaction::Failed)?;
        let key = token.as_ref().or(settings.key.as_ref()).filter(|key| !key.expose().is_empty());
        let ProviderRequest { url, headers, body } = self.provider.provider_request(request, &options, features);
        let queued = meter.queued();
        let reserved = match &settings.allowance {
            Some(_) if features.max_tokens == MaxTokens::Omitted && !self.provider.always_bounds() => {
                return Err(Reaction::Failed(Failure::unbounded(&settings.model)));
            }
            Some(allowance) => match allowance.set_aside(body.len(), options.max_tokens.unwrap_or(0)).await {
                Ok(reserved) => Some(reserved),
                Err(limit_exceeded) => return Err(Reaction::Failed(Failure::over_budget(&limit_exceeded))),
            },
            None => None,
        };
        let estimated = body.len() as f64 / 4.0 + EXPECTED_REPLY;
        let permit = match settings.limiter.acquire(waiter, estimated).await {
            Ok(permit) => permit,
            Err(_) => {
                release(reserved);
                return Err(Reaction::Failed(Failure::rate_limit_exhausted(None, &settings.model)));
            }
        };
        drop(queued);
        let (name, before) = self.provider.key_header();
        let call = Call {
            method: Method::POST,
            url,
            key: key.map(|key| KeyHeader { name, before, key }),
            body: Some(body),
            time_limit: settings.time_limit,
            body_cap: BODY_CAP,
        };
        // The key itself never travels where a token stands for it, but an error could name it.
        let beside = Extra { plain: headers, secret: settings.key.as_ref(), ..Extra::default() };
        let most = reserved.as_ref().map(Reservation::most).unwrap_or_default();
        if let Err(error) = meter.about_to_send(most).await {
            release(reserved);
            meter.took(Usage::default());
            return Err(Reaction::Failed(Failure::not_kept(&error)));
        }
        let reply = self.http.exchange_with(call, beside).await;
        let reply = match reply {
            Ok(reply) => reply,
            Err(fault) => {
                // A request that may have been received may be billed: its amount stays reserved.
                let is_free = !fault.kind.maybe_received();
                release(reserved.filter(|_| is_free));
                meter.took(if is_free { Usage::default() } else { Usage::from_counts(None, None) });
                return Err(Reaction::Failed(Failure::from_fault(fault, &settings.origin)));
            }
        };
        if reply.is_success() {
            let read = self.read(attempt, &options, &reply, permit);
            let usage = match &read {
                Ok(reply) => reply.usage,
                Err(failure) => *failure.error.usage,
            };
            meter.took(usage);
            self.pay(reserved, &usage);
            return read.map_err(Reaction::Failed);
        }
        // Refusals are not billed.
        release(reserved);
        meter.took(Usage::default());
        let api_error = ApiError::from_body(&reply.body);
        // A refusal of the whole model (403) names it, and is not mended by another request.
        let may_be_about_request =
            matches!(reply.status, 400 | 422) || reply.status == 403 && !api_error.names_nothing();
        if may_be_about_request && self.learns(&api_error, request, features) {
            permit.accepted(Some(0), &self.rate_limit_headers(&reply));
            return Err(Reaction::Differently);
        }
        if let (401, Some(token), None) = (reply.status, token, refused_key) {
            return Err(Reaction::WithAnotherKey(token));
        }
        let failure = Failure::from_status(&reply, &api_error, self.error_context());
        self.report_refusal(permit, &reply, &failure);
        Err(Reaction::Failed(failure))
    }

    fn read(
        &self,
        attempt: RequestAttempt<'_>,
        options: &ModelOptions,
        reply: &HttpReply,
        permit: Permit<'_>,
    ) -> Result<LlmReply, Failure> {
        let RequestAttempt { request, features, .. } = attempt;
        let origin = &self.settings.origin;
        let body: ReplyBody = reply.object().map_err(|fault| Failure::from_fault(fault, origin))?;
        if let Some(api_error) = body.error() {
            let failure = Failure::in_band(reply, &api_error, self.error_context());
            self.report_refusal(permit, reply, &failure);
            return Err(failure);
        }
        let usage = self.provider.usage(&body);
        permit.accepted(usage.total_tokens(), &self.rate_limit_headers(reply));
        match self.provider.text(&body).and_then(|text| usable(text, request.schema.is_some())) {
            Ok(text) => {
                let tokens = if request.wants_alternatives() { self.provider.tokens(&body) } else { Vec::new() };
                let notes = features.notes(request, &self.settings.options);
                Ok(LlmReply { text, usage, notes, tokens, is_cached: false })
            }
            Err(why) => {
                let failure = Failure::no_text(reply, &why, usage, origin);
                let has_no_allowance =
                    self.settings.options.max_tokens.is_none() && options.max_tokens == request.max_tokens();
                match why {
                    NoText::CutOff(text) if has_no_allowance && is_reasoning(&text, &usage) => {
                        self.reasons.store(true, Ordering::Relaxed);
                        Err(Failure { next: NextTry::AtOnce, ..failure })
                    }
                    _ => Err(failure),
                }
            }
        }
    }

    /// Pays for a reply. One without a usage costs the reserved amount.
    fn pay(&self, reserved: Option<Reservation>, usage: &Usage) {
        let Some((reserved, allowance)) = reserved.zip(self.settings.allowance.as_ref()) else { return };
        match allowance.amount(usage) {
            Some(amount) => reserved.settle(amount),
            None => drop(reserved),
        }
    }

    /// Reports a refused request to the limiter.
    fn report_refusal(&self, permit: Permit<'_>, reply: &HttpReply, failure: &Failure) {
        if let NextTry::Slower(asked) = failure.next {
            permit.refused(asked, &self.rate_limit_headers(reply));
        }
    }

    fn rate_limit_headers(&self, reply: &HttpReply) -> RateLimitHeaders {
        RateLimitHeaders::parse(|name| reply.header(name), self.settings.clock.wall())
    }

    /// Whether a refusal names something that was sent and can be left out; it is remembered for all later requests.
    fn learns(&self, api_error: &ApiError, request: &LlmRequest, features: RequestFeatures) -> bool {
        let first = self.provider.first_features();
        let options = self.options(request);
        let Some(weaker) = features.without_refused(api_error, request, &options, first) else {
            return false;
        };
        // Requests in flight may come back late with a refusal that is known already.
        let mut known = self.features.lock().unwrap_or_else(PoisonError::into_inner);
        *known = known.and(weaker, first);
        true
    }
}

/// Whether a reply was cut off before its text began: the tokens went into reasoning.
fn is_reasoning(text: &str, usage: &Usage) -> bool {
    let text = text.trim_start();
    let is_thinking = text.starts_with("<think") && !text.contains("</think");
    text.is_empty() || is_thinking || usage.reasoning_tokens.is_some_and(|tokens| tokens > 0)
}

fn release(reserved: Option<Reservation>) {
    if let Some(reserved) = reserved {
        reserved.release();
    }
}

#[async_trait]
impl Llm for Client {
    fn name(&self) -> &str {
        &self.name
    }

    fn address(&self) -> Option<String> {
        self.settings.base().ok().map(|base| base.to_string())
    }

    fn request_digest(&self, request: &LlmRequest) -> Option<String> {
        // Each process learns anew which features a model refuses, so they may not decide.
        let (options, features) = (self.bounded(request, 0), self.provider.first_features());
        let ProviderRequest { url, headers, body } = self.provider.provider_request(request, &options, features);
        let mut digest = Sha256::new();
        for part in
            [WIRE_VERSION, &self.name, url.as_str()].into_iter().chain(headers.iter().flat_map(|(k, v)| [*k, *v]))
        {
            digest.update(part);
            digest.update([0]);
        }
        digest.update(&body);
        Some(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    async fn check_key(&self) -> KeyAnswer {
        key_check::check_key(self).await
    }

    async fn check_name(&self) -> KeyAnswer {
        key_check::check_name(self).await
    }

    async fn complete_metered(&self, request: &LlmRequest, meter: &UsageMeter) -> Result<LlmReply, LlmError> {
        let nth_call = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut delays = self.settings.retry.delays(self.settings.rng_seed.wrapping_add(nth_call));
        let waiter = self.settings.limiter.waiter();
        let mut refused_key = None;
        let mut last = None;
        let mut was_late = false;
        loop {
            let attempt =
                RequestAttempt { request, features: self.features(), refused_key: refused_key.as_ref(), meter };
            let Failure { mut error, next } = match self.once(attempt, waiter).await {
                // A try without text is paid for too.
                Ok(reply) => return Ok(LlmReply { usage: meter.usage(), ..reply }),
                // Each change takes something away for good, so there are few.
                Err(Reaction::Differently) => continue,
                Err(Reaction::WithAnotherKey(refused)) => {
                    refused_key = Some(refused);
                    continue;
                }
                Err(Reaction::Failed(failure)) => failure,
            };
            *error.usage = meter.usage();
            meter.failed(&error.message);
            let asked = match next {
                // The last refusal says why.
                NextTry::RateLimitExhausted => {
                    let exhausted = Failure::rate_limit_exhausted(last, &self.settings.model).error;
                    return Err(LlmError { usage: Box::new(meter.usage()), ..exhausted });
                }
                NextTry::End => return Err(error),
                NextTry::AtOnce => continue,
                // After two timeouts the remaining tries are not waited for.
                NextTry::OnceMore if std::mem::replace(&mut was_late, true) => return Err(error),
                NextTry::OnceMore => None,
                NextTry::Again(asked) | NextTry::Slower(asked) => asked,
            };
            // A refusal by a rate limit uses up a try too, but its wait is the queue's.
            let Some(delay) = delays.next(asked) else { return Err(error) };
            if let NextTry::Again(_) | NextTry::OnceMore = next {
                let role = match request.role {
                    LlmRole::Persona => "the persona's model",
                    LlmRole::Reviewer => "the reviewer's model",
                    LlmRole::Judge => "the judge's model",
                };
                let service = format!("{role} {}", self.name);
                self.settings.limiter.report_retry(&service, &error.to_string(), delay);
                tokio::time::sleep(delay).await;
                last = None;
            } else {
                last = Some(error);
            }
        }
    }
}
