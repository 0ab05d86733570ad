//! A sentence that only the one who serves says, whatever its words are: of "us" to "you", where the user is alone; or a plain
//! statement about what the user asked for, that says of it what nobody said before.

use super::asked_surely::was_value_given;
use super::passed_over::tells;
use super::phrases::{List, Owner, PHRASES, WE, is_sentence_end};
use super::scene::Scene;
use super::tasks_raised::is_comparable;
use super::text_view::{Content, TextView};

/// Several who speak, in languages that join their words.
const JOINED_WE: [&str; 7] = ["我们", "本店", "本馆", "当社", "弊社", "当店", "저희"];

/// The same of the one who is spoken to.
const JOINED_YOU: [&str; 4] = ["您", "你", "お客様", "고객님"];

/// The fewest words of such a sentence, and the most words of a turn that has one and tells no story.
const LEAST: usize = 5;
const MOST: usize = 60;
/// The fewest words that nobody said before, of a statement about a task.
const LEAST_NEW: usize = 2;

/// The sentence of the turn that informs or serves the other.
pub(super) fn informs<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    speaks_for_others(scene).or_else(|| states(scene))
}

/// A sentence of "us" to "you", where neither the case nor the user's messages have more than one.
fn speaks_for_others<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let is_unspaced = !turn.raw.is_ascii();
    let [_, you, wants, ..] = &PHRASES.persons;
    let has_we = |text: &TextView<'_>| {
        text.marks() & WE != 0 || !text.raw.is_ascii() && JOINED_WE.iter().any(|word| text.plain().contains(word))
    };
    // A cheap test that rules most turns out.
    if turn.places().len() > MOST || !has_we(turn) {
        return None;
    }
    let mut of_user = scene.tasks.iter().chain(scene.facts).chain(scene.background).chain(scene.users());
    if of_user.any(has_we) {
        return None;
    }
    sentences(turn).find(|sentence| {
        let view = TextView::new(*sentence);
        let has_you =
            view.words().any(|word| you.contains(word) || PHRASES.possessives.get(word) == Some(&Owner::Addressed))
                || is_unspaced && JOINED_YOU.iter().any(|word| view.plain().contains(word));
        let closes = view.has(List::Goodbye) || has(&view, List::Polite);
        has_we(&view)
            && has_you
            && !closes
            && !view.asks()
            && !view.words().any(|word| wants.contains(word))
            && !is_quoted(turn, sentence)
    })
}

/// The turn, where it states something new about a task to an agent that asks for nothing: neither of the speaker nor an answer, thanks
/// or a fact.
fn states<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let agent = scene.last_agent()?;
    let asks =
        (agent.asks() || agent.has(List::Awaits)) && !agent.has(List::AnythingElse) && !agent.has(List::Feedback);
    let places = turn.places().len();
    if asks || places < LEAST || turn.asks() || scene.users().next().is_none() || PHRASES.has_first_person(turn.plain())
    {
        return None;
    }
    let is_reaction = [
        List::Answer,
        List::Polite,
        List::Greeting,
        List::Goodbye,
        List::Unknown,
        List::Objection,
        List::Vague,
        List::Opener,
    ];
    let is_known = |word: &Content<'_>| {
        scene.is_known(word)
            || scene.facts.iter().any(|fact| fact.says(word))
            || PHRASES.task_words.contains_key(word.text)
    };
    let is_of_task = |word: &Content<'_>| scene.tasks.iter().any(|task| task.says(word));
    let is_new = turn.content().filter(|word| !is_known(word)).count() >= LEAST_NEW;
    let is_reply = is_reaction.into_iter().any(|list| has(turn, list)) || scene.turn.signs_off;
    let is_about = || turn.content().any(|word| is_of_task(&word));
    let tells_fact = || scene.facts.iter().any(|fact| tells(scene, turn, fact) && !was_value_given(scene, fact));
    (is_new && !is_reply && is_about() && is_comparable(scene, turn) && !tells_fact() && !turn.is_quoted(0))
        .then(|| turn.plain().trim())
}

fn sentences<'t>(turn: &'t TextView<'_>) -> impl Iterator<Item = &'t str> {
    turn.plain().split_inclusive(is_sentence_end).map(str::trim)
}

fn is_quoted(turn: &TextView<'_>, sentence: &str) -> bool {
    turn.is_quoted(sentence.as_ptr() as usize - turn.plain().as_ptr() as usize)
}

/// Whether a text has a phrase of a list that is more than a particle of some language.
fn has(text: &TextView<'_>, list: List) -> bool {
    text.hits_in(list).any(|hit| hit.end - hit.start > LONGEST_PARTICLE)
}

const LONGEST_PARTICLE: usize = 2;
