//! Whether the agent's last reply certainly waits for an answer: it ends with a question about the tasks, or about a fact
//! that the user knows and has not given. A question for a rating, an offer, a refusal, or what it said before is none.

use super::confirmation::awaits_confirmation;
use super::fact_asked::{names, subject};
use super::phrases::{List, PHRASES};
use super::scene::Scene;
use super::shape::{KINDS, by_shape};
use super::text_view::TextView;

/// Phrases after which it is unclear whether the agent expects an answer.
const UNCERTAIN: [List; 5] = [List::AnythingElse, List::OpenQuestion, List::Goodbye, List::Done, List::Refusal];

pub(super) fn awaits_answer(scene: &Scene<'_>) -> bool {
    let Some(agent) = scene.last_agent() else { return false };
    if UNCERTAIN.into_iter().any(|list| agent.has(list)) || repeats_itself(scene, agent) {
        return false;
    }
    let Some(question) = last_question(agent) else { return asks_last(agent) };
    let question = TextView::new(question);
    // Elsewhere in a reply these are everyday words.
    if question.has(List::Feedback) {
        return false;
    }
    if question.has(List::AskAgain) {
        // "Sorry?" asks for the same.
        let asked =
            |earlier: &TextView<'_>| earlier.has(List::AskAgain) || earlier.asks() && earlier.places().len() <= 2;
        return !scene.agents().rev().skip(1).any(asked);
    }
    if question.has(List::Confirms) {
        let confirms = awaits_confirmation(scene, &question) || question.has(List::Awaits);
        return confirms || asks_for_fact(scene, &question);
    }
    let asks = || asks_for_fact(scene, &question) || is_about_task(scene, &question);
    question.has(List::Awaits) || !question.has(List::Offer) && asks()
}

/// Whether the agent has said nearly the same before.
pub(super) fn repeats_itself(scene: &Scene<'_>, agent: &TextView<'_>) -> bool {
    *scene.repeats_itself.get_or_init(|| says_again(scene, agent))
}

fn says_again(scene: &Scene<'_>, agent: &TextView<'_>) -> bool {
    let earlier = scene.agents().rev().skip(1);
    let question = last_question(agent).map(TextView::new);
    earlier.into_iter().any(|text| {
        let asked = last_question(text).map(TextView::new);
        let asks_again = question.as_ref().zip(asked.as_ref()).is_some_and(|(one, other)| one.likeness(other) >= 0.9);
        asks_again || agent.likeness(text) >= 0.8
    })
}

/// The question with which a reply ends. One in an address, a quotation or brackets is none.
fn last_question<'t>(agent: &'t TextView<'_>) -> Option<&'t str> {
    let plain = agent.plain();
    let is_mark = |c: char| matches!(c, '?' | '؟');
    let ends = plain.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_mark(c) && !matches!(c, '"' | '\'' | ')'));
    let question = match ends.strip_suffix(is_mark) {
        Some(rest) => {
            let word = rest.rsplit(char::is_whitespace).next().unwrap_or(rest);
            (!word.contains("://") && !word.starts_with("www.") && !agent.is_quoted(rest.len()))
                .then(|| agent.sentence(rest.len()))
        }
        // Some languages ask without a mark.
        None => (!plain.is_ascii() && !plain.contains(is_mark) && agent.asks()).then_some(plain),
    };
    question.filter(|text| text.chars().any(char::is_alphanumeric))
}

/// Whether the last sentence asks without a question mark: "Please confirm the hour."
fn asks_last(agent: &TextView<'_>) -> bool {
    let end = agent.plain().char_indices().rfind(|(_, c)| c.is_alphanumeric());
    let last = TextView::new(end.map_or("", |(at, _)| agent.sentence(at)));
    last.has(List::Awaits) && !last.has(List::Offer)
}

/// Whether a question asks for the kind of a fact, or names one, that the user knows and has not given.
fn asks_for_fact(scene: &Scene<'_>, question: &TextView<'_>) -> bool {
    scene.input.has_facts
        && scene.facts.iter().any(|fact| {
            let kinds = (fact.kinds() | by_shape(fact)) & !KINDS.reason;
            !was_already_stated(scene, fact) && (question.kinds() & kinds != 0 || names(scene, question, fact))
        })
}

/// Whether the user has said most of a fact.
fn was_already_stated(scene: &Scene<'_>, fact: &TextView<'_>) -> bool {
    let words: Vec<_> = subject(fact).collect();
    let said = words.iter().filter(|word| scene.users().any(|user| user.says(word))).count();
    said * 2 >= words.len()
}

/// Whether a question has a word of a task.
fn is_about_task(scene: &Scene<'_>, question: &TextView<'_>) -> bool {
    scene
        .tasks
        .iter()
        .any(|task| task.content().any(|word| !PHRASES.task_words.contains_key(word.text) && question.says(&word)))
}
