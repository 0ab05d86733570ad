//! Observes agent and graph, before the first turn and after the conversation.

use std::time::Duration;

use futures_util::FutureExt;

use super::trial_env::TrialEnv;
use crate::agent::{AgentError, AgentErrorKind, OutageCheck, Session};
use crate::assertion::AssertionCheck;
use crate::assertion::cypher::{self, CypherCheck};
use crate::cassette::while_answered;
use crate::clock::Stopwatch;
use crate::evidence::{AssertionId, Evidence, ObjectContext, Observed, ObservedState, QueryObservation, Table};
use crate::grade::{self, GradeInput};
use crate::graph::{Graph, GraphError, GraphErrorKind, Parameters};
use crate::score::Score;

/// Observes all that the job's assertions need after the conversation. Failed observations are recorded as such.
pub(super) async fn observe(env: &TrialEnv<'_>, session: &mut dyn Session, evidence: &mut Evidence) {
    let (trial, parameters) = (env.trial, env.parameters(&evidence.session_id));
    for assertion in &trial.case.assertions {
        if !assertion.applies_in(trial.id.condition) {
            continue;
        }
        match &assertion.check {
            AssertionCheck::Cypher(check) => {
                let result = rows(env.graph.as_deref(), &check.cypher, &parameters).await;
                let sides = sides(env, check, &parameters).await;
                evidence.queries.push(QueryObservation { assertion: assertion.id.clone(), result, sides });
            }
            check if check.needs_object_context() && evidence.object_context.is_none() => {
                evidence.object_context = Some(object_context(env, session, evidence).await);
            }
            AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => {}
        }
    }
    let job = &env.engine.plan.job;
    if evidence.object_context.is_none() && job.state_use(&trial.case).is_some() {
        evidence.object_context = Some(object_context(env, session, evidence).await);
    }
    // Where a query returned another result, a label in it may be misspelled.
    let fails = trial.case.assertions.iter().any(|assertion| match &assertion.check {
        AssertionCheck::Cypher(check) => cypher::evaluate(check, &assertion.id, evidence).score() == Some(Score::ZERO),
        _ => false,
    });
    if fails && let result @ Observed::Seen(_) = rows(env.graph.as_deref(), cypher::LABELS, &parameters).await {
        evidence.queries.push(QueryObservation { assertion: AssertionId::labels(), result, sides: None });
    }
}

/// Observes all that the assertions need before the first turn, so that earlier data are known; where an assertion holds there
/// or can't be evaluated, on an empty graph and an empty context too, so that one that can't fail is known. Returns the reason
/// why a conversation would be useless: a query that the graph can't run now, it can't run afterwards.
pub(super) async fn look_before(
    env: &TrialEnv<'_>,
    session: &mut dyn Session,
    evidence: &mut Evidence,
) -> Option<String> {
    let (engine, trial) = (env.engine, env.trial);
    let (job, case) = (&engine.plan.job, &trial.case);
    if !case.assertions.iter().any(|assertion| grade::is_in_doubt(assertion, trial.id.condition)) {
        return None;
    }
    let mut trouble = None;
    let parameters = env.parameters(&evidence.session_id);
    let mut before = ObservedState { may_be_left_over: engine.plan.keeps_leftovers(case), ..ObservedState::default() };
    let mut empty = ObservedState::default();
    for (assertion, number) in case.assertions.iter().zip(1..) {
        if !grade::is_in_doubt(assertion, trial.id.condition) {
            continue;
        }
        match &assertion.check {
            AssertionCheck::Cypher(check) => {
                let result = read_again(env.graph.as_deref(), &check.cypher, &parameters).await;
                if let Err(error) = &result
                    && matches!(error.kind, GraphErrorKind::Unreachable | GraphErrorKind::Limit)
                {
                    trouble.get_or_insert(format!(
                        "the query of assertion {number} (`{}`) could not be run before the first word: {}",
                        assertion.label(),
                        error.message
                    ));
                }
                let result = observed(result);
                let sides = sides(env, check, &parameters).await;
                before.queries.push(QueryObservation { assertion: assertion.id.clone(), result, sides });
                let input = GradeInput { job, case, evidence, clock: engine.clock };
                let held = grade::in_silence(assertion, input, &before);
                // The result on an empty graph shows whether other conversations have left data.
                if held.score().is_some_and(|score| score < Score::ONE) && !before.may_be_left_over {
                    continue;
                }
                let result = match env.empty_graph() {
                    Ok(graph) => rows(Some(graph.as_ref()), &check.cypher, &parameters).await,
                    Err(error) => Observed::Failed(error.message),
                };
                empty.queries.push(QueryObservation { assertion: assertion.id.clone(), result, sides: None });
            }
            check if check.needs_object_context() && before.object_context.is_none() => {
                let (context, error) = object_context_before(env, session).await;
                // No conversation is paid for whose state can't be read either, and only one at a time to find that out.
                if error.is_some() {
                    env.keep_probe(env.engine.resources.probe_state().await);
                }
                let known = error.and_then(|error| env.engine.resources.state_is_unreadable().then_some(error));
                if let Some(error) = env.tape.noted("unreadable state", known) {
                    trouble.get_or_insert(format!(
                        "the agent's state can't be read before the first word, nor could it be after an earlier conversation: {error}"
                    ));
                }
                before.object_context = Some(context);
            }
            AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => {}
        }
    }
    if before.may_be_left_over && !before.queries.is_empty() {
        let any = rows(env.graph.as_deref(), "MATCH (n) RETURN 1 LIMIT 1", &Parameters::new()).await;
        before.graph_is_empty = matches!(any, Observed::Seen(table) if table.rows.is_empty());
    }
    (evidence.before, evidence.empty) = (Some(before), Some(empty));
    trouble
}

/// Checks for an outage of the graph since `since`, when an attempt of the agent's fails.
pub(super) fn outage_check(env: &TrialEnv<'_>, since: Stopwatch) -> OutageCheck {
    let graph = env.graph.clone();
    OutageCheck::new(move |message| {
        let graph = graph.clone();
        let look = async move {
            let within = Duration::from_secs_f64(since.elapsed_ms() / 1000.0);
            graph?.trouble(within, &message).await
        };
        look.boxed()
    })
}

/// The error of a graph that does not answer the simplest query: an agent that needs it can't work.
pub(super) async fn graph_trouble(env: &TrialEnv<'_>) -> Option<String> {
    let error = env.graph.as_ref()?.read("RETURN 1", &Parameters::new()).await.err()?;
    matches!(error.kind, GraphErrorKind::Unreachable | GraphErrorKind::Limit).then_some(error.message)
}

/// Both sides of the comparison that a query returns, where conversations find data of earlier ones: `true` and `false` alone
/// don't show by which of them they were made. Else how much it has read, where its result doesn't tell.
async fn sides(env: &TrialEnv<'_>, check: &CypherCheck, parameters: &Parameters) -> Option<Table> {
    if !env.engine.plan.keeps_leftovers(&env.trial.case) {
        return None;
    }
    let sides = cypher::sides(&check.cypher).map(|sides| sides.cypher).or_else(|| cypher::counts(&check.cypher))?;
    match rows(env.graph.as_deref(), &sides, parameters).await {
        Observed::Seen(table) => Some(table),
        Observed::Failed(_) => None,
    }
}

async fn rows(graph: Option<&dyn Graph>, cypher: &str, parameters: &Parameters) -> Observed<Table> {
    observed(read(graph, cypher, parameters).await)
}

async fn read(graph: Option<&dyn Graph>, cypher: &str, parameters: &Parameters) -> Result<Table, GraphError> {
    let Some(graph) = graph else {
        return Err(GraphError { kind: GraphErrorKind::Statement, message: "the trial has no graph".to_owned() });
    };
    graph.read(cypher, parameters).await
}

/// The same, once more where a limit was passed: what slowed the graph down may be over, and no conversation is paid for yet.
async fn read_again(graph: Option<&dyn Graph>, cypher: &str, parameters: &Parameters) -> Result<Table, GraphError> {
    match read(graph, cypher, parameters).await {
        Err(error) if error.kind == GraphErrorKind::Limit => read(graph, cypher, parameters).await,
        result => result,
    }
}

fn observed(result: Result<Table, GraphError>) -> Observed<Table> {
    result.map_or_else(|error| Observed::Failed(error.message), Observed::Seen)
}

/// Reads it after a conversation. One that is not there tells something of the others where the agent has answered to the end: some
/// agents have a state once they have answered, and one that failed may have none.
async fn object_context(env: &TrialEnv<'_>, session: &mut dyn Session, evidence: &Evidence) -> Observed<ObjectContext> {
    match read_object_context(env, session).await {
        Ok(context) => {
            env.engine.resources.note_state(true);
            Observed::Seen(context)
        }
        Err(error) if error.kind == AgentErrorKind::NotFound => {
            if evidence.transcript.has_reply() && !evidence.agent_ended_it() {
                env.engine.resources.note_state(false);
            }
            Observed::Failed(format!("the agent shows no object context for this session: {error}"))
        }
        Err(error) => Observed::Failed(format!("the agent's object context: {error}")),
    }
}

/// The error of reading the agent's state, where the job looks at it in this case.
pub(super) async fn state_error(env: &TrialEnv<'_>, session: &mut dyn Session) -> Option<AgentError> {
    if !looks_at_state(env) {
        return None;
    }
    read_object_context(env, session).await.err()
}

/// Whether an assertion or a metric of the case looks at the agent's state.
fn looks_at_state(env: &TrialEnv<'_>) -> bool {
    let case = &env.trial.case;
    env.engine.plan.job.state_use(case).is_some()
        || case.assertions.iter().any(|assertion| assertion.check.needs_object_context())
}

/// Reads it within `limits.turn`, all tries included.
async fn read_object_context(env: &TrialEnv<'_>, session: &mut dyn Session) -> Result<ObjectContext, AgentError> {
    let seconds = env.engine.plan.job.limits.turn_seconds;
    let reading = while_answered(session.object_context());
    let read = tokio::time::timeout(Duration::from_secs_f64(seconds), reading).await;
    read.ok().flatten().unwrap_or_else(|| {
        let message = format!("it did not come within {seconds} s (limits.turn), all tries included");
        Err(AgentError { kind: AgentErrorKind::Timeout, message })
    })
}

/// Some agents have no object context before the first turn: then it is empty.
async fn object_context_before(
    env: &TrialEnv<'_>,
    session: &mut dyn Session,
) -> (Observed<ObjectContext>, Option<String>) {
    match read_object_context(env, session).await {
        Err(error) if error.kind == AgentErrorKind::NotFound => {
            (Observed::Seen(ObjectContext::default()), Some(error.message))
        }
        Ok(context) => (Observed::Seen(context), None),
        Err(error) => (Observed::Failed(format!("the agent's object context: {error}")), None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A graph that passes a limit so many times, and then answers.
    struct BusyGraph {
        busy: usize,
        asked: AtomicUsize,
    }

    #[async_trait::async_trait]
    impl Graph for BusyGraph {
        fn backend(&self) -> &'static str {
            "busy"
        }

        async fn read(&self, _: &str, _: &Parameters) -> Result<Table, GraphError> {
            match self.asked.fetch_add(1, Ordering::SeqCst) < self.busy {
                true => Err(GraphError { kind: GraphErrorKind::Limit, message: "it took longer than 1 s".to_owned() }),
                false => Ok(Table::default()),
            }
        }

        async fn write(&self, statement: &str, parameters: &Parameters) -> Result<Table, GraphError> {
            self.read(statement, parameters).await
        }
    }

    #[tokio::test]
    async fn a_graph_that_was_busy_is_asked_once_more_and_no_oftener() {
        for (busy, answers, asked) in [(0, true, 1), (1, true, 2), (2, false, 2)] {
            let graph = BusyGraph { busy, asked: AtomicUsize::new(0) };
            let result = read_again(Some(&graph), "RETURN 1", &Parameters::new()).await;
            assert_eq!((result.is_ok(), graph.asked.into_inner()), (answers, asked), "{busy}");
        }
    }
}
