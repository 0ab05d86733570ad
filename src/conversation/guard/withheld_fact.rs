//! A fact that is kept back: the agent certainly asks for it, and the user who knows it says that he does not.

use super::asked_surely::{name_of, surely_asked};
use super::phrases::{Hit, List};
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::{Fault, fault};

/// Words of somebody who goes to look.
const LOOKS: [&str; 36] = [
    "moment",
    "second",
    "sec",
    "minute",
    "check",
    "checking",
    "look",
    "find",
    "wait",
    "hold",
    "hang",
    "augenblick",
    "sekunde",
    "nachsehen",
    "nachschauen",
    "schaue",
    "suche",
    "instant",
    "seconde",
    "cherche",
    "verifie",
    "momento",
    "segundo",
    "busco",
    "busca",
    "attimo",
    "controllo",
    "cerco",
    "ogenblik",
    "zoek",
    "chwile",
    "chwila",
    "sprawdze",
    "минуту",
    "секунду",
    "посмотрю",
];

/// Words that begin what is not known, where that is something else: "I don't know why you ask".
const BEGINS_OTHER: [&str; 26] = [
    "what", "why", "which", "if", "whether", "how", "where", "who", "was", "warum", "welche", "ob", "wie", "wo", "wer",
    "ce", "pourquoi", "si", "que", "cual", "por", "perche", "cosa", "porque", "wat", "waarom",
];

/// The most words of a sentence that does not tell a fact and says something else.
const MOST_BESIDE: usize = 4;

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    let mut hits = turn.hits_in(List::Unknown).filter(|hit| !turn.is_quoted(hit.start)).peekable();
    hits.peek()?;
    let fact = surely_asked(scene)?;
    if turn.words().any(|word| LOOKS.contains(&word)) || !hits.any(|hit| is_about(scene, fact, hit)) {
        return None;
    }
    fault("it keeps back a fact that the user knows and the assistant asks for; tell it", &*fact.raw)
}

/// Whether what the user does not know is the fact, and not another thing that the sentence names.
fn is_about(scene: &Scene<'_>, fact: &TextView<'_>, hit: &Hit) -> bool {
    let turn = scene.text();
    let sentence = turn.sentence(hit.start);
    if sentence.ends_with(['?', '؟']) {
        return false;
    }
    let next = turn.plain()[hit.end..].split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let sentence = TextView::new(sentence);
    let name = name_of(fact);
    let says_name = || name.as_ref().is_some_and(|name| name.content().any(|word| sentence.says(&word)));
    if next.is_some_and(|next| BEGINS_OTHER.contains(&next)) {
        return says_name();
    }
    let agent = scene.last_agent();
    let phrase = TextView::new(&turn.plain()[hit.start..hit.end]);
    let is_beside =
        |word: &Content<'_>| !phrase.says(word) && !fact.says(word) && !agent.is_some_and(|agent| agent.says(word));
    sentence.content().filter(is_beside).count() <= MOST_BESIDE
}
