//! Why single trials say nothing about the agent.

use crate::evidence::{Ending, Evidence};
use crate::record::TrialRecord;
use crate::report::count;
use crate::score::{Outcome, Weight};

/// Why a trial says nothing about the agent, or did not come to its own end; empty where it did.
pub(super) fn trouble(trial: &TrialRecord) -> String {
    let turns = trial.evidence.as_ref().map_or(0, |evidence| evidence.transcript.turns.len());
    let mut reasons = match &trial.outcome {
        Some(Outcome::AgentFailed { error }) if !missing(trial).is_empty() => {
            let why = trial.why_no_score().map(|why| format!(" ({why})")).unwrap_or_default();
            vec![format!("agent failed: {error}"), format!("no score: {} could not be determined{why}", missing(trial))]
        }
        Some(outcome) if outcome.error().is_some() => {
            vec![format!("{}: {}", outcome.label(), outcome.error().unwrap_or_default())]
        }
        // Why a part is missing stands beside the part.
        Some(_) if !missing(trial).is_empty() => {
            vec![format!("no score: {} could not be determined", missing(trial))]
        }
        _ => trial.why_no_score().into_iter().collect(),
    };
    if trial.outcome.is_none() && trial.started_at.is_some() {
        let pending = if trial.pending.is_some() { ", one message was on its way" } else { "" };
        reasons.push(format!("{} kept{pending}", count(turns, "turn")));
    }
    let is_silent = |evidence: &Evidence| !evidence.transcript.turns.is_empty() && !evidence.transcript.has_reply();
    if trial.outcome == Some(Outcome::Graded) && trial.evidence.as_ref().is_some_and(is_silent) {
        reasons.push("the agent never replied".to_owned());
    }
    let turns = count(turns, "turn");
    match trial.evidence.as_ref().map(|evidence| &evidence.ending) {
        Some(Ending::MaxTurns) => reasons.push(format!("the conversation was ended by maxTurns after {turns}")),
        Some(Ending::TimeLimit { seconds }) => {
            reasons.push(format!("the conversation was ended by limits.trial after {seconds} s and {turns}"));
        }
        _ => {}
    }
    if let (Some(Outcome::JudgeFailed { .. }), Some(Ending::AgentFailed { error })) =
        (&trial.outcome, trial.evidence.as_ref().map(|evidence| &evidence.ending))
    {
        reasons.push(format!("the agent had failed: {error}"));
    }
    without_session_id(&reasons.join("; "), trial)
}

/// The same text wherever a failure is the same: addresses may hold the id of the session.
pub(in crate::report) fn without_session_id(text: &str, trial: &TrialRecord) -> String {
    const SHORTEST: usize = 6;
    let id = trial.evidence.as_ref().map(|evidence| evidence.session_id.as_str());
    match id.filter(|id| id.len() >= SHORTEST) {
        Some(id) => without_id(text, id),
        None => text.to_owned(),
    }
}

/// The text with the id's place in its stead. An agent may call its session like a word of ours: such an id stands within an address or in
/// quotes.
fn without_id(text: &str, id: &str) -> String {
    if !id.chars().all(char::is_alphabetic) {
        return text.replace(id, "{sessionId}");
    }
    let mut cleared = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in text.match_indices(id) {
        let is_word = text[..at].chars().next_back().is_none_or(|c| c.is_whitespace() || c.is_alphanumeric());
        cleared.push_str(&text[from..at]);
        cleared.push_str(if is_word { id } else { "{sessionId}" });
        from = at + id.len();
    }
    cleared + &text[from..]
}

/// The counted dimensions of a trial that could not be determined.
fn missing(trial: &TrialRecord) -> String {
    let dimensions = trial.scorecard.iter().flat_map(|card| &card.dimensions);
    let missing: Vec<&str> = dimensions
        .filter(|dimension| dimension.weight > Weight::ZERO && dimension.component.is_missing())
        .map(|dimension| dimension.name.as_str())
        .collect();
    match missing.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => missing.concat(),
    }
}
