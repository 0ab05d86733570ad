//! Two tasks in one message.

use super::phrases::is_sentence_end;
use super::scene::Scene;
use super::tasks_raised::{matched, surely_raises, unique_words};
use super::text_view::{Content, TextView};
use super::words::Script;
use super::{Fault, fault};

/// Whether these are parts of words of a script without spaces: one that a single task has says as much as a word.
fn is_unspaced(words: &[Content<'_>]) -> bool {
    words.first().is_some_and(|word| matches!(word.script, Script::Han | Script::Thai))
}

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    if scene.tasks.len() < 2 || scene.turn.text.places().len() < 4 {
        return None;
    }
    let turn = scene.text();
    let raised: Vec<usize> = (0..scene.tasks.len())
        .filter(|at| {
            // A word that another task has too raises neither for certain.
            let words = unique_words(scene, *at);
            let (found, all) = matched(turn, &words);
            let is_raised = surely_raises(turn, &words) && (found >= 2 || all <= 3 || is_unspaced(&words));
            is_raised && !scene.users().any(|earlier| surely_raises(earlier, &words))
        })
        .collect();
    let [first, second] = match raised.as_slice() {
        [first, second, ..] => [*first, *second],
        [new] => [asks_again(scene, *new)?, *new],
        [] => return None,
    };
    fault(
        "it raises two tasks in one message; one at a time",
        format!("{} · {}", scene.input.tasks[first], scene.input.tasks[second]),
    )
}

/// An earlier task for which the turn asks once more in a question of its own, beside a new one.
fn asks_again(scene: &Scene<'_>, new: usize) -> Option<usize> {
    let turn = scene.text();
    let questions: Vec<TextView<'_>> = turn
        .plain()
        .split_inclusive(is_sentence_end)
        .filter(|it| it.ends_with(['?', '؟']))
        .map(TextView::new)
        .collect();
    let new = unique_words(scene, new);
    (0..scene.tasks.len()).find(|at| {
        let words = unique_words(scene, *at);
        let asks = |question: &TextView<'_>| {
            matched(question, &words).0 >= 2 && matched(question, &new).0 == 0 && surely_raises(question, &words)
        };
        scene.users().any(|earlier| surely_raises(earlier, &words)) && questions.iter().any(asks)
    })
}
