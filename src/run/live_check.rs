//! Checks agent and graph without a conversation: no model is asked, no seed is delivered, and nothing is written to a database
//! of the user's own. It finds out whether a run could begin, and which assertions may not be able to fail.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::abort::{SetupError, TrialAbort};
use super::hint::hint;
use super::preflight::PreflightFailure;
use super::trial_env::{SetupMode, TrialEnv};
use super::watch::Watch;
use super::{Engine, evaluate, observe};
use crate::agent::managed::Listener;
use crate::clock::Clock;
use crate::evidence::{Evidence, Observed};
use crate::grade::{self, GradeInput};
use crate::job::{Assertion, Case, Job};
use crate::plan::Trial;
use crate::score::Vacuity;

/// The result of the check.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveCheck {
    /// The assertions that hold before any conversation and on an empty graph, and those that could not be checked.
    pub doubts: Vec<(AssertionPlace, Vacuity)>,
    /// The assertions that can't be evaluated, with the reason: the graph did not run the query, or its result is unusable.
    pub unusable: Vec<(AssertionPlace, String)>,
    /// Why the graph can't be watched, where it should be.
    pub unwatched: Option<String>,
    /// Why the agent's state, which the job looks at, can't be read, and what to try. Some agents have none before the first message.
    pub no_state: Option<PreflightFailure>,
    /// Whether setups of the job were left out, so that the graph is not as in a conversation.
    pub without_setups: bool,
}

/// An assertion of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct AssertionPlace {
    /// Its case.
    pub case: String,
    /// Its place in the case, from 1.
    pub number: usize,
    /// Its name or text for a reader.
    pub label: String,
}

/// Opens a session for each case in each of its conditions and evaluates the assertions. `None` where it was interrupted; all
/// that was started has ended.
///
/// # Errors
/// No conversation could begin: the agent or the graph does not answer.
pub async fn live_check(engine: &Engine, interrupt: CancellationToken) -> Result<Option<LiveCheck>, SetupError> {
    // Dropping the future cancels its requests.
    let seen = tokio::select! {
        biased;
        () = interrupt.cancelled() => None,
        live_check = look_at_cases(engine) => Some(live_check),
    };
    engine.close().await;
    Ok(seen.transpose()?)
}

async fn look_at_cases(engine: &Engine) -> Result<LiveCheck, TrialAbort> {
    let seen = look_at_all(engine).await?;
    let (job, clock, lasts) = (engine.plan.job.clone(), engine.clock, engine.graph_lasts());
    evaluate::off_thread(engine, move || summary(&job, clock, lasts, &seen)).await
}

/// The evidence of one case in each of its conditions.
struct CaseEvidence {
    case: Arc<Case>,
    evidence: Vec<Evidence>,
    no_state: Option<PreflightFailure>,
}

async fn look_at_all(engine: &Engine) -> Result<Vec<CaseEvidence>, TrialAbort> {
    let mut seen: Vec<CaseEvidence> = Vec::new();
    for trial in engine.plan.trials() {
        let place = match seen.iter().position(|seen| seen.case.id == trial.case.id) {
            Some(place) => place,
            None => {
                seen.push(CaseEvidence { case: trial.case.clone(), evidence: Vec::new(), no_state: None });
                seen.len() - 1
            }
        };
        // One model and one repetition stand for all.
        if !seen[place].evidence.iter().any(|evidence| evidence.condition == trial.id.condition) {
            let (evidence, no_state) = look(engine, &trial).await?;
            seen[place].evidence.push(evidence);
            seen[place].no_state = seen[place].no_state.take().or(no_state);
        }
    }
    Ok(seen)
}

async fn look(engine: &Engine, trial: &Trial) -> Result<(Evidence, Option<PreflightFailure>), TrialAbort> {
    let env = TrialEnv::set_up(engine, trial, SetupMode::LeavesNoTrace, &Listener::default()).await?;
    let evidence = match env.open().await {
        Ok(mut session) => {
            let mut evidence = Evidence::new(session.id().to_owned(), env.user.clone(), &trial.id);
            observe::look_before(&env, session.as_mut(), &mut evidence).await;
            let error = observe::state_error(&env, session.as_mut()).await;
            let no_state = error.map(|error| PreflightFailure {
                help: format!("try {}", hint(&engine.plan.job.target, &error)),
                what: error.to_string(),
            });
            evidence.changes = Watch::before(&env, &evidence.session_id).await.so_far();
            Ok((evidence, no_state))
        }
        Err(stop) => Err(stop),
    };
    env.close().await;
    evidence
}

fn summary(job: &Job, clock: Clock, graph_lasts: bool, seen: &[CaseEvidence]) -> LiveCheck {
    let all = || seen.iter().flat_map(|seen| &seen.evidence);
    let unwatched = all().find_map(|evidence| match &evidence.changes {
        Some(Observed::Failed(trouble)) => Some(trouble.clone()),
        _ => None,
    });
    let without_setups = graph_lasts && seen.iter().any(|seen| !seen.case.setups.is_empty());
    let no_state = seen.iter().find_map(|seen| seen.no_state.clone());
    let mut live_check = LiveCheck { unwatched, no_state, without_setups, ..LiveCheck::default() };
    for seen_case in seen {
        let CaseEvidence { case, evidence, .. } = seen_case;
        for (assertion, number) in case.assertions.iter().zip(1..) {
            let place = AssertionPlace { case: case.id.clone(), number, label: assertion.label() };
            let unusable = |evidence| grade::why_unusable(assertion, GradeInput { job, case, evidence, clock });
            match failed_query(assertion, evidence).or_else(|| evidence.iter().find_map(unusable)) {
                Some(error) => live_check.unusable.push((place, error)),
                None => live_check.doubts.extend(seen_case.doubt(job, assertion, clock).map(|it| (place, it))),
            }
        }
    }
    live_check
}

fn failed_query(assertion: &Assertion, seen: &[Evidence]) -> Option<String> {
    let before = seen.iter().filter_map(|evidence| evidence.before.as_ref()).flat_map(|state| &state.queries);
    before.filter(|query| query.assertion == assertion.id).find_map(|query| match &query.result {
        Observed::Failed(error) => Some(error.clone()),
        Observed::Seen(_) => None,
    })
}

impl CaseEvidence {
    /// Why an assertion may not be able to fail; `None` where it does not hold in one of the conditions.
    fn doubt(&self, job: &Job, assertion: &Assertion, clock: Clock) -> Option<Vacuity> {
        let in_doubt = |evidence: &&Evidence| grade::is_in_doubt(assertion, evidence.condition);
        let looked: Vec<&Evidence> = self.evidence.iter().filter(in_doubt).collect();
        let of_one =
            |evidence: &&Evidence| grade::doubt(assertion, GradeInput { job, case: &self.case, evidence, clock });
        let doubts: Vec<Vacuity> = looked.iter().filter_map(of_one).collect();
        if doubts.len() != looked.len() {
            return None;
        }
        doubts.iter().find(|doubt| **doubt != Vacuity::Vacuous).or(doubts.first()).cloned()
    }
}
