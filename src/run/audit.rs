//! Conversations with agents that do nothing, as far as they differ from others.

use std::sync::Arc;

use serde_json::Value;

use super::talk::opening;
use super::trial_env::TrialEnv;
use crate::agent::Agent;
use crate::agent::trivial::{TrivialAgent, TrivialKind};
use crate::evidence::ObjectContext;
use crate::graph::{Graph, Parameters};
use crate::job::User;
use crate::plan::Trial;

/// The most characters of the graph that are listed.
const LISTED: usize = 100_000;

/// The agent that takes the place of the job's own: the trial's model is its name.
pub(super) async fn agent(trial: &Trial, graph: Option<Arc<dyn Graph>>) -> Option<Box<dyn Agent>> {
    let kind = TrivialKind::from_name(&trial.id.model)?;
    let state = &trial.case.session.state;
    let seen = match kind {
        TrivialKind::List => visible(trial, graph.as_deref()).await,
        _ => String::new(),
    };
    let state = ObjectContext { context: Value::Object(state.clone()), ..ObjectContext::default() };
    Some(Box::new(TrivialAgent { kind, session: format!("audit-{}", trial.id.number), state, seen }))
}

/// The names of tools, the session's state, and the graph.
async fn visible(trial: &Trial, graph: Option<&dyn Graph>) -> String {
    let mut parts: Vec<String> = trial.case.mocks().flatten().map(|mock| mock.tool.clone()).collect();
    parts.push(Value::Object(trial.case.session.state.clone()).to_string());
    if let Some(graph) = graph {
        for statement in ["MATCH (n) RETURN labels(n), properties(n)", "MATCH ()-[r]->() RETURN type(r), properties(r)"]
        {
            let table = graph.read(statement, &Parameters::new()).await.unwrap_or_default();
            parts.extend(table.rows.iter().flatten().map(ToString::to_string));
        }
    }
    parts.join("\n").chars().take(LISTED).collect()
}

/// The topics of a persona without its model: the opening, the facts where it knows them, the tasks. `None` where the
/// case has lines of its own.
pub(super) fn lines(env: &TrialEnv<'_>) -> Option<Vec<String>> {
    let (case, condition) = (&env.trial.case, env.trial.id.condition);
    if case.user != User::Persona {
        return None;
    }
    let facts = case.facts_known(condition).iter().cloned();
    let tasks = case.tasks.iter().map(|task| task.task.clone());
    let lines: Vec<String> = opening(env).into_iter().chain(facts).chain(tasks).collect();
    Some(if lines.is_empty() { vec!["Hello".to_owned()] } else { lines })
}
