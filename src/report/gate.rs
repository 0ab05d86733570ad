//! The rules of the gate with their figures, in words.

use super::comparison::{interval_text, signed};
use super::{Ink, Paint, beside_gate, count, duration, plain, two_decimals};
use crate::record::{
    BaselineFigure, BaselineOpen, BaselineUnshared, GateLine, GateRule, GateState, Overview, gate_lines,
};
use crate::score::{Decision, GateRules, RepeatsEnded, Score, VacuousGate};
use crate::statistics::{Estimate, false_alarms_by_uses};

/// So many cases that only one run has are named.
const NAMED: usize = 3;

/// The lines of a gate that has more rules than a least score, or a threshold that nothing was measured against.
pub(super) fn shown_lines(run: &Overview) -> Vec<GateLine<'_>> {
    let provenance = &run.summary.provenance;
    let is_plain = provenance.gate == GateRules::default()
        && provenance.until.is_none()
        && provenance.min_validity.is_none()
        && provenance.vacuous != VacuousGate::Fail;
    let lines = gate_lines(run);
    let has_unmeasured = lines.iter().any(|line| matches!(line.rule, GateRule::Unmeasured(..)));
    if is_plain && !has_unmeasured { Vec::new() } else { lines }
}

/// The mark of a line, and its colour.
pub(super) fn mark(state: GateState) -> (&'static str, Paint) {
    match state {
        GateState::Kept => ("✓", Ink::good),
        GateState::NotBroken => ("·", Ink::unpainted),
        GateState::Broken => ("✕", Ink::bad),
        GateState::Undecided => ("?", Ink::unsure),
    }
}

/// A rule with its figure, and the model where there are several.
pub(super) fn line_text(line: &GateLine<'_>, is_one: bool) -> String {
    let model = line.model.filter(|_| !is_one).map(|model| format!("{}: ", plain(model))).unwrap_or_default();
    let open = if line.is_open_for_missing { "; open, since conversations have no score" } else { "" };
    format!("{model}{}{open}", rule_text(line))
}

fn rule_text(line: &GateLine<'_>) -> String {
    match &line.rule {
        GateRule::MinScore(least, score) => {
            let score = score.map_or_else(|| "no score".to_owned(), |score| beside_gate(score, Some(*least)));
            format!("minScore {least}: {score}")
        }
        GateRule::Assertions(failed, conversations) => {
            let of = count(*conversations, "conversation");
            match failed {
                0 => format!("assertions all: none failed in {of}"),
                failed => format!("assertions all: {failed} failed in {of}"),
            }
        }
        GateRule::MaxFlake(most, _, 0) => format!("maxFlake {most}: no case was repeated with a score"),
        GateRule::MaxFlake(most, flaky, repeated) => {
            format!("maxFlake {most}: {flaky} of {} flip between repetitions", count(*repeated as usize, "case"))
        }
        GateRule::MinPassRate(least, _, 0) => format!("minPassRate {least}: no conversation passes or does not"),
        GateRule::MinPassRate(least, below, cases) if below.is_empty() => {
            format!("minPassRate {least}: none of {} passes less often", count(*cases, "case"))
        }
        GateRule::MinPassRate(least, below, cases) => {
            let shown: Vec<String> = below.iter().take(NAMED).map(|case| plain(case)).collect();
            let more = below.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let of = count(*cases, "case");
            let pass = if below.len() == 1 { "passes" } else { "pass" };
            format!("minPassRate {least}: {} of {of} {pass} less often ({}{more})", below.len(), shown.join(", "))
        }
        GateRule::LatencyP95(most, found) => {
            let few = match line.state {
                GateState::Undecided if !line.is_open_for_missing => {
                    ": so few replies don't show that more than 5 of 100 take longer"
                }
                _ => "",
            };
            let found = found.map_or_else(|| "no reply was timed".to_owned(), |found| latency_text(found) + few);
            format!("latencyP95 {most}: {found}")
        }
        GateRule::Unmeasured(threshold, metric) => {
            format!(
                "threshold {threshold} of {}: it applied to no conversation, so that nothing shows it met",
                plain(metric)
            )
        }
        GateRule::MinValidity(least, _, 0) => format!("minValidity {least}: no conversation with a persona was run"),
        GateRule::MinValidity(least, played, held) => {
            let share = two_decimals(*played as f64 / *held as f64);
            format!("minValidity {least}: the persona played its part in {played} of {held} ({share})")
        }
        GateRule::Vacuous(vacuous, held, cases) => {
            let held = match held {
                0 => String::new(),
                held => format!(", {held} held before the conversation"),
            };
            let cases = match cases {
                0 => String::new(),
                cases => format!(", {} in which nothing could have failed", count(*cases, "case")),
            };
            format!("vacuous fail: {}{held}{cases}", count(*vacuous, "vacuous assertion"))
        }
        GateRule::Until(most, ended, held) => until_text(*most, *ended, *held),
        GateRule::Baseline(allowed, name, check, figure) => {
            let run = check.and_then(|check| check.run.as_deref());
            let run = run.filter(|run| run != name).map(|run| format!(" ({})", plain(run))).unwrap_or_default();
            let rule = format!("baseline {}{run}, maxDrop {allowed}", plain(name));
            match (figure, check.and_then(|check| check.why_not.as_deref())) {
                (Some(figure), _) => {
                    let uses = check.and_then(|check| check.uses);
                    let uses = uses.map(|uses| uses_text(uses, figure, *allowed)).unwrap_or_default();
                    let state = if line.is_open_for_missing { GateState::NotBroken } else { line.state };
                    format!("{rule}: {}{uses}", figure_text(figure, state, *allowed))
                }
                (None, Some(why)) => format!("{rule}: {}", plain(why)),
                (None, None) if check.is_some() => format!("{rule}: it has no such model"),
                (None, None) => format!("{rule}: not compared"),
            }
        }
    }
}

/// How often a baseline was used, and what that does to false alarms; empty for its first use, and where it does next to nothing.
fn uses_text(uses: u32, figure: &BaselineFigure, allowed: f64) -> String {
    let Some(interval) = figure.interval.filter(|_| uses > 1) else { return String::new() };
    let half_width = (interval.high - interval.low) / 2.0;
    let share = 100.0 * false_alarms_by_uses(uses, (allowed / half_width).max(1.0));
    if share < 1.0 {
        return String::new();
    }
    format!("; run {uses} beside this baseline: up to {share:.0} of 100 baselines have raised a false alarm by then")
}

fn until_text(most: u32, ended: Option<RepeatsEnded>, held: usize) -> String {
    let Some(RepeatsEnded { repeats, decision }) = ended else {
        return match held {
            0 => format!("until decided: no repetition of {most} ran to its end"),
            _ => format!("until decided: cut off after {}, of {most} at most", count(held, "whole repetition")),
        };
    };
    let held = count(repeats as usize, "repetition");
    match decision {
        Decision::Decided => format!("until decided: after {held} of {most} at most"),
        Decision::MostHeld => format!("until decided: open after {held}, the most that may be run"),
        Decision::MoreCasesNeeded => {
            format!("until decided: open after {held}; no more of them would decide it, more cases would")
        }
    }
}

fn latency_text(found: Estimate) -> String {
    let time = |ms: f64| duration(ms / 1000.0);
    let interval = found.interval.map(|it| format!(" ({} to {})", time(it.low), time(it.high)));
    format!("{}{}", time(found.value), interval.unwrap_or_default())
}

fn figure_text(figure: &BaselineFigure, state: GateState, allowed: f64) -> String {
    let cases = count(figure.cases as usize, "case");
    let over = format!("over {} of {cases}", count(figure.pairs as usize, "pair"));
    let interval = figure.interval.map(|it| format!(" ({})", interval_text(it))).unwrap_or_default();
    let difference = match (figure.interval, figure.difference) {
        (None, difference) if difference.abs() < Score::HAIR => format!("no pair differs, {over}"),
        _ => format!("{}{interval} {over}", signed(figure.difference)),
    };
    let unshared = figure.unshared.as_ref().map(unshared_text).unwrap_or_default();
    let words = match state {
        GateState::Kept => format!("{difference}: shown to drop by less than {allowed}"),
        GateState::NotBroken => {
            let possible = figure
                .possible_drop
                .map(|drop| format!("; {cases} can't rule out one of up to {}", two_decimals(drop)));
            format!("{difference}: no drop of more than {allowed} is seen{}", possible.unwrap_or_default())
        }
        GateState::Undecided => format!("{difference}: {}", open_text(figure)),
        // The test is whether there is a drop at all; that it is larger is shown only where the whole interval is.
        GateState::Broken => match figure.interval {
            Some(interval) if interval.high >= -allowed => {
                format!("{difference}: shown to drop, and by more than {allowed} as far as can be told")
            }
            _ => format!("{difference}: shown to drop by more than {allowed}"),
        },
    };
    format!("{words}{unshared}")
}

/// Why nothing is said of a drop.
fn open_text(figure: &BaselineFigure) -> String {
    match figure.open {
        None => "too few to tell a drop from chance".to_owned(),
        Some(BaselineOpen::FewSharedCases { paired, all }) => {
            format!("only {paired} of the {all} cases of both runs have a pair with scores")
        }
        Some(BaselineOpen::MissingScores) => {
            let range = figure.with_missing.map(|it| format!(" ({} with them)", interval_text(it)));
            format!("conversations without a score could turn it around{}", range.unwrap_or_default())
        }
    }
}

/// The parts that are not compared with the baseline.
fn unshared_text(unshared: &BaselineUnshared) -> String {
    let named = |cases: &[String]| {
        let shown: Vec<String> = cases.iter().take(NAMED).map(|case| plain(case)).collect();
        let more = cases.len().saturating_sub(NAMED);
        format!("{}{}", shown.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
    };
    let BaselineUnshared { only_baseline, only_run, unpaired, without_score } = unshared;
    let mut parts = Vec::new();
    for (cases, which) in [(only_baseline, "of the baseline only"), (only_run, "of this run only")] {
        if !cases.is_empty() {
            parts.push(format!("{} {which} ({})", count(cases.len(), "case"), named(cases)));
        }
    }
    if *unpaired > 0 {
        parts.push(format!("{} without a counterpart", count(*unpaired as usize, "conversation")));
    }
    if *without_score > 0 {
        parts.push(format!("{} without a score", count(*without_score as usize, "pair")));
    }
    format!("; not compared: {}", parts.join(", "))
}
