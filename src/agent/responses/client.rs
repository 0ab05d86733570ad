//! The conversation, with its rounds of function calls and its retries. The endpoint keeps what was said.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use serde_json::{Value, json};

use super::ResponsesConfig;
use super::wire::{Before, Response, message, request, returned, status_of, tells_of_loss};
use crate::agent::attempts::{Again, Failure, own_session_id};
use crate::agent::history::earlier;
use crate::agent::rest::{Caller, Request, endpoint_hint};
use crate::agent::streamed::{Framing, Times, Took, read_events};
use crate::agent::tools::{ROUNDS, Rounds};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, RestSettings, Session};
use crate::evidence::{Message, ObjectContext};
use crate::http::{BODY_CAP, BaseUrl, HttpClient, HttpFault, HttpFaultKind, HttpReply, HttpStream, Method};

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct ResponsesAgentSettings {
    /// What the job says.
    pub config: ResponsesConfig,
    /// The model.
    pub model: String,
    /// What every client has to know.
    pub rest: RestSettings,
}

/// A model behind the Responses API as the agent.
#[derive(Clone)]
pub struct ResponsesAgent {
    shared: Arc<Shared>,
}

struct Shared {
    settings: ResponsesAgentSettings,
    base: BaseUrl,
    caller: Caller,
    sessions: AtomicU64,
}

impl ResponsesAgent {
    /// A client; nothing is sent yet. The error says what is wrong with the address; [`super::check`] finds the same.
    pub fn new(settings: ResponsesAgentSettings, http: HttpClient) -> Result<ResponsesAgent, AgentError> {
        let base = BaseUrl::parse(settings.config.base_url()).map_err(|problem| AgentError {
            kind: AgentErrorKind::Unreachable,
            message: format!("target.responses.baseUrl: {problem}"),
        })?;
        let caller = Caller::new(settings.rest.clone(), http, "responses");
        Ok(ResponsesAgent { shared: Arc::new(Shared { settings, base, caller, sessions: AtomicU64::new(0) }) })
    }
}

#[async_trait]
impl Agent for ResponsesAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        self.open_after(&[]).await
    }

    async fn open_after(&self, history: &[Message]) -> Result<Box<dyn Session>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let nth = shared.sessions.fetch_add(1, Ordering::Relaxed);
        let (id, before) = if shared.settings.config.conversation {
            let id = shared.conversation().await?;
            (id.clone(), Before::Conversation(id))
        } else {
            (own_session_id(shared.settings.rest.rng_seed, nth), Before::Nothing)
        };
        let earlier = earlier(history);
        Ok(Box::new(ResponsesSession { shared, id, earlier, before }))
    }
}

struct ResponsesSession {
    shared: Arc<Shared>,
    id: String,
    /// What is told before the first message, until the endpoint keeps it.
    earlier: Vec<Value>,
    before: Before,
}

#[async_trait]
impl Session for ResponsesSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_met(&self) -> bool {
        self.shared.settings.config.conversation
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        self.rounds(message, attempts).await
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        Err(Rounds::no_state())
    }
}

impl ResponsesSession {
    /// Asks until the model has no more calls. What was before only moves on when the turn has its reply.
    async fn rounds(&mut self, text: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let (mut rounds, mut before) = (Rounds::new(), self.before.clone());
        let mut input: Vec<Value> = self.earlier.iter().cloned().chain([message(text)]).collect();
        for _ in 0..=ROUNDS {
            let shared = &self.shared;
            let tried = shared.caller.retried(attempts, || shared.once(&before, &input)).await;
            let Answer { response, times } = tried?;
            rounds.take(&response.words(), times, response.usage);
            rounds.reply.events.extend(response.events());
            if !matches!(before, Before::Conversation(_)) {
                before = Before::Response(response.id.clone());
            }
            let calls = response.calls();
            if calls.is_empty() {
                self.before = before;
                self.earlier.clear();
                return Ok(rounds.reply);
            }
            let tools = &shared.settings.config.tools;
            input = calls.iter().map(|call| returned(call, &rounds.call(tools, call))).collect();
        }
        Err(Rounds::endless())
    }
}

/// A response and its times.
struct Answer {
    response: Response,
    times: Times,
}

impl Shared {
    /// The id of a new conversation at the endpoint.
    async fn conversation(&self) -> Result<String, AgentError> {
        let request = Request {
            body: Some(json!({})),
            if_not_found: "; this endpoint has no conversations: leave target.responses.conversation out",
            ..Request::to(Method::POST, self.base.join(["conversations"]))
        };
        let read = |reply: &HttpReply| {
            let conversation: Value = reply.object()?;
            let id = conversation.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            id.map(str::to_owned).ok_or_else(|| reply.unreadable("the reply holds no conversation id").into())
        };
        self.caller.call(&request, read, &mut Attempts::default()).await.map(|(id, _)| id)
    }

    async fn once(&self, before: &Before, input: &[Value]) -> Result<Answer, Failure> {
        let settings = &self.settings;
        let body = Some(request(&settings.config, &settings.model, before, input));
        let request = Request { body, ..Request::to(Method::POST, self.base.join(["responses"])) };
        let outcome = match self.caller.stream(&request, &[]).await {
            Ok(stream) => answer(stream).await,
            Err(failure) => Err(failure),
        };
        outcome.map_err(|failure| match before {
            Before::Response(_) | Before::Conversation(_) if is_loss(&failure) => forgotten(failure),
            _ => failure.with_hint(|kind| endpoint_hint("responses", kind)),
        })
    }
}

fn is_loss(failure: &Failure) -> bool {
    matches!(failure.error.kind, AgentErrorKind::NotFound | AgentErrorKind::Status(400))
        && tells_of_loss(&failure.error.message)
}

/// A session that the endpoint no longer has: nothing can be said in it any more.
fn forgotten(failure: Failure) -> Failure {
    let message = format!(
        "the endpoint has forgotten the session in mid-conversation (did it expire, or does the endpoint store no \
         responses?): {}",
        failure.error.message
    );
    let error = AgentError { kind: AgentErrorKind::NotFound, message };
    Failure { error, maybe_received: false, again: Again::Never }
}

async fn answer(stream: HttpStream) -> Result<Answer, Failure> {
    let (head, mut response) = (stream.head.clone(), Response::default());
    if !head.is_event_stream() {
        // An endpoint that does not stream although it was asked to.
        let (reply, last_ms) = stream.whole(BODY_CAP).await.map_err(Failure::of_fault)?;
        response.take(&reply.object().map_err(Failure::of_fault)?);
        return Ok(Answer { response: usable(response, &reply)?, times: Times { first_ms: None, last_ms } });
    }
    let take = |data: &str, head: &HttpReply| match data.trim() {
        "" => Ok(Took::Nothing),
        "[DONE]" => Ok(Took::End),
        _ => Ok(response.take(&head.event_json(data)?)),
    };
    let times = read_events(stream, Framing::Sse, take).await.map_err(Failure::of_fault)?;
    if !response.has_ended && response.error.is_none() && response.is_other != Some(true) {
        let what = "the stream ended in the middle: no response.completed had come";
        return Err(Failure::of_fault(head.amiss(what)));
    }
    Ok(Answer { response: usable(response, &head)?, times })
}

/// What can be used as a reply, or why not.
fn usable(response: Response, reply: &HttpReply) -> Result<Response, Failure> {
    if let Some(error) = &response.error {
        let words = error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned);
        let code = error.get("code").and_then(Value::as_str).map(|code| format!(" ({})", reply.quote(code)));
        let (place, words) = (&reply.place, reply.quote(&words));
        let message = format!("{place}: answered with an error: {words}{}", code.unwrap_or_default());
        return Err(Failure::of_number(status_of(error), message, None));
    }
    if !response.words().trim().is_empty() || !response.calls().is_empty() {
        return Ok(response);
    }
    if response.is_other == Some(true) {
        let fault = reply.amiss("what came is no response: it holds no output");
        return Err(Failure::of_fault(HttpFault { kind: HttpFaultKind::Unreadable, ..fault }));
    }
    Err(Failure::of_fault(match response.incomplete.as_deref() {
        Some("content_filter") => reply.amiss("the provider's content filter took the reply away"),
        Some("max_output_tokens") => {
            reply.amiss("the response hit the bound of tokens before its first word; raise target.responses.maxTokens")
        }
        _ => reply.amiss("the agent's message is empty"),
    }))
}
