//! A fact that is given unasked, or that the persona does not know.

use super::invented_name::WHO;
use super::phrases::{List, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::text_view::{Content, TextView};
use super::values::{TextValue, ValueKind, digits, values};
use super::words::{Script, plain};
use super::{Fault, fault};

/// Words between the subject of a fact and its value.
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
    let mut stated = 0;
    for (at, fact) in scene.facts.iter().enumerate() {
        let is_picked = || !scene.input.has_facts && picks(scene, fact);
        if !(reveals(scene, turn, fact) || is_picked()) {
            continue;
        }
        stated += 1;
        if scene.input.has_facts && is_answer(scene, fact, stated) && !adds(scene, stated) {
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

/// Whether the turn tells a fact, the `stated`th one in it, because the agent has asked for it, or may have.
pub(super) fn is_answer(scene: &Scene<'_>, fact: &TextView<'_>, stated: usize) -> bool {
    is_asked_for(scene, fact) || may_answer(scene, fact, stated)
}

/// Whether a short turn picks what a fact says among what the agent asks about: "a student", to "pupil or student?".
fn picks(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let turn = scene.text();
    let Some(agent) = scene.last_agent().filter(|agent| agent.asks()) else { return false };
    let says_all = |value: &[Content<'_>]| {
        !value.is_empty() && value.iter().all(|word| turn.says(word)) && value.iter().any(|word| agent.says(word))
    };
    turn.places().len() <= MOST_OF_PICK && !turn.asks() && says_all(&value(fact))
}

/// The most words of a turn that only picks something.
const MOST_OF_PICK: usize = 5;

/// Whether the turn reveals something of a fact that was not known before.
pub(super) fn reveals(scene: &Scene<'_>, turn: &TextView<'_>, fact: &TextView<'_>) -> bool {
    clauses(fact.raw).any(|clause| reveals_clause(scene, turn, &TextView::new(clause)))
}

/// The parts of a fact that say something each.
pub(super) fn clauses(fact: &str) -> impl Iterator<Item = &str> {
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
fn reveals_clause(scene: &Scene<'_>, turn: &TextView<'_>, clause: &TextView<'_>) -> bool {
    if tells_digits(scene, turn, clause) || tells_time(scene, turn, clause) {
        return true;
    }
    let value = value(clause);
    // By far the most clauses end here.
    if !value.iter().any(|word| turn.says(word)) {
        return false;
    }
    let is_address = clause.plain().contains('@');
    let (mut stated, mut new, mut data, mut known_data) = (0, 0, false, false);
    // "Lieber" is not "Liebe": one word alone says something if it is the same, or a long one.
    let mut is_exact = false;
    let has_data = value.iter().any(Content::has_digit);
    for word in &value {
        if scene.is_known(word) {
            known_data |= word.has_digit();
            continue;
        }
        let is_said = turn.says(word) && (is_address || !scene.is_only_in_address(turn, word));
        new += 1;
        stated += usize::from(is_said);
        let has_endings = matches!(word.script, Script::Latin | Script::Cyrillic);
        let is_same = || !has_endings || word.text.chars().count() > 5 || turn.words().any(|it| it == word.text);
        is_exact |= is_said && is_same();
        data |= is_said && word.has_digit() && word.text.len() >= 3;
    }
    // What it says in figures was said before: the rest is about it.
    if stated == 0 || known_data && !data || stated == 1 && lacks_point(scene, turn, clause, &value) {
        return false;
    }
    let is_unspaced = value.first().is_some_and(|word| matches!(word.script, Script::Han | Script::Thai));
    let is_unknown = !scene.input.has_facts;
    data || stated * 2 >= new
        || stated >= 2 && stated * 5 >= new * 2
        || is_unspaced && stated * 3 >= new
        || is_unknown && !has_data && !turn.asks() && (stated > 1 || is_exact)
}

/// Whether a turn with one word of a clause lacks the figure, day or name for which the clause is there: "I need a laptop" does not
/// say that it is needed by Friday.
fn lacks_point(scene: &Scene<'_>, turn: &TextView<'_>, clause: &TextView<'_>, value: &[Content<'_>]) -> bool {
    if !scene.input.has_facts {
        return false;
    }
    // German nouns have a capital too.
    let has_names = turn.language().is_some_and(|language| Some(language) != PHRASES.german);
    let is_name = |word: &Content<'_>| has_names && names_of(clause).any(|name| plain(name) == word.text);
    let is_date = |word: &str| PHRASES.months.contains_key(word) || PHRASES.weekdays.contains_key(word);
    let is_point = |word: &&Content<'_>| word.has_digit() || word.is_number() || is_date(word.text) || is_name(word);
    let mut points = value.iter().filter(is_point).filter(|word| !scene.is_known(word)).peekable();
    points.peek().is_some()
        && !points.any(|word| turn.says(word) || word.has_digit() && turn.plain().contains(word.text))
}

/// The words of a clause with a capital that do not begin it.
fn names_of<'c>(clause: &'c TextView<'_>) -> impl Iterator<Item = &'c str> {
    let words = clause.raw.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.skip(1).filter(|word| word.starts_with(char::is_uppercase))
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

/// Whether the turn has the time of day of a clause, however it is written: "20:00" as "8 in the evening".
fn tells_time(scene: &Scene<'_>, turn: &TextView<'_>, clause: &TextView<'_>) -> bool {
    let has_digit = |text: &TextView<'_>| text.plain().contains(|c: char| c.is_ascii_digit());
    if !has_digit(clause) || !has_digit(turn) {
        return false;
    }
    let times = |text: &TextView<'_>| -> Vec<u32> {
        values(text)
            .iter()
            .filter_map(|it| if let ValueKind::Time { minutes, .. } = it.kind { Some(minutes % 720) } else { None })
            .collect()
    };
    let (of_clause, of_turn) = (times(clause), times(turn));
    let is_told = |time: &u32| {
        let mut others = scene.tasks.iter().chain(scene.messages.iter().map(|(_, text)| text));
        of_turn.contains(time) && !others.any(|text| has_digit(text) && times(text).contains(time))
    };
    of_clause.iter().any(is_told)
}

/// The words of a clause that say what is so: those behind "is", or all.
pub(super) fn value<'c>(clause: &'c TextView<'_>) -> Vec<Content<'c>> {
    let is_content = |word: &Content<'_>| word.is_number() || !PHRASES.task_words.contains_key(word.text);
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
    let (mut kinds_of_agent, mut kinds_of_fact) = (kinds(agent), kinds(fact) | by_shape(fact));
    let is_only_name = || {
        let mut others = scene.facts.iter().filter(|other| !std::ptr::eq(*other, fact));
        has_name(fact) && !others.any(|other| has_name(other) && !is_told(scene, agent, other))
    };
    if agent.asks() && agent.words().any(|word| WHO.contains(&word)) && is_only_name() {
        (kinds_of_agent, kinds_of_fact) = (kinds_of_agent | KINDS.name, kinds_of_fact | KINDS.name);
    }
    // Who proposes a day asks for one.
    if is_time(agent) && is_time(fact) {
        (kinds_of_agent, kinds_of_fact) = (kinds_of_agent | KINDS.date, kinds_of_fact | KINDS.date);
    }
    if names(scene, agent, fact) {
        return true;
    }
    let asked = kinds_of_agent & kinds_of_fact;
    let mut others = scene.facts.iter().filter(|other| !std::ptr::eq(*other, fact) && !is_told(scene, agent, other));
    if asked == 0 {
        // A word that several facts have names this one where no other fits better.
        let fits =
            |other: &TextView<'_>| names(scene, agent, other) || kinds_of_agent & (kinds(other) | by_shape(other)) != 0;
        return subject(fact).any(|word| agent.says(&word)) && !others.any(fits);
    }
    // The kind may have been asked for another fact that the agent names.
    !others.any(|other| names(scene, agent, other) && asked & !(kinds(other) | by_shape(other)) == 0)
}

/// The most words of a turn that tells what is the matter with the user and nothing else.
const MOST_OF_MATTER: usize = 10;

/// Whether all that a fact says was said before, or by the agent's message itself: that is not what it asks for.
fn is_told(scene: &Scene<'_>, agent: &TextView<'_>, fact: &TextView<'_>) -> bool {
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
fn last_question<'t>(agent: &'t TextView<'_>) -> Option<&'t str> {
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

/// Whether the turn gives a second fact "by the way" where the agent has asked for one thing.
fn adds(scene: &Scene<'_>, stated: usize) -> bool {
    let says_so = || BY_THE_WAY.iter().any(|words| scene.text().plain().contains(words));
    let asks_for_one = |agent: &TextView<'_>| {
        !agent.has(List::Details) && last_question(agent).is_some_and(|it| asked(agent, &TextView::new(it)) == 1)
    };
    stated > 1 && says_so() && scene.last_agent().is_some_and(asks_for_one)
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
        .any(|fact| names(scene, &question, fact) || kinds(&question) & (kinds(fact) | by_shape(fact)) != 0);
    let chooses = turn.content().any(|word| question.says(&word) || word.has_digit() && agent.says(&word));
    let is_short =
        turn.places().len() <= 6 + 2 * asked + usize::from(asks_for_any) * 2 && !turn.asks() && (!chooses || asked > 1);
    is_short && stated <= asked && (!is_clear || asked > 1)
}

fn kinds(text: &TextView<'_>) -> u32 {
    text.kinds()
}
