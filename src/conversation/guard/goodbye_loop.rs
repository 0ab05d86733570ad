//! A goodbye after a goodbye.

use super::phrases::List;
use super::scene::Scene;
use super::text_view::TextView;
use super::{Fault, fault};

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let why = "the conversation was closed already; it says goodbye or thanks again";
    let agent = scene.last_agent();
    if agent.is_some_and(|agent| agent.asks() && !agent.has(List::Goodbye) && !agent.has(List::AnythingElse)) {
        return None;
    }
    // The phrase alone, which ends the conversation at last.
    if turn.raw.trim().is_empty() && scene.turn.signs_off {
        return None;
    }
    let has_goodbye = turn.has(List::Goodbye) || scene.turn.signs_off;
    let is_answered = agent.is_some_and(|agent| agent.has(List::Goodbye));
    let closed = |text: &TextView<'_>| {
        text.has(List::Goodbye) && (text.only_closes() || adds_nothing(text) || is_answered && !text.asks())
    };
    let said_goodbye = scene.users().next_back().is_some_and(closed);
    if said_goodbye && has_goodbye && adds_nothing(turn) {
        return fault(why, turn.raw.trim());
    }
    if !turn.only_closes() {
        return None;
    }
    let closings = scene.users().rev().take_while(|text| text.only_closes()).count();
    let is_loop = closings >= 2 || said_goodbye || closings > 0 && !has_goodbye && thanks_again(scene);
    if is_loop { fault(why, turn.raw.trim()) } else { None }
}

/// Whether most of it is goodbye and thanks, and nothing is asked or stated.
fn adds_nothing(turn: &TextView<'_>) -> bool {
    let (outside, all) = turn.outside(&[List::Goodbye, List::Polite, List::Greeting]);
    !turn.asks() && (outside * 2 <= all || outside <= 16) && !turn.content().any(|word| word.has_digit())
}

/// Whether the agent has answered thanks with a goodbye, and the turn thanks once more.
fn thanks_again(scene: &Scene<'_>) -> bool {
    scene.last_agent().is_some_and(|agent| agent.has(List::Goodbye) && !agent.asks())
}
