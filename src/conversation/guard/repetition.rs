//! A turn that is nearly the same as an earlier one of the user.

use super::phrases::List;
use super::scene::Scene;
use super::text_view::TextView;
use super::{Fault, fault};
use crate::evidence::Role;

/// From this likeness on two turns are nearly the same.
const SAME: f64 = 0.8;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let (_, letters) = turn.outside(&[]);
    if turn.places().len() < 3 && letters < 12 || turn.only_closes() || is_answer(turn) {
        return None;
    }
    if scene.last_agent().is_none() && !scene.messages.is_empty()
        || scene.last_agent().is_some_and(|agent| agent.has(List::AskAgain))
    {
        return None;
    }
    for (at, (role, earlier)) in scene.messages.iter().enumerate() {
        if *role != Role::User || turn.likeness(earlier) < SAME {
            continue;
        }
        let agent_before = at.checked_sub(1).map(|before| &scene.messages[before].1);
        let reply = scene.messages.get(at + 1).filter(|(role, _)| *role == Role::Assistant).map(|(_, text)| text);
        let is_same_question = match (agent_before, scene.last_agent()) {
            (Some(one), Some(other)) => at + 2 < scene.messages.len() && other.asks() && one.likeness(other) >= 0.6,
            _ => false,
        };
        let is_unanswered = reply.is_none_or(|reply| reply.raw.trim().is_empty() || reply.has(List::AskAgain));
        if is_same_question || is_unanswered || differs_in_data(turn, earlier) {
            continue;
        }
        return fault("it says nearly the same as an earlier message; react to the last reply instead", earlier.raw);
    }
    None
}

/// Whether it is hardly more than yes or no.
fn is_answer(turn: &TextView<'_>) -> bool {
    let (outside, all) = turn.outside(&[List::Answer, List::Polite]);
    turn.has(List::Answer) && outside <= 8 && all <= 30
}

/// Whether one of them has a number that the other has not: the same sentence about something else.
fn differs_in_data(one: &TextView<'_>, other: &TextView<'_>) -> bool {
    let data = |text: &TextView<'_>| {
        let words = text.words().filter(|word| word.bytes().any(|byte| byte.is_ascii_digit()));
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    data(one) != data(other)
}
