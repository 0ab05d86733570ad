//! Nights that can be compared, and the changes of their level.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Night, NightModel};
use crate::evidence::Condition;
use crate::record::Verdict;
use crate::statistics::{Changes, Dated, Interval, LEAST_VALUES, Shift, Sums, changes, shift};

/// A night that holds so many times the cases of a series begins a new one.
const MANY_TIMES: usize = 2;

/// The range of a difference of two scores.
const POSSIBLE: Interval = Interval { low: -1.0, high: 1.0 };

/// Nights of one model that were run by the same rules and have the same cases, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Series {
    /// The agent's model.
    pub model: String,
    /// The number of the rules by which its nights were run.
    pub rules: usize,
    /// The conditions in which its nights were run.
    pub conditions: Vec<Condition>,
    /// How many cases it is over: those of its first night.
    pub cases: usize,
    /// The runs of its nights.
    pub runs: Vec<String>,
    /// The mean score over its cases, night by night.
    pub scores: Vec<f64>,
    /// The nights in between that are not used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<ExcludedRun>,
    /// The changes of its level, oldest first.
    pub changes: Vec<LevelChange>,
    /// How many nights there are since the last change was shown, or since its beginning.
    pub nights_since: usize,
    /// Whether so few nights can't show a change, however clear it is.
    pub too_few: bool,
    /// The evidence for a further change: how much more probable the order of these nights is with one; it is shown from 20 on.
    pub evidence: f64,
}

/// A run that a series excludes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExcludedRun {
    /// The run's id.
    pub run: String,
    /// The reason.
    #[serde(flatten)]
    pub why: ExclusionReason,
}

/// Why a run is excluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "why")]
pub enum ExclusionReason {
    /// A figure is missing: what broke says nothing of the agent.
    Incomplete,
    /// Only some of the series' cases were run.
    LacksCases {
        /// How many of them were not.
        lacking: usize,
    },
}

/// A change of the level of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LevelChange {
    /// The first run after it, which is the most probable one.
    pub since: String,
    /// When that one started.
    pub since_at: DateTime<Utc>,
    /// The run with which it was shown.
    pub shown_by: String,
    /// By how much.
    #[serde(flatten)]
    pub shift: Shift,
    /// How many nights are before it, back to the last change.
    pub nights_before: usize,
    /// How many nights are after it, up to the next change.
    pub nights_after: usize,
    /// How much more probable the order of the nights is with it.
    pub evidence: f64,
}

/// A series that is being put together.
struct OpenSeries<'a> {
    cases: BTreeSet<&'a str>,
    nights: Vec<(&'a Night, f64)>,
    left_out: Vec<ExcludedRun>,
}

/// The series of a model: one for each set of rules and of conditions, and a new one where the cases are others.
pub fn series(nights: &[Night], model: &str) -> Vec<Series> {
    let held: Vec<(&Night, &NightModel)> =
        nights.iter().filter_map(|night| Some((night, night.model(model)?))).collect();
    let kinds: BTreeSet<(usize, Vec<Condition>)> =
        held.iter().map(|(night, own)| (night.rules, own.conditions())).collect();
    let mut all = Vec::new();
    for (rules, conditions) in kinds {
        let own = held.iter().filter(|(night, own)| night.rules == rules && own.conditions() == conditions);
        let own = gathered(own.copied()).into_iter();
        all.extend(own.map(|gathered| Series { conditions: conditions.clone(), ..gathered.series(model, rules) }));
    }
    all
}

fn gathered<'a>(nights: impl Iterator<Item = (&'a Night, &'a NightModel)>) -> Vec<OpenSeries<'a>> {
    let mut all: Vec<OpenSeries<'a>> = Vec::new();
    for (night, model) in nights {
        let is_whole = !matches!(night.verdict, Verdict::Incomplete | Verdict::Interrupted);
        let has_all = !model.cases.is_empty() && model.cases.iter().all(|case| case.score.is_some());
        if let Some(last) = all.last_mut() {
            let lacking = last.cases.iter().filter(|case| model.case(case).is_none()).count();
            let why = match lacking {
                _ if !is_whole || !has_all => Some(ExclusionReason::Incomplete),
                // Others may have left the job; these were left out of this night.
                1.. if night.selection.is_some() => Some(ExclusionReason::LacksCases { lacking }),
                _ => None,
            };
            if let Some(why) = why {
                last.left_out.push(ExcludedRun { run: night.run.clone(), why });
                continue;
            }
            if lacking == 0 && model.cases.len() < last.cases.len() * MANY_TIMES {
                last.add(night, model);
                continue;
            }
        }
        if is_whole && has_all {
            let cases = model.cases.iter().map(|case| case.case.as_str()).collect();
            let mut begun = OpenSeries { cases, nights: Vec::new(), left_out: Vec::new() };
            begun.add(night, model);
            all.push(begun);
        }
    }
    all
}

impl<'a> OpenSeries<'a> {
    fn add(&mut self, night: &'a Night, model: &'a NightModel) {
        let scores = self.cases.iter().filter_map(|case| model.case(case)?.score);
        if let Some(mean) = scores.collect::<Sums>().mean() {
            self.nights.push((night, mean));
        }
    }

    fn series(self, model: &str, rules: usize) -> Series {
        let dated = |(night, value): &(&Night, f64)| Dated { value: *value, lot: tie_break(&night.run) };
        let Changes { found, since, evidence } = changes(&self.nights.iter().map(dated).collect::<Vec<_>>());
        let scores: Vec<f64> = self.nights.iter().map(|(_, score)| *score).collect();
        let change = |(place, point): (usize, &crate::statistics::ChangePoint)| {
            let end = found.get(place + 1).map_or(scores.len(), |next| next.since);
            let (before, after) = (&scores[point.from..point.since], &scores[point.since..end]);
            let first = self.nights[point.since].0;
            Some(LevelChange {
                since: first.run.clone(),
                since_at: first.started_at,
                shown_by: self.nights[point.shown_at].0.run.clone(),
                shift: shift(before, after, POSSIBLE)?,
                nights_before: before.len(),
                nights_after: after.len(),
                evidence: point.evidence,
            })
        };
        Series {
            model: model.to_owned(),
            rules,
            conditions: Vec::new(),
            cases: self.cases.len(),
            runs: self.nights.iter().map(|(night, _)| night.run.clone()).collect(),
            changes: found.iter().enumerate().filter_map(change).collect(),
            scores,
            left_out: self.left_out,
            nights_since: since,
            too_few: since < LEAST_VALUES,
            evidence,
        }
    }
}

/// The tie-breaker of a run, by which equal scores are ordered: always the same for a run, and as if drawn at random,
/// since its id is.
///
/// Source: FNV-1a, with the last step of SplitMix64.
fn tie_break(run: &str) -> u64 {
    let mut lot = run
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |lot, byte| (lot ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    lot = (lot ^ (lot >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    lot = (lot ^ (lot >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    lot ^ (lot >> 31)
}
