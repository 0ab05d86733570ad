//! When each fact was asked for and released.

use super::GuardInput;
use super::fact_leak::{asks_for, reveals};
use super::scene::Scene;
use super::text_view::TextView;
use crate::evidence::{FactUse, Role, Transcript};

/// When each fact of a case was asked for and released in a conversation.
pub fn fact_uses(tasks: &[&str], facts: &[&str], transcript: &Transcript) -> Vec<FactUse> {
    let mut uses: Vec<FactUse> =
        (1..).zip(facts).map(|(fact, _)| FactUse { fact, asked: None, released: None }).collect();
    let input = GuardInput {
        has_facts: true,
        tasks,
        facts,
        background: &[],
        signoff: "",
        transcript: &[],
        turn: "",
        is_done: false,
    };
    let mut scene = Scene::new(&input);
    for turn in &transcript.turns {
        if !turn.is_greeting() {
            let said = TextView::new(&turn.user);
            for (fact, known) in scene.facts.iter().zip(&mut uses).filter(|(_, known)| known.released.is_none()) {
                known.released = reveals(&scene, &said, fact).then_some(turn.number);
            }
            scene.messages.push((Role::User, said));
        }
        if let Some(reply) = &turn.agent {
            let reply = TextView::new(reply);
            for (fact, known) in scene.facts.iter().zip(&mut uses).filter(|(_, known)| known.asked.is_none()) {
                known.asked = asks_for(&scene, &reply, fact).then_some(turn.number);
            }
            scene.messages.push((Role::Assistant, reply));
        }
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Turn;

    #[test]
    fn a_fact_is_asked_for_and_told_volunteered_or_never_elicited() {
        let facts =
            ["The user's name is Ada Byron", "The order number is 4711-22", "The user prefers pick-up on Friday"];
        let transcript = Transcript {
            turns: vec![
                Turn::answered(1, "Hi, I'm Ada Byron. Where is my parcel?", "Hello! What is your order number?"),
                Turn::answered(2, "It is 4711-22.", "Thank you, it is on its way."),
            ],
        };
        let uses = fact_uses(&["Find out where the parcel is"], &facts, &transcript);
        let shown: Vec<_> = uses.iter().map(|it| (it.fact, it.asked, it.released, it.is_volunteered())).collect();
        assert_eq!(shown, [(1, None, Some(1), true), (2, Some(1), Some(2), false), (3, None, None, false)], "{uses:?}");
    }
}
