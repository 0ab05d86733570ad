//! Which trials may run side by side.

use crate::agent::TransportConfig;
use crate::evidence::{Condition, TrialId};
use crate::graph::GraphConfig;

/// Whether trials would see what other trials did: in an agent of the user's own, or in one database.
pub(super) fn shares_state(transport: &TransportConfig, graph: Option<&GraphConfig>) -> bool {
    !matches!((transport, graph), (TransportConfig::Demo(_), None | Some(GraphConfig::Embedded(_))))
}

/// The trials of all models and conditions: in one lane if they share state, else in a lane each.
pub(super) fn lanes(models: &[String], conditions: &[Condition], share_state: bool) -> Vec<Vec<TrialId>> {
    let trials: Vec<TrialId> = models
        .iter()
        .flat_map(|model| conditions.iter().map(move |condition| (model, *condition)))
        .zip(1..)
        .map(|((model, condition), number)| TrialId { number, model: model.clone(), condition, repeat: 1 })
        .collect();
    if share_state { vec![trials] } else { trials.into_iter().map(|trial| vec![trial]).collect() }
}
