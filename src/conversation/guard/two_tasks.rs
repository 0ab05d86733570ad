//! Two tasks in one message.

use super::scene::Scene;
use super::tasks_raised::{matched, surely_raises, unique_words};
use super::text_view::Content;
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
    let [first, second, ..] = raised.as_slice() else { return None };
    fault(
        "it raises two tasks in one message; one at a time",
        format!("{} · {}", scene.input.tasks[*first], scene.input.tasks[*second]),
    )
}
