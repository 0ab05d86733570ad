//! A turn that is nearly the same as an earlier message: of the user, or of the agent.

use super::phrases::{List, PHRASES, is_sentence_end};
use super::scene::Scene;
use super::text_view::{Content, TextView};
use super::words::Script;
use super::{Fault, fault};
use crate::evidence::Role;

/// From this likeness on two questions of the agent are the same.
const SAME: f64 = 0.6;

/// From this one on the agent asks again at once.
const SAME_AGAIN: f64 = 0.8;

/// At least this share of an earlier message stands in one that repeats it.
const LEAST: f64 = 0.6;

/// The problem with a turn that is copied from the assistant.
pub(super) const COPIED: &str = "it says what the assistant said; react to it instead";

pub(super) fn find(scene: &Scene<'_>) -> Option<Fault> {
    let turn = scene.text();
    // A message that is too long has one fault, not two.
    if let Some(sentence) = repeated_sentence(turn).filter(|_| super::too_long::find(scene).is_none()) {
        return fault("it says the same sentence again and again in one message", sentence);
    }
    if let Some(sentence) = super::role_swap::copied_from_agent(scene) {
        return fault(COPIED, sentence);
    }
    if let Some(message) = copied_whole(scene) {
        return fault(COPIED, message);
    }
    if let Some(sentence) = mirrored(scene) {
        return fault(COPIED, sentence);
    }
    if super::stalled::is_stuck(scene) {
        return fault("it says the same again and again, and nothing about what it wants", &*turn.raw);
    }
    if let Some(quote) = quotes_itself(scene) {
        return fault("it quotes an earlier message of its own; react to the last reply instead", quote);
    }
    let agent = scene.last_agent()?;
    if turn.has(List::Objection) || agent.raw.trim().is_empty() || starts_over(scene, agent) {
        return None;
    }
    let closes = turn.only_closes();
    // Who is asked again says the last message again, and no other.
    let again = agent.has(List::AskAgain).then(|| scene.messages.len().saturating_sub(2));
    for (at, (role, earlier)) in scene.messages.iter().enumerate() {
        let question = at.checked_sub(1).map(|before| &scene.messages[before].1);
        let is_answered = || {
            scene.messages.get(at + 1).is_some_and(|(role, reply)| {
                *role == Role::Assistant && !reply.raw.trim().is_empty() && !reply.has(List::AskAgain)
            })
        };
        let is_same_question = || {
            at + 2 < scene.messages.len()
                && agent.asks()
                && question.is_some_and(|question| question.likeness(agent) >= SAME)
        };
        // "Sorry, where is it?"
        let is_asked_again = || agent.asks() && question.is_some_and(|question| question.likeness(agent) >= SAME_AGAIN);
        // By far the most messages end here.
        if *role != Role::User
            || again.is_some_and(|last| at >= last)
            || !closes && share(earlier, turn) < LEAST
            || !is_answered()
            || is_same_question()
            || is_asked_again()
        {
            continue;
        }
        let is_needless = || turn.plain().trim() == earlier.plain().trim() && says_needlessly(turn, agent);
        if is_needless()
            || repeats(turn, earlier, agent)
            || question.is_some_and(|it| answers_again(turn, earlier, it, agent))
        {
            return fault(
                "it says nearly the same as an earlier message; react to the last reply instead",
                &*earlier.raw,
            );
        }
    }
    None
}

/// An earlier message of the user's with which the turn begins, in quotation marks or behind the mark of a quotation. Who says "I
/// said" before it, objects, or was asked to say it again quotes with reason.
fn quotes_itself<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let plain = turn.plain();
    // A cheap test that rules most turns out.
    let (before, rest) = plain.split_once(['"', '>'])?;
    let end = if plain[before.len()..].starts_with('>') { rest.find('\n') } else { rest.find('"') };
    let quote = &rest[..end.unwrap_or(rest.len())];
    let view = TextView::new(quote);
    let is_asked = scene.last_agent().is_some_and(|agent| agent.has(List::AskAgain));
    if view.places().len() < LEAST_QUOTED
        || TextView::new(before).places().len() > MOST_BEFORE_QUOTE
        || PHRASES.has_first_person(before)
        || turn.has(List::Objection)
        || is_asked
    {
        return None;
    }
    let quote = quote.trim().trim_end_matches(is_sentence_end);
    scene.users().any(|user| user.plain().contains(quote) || user.likeness(&view) >= QUOTED).then_some(quote)
}

/// The fewest words of a quotation of oneself, the most words before it, and how alike it is to what was said.
const LEAST_QUOTED: usize = 5;
const MOST_BEFORE_QUOTE: usize = 3;
const QUOTED: f64 = 0.9;

/// The agent's last message, where the turn is nothing else.
fn copied_whole<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !crate::text::is_of_word(c)).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    let plain = turn.plain().trim();
    // A cheap test that rules most turns out.
    let agent = scene.last_agent().filter(|agent| agent.plain().trim().len().abs_diff(plain.len()) <= MOST_MARKS)?;
    let is_said_often = || turn.outside(&SAID_OFTEN).0 <= MOST_SAID_OFTEN;
    (words(agent.plain()) == words(plain) && !is_said_often() && !turn.is_quoted(0)).then_some(plain)
}

/// The most bytes by which two messages differ of which only the marks do.
const MOST_MARKS: usize = 3;

/// The most letters beside what both say often: "Yes, thank you", "Good morning".
const MOST_SAID_OFTEN: usize = 6;

/// The turn, where it is one long sentence of the assistant's but for a word or two: "we have …" for "you have …".
fn mirrored<'s>(scene: &'s Scene<'_>) -> Option<&'s str> {
    let turn = scene.text();
    let sentence = turn.plain().trim().trim_end_matches(is_sentence_end);
    if turn.places().len() < LEAST_MIRRORED || sentence.contains(is_sentence_end) || turn.asks() || turn.is_quoted(0) {
        return None;
    }
    let is_alike = |their: &str| TextView::new(their).likeness(turn) >= MIRRORED;
    let agent = scene.last_agent()?;
    agent.plain().split(is_sentence_end).any(is_alike).then_some(sentence)
}

/// The fewest words of a sentence that mirrors the other's, and how alike they are at least.
const LEAST_MIRRORED: usize = 8;
const MIRRORED: f64 = 0.85;

/// A sentence that stands in the turn at least three times.
fn repeated_sentence<'t>(turn: &'t TextView<'_>) -> Option<&'t str> {
    let sentences = || turn.plain().split(is_sentence_end).map(str::trim).filter(|it| it.len() >= LEAST_SENTENCE);
    // By far the most messages end here.
    sentences().nth(OFTEN - 1)?;
    sentences().find(|sentence| sentences().filter(|other| other == sentence).count() >= OFTEN)
}

/// How often a user says no sentence in one message, and the bytes that it has at least.
const OFTEN: usize = 3;
const LEAST_SENTENCE: usize = 12;

/// Whether the agent asks what it can do, as if the user had not said it: whoever says it again is no parrot.
fn starts_over(scene: &Scene<'_>, agent: &TextView<'_>) -> bool {
    let takes_up = |said: &TextView<'_>| said.weights().any(|(word, weight)| weight == 1.0 && agent.has_word(&word));
    agent.has(List::OpenQuestion) && scene.users().next_back().is_some_and(|said| !takes_up(said))
}

/// The words that say something, of one text and of another: what both have, what only the one and what only the other has.
pub(super) struct WordOverlap<'t> {
    pub(super) old: usize,
    pub(super) new: Vec<Content<'t>>,
    pub(super) gone: usize,
}

impl<'t> WordOverlap<'t> {
    pub(super) fn new(turn: &'t TextView<'_>, earlier: &[&TextView<'_>]) -> WordOverlap<'t> {
        let says = |(word, weight): &(Content<'_>, f64)| *weight == 1.0 && !PHRASES.task_words.contains_key(word.text);
        let is_in = |word: &Content<'_>| earlier.iter().any(|it| says_same(it, word));
        let (old, new): (Vec<_>, Vec<_>) =
            turn.weights().filter(says).map(|(word, _)| word).partition(|word| is_in(word));
        let gone = earlier[0].weights().filter(says).filter(|(word, _)| !says_same(turn, word)).count();
        WordOverlap { old: old.len(), new, gone }
    }
}

/// Whether a text has a word of the same stem or sense, or one with another beginning: "zahlt", "bezahlt".
fn says_same(text: &TextView<'_>, word: &Content<'_>) -> bool {
    let ends = |one: &str, other: &str| one.len() >= LEAST_OF_STEM && other.ends_with(one);
    text.has_word(word) || text.says(word) || text.words().any(|it| ends(it, word.text) || ends(word.text, it))
}

/// The fewest bytes of a word that another one ends with.
const LEAST_OF_STEM: usize = 5;

/// What users say again and again; and what may answer each question.
const SAID_OFTEN: [List; 4] = [List::Answer, List::Polite, List::Greeting, List::Goodbye];
const NO_ANSWER: [List; 3] = [List::Unknown, List::Unwilling, List::Vague];

/// Whether there is no reason to say the same again, however short it is: the agent asks nothing, or something to which it is no answer.
fn says_needlessly(turn: &TextView<'_>, agent: &TextView<'_>) -> bool {
    let asks = (agent.asks() || agent.has(List::Awaits)) && !agent.has(List::AnythingElse);
    let (outside, _) = turn.outside(&SAID_OFTEN);
    let is_no_answer = NO_ANSWER.into_iter().any(|list| turn.has(list));
    if asks {
        !is_no_answer && !is_answer(turn) && outside > 0
    } else {
        is_no_answer || !is_answer(turn) && outside > 0
    }
}

/// Whether the turn says what an earlier message says, and nothing else.
fn repeats(turn: &TextView<'_>, earlier: &TextView<'_>, agent: &TextView<'_>) -> bool {
    if turn.only_closes() {
        return turn.places().len() >= 3 && turn.likeness(earlier) >= 0.8;
    }
    let kept = share(earlier, turn);
    if is_answer(turn) {
        return false;
    }
    let WordOverlap { old, new, gone } = WordOverlap::new(turn, &[earlier]);
    let is_unspaced = turn.places().iter().any(|word| matches!(word.script, Script::Han | Script::Thai));
    let is_reply = new.iter().any(|word| word.has_digit() || agent.says(word));
    match (new.len(), gone) {
        (0, _) => old >= 2 && (kept >= 0.7 || !agent.asks()) || turn.places().len() >= 3 && kept >= 0.8,
        _ if is_unspaced => !is_reply && share(turn, earlier) >= 0.5 && parts(&new) + gone <= old,
        (_, 0) => !is_reply && (new.len() * 2 <= old || kept >= 0.95 && old >= 4 && new.len() <= old),
        _ if turn.has(List::Greeting) => !is_reply && new.len().max(gone) * 2 <= old,
        // The same sentence about something else, if one word stands for another.
        _ => !is_reply && new.len().max(gone) * 4 <= old,
    }
}

/// How many parts of two or four characters there are, of which a word with spaces around it counts three.
fn parts(words: &[Content<'_>]) -> usize {
    words.iter().map(|word| if matches!(word.script, Script::Han | Script::Thai) { 1 } else { 3 }).sum()
}

/// Whether the turn answers a question that was answered, instead of the one that the agent asks now.
fn answers_again(turn: &TextView<'_>, earlier: &TextView<'_>, question: &TextView<'_>, agent: &TextView<'_>) -> bool {
    if !(agent.asks() || agent.has(List::Awaits)) || !question.asks() || turn.asks() || share(earlier, turn) < 0.9 {
        return false;
    }
    let WordOverlap { old, new, .. } = WordOverlap::new(turn, &[earlier, question]);
    let is_reply = turn.weights().any(|(word, weight)| weight == 1.0 && agent.says(&word));
    old >= 2 && new.len() * 2 <= old && !is_reply && !new.iter().any(Content::has_digit)
}

/// How much of what a text says another one says too, from 0 to 1.
fn share(of: &TextView<'_>, within: &TextView<'_>) -> f64 {
    let (mut all, mut shared) = (0.0, 0.0);
    for (word, weight) in of.weights() {
        all += weight;
        if within.has_word(&word) {
            shared += weight;
        }
    }
    if all == 0.0 { 0.0 } else { shared / all }
}

/// Whether it is hardly more than yes or no.
pub(super) fn is_answer(turn: &TextView<'_>) -> bool {
    let (outside, all) = turn.outside(&[List::Answer, List::Polite]);
    turn.has(List::Answer) && outside <= 8 && all <= 30
}
