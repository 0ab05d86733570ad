//! The agent, found by its name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use super::completions::CompletionsSession;
use super::gate::{Gate, Outgoing};
use super::runs::RunsSession;
use super::wire::{agent_id, uuid_of};
use super::{ApiConfig, WatsonxSettings};
use crate::agent::attempts::own_session_id;
use crate::agent::{Agent, AgentError, AgentErrorKind, Session};
use crate::http::{HttpClient, Method};

/// How many names of other agents an error tells.
const NAMES: usize = 20;

/// An agent in watsonx Orchestrate.
#[derive(Clone)]
pub struct WatsonxAgent {
    gate: Arc<Gate>,
    opened: Arc<AtomicU64>,
}

impl WatsonxAgent {
    /// A client for the agent; nothing is sent yet. The error says which address can't work; [`super::check`] finds the
    /// same before a run.
    pub fn new(settings: WatsonxSettings, http: HttpClient) -> Result<WatsonxAgent, AgentError> {
        Ok(WatsonxAgent { gate: Arc::new(Gate::new(settings, http)?), opened: Arc::default() })
    }

    async fn agent_id(&self) -> Result<String, AgentError> {
        let outgoing = Outgoing {
            method: Method::GET,
            url: self.gate.base.join(["v1", "orchestrate", "agents"]),
            body: None,
            headers: Vec::new(),
            if_not_found: "; check target.watsonx.baseUrl: is this an instance of watsonx Orchestrate?",
        };
        let agents = self.gate.document(&outgoing).await?;
        let name = &self.gate.settings.agent;
        match agent_id(&agents, name) {
            Some(Ok(id)) => Ok(id),
            Some(Err(names)) => {
                let there_are = match names.len() {
                    0 => "there are none".to_owned(),
                    count => {
                        let more = if count > NAMES { format!(" and {} more", count - NAMES) } else { String::new() };
                        let shown: Vec<String> =
                            names.iter().take(NAMES).map(|name| crate::http::excerpt(name, &[])).collect();
                        format!("there are {}{more}", shown.join(", "))
                    }
                };
                let message = format!("no agent is called {name:?}; {there_are}; check target.watsonx.agent");
                Err(AgentError { kind: AgentErrorKind::NotFound, message })
            }
            None => {
                let message =
                    "the reply to GET /v1/orchestrate/agents is no list of agents; check target.watsonx.baseUrl";
                Err(AgentError { kind: AgentErrorKind::BadReply, message: message.to_owned() })
            }
        }
    }
}

#[async_trait]
impl Agent for WatsonxAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let agent = self.agent_id().await?;
        let rest = &self.gate.settings.rest;
        let nth = self.opened.fetch_add(1, Ordering::Relaxed);
        // The time's too, so that no two runs share a thread whatever their `--rng-seed`.
        let now = rest.clock.wall().timestamp_micros().cast_unsigned();
        let id = uuid_of(&own_session_id(rest.rng_seed ^ now.rotate_left(32), nth));
        let gate = Arc::clone(&self.gate);
        Ok(match gate.settings.config.api {
            ApiConfig::V1 => Box::new(RunsSession::new(gate, agent, id)),
            ApiConfig::V2 => Box::new(CompletionsSession::new(gate, agent, id)),
        })
    }
}
