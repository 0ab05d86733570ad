//! The agent that eval-job starts for a trial, or for all of them.

use std::sync::Arc;

use super::Engine;
use super::trial_graph::TrialGraph;
use crate::agent::managed::{GraphAccess, Lifeline, Listener, ManagedAgent, StartConfig, StartError, StartSettings};
use crate::http::{BaseUrl, Url};
use crate::job::Isolation;

impl Engine {
    /// The agent of a trial, where eval-job starts it: one of its own, or the one that all trials share.
    pub(super) async fn managed_agent(
        &self,
        trial_graph: Option<&TrialGraph>,
        listener: &Listener,
    ) -> Result<Option<Arc<ManagedAgent>>, StartError> {
        let Some(start) = &self.plan.job.target.start else { return Ok(None) };
        let settings = self.start_settings(start, trial_graph.and_then(|trial_graph| trial_graph.access.clone()));
        let agent = match self.plan.isolation {
            Isolation::Shared | Isolation::User => self.resources.shared_agent(&settings, listener).await?,
            Isolation::Database | Isolation::Process => self.resources.start_agent(&settings, listener).await?,
        };
        Ok(Some(agent))
    }

    fn start_settings(&self, start: &StartConfig, graph: Option<GraphAccess>) -> StartSettings {
        let job = &self.plan.job;
        let address = job.target.transport.named_address();
        StartSettings {
            config: start.clone(),
            folder: job.folder.clone(),
            port: start.ready.port.and_then(|port| port.number()).or_else(|| address.and_then(loopback_port)),
            graph,
            variables: self.clients.credentials.variables.clone(),
            redactor: self.clients.redactor().clone(),
        }
    }

    /// Ends every agent that was started and deletes every database that was made, as far as trials have not.
    pub(super) async fn close(&self) {
        self.resources.close(self.clients.neo4j.as_deref()).await;
    }
}

/// Waits until the agent's process ends; for ever where it is not ours to watch.
pub(super) async fn ended(lifeline: Option<&mut Lifeline>) -> String {
    match lifeline {
        Some(lifeline) => lifeline.ended().await,
        None => std::future::pending().await,
    }
}

/// The port of an address on this machine.
fn loopback_port(address: &str) -> Option<u16> {
    BaseUrl::parse(address).ok().filter(BaseUrl::is_loopback)?;
    Url::parse(address.trim()).ok()?.port_or_known_default()
}
