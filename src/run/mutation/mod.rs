//! Whether the assertions of a stored conversation notice that one of its recorded changes was not made, was made twice, or was made
//! otherwise. In come evidence and setups; everything happens in embedded graphs, which are only read once they are made.

mod model;
mod mutant;
#[cfg(test)]
mod tests;

use crate::clock::Clock;
use crate::evidence::{Evidence, Observed, QueryObservation, TrialId, Value};
use crate::graph::embedded::{EmbeddedGraph, EmbeddedLimits};
use crate::graph::{Graph, GraphError, Parameters};
use crate::job::{Assertion, Case, Job};
use crate::record::{MissedMutant, MutatedTrial, MutationKind, NotMeasured, NotMutated};
use crate::score::{Component, Score};
use model::{GraphModel, History};
use mutant::{Mutant, mutants};

/// The most mutants of one conversation; of more, this many are taken at even distances.
const MOST: usize = 100;

/// The most nodes and relationships of a graph that is made again for each mutant.
const LARGEST: usize = 2_000;

/// A stored conversation.
#[derive(Debug, Clone, Copy)]
pub struct RecordedTrial<'a> {
    /// The run's id.
    pub run: &'a str,
    /// The run's job.
    pub job: &'a Job,
    /// Its case.
    pub case: &'a Case,
    /// Which conversation it is.
    pub trial: &'a TrialId,
    /// Its evidence, the recorded changes included.
    pub evidence: &'a Evidence,
    /// It stops what would take for ever.
    pub clock: Clock,
}

/// Tries the assertions of a stored conversation on mutants of what it did to the graph.
pub async fn mutate(recorded: RecordedTrial<'_>) -> MutatedTrial {
    let (case, trial) = (recorded.trial.case.clone(), recorded.trial.key());
    let tried = recorded.tried().await;
    let mutated = MutatedTrial { case, trial, ..MutatedTrial::default() };
    match tried {
        Ok(Tried { mutants, not_measured, cut_from, missed }) => {
            MutatedTrial { mutants, not_measured, cut_from, missed, ..mutated }
        }
        Err(why) => MutatedTrial { not_mutated: Some(why), ..mutated },
    }
}

struct Tried {
    mutants: usize,
    not_measured: Option<NotMeasured>,
    cut_from: Option<usize>,
    missed: Vec<MissedMutant>,
}

impl RecordedTrial<'_> {
    async fn tried(&self) -> Result<Tried, NotMutated> {
        let nothing = |why: &str| NotMutated::Nothing(why.to_owned());
        let changes = match &self.evidence.changes {
            Some(Observed::Seen(changes)) if !changes.is_empty() => changes,
            Some(Observed::Seen(_)) => return Err(nothing("it changed nothing in the graph")),
            Some(Observed::Failed(why)) => {
                return Err(NotMutated::Unknown(format!("what it changed in the graph is not known: {why}")));
            }
            None => return Err(nothing("no change of a graph is recorded")),
        };
        if self.evidence.changes_by_user().next().is_some() {
            let why =
                "the user's own tools changed the graph too, so that it can't be made again of what the agent did";
            return Err(NotMutated::Unknown(why.to_owned()));
        }
        let held: Vec<&Assertion> = self
            .case
            .assertions
            .iter()
            .filter(|it| it.applies_in(self.trial.condition) && it.check.needs_graph())
            .filter(|it| holds(&self.evaluate(it, self.evidence)))
            .collect();
        if held.is_empty() {
            return Err(nothing("no assertion on the graph holds"));
        }
        let unknown = |error: GraphError| NotMutated::Unknown(error.message);
        let before = self.before().await?;
        let history = History::new(before, changes);
        if history.after.size() > LARGEST {
            let size = history.after.size();
            return Err(NotMutated::Unknown(format!(
                "the graph has {size} nodes and relationships, more than {LARGEST}"
            )));
        }
        let as_recorded = self.seen_in(&history, &held).await.map_err(unknown)?;
        for assertion in &held {
            let again = self.evaluate(assertion, &as_recorded);
            if !holds(&again) {
                let label = assertion.label();
                return Err(NotMutated::Unknown(format!(
                    "assertion {label} holds as recorded, and not in the graph made of setups and recorded changes: {}",
                    again.why()
                )));
            }
        }
        let all = mutants(&history);
        let taken = taken(&all);
        let mut missed = Vec::new();
        let mut not_measured: Option<NotMeasured> = None;
        for at in &taken {
            let mutant = &all[*at];
            let evidence = self.seen_in(&mutant.applied(&history), &held).await.map_err(unknown)?;
            let found: Vec<Component> = held.iter().map(|assertion| self.evaluate(assertion, &evidence)).collect();
            if found.iter().any(|component| component.score().is_some() && !holds(component)) {
                continue;
            }
            // Where it fails or says nothing, an assertion has noticed nothing.
            if let Some(unknown) = found.iter().find(|component| component.score().is_none()) {
                let known =
                    not_measured.get_or_insert_with(|| NotMeasured { mutants: 0, why: unknown.why().to_owned() });
                known.mutants += 1;
            } else {
                let (change, kind, altered) = (mutant.change.clone(), mutant.kind, mutant.altered());
                missed.push(MissedMutant { change, kind, altered });
            }
        }
        let cut_from = (taken.len() < all.len()).then_some(all.len());
        let mutants = taken.len() - not_measured.as_ref().map_or(0, |it| it.mutants);
        Ok(Tried { mutants, not_measured, cut_from, missed })
    }

    /// The graph that setups make.
    async fn before(&self) -> Result<GraphModel, NotMutated> {
        let graph = fresh().map_err(|error| NotMutated::Unknown(error.message))?;
        let parameters = self.parameters(Value::Null);
        for (setup, number) in self.case.setups.iter().zip(1..) {
            let written = graph.write(&setup.cypher, &parameters).await;
            written.map_err(|error| NotMutated::Unknown(format!("setup {number}: {error}")))?;
        }
        GraphModel::read(&graph).await.map_err(|error| NotMutated::Unknown(error.message))
    }

    /// The evidence, had the conversation done this to the graph.
    async fn seen_in(&self, history: &History, assertions: &[&Assertion]) -> Result<Evidence, GraphError> {
        let graph = fresh()?;
        if history.after.size() > 0 {
            let (statement, parameters) = history.after.statement();
            graph.write(&statement, &parameters).await?;
        }
        let parameters = self.parameters(Value::String(self.evidence.session_id.clone()));
        let mut queries = Vec::new();
        for assertion in assertions {
            if let Some(cypher) = assertion.check.cypher() {
                let result = graph.read(cypher, &parameters).await;
                let result = result.map_or_else(|error| Observed::Failed(error.message), Observed::Seen);
                queries.push(QueryObservation { assertion: assertion.id.clone(), result, sides: None });
            }
        }
        Ok(Evidence { queries, changes: Some(Observed::Seen(history.changes())), ..self.evidence.clone() })
    }

    fn evaluate(&self, assertion: &Assertion, evidence: &Evidence) -> Component {
        assertion.check.evaluate_briefly(&assertion.id, &self.job.name, evidence, self.clock)
    }

    fn parameters(&self, session_id: Value) -> Parameters {
        let text = |text: &str| Value::String(text.to_owned());
        // An earlier version did not keep it.
        let user = match self.evidence.user.as_str() {
            "" => self.case.session.user.as_ref().unwrap_or(&self.job.target.user),
            user => user,
        };
        Parameters::from([
            ("user".to_owned(), text(user)),
            ("sessionId".to_owned(), session_id),
            ("trial".to_owned(), text(&format!("{}-{}", self.run, self.trial.number))),
            ("model".to_owned(), text(&self.trial.model)),
        ])
    }
}

/// The places of those that are tried: at even distances among those of a kind, so that each kind is.
fn taken(all: &[Mutant]) -> Vec<usize> {
    if all.len() <= MOST {
        return (0..all.len()).collect();
    }
    let mut kinds: Vec<(MutationKind, Vec<usize>)> = Vec::new();
    for (at, mutant) in all.iter().enumerate() {
        match kinds.iter_mut().find(|(kind, _)| *kind == mutant.kind) {
            Some((_, places)) => places.push(at),
            None => kinds.push((mutant.kind, vec![at])),
        }
    }
    let some = |(_, places): &(MutationKind, Vec<usize>)| -> Vec<usize> {
        let share = (places.len() * MOST / all.len()).max(1);
        (0..share).map(|at| places[at * places.len() / share]).collect()
    };
    let mut taken: Vec<usize> = kinds.iter().flat_map(some).collect();
    taken.sort_unstable();
    taken
}

fn fresh() -> Result<EmbeddedGraph, GraphError> {
    EmbeddedGraph::with_limits(EmbeddedLimits::default())
}

fn holds(component: &Component) -> bool {
    component.score() == Some(Score::ONE)
}
