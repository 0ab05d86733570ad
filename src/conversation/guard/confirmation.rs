//! Whether a question of the agent asks whether it may do what the user wants done: "Shall I book it?"

use std::sync::LazyLock;

use super::phrases::{List, PHRASES, Words, word_set};
use super::scene::Scene;
use super::tasks_raised::{distinctive_words, matched};
use super::text_view::{Content, TextView};

/// Words of a question about something more than what the user asked for.
pub(super) static MORE: LazyLock<Words> = LazyLock::new(|| {
    word_set(
        "\
         other also too another additional additionally extra well again else instead auch zusatzlich noch weitere \
         weiteren ausserdem stattdessen aussi egalement autre encore plutot tambien otro otra mas anche altro \
         altra ancora tambem outro outra mais ook nog andere tez takze jeszcze также тоже еще ayrica",
    )
});

/// Whether the question can be about nothing but a task that is to be done, and brings nothing new.
pub(super) fn awaits_confirmation(scene: &Scene<'_>, question: &TextView<'_>) -> bool {
    !question.words().any(|word| MORE.contains(word)) && is_about_act(scene) && brings_nothing_new(scene, question)
}

/// Whether something is to be done by a task, not only to be found out.
fn is_act(task: &TextView<'_>) -> bool {
    !task.has(List::Inquiry)
}

/// Whether the task that the user spoke of last is one that is to be done, or all of them are.
fn is_about_act(scene: &Scene<'_>) -> bool {
    if scene.tasks.iter().all(is_act) {
        return !scene.tasks.is_empty();
    }
    let distinctive: Vec<Vec<Content<'_>>> = (0..scene.tasks.len()).map(|at| distinctive_words(scene, at)).collect();
    let spoken_of = |text: &TextView<'_>| -> Option<bool> {
        let mut raised =
            scene.tasks.iter().zip(&distinctive).filter(|(_, words)| matched(text, words).0 > 0).peekable();
        raised.peek()?;
        Some(raised.all(|(task, _)| is_act(task)))
    };
    scene.users().rev().find_map(spoken_of).unwrap_or(false)
}

/// Whether each word of the question is the verb, a number, or one that a task, a fact or the user has.
fn brings_nothing_new(scene: &Scene<'_>, question: &TextView<'_>) -> bool {
    let plain = question.plain();
    let is_known = |word: &Content<'_>| {
        let start = word.text.as_ptr() as usize - plain.as_ptr() as usize;
        let end = start + word.text.len();
        // The verb stands at the end of the phrase, what asks at its beginning.
        let is_of_phrase =
            || question.hits_in(List::Confirms).any(|hit| hit.start == start || start < hit.end && hit.end <= end);
        let is_date = || PHRASES.months.contains_key(word.text) || PHRASES.weekdays.contains_key(word.text);
        let is_said = || scene.tasks.iter().chain(scene.facts).chain(scene.users()).any(|text| text.says(word));
        word.has_digit()
            || word.is_number()
            || PHRASES.task_words.contains_key(word.text)
            || is_of_phrase()
            || is_date()
            || is_said()
    };
    question.content().all(|word| is_known(&word))
}
