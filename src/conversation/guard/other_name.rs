//! A name that stands in the place of another one, or of none.

use super::asked_surely::{name_of, surely_asked};
use super::fact_asked::subject;
use super::invented_fact::sources;
use super::invented_name::{COMMON, has_name, one_name};
use super::open_word::is_open;
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
        // "Thistle Down Farm"
        None if (2..=MOST_OF_TITLE).contains(&words.len()) && words.iter().all(is_capital) => {
            words.iter().copied().find(is_unknown)
        }
        None if words.len() <= MOST_OF_NAME => one_name(turn).filter(|name| is_unknown(name)),
        None => None,
    }
}

/// The most words of a name that is all that is said.
const MOST_OF_TITLE: usize = 4;

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

/// A name with which a short turn answers an open question, where it stands nowhere: "From the airport in Doha." The first word of
/// more than one has a capital anyway, as has every noun of German, where a place stands behind "nach" or "aus".
pub(super) fn answering_name<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let question = scene.last_agent()?.question().filter(|question| is_open(question))?;
    let others = [List::Unknown, List::Unwilling, List::Goodbye, List::OpenQuestion];
    if turn.places().len() > MOST_OF_SHORT
        || turn.raw.contains('?')
        || !turn.raw.contains(char::is_uppercase)
        || others.into_iter().any(|list| turn.has(list))
        || question.has(List::AnythingElse)
    {
        return None;
    }
    let is_german = [turn, question].iter().any(|it| it.language().is_some() && it.language() == PHRASES.german);
    let inner = |word: &'s str| word.trim_matches(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = turn.raw.split_whitespace().collect();
    let is_quoted = |at: usize| words[at].starts_with(|c: char| !c.is_alphanumeric());
    let is_placed = |at: usize| match at.checked_sub(1).map(|before| words[before]) {
        None => words.len() == 1 && !is_german,
        Some(before) => {
            !before.ends_with(is_sentence_end) && (!is_german || matches!(plain(before).as_str(), "nach" | "aus"))
        }
    };
    let is_name = |name: &str| {
        name.starts_with(char::is_uppercase)
            && name.chars().nth(2).is_some()
            && name.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’'))
            && name.chars().any(char::is_lowercase)
            && is_new_in_parts(scene, &plain(name))
            && !COMMON.contains(&name)
            && !EVERYDAY.contains(&name)
            && !is_phrase(name)
            && !sources(scene).any(|source| has_name(source, &plain(name)))
    };
    words
        .iter()
        .map(|word| inner(word))
        .enumerate()
        .find(|(at, name)| is_placed(*at) && !is_quoted(*at) && is_name(name))
        .map(|(_, name)| name)
}

/// Whether a name of several parts has none that is known, and is not spelled: "They're", "Lecce-Bari", "I-N-E-S".
fn is_new_in_parts(scene: &Scene<'_>, name: &str) -> bool {
    let mut parts = name.split(['-', '\'', '’']).filter(|part| !part.is_empty()).peekable();
    let is_spelled = || name.contains('-') && name.split('-').all(|part| part.chars().count() <= 1);
    let is_known = |part: &str| {
        PHRASES.words.contains_key(part)
            || part.len() < name.len() && sources(scene).any(|source| has_name(source, part))
    };
    parts.peek().is_some() && !is_spelled() && !parts.any(is_known)
}

/// A second name that stands nowhere, behind one that a fact has: "Nadia Ferreira-Santos" of a user who is called Nadia.
pub(super) fn added_name<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let is_german = || turn.language().is_some() && turn.language() == PHRASES.german;
    let knows_name = || scene.facts.iter().any(|fact| fact.kinds() & KINDS.name != 0);
    if !turn.raw.contains(char::is_uppercase) || turn.raw.contains('?') || !knows_name() || is_german() {
        return None;
    }
    let inner = |word: &'s str| word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_capital = |word: &str| word.starts_with(char::is_uppercase) && word.chars().any(char::is_lowercase);
    let is_of_fact = |word: &str| {
        let name = plain(word);
        scene.facts.iter().any(|fact| fact.kinds() & KINDS.name != 0 && fact.words().skip(1).any(|it| it == name))
    };
    let is_new = |word: &str| {
        word.chars().nth(2).is_some()
            && !PHRASES.words.contains_key(plain(word).as_str())
            && !COMMON.contains(&word)
            && !sources(scene).any(|source| has_name(source, &plain(word)))
    };
    let words: Vec<&str> = turn.raw.split_whitespace().collect();
    words.windows(2).find_map(|pair| {
        let (first, second) = (pair[0], inner(pair[1]));
        let is_name = is_capital(first) && first.ends_with(char::is_alphanumeric) && is_capital(second);
        (is_name && is_of_fact(first) && is_new(second)).then_some(second)
    })
}

/// Whether a word alone thanks, greets, answers or takes leave.
fn is_phrase(word: &str) -> bool {
    let view = TextView::new(word);
    [List::Polite, List::Greeting, List::Answer, List::Goodbye].into_iter().any(|list| view.has(list))
}

/// The most words of an answer that is hardly more than a name.
const MOST_OF_SHORT: usize = 7;

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
