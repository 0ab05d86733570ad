//! A turn in the assistant's part.

use super::phrases::List;
use super::scene::Scene;
use super::{Fault, fault};

/// What makes a sentence one about the assistant, not of it.
const TURNED_ROUND: [&str; 24] = [
    "are you ",
    "did you",
    "you said",
    "you told",
    "you wrote",
    "you asked",
    "your website",
    "says ",
    "email said",
    "i got a",
    "why do you",
    "sind sie",
    "bist du",
    "haben sie",
    "etes-vous",
    "est-ce que vous etes",
    "eres ",
    "es usted",
    "sei ",
    "lei e ",
    "voce e ",
    "ben je",
    "czy jestes",
    "вы ",
];

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    for hit in turn.of(List::Assistant) {
        let sentence = turn.sentence(hit.start);
        let is_question = sentence.ends_with(['?', '؟']);
        let before = &turn.plain()[..hit.start];
        let clause = before.rsplit(super::phrases::is_sentence_end).next().unwrap_or(before);
        let is_turned_round = TURNED_ROUND
            .iter()
            .any(|part| clause.contains(part) || is_question && sentence.starts_with(part) && clause.contains(part));
        let is_of_task = scene.tasks.iter().any(|task| task.plain().contains(&turn.plain()[hit.start..hit.end]));
        if !turn.is_quoted(hit.start) && !is_turned_round && !is_of_task {
            return fault("it speaks as the assistant; you are the user", sentence);
        }
    }
    None
}
