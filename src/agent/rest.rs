//! Calls to an agent over HTTP with their retries, as the members that speak JSON over HTTP share them.
//!
//! Invariants: a message that may have arrived is only sent again with that being told; what the agent itself reports as
//! its failure is never tried again.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use super::attempts::{Again, Failure, admitted, fail};
use super::{AgentError, AgentErrorKind, Attempts};
use crate::clock::Clock;
use crate::http::{
    BODY_CAP, Call, Extra, HttpClient, HttpFault, HttpFaultKind, HttpReply, HttpStream, KeyHeader, Method, Opened,
    STREAM_CAP, Url,
};
use crate::limiter::Place;
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// What every client of an agent has to know. It has no `Debug`: headers can hold keys.
#[derive(Clone)]
pub struct RestSettings {
    /// Headers of the user's own, with every request.
    pub headers: Vec<(String, Secret)>,
    /// The agent's key; without one nothing is sent.
    pub api_key: Option<Secret>,
    /// How long one try of a message, or of any other call, may take.
    pub turn_limit: Duration,
    /// Draws the jitter between attempts.
    pub rng_seed: u64,
    /// Measures latencies and dates `Retry-After`.
    pub clock: Clock,
    /// How often and when a call is tried again.
    pub retry: RetryPolicy,
    /// The conversation's place among those that the agent holds.
    pub place: Place,
}

/// What is sent, the same at every try.
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) body: Option<Value>,
    /// What is accepted instead of JSON alone.
    pub(super) accept: Option<&'static str>,
    /// The header that carries the key, and what stands before it there.
    pub(super) key: (&'static str, &'static str),
    /// What to try where the reply is 404.
    pub(super) if_not_found: &'static str,
}

impl Request {
    /// A request with a bearer key and nothing beside.
    pub(super) fn to(method: Method, url: Url) -> Request {
        Request { method, url, body: None, accept: None, key: BEARER, if_not_found: "" }
    }
}

/// `Authorization: Bearer`, where nothing else is said.
pub(super) const BEARER: (&str, &str) = ("authorization", "Bearer ");

/// Why a reply brings nothing.
pub(super) enum Flaw {
    /// It can't be read: perhaps the next can.
    Unreadable(HttpFault),
    /// The agent itself reports a failure.
    Reported(AgentError),
}

impl From<HttpFault> for Flaw {
    fn from(fault: HttpFault) -> Flaw {
        Flaw::Unreadable(fault)
    }
}

/// What all calls of an agent share.
pub(super) struct Caller {
    pub(super) settings: RestSettings,
    pub(super) http: HttpClient,
    /// The transport's key in a job file: `adk`.
    pub(super) word: &'static str,
    /// How many calls there were: each draws its own jitter.
    pub(super) calls: AtomicU64,
}

impl Caller {
    pub(super) fn new(settings: RestSettings, http: HttpClient, word: &'static str) -> Caller {
        Caller { settings, http, word, calls: AtomicU64::new(0) }
    }

    /// Attempts a request to the end of the retries: what was read, and the milliseconds of the try that brought it. The
    /// attempts that failed are told as they fail, so that they are known even if the caller gives up.
    pub(super) async fn call<T>(
        &self,
        request: &Request,
        read: impl Fn(&HttpReply) -> Result<T, Flaw> + Send + Sync,
        attempts: &mut Attempts,
    ) -> Result<(T, f64), AgentError> {
        self.retried(attempts, || self.once(request, &read)).await
    }

    /// Attempts something to the end of the retries. The attempts that failed are told as they fail.
    pub(super) async fn retried<T, Try>(
        &self,
        attempts: &mut Attempts,
        once: impl Fn() -> Try + Send + Sync,
    ) -> Result<T, AgentError>
    where
        Try: Future<Output = Result<T, Failure>> + Send,
    {
        let nth_call = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut delays =
            self.settings.retry.delays(self.settings.rng_seed.wrapping_add(nth_call)).timed_by(self.settings.clock);
        loop {
            match admitted(&self.settings.place, &once, (&mut delays, attempts)).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => fail(failure, &mut delays, attempts).await?,
            }
        }
    }

    /// Sends a request once; what comes back is read while it comes, or is a refusal. `more` are headers of this request
    /// alone.
    pub(super) async fn open(&self, request: &Request, more: &[(String, Secret)]) -> Result<Opened, Failure> {
        let headers = [&self.settings.headers, more].concat();
        let extra = Extra { headers: &headers, accept: request.accept, ..Extra::default() };
        let call = self.sent(request, STREAM_CAP);
        self.http.open(call, extra, self.settings.clock).await.map_err(Failure::of_fault)
    }

    /// The same where a refusal is a failure.
    pub(super) async fn stream(&self, request: &Request, more: &[(String, Secret)]) -> Result<HttpStream, Failure> {
        match self.open(request, more).await? {
            Opened::Refused(reply) => Err(Failure::of_status(&reply, self.settings.clock)),
            Opened::Streaming(stream) => Ok(*stream),
        }
    }

    fn sent<'a>(&'a self, request: &'a Request, body_cap: usize) -> Call<'a> {
        let settings = &self.settings;
        let (name, before) = request.key;
        // A header that the user names is the user's own.
        let is_named = settings.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let key = settings.api_key.as_ref().filter(|key| !is_named && !key.expose().is_empty());
        Call {
            method: request.method.clone(),
            url: request.url.clone(),
            key: key.map(|key| KeyHeader { name, before, key }),
            body: request.body.as_ref().map(|body| body.to_string().into_bytes()),
            time_limit: settings.turn_limit,
            body_cap,
        }
    }

    async fn once<T>(
        &self,
        request: &Request,
        read: &(impl Fn(&HttpReply) -> Result<T, Flaw> + Sync),
    ) -> Result<(T, f64), Failure> {
        let settings = &self.settings;
        let extra = Extra { headers: &settings.headers, accept: request.accept, ..Extra::default() };
        // What streams has an envelope around every word.
        let cap = if request.accept.is_some() { STREAM_CAP } else { BODY_CAP };
        let reply = self.http.exchange_timed(self.sent(request, cap), extra, settings.clock).await;
        let (reply, latency_ms) = reply.map_err(|fault| self.failed(fault))?;
        if !reply.is_success() {
            return Err(self.refused(&reply, request));
        }
        match read(&reply) {
            Ok(read) => Ok((read, latency_ms)),
            Err(Flaw::Unreadable(fault)) => Err(self.failed(fault)),
            Err(Flaw::Reported(error)) => Err(Failure { error, maybe_received: true, again: Again::Never }),
        }
    }

    /// No reply, or none that can be read.
    fn failed(&self, fault: HttpFault) -> Failure {
        let nobody_listens = fault.kind == HttpFaultKind::Unreachable;
        Failure::of_fault(fault).with_hint(|_| match nobody_listens {
            true => format!("; is the agent running? target.{}.baseUrl says where it is looked for", self.word),
            false => String::new(),
        })
    }

    /// A status that is not a success.
    fn refused(&self, reply: &HttpReply, request: &Request) -> Failure {
        Failure::of_status(reply, self.settings.clock).with_hint(|kind| match kind {
            AgentErrorKind::Unauthorized => {
                format!("; check the agent's key (target.{}.headers or EVAL_JOB_AGENT_API_KEY)", self.word)
            }
            AgentErrorKind::NotFound => request.if_not_found.to_owned(),
            _ => String::new(),
        })
    }
}

/// What to try where a model's endpoint fails.
pub(super) fn endpoint_hint(word: &str, kind: AgentErrorKind) -> String {
    match kind {
        AgentErrorKind::Unreachable => format!("; target.{word}.baseUrl says where the agent is looked for"),
        AgentErrorKind::Unauthorized => {
            format!("; check the agent's API key (target.{word}.apiKey or EVAL_JOB_AGENT_API_KEY)")
        }
        AgentErrorKind::NotFound => format!("; check target.{word}.baseUrl, and the model's name (--model)"),
        _ => String::new(),
    }
}
