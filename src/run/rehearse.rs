//! A look at agent and graph without a word: no model is asked, no seed is delivered, and nothing is written to a
//! database of the user's own. It tells whether a run could begin, and which assertions may not be able to fail.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use super::prepare::{self, Extent};
use super::trial::Stop;
use super::watch::Watch;
use super::{Engine, evaluate, observe};
use crate::agent::managed::Listener;
use crate::clock::Clock;
use crate::evidence::{Condition, Evidence, Observed, TrialId};
use crate::grade;
use crate::job::Job;
use crate::score::Vacuity;

/// What a look before any conversation shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rehearsal {
    /// The assertions, by place from 0, that hold before any conversation and with nothing there, and those of which
    /// that could not be told.
    pub doubts: BTreeMap<usize, Vacuity>,
    /// The assertions, by place from 0, whose query the graph did not run, and why.
    pub failed_queries: BTreeMap<usize, String>,
    /// Why the graph can't be watched, where it should be.
    pub unwatched: Option<String>,
    /// Whether the job has setups that were left out, so that the graph is not what a conversation would find.
    pub without_setups: bool,
}

/// Opens a session in each condition of the plan and looks at the assertions. `None` where it was interrupted; whatever
/// was started has ended.
///
/// # Errors
/// Why no conversation could begin: the agent or the graph does not answer.
pub async fn rehearse(engine: &Engine, interrupt: CancellationToken) -> Result<Option<Rehearsal>, String> {
    // Dropping the look cancels whatever it waits for.
    let seen = tokio::select! {
        biased;
        () = interrupt.cancelled() => None,
        rehearsal = rehearsal(engine) => Some(rehearsal),
    };
    engine.edges.close().await;
    match seen {
        Some(Ok(rehearsal)) => Ok(Some(rehearsal)),
        Some(Err(Stop::Outcome(outcome))) => Err(outcome.error().unwrap_or_default().to_owned()),
        Some(Err(Stop::Sink(error))) => Err(error.to_string()),
        None => Ok(None),
    }
}

async fn rehearsal(engine: &Engine) -> Result<Rehearsal, Stop> {
    let seen = look_at_all(engine).await?;
    let (job, clock, lasts) = (engine.plan.job.clone(), engine.clock, prepare::graph_lasts(engine));
    evaluate::off_thread(engine, move || summary(&job, clock, lasts, &seen)).await
}

async fn look_at_all(engine: &Engine) -> Result<Vec<Evidence>, Stop> {
    let trials = engine.plan.trials();
    let first = |condition| trials.iter().find(|trial| trial.condition == condition);
    let mut seen = Vec::new();
    for id in Condition::ALL.into_iter().filter_map(first) {
        seen.push(look(engine, id).await?);
    }
    Ok(seen)
}

async fn look(engine: &Engine, id: &TrialId) -> Result<Evidence, Stop> {
    let stage = prepare::prepare(engine, id, (Extent::LeavesNoTrace, &Listener::default())).await?;
    let evidence = match stage.open().await {
        Ok(mut session) => {
            let mut evidence = Evidence::of_session(session.id().to_owned(), stage.user.clone(), id);
            observe::look_before(engine, id, &stage, session.as_mut(), &mut evidence).await;
            evidence.changes = Watch::before(engine, id, &stage, &evidence.session_id).await.so_far();
            Ok(evidence)
        }
        Err(stop) => Err(stop),
    };
    stage.close(engine).await;
    evidence
}

fn summary(job: &Job, clock: Clock, graph_lasts: bool, seen: &[Evidence]) -> Rehearsal {
    let unwatched = seen.iter().find_map(|evidence| match &evidence.changes {
        Some(Observed::Failed(trouble)) => Some(trouble.clone()),
        _ => None,
    });
    let without_setups = graph_lasts && !job.setups.is_empty();
    let mut rehearsal = Rehearsal { unwatched, without_setups, ..Rehearsal::default() };
    for (index, assertion) in job.assertions.iter().enumerate() {
        let looked: Vec<&Evidence> =
            seen.iter().filter(|evidence| grade::is_in_doubt(assertion, evidence.condition)).collect();
        let doubts: Vec<Vacuity> =
            looked.iter().filter_map(|evidence| grade::doubt(job, index, evidence, clock)).collect();
        // Where it does not hold in one condition, it can fail.
        if doubts.len() == looked.len() {
            let doubt = doubts.iter().find(|doubt| **doubt != Vacuity::Vacuous).or(doubts.first());
            rehearsal.doubts.extend(doubt.map(|doubt| (index, doubt.clone())));
        }
        let before = looked.iter().filter_map(|evidence| evidence.before.as_ref()).flat_map(|state| &state.queries);
        let failed = before.filter(|query| query.assertion == index).find_map(|query| match &query.result {
            Observed::Failed(error) => Some(error.clone()),
            Observed::Seen(_) => None,
        });
        if let Some(error) = failed {
            rehearsal.doubts.remove(&index);
            rehearsal.failed_queries.insert(index, error);
        }
    }
    rehearsal
}
