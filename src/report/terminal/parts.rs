//! Each task and each assertion, with what the trials made of it, and why.

use unicode_width::UnicodeWidthStr;

use super::super::gathered::{GatheredDimension, PartResult, PartRow};
use super::super::{Ink, Page, Paint, plain, two_decimals};
use super::Run;
use crate::score::{Component, PassLine, Weight};
use crate::statistics::Interval;

/// Columns of a mark.
const MARK: usize = 7;

/// Notes about an assertion that may not depend on the conversation.
pub(super) struct Doubt {
    /// In a sentence.
    pub(super) text: String,
    /// Whether it is shown also where parts that passed are folded.
    pub(super) is_serious: bool,
}

/// Writes the tasks and the assertions of each case.
pub(super) fn parts(page: &mut Page, run: &Run<'_>) {
    for case in run.overview.cases() {
        for dimension in &run.gathered.measured {
            write_dimension(page, run, case, dimension);
        }
    }
}

/// Writes the parts of one dimension of one case under its title; nothing where there are none.
fn write_dimension(page: &mut Page, run: &Run<'_>, case: &str, dimension: &GatheredDimension) {
    let parts = run.gathered.parts(case, &dimension.name);
    if parts.is_empty() {
        return;
    }
    let name = |group: usize| {
        let group = run.overview.groups.get(group);
        group.map_or_else(String::new, |group| run.names.group_within_case(group))
    };
    let groups = parts.iter().flat_map(|part| part.groups.iter());
    let names = groups.map(|(group, _)| name(group).width()).max().unwrap_or_default();
    let of = if run.names.tell_cases() { format!(" · {}", plain(case)) } else { String::new() };
    page.gap();
    page.paragraph(0, Ink::bold, &format!("{}{of}", dimension.title()));
    for (index, part) in parts.iter().enumerate() {
        page.lead(2, 5, (Ink::unpainted, &format!("{}.", index + 1)), (Ink::unpainted, &label(part)));
        if let Some(doubt) = doubt(run, case, dimension, part) {
            page.paragraph(5, Ink::unsure, &doubt.text);
        }
        for (group, made) in part.groups.iter() {
            let (paint, mark) = mark(made, dimension.holds, part.line);
            let why = why(made, dimension.holds, run);
            let mut lines = if dimension.is_block { why.split('\n').collect() } else { vec![why.as_str()] }.into_iter();
            let first = lines.next().unwrap_or_default();
            page.aligned(5, [(&name(group), names), (&mark, MARK)], paint, first);
            lines.for_each(|line| page.aligned(5, [("", names), ("", MARK + leading(line))], Ink::unpainted, line));
        }
    }
}

/// How many spaces a line begins with.
pub(super) fn leading(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A part's label, with its weight where that is not 1.
pub(super) fn label(part: &PartRow) -> String {
    let weight = if part.weight == Weight::ONE { String::new() } else { format!(" × {}", part.weight.get()) };
    format!("{}{weight}", part.label)
}

/// Notes about an assertion that may not depend on the conversation.
pub(super) fn doubt(run: &Run<'_>, case: &str, dimension: &GatheredDimension, part: &PartRow) -> Option<Doubt> {
    if dimension.holds && run.vacuous.contains(&(case, part.key.as_str())) {
        let words = "vacuous: it holds before the conversation too, and where there is nothing at all".to_owned();
        return Some(Doubt { text: words, is_serious: true });
    }
    match (part.held_before, &part.not_checked) {
        (Some(counts), _) => {
            let counts = if counts { ": it counts, for something has changed since" } else { "" };
            Some(Doubt { text: format!("held before the first word already{counts}"), is_serious: true })
        }
        (None, Some(why)) => {
            Some(Doubt { text: format!("whether it can fail was not checked {why}"), is_serious: false })
        }
        (None, None) => None,
    }
}

/// Why a part came out as it did; of several trials, why it did not always come out well.
fn why(made: &PartResult, holds: bool, run: &Run<'_>) -> String {
    match made.tally.component() {
        Some(component @ Component::Missing { .. }) if is_shown_once(made, run) => match made.tally.count() {
            1 => "see above".to_owned(),
            _ => format!("{}; see above", component.why()),
        },
        // The mark says how many held.
        _ if holds && made.tally.count() > 1 => {
            let whys = made.reasons().into_iter().map(str::to_owned).chain(missing_text(made));
            whys.collect::<Vec<_>>().join("; ")
        }
        Some(component) if made.tally.count() == 1 => component.why().to_owned(),
        Some(component) => {
            let reasons = made.reasons().join("; ");
            let all = match reasons.is_empty() {
                true => component.why().to_owned(),
                false => format!("{}{}: {reasons}", component.why(), interval(made)),
            };
            [all].into_iter().chain(missing_text(made)).collect::<Vec<_>>().join("; ")
        }
        None => String::new(),
    }
}

/// Why a part that has a score is missing in other trials.
fn missing_text(made: &PartResult) -> Option<String> {
    let why = made.missing().filter(|_| made.tally.scored > 0)?;
    Some(format!("missing in {} of {}: {why}", made.tally.missing, made.tally.count()))
}

/// The interval of a part's mean over its repetitions.
fn interval(made: &PartResult) -> String {
    let text = |it: Interval| format!(" ({} to {})", two_decimals(it.low), two_decimals(it.high));
    made.tally.interval().map(text).unwrap_or_default()
}

/// Whether all reasons of a part are among the troubles, which are shown once for all parts.
pub(super) fn is_shown_once(made: &PartResult, run: &Run<'_>) -> bool {
    let is_trouble = |reason: &&str| run.gathered.troubles.in_order().iter().any(|(words, _)| words.ends_with(reason));
    !made.reasons().is_empty() && made.reasons().iter().all(is_trouble)
}

/// The result of a part, in seven characters at most.
fn mark(made: &PartResult, holds: bool, line: PassLine) -> (Paint, String) {
    let several = made.tally.count() > 1;
    match made.tally.component() {
        Some(Component::Scored { score, .. }) => {
            let (good, text) = match (holds, score.get() == 1.0) {
                (true, good) if several => (good, format!("{}/{}", made.whole, made.tally.scored)),
                (true, true) => (true, "holds".to_owned()),
                (true, false) => (false, "fails".to_owned()),
                (false, _) => (line.is_met(score), two_decimals(score.get())),
            };
            (if good { Ink::good } else { Ink::bad }, text)
        }
        Some(Component::NotApplicable { .. }) | None => (Ink::dim, "–".to_owned()),
        Some(Component::Missing { .. }) => (Ink::unsure, "missing".to_owned()),
    }
}
