//! The basis of a verdict on a score, and the cases or repetitions that would decide it.

use super::{interval_text, looks_text, p_value_text};
use crate::compare::{ComparedScore, ComparisonRules, MOST_MORE, Needed, Relation};
use crate::report::numbers::count;
use crate::statistics::SamplingUnit;

/// The basis of the verdict, and what would decide it, a sentence each.
pub(super) fn reserves(score: &ComparedScore, rules: ComparisonRules) -> Vec<String> {
    let mut lines = Vec::new();
    match (score.over, score.degrees) {
        (Some(_), _) if score.interval.is_none() => {
            let units = if score.cases == 1 { "Two repetitions of one case" } else { "Two cases" };
            lines.push(format!("{units} have a single distance for a spread: there is no interval."));
        }
        (Some(SamplingUnit::Cases), _) => {
            lines.push(format!("Intervals are Student's t over {}.", count(score.cases as usize, "case")));
        }
        (Some(SamplingUnit::Repeats), _) => {
            lines.push(
                "Intervals are over the repetitions of this case only: they say nothing of other cases.".to_owned(),
            );
        }
        (None, _) if score.pairs == 1 => {
            lines.push("A single pair shows no spread: there is no interval.".to_owned());
        }
        (None, _) => lines.push("The pairs show no spread: there is no interval.".to_owned()),
    }
    if score.over.is_none() && score.cases == 1 && score.pairs > 1 {
        lines.push("All pairs are of one case: they say nothing of other cases.".to_owned());
    }
    if score.over.is_some() {
        let units = match score.over {
            Some(SamplingUnit::Repeats) => count(score.pairs as usize, "pair"),
            _ => count(score.cases as usize, "case"),
        };
        let least = if score.least_sign_flip_p > 0.05 {
            format!("; with {units} it can't be below {}", p_value_text(score.least_sign_flip_p))
        } else {
            String::new()
        };
        let flip = p_value_text(score.sign_flip_p);
        lines.push(match score.adjusted_p > score.p {
            true => format!(
                "By itself, not adjusted, p is {} by Student's t, and {flip} by the flip of signs{least}.",
                p_value_text(score.p)
            ),
            false => format!("By the flip of signs p is {flip}{least}."),
        });
    }
    if let Some(interval) = score.skewed_interval {
        lines.push(format!(
            "The cases' differences are skewed: by bootstrap-t the interval is {}.",
            interval_text(interval)
        ));
    }
    lines.extend(looks_text(rules));
    let effect = rules.min_effect;
    match score.relation {
        Relation::Same => lines.push(format!(
            "They are shown to differ by less than {effect} (p {}, two one-sided tests).",
            p_value_text(score.equivalence_p)
        )),
        Relation::Inconclusive => lines.extend(open_text(score, rules)),
        Relation::Better | Relation::Worse => {}
    }
    lines
}

/// Why it is inconclusive, and what would decide it.
pub(super) fn open_text(score: &ComparedScore, rules: ComparisonRules) -> Vec<String> {
    if score.is_open_for_missing(rules) {
        let range = score.with_missing.map(interval_text).unwrap_or_default();
        return vec![format!(
            "Conversations without a score could turn it around: with them the difference can be {range}. Hold them again: \
             eval-job run --retry-errors."
        )];
    }
    let mut lines = Vec::new();
    let effect = rules.min_effect;
    if score.adjusted_p <= rules.alpha {
        lines.push(format!("They differ, but nothing shows that it is by {effect}, the least that matters."));
    } else if score.alike_as_seen && !score.no_pair_differs {
        let units = match score.cases {
            1 => count(score.pairs as usize, "pair"),
            cases => count(cases as usize, "case"),
        };
        lines.push(format!(
            "These {units} differ by less than {effect}, but so few can't rule out a share of others that differ by more."
        ));
    }
    // The size of the suite that would be needed is known, and is not practical.
    if score.needed.is_none() && score.standard_error.is_some() {
        let units = if score.cases > 1 { "cases" } else { "repetitions of this case" };
        lines.push(format!(
            "The difference is too near to {effect}, the least that matters, for a suite of practical size to decide it: more than \
             {MOST_MORE} further {units} would be needed."
        ));
    } else {
        lines.push(needed_text(score.needed, score.standard_error.is_some() || score.pairs <= score.cases));
    }
    lines
}

/// How much more would decide it.
fn needed_text(needed: Option<Needed>, varies: bool) -> String {
    let cases = needed.and_then(|needed| needed.cases).map(|cases| count(cases as usize, "case"));
    let repeats = needed.and_then(|needed| needed.repeats).map(|repeats| format!("{repeats} repetitions of these"));
    let ways: Vec<String> = cases.into_iter().chain(repeats).collect();
    match (ways.is_empty(), varies) {
        (true, true) => {
            "Hold more cases, or each several times (--repeat): so few pairs don't tell how many it takes.".to_owned()
        }
        (true, false) => "Hold more cases: the pairs of these do not vary.".to_owned(),
        (false, _) => format!("About {} would decide it, if the difference is as it is seen here.", ways.join(", or ")),
    }
}
