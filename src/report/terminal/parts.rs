//! Each task and each assertion, with what every trial made of it, and why.

use std::fmt::Write;

use super::super::{Ink, one_line, plain, two_decimals, wrapped};
use super::names;
use crate::record::RunRecord;
use crate::score::{Component, Dimension, Item, Score, Vacuity, Weight};

/// Columns of a mark.
const MARK: usize = 7;

/// Above this a task counts as good: Embabel's line.
const GOOD: f64 = 0.6;

/// Writes the tasks and the assertions of each case.
pub(super) fn parts(page: &mut String, record: &RunRecord, ink: Ink, width: usize) {
    let names = names(record);
    let mut cases: Vec<&str> = Vec::new();
    for trial in &record.trials {
        if !cases.contains(&trial.trial.case.as_str()) {
            cases.push(&trial.trial.case);
        }
    }
    for case in cases {
        for (dimension, title) in [("tasks", "Tasks"), ("assertions", "Assertions")] {
            let of = if names.tell_cases() { format!(" · {}", plain(case)) } else { String::new() };
            part(page, record, (case, dimension), &format!("{title}{of}"), (ink, width));
        }
    }
}

/// Writes the parts of one dimension of one case under a title; nothing where there are none.
fn part(
    page: &mut String,
    record: &RunRecord,
    (case, dimension): (&str, &str),
    title: &str,
    (ink, width): (Ink, usize),
) {
    let all_names = names(record);
    let trials: Vec<(String, &Dimension)> = record
        .provenance
        .models
        .iter()
        .flat_map(|model| record.trials_of(model))
        .filter(|trial| trial.trial.case == case)
        .filter_map(|trial| {
            Some((all_names.within_case(&trial.trial), trial.scorecard.as_ref()?.dimension(dimension)?))
        })
        .collect();
    let longest = trials.iter().map(|(_, dimension)| *dimension).max_by_key(|dimension| dimension.items.len());
    let Some(longest) = longest.filter(|dimension| !dimension.items.is_empty()) else { return };
    let names = trials.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let vacuous = record.vacuous_assertions();
    let _ = writeln!(page, "\n{}", ink.bold(title));
    for (index, item) in longest.items.iter().enumerate() {
        let weight = if item.weight == Weight::ONE { String::new() } else { format!(" × {}", item.weight.get()) };
        let label = one_line(&item.label, width.saturating_sub(12));
        let _ = writeln!(page, "  {}. {label}{}", index + 1, ink.dim(&weight));
        let holds = dimension == "assertions";
        let made_of_it: Vec<&Item> = trials.iter().filter_map(|(_, d)| d.items.get(index)).collect();
        if let Some(words) = doubt(holds && vacuous.contains(&(case, item.key())), &made_of_it) {
            let _ = writeln!(page, "     {}", ink.unsure(&wrapped(&words, width.saturating_sub(5).max(40), 5)));
        }
        for (name, component) in trials.iter().filter_map(|(name, d)| Some((name, &d.items.get(index)?.component))) {
            let indent = 5 + names + 2 + MARK + 2;
            let why = wrapped(component.why(), width.saturating_sub(indent).max(40), indent);
            let _ = writeln!(page, "     {name:<names$}  {}  {why}", mark(component, holds, ink));
        }
    }
}

/// What a reader must know of an assertion that may say nothing of the conversation.
fn doubt(vacuous: bool, items: &[&Item]) -> Option<String> {
    if vacuous {
        return Some("vacuous: it holds before the conversation too, and where there is nothing at all".to_owned());
    }
    let held = |item: &&&Item| matches!(item.vacuity, Some(Vacuity::Vacuous | Vacuity::HeldBefore));
    let held: Vec<&&Item> = items.iter().filter(held).collect();
    if !held.is_empty() {
        let counts = held.iter().all(|item| item.component.score() == Some(Score::ONE));
        let counts = if counts { ": it counts, for something has changed since" } else { "" };
        return Some(format!("held before the first word already{counts}"));
    }
    items.iter().find_map(|item| match &item.vacuity {
        Some(Vacuity::NotChecked { why }) => Some(format!("whether it can fail was not checked {}", plain(why))),
        _ => None,
    })
}

/// What a part came to, in seven characters.
fn mark(component: &Component, holds: bool, ink: Ink) -> String {
    match component {
        Component::Scored { score, .. } => {
            let (good, text) = match holds {
                true if score.get() == 1.0 => (true, "holds".to_owned()),
                true => (false, "fails".to_owned()),
                false => (score.get() > GOOD, two_decimals(score.get())),
            };
            let text = format!("{text:<MARK$}");
            if good { ink.good(&text) } else { ink.bad(&text) }
        }
        Component::NotApplicable { .. } => ink.dim("–      "),
        Component::Missing { .. } => ink.unsure("missing"),
    }
}
