//! Each task and each assertion, with what the trials made of it, and why.

use std::fmt::Write;

use super::super::gathered::{Made, Part};
use super::super::{Ink, one_line, plain, two_decimals, wrapped};
use super::Run;
use crate::score::{Component, Score, Weight};

/// Columns of a mark.
const MARK: usize = 7;

/// Writes the tasks and the assertions of each case.
pub(super) fn parts(page: &mut String, run: &Run<'_>) {
    let mut cases: Vec<&str> = Vec::new();
    for group in &run.overview.groups {
        if !cases.contains(&group.case.as_str()) {
            cases.push(&group.case);
        }
    }
    for case in cases {
        for (dimension, title) in [("tasks", "Tasks"), ("assertions", "Assertions")] {
            let of = if run.names.tell_cases() { format!(" · {}", plain(case)) } else { String::new() };
            part(page, run, (case, dimension), &format!("{title}{of}"));
        }
    }
}

/// Writes the parts of one dimension of one case under a title; nothing where there are none.
fn part(page: &mut String, run: &Run<'_>, (case, dimension): (&str, &str), title: &str) {
    let (parts, ink, width) = (run.gathered.parts(case, dimension), run.ink, run.width);
    if parts.is_empty() {
        return;
    }
    let name = |group: usize| {
        let group = run.overview.groups.get(group);
        group.map_or_else(String::new, |group| run.names.group_within_case(group))
    };
    let groups = parts.iter().flat_map(|part| part.groups.keys());
    let names = groups.map(|group| name(*group).chars().count()).max().unwrap_or_default();
    let vacuous = run.overview.doubts.vacuous();
    let _ = writeln!(page, "\n{}", ink.bold(title));
    for (index, part) in parts.iter().enumerate() {
        let weight = if part.weight == Weight::ONE { String::new() } else { format!(" × {}", part.weight.get()) };
        let label = one_line(&part.label, width.saturating_sub(12));
        let _ = writeln!(page, "  {}. {label}{}", index + 1, ink.dim(&weight));
        let holds = dimension == "assertions";
        if let Some(words) = doubt(holds && vacuous.contains(&(case, part.key.as_str())), part) {
            let _ = writeln!(page, "     {}", ink.unsure(&wrapped(&words, width.saturating_sub(5).max(40), 5)));
        }
        for (group, made) in &part.groups {
            let name = name(*group);
            let indent = 5 + names + 2 + MARK + 2;
            let why = wrapped(&why(made, holds, run), width.saturating_sub(indent).max(40), indent);
            let line = format!("     {name:<names$}  {}  {why}", mark(made, (holds, part.good_above), ink));
            let _ = writeln!(page, "{}", line.trim_end());
        }
    }
}

/// What a reader must know of an assertion that may say nothing of the conversation.
fn doubt(is_vacuous: bool, part: &Part) -> Option<String> {
    if is_vacuous {
        return Some("vacuous: it holds before the conversation too, and where there is nothing at all".to_owned());
    }
    match (part.held_before, &part.not_checked) {
        (Some(counts), _) => {
            let counts = if counts { ": it counts, for something has changed since" } else { "" };
            Some(format!("held before the first word already{counts}"))
        }
        (None, Some(why)) => Some(format!("whether it can fail was not checked {}", plain(why))),
        (None, None) => None,
    }
}

/// Why a part came out as it did; of several trials, why it did not always come out well.
fn why(made: &Made, holds: bool, run: &Run<'_>) -> String {
    match made.tally.component() {
        Some(component @ Component::Missing { .. }) if is_told_below(made, run) => match made.tally.count() {
            1 => "see below".to_owned(),
            _ => format!("{}; see below", component.why()),
        },
        // The mark says how many held.
        _ if holds && made.tally.count() > 1 => made.reasons.join("; "),
        Some(component) if made.tally.count() == 1 || made.reasons.is_empty() => component.why().to_owned(),
        Some(component) => format!("{}: {}", component.why(), made.reasons.join("; ")),
        None => String::new(),
    }
}

/// Whether the troubles, which are told once for all parts, say all that there is to say of this one.
fn is_told_below(made: &Made, run: &Run<'_>) -> bool {
    let is_told =
        |reason: &String| run.gathered.troubles.in_order().iter().any(|(words, _)| words.ends_with(reason.as_str()));
    !made.reasons.is_empty() && made.reasons.iter().all(is_told)
}

/// What a part came to, in seven characters.
fn mark(made: &Made, (holds, good_above): (bool, Option<Score>), ink: Ink) -> String {
    let several = made.tally.count() > 1;
    match made.tally.component() {
        Some(Component::Scored { score, .. }) => {
            let (good, text) = match (holds, score.get() == 1.0) {
                (true, good) if several => (good, format!("{}/{}", made.whole, made.tally.scored)),
                (true, true) => (true, "holds".to_owned()),
                (true, false) => (false, "fails".to_owned()),
                (false, _) => (good_above.is_none_or(|line| score > line), two_decimals(score.get())),
            };
            let text = format!("{text:<MARK$}");
            if good { ink.good(&text) } else { ink.bad(&text) }
        }
        Some(Component::NotApplicable { .. }) | None => ink.dim("–      "),
        Some(Component::Missing { .. }) => ink.unsure("missing"),
    }
}
