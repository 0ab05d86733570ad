//! A goodbye after a goodbye.

use super::phrases::List;
use super::scene::Scene;
use super::{Fault, fault};

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let closes = turn.only_closes() || turn.raw.trim().is_empty() && scene.turn.signs_off;
    if !closes
        || scene
            .last_agent()
            .is_some_and(|agent| agent.asks() && !agent.has(List::Goodbye) && !agent.has(List::AnythingElse))
    {
        return None;
    }
    let before: Vec<bool> =
        scene.users().rev().take_while(|text| text.only_closes()).map(|text| text.has(List::Goodbye)).collect();
    let has_goodbye = turn.has(List::Goodbye) || scene.turn.signs_off;
    let is_loop =
        before.len() >= 2 || before.first() == Some(&true) || !before.is_empty() && !has_goodbye && thanks_again(scene);
    if !is_loop {
        return None;
    }
    fault("the conversation was closed already; it says goodbye or thanks again", turn.raw.trim())
}

/// Whether the agent has answered thanks with a goodbye, and the turn thanks once more.
fn thanks_again(scene: &Scene<'_>) -> bool {
    scene.last_agent().is_some_and(|agent| agent.has(List::Goodbye) && !agent.asks())
}
