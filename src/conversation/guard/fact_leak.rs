//! A fact that is given unasked, or that the persona does not know.

use super::phrases::{List, PHRASES};
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::values::digits;
use super::words::Script;
use super::{Fault, fault};

/// What stands between what a fact is about and what it says of it.
const COPULAS: [&str; 43] = [
    "is",
    "are",
    "was",
    "has",
    "have",
    "ist",
    "sind",
    "hat",
    "heisst",
    "lautet",
    "est",
    "sont",
    "a",
    "s'appelle",
    "es",
    "son",
    "tiene",
    "esta",
    "e",
    "sono",
    "ha",
    "tem",
    "sao",
    "zijn",
    "heeft",
    "heet",
    "jest",
    "ma",
    "to",
    "это",
    "prefers",
    "likes",
    "wants",
    "works",
    "needs",
    "budget",
    "owns",
    "called",
    "named",
    "hai",
    "है",
    "हैं",
    "هو",
];

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    for (at, fact) in scene.facts.iter().enumerate() {
        let is_told = clauses(fact.raw).any(|clause| is_told(scene, turn, &TextView::new(clause)));
        if !is_told || scene.input.has_facts && is_asked_for(scene, fact) {
            continue;
        }
        let why = match scene.input.has_facts {
            true => "it gives a fact that the assistant has not asked for",
            false => "it says what the user does not know",
        };
        return fault(why, scene.input.facts[at]);
    }
    None
}

/// The parts of a fact that say something each.
fn clauses(fact: &str) -> impl Iterator<Item = &str> {
    let ends = [". ", "; ", ", ", " and ", " und ", " et ", " y ", " en ", " ve ", " и ", "。", "，", "、", "；"];
    let mut rest = Some(fact);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = ends.iter().filter_map(|end| Some((text.find(end)?, end.len()))).min();
        let (clause, after) = end.map_or((text, None), |(at, length)| (&text[..at], Some(&text[at + length..])));
        rest = after;
        Some(clause)
    })
}

/// Whether the turn says what a clause of a fact says and was not known before.
fn is_told(scene: &Scene<'_>, turn: &TextView<'_>, clause: &TextView<'_>) -> bool {
    if tells_digits(scene, turn, clause) {
        return true;
    }
    let value = value(clause);
    let said: Vec<bool> = value.iter().map(|word| turn.says(word)).collect();
    if !said.contains(&true) {
        return false;
    }
    let mut told = 0;
    let mut new = 0;
    let mut is_strong = false;
    for (word, is_said) in value.iter().zip(said) {
        if scene.is_known(word) {
            continue;
        }
        new += 1;
        told += usize::from(is_said);
        is_strong |= is_said && word.has_digit() && word.text.len() >= 3;
    }
    let is_unspaced = value.first().is_some_and(|word| matches!(word.script, Script::Han | Script::Thai));
    told > 0 && (is_strong || told * 2 >= new || is_unspaced && told * 3 >= new)
}

/// Whether the turn has a long number of a clause, however its digits are grouped.
fn tells_digits(scene: &Scene<'_>, turn: &TextView<'_>, clause: &TextView<'_>) -> bool {
    let number = digits(clause.plain());
    number.len() >= 5
        && digits(turn.plain()).contains(&number)
        && !scene
            .tasks
            .iter()
            .chain(scene.messages.iter().map(|(_, text)| text))
            .any(|it| digits(it.plain()).contains(&number))
}

/// The words of a clause that say what is so: those behind "is", or all.
fn value<'c>(clause: &'c TextView<'_>) -> Vec<Content<'c>> {
    let is_content = |word: &Content<'_>| !PHRASES.task_words.contains_key(word.text);
    let all: Vec<Content<'_>> = clause.content().filter(is_content).collect();
    let plain = clause.plain();
    let place = clause
        .places()
        .iter()
        .skip(1)
        .find(|word| COPULAS.contains(&&plain[word.start..word.end]))
        .map(|word| word.end);
    let place = place.or_else(|| plain.find([':', 'は', '是', '叫']).map(|at| at + 1));
    let Some(place) = place else { return all };
    let behind = all.iter().filter(|word| word.text.as_ptr() as usize - plain.as_ptr() as usize >= place);
    let behind: Vec<Content<'_>> = behind.copied().collect();
    if behind.is_empty() { all } else { behind }
}

/// Whether one of the agent's last two messages asks for the fact, or for that kind of thing.
fn is_asked_for(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let kinds_of_fact = kinds(fact) | by_shape(fact);
    scene.agents().rev().take(2).any(|agent| {
        let asks = agent.asks() || agent.has(List::Awaits);
        let shares = || fact.content().any(|word| !PHRASES.task_words.contains_key(word.text) && agent.says(&word));
        asks && (agent.has(List::Details) || kinds(agent) & kinds_of_fact != 0 || shares())
    })
}

fn kinds(text: &TextView<'_>) -> u32 {
    PHRASES.kinds(text.plain(), text.words())
}

/// The kinds that what a fact says has by its form. The names are those of the file.
fn by_shape(fact: &TextView<'_>) -> u32 {
    let kinds = |words: &str| PHRASES.kinds(words, words.split(' '));
    let digits = digits(fact.plain()).len();
    let joins =
        |joint: char| fact.plain().split(joint).skip(1).any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let mut all = 0;
    if fact.raw.contains('@') {
        all |= kinds("email");
    }
    if digits >= 7 {
        all |= kinds("telephone");
    }
    if digits > 0 && (joins('-') || joins('/') || joins(':') || joins('.')) {
        all |= kinds("date");
    }
    if digits >= 3 {
        all |= kinds("code");
    } else if digits > 0 {
        all |= kinds("quantity");
    }
    if fact
        .words()
        .any(|word| word.len() > 3 && (PHRASES.months.contains_key(word) || PHRASES.weekdays.contains_key(word)))
    {
        all |= kinds("date");
    }
    all
}
