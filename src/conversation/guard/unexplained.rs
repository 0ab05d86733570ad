//! What the user said that is about none of the tasks by its words, and no answer: it may have raised a task in other words.

use super::asked_surely::AND;
use super::open_word::is_open;
use super::phrases::{List, is_sentence_end};
use super::scene::Scene;
use super::tasks_raised::{distinctive_words, matched};
use super::text_view::{Content, TextView};
use super::words::Script;
use crate::evidence::Role;

/// How many requests of the user have no word of any task.
pub(super) fn unexplained(scene: &Scene<'_>) -> usize {
    let words: Vec<Vec<Content<'_>>> = (0..scene.tasks.len()).map(|at| distinctive_words(scene, at)).collect();
    let is_explained = |text: &TextView<'_>| words.iter().any(|words| matched(text, words).0 > 0);
    let questions = |text: &TextView<'_>| {
        parts(text).filter(|part| part.ends_with(['?', '؟']) && !is_explained(&TextView::new(part.as_str()))).count()
    };
    let open_questions = |text: &TextView<'_>| {
        parts(text)
            .filter(|part| is_open(&TextView::new(part.as_str())))
            .filter(|part| part.ends_with(['?', '؟']) && !is_explained(&TextView::new(part.as_str())))
            .count()
    };
    let mut agent: Option<&TextView<'_>> = None;
    let mut requests = questions(scene.text());
    for (role, text) in scene.messages {
        match role {
            Role::Assistant => agent = Some(text),
            // "Can you do that?" behind a request is about that.
            Role::User if is_explained(text) && text.words().all(|word| !AND.contains(&word)) => {
                requests += open_questions(text)
            }
            Role::User if is_explained(text) => requests += questions(text),
            Role::User if is_answer(text, agent) => {}
            Role::User => requests += questions(text).max(1),
            Role::System | Role::Tool => {}
        }
    }
    requests
}

/// Whether a message answers, closes or greets. What repeats the agent's words, or tells data that it asked for, answers.
fn is_answer(text: &TextView<'_>, agent: Option<&TextView<'_>>) -> bool {
    let asked = agent.is_some_and(|agent| {
        (agent.asks() || agent.has(List::Awaits)) && !agent.has(List::AnythingElse) && !agent.has(List::OpenQuestion)
    });
    if text.asks() {
        // Who does not know what is asked may ask how else it goes.
        let tells = || text.raw.contains('@') || text.content().any(|word| word.has_digit());
        return asked
            && (tells() || [List::Unknown, List::Unwilling, List::Vague].into_iter().any(|list| text.has(list)));
    }
    let is_short = text.outside(&[List::Answer, List::Polite, List::Greeting, List::Goodbye]).0 < 8
        || text.places().len() < 3 && text.script() != Some(Script::Han);
    let (shared, all) =
        agent.map_or((0, 0), |agent| (text.content().filter(|word| agent.says(word)).count(), text.content().count()));
    is_short
        || asked
        || agent.is_some_and(|agent| chooses(text, agent))
        || text.only_closes()
        || text.has(List::Answer)
        || shared > 0 && shared * 2 >= all
        || all == 0
}

/// Whether a short message has no figures but such as the agent named: "the 26th please".
fn chooses(text: &TextView<'_>, agent: &TextView<'_>) -> bool {
    let figures = |word: &str| word.trim_end_matches(|c: char| !c.is_ascii_digit()).to_owned();
    let named: Vec<String> = agent.words().map(figures).filter(|it| !it.is_empty()).collect();
    let mut chosen = text.words().map(figures).filter(|it| !it.is_empty()).peekable();
    chosen.peek().is_some() && text.places().len() <= 8 && chosen.all(|it| named.contains(&it))
}

/// The sentences of a text, those with "and" divided there; each part of a question ends with its mark.
pub(super) fn parts<'t>(text: &'t TextView<'_>) -> impl Iterator<Item = String> + 't {
    let plain = text.plain();
    plain.split_inclusive(is_sentence_end).flat_map(|sentence| {
        let mark = sentence.chars().next_back().filter(|c| is_sentence_end(*c));
        let rest = sentence.trim_end_matches(is_sentence_end);
        let has_words =
            |part: &&str| part.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count() >= 2;
        let clauses: Vec<&str> = [" and ", " und "]
            .into_iter()
            .find_map(|and| rest.split_once(and))
            .map_or_else(|| vec![rest], |(one, other)| vec![one, other]);
        clauses
            .into_iter()
            .filter(has_words)
            .map(move |part| part.trim().chars().chain(mark).collect())
            .collect::<Vec<String>>()
    })
}
