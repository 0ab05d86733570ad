//! A name that stands in the place of another one, or of none.

use super::asked_surely::{name_of, surely_asked};
use super::fact_asked::subject;
use super::invented_fact::sources;
use super::invented_name::{COMMON, has_name, one_name};
use super::passed_over::passed_over;
use super::phrases::{List, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::shape::KINDS;
use super::text_view::TextView;
use super::words::plain;

/// The name that a turn gives in the place of the one in a fact that the agent certainly asks for: "my home town is Lille", or "Lille"
/// alone.
pub(super) fn other_name<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    if turn.raw.contains('?')
        || turn.has(List::Unknown)
        || turn.has(List::Unwilling)
        || !turn.raw.contains(char::is_uppercase)
    {
        return None;
    }
    // German nouns have a capital too.
    let is_german = |fact: &&TextView<'_>| {
        let mut texts = scene.last_agent().into_iter().chain([*fact, turn]);
        fact.kinds() & (KINDS.name | KINDS.address) == 0
            && texts.any(|it| it.language().is_some() && it.language() == PHRASES.german)
    };
    let fact = surely_asked(scene).or_else(|| passed_over(scene).filter(|fact| !is_german(fact)))?;
    let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
    if !fact.raw.split_whitespace().skip(1).any(|word| is_capital(&word)) {
        return None;
    }
    let is_unknown = |name: &&str| {
        is_capital(name)
            && name.chars().count() > 1
            && !PHRASES.words.contains_key(plain(name).as_str())
            && !COMMON.contains(name)
            && !sources(scene).any(|source| has_name(source, &plain(name)))
    };
    let inner = |word: &'s str| word.trim_matches(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = turn.raw.split_whitespace().map(inner).filter(|word| !word.is_empty()).collect();
    let given = name_of(turn).filter(|name| {
        let own = name_of(fact);
        own.is_some_and(|own| subject(&own).any(|word| name.says(&word)))
    });
    let place = given.map(|name| TextView::new(&*name.raw).places().len() + 1);
    match place {
        Some(place) => words.get(place..)?.iter().take(2).copied().find(|word| is_unknown(word)),
        None if words.len() <= MOST_OF_NAME => one_name(turn).filter(|name| is_unknown(name)),
        None => None,
    }
}

/// A name inside a sentence of somebody who knows no facts and answers a question: it can be known from nowhere.
pub(super) fn name_without_facts<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let is_answer = !scene.input.has_facts && scene.agent_asks() && turn.places().len() <= MOST_OF_ANSWER;
    let is_german = || {
        let mut texts = scene.last_agent().into_iter().chain([turn]);
        texts.any(|it| it.language().is_some() && it.language() == PHRASES.german)
    };
    if !is_answer || turn.raw.contains('?') || is_german() {
        return None;
    }
    let mut begins = true;
    turn.raw.split_whitespace().find_map(|word| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        let is_inside = !std::mem::replace(&mut begins, word.ends_with(is_sentence_end) || word.ends_with(':'));
        let is_name = is_inside
            && inner.starts_with(char::is_uppercase)
            && inner.chars().nth(2).is_some()
            && inner.chars().skip(1).all(char::is_lowercase)
            && !PHRASES.words.contains_key(plain(inner).as_str())
            && !COMMON.contains(&inner)
            && !EVERYDAY.contains(&inner)
            && !sources(scene).any(|source| has_name(source, &plain(inner)));
        is_name.then_some(inner)
    })
}

/// Names that anybody may say, and peoples.
const EVERYDAY: [&str; 49] = [
    "Google",
    "Facebook",
    "Instagram",
    "Twitter",
    "Whatsapp",
    "Youtube",
    "Paypal",
    "Visa",
    "Mastercard",
    "Internet",
    "Android",
    "Iphone",
    "Windows",
    "Amazon",
    "Apple",
    "Bluetooth",
    "Wifi",
    "Linux",
    "Excel",
    "Word",
    "Chrome",
    "Firefox",
    "Safari",
    "Zoom",
    "Skype",
    "Christmas",
    "Easter",
    "God",
    "Italian",
    "Chinese",
    "Indian",
    "Mexican",
    "Japanese",
    "Korean",
    "Thai",
    "Greek",
    "Turkish",
    "Polish",
    "Dutch",
    "Portuguese",
    "Russian",
    "Arabic",
    "European",
    "American",
    "British",
    "Irish",
    "Scottish",
    "Miss",
    "Error",
];

/// The most words of an answer in which a name can only be invented.
const MOST_OF_ANSWER: usize = 16;

/// The most words of a turn that is nothing but a name, with a preposition or a courtesy.
const MOST_OF_NAME: usize = 3;
