//! The calls.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::AdkSettings;
use super::settings::base;
use super::wire::{AdkEvent, Run, run_of, run_request, session_request, took_body_for_state};
use crate::agent::rest::{Caller, Flaw, Request};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, RestSettings, Session};
use crate::evidence::ObjectContext;
use crate::http::{BaseUrl, HttpClient, HttpReply, Method, Url};
use crate::retry::RetryPolicy;

/// An agent behind ADK's `api_server`.
#[derive(Clone)]
pub struct AdkAgent {
    shared: Arc<Shared>,
}

struct Shared {
    settings: AdkSettings,
    base: BaseUrl,
    caller: Caller,
}

impl AdkAgent {
    /// A client for the agent; nothing is sent yet. The error says which address can't work; [`super::check`] finds the
    /// same before a run.
    pub fn new(settings: AdkSettings, http: HttpClient) -> Result<AdkAgent, AgentError> {
        let base = base(&settings.base_url, settings.server)
            .map_err(|message| AgentError { kind: AgentErrorKind::Unreachable, message })?;
        let caller = Caller::new(settings.rest.clone(), http, settings.server.word());
        Ok(AdkAgent { shared: Arc::new(Shared { settings, base, caller }) })
    }
}

#[async_trait]
impl Agent for AdkAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let state = &shared.settings.state;
        let mut session = shared.create(session_request(state, false)).await?;
        if !state.is_empty() && took_body_for_state(&session, state) {
            session = shared.create(session_request(state, true)).await?;
        }
        let id = session.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Box::new(AdkSession { shared, id, is_met: false }))
    }
}

impl Shared {
    async fn create(&self, body: Option<Value>) -> Result<Value, AgentError> {
        let request = Request {
            body,
            if_not_found: self.settings.server.if_no_sessions(),
            ..Request::to(Method::POST, self.session_url(None))
        };
        let read = |reply: &HttpReply| {
            let session: Value = reply.object()?;
            match session.get("id").and_then(Value::as_str) {
                None | Some("") => Err(reply.unreadable("the reply holds no session id").into()),
                // No encoding keeps these two apart from the steps of a path.
                Some("." | "..") => Err(reply.unreadable("the session id can't stand in an address").into()),
                Some(_) => Ok(session),
            }
        };
        self.caller.call(&request, read, &mut Attempts::default()).await.map(|(session, _)| session)
    }

    /// That the server does not have the app, where it says which ones it has.
    async fn unknown_app(&self) -> Option<String> {
        let request = Request::to(Method::GET, self.base.join(["list-apps"]));
        let read = |reply: &HttpReply| Ok(reply.json()?);
        let once = RetryPolicy { tries: 1, ..self.settings.rest.retry };
        let settings = RestSettings { retry: once, ..self.settings.rest.clone() };
        let caller = Caller::new(settings, self.caller.http.clone(), self.settings.server.word());
        let (list, _): (Value, f64) = caller.call(&request, read, &mut Attempts::default()).await.ok()?;
        let apps: Vec<&str> = list.as_array()?.iter().filter_map(Value::as_str).collect();
        let (app, word) = (&self.settings.app, self.settings.server.word());
        (!apps.contains(&app.as_str()))
            .then(|| format!("the server has no app `{app}` (target.{word}.app), it has: {}", apps.join(", ")))
    }

    fn session_url(&self, id: Option<&str>) -> Url {
        let AdkSettings { app, user, .. } = &self.settings;
        self.base.join(["apps", app, "users", user, "sessions"].into_iter().chain(id))
    }
}

/// One conversation with such an agent.
struct AdkSession {
    shared: Arc<Shared>,
    id: String,
    /// Whether a message was ever answered.
    is_met: bool,
}

#[async_trait]
impl Session for AdkSession {
    fn id(&self) -> &str {
        &self.id
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let AdkSettings { app, user, streaming, .. } = &self.shared.settings;
        let streaming = *streaming;
        let request = Request {
            body: Some(run_request(app, user, &self.id, message, streaming)),
            accept: streaming.then_some("text/event-stream"),
            if_not_found: self.shared.settings.server.if_no_app(),
            ..Request::to(Method::POST, self.shared.base.join([if streaming { "run_sse" } else { "run" }]))
        };
        let read = |reply: &HttpReply| if streaming { stream(reply) } else { list(reply) };
        let mut outcome = self.shared.caller.call(&request, read, attempts).await;
        self.is_met |= outcome.is_ok();
        if let (false, Err(AgentError { kind: AgentErrorKind::Status(500), message })) = (self.is_met, &mut outcome)
            && let Some(words) = self.shared.unknown_app().await
        {
            // ADK 1 takes sessions of any app, and then fails at each message.
            let message = format!("{message}; {words}");
            outcome = Err(AgentError { kind: AgentErrorKind::NotFound, message });
        }
        outcome.map_err(|error| self.explained(error)).map(|((run, first_token_ms), latency_ms)| Reply {
            text: run.text,
            events: run.events,
            latency_ms,
            first_token_ms,
            usage: run.usage,
        })
    }

    /// The session's state is the context; ADK has no resources and no functions to show.
    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        let request = Request::to(Method::GET, self.shared.session_url(Some(&self.id)));
        let read = |reply: &HttpReply| Ok(reply.object::<Value>()?);
        let (mut session, _) = self.shared.caller.call(&request, read, &mut Attempts::default()).await?;
        let context = session.get_mut("state").map(Value::take).unwrap_or_default();
        Ok(ObjectContext { context, ..ObjectContext::default() })
    }
}

impl AdkSession {
    /// A session that the agent has forgotten says so in its own words, and so does an app that it never knew.
    fn explained(&self, mut error: AgentError) -> AgentError {
        if error.kind == AgentErrorKind::Status(400) && error.message.contains("agent not found") {
            error.message.push_str(self.shared.settings.server.if_no_app());
        }
        if error.kind != AgentErrorKind::NotFound || !error.message.contains("Session not found") {
            return error;
        }
        let message = format!(
            "the agent has forgotten the session in mid-conversation (did it restart, or does the session expire?): {}",
            error.message
        );
        AgentError { message, ..error }
    }
}

fn list(reply: &HttpReply) -> Result<(Run, Option<f64>), Flaw> {
    let mut events = reply.json()?;
    if events.is_null() {
        // Go's way to write an empty list.
        events = Value::Array(Vec::new());
    }
    let Value::Array(events) = events else {
        return Err(reply.unreadable("the reply is no list of events").into());
    };
    let events = events.into_iter().map(AdkEvent::read).collect::<Result<Vec<_>, _>>().map_err(|error| {
        reply.unreadable(&format!("the events can't be read ({})", reply.quote(&error.to_string())))
    })?;
    Ok((run(reply, &events)?, None))
}

fn stream(reply: &HttpReply) -> Result<(Run, Option<f64>), Flaw> {
    let (mut events, mut first_words) = (Vec::new(), None);
    for event in reply.events()? {
        let json = reply.event_json(&event.data)?;
        let read = AdkEvent::read(json).map_err(|error| {
            reply.unreadable(&format!("an event can't be read ({})", reply.quote(&error.to_string())))
        })?;
        if first_words.is_none() && !read.words().trim().is_empty() {
            first_words = event.at_ms;
        }
        events.push(read);
    }
    Ok((run(reply, &events)?, first_words))
}

fn run(reply: &HttpReply, events: &[AdkEvent]) -> Result<Run, Flaw> {
    run_of(events).map_err(|what| {
        let message = format!("{}: {}", reply.place, reply.quote(&what).trim_matches('"'));
        Flaw::Reported(AgentError { kind: AgentErrorKind::BadReply, message })
    })
}
