//! A fact that is given unasked, or that the persona does not know.

use super::fact_asked::{adds, is_answer};
use super::phrases::PHRASES;
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::values::{ValueKind, values};
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
        if scene.input.has_facts && is_answer(scene, fact, stated) && !adds(scene, fact, stated) {
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
    fact.clauses().iter().any(|clause| reveals_clause(scene, turn, clause))
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
    // Another address has its ending in common.
    if is_address && turn.raw.contains('@') && !addresses(clause).any(|own| turn.plain().contains(own)) {
        return false;
    }
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
    // Who does not know a fact gives it away by any word, but not with another figure or address.
    let is_other = || has_digit(turn) || turn.raw.contains('@');
    if !scene.input.has_facts && !is_other() {
        return false;
    }
    // German nouns have a capital too.
    let has_names = turn.language().is_some_and(|language| Some(language) != PHRASES.german);
    let is_name = |word: &Content<'_>| has_names && names_of(clause).any(|name| plain(name) == word.text);
    let is_new = |word: &&Content<'_>| (is_figure(word) || is_name(word)) && !scene.is_known(word);
    let mut points = value.iter().filter(is_new).peekable();
    points.peek().is_some()
        && !points.any(|word| turn.says(word) || word.has_digit() && turn.plain().contains(word.text))
}

/// Whether a word is a figure, a number or a day.
fn is_figure(word: &Content<'_>) -> bool {
    let is_date = PHRASES.months.contains_key(word.text) || PHRASES.weekdays.contains_key(word.text);
    is_date || word.has_digit() || word.is_number()
}

/// Whether a word of a fact is a figure, a day, or looks like a name.
pub(super) fn is_point(fact: &TextView<'_>, word: &Content<'_>) -> bool {
    is_figure(word) || names_of(fact).any(|name| plain(name) == word.text)
}

/// The words of a clause with a capital that do not begin it.
fn names_of<'c>(clause: &'c TextView<'_>) -> impl Iterator<Item = &'c str> {
    let words = clause.raw.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.skip(1).filter(|word| word.starts_with(char::is_uppercase))
}

/// What stands before the at sign in the addresses of a clause.
fn addresses<'c>(clause: &'c TextView<'_>) -> impl Iterator<Item = &'c str> {
    clause.plain().split_whitespace().filter_map(|word| Some(word.split_once('@')?.0))
}

/// Whether the turn has a long number of a clause, however its digits are grouped.
fn tells_digits(scene: &Scene<'_>, turn: &TextView<'_>, clause: &TextView<'_>) -> bool {
    let number = clause.digits();
    number.len() >= 5
        && turn.digits().contains(number)
        && !scene.tasks.iter().chain(scene.messages.iter().map(|(_, text)| text)).any(|it| it.digits().contains(number))
}

fn has_digit(text: &TextView<'_>) -> bool {
    text.plain().contains(|c: char| c.is_ascii_digit())
}

/// Whether the turn has the time of day of a clause, however it is written: "20:00" as "8 in the evening".
fn tells_time(scene: &Scene<'_>, turn: &TextView<'_>, clause: &TextView<'_>) -> bool {
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
    let is_given = |time: &u32| {
        let mut others = scene.tasks.iter().chain(scene.messages.iter().map(|(_, text)| text));
        of_turn.contains(time) && !others.any(|text| has_digit(text) && times(text).contains(time))
    };
    of_clause.iter().any(is_given)
}

/// The words of a clause that say what is so: those behind "is", or all.
pub(super) fn value<'c>(clause: &'c TextView<'_>) -> Vec<Content<'c>> {
    clause.value().collect()
}

/// Looks for them.
pub(super) fn find_value<'c>(clause: &'c TextView<'_>) -> Vec<Content<'c>> {
    let is_content = |word: &Content<'_>| word.is_number() || !PHRASES.task_words.contains_key(word.text);
    let all: Vec<Content<'_>> = clause.content().filter(is_content).collect();
    let plain = clause.plain();
    let place = clause
        .places()
        .iter()
        .skip(1)
        .find(|word| COPULAS.contains(&&plain[word.start..word.end]))
        .map(|word| word.end);
    let place = place.or_else(|| plain.find([':', 'は', '是', '叫', '有']).map(|at| at + 1));
    let Some(place) = place else { return all };
    let behind = all.iter().filter(|word| word.text.as_ptr() as usize - plain.as_ptr() as usize >= place);
    let behind: Vec<Content<'_>> = behind.copied().collect();
    if behind.is_empty() { all } else { behind }
}
