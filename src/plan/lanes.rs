//! The isolation of trials, and the lanes in which they run.

use std::collections::HashSet;
use std::sync::Arc;

use super::Trial;
use crate::evidence::{Condition, TrialId};
use crate::graph::GraphConfig;
use crate::job::{Case, Isolation, Job};

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

/// Trials that share state: they are run one after the other. Each is made when it is asked for.
pub struct Lane(Box<dyn Iterator<Item = Trial> + Send>);

impl Lane {
    /// A lane of these trials.
    pub fn new(trials: impl Iterator<Item = Trial> + Send + 'static) -> Lane {
        Lane(Box::new(trials))
    }
}

impl Iterator for Lane {
    type Item = Trial;

    fn next(&mut self) -> Option<Trial> {
        self.0.next()
    }
}

/// The conversations of one repetition, in their order, and how many repetitions there are. The first round of everything
/// comes before the second one, so that a run that is cut short has something of each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Schedule {
    pub(super) round: Arc<[(Arc<Case>, String, Condition)]>,
    pub(super) repeats: u32,
}

impl Schedule {
    pub(super) fn new(job: &Job, models: &[String], conditions: &[Condition]) -> Schedule {
        let of_model = |case: &Arc<Case>, model: &String| {
            let held = case.conditions.iter().filter(|condition| conditions.contains(condition));
            held.map(|condition| (case.clone(), model.clone(), *condition)).collect::<Vec<_>>()
        };
        let of_case = |case| models.iter().flat_map(move |model| of_model(case, model));
        Schedule { round: job.cases.iter().flat_map(of_case).collect(), repeats: job.repeat }
    }

    /// The last conversation of the first case alone: the one in which the most is known.
    pub(super) fn first_only(self) -> Schedule {
        let first = self.round.first().map(|(case, ..)| case.clone());
        let is_its = |it: &&(Arc<Case>, String, Condition)| first.as_ref().is_some_and(|case| Arc::ptr_eq(&it.0, case));
        Schedule { round: self.round.iter().rfind(is_its).cloned().into_iter().collect(), repeats: 1 }
    }

    /// Only the conversations about these cases.
    pub(super) fn for_cases(&self, cases: &[Arc<Case>]) -> Schedule {
        let kept: HashSet<*const Case> = cases.iter().map(Arc::as_ptr).collect();
        let is_kept = |it: &&(Arc<Case>, String, Condition)| kept.contains(&Arc::as_ptr(&it.0));
        Schedule { round: self.round.iter().filter(is_kept).cloned().collect(), repeats: self.repeats }
    }

    pub(super) fn trials(&self) -> impl ExactSizeIterator<Item = Trial> + Send + use<> {
        let Schedule { round, repeats } = self.clone();
        (0..round.len() * repeats as usize).map(move |place| {
            let (case, model, condition) = &round[place % round.len()];
            let (number, repeat) = (place as u32 + 1, (place / round.len()) as u32 + 1);
            let (case_id, model, condition) = (case.id.clone(), model.clone(), *condition);
            let at = place % round.len();
            let is_same = |other: &(Arc<Case>, String, Condition)| Arc::ptr_eq(&other.0, case);
            let is_first = at == 0 || !is_same(&round[at - 1]);
            let together = if is_first { round[at..].iter().take_while(|it| is_same(it)).count() as u32 } else { 1 };
            Trial {
                id: TrialId { number, case: case_id, model, condition, repeat },
                case: case.clone(),
                attempt: 0,
                restart: None,
                left: None,
                together,
            }
        })
    }
}
