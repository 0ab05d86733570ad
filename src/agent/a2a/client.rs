//! The calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;

use super::A2aSettings;
use super::settings::base;
use super::wire::{Card, Outgoing, Progress, Version, card_of, result_of};
use crate::agent::rest::{BEARER, Caller, Flaw, Request};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, Session};
use crate::evidence::{FailedTry, ObjectContext};
use crate::http::{BaseUrl, HttpClient, HttpReply, Method, Url, is_same_origin};
use crate::secret::Secret;

/// The waits between looks at a task: the first and the longest.
const LOOKS: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// By which trpc-agent-go's server tells users apart (`server/a2a`, `WithUserIDHeader`).
const USER_HEADER: &str = "X-User-ID";

/// JSON-RPC's code for a task that is not there (A2A, "A2A-specific errors").
const TASK_NOT_FOUND: i64 = -32001;

/// The codes of a request that the agent does not take, which is what 4xx says elsewhere: JSON-RPC's four (it can't be read,
/// is none, calls for what is not there, in a wrong way), and A2A's for what it does not support.
const REFUSALS: [i64; 6] = [-32700, -32600, -32601, -32602, -32004, -32005];

/// An agent that speaks A2A.
pub struct A2aAgent {
    settings: A2aSettings,
    base: BaseUrl,
    http: HttpClient,
    opened: AtomicU64,
}

impl A2aAgent {
    /// A client for the agent; nothing is sent yet. The error says which address can't work; [`super::check`] finds the
    /// same before a run.
    pub fn new(settings: A2aSettings, http: HttpClient) -> Result<A2aAgent, AgentError> {
        let base = base(&settings.base_url).map_err(|what| failure(AgentErrorKind::Unreachable, what))?;
        Ok(A2aAgent { settings, base, http, opened: AtomicU64::new(0) })
    }

    /// The agent card, from where it is today or from where it was.
    async fn card(&self) -> Result<Card, AgentError> {
        let caller = Caller::new(self.settings.rest.clone(), self.http.clone(), "a2a");
        let request = |file: &str| Request {
            if_not_found: "; no agent card is there: check target.a2a.baseUrl",
            ..Request::to(Method::GET, self.base.join([".well-known", file]))
        };
        let read = |reply: &HttpReply| {
            let card: Value = reply.object()?;
            card_of(&card).map_err(|what| Flaw::Reported(failure(AgentErrorKind::BadReply, told(reply, &what))))
        };
        let today = caller.call(&request("agent-card.json"), read, &mut Attempts::default()).await;
        match today {
            Err(error) if error.kind == AgentErrorKind::NotFound => {
                let older = caller.call(&request("agent.json"), read, &mut Attempts::default()).await;
                older.map(|(card, _)| card).map_err(|_| error)
            }
            other => other.map(|(card, _)| card),
        }
    }

    /// Where the card says that the agent is; the key goes to no other host, and nowhere in the clear that TLS led to.
    fn address(&self, card: &Card) -> Result<Url, AgentError> {
        let named = BaseUrl::parse(&card.url)
            .map_err(|what| failure(AgentErrorKind::BadReply, format!("the agent card's address: {what}")))?;
        let (mut url, own) = (Url::parse(card.url.trim()).unwrap_or_else(|_| named.join([])), self.base.join([]));
        if matches!(url.host_str(), Some("0.0.0.0" | "[::]")) {
            // Where a server listens, and no address: the card was read from a host that is one.
            let _ = url.set_host(own.host_str());
        }
        let is_secret = self.settings.rest.api_key.is_some() || !self.settings.rest.headers.is_empty();
        if is_secret && !is_same_origin(&url, &own) {
            let why = match () {
                () if own.scheme() == "https" && url.scheme() != "https" => format!("{named}, which is not encrypted"),
                () if url.host_str() != own.host_str() => format!("another host, {named}"),
                () => format!("{named}, which is another scheme or port"),
            };
            let what = format!(
                "the agent card points to {why}, and key and headers are not sent there; if that is right, set \
                 target.a2a.baseUrl to it"
            );
            return Err(failure(AgentErrorKind::BadReply, what));
        }
        Ok(url)
    }
}

#[async_trait]
impl Agent for A2aAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let card = self.card().await?;
        let url = self.address(&card)?;
        if self.settings.streaming == Some(true) && !card.streaming {
            let what = "target.a2a.streaming is true, and the agent card says that the agent can't stream".to_owned();
            return Err(failure(AgentErrorKind::BadReply, what));
        }
        let mut rest = self.settings.rest.clone();
        rest.headers.push(("A2A-Version".to_owned(), Secret::new(card.version.header())));
        // A header that the user names is the user's own; what no header can carry is left out.
        let is_named = rest.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(USER_HEADER));
        let user = self.settings.user.as_ref().filter(|user| !is_named && user.bytes().all(|it| it.is_ascii_graphic()));
        rest.headers.extend(user.map(|user| (USER_HEADER.to_owned(), Secret::new(user.as_str()))));
        let nth = self.opened.fetch_add(1, Ordering::Relaxed);
        let chance = fastrand::Rng::with_seed(rest.rng_seed.wrapping_add(nth)).u32(..);
        let id = format!("a2a-{:x}-{chance:08x}", rest.clock.wall().timestamp_micros());
        let wire = Wire {
            version: card.version,
            streaming: self.settings.streaming.unwrap_or(card.streaming),
            key: if card.wants_api_key_header { ("x-api-key", "") } else { BEARER },
            limit_ms: rest.turn_limit.as_secs_f64() * 1000.0,
            is_met: url.origin() == self.base.join([]).origin(),
            url,
            caller: Caller::new(rest, self.http.clone(), "a2a"),
        };
        Ok(Box::new(A2aSession { wire: Arc::new(wire), id, said: 0, context: None, task: None }))
    }
}

/// How one agent is spoken to.
struct Wire {
    url: Url,
    version: Version,
    streaming: bool,
    key: (&'static str, &'static str),
    limit_ms: f64,
    /// Whether the agent is where its card was: a card that points elsewhere says nothing about who is there.
    is_met: bool,
    caller: Caller,
}

impl Wire {
    fn request(&self, body: Value, accept: Option<&'static str>) -> Request {
        let if_not_found = "; the agent card points there: is its address right?";
        Request { method: Method::POST, url: self.url.clone(), body: Some(body), accept, key: self.key, if_not_found }
    }

    /// Sends a message and waits for what becomes of it: that, the milliseconds to the first words and in all.
    async fn send(
        &self,
        message: &Outgoing<'_>,
        tries: &mut Attempts,
    ) -> Result<(Progress, Option<f64>, f64), AgentError> {
        let accept = self.streaming.then_some("text/event-stream");
        let request = self.request(self.version.send(message, self.streaming), accept);
        let ((mut progress, first_ms), sent_ms) = self.caller.call(&request, read, tries).await?;
        let stopwatch = self.caller.settings.clock.start();
        let mut wait = LOOKS.0;
        while !progress.rests() {
            let Some(task) = progress.task_id.clone() else {
                let what = "the agent answered with neither a message nor a task".to_owned();
                // A stream may have ended before it said anything.
                let kind = if self.streaming { AgentErrorKind::BadReply } else { AgentErrorKind::Unreadable };
                return Err(failure(kind, what));
            };
            if sent_ms + stopwatch.elapsed_ms() >= self.limit_ms {
                let state = progress.state.as_deref().unwrap_or("without a state");
                let what = format!("the agent's task is still {state} when the turn's time is up (limits.turn)");
                return Err(failure(AgentErrorKind::Timeout, what));
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LOOKS.1);
            let look = self.request(self.version.task(&task), None);
            // Looking again changes nothing, so its failures are no doubt about the message.
            let (seen, _) = self.caller.call(&look, one, &mut Attempts::default()).await?;
            progress.take_in(&seen).map_err(|what| failure(AgentErrorKind::BadReply, what))?;
        }
        Ok((progress, first_ms, sent_ms + stopwatch.elapsed_ms()))
    }
}

/// One conversation with such an agent.
struct A2aSession {
    wire: Arc<Wire>,
    /// Our own name for it: the agent's own, the `contextId`, comes with its first reply.
    id: String,
    /// How many messages were said.
    said: u32,
    context: Option<String>,
    /// The task that waits for the next message.
    task: Option<String>,
}

#[async_trait]
impl Session for A2aSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_met(&self) -> bool {
        self.wire.is_met
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        self.said += 1;
        let message_id = format!("{}-{}", self.id, self.said);
        let outgoing = Outgoing {
            text: message,
            message_id: &message_id,
            context_id: self.context.as_deref(),
            task_id: self.task.as_deref(),
        };
        let outcome = self.wire.send(&outgoing, attempts).await;
        let reply = outcome.and_then(|(progress, first_token_ms, latency_ms)| {
            self.context = progress.context_id.clone().or(self.context.take());
            self.task = progress.waiting_task();
            let text = progress.reply().map_err(|what| failure(AgentErrorKind::BadReply, what))?;
            let events = progress.events_beside(&text);
            Ok(Reply { text, events, latency_ms, first_token_ms, usage: None })
        });
        // What only becomes clear when all has been read is a failure of the last try as well.
        let is_told = |error: &&AgentError| attempts.failures.last().is_some_and(|last| last.error == error.message);
        if let Some(error) = reply.as_ref().err().filter(|error| !is_told(error)) {
            attempts.failures.push(FailedTry::untimed(error.message.clone(), true));
        }
        reply
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        Err(failure(AgentErrorKind::NotFound, "A2A has no way to show an agent's state".to_owned()))
    }
}

/// The result of a reply that is one JSON document.
fn one(reply: &HttpReply) -> Result<Value, Flaw> {
    let body: Value = reply.object()?;
    result(reply, &body).cloned()
}

/// What a reply, whole or in pieces, brought, and when its first words were there.
fn read(reply: &HttpReply) -> Result<(Progress, Option<f64>), Flaw> {
    let (mut progress, mut first_ms) = (Progress::default(), None);
    let unknown = |what: String| Flaw::from(reply.unreadable(&what));
    if !reply.is_event_stream() {
        progress.take_in(&one(reply)?).map_err(unknown)?;
        return Ok((progress, None));
    }
    for event in reply.events()?.iter().filter(|event| !event.data.is_empty()) {
        let body = reply.event_json(&event.data)?;
        let has_words = progress.take_in(result(reply, &body)?).map_err(unknown)?;
        if has_words && first_ms.is_none() {
            first_ms = event.at_ms;
        }
    }
    Ok((progress, first_ms))
}

fn result<'a>(reply: &HttpReply, body: &'a Value) -> Result<&'a Value, Flaw> {
    result_of(body).map_err(|(code, words)| {
        let Some(code) = code else { return Flaw::from(reply.unreadable(&words)) };
        let kind = match code {
            TASK_NOT_FOUND => AgentErrorKind::NotFound,
            code if REFUSALS.contains(&code) => AgentErrorKind::Status(400),
            _ => AgentErrorKind::BadReply,
        };
        let what = match code {
            TASK_NOT_FOUND => format!("the agent has forgotten the task in mid-conversation ({words})"),
            _ => format!("the agent reported error {code}: {words}"),
        };
        Flaw::Reported(failure(kind, told(reply, &what)))
    })
}

fn told(reply: &HttpReply, what: &str) -> String {
    format!("{}: {}", reply.place, reply.quote(what).trim_matches('"'))
}

fn failure(kind: AgentErrorKind, message: String) -> AgentError {
    AgentError { kind, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::RestSettings;
    use crate::clock::Clock;
    use crate::retry::RetryPolicy;

    fn address(base_url: &str, card_url: &str, key: Option<&str>) -> Result<Url, AgentError> {
        let rest = RestSettings {
            headers: Vec::new(),
            api_key: key.map(Secret::new),
            turn_limit: Duration::from_secs(1),
            rng_seed: 1,
            clock: Clock::system(),
            retry: RetryPolicy::AGENT,
            place: crate::limiter::Place::default(),
        };
        let settings = A2aSettings { base_url: base_url.to_owned(), streaming: None, user: None, rest };
        let agent = A2aAgent::new(settings, HttpClient::new()).unwrap();
        let card = serde_json::json!({"name": "a", "url": card_url, "protocolVersion": "0.3.0"});
        agent.address(&card_of(&card).unwrap())
    }

    #[test]
    fn a_key_goes_to_its_own_origin_only() {
        for (base, card) in [
            ("http://127.0.0.1:1/", "http://127.0.0.1:2/"),
            ("http://agent.example/", "http://agent.example:8080/"),
            ("http://agent.example/", "https://agent.example/"),
            ("http://agent.example/", "http://other.example/"),
        ] {
            let error = address(base, card, Some("sk-1")).unwrap_err();
            assert!(error.message.contains("are not sent there"), "{base} {card}: {}", error.message);
        }
        assert!(address("http://127.0.0.1:1/", "http://localhost:1/a2a", Some("sk-1")).is_ok());
        assert!(address("http://127.0.0.1:1/", "http://0.0.0.0:1/a2a", Some("sk-1")).is_ok());
    }

    #[test]
    fn a_key_that_went_over_tls_is_not_sent_in_the_clear() {
        let (https, http) = ("https://agent.example/a2a", "http://agent.example/a2a");
        let error = address(https, http, Some("sk-1")).unwrap_err();
        assert!(error.message.contains("not encrypted") && error.message.contains("baseUrl"), "{}", error.message);
        for (base, card, key) in
            [(https, http, None), (http, https, None), (http, http, Some("sk-1")), (https, https, Some("sk-1"))]
        {
            assert_eq!(address(base, card, key).unwrap().as_str(), card);
        }
    }
}
