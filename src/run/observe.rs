//! Looking at what the conversation left behind.

use super::Engine;
use super::prepare::{Stage, parameters};
use crate::agent::{AgentErrorKind, Session};
use crate::assertion::AssertionCheck;
use crate::evidence::{Evidence, ObjectContext, Observed, QueryObservation, TrialId};

/// Looks at whatever the job's assertions need in this condition. What can't be seen is kept as such.
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
                let result = match &stage.graph {
                    Some(graph) => graph.read(&check.cypher, &parameters).await.map_err(|error| error.message),
                    None => Err("the trial has no graph".to_owned()),
                };
                let result = result.map_or_else(Observed::Failed, Observed::Seen);
                evidence.queries.push(QueryObservation { assertion: index, result });
            }
            check if check.needs_object_context() && evidence.object_context.is_none() => {
                evidence.object_context = Some(object_context(session).await);
            }
            AssertionCheck::Expression(_) | AssertionCheck::Changes(_) => {}
        }
    }
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
