//! The calls, with their retries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde::Serialize;

use super::fault::{Purpose, failed, refused};
use super::settings::{chat_url, named};
use super::wire::{KnowledgeRequest, MessageReply, MessageRequest, SessionReply, SessionRequest, object_context_of};
use super::{EmbabelSettings, KnowledgeConfig};
use crate::agent::attempts::{Failure, admitted, fail};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, Session};
use crate::evidence::ObjectContext;
use crate::http::{
    BODY_CAP, BaseUrl, Call, Extra, HttpClient, HttpFault, HttpReply, KeyHeader, Method, Url, is_same_origin,
};
use crate::secret::Secret;

/// An agent that speaks Embabel's protocol.
#[derive(Clone)]
pub struct EmbabelAgent {
    caller: Arc<Caller>,
}

impl EmbabelAgent {
    /// A client for the agent; nothing is sent yet. The error says which address can't work; [`super::check`] finds the
    /// same before a run.
    pub fn new(settings: EmbabelSettings, http: HttpClient) -> Result<EmbabelAgent, AgentError> {
        let unusable = |message| AgentError { kind: AgentErrorKind::Unreachable, message };
        let chat = chat_url(&settings.base_url, &settings.path).map_err(unusable)?;
        let address = |config: &KnowledgeConfig| named("target.embabel.knowledge.baseUrl", config.base_url());
        let knowledge = settings.knowledge.as_ref().map(address).transpose().map_err(unusable)?;
        let calls = AtomicU64::new(0);
        Ok(EmbabelAgent { caller: Arc::new(Caller { settings, chat, knowledge, http, calls }) })
    }

    /// Creates the knowledge context that the settings name; without one, nothing is sent. One that is there already
    /// (409) is as good.
    pub async fn create_knowledge(&self) -> Result<(), AgentError> {
        let caller = &self.caller;
        let (Some(config), Some(base)) = (&caller.settings.knowledge, &caller.knowledge) else { return Ok(()) };
        let url = base.join(["api", "v1", "graphs"]);
        let request = Request {
            purpose: Purpose::Knowledge,
            method: Method::PUT,
            url,
            body: json_bytes(&KnowledgeRequest::of(config)),
        };
        match caller.call(request, |_| Ok(()), &mut Attempts::default()).await {
            Err(error) if error.kind == AgentErrorKind::Status(409) => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

#[async_trait]
impl Agent for EmbabelAgent {
    /// Creates the knowledge context that the settings name; without one, nothing is sent.
    async fn prepare_memory(&self) -> Result<(), AgentError> {
        self.create_knowledge().await
    }

    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let caller = Arc::clone(&self.caller);
        let body = SessionRequest { user: caller.settings.user.clone(), chatbot: caller.settings.chatbot.clone() };
        let request = Request {
            purpose: Purpose::Open,
            method: Method::PUT,
            url: caller.chat.join(["sessions"]),
            body: json_bytes(&body),
        };
        let (id, _) = caller.call(request, session_id, &mut Attempts::default()).await?;
        Ok(Box::new(EmbabelSession { caller, id }))
    }
}

/// One conversation with such an agent.
struct EmbabelSession {
    caller: Arc<Caller>,
    id: String,
}

#[async_trait]
impl Session for EmbabelSession {
    fn id(&self) -> &str {
        &self.id
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let caller = &self.caller;
        let body = MessageRequest::of_user(&self.id, message, &caller.settings.model);
        let request = Request {
            purpose: Purpose::Talk,
            method: Method::PUT,
            url: caller.chat.join(["messages"]),
            body: json_bytes(&body),
        };
        let outcome = caller.call(request, answer, attempts).await;
        outcome.map(|(reply, latency_ms)| Reply {
            events: reply.events(),
            text: reply.message.content,
            latency_ms,
            first_token_ms: None,
            usage: None,
        })
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        let caller = &self.caller;
        let request = Request {
            purpose: Purpose::Talk,
            method: Method::GET,
            url: caller.chat.join(["objectContexts", self.id.as_str()]),
            body: None,
        };
        let read = |reply: &HttpReply| {
            object_context_of(reply.object()?).map_err(|error| {
                reply.unreadable(&format!("the object context can't be read ({})", reply.quote(&error)))
            })
        };
        caller.call(request, read, &mut Attempts::default()).await.map(|(context, _)| context)
    }
}

fn session_id(reply: &HttpReply) -> Result<String, HttpFault> {
    let id = reply.object::<SessionReply>()?.session_id;
    match id.as_str() {
        "" => Err(reply.unreadable("the reply holds no sessionId")),
        // No encoding keeps these two apart from the steps of a path.
        "." | ".." => Err(reply.unreadable("the sessionId can't stand in an address")),
        _ => Ok(id),
    }
}

fn answer(reply: &HttpReply) -> Result<MessageReply, HttpFault> {
    let answer: MessageReply = reply.object()?;
    if answer.message.content.trim().is_empty() {
        return Err(reply.useless("the agent's message is empty"));
    }
    Ok(answer)
}

/// What is sent, the same at every try.
struct Request {
    purpose: Purpose,
    method: Method,
    url: Url,
    body: Option<Vec<u8>>,
}

/// What all calls of an agent share.
struct Caller {
    settings: EmbabelSettings,
    chat: BaseUrl,
    knowledge: Option<BaseUrl>,
    http: HttpClient,
    /// How many calls there were: each draws its own jitter.
    calls: AtomicU64,
}

impl Caller {
    /// Attempts a request to the end of the retries: what was read, and the milliseconds of the try that brought it. The
    /// tries that failed are told as they fail, so that they are known even if the caller gives up.
    async fn call<T>(
        &self,
        request: Request,
        read: impl Fn(&HttpReply) -> Result<T, HttpFault> + Send + Sync,
        tries: &mut Attempts,
    ) -> Result<(T, f64), AgentError> {
        let nth_call = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut delays =
            self.settings.retry.delays(self.settings.rng_seed.wrapping_add(nth_call)).timed_by(self.settings.clock);
        loop {
            match admitted(&self.settings.place, || self.once(&request, &read), (&mut delays, tries)).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => fail(failure, &mut delays, tries).await?,
            }
        }
    }

    async fn once<T>(
        &self,
        request: &Request,
        read: &(impl Fn(&HttpReply) -> Result<T, HttpFault> + Sync),
    ) -> Result<(T, f64), Failure> {
        let settings = &self.settings;
        let own = match request.purpose {
            Purpose::Knowledge => settings.knowledge.as_ref().and_then(|knowledge| knowledge.api_key.clone()),
            Purpose::Open | Purpose::Talk => None,
        };
        let own = own.map(Secret::new);
        // The agent's key is for the agent.
        let is_for_agent = is_same_origin(&request.url, &self.chat.join([]));
        let key = own.as_ref().or(settings.api_key.as_ref().filter(|_| is_for_agent));
        let call = Call {
            method: request.method.clone(),
            url: request.url.clone(),
            key: key.map(|key| KeyHeader { name: "x-api-key", before: "", key }),
            body: request.body.clone(),
            time_limit: settings.turn_limit,
            body_cap: BODY_CAP,
        };
        let reply = self.http.exchange_timed(call, Extra::default(), settings.clock).await;
        let (reply, latency_ms) = reply.map_err(|fault| failed(fault, request.purpose))?;
        if !reply.is_success() {
            return Err(refused(&reply, request.purpose, settings.clock));
        }
        let read = read(&reply).map_err(|fault| failed(fault, request.purpose))?;
        Ok((read, latency_ms))
    }
}

/// A body of ours as JSON. It has no map with other keys than strings, the one thing that could fail.
fn json_bytes(body: &impl Serialize) -> Option<Vec<u8>> {
    serde_json::to_vec(body).ok()
}
