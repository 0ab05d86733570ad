//! The cases that flip: run by the same rules, they pass in one repetition or night and fail in another.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Night, Passed};
use crate::evidence::Condition;

/// How many nights on each side of a single change of a case's result make it a change of the agent rather than a
/// flake.
const MIN_STABLE_NIGHTS: usize = 2;

/// A case of a model in one condition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FlakeKey {
    /// The agent's model.
    pub model: String,
    /// The case's id.
    pub case: String,
    /// The condition.
    pub condition: Condition,
}

/// A case that flips.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Flake {
    /// Which case.
    #[serde(flatten)]
    pub key: FlakeKey,
    /// How many of its conversations pass.
    #[serde(flatten)]
    pub passes: Passed,
    /// In how many nights it was run.
    pub nights: usize,
    /// In how many of them some repetitions pass and others fail.
    pub within: usize,
    /// How often all repetitions of a night come out otherwise than those of the night before.
    pub between: usize,
    /// The run with which it first flipped.
    pub since: String,
    /// When that one started.
    pub since_at: DateTime<Utc>,
    /// How it flips.
    pub pattern: FlakePattern,
}

/// How a case flips.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FlakePattern {
    /// Back and forth.
    Flips,
    /// It passed in all nights and fails in all since: more a change of the agent.
    FailsSince,
    /// It failed in all nights and passes in all since.
    PassesSince,
}

impl Flake {
    /// How often it flipped.
    pub fn flips(&self) -> usize {
        self.within + self.between
    }
}

/// The cases that flip in the nights that were run by these rules: those that flip first, most often first, then those that
/// came out otherwise once and for all.
pub fn flakes(nights: &[Night], rules: usize) -> Vec<Flake> {
    let mut results: BTreeMap<FlakeKey, Vec<(&Night, Passed)>> = BTreeMap::new();
    for night in nights.iter().filter(|night| night.rules == rules) {
        for model in &night.models {
            for case in &model.cases {
                for (condition, passes, _) in case.conditions.iter().filter(|(_, passes, _)| passes.of > 0) {
                    let (model, case, condition) = (model.model.clone(), case.case.clone(), *condition);
                    results.entry(FlakeKey { model, case, condition }).or_default().push((night, *passes));
                }
            }
        }
    }
    let mut flakes: Vec<Flake> = results.into_iter().filter_map(|(key, nights)| flake(key, &nights)).collect();
    flakes.sort_by_key(|flake| (flake.pattern != FlakePattern::Flips, std::cmp::Reverse(flake.flips())));
    flakes
}

/// The case, if it flips.
fn flake(key: FlakeKey, nights: &[(&Night, Passed)]) -> Option<Flake> {
    let is_mixed = |passes: &Passed| passes.passed > 0 && passes.passed < passes.of;
    let has_turned = |pair: &[(&Night, Passed)]| {
        let [(_, before), (_, after)] = pair else { return false };
        !is_mixed(before) && !is_mixed(after) && (before.passed == 0) != (after.passed == 0)
    };
    let within = nights.iter().filter(|(_, passes)| is_mixed(passes)).count();
    let turns: Vec<usize> =
        nights.windows(2).enumerate().filter(|(_, pair)| has_turned(pair)).map(|(place, _)| place + 1).collect();
    let mixed = nights.iter().position(|(_, passes)| is_mixed(passes));
    let first = mixed.into_iter().chain(turns.first().copied()).min()?;
    let pattern = match turns.as_slice() {
        [turn] if within == 0 && *turn >= MIN_STABLE_NIGHTS && nights.len() - turn >= MIN_STABLE_NIGHTS => {
            match nights[*turn].1.passed {
                0 => FlakePattern::FailsSince,
                _ => FlakePattern::PassesSince,
            }
        }
        _ => FlakePattern::Flips,
    };
    let sum = |of: fn(&Passed) -> u32| nights.iter().map(|(_, passes)| of(passes)).sum();
    Some(Flake {
        key,
        passes: Passed { passed: sum(|it| it.passed), of: sum(|it| it.of) },
        nights: nights.len(),
        within,
        between: turns.len(),
        since: nights[first].0.run.clone(),
        since_at: nights[first].0.started_at,
        pattern,
    })
}
