//! Whether the agent asked for a fact, or may have, so that the user may tell it.

use super::asked_surely::was_value_given;
use super::fact_leak::{reveals, value};
use super::invented_name::WHO;
use super::phrases::{Hit, List, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::text_view::{Content, TextView};
use super::values::{TextValue, ValueKind, values};
use super::words::plain;

/// Whether the turn tells a fact, the `stated`th one in it, because the agent has asked for it, or may have.
pub(super) fn is_answer(scene: &Scene<'_>, fact: &TextView<'_>, stated: usize) -> bool {
    is_asked_for(scene, fact) || may_answer(scene, fact, stated)
}

/// Whether one of the agent's last two messages asks for the fact, or for whatever there is to say.
fn is_asked_for(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    is_asked_in_particular(scene, fact) || scene.agents().rev().take(2).any(asks_for_anything)
}

/// Whether a message of the agent asks for whatever there is to say: "Can you tell me more?"
fn asks_for_anything(agent: &TextView<'_>) -> bool {
    (agent.asks() || agent.has(List::Awaits)) && agent.has(List::Details)
}

/// Whether one of the agent's last two messages asks for the fact, or for that kind of thing and for no other fact by name.
pub(super) fn is_asked_in_particular(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    // Of the user's own affairs only a short answer tells what is the matter, and neither a name nor an address does.
    let is_matter = || {
        let is_short = scene.text().places().len() <= MOST_OF_MATTER && kinds(fact) & KINDS.of_user == 0;
        is_short || !fact.words().any(|word| PHRASES.is_user(word))
    };
    if scene.last_agent().is_some_and(|agent| agent.has(List::WhatIsWrong)) && is_matter() {
        return true;
    }
    if corrects(scene, fact) {
        return true;
    }
    scene.agents().rev().take(2).any(|agent| gives_reason(agent, fact) || asks_in_particular(scene, agent, fact))
}

/// Whether a message of the agent asks for a fact of the scene, or for that kind of thing and for no other fact by name, or for
/// whatever there is to say.
pub(super) fn asks_for(scene: &Scene<'_>, agent: &TextView<'_>, fact: &TextView<'_>) -> bool {
    asks_for_anything(agent) || gives_reason(agent, fact) || asks_in_particular(scene, agent, fact)
}

/// Whether a message of the agent asks for a reason, which any fact without a figure may be.
fn gives_reason(agent: &TextView<'_>, fact: &TextView<'_>) -> bool {
    (agent.asks() || agent.has(List::Awaits)) && kinds(agent) & KINDS.reason != 0 && by_shape(fact) == 0
}

/// Whether a message of the agent asks for a fact of the scene, or for that kind of thing and for no other fact by name.
pub(super) fn asks_in_particular(scene: &Scene<'_>, agent: &TextView<'_>, fact: &TextView<'_>) -> bool {
    if !agent.asks() && !agent.has(List::Awaits) {
        return false;
    }
    let (mut kinds_of_agent, mut kinds_of_fact) = (asked_kinds(agent), kinds(fact) | by_shape(fact));
    let is_only_name = || {
        let mut others = scene.facts.iter().filter(|other| !std::ptr::eq(*other, fact));
        has_name(fact) && !others.any(|other| has_name(other) && !is_given(scene, agent, other))
    };
    if agent.asks() && agent.words().any(|word| WHO.contains(&word)) && is_only_name() {
        (kinds_of_agent, kinds_of_fact) = (kinds_of_agent | KINDS.name, kinds_of_fact | KINDS.name);
    }
    // Who proposes a day asks for one, unless the question is for another fact.
    let is_of_other = || {
        let question = last_question(agent).map(TextView::new).filter(|question| !is_time(question));
        let mut others = scene.facts.iter().filter(|other| !std::ptr::eq(*other, fact));
        question.is_some_and(|question| others.any(|other| !is_time(other) && names(scene, &question, other)))
    };
    if is_time(agent) && is_time(fact) && !is_of_other() {
        (kinds_of_agent, kinds_of_fact) = (kinds_of_agent | KINDS.date, kinds_of_fact | KINDS.date);
    }
    if names(scene, agent, fact) {
        return true;
    }
    let asked = kinds_of_agent & kinds_of_fact;
    let mut others = scene.facts.iter().filter(|other| !std::ptr::eq(*other, fact) && !is_given(scene, agent, other));
    if asked == 0 {
        // A word that several facts have names this one where no other fits better.
        let fits =
            |other: &TextView<'_>| names(scene, agent, other) || kinds_of_agent & (kinds(other) | by_shape(other)) != 0;
        return subject(fact).any(|word| agent.says(&word)) && !others.any(fits);
    }
    // The kind may have been asked for another fact that the agent names.
    !others.any(|other| names(scene, agent, other) && asked & !(kinds(other) | by_shape(other)) == 0)
}

/// The kinds of thing for which a message asks: neither its greeting nor a question of what the user wants does.
fn asked_kinds(agent: &TextView<'_>) -> u32 {
    if asks_openly(agent) {
        return 0;
    }
    let Some(end) = agent.hits_in(List::Greeting).map(|hit| hit.end).max() else { return kinds(agent) };
    let start = agent.hits_in(List::Greeting).map(|hit| hit.start).min().unwrap_or_default();
    if end - start > MOST_OF_GREETING {
        return kinds(agent);
    }
    kinds(&TextView::new(format!("{} {}", &agent.plain()[..start], &agent.plain()[end..])))
}

/// Whether all that a message asks is what the user wants.
fn asks_openly(agent: &TextView<'_>) -> bool {
    let Some(open) = agent.hits_in(List::OpenQuestion).next() else { return false };
    let marks = agent.plain().matches(['?', '？', '؟']).count();
    let question = agent.sentence_range(open.start);
    let is_within = |hit: &Hit| question.contains(&hit.start);
    marks <= 1 && agent.hits_in(List::Awaits).all(is_within)
}

/// The most bytes from the beginning of the first greeting to the end of the last.
const MOST_OF_GREETING: usize = 40;

/// The most words of a turn that tells what is the matter with the user and nothing else.
const MOST_OF_MATTER: usize = 10;

/// Whether all that a fact says was said before, or by the agent's message itself: that is not what it asks for.
fn is_given(scene: &Scene<'_>, agent: &TextView<'_>, fact: &TextView<'_>) -> bool {
    let value = value(fact);
    let is_said = |word: &Content<'_>| agent.says(word) || scene.messages.iter().any(|(_, text)| text.says(word));
    !value.is_empty() && value.iter().all(is_said)
}

/// Whether a fact names somebody or something: a word with a capital that does not begin it, and is none of a date.
fn has_name(fact: &TextView<'_>) -> bool {
    let is_name = |word: &str| {
        let plain = plain(word.trim_matches(|c: char| !c.is_alphanumeric()));
        word.starts_with(char::is_uppercase)
            && word.chars().all(|c| !c.is_ascii_digit())
            && !PHRASES.months.contains_key(plain.as_str())
            && !PHRASES.weekdays.contains_key(plain.as_str())
    };
    fact.raw.split_whitespace().skip(1).any(is_name)
}

/// Whether a text has a day or a time of day.
fn is_time(text: &TextView<'_>) -> bool {
    let is_of_time =
        |kind: &ValueKind| matches!(kind, ValueKind::Time { .. } | ValueKind::Month(_) | ValueKind::Weekday(_));
    let is_day = |value: &TextValue| {
        matches!(value.kind, ValueKind::Number(number) if (1.0..=31.0).contains(&number))
            && ["th", "st", "nd", "rd"].iter().any(|end| text.plain()[value.end..].starts_with(end))
    };
    values(text).iter().any(|value| is_of_time(&value.kind) && value.end - value.start > 3 || is_day(value))
}

/// Whether the turn says no, and the fact has another number than the agent has assumed.
fn corrects(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let says_no = || {
        scene.text().has(List::Objection) || scene.text().words().take(MOST_BEFORE_NO).any(|word| NO.contains(&word))
    };
    let numbers = |text: &TextView<'_>| -> Vec<f64> {
        let number = |value: &TextValue| if let ValueKind::Number(number) = value.kind { Some(number) } else { None };
        values(text).iter().filter_map(number).collect()
    };
    let Some(agent) = scene.last_agent().filter(|agent| agent.asks() && says_no()) else { return false };
    let (of_fact, of_agent) = (numbers(fact), numbers(agent));
    !of_fact.is_empty() && !of_agent.is_empty() && !of_fact.iter().any(|number| of_agent.contains(number))
}

/// The words with which somebody denies what the agent has assumed, at the beginning of a turn.
const NO: [&str; 12] = ["no", "wait", "actually", "nein", "non", "não", "nao", "nee", "nie", "нет", "hayir", "stop"];
const MOST_BEFORE_NO: usize = 3;

/// The words of a fact by which an agent may ask for it.
pub(super) fn subject<'f>(fact: &'f TextView<'_>) -> impl Iterator<Item = Content<'f>> {
    fact.content().filter(|word| !PHRASES.task_words.contains_key(word.text))
}

/// Whether a message has a word by which the fact alone is known.
pub(super) fn names(scene: &Scene<'_>, agent: &TextView<'_>, fact: &TextView<'_>) -> bool {
    let is_shared = |word: &Content<'_>| scene.facts.iter().any(|other| !std::ptr::eq(other, fact) && other.says(word));
    subject(fact).any(|word| agent.says(&word) && !is_shared(&word))
}

/// Whether a short turn, or a short sentence of it that says yes or no, answers a question of which it is not clear what fact
/// it asks for, with no more facts than it asks.
pub(super) fn may_answer(scene: &Scene<'_>, fact: &TextView<'_>, stated: usize) -> bool {
    let sentence = scene.text().plain().split_inclusive(is_sentence_end).map(TextView::new);
    let mut answers = sentence.filter(|sentence| sentence.has(List::Answer) && reveals(scene, sentence, fact));
    is_short_answer(scene, scene.text(), stated) || answers.any(|sentence| is_short_answer(scene, &sentence, stated))
}

/// The question with which a message ends.
pub(super) fn last_question<'t>(agent: &'t TextView<'_>) -> Option<&'t str> {
    agent.plain().rfind(['?', '？', '؟']).map(|at| agent.sentence(at))
}

/// For how many things a question asks.
fn asked(agent: &TextView<'_>, question: &TextView<'_>) -> usize {
    let and = ["and", "und", "et", "y", "e", "en", "и", "ve", "oraz"];
    // "Any allergies or preferences?" asks for both; "today or tomorrow?" for one.
    let is_open_or = |word: &&str| *word == "or" && question.words().any(|it| it == "any");
    // Without its accent, "is" looks like "and" in Portuguese and Italian.
    let is_and = |word: &&str| and.contains(word) && (*word != "e" || agent.raw.contains(" e "));
    1 + question.words().filter(|word| is_and(word) || is_open_or(word)).count()
        + question.plain().matches(['、', '和']).count()
}

/// Whether the turn gives a second fact where the agent has asked for one thing: "by the way", or beside another one that is what the
/// question names.
pub(super) fn adds(scene: &Scene<'_>, fact: &TextView<'_>, stated: usize) -> bool {
    let says_so = || BY_THE_WAY.iter().any(|words| scene.text().plain().contains(words));
    let asks_for_one = |agent: &TextView<'_>| {
        !agent.has(List::Details) && last_question(agent).is_some_and(|it| asked(agent, &TextView::new(it)) == 1)
    };
    (stated > 1 && says_so() || is_beside(scene, fact)) && scene.last_agent().is_some_and(asks_for_one)
}

/// Whether the agent's question has a word or the kind of another fact that the turn tells, and none of this one.
fn is_beside(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let Some(question) = scene.last_agent().and_then(|agent| agent.question()) else { return false };
    let is_for = |fact: &TextView<'_>| {
        question.kinds() & (fact.kinds() | by_shape(fact)) & KINDS.exact != 0
            || subject(fact).any(|word| question.says(&word))
    };
    let is_open = [List::Details, List::WhatIsWrong, List::OpenQuestion].into_iter().any(|list| question.has(list));
    let is_told = |other: &TextView<'_>| reveals(scene, scene.text(), other) && is_for(other);
    let mut others = scene.facts.iter().filter(|other| !std::ptr::eq(*other, fact));
    !is_open && !is_for(fact) && others.any(is_told)
}

/// How somebody says what was not asked.
const BY_THE_WAY: [&str; 18] = [
    "by the way",
    "btw",
    "incidentally",
    "ubrigens",
    "au fait",
    "au passage",
    "d'ailleurs",
    "por cierto",
    "tra l'altro",
    "ja agora",
    "trouwens",
    "overigens",
    "nawiasem",
    "кстати",
    "bu arada",
    "ちなみに",
    "顺便",
    "بالمناسبه",
];

fn is_short_answer(scene: &Scene<'_>, turn: &TextView<'_>, stated: usize) -> bool {
    let Some(agent) = scene.last_agent().filter(|agent| agent.asks()) else { return false };
    let Some(question) = last_question(agent).map(TextView::new) else { return false };
    let asked = asked(agent, &question);
    let asks_for_any = question.words().any(|word| word == "any");
    let is_clear = scene
        .facts
        .iter()
        .filter(|fact| !was_value_given(scene, fact))
        .any(|fact| names(scene, &question, fact) || kinds(&question) & (kinds(fact) | by_shape(fact)) != 0);
    let chooses = turn.content().any(|word| question.says(&word) || word.has_digit() && agent.says(&word));
    let is_short =
        turn.places().len() <= 6 + 2 * asked + usize::from(asks_for_any) * 2 && !turn.asks() && (!chooses || asked > 1);
    is_short && stated <= asked && (!is_clear || asked > 1)
}

fn kinds(text: &TextView<'_>) -> u32 {
    text.kinds()
}

#[cfg(test)]
mod tests {
    use crate::conversation::guard::{GuardInput, check, fact_uses};
    use crate::evidence::{Message, Role, Transcript, Turn};

    #[test]
    fn a_long_reply_without_a_full_stop_is_looked_at_once() {
        let tasks = ["Find out where the parcel is"];
        let facts = ["The order number is 4711-22", "The user's name is Ada Byron", "The pick-up day is Friday"];
        let reply = format!("how can i help {}", "please confirm and let me know ".repeat(7_000));
        let uses = |turns: Vec<Turn>| fact_uses(&tasks, &facts, &Transcript { turns });
        let asked = uses(vec![Turn::answered(1, "Hi.", &reply), Turn::answered(2, "It is Friday.", &reply)]);
        assert_eq!(asked.len(), 3);
        let transcript = [Message::new(Role::User, "Hi."), Message::new(Role::Assistant, &reply)];
        let found = check(&GuardInput {
            has_facts: true,
            tasks: &tasks,
            facts: &facts,
            signoff: "So Long",
            transcript: &transcript,
            turn: "It is 4711-22, and my name is Ada Byron.",
            ..GuardInput::default()
        });
        assert!(found.len() < 3, "{found:?}");
    }
}
