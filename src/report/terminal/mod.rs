//! The record for people: what the terminal shows after a run, from the whole to its reasons to the verdict.

mod conclusion;
mod parts;
mod table;
mod tokens;

use std::fmt::Write;

use super::{Ink, TrialNames, count, plain, two_decimals, wrapped};
use crate::evidence::{Ending, Observed};
use crate::record::{RunRecord, TrialRecord};
use crate::score::Weight;

/// The record as a page of text; `width` is where lines are cut that can be cut.
pub fn terminal(record: &RunRecord, ink: Ink, width: usize) -> String {
    let mut page = String::new();
    heading(&mut page, record, ink);
    table::table(&mut page, record, ink);
    parts::parts(&mut page, record, ink, width);
    troubles(&mut page, record, ink, width);
    refused(&mut page, record, ink, width);
    unwatched(&mut page, record, ink, width);
    left_out(&mut page, record, ink, width);
    tokens::tokens(&mut page, record, ink);
    conclusion::conclusion(&mut page, record, ink, width);
    page
}

/// One line a run, for `eval-job list`.
pub fn listing(record: &RunRecord, ink: Ink) -> String {
    let figures: Vec<String> = record
        .figures
        .iter()
        .map(|figure| figure.figure.score().map_or_else(|| "–".to_owned(), |score| two_decimals(score.get())))
        .collect();
    format!(
        "{}  {}  {:<11}  {:>5}  {}  {}",
        record.id,
        record.started_at.format("%Y-%m-%d %H:%M:%S"),
        record.verdict.word(),
        figures.join(" "),
        plain(&record.provenance.job),
        ink.dim(&plain(&record.provenance.models.join(", ")))
    )
}

fn heading(page: &mut String, record: &RunRecord, ink: Ink) {
    let provenance = &record.provenance;
    let file = ink.dim(&format!("({})", plain(&provenance.job_file)));
    let _ = writeln!(page, "{} {file}", ink.bold(&plain(&provenance.job)));
    let _ = writeln!(page, "agent    {} · model {}", plain(&provenance.agent), plain(&provenance.models.join(", ")));
    let _ = writeln!(page, "persona  {} · {}", plain(&provenance.persona), mind(&provenance.persona_model));
    let _ = writeln!(page, "judge    {}", mind(&provenance.judge_model));
    if let Some(graph) = &provenance.graph {
        let _ = writeln!(page, "graph    {}", plain(graph));
    }
}

fn mind(model: &str) -> String {
    match model {
        "scripted" => "scripted rules, not a language model".to_owned(),
        "script" => "the fixed lines of evaluator.script".to_owned(),
        model => plain(model),
    }
}

/// What the record's trials are called.
fn names(record: &RunRecord) -> TrialNames {
    TrialNames::new(record.trials.iter().map(|trial| &trial.trial))
}

/// What kept trials from saying something about the agent, or from coming to their own end: each once.
fn troubles(page: &mut String, record: &RunRecord, ink: Ink, width: usize) {
    let all_names = names(record);
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for trial in &record.trials {
        let (name, words) = (all_names.name(&trial.trial), trouble(trial));
        match found.iter_mut().find(|(known, _)| *known == words) {
            _ if words.is_empty() => {}
            Some((_, names)) => names.push(name),
            None => found.push((words, vec![name])),
        }
    }
    for (words, names) in found {
        // What an agent printed is read line by line.
        let mut lines = words.lines();
        let head = format!("{}: {}", names.join(", "), lines.next().unwrap_or_default());
        let _ = writeln!(page, "\n{}", ink.unsure(&wrapped(&head, width, 2)));
        for line in lines {
            let _ = writeln!(page, "  | {}", plain(line));
        }
    }
}

/// What kept a trial from that; empty where nothing did.
fn trouble(trial: &TrialRecord) -> String {
    let turns = trial.evidence.as_ref().map_or(0, |evidence| evidence.transcript.turns.len());
    let mut words = match &trial.outcome {
        Some(outcome) if outcome.error().is_some() => {
            vec![format!("{}: {}", outcome.word(), outcome.error().unwrap_or_default())]
        }
        // Why a part is missing stands beside the part.
        Some(_) if !missing(trial).is_empty() => {
            vec![format!("no score, for the {} could not be told", missing(trial))]
        }
        _ => trial.why_no_score().into_iter().collect(),
    };
    if trial.outcome.is_none() && trial.started_at.is_some() {
        let pending = if trial.pending.is_some() { ", one message was on its way" } else { "" };
        words.push(format!("{} kept{pending}", count(turns, "turn")));
    }
    match trial.evidence.as_ref().map(|evidence| &evidence.ending) {
        Some(Ending::MaxTurns) => {
            words.push(format!("the conversation was ended by maxTurns after {}", count(turns, "turn")))
        }
        Some(Ending::TimeLimit { seconds }) => {
            words.push(format!(
                "the conversation was ended by limits.trial after {seconds} s and {}",
                count(turns, "turn")
            ));
        }
        _ => {}
    }
    words.join("; ")
}

/// How often the agent refused requests because of our own other conversations.
fn refused(page: &mut String, record: &RunRecord, ink: Ink, width: usize) {
    let refusals = || record.trials.iter().filter_map(|trial| trial.refusals);
    let requests: u32 = refusals().map(|refusals| refusals.requests).sum();
    if requests > 0 {
        let open = refusals().map(|refusals| refusals.conversations).max().unwrap_or_default();
        let words = format!(
            "The agent refused {} (429){}: conversations were slowed down, and no refusal counts as a failure{}",
            count(requests as usize, "request"),
            if open > 1 { format!(" while up to {open} conversations were open") } else { String::new() },
            if open > 1 { ". target.maxConcurrency says how many it can hold at once" } else { "" },
        );
        let _ = writeln!(page, "\n{}", ink.unsure(&wrapped(&words, width, 2)));
    }
}

/// Why the graph could not be watched, once for each reason.
fn unwatched(page: &mut String, record: &RunRecord, ink: Ink, width: usize) {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for trial in &record.trials {
        let changes = trial.evidence.as_ref().and_then(|evidence| evidence.changes.as_ref());
        let Some(Observed::Failed(reason)) = changes else { continue };
        let name = names(record).name(&trial.trial);
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    for (reason, names) in reasons {
        let words = format!("The graph could not be watched ({}): {reason}", names.join(", "));
        let _ = writeln!(page, "\n{}", ink.unsure(&wrapped(&words, width, 2)));
    }
}

/// What the models of persona and judge were asked for and refuse, each once.
fn left_out(page: &mut String, record: &RunRecord, ink: Ink, width: usize) {
    let mut notes: Vec<(&str, &str)> = Vec::new();
    for trial in &record.trials {
        let persona = trial.evidence.iter().flat_map(|evidence| &evidence.persona_notes);
        let judge = trial.judgements.iter().flat_map(|judgement| &judgement.notes);
        let all = persona.map(|note| ("persona", note.as_str())).chain(judge.map(|note| ("judge", note.as_str())));
        for note in all {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    for (who, note) in notes {
        let _ = writeln!(page, "\n{}", ink.unsure(&wrapped(&format!("The {who}'s model: {note}"), width, 2)));
    }
}

/// The counted dimensions of a trial that could not be told.
fn missing(trial: &TrialRecord) -> String {
    let dimensions = trial.scorecard.iter().flat_map(|card| &card.dimensions);
    let missing: Vec<&str> = dimensions
        .filter(|dimension| dimension.weight > Weight::ZERO && dimension.component.is_missing())
        .map(|dimension| dimension.name.as_str())
        .collect();
    missing.join(" and ")
}
