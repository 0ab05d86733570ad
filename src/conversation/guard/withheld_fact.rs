//! A fact that is kept back: the agent certainly asks for it, and the user who knows it says that he does not.

use super::asked_surely::{name_of, surely_asked, wanted};
use super::fact_leak::is_point;
use super::phrases::{Hit, List, PHRASES};
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::words::plain;
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

/// What is wrong with a turn that says nothing of what is asked. Where something else is wrong with it, that is why.
pub(super) const EVADED: &str = "it passes over a fact that the user knows and the assistant asks for; tell it";

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    match unknown(scene).or_else(|| refused(scene)) {
        Some(fact) => fault("it keeps back a fact that the user knows and the assistant asks for; tell it", &*fact.raw),
        None => fault(EVADED, &*evaded(scene)?.raw),
    }
}

/// The fact that the turn says the user does not know or tell, where the agent certainly asks for it.
fn unknown<'s, 't>(scene: &'s Scene<'t>) -> Option<&'s TextView<'t>> {
    let turn = scene.text();
    let mut hits = turn.hits_in(List::Unknown).filter(|hit| !turn.is_quoted(hit.start)).peekable();
    hits.peek()?;
    let fact = surely_asked(scene)?;
    let is_kept = !turn.words().any(|word| LOOKS.contains(&word)) && hits.any(|hit| is_about(scene, fact, hit));
    is_kept.then_some(fact)
}

/// The fact that the turn says the user will not tell: nobody says so who was not asked.
fn refused<'s, 't>(scene: &'s Scene<'t>) -> Option<&'s TextView<'t>> {
    let turn = scene.text();
    turn.hits_in(List::Unwilling).find(|hit| !turn.is_quoted(hit.start))?;
    surely_asked(scene).or_else(|| wanted(scene))
}

/// The fact that the turn passes over: a figure, an address or a name for which the agent asks can be told in no other words, and
/// the turn has neither a figure nor any name. Who agrees, asks back, objects, looks for it or leaves passes nothing over.
fn evaded<'s, 't>(scene: &'s Scene<'t>) -> Option<&'s TextView<'t>> {
    let turn = scene.text();
    let agent = scene.last_agent().filter(|agent| agent.asks() && scene.users().next().is_some())?;
    let is_other = [List::Answer, List::Objection, List::Goodbye, List::AskAgain];
    let is_open =
        [List::OpenQuestion, List::Confirms, List::AnythingElse, List::Offer, List::Details, List::WhatIsWrong];
    if turn.asks()
        || scene.turn.signs_off
        || turn.places().len() > MOST_OF_EVASION
        || is_other.into_iter().any(|list| turn.has(list))
        || is_open.into_iter().any(|list| agent.has(list))
        || turn.words().any(|word| LOOKS.contains(&word))
        || has_point(turn)
    {
        return None;
    }
    wanted(scene).filter(|fact| fact.content().any(|word| is_point(fact, &word)))
}

/// Whether a turn may say a figure, an address or a name: a word with a capital that is in no list of words.
fn has_point(turn: &TextView<'_>) -> bool {
    let mut words = turn.raw.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    turn.raw.contains(|c: char| c.is_numeric() || c == '@')
        || turn.content().any(|word| word.is_number())
        || words.any(|word| word.starts_with(char::is_uppercase) && !PHRASES.words.contains_key(&plain(word)))
}

/// The most words of a turn that passes over a question.
const MOST_OF_EVASION: usize = 12;

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
