//! Looking at agent and graph: before the first word, and at what the conversation left behind.

use std::time::Duration;

use futures_util::FutureExt;

use super::prepare::{Stage, parameters};
use super::trial::Stop;
use super::{Engine, evaluate};
use crate::agent::{AgentErrorKind, Session, Witness};
use crate::assertion::AssertionCheck;
use crate::clock::Stopwatch;
use crate::evidence::{Evidence, ObjectContext, Observed, QueryObservation, State, Table, TrialId};
use crate::grade;
use crate::graph::{Graph, GraphErrorKind, Parameters};
use crate::score::Score;

/// Looks at whatever the job's assertions need after the conversation. What can't be seen is kept as such.
pub(super) async fn observe(
    engine: &Engine,
    id: &TrialId,
    stage: &Stage,
    session: &mut dyn Session,
    evidence: &mut Evidence,
) {
    let parameters = parameters(engine, id, Some(&evidence.session_id));
    for (index, assertion) in engine.plan.job.assertions.iter().enumerate() {
        if !assertion.applies_in(id.condition) {
            continue;
        }
        match &assertion.check {
            AssertionCheck::Cypher(check) => {
                let result = rows(stage.graph.as_deref(), &check.cypher, &parameters).await;
                evidence.queries.push(QueryObservation { assertion: index, result });
            }
            check if check.needs_object_context() && evidence.object_context.is_none() => {
                evidence.object_context = Some(object_context(session).await);
            }
            AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => {}
        }
    }
}

/// Looks at the assertions before the first word, so that one that can't fail is known: first on an empty graph and an
/// empty context, and only where they hold there, or can't be told, at what there is.
pub(super) async fn look_before(
    engine: &Engine,
    id: &TrialId,
    stage: &Stage,
    session: &mut dyn Session,
    evidence: &mut Evidence,
) -> Result<(), Stop> {
    let job = &engine.plan.job;
    if !job.assertions.iter().any(|assertion| grade::is_in_doubt(assertion, id.condition)) {
        return Ok(());
    }
    let parameters = parameters(engine, id, Some(&evidence.session_id));
    let (mut before, mut empty) = (State::default(), State::default());
    for (index, assertion) in job.assertions.iter().enumerate() {
        if !grade::is_in_doubt(assertion, id.condition) {
            continue;
        }
        if let AssertionCheck::Cypher(check) = &assertion.check {
            let result = match engine.edges.empty_graph() {
                Ok(graph) => rows(Some(graph.as_ref()), &check.cypher, &parameters).await,
                Err(error) => Observed::Failed(error.message),
            };
            empty.queries.push(QueryObservation { assertion: index, result });
        }
        let (job, clock, so_far, nothing) = (job.clone(), engine.clock, evidence.clone(), empty.clone());
        let on_nothing = move || {
            let check = &job.assertions.get(index)?.check;
            Some(grade::on_nothing(check, index, &job, (&so_far, clock), &nothing))
        };
        let on_nothing = evaluate::off_thread(engine, on_nothing).await?;
        if on_nothing.and_then(|component| component.score()).is_some_and(|score| score < Score::ONE) {
            continue;
        }
        match &assertion.check {
            AssertionCheck::Cypher(check) => {
                let result = rows(stage.graph.as_deref(), &check.cypher, &parameters).await;
                before.queries.push(QueryObservation { assertion: index, result });
            }
            check if check.needs_object_context() && before.object_context.is_none() => {
                before.object_context = Some(object_context(session).await);
            }
            AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => {}
        }
    }
    (evidence.before, evidence.empty) = (Some(before), Some(empty));
    Ok(())
}

/// Knows what was wrong with the graph when a try of the agent's failed. What began before `since` can't be of that try.
pub(super) fn witness(stage: &Stage, since: Stopwatch) -> Witness {
    let graph = stage.graph.clone();
    Witness::new(move |words| {
        let graph = graph.clone();
        let look = async move {
            let within = Duration::from_secs_f64(since.elapsed_ms() / 1000.0);
            graph?.trouble(within, &words).await
        };
        look.boxed()
    })
}

/// Why the graph does not even answer the simplest question, where it should: an agent that needs it can't do its work.
pub(super) async fn graph_trouble(stage: &Stage) -> Option<String> {
    let error = stage.graph.as_ref()?.read("RETURN 1", &Parameters::new()).await.err()?;
    matches!(error.kind, GraphErrorKind::Unreachable | GraphErrorKind::Limit).then_some(error.message)
}

async fn rows(graph: Option<&dyn Graph>, cypher: &str, parameters: &Parameters) -> Observed<Table> {
    let Some(graph) = graph else { return Observed::Failed("the trial has no graph".to_owned()) };
    graph.read(cypher, parameters).await.map_or_else(|error| Observed::Failed(error.message), Observed::Seen)
}

async fn object_context(session: &mut dyn Session) -> Observed<ObjectContext> {
    match session.object_context().await {
        Ok(context) => Observed::Seen(context),
        Err(error) if error.kind == AgentErrorKind::NotFound => {
            Observed::Failed(format!("the agent shows no object context for this session: {error}"))
        }
        Err(error) => Observed::Failed(format!("the agent's object context: {error}")),
    }
}
