//! Whether later conversations find what earlier ones left in a shared graph.

use crate::graph::GraphConfig;
use crate::job::{Case, Isolation, Job};

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

/// That assertions look at what earlier conversations left.
pub(super) fn warnings(job: &Job, graph: Option<&GraphConfig>, isolation: Isolation) -> Vec<String> {
    let looks = |case: &Case| case.assertions.iter().any(|assertion| assertion.check.cypher().is_some());
    if !job.cases.iter().any(|case| looks(case) && are_kept(case, graph, isolation)) {
        return Vec::new();
    }
    vec![
        "conversations share the graph and no setup prepares it, so that assertions in Cypher see what earlier ones \
         left there: say isolation: user, or add a setup that clears it away"
            .to_owned(),
    ]
}
