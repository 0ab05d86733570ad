//! Sends requests to an agent, with its key and the user's own headers, and with retries.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::AgentRequest;
use crate::agent::attempts::{AttemptFailure, Attempts, Retries, Retry, own_session_id};
use crate::agent::{AgentContext, AgentError};
use crate::http::{BODY_CAP, Call, Extra, HttpReply, IamDenial, IamTokens, KeyHeader, Opened, STREAM_CAP};
use crate::secret::Secret;

/// Sends the requests of one agent. It has no `Debug`: headers can hold keys.
pub struct Caller {
    pub(in crate::agent) context: AgentContext,
    /// Headers of the user's own, with every request.
    headers: Vec<(String, Secret)>,
    /// The agent's key; without one nothing is sent.
    pub(in crate::agent) api_key: Option<Secret>,
    /// Where the key is exchanged for tokens.
    tokens: Option<IamTokens>,
    /// The number of calls so far: each draws its own jitter.
    calls: AtomicU64,
    sessions: AtomicU64,
}

impl Caller {
    /// A caller with the job's own headers, and its key or that of the environment.
    pub(in crate::agent) fn new(
        context: AgentContext,
        headers: Option<&BTreeMap<String, String>>,
        own_key: Option<&String>,
    ) -> Caller {
        // An empty one is none.
        let own_key = own_key.filter(|key| !key.trim().is_empty());
        let api_key = own_key.map(Secret::new).or_else(|| context.api_key.clone());
        let headers = headers.into_iter().flatten().map(|(name, value)| (name.clone(), Secret::new(value))).collect();
        Caller { headers, api_key, ..Caller::without_key(context) }
    }

    /// A caller for an agent without a protocol: keys are sent only where its templates place them.
    pub(in crate::agent) fn without_key(context: AgentContext) -> Caller {
        let (calls, sessions) = (AtomicU64::new(0), AtomicU64::new(0));
        Caller { context, headers: Vec::new(), api_key: None, tokens: None, calls, sessions }
    }

    /// Sets the service that exchanges the key for tokens.
    pub(in crate::agent) fn with_tokens(self, tokens: Option<IamTokens>) -> Caller {
        Caller { tokens, ..self }
    }

    /// Whether a key or headers are sent, which are for the agent alone.
    pub(in crate::agent) fn has_secrets(&self) -> bool {
        self.api_key.is_some() || !self.headers.is_empty()
    }

    /// An id for a conversation to which the agent gives none, the same for the same seed.
    pub(in crate::agent) fn session_id(&self) -> String {
        own_session_id(self.context.rng_seed, self.sessions.fetch_add(1, Ordering::Relaxed))
    }

    /// An id that no other run has, whatever its `--rng-seed`.
    pub(in crate::agent) fn unique_session_id(&self) -> String {
        let now = self.context.clock.wall().timestamp_micros().cast_unsigned();
        let nth = self.sessions.fetch_add(1, Ordering::Relaxed);
        own_session_id(self.context.rng_seed ^ now.rotate_left(32), nth)
    }

    /// The attempts of one call.
    pub(super) fn retries<'a>(&'a self, attempts: &'a mut Attempts) -> Retries<'a> {
        let nth_call = self.calls.fetch_add(1, Ordering::Relaxed);
        Retries::new(&self.context, nth_call, attempts)
    }

    /// Makes a request that is not a message, with retries; its reply is one document.
    pub(in crate::agent) async fn call<T>(
        &self,
        request: &AgentRequest,
        read: impl Fn(&HttpReply) -> Result<T, AttemptFailure> + Send + Sync,
    ) -> Result<T, AgentError> {
        let read = &read;
        let attempt = async || self.document(request).await.and_then(|reply| read(&reply));
        self.retries(&mut Attempts::default()).run(attempt).await
    }

    /// The same for a request that may change something: it is made again only where it can't have been received.
    pub(in crate::agent) async fn call_once<T>(
        &self,
        request: &AgentRequest,
        read: impl Fn(&HttpReply) -> Result<T, AttemptFailure> + Send + Sync,
    ) -> Result<T, AgentError> {
        let read = &read;
        let attempt = async || {
            let outcome = self.document(request).await.and_then(|reply| read(&reply));
            outcome.map_err(|failure| match failure.maybe_received {
                true => AttemptFailure { retry: Retry::Never, ..failure },
                false => failure,
            })
        };
        self.retries(&mut Attempts::default()).run(attempt).await
    }

    /// Makes a request once.
    pub(in crate::agent) async fn document(&self, request: &AgentRequest) -> Result<HttpReply, AttemptFailure> {
        match self.open(request).await? {
            Opened::Refused(reply) => Err(request.hints.on(AttemptFailure::from_reply(&reply, self.context.clock))),
            Opened::Streaming(stream) => Ok(stream.whole(BODY_CAP).await?.0),
        }
    }

    /// Sends a request once and returns the reply, to be streamed, or its refusal. A token that is refused is renewed once.
    pub(super) async fn open(&self, request: &AgentRequest) -> Result<Opened, AttemptFailure> {
        let own = match &request.own_key {
            Some(own) => own.clone(),
            None => self.key(None, request).await?,
        };
        match self.send(request, own.as_ref()).await? {
            Opened::Refused(reply) if reply.status == 401 && self.tokens.is_some() => {
                let fresh = self.key(own.as_ref(), request).await?;
                self.send(request, fresh.as_ref()).await
            }
            opened => Ok(opened),
        }
    }

    async fn send(&self, request: &AgentRequest, key: Option<&Secret>) -> Result<Opened, AttemptFailure> {
        let (name, before) = request.key_header;
        let headers = [request.headers.as_slice(), &self.headers].concat();
        // A header of the user's own replaces ours.
        let is_named = headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let key = key.filter(|key| !is_named && !key.expose().is_empty());
        let call = Call {
            method: request.method.clone(),
            url: request.url.clone(),
            key: key.map(|key| KeyHeader { name, before, key }),
            body: request.body.clone(),
            time_limit: self.context.turn_limit,
            body_cap: STREAM_CAP,
        };
        let extra = Extra { headers: &headers, accept: request.accept, ..Extra::default() };
        let opened = self.context.http.open(call, extra, self.context.clock).await;
        opened.map_err(|fault| request.hints.on_fault(fault))
    }

    /// The key to send: the job's, or a token for it.
    async fn key(&self, refused: Option<&Secret>, request: &AgentRequest) -> Result<Option<Secret>, AttemptFailure> {
        let Some(tokens) = &self.tokens else { return Ok(self.api_key.clone()) };
        let mut attempts = Attempts::default();
        let mut retries = self.retries(&mut attempts);
        let failed = |denial: IamDenial| -> Result<Duration, AttemptFailure> {
            let failure = self.denied(denial, request);
            let (Retry::After(asked) | Retry::RateLimited(asked)) = failure.retry else { return Err(failure) };
            retries.delays.next(asked).ok_or(AttemptFailure { retry: Retry::Never, ..failure })
        };
        tokens.current(refused, failed).await.map(Some)
    }

    fn denied(&self, denial: IamDenial, request: &AgentRequest) -> AttemptFailure {
        let is_about_key = denial.is_about_key();
        let failure = match denial {
            IamDenial::Fault(fault) => {
                let mut failure = AttemptFailure::from(fault);
                failure.error.message.push_str("; target.watsonx.iamUrl says where it is");
                failure
            }
            IamDenial::Refused(reply) if is_about_key => {
                request.hints.on(AttemptFailure::from_status(401, reply.refusal(), None))
            }
            IamDenial::Refused(reply) => request.hints.on(AttemptFailure::from_reply(&reply, self.context.clock)),
        };
        // No message was sent yet.
        AttemptFailure { maybe_received: false, ..failure }
    }
}
