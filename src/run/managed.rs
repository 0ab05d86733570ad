//! The agent that eval-job starts for a trial, or for all of them.

use std::sync::Arc;

use super::edges::Edges;
use super::trial_graph::TrialGraph;
use crate::agent::managed::{GraphAccess, Lifeline, Listener, ManagedAgent, StartConfig, StartSettings};
use crate::http::{BaseUrl, Url};
use crate::job::Isolation;
use crate::plan::Plan;

impl Edges {
    /// The agent of a trial, where eval-job starts it: one of its own, or the one that all trials share.
    pub(super) async fn managed_agent(
        &self,
        plan: &Plan,
        trial_graph: Option<&TrialGraph>,
        listener: &Listener,
    ) -> Result<Option<Arc<ManagedAgent>>, String> {
        let Some(start) = &plan.job.target.start else { return Ok(None) };
        let settings = self.start_settings(plan, start, trial_graph.and_then(|trial_graph| trial_graph.access.clone()));
        let agent = match plan.isolation {
            Isolation::Shared | Isolation::User => self.resources.agent(&settings, listener).await?,
            Isolation::Database | Isolation::Process => {
                Arc::new(self.resources.agents.start(&settings, listener).await?)
            }
        };
        Ok(Some(agent))
    }

    fn start_settings(&self, plan: &Plan, start: &StartConfig, graph: Option<GraphAccess>) -> StartSettings {
        let address = plan.job.target.transport.named_address();
        StartSettings {
            config: start.clone(),
            folder: plan.job.folder.clone(),
            port: start.ready.port.and_then(|port| port.number()).or_else(|| address.and_then(loopback_port)),
            graph,
            surroundings: self.credentials.variables.clone(),
            redactor: self.redactor().clone(),
        }
    }

    /// Ends every agent that was started and deletes every database that was made, as far as trials have not.
    pub(super) async fn close(&self) {
        self.resources.close(self.neo4j.as_deref()).await;
    }
}

/// Until the agent's process ends; for ever where it is not ours to watch.
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
