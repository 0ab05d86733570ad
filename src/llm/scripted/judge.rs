//! The scripted judge: a task's score is the share of the criteria's words and numbers that the agent stated.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::fact::Fact;
use super::findings::{CriteriaFindings, Facts, NOT_KNOWING, contains};
use super::tag::{self, MissingTag};
use super::words::{WordSet, asks, content_words, is_question, sentences};
use crate::evidence::Message;

/// The factor by which a refusal lowers a score.
const REFUSAL_FACTOR: f64 = 0.3;

/// The share of a task's words with which a user's message brings it up.
const BRINGS_UP: f64 = 0.5;

/// One message of the judged conversation.
struct JudgedLine {
    turn: Option<u32>,
    by_agent: bool,
    text: String,
}

/// The verdict, as the JSON that its prompt asks for.
pub(super) fn reply(messages: &[Message]) -> Result<String, MissingTag> {
    let prompt = messages.iter().map(|message| message.content.as_str()).collect::<Vec<_>>().join("\n");
    let tasks = tag::all(tag::last(&prompt, "tasks")?.inner, "task");
    let facts = tag::last(&prompt, "facts")?;
    let facts = Facts {
        known_to_user: facts.attribute("user-knew") != Some("no"),
        list: tag::all(facts.inner, "fact").iter().map(|fact| Fact::new(&fact.text())).collect(),
    };
    let lines: Vec<JudgedLine> = tag::all(tag::last(&prompt, "transcript")?.inner, "message")
        .iter()
        .map(|message| JudgedLine {
            turn: message.attribute("turn").and_then(|turn| turn.parse().ok()),
            by_agent: message.attribute("from") == Some("agent"),
            text: message.text(),
        })
        .collect();
    let asks = tasks.iter().map(|task| Ok(tag::last(task.inner, "ask")?.text())).collect::<Result<Vec<_>, _>>()?;
    let starts = starts(&asks, &lines);
    let mut verdicts: Vec<Value> = Vec::new();
    for (index, task) in tasks.iter().enumerate() {
        let criteria = tag::last(task.inner, "criteria")?.text();
        let end = starts[index + 1..].iter().flatten().next().copied().unwrap_or(lines.len());
        let (reason, score) = match starts[index] {
            None => ("The user never brought it up: no message of theirs matches it.".to_owned(), 0.0),
            Some(start) => verdict(&criteria, &lines[..end], start, &facts),
        };
        verdicts.push(rating(Some(index + 1), &lines, reason, score));
    }
    let (reason, score) = tone(&lines);
    Ok(json!({"tasks": verdicts, "tone": rating(None, &lines, reason, score)}).to_string())
}

/// A rating of a task or of the tone. The rules read every turn.
fn rating(index: Option<usize>, lines: &[JudgedLine], reason: String, score: f64) -> Value {
    let turns: BTreeSet<u32> = lines.iter().filter_map(|line| line.turn).collect();
    let mut rating = json!({"reason": reason, "quotes": [], "turnsRead": turns, "score": score});
    if let Some(index) = index {
        rating["index"] = index.into();
    }
    rating
}

/// For each task the user's message that brings it up, if any does. Tasks come in order.
fn starts(asks: &[String], lines: &[JudgedLine]) -> Vec<Option<usize>> {
    let mut from = 0;
    let mut start = |ask: &String| {
        let words = content_words(ask);
        let mut best: Option<(usize, usize)> = None;
        for (at, line) in lines.iter().enumerate().skip(from).filter(|(_, line)| !line.by_agent) {
            let set = WordSet::new(&line.text);
            let shared = words.iter().filter(|word| set.has(word)).count();
            let enough = shared > 0 && shared as f64 >= words.len() as f64 * BRINGS_UP;
            if enough && best.is_none_or(|(most, _)| shared > most) {
                best = Some((shared, at));
            }
        }
        from = best.map_or(from, |(_, at)| at + 1);
        best.map(|(_, at)| at)
    };
    asks.iter().map(&mut start).collect()
}

/// The verdict on one task. `lines` end where the next task begins; those from `start` on belong to this one.
fn verdict(criteria: &str, lines: &[JudgedLine], start: usize, facts: &Facts) -> (String, f64) {
    let Some(last) = lines[start..].iter().rfind(|line| line.by_agent) else {
        return ("The agent said nothing to it.".to_owned(), 0.0);
    };
    let of_agent = |lines: &[JudgedLine]| -> Vec<String> {
        lines.iter().filter(|line| line.by_agent).flat_map(|line| sentences(&line.text)).collect()
    };
    let mut statements = of_agent(&lines[start..]);
    statements.retain(|sentence| !is_question(sentence));
    let mut questions = of_agent(lines);
    questions.retain(|sentence| asks(sentence));
    let findings = CriteriaFindings::new(criteria, &statements.join("\n"), &questions, facts);
    let (mut reason, mut score) = (findings.to_string(), findings.share);
    let is_wanted = contains(criteria, EXPECTED_REFUSALS) || contains(criteria, NOT_KNOWING);
    if contains(&last.text, REFUSALS) && !is_wanted {
        score *= REFUSAL_FACTOR;
        reason += "; marked down, as the last reply refuses or reports a failure";
    }
    (reason + ".", hundredths(score))
}

const REFUSALS: &[&str] = &[
    "i can't",
    "i cannot",
    "i couldn't",
    "i won't",
    "unable to",
    "not able to",
    "not possible",
    "didn't understand",
    "don't understand",
    "failed to",
    "went wrong",
    "an error",
];

/// How criteria say that a refusal is what they want.
const EXPECTED_REFUSALS: &[&str] = &["can't", "cannot", "unable", "not able", "refuse", "decline"];

fn tone(lines: &[JudgedLine]) -> (String, f64) {
    let replies: Vec<WordSet> =
        lines.iter().filter(|line| line.by_agent).map(|line| WordSet::new(&line.text)).collect();
    if replies.is_empty() {
        return ("The agent said nothing.".to_owned(), 0.0);
    }
    let share = |words: &[&str]| {
        let count = replies.iter().filter(|reply| words.iter().any(|word| reply.has(word))).count();
        count as f64 / replies.len() as f64
    };
    let (polite, rude) = (share(POLITE), share(RUDE));
    let reason = format!(
        "{:.0} % of the replies have a polite turn of phrase, {:.0} % a rude one.",
        polite * 100.0,
        rude * 100.0
    );
    (reason, hundredths((0.6 + 0.4 * polite - rude).clamp(0.0, 1.0)))
}

const POLITE: &[&str] =
    &["please", "thank", "welcome", "sorry", "happy", "glad", "gladly", "sure", "certainly", "hello", "goodbye"];

const RUDE: &[&str] = &["stupid", "idiot", "shutup"];

fn hundredths(score: f64) -> f64 {
    (score * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests;
