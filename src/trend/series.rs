//! Nights that can be compared, and the changes of their level.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Night, NightModel};
use crate::evidence::Condition;
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
    /// How often each of its nights ran a case in a condition: a mean of more conversations is steadier, so that nights with another
    /// number could not have come in any order.
    pub repeats: u32,
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
    /// Whether it began with a night of which only some cases were run.
    is_selection: bool,
    cases: BTreeSet<&'a str>,
    nights: Vec<(&'a Night, f64)>,
    left_out: Vec<ExcludedRun>,
}

/// What nights of one series have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct SeriesKey {
    rules: usize,
    conditions: Vec<Condition>,
    repeats: u32,
}

/// The series of a model: one for each set of rules, of conditions, and number of repetitions, and a new one where the cases are others.
pub fn series(nights: &[Night], model: &str) -> Vec<Series> {
    let held = nights.iter().filter_map(|night| Some((night, night.model(model)?)));
    let mut of_keys: BTreeMap<SeriesKey, Vec<(&Night, &NightModel)>> = BTreeMap::new();
    // A night that was cut off has fewer repetitions than it was meant to have: it stands with those before it.
    let mut newest: BTreeMap<(usize, Vec<Condition>), u32> = BTreeMap::new();
    for (night, own) in held {
        let (rules, conditions) = (night.rules, own.conditions());
        let repeats = newest.entry((rules, conditions.clone())).or_insert(own.repeats);
        if night.is_whole() {
            *repeats = own.repeats;
        }
        of_keys.entry(SeriesKey { rules, conditions, repeats: *repeats }).or_default().push((night, own));
    }
    let all = of_keys.into_iter().flat_map(|(key, own)| {
        let gathered = gathered(own.into_iter()).into_iter();
        gathered.map(move |gathered| gathered.series(model, &key))
    });
    all.collect()
}

fn gathered<'a>(nights: impl Iterator<Item = (&'a Night, &'a NightModel)>) -> Vec<OpenSeries<'a>> {
    let mut all: Vec<OpenSeries<'a>> = Vec::new();
    for (night, model) in nights {
        let is_whole = night.is_whole();
        let has_all = !model.cases.is_empty() && model.cases.iter().all(|case| case.score.is_some());
        let is_selection = night.selection.is_some();
        if let Some(last) = all.last_mut() {
            let lacking = last.cases.iter().filter(|case| model.case(case).is_none()).count();
            let why = match lacking {
                _ if !is_whole || !has_all => Some(ExclusionReason::Incomplete),
                // Others may have left the job; these were left out of this night.
                1.. if is_selection => Some(ExclusionReason::LacksCases { lacking }),
                _ => None,
            };
            if let Some(why) = why {
                last.left_out.push(ExcludedRun { run: night.run.clone(), why });
                continue;
            }
            let is_wider = last.is_selection && !is_selection;
            if lacking == 0 && model.cases.len() < last.cases.len() * MANY_TIMES && !is_wider {
                last.add(night, model);
                continue;
            }
        }
        if is_whole && has_all {
            let cases = model.cases.iter().map(|case| case.case.as_str()).collect();
            let mut begun = OpenSeries { is_selection, cases, nights: Vec::new(), left_out: Vec::new() };
            begun.add(night, model);
            // A few nights of some cases, before the first whole one, are no series of their own.
            let is_trial =
                |last: &mut OpenSeries<'_>| last.is_selection && !is_selection && last.nights.len() < LEAST_VALUES;
            if let Some(last) = all.pop_if(is_trial) {
                begun.leave_out(last);
            }
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

    /// Leaves out the nights of a series of some of its cases.
    fn leave_out(&mut self, selection: OpenSeries<'a>) {
        let lacking = self.cases.difference(&selection.cases).count();
        let lacks = |(night, _): &(&Night, f64)| ExcludedRun {
            run: night.run.clone(),
            why: ExclusionReason::LacksCases { lacking },
        };
        self.left_out.extend(selection.nights.iter().map(lacks).chain(selection.left_out));
    }

    fn series(self, model: &str, key: &SeriesKey) -> Series {
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
            rules: key.rules,
            conditions: key.conditions.clone(),
            repeats: key.repeats,
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
