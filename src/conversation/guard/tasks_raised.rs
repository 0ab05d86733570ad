//! Which tasks a message raises, by the words that only one task has.

use super::phrases::PHRASES;
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::words::Script;

/// The words of a task that say what it is about: those that no other task has, or all where it has none of its own.
pub(super) fn distinctive_words<'s>(scene: &'s Scene<'_>, at: usize) -> Vec<Content<'s>> {
    let own = unique_words(scene, at);
    if own.is_empty() { subject_words(scene, at).collect() } else { own }
}

/// The words that say what a task is about.
fn subject_words<'s>(scene: &'s Scene<'_>, at: usize) -> impl Iterator<Item = Content<'s>> {
    scene.tasks[at].content().filter(|word| !PHRASES.task_words.contains_key(word.text))
}

/// The words that say what a task is about, and that no other task has.
pub(super) fn unique_words<'s>(scene: &'s Scene<'_>, at: usize) -> Vec<Content<'s>> {
    let is_elsewhere = |word: &Content<'_>| {
        scene
            .tasks
            .iter()
            .enumerate()
            .any(|(other, task)| other != at && task.content().any(|it| it.text == word.text || it.is_same(word)))
    };
    subject_words(scene, at).filter(|word| !is_elsewhere(word)).collect()
}

/// How many of the words a message has, and how many there are.
pub(super) fn matched(text: &TextView<'_>, words: &[Content<'_>]) -> (usize, usize) {
    (words.iter().filter(|word| text.says(word)).count(), words.len())
}

/// Whether a message has enough of a task's words to have raised it for certain.
pub(super) fn surely_raises(text: &TextView<'_>, words: &[Content<'_>]) -> bool {
    let (found, all) = matched(text, words);
    let is_unspaced = words.first().is_some_and(|word| matches!(word.script, Script::Han | Script::Thai));
    match (is_unspaced, all) {
        (_, 0) => false,
        (false, _) => found >= 1 && found * 3 >= all || found >= 3,
        (true, _) => found >= 1 && found * 4 >= all || found >= 3,
    }
}

/// Whether tasks and conversation are in one script and share any words, so that missing words mean something.
pub(super) fn is_comparable(scene: &Scene<'_>, text: &TextView<'_>) -> bool {
    scene.tasks.iter().all(|task| {
        task.script() == text.script() && task.language().zip(text.language()).is_none_or(|(one, other)| one == other)
    })
}
