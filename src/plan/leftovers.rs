//! Whether later conversations find what earlier ones left in a shared graph, and other names that are shared.

use crate::graph::GraphConfig;
use crate::job::{Assertion, Case, Isolation, Job};

/// Whether a conversation finds what others left, of this run and of earlier ones.
pub(super) fn are_kept(case: &Case, graph: Option<&GraphConfig>, isolation: Isolation) -> bool {
    let is_shared = match isolation {
        Isolation::Shared => true,
        // Processes of their own, and one database.
        Isolation::Process => matches!(graph, Some(GraphConfig::Neo4j(_))),
        Isolation::User | Isolation::Database => false,
    };
    is_shared && case.setups.is_empty()
}

/// Warnings about assertions that see leftovers of earlier conversations, in the graph or with the agent.
pub(super) fn warnings(job: &Job, graph: Option<&GraphConfig>, isolation: Isolation) -> Vec<String> {
    let is_looked_at = |looks: fn(&Assertion) -> bool| {
        let kept = job.cases.iter().filter(|case| are_kept(case, graph, isolation));
        kept.flat_map(|case| &case.assertions).any(looks)
    };
    let in_graph = is_looked_at(|assertion| assertion.check.cypher().is_some());
    let with_agent = is_looked_at(|assertion| assertion.check.needs_object_context() && !assertion.holds_before);
    let of_graph = "conversations share the graph and no setup prepares it, so that assertions in Cypher see what earlier \
                    ones left there: say isolation: user, or add a setup that clears it away";
    let of_agent = "conversations share the agent's state, so that assertions on objectContext see what earlier ones left \
                    there: say isolation: user";
    let warnings = [(in_graph, of_graph), (with_agent, of_agent)];
    warnings.into_iter().filter(|(looks, _)| *looks).map(|(_, warning)| warning.to_owned()).collect()
}

/// Assertions of a case that share a name: a number behind the name distinguishes their results.
pub(super) fn shared_names(job: &Job) -> Vec<String> {
    let mut warnings = Vec::new();
    for case in &job.cases {
        let of_case = if job.cases.len() > 1 { format!("case `{}`: ", case.id) } else { String::new() };
        for (place, assertion) in case.assertions.iter().enumerate() {
            let same = |other: &&Assertion| other.name.is_some() && other.name == assertion.name;
            if case.assertions[..place].iter().any(|other| same(&other)) {
                let (name, id) = (assertion.label(), &assertion.id);
                warnings.push(format!(
                    "{of_case}two assertions have the name `{name}`: assertion {} is kept as `{id}`; give each a name of \
                     its own",
                    place + 1
                ));
            }
        }
    }
    warnings
}
