//! Refuses combinations of `isolation` and `target.start` that cannot work.

use super::Refusal;
use crate::agent::managed::check as check_start;
use crate::graph::{GraphConfig, unscoped_problem};
use crate::job::{Isolation, Job, JobPart, JobPlace};

/// The isolation of the trials, and whether several run at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct IsolationPlan {
    pub(super) isolation: Isolation,
    pub(super) several_at_once: bool,
}

/// Everything about keeping trials apart that cannot work.
pub(super) fn refusals(job: &Job, graph: Option<&GraphConfig>, apart: IsolationPlan) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let transport = &job.target.transport;
    let is_demo = transport.hosting().is_in_process();
    let start = job.target.start.as_ref();
    let start_problems = start.map(check_start).unwrap_or_default();
    refusals.extend(start_problems.iter().map(|error| Refusal::for_setting(error, "target")));
    match (apart.isolation, graph) {
        (Isolation::Process, _) if start.is_none() && !is_demo => refusals.push(Refusal::for_key(
            "isolation",
            "process needs an agent that eval-job starts, a process for each conversation",
            "say how it is started: target: {start: {command: …}}; or isolation: shared",
        )),
        (Isolation::Database, _) if start.is_none() && !is_demo => refusals.push(Refusal::for_key(
            "isolation",
            "database can't be passed to an agent that is running already: it keeps to its own database",
            "let eval-job start the agent (target: {start: {command: …}}), which then gets it by NEO_DATABASE; or \
             isolation: user",
        )),
        (Isolation::Database, Some(GraphConfig::Neo4j(config))) if config.database.is_some() => {
            refusals.push(Refusal::for_key(
                "isolation",
                "database makes a database for each conversation, and graph.neo4j.database names one for all",
                "leave one of the two out",
            ))
        }
        (Isolation::User, _) => {
            let unscoped = |(place, cypher)| Some((place, unscoped_problem(cypher)?));
            for (place, statement) in job.statements().filter_map(unscoped) {
                let what = format!("{place} would look at all users of a graph that conversations share: {statement}");
                let help = "with isolation: user each statement must name $user, like MATCH (u:User {id: $user}); or \
                            isolation: shared, one conversation after the other";
                let place = JobPlace { part: JobPart::Statement(place), within: None };
                refusals.push(Refusal { place: Some(place), ..Refusal::new(what, help) });
            }
            if job.statements().next().is_some() && !transport.sends_user() {
                let key = transport.key();
                let (what, help) = match transport.is_templated() {
                    true => (
                        format!(
                            "user gives each conversation a user of its own, and no template of target.{key} \
                             says {{{{ user }}}}: the agent would not know whose data it is to look after"
                        ),
                        "send it: {{ user }} in the url, a header or the body; or isolation: shared",
                    ),
                    false => (
                        format!(
                            "user gives each conversation a user of its own, and target.{key} has no place to \
                             tell the agent who that is"
                        ),
                        "isolation: shared, one conversation after the other, with a setup that clears away what is left",
                    ),
                };
                refusals.push(Refusal::for_key("isolation", what, help));
            }
            if job.assertions().any(|assertion| assertion.check.needs_changes()) && !job.graph.watch.is_of_one_user() {
                refusals.push(Refusal::new(
                    "with isolation: user conversations share the graph, and nobody knows whose changes they are"
                        .to_owned(),
                    "say which nodes are the user's: graph: {watch: {where: n.user = $user}}",
                ));
            }
        }
        _ => {}
    }
    if start.is_some()
        && transport.named_address().is_some()
        && apart.several_at_once
        && matches!(apart.isolation, Isolation::Process | Isolation::Database)
    {
        refusals.push(Refusal::new(
            format!(
                "several agents would be started at once, and target.{}.baseUrl names one address for all",
                transport.key()
            ),
            "leave the address out: each agent is given a free port as PORT; or isolation: shared",
        ));
    }
    if let Some(GraphConfig::Embedded(config)) = graph
        && config.bolt.is_some()
        && start.is_none()
    {
        refusals.push(Refusal::new(
            "graph.embedded.bolt is a door for an agent that eval-job starts, and there is no target.start".to_owned(),
            "say how the agent is started, or leave it out; `eval-job graph serve` serves a graph to an agent that is \
             running already",
        ));
    }
    refusals
}
