//! The calls to the agent server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use super::TrpcSettings;
use super::settings::base;
use super::wire::{Run, RunReply, run_of, run_request};
use crate::agent::attempts::own_session_id;
use crate::agent::rest::{BEARER, Caller, Flaw, Request};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, Session};
use crate::evidence::ObjectContext;
use crate::http::{BaseUrl, HttpClient, HttpReply, Method};

/// An agent behind trpc-agent-go's agent server.
#[derive(Clone)]
pub struct TrpcAgent {
    shared: Arc<Shared>,
}

struct Shared {
    settings: TrpcSettings,
    base: BaseUrl,
    caller: Caller,
    opened: AtomicU64,
}

impl TrpcAgent {
    /// A client for the agent; nothing is sent yet. The error says which address can't work; [`super::check`] finds the
    /// same before a run.
    pub fn new(settings: TrpcSettings, http: HttpClient) -> Result<TrpcAgent, AgentError> {
        let base =
            base(&settings.base_url).map_err(|message| AgentError { kind: AgentErrorKind::Unreachable, message })?;
        let caller = Caller::new(settings.rest.clone(), http, "trpc");
        Ok(TrpcAgent { shared: Arc::new(Shared { settings, base, caller, opened: AtomicU64::new(0) }) })
    }
}

#[async_trait]
impl Agent for TrpcAgent {
    /// The server makes a session of whatever id it has not seen: ours is the time's too, so that a run with the same
    /// `--rng-seed` does not go on with an earlier one's.
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let nth = shared.opened.fetch_add(1, Ordering::Relaxed);
        let rest = &shared.settings.rest;
        let now = rest.clock.wall().timestamp_micros().cast_unsigned();
        let id = own_session_id(rest.rng_seed ^ now.rotate_left(32), nth);
        Ok(Box::new(TrpcSession { shared, id }))
    }
}

/// One conversation with such an agent.
struct TrpcSession {
    shared: Arc<Shared>,
    id: String,
}

#[async_trait]
impl Session for TrpcSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_met(&self) -> bool {
        false
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let TrpcSettings { app, user, runtime_state, .. } = &self.shared.settings;
        let request = Request {
            method: Method::POST,
            url: self.shared.base.join(["trpc-agent", "v1", "apps", app, "runs"]),
            body: Some(run_request(user, &self.id, message, runtime_state)),
            accept: None,
            key: BEARER,
            if_not_found: "; check target.trpc.baseUrl and target.trpc.app: is this trpc-agent-go's agent server, made with a \
                           runner for that app?",
        };
        let outcome = self.shared.caller.call(&request, read, attempts).await;
        outcome.map(|(run, latency_ms)| Reply {
            text: run.text,
            events: run.events,
            latency_ms,
            first_token_ms: None,
            usage: run.usage,
        })
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        let message = "trpc-agent-go's servers have no way to show an agent's state".to_owned();
        Err(AgentError { kind: AgentErrorKind::NotFound, message })
    }
}

fn read(reply: &HttpReply) -> Result<Run, Flaw> {
    let body: RunReply = reply.object()?;
    run_of(&body).map_err(|what| {
        let message = format!("{}: {}", reply.place, reply.quote(&what).trim_matches('"'));
        Flaw::Reported(AgentError { kind: AgentErrorKind::BadReply, message })
    })
}
