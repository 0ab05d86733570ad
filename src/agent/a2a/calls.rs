//! The requests of a conversation, and how their replies are read.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wire::{Card, RpcError, TaskProgress, UserMessage, Version, parse_card, parse_result};
use crate::agent::attempts::AttemptFailure;
use crate::agent::rest::{
    AgentRequest, BEARER, Caller, EventOutcome, Hints, NextStep, Received, ReplyForm, TurnInput, Wire, hints,
};
use crate::agent::{AgentContext, AgentError, AgentErrorKind, Reply, UnfinishedSession, WireError};
use crate::http::{BaseUrl, HttpReply, Method, Url, is_same_origin};
use crate::secret::Secret;

/// The waits between looks at a task: the first and the longest.
const POLL_WAITS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// The header by which trpc-agent-go's server tells users apart (`server/a2a`, `WithUserIDHeader`).
const USER_HEADER: &str = "X-User-ID";

/// JSON-RPC's code for a task that is not there (A2A, "A2A-specific errors").
const TASK_NOT_FOUND: i64 = -32001;

/// The codes of refused requests, which are 4xx elsewhere: JSON-RPC's four (parse error, invalid request, method not found,
/// invalid params), and A2A's for unsupported operations and content types.
const REFUSALS: [i64; 6] = [-32700, -32600, -32601, -32602, -32004, -32005];

const HINTS: Hints = hints!("a2a", "apiKey", "; the agent card points there: is its address right?");

/// The hints on requests to an address that only the card names.
const BY_CARD: Hints = Hints { unreachable: "; the agent card names this address", ..HINTS };

const CARD: Hints = Hints { not_found: "; no agent card is there: check target.a2a.baseUrl", ..HINTS };

/// A conversation by A2A.
#[derive(Clone)]
pub(super) struct A2aWire {
    base: BaseUrl,
    /// Whether replies are streamed; `None` leaves it to the card.
    streaming: Option<bool>,
    /// Sent as `X-User-ID`: without it, trpc-agent-go's server forgets a conversation after each message.
    user: String,
    limit: Duration,
    card: Card,
    /// The agent's address, from its card.
    url: Url,
    /// The agent's own name for the conversation; it comes with its first reply.
    context: Option<String>,
    /// The task that waits for the next message.
    task: Option<String>,
    progress: TaskProgress,
    first_ms: Option<f64>,
    /// The task that is looked at, and the wait before the next look.
    polled: Option<(String, Duration)>,
}

/// The ids by which another process continues a conversation: they come with the agent's replies.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct A2aIds {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
}

impl A2aWire {
    pub(super) fn new(base: BaseUrl, streaming: Option<bool>, context: &AgentContext) -> A2aWire {
        A2aWire {
            url: base.join([]),
            base,
            streaming,
            user: context.user.clone(),
            limit: context.turn_limit,
            card: Card::default(),
            context: None,
            task: None,
            progress: TaskProgress::default(),
            first_ms: None,
            polled: None,
        }
    }

    /// The agent card, from where it is today or from where it was.
    async fn card(&self, caller: &Caller) -> Result<Card, AgentError> {
        let request = |file: &str| AgentRequest::to(Method::GET, self.base.join([".well-known", file]), CARD);
        let read = |reply: &HttpReply| {
            let card: Value = reply.object()?;
            parse_card(&card).map_err(|error| reported(reply, AgentErrorKind::BadReply, &error.to_string()))
        };
        match caller.call(&request("agent-card.json"), read).await {
            Err(error) if error.kind == AgentErrorKind::NotFound => {
                caller.call(&request("agent.json"), read).await.map_err(|_| error)
            }
            card => card,
        }
    }

    /// Reads the card, and finds the agent's address in it.
    async fn find(&mut self, caller: &Caller) -> Result<(), AgentError> {
        self.card = self.card(caller).await?;
        self.url = self.address(&self.card, caller.has_secrets())?;
        if self.streaming == Some(true) && !self.card.streaming {
            let what = "target.a2a.streaming is true, and the agent card says that the agent can't stream";
            return Err(AgentError::new(AgentErrorKind::BadReply, what));
        }
        Ok(())
    }

    /// The agent's address, from its card. The key goes to no other host, and is not sent in the clear where TLS was used.
    fn address(&self, card: &Card, has_secrets: bool) -> Result<Url, AgentError> {
        let bad_card = |what: String| AgentError::new(AgentErrorKind::BadReply, what);
        let named =
            BaseUrl::parse(&card.url).map_err(|error| bad_card(format!("the agent card's address: {error}")))?;
        let (mut url, own) = (Url::parse(card.url.trim()).unwrap_or_else(|_| named.join([])), self.base.join([]));
        if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
            // An address to listen on, not one to connect to: the host of the card is used instead.
            let _ = url.set_host(own.host_str());
        }
        if has_secrets && !is_same_origin(&url, &own) {
            let why = match () {
                () if own.scheme() == "https" && url.scheme() != "https" => format!("{named}, which is not encrypted"),
                () if url.host_str() != own.host_str() => format!("another host, {named}"),
                () => format!("{named}, which is another scheme or port"),
            };
            return Err(bad_card(format!(
                "the agent card points to {why}, and key and headers are not sent there; if that is right, set \
                 target.a2a.baseUrl to it"
            )));
        }
        Ok(url)
    }

    fn streams(&self) -> bool {
        self.streaming.unwrap_or(self.card.streaming)
    }

    /// Polls the task of a message that is not answered yet.
    fn poll(&mut self, received: &Received) -> Result<NextStep, AttemptFailure> {
        let Some(task) = self.progress.task_id.clone() else {
            // A stream may have ended before its first event.
            let kind = if self.streams() { AgentErrorKind::BadReply } else { AgentErrorKind::Unreadable };
            return Err(failure(kind, "the agent answered with neither a message nor a task".to_owned()));
        };
        if received.turn_ms >= self.limit.as_secs_f64() * 1000.0 {
            let state = self.progress.state.as_deref().unwrap_or("without a state");
            let what = format!("the agent's task is still {state} when the turn's time is up (limits.turn)");
            return Err(failure(AgentErrorKind::Timeout, what));
        }
        let wait = self.polled.as_ref().map_or(POLL_WAITS.0, |(_, wait)| (*wait * 2).min(POLL_WAITS.1));
        self.polled = Some((task, wait));
        Ok(NextStep::Poll(wait))
    }
}

impl Wire for A2aWire {
    const NO_STATE: &'static str = "A2A has no way to show an agent's state";

    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        self.find(caller).await?;
        Ok(format!("a2a-{}", caller.unique_session_id()))
    }

    async fn reopen(&mut self, caller: &Caller, left: &UnfinishedSession) -> Result<(), AgentError> {
        A2aIds { context_id: self.context, task_id: self.task } = left.last_point()?;
        self.find(caller).await
    }

    fn resume_point(&self) -> Option<Value> {
        serde_json::to_value(A2aIds { context_id: self.context.clone(), task_id: self.task.clone() }).ok()
    }

    /// The card shows that the agent is there, unless it points to another origin.
    fn is_agent_confirmed(&self) -> bool {
        self.url.origin() == self.base.join([]).origin()
    }

    fn begin(&mut self, _: &TurnInput) {
        (self.polled, self.first_ms) = (None, None);
    }

    async fn send(&mut self, input: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        let mut headers = vec![("A2A-Version".to_owned(), Secret::new(self.card.version.header()))];
        // A name that no header can carry is left out.
        if self.user.bytes().all(|byte| byte.is_ascii_graphic()) {
            headers.push((USER_HEADER.to_owned(), Secret::new(&self.user)));
        }
        let key_header = if self.card.wants_api_key_header { ("x-api-key", "") } else { BEARER };
        let hints = if self.is_agent_confirmed() { HINTS } else { BY_CARD };
        let request = AgentRequest { headers, key_header, ..AgentRequest::to(Method::POST, self.url.clone(), hints) };
        let version: Version = self.card.version;
        if let Some((task, _)) = &self.polled {
            return Ok(request.with_body(&version.task(task)));
        }
        self.progress = TaskProgress::default();
        let message_id = format!("{}-{}", input.session_id, input.turn);
        let message = UserMessage {
            text: &input.message,
            message_id: &message_id,
            context_id: self.context.as_deref(),
            task_id: self.task.as_deref(),
        };
        let accept = self.streams().then_some("text/event-stream");
        Ok(request.with_body(&version.send(&message, self.streams())).in_form(ReplyForm::EventsOrDocument, accept))
    }

    fn feed(&mut self, event: Value, reply: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        let result = parse_result(&event).map_err(|error| match error {
            RpcError::Malformed(what) => AttemptFailure::from(reply.unreadable(&what)),
            RpcError::Reported { code: TASK_NOT_FOUND, message } => {
                let what = format!("the agent has forgotten the task in mid-conversation ({message})");
                reported(reply, AgentErrorKind::NotFound, &what)
            }
            RpcError::Reported { code, message } => {
                let kind =
                    if REFUSALS.contains(&code) { AgentErrorKind::Status(400) } else { AgentErrorKind::BadReply };
                reported(reply, kind, &format!("the agent reported error {code}: {message}"))
            }
        })?;
        let context = self.context.clone().or(self.progress.context_id.clone());
        let has_text = self.progress.apply(result).map_err(|error| match error {
            WireError::Malformed(what) => AttemptFailure::from(reply.unreadable(&what)),
            WireError::Failed(what) => reported(reply, AgentErrorKind::BadReply, &what),
        })?;
        if let (Some(own), Some(named)) = (&context, &self.progress.context_id)
            && own != named
        {
            let what = format!("the reply belongs to another conversation (contextId {named:?} instead of {own:?})");
            return Err(reported(reply, AgentErrorKind::BadReply, &what));
        }
        if let (Some((own, _)), Some(named)) = (&self.polled, &self.progress.task_id)
            && own != named
        {
            let what = format!("the reply is about another task ({named:?} instead of {own:?})");
            return Err(reported(reply, AgentErrorKind::BadReply, &what));
        }
        Ok(EventOutcome::of(has_text, self.progress.is_over()))
    }

    async fn finish(&mut self, _: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        // What comes after the answer is no part of it.
        if !self.progress.rests() {
            received.broken()?;
        }
        if self.polled.is_none() {
            self.first_ms = received.first_ms;
        }
        if !self.progress.rests() {
            return self.poll(received);
        }
        let progress = std::mem::take(&mut self.progress);
        self.context = progress.context_id.clone().or(self.context.take());
        self.task = progress.waiting_task();
        let text = progress.reply().map_err(|error| failure(error.kind(), error.to_string()))?;
        let events = progress.events_beside(&text);
        NextStep::reply(Reply { events, first_token_ms: self.first_ms, ..received.timed_reply(text) })
    }
}

fn reported(reply: &HttpReply, kind: AgentErrorKind, what: &str) -> AttemptFailure {
    failure(kind, format!("{}: {}", reply.place, reply.quote(what).trim_matches('"')))
}

fn failure(kind: AgentErrorKind, message: String) -> AttemptFailure {
    AttemptFailure::reported(kind, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::http::HttpClient;

    fn address(base_url: &str, card_url: &str, has_secrets: bool) -> Result<Url, AgentError> {
        let base = BaseUrl::parse(base_url).unwrap();
        let card = serde_json::json!({"name": "a", "url": card_url, "protocolVersion": "0.3.0"});
        let context = AgentContext::new("", "", "", HttpClient::new(), Clock::system());
        let wire = A2aWire::new(base, None, &context);
        wire.address(&parse_card(&card).unwrap(), has_secrets)
    }

    #[test]
    fn a_key_goes_to_its_own_origin_only() {
        for (base, card) in [
            ("http://127.0.0.1:1/", "http://127.0.0.1:2/"),
            ("http://agent.example/", "http://agent.example:8080/"),
            ("http://agent.example/", "https://agent.example/"),
            ("http://agent.example/", "http://other.example/"),
        ] {
            let error = address(base, card, true).unwrap_err().message;
            assert!(error.contains("are not sent there"), "{base} {card}: {error}");
        }
        assert!(address("http://127.0.0.1:1/", "http://localhost:1/a2a", true).is_ok());
        assert!(address("http://127.0.0.1:1/", "http://0.0.0.0:1/a2a", true).is_ok());
    }

    #[test]
    fn a_key_that_went_over_tls_is_not_sent_in_the_clear() {
        let (https, http) = ("https://agent.example/a2a", "http://agent.example/a2a");
        let error = address(https, http, true).unwrap_err().message;
        assert!(error.contains("not encrypted") && error.contains("baseUrl"), "{error}");
        for (base, card, has_secrets) in
            [(https, http, false), (http, https, false), (http, http, true), (https, https, true)]
        {
            assert_eq!(address(base, card, has_secrets).unwrap().as_str(), card);
        }
    }
}
