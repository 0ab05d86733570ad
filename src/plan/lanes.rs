//! What keeps trials apart, and which of them may run side by side.

use crate::evidence::{Condition, TrialId};
use crate::graph::GraphConfig;
use crate::job::{Isolation, Job};

/// What keeps the trials of a job apart: what it says, else the most that costs nothing.
pub(super) fn isolation(job: &Job, graph: Option<&GraphConfig>) -> Isolation {
    let is_demo = job.target.transport.as_transport().hosting().is_in_process();
    let is_embedded = matches!(graph, Some(GraphConfig::Embedded(_)));
    match job.isolation {
        // The demo agent is one for each trial anyway.
        Some(Isolation::Process) if is_demo && is_embedded => Isolation::Database,
        Some(isolation) => isolation,
        None if is_embedded && is_demo => Isolation::Database,
        None if is_embedded && job.target.start.is_some() => Isolation::Process,
        None => Isolation::Shared,
    }
}

/// Whether trials would see what other trials did, or stand in their way, if they ran at the same time.
pub(super) fn share_state(job: &Job, graph: Option<&GraphConfig>, isolation: Isolation) -> bool {
    match isolation {
        Isolation::Shared => true,
        Isolation::User => false,
        // Processes of their own, and one database.
        Isolation::Process => matches!(graph, Some(GraphConfig::Neo4j(_))) || fixed_port(job, graph),
        Isolation::Database => fixed_port(job, graph),
    }
}

/// Whether what each trial starts would listen at the same port.
fn fixed_port(job: &Job, graph: Option<&GraphConfig>) -> bool {
    let Some(start) = &job.target.start else { return false };
    let door = match graph {
        Some(GraphConfig::Embedded(config)) => config.bolt_port(),
        _ => None,
    };
    door.or(start.ready.port.and_then(|port| port.number())).is_some()
}

/// The trials of all models and conditions: in one lane if they share state, else in a lane each.
pub(super) fn lanes(models: &[String], conditions: &[Condition], share_state: bool) -> Vec<Vec<TrialId>> {
    let trials: Vec<TrialId> = models
        .iter()
        .flat_map(|model| conditions.iter().map(move |condition| (model, *condition)))
        .zip(1..)
        .map(|((model, condition), number)| TrialId { number, model: model.clone(), condition, repeat: 1 })
        .collect();
    if share_state { vec![trials] } else { trials.into_iter().map(|trial| vec![trial]).collect() }
}
