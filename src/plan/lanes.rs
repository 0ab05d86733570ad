//! The isolation of trials, and the lanes in which they run.

use super::Trial;
use crate::evidence::{Condition, TrialId};
use crate::graph::GraphConfig;
use crate::job::{Isolation, Job};

/// The isolation of a job's trials: the job's own, else the strongest that costs nothing.
pub(super) fn isolation(job: &Job, graph: Option<&GraphConfig>) -> Isolation {
    let is_demo = job.target.transport.hosting().is_in_process();
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

/// The trials of all cases, models, conditions and repetitions: in one lane if they share state, else in a lane each. The
/// first round of everything comes before the second one, so that a run that is cut short has something of each.
pub(super) fn lanes(job: &Job, models: &[String], conditions: &[Condition], share_state: bool) -> Vec<Vec<Trial>> {
    let mut trials = Vec::new();
    for repeat in 1..=job.repeat {
        for case in &job.cases {
            for model in models {
                for condition in case.conditions.iter().filter(|condition| conditions.contains(condition)) {
                    let number = trials.len() as u32 + 1;
                    let (case_id, model, condition) = (case.id.clone(), model.clone(), *condition);
                    let id = TrialId { number, case: case_id, model, condition, repeat };
                    trials.push(Trial { id, case: case.clone() });
                }
            }
        }
    }
    match share_state {
        _ if trials.is_empty() => Vec::new(),
        true => vec![trials],
        false => trials.into_iter().map(|trial| vec![trial]).collect(),
    }
}
