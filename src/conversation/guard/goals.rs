//! A turn that keeps account of what the persona is to reach: "all tasks done", "Step 2: ask for the price", "(goal: the price)".

use super::phrases::{GOAL, PHRASES, is_sentence_end};
use super::reasoning_leak::bracketed;
use super::scene::Scene;
use super::text_view::TextView;

/// Goals that are reached in languages that join their words.
const JOINED_GOALS: [&str; 8] = ["目标", "任务", "目標", "タスク", "목표", "과제", "ゴール", "ミッション"];
const JOINED_DONE: [&str; 10] = ["完成", "达成", "達成", "完了", "완료", "달성", "結束", "结束", "クリア", "끝났"];

/// What stands behind the word for a part of it.
const MARKS: [char; 6] = [':', '：', '→', '—', '–', '-'];

/// The most words between a goal and that it is reached.
const MOST_BETWEEN: usize = 5;
/// The fewest words between square brackets that say what to do.
const LEAST_IN_BRACKETS: usize = 2;

/// What the turn says of its goals, where neither a task nor a message speaks of any.
pub(super) fn accounts<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let plain = turn.plain();
    // A cheap test that rules most turns out.
    if turn.marks() & GOAL == 0 && plain.is_ascii() && !plain.contains(['(', '[']) {
        return None;
    }
    let is_of_case = |word: &str| {
        scene.tasks.iter().chain(scene.messages.iter().map(|(_, text)| text)).any(|text| text.plain().contains(word))
    };
    let is_new = |word: &str| !is_of_case(word);
    let reached =
        sentences(turn).find(|(_, sentence)| !sentence.ends_with(['?', '؟']) && says_reached(sentence, &is_new));
    let labelled = || sentences(turn).find(|(at, sentence)| is_label(sentence, &is_new) && !turn.is_quoted(*at));
    let noted = || bracketed(plain).find(|remark| is_note(remark, &is_new)).map(|remark| (0, remark));
    reached.or_else(labelled).or_else(noted).map(|(_, sentence)| sentence)
}

fn sentences<'t>(turn: &'t TextView<'_>) -> impl Iterator<Item = (usize, &'t str)> {
    let mut start = 0;
    turn.plain().split_inclusive(is_sentence_end).map(move |sentence| {
        let at = start;
        start += sentence.len();
        (at, sentence.trim())
    })
}

/// Whether a sentence says of a goal that it is reached.
fn says_reached(sentence: &str, is_new: &impl Fn(&str) -> bool) -> bool {
    if !sentence.is_ascii()
        && JOINED_GOALS.iter().any(|goal| sentence.contains(goal) && is_new(goal))
        && JOINED_DONE.iter().any(|done| sentence.contains(done))
    {
        return true;
    }
    let words: Vec<&str> = words_of(sentence).collect();
    let is_done = |at: usize| PHRASES.goals[1].contains(words[at]);
    let is_near = |goal: &usize| {
        let near = goal.saturating_sub(MOST_BETWEEN)..(goal + MOST_BETWEEN + 1).min(words.len());
        near.into_iter().any(|at| at != *goal && is_done(at))
    };
    (0..words.len()).filter(|at| PHRASES.goals[0].contains(words[*at])).filter(is_near).any(|at| is_new(words[at]))
}

fn words_of(sentence: &str) -> impl Iterator<Item = &str> {
    sentence.split(|c: char| !crate::text::is_of_word(c)).filter(|word| !word.is_empty())
}

/// Whether a sentence begins with the word for a part of it, maybe with a number, and a mark.
fn is_label(sentence: &str, is_new: &impl Fn(&str) -> bool) -> bool {
    let rest = sentence.trim_start_matches(|c: char| !crate::text::is_of_word(c));
    let Some(word) = words_of(rest).next().filter(|word| PHRASES.goals[2].contains(*word)) else { return false };
    let behind = rest[word.len()..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ' || c == '#');
    let is_numbered = rest[word.len()..].contains(|c: char| c.is_ascii_digit()) || PHRASES.goals[0].contains(word);
    behind.starts_with(MARKS) && is_numbered && is_new(word)
}

/// Whether what stands between brackets speaks of a goal or of who plays along, or is an instruction in square ones.
fn is_note(remark: &str, is_new: &impl Fn(&str) -> bool) -> bool {
    let is_meta = |word: &str| {
        (PHRASES.goals[0].contains(word) || PHRASES.goals[2].contains(word) || PHRASES.meta[0].contains(word))
            && is_new(word)
    };
    words_of(remark).nth(LEAST_IN_BRACKETS - 1).is_some() && !remark.ends_with('?') && words_of(remark).any(is_meta)
}
