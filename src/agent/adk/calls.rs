//! The requests of a conversation, and how their replies are read.

use serde_json::{Map, Value};

use super::wire::{AdkEvent, is_foreign, parse_run, run_request, session_request, took_body_for_state};
use crate::agent::attempts::AttemptFailure;
use crate::agent::rest::{
    AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, ReplyForm, TurnInput, Wire, hints,
};
use crate::agent::{AgentContext, AgentError, AgentErrorKind, UnfinishedSession};
use crate::evidence::ObjectContext;
use crate::http::{BaseUrl, HttpFault, HttpReply, Method, Url};
use crate::text::is_blank;

/// One of the servers that speak the protocol: its key in a job file, and its hints.
#[derive(Debug)]
pub(in crate::agent) struct AdkServer {
    key: &'static str,
    opening: Hints,
    talking: Hints,
}

/// Google ADK's `api_server`.
pub(super) static API_SERVER: AdkServer = AdkServer {
    key: "adk",
    opening: Hints { not_found: "; check target.adk.baseUrl and target.adk.app: is this an `adk api_server`?", ..ADK },
    talking: ADK,
};

const ADK: Hints = hints!("adk", "headers", "; does the server know the app of target.adk.app?");

/// The debug server of trpc-agent-go (`server/debug`, until December 2025), made after ADK's.
pub(in crate::agent) static TRPC_DEBUG: AdkServer = AdkServer {
    key: "trpc",
    opening: Hints {
        not_found: "; check target.trpc.baseUrl: is this trpc-agent-go's debug server? Newer ones have `server: agent`",
        ..TRPC
    },
    talking: TRPC,
};

const TRPC: Hints = hints!("trpc", "apiKey", "; does the server know the app of target.trpc.app?");

/// A conversation by ADK's protocol.
#[derive(Clone)]
pub(in crate::agent) struct AdkWire {
    server: &'static AdkServer,
    base: BaseUrl,
    app: String,
    user: String,
    /// The state that each session begins with.
    state: Map<String, Value>,
    streaming: bool,
    has_answered: bool,
    events: Vec<AdkEvent>,
}

impl AdkWire {
    /// A conversation with this app, or with the one that is called like the chatbot.
    pub(in crate::agent) fn new(
        server: &'static AdkServer,
        base: BaseUrl,
        app: Option<&String>,
        streaming: bool,
        context: &AgentContext,
    ) -> AdkWire {
        let (app, user) = (app.unwrap_or(&context.chatbot).clone(), context.user.clone());
        AdkWire { server, base, app, user, state: Map::new(), streaming, has_answered: false, events: Vec::new() }
    }

    /// Sets the state that each session begins with.
    pub(super) fn with_state(self, state: Map<String, Value>) -> AdkWire {
        AdkWire { state, ..self }
    }

    async fn create(&self, caller: &Caller, body: Option<Value>) -> Result<Value, AgentError> {
        let request = AgentRequest::to(Method::POST, self.session_url(None), self.server.opening);
        let request = match &body {
            Some(body) => request.with_body(body),
            None => request,
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
        caller.call(&request, read).await
    }

    /// A message that the server does not have the app, where it lists the apps that it has.
    async fn unknown_app(&self, caller: &Caller) -> Option<String> {
        let request = AgentRequest::to(Method::GET, self.base.join(["list-apps"]), self.server.talking);
        let list = caller.document(&request).await.ok()?.json().ok()?;
        let apps: Vec<&str> = list.as_array()?.iter().filter_map(Value::as_str).collect();
        let (app, key) = (&self.app, self.server.key);
        (!apps.contains(&app.as_str()))
            .then(|| format!("the server has no app `{app}` (target.{key}.app), it has: {}", apps.join(", ")))
    }

    fn session_url(&self, id: Option<&str>) -> Url {
        self.base.join(["apps", &self.app, "users", &self.user, "sessions"].into_iter().chain(id))
    }
}

impl Wire for AdkWire {
    /// The agent keeps the conversation, by its id.
    async fn reopen(&mut self, _: &Caller, _: &UnfinishedSession) -> Result<(), AgentError> {
        Ok(())
    }

    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        let mut session = self.create(caller, session_request(&self.state, false)).await?;
        if !self.state.is_empty() && took_body_for_state(&session, &self.state) {
            session = self.create(caller, session_request(&self.state, true)).await?;
        }
        Ok(session.get("id").and_then(Value::as_str).unwrap_or_default().to_owned())
    }

    async fn send(&mut self, input: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        self.events.clear();
        let body = run_request(&self.app, &self.user, &input.session_id, &input.message, self.streaming);
        let url = self.base.join([if self.streaming { "run_sse" } else { "run" }]);
        let request = AgentRequest::to(Method::POST, url, self.server.talking).with_body(&body);
        Ok(match self.streaming {
            true => request.in_form(ReplyForm::EventsOrDocument, Some("text/event-stream")),
            false => request,
        })
    }

    fn document(&mut self, reply: &HttpReply) -> Result<Value, HttpFault> {
        if self.streaming {
            return Err(reply.no_event_stream());
        }
        match reply.json()? {
            // Go's way to write an empty list.
            Value::Null => Ok(Value::Array(Vec::new())),
            list @ Value::Array(_) => Ok(list),
            _ => Err(reply.unreadable("the reply is no list of events")),
        }
    }

    fn feed(&mut self, event: Value, reply: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        if let Value::Array(events) = event {
            let events = events.into_iter().map(AdkEvent::read).collect::<Result<Vec<_>, _>>();
            self.events = events.map_err(|error| {
                reply.unreadable(&format!("the events can't be read ({})", reply.quote(&error.to_string())))
            })?;
            return Ok(EventOutcome::Nothing);
        }
        let read = AdkEvent::read(event).map_err(|error| {
            reply.unreadable(&format!("an event can't be read ({})", reply.quote(&error.to_string())))
        })?;
        let took = if is_blank(&read.text()) { EventOutcome::Nothing } else { EventOutcome::Text };
        self.events.push(read);
        Ok(took)
    }

    async fn finish(&mut self, _: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        received.broken()?;
        if is_foreign(&self.events) {
            let what = "what came is no run: its events hold neither content nor author";
            return Err(received.reply.misshapen(what).into());
        }
        let run = parse_run(&self.events).map_err(|error| received.reported(&error.to_string()))?;
        self.has_answered = true;
        received.run_reply(run)
    }

    /// Adds hints to the messages about a forgotten session and an unknown app.
    fn failed(&mut self, mut failure: AttemptFailure, _: Option<&HttpReply>) -> AttemptFailure {
        let error = &mut failure.error;
        if error.kind == AgentErrorKind::Status(400) && error.message.contains("agent not found") {
            error.message.push_str(self.server.talking.not_found);
        }
        if error.kind == AgentErrorKind::NotFound && error.message.contains("Session not found") {
            error.message = format!(
                "the agent has forgotten the session in mid-conversation (did it restart, or does the session expire?): {}",
                error.message
            );
        }
        failure
    }

    /// ADK 1 takes sessions of any app, and then fails at each message.
    async fn diagnose(&self, caller: &Caller, error: AgentError) -> AgentError {
        if self.has_answered || error.kind != AgentErrorKind::Status(500) {
            return error;
        }
        match self.unknown_app(caller).await {
            Some(what) => AgentError { kind: AgentErrorKind::NotFound, message: format!("{}; {what}", error.message) },
            None => error,
        }
    }

    /// The session's state is the context; ADK has no resources and no functions to show.
    async fn state(&mut self, caller: &Caller, input: &TurnInput) -> Result<ObjectContext, AgentError> {
        let request = AgentRequest::to(
            Method::GET,
            self.session_url(Some(&input.session_id)),
            Hints { not_found: "", ..self.server.talking },
        );
        let mut session = caller.call(&request, |reply| Ok(reply.object::<Value>()?)).await?;
        let context = session.get_mut("state").map(Value::take).unwrap_or_default();
        Ok(ObjectContext { context, ..ObjectContext::default() })
    }
}
