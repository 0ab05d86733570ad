//! The fact that the agent certainly asks for by a kind of thing, in whatever words: of that kind there is one fact that was not told.

use super::asked_surely::{ALSO, AND, is_reluctant, is_untold, was_value_given};
use super::confirmation::MORE;
use super::fact_asked::last_question;
use super::passed_over::{asks_to_tell, was_told};
use super::phrases::{List, PHRASES};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::text_view::{Content, TextView};

/// The most words of a question that say something else than what kind of thing it asks for.
const MOST_BESIDE: usize = 2;

/// The fact of the kind for which the agent's last question asks, where there is one alone that no message has told.
pub(super) fn asked_kind<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    scene.once(&scene.asked_kind, || find_asked_kind(scene))
}

fn find_asked_kind<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let agent = scene.last_agent().filter(|_| scene.input.has_facts && !scene.facts.is_empty())?;
    let question = agent.question()?;
    // Without its accent, "where" is "or" in French.
    let is_where = agent.raw.contains(" où") || agent.raw.contains("Où ");
    let kinds = (question.kinds() | if is_where { KINDS.address } else { 0 }) & KINDS.asked;
    if kinds == 0 || !asks_to_tell(question) || scene.tasks.iter().chain(scene.background).any(is_reluctant) {
        return None;
    }
    let is_asked = |fact: &&TextView<'_>| {
        is_of_kind(fact, kinds) && !is_untold(fact) && !was_value_given(scene, fact) && !was_told(scene, fact)
    };
    let mut asked = scene.facts.iter().filter(is_asked);
    let fact = asked.next().filter(|_| asked.next().is_none())?;
    let is_known = |word: &Content<'_>| {
        let of_kind = PHRASES.kinds(word.text, [word.text].into_iter()) & kinds != 0;
        of_kind
            || PHRASES.task_words.contains_key(word.text)
            || PHRASES.words.get(word.text).is_some_and(|word| word.is_function)
            || fact.says(word)
            || scene.tasks.iter().chain(scene.users()).any(|text| text.says(word))
    };
    let beside = question.content().filter(|word| !is_known(word)).count();
    let is_count = kinds & KINDS.quantity != 0;
    (beside <= if is_count { 0 } else { MOST_BESIDE }).then_some(fact)
}

/// The same where the question asks for nothing else beside it.
pub(super) fn asked_alone<'t>(scene: &Scene<'t>) -> Option<&'t TextView<'t>> {
    let question = scene.last_agent()?.question()?;
    asked_kind(scene).filter(|_| !question.words().skip(1).any(|word| AND.contains(&word)))
}

/// Whether a question is about something more than what the facts say: "your other parcel".
pub(super) fn asks_for_more(question: &TextView<'_>) -> bool {
    question.words().any(|word| MORE.contains(word) && !ALSO.contains(&word))
}

/// The sentence with which a message asks.
pub(super) fn question<'t>(agent: &'t TextView<'_>) -> Option<&'t str> {
    last_question(agent).or_else(|| {
        let hit = agent.hits_in(List::Awaits).last().map(|hit| hit.start);
        let last = || agent.plain().char_indices().rfind(|(_, c)| c.is_alphanumeric()).map(|(at, _)| at);
        let start = hit.or_else(|| last().filter(|_| agent.asks()))?;
        Some(agent.sentence(start))
    })
}

/// Whether a fact is of all kinds for which a question asks: a date is asked for as such, whatever it is the date of.
fn is_of_kind(fact: &TextView<'_>, kinds: u32) -> bool {
    let (shape, words) = (by_shape(fact) | counts(fact), fact.kinds());
    let is_date = shape & KINDS.date != 0;
    let own = match () {
        () if shape & KINDS.email != 0 => KINDS.email,
        () if is_date => KINDS.date | words & KINDS.birth,
        () => (words | shape) & !KINDS.date,
    };
    let wanted = kinds & KINDS.exact;
    // Of a person or a thing anything may be asked by its name alone.
    match wanted {
        0 => kinds & own != 0 && counts(fact) == 0 && own & (KINDS.name | KINDS.birth | KINDS.address) == 0,
        _ => wanted & !own == 0 && (kinds & KINDS.birth == own & KINDS.birth || !is_date),
    }
}

/// The kind of a fact that has a number in words.
fn counts(fact: &TextView<'_>) -> u32 {
    if fact.content().any(|word| word.is_number() && !word.has_digit()) { KINDS.quantity } else { 0 }
}
