//! How often conversations pass, each by itself.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::TrialGroup;
use super::estimates::CaseGroups;
use crate::score::{pass_at_k, pass_hat_k_unbiased};
use crate::statistics::{Estimate, Share, Sums, rate};

/// The values of k for which pass@k and pass^k are shown.
const TRIES: [u32; 5] = [2, 3, 5, 10, 100];

/// How often conversations pass, each by itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Passes {
    /// How many conversations pass or do not.
    pub n: u32,
    /// How many pass.
    pub passed: u32,
    /// The share that passes, the mean over the cases, with Wilson's interval; over the conversations of a single case.
    pub rate: Estimate,
    /// How many cases were repeated, in any of their conditions.
    pub repeated: u32,
    /// How many of those pass in one repetition and not in another of the same condition and user.
    pub flaky: u32,
    /// pass@k and pass^k, the means over the cases that were repeated as often; of a single one up to half as many tries as there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<AttemptsFigure>,
}

/// The pass rates of several attempts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptsFigure {
    /// How many attempts.
    pub k: u32,
    /// The chance that at least one passes.
    pub pass_at_k: f64,
    /// The chance that all pass.
    pub pass_hat_k: f64,
}

/// The conversations of one case, one kind of user and one condition: how many pass or do not, and how many pass.
#[derive(Debug, Clone, Copy)]
struct Counted {
    case: usize,
    all: u32,
    passed: u32,
}

/// The passes of these cases; `None` where nothing is asked of them.
pub(super) fn of_cases(cases: &[CaseGroups<'_>]) -> Option<Passes> {
    let counted = |(case, groups): &CaseGroups<'_>| {
        let case = *case;
        let own: Vec<Counted> = groups
            .iter()
            .map(|group| Counted { case, all: group.decided, passed: group.passed })
            .filter(|counted| counted.all > 0)
            .collect();
        own
    };
    let groups: Vec<Counted> = cases.iter().flat_map(counted).collect();
    let repeated: Vec<Counted> = groups.iter().filter(|group| group.all > 1).copied().collect();
    Some(Passes {
        n: groups.iter().map(|group| group.all).sum(),
        passed: groups.iter().map(|group| group.passed).sum(),
        rate: rate(&shares(&groups))?,
        repeated: cases_of(&repeated, |_| true),
        flaky: cases_of(&repeated, |group| group.passed > 0 && group.passed < group.all),
        tries: pass_rates(&repeated),
    })
}

/// The share of a group's repetitions that pass, and pass@k and pass^k over them; nothing of a single one.
pub(super) fn of_group(group: &TrialGroup) -> (Option<Estimate>, Vec<AttemptsFigure>) {
    if group.decided < 2 {
        return (None, Vec::new());
    }
    let counted = [Counted { case: 0, all: group.decided, passed: group.passed }];
    (rate(&shares(&counted)), pass_rates(&counted))
}

/// How many cases have conversations of this kind.
fn cases_of(groups: &[Counted], is_one: impl Fn(&Counted) -> bool) -> u32 {
    groups.iter().filter(|group| is_one(group)).map(|group| group.case).collect::<BTreeSet<_>>().len() as u32
}

/// The mean over each case of what its kinds and conditions come to.
fn by_case(groups: &[Counted], of: impl Fn(&Counted) -> Option<f64>) -> BTreeMap<usize, Sums> {
    let mut cases: BTreeMap<usize, Sums> = BTreeMap::new();
    for group in groups {
        if let Some(value) = of(group) {
            cases.entry(group.case).or_default().add(value);
        }
    }
    cases
}

/// The share of each case, all of one weight; of a single case each conversation by itself.
fn shares(groups: &[Counted]) -> Vec<Share> {
    let all: u32 = groups.iter().map(|group| group.all).sum();
    let cases = by_case(groups, |group| Some(f64::from(group.passed) / f64::from(group.all)));
    if cases.len() == 1 {
        let passed: u32 = groups.iter().map(|group| group.passed).sum();
        return (0..all)
            .map(|at| Share { case: at as usize, hits: f64::from(u8::from(at < passed)), all: 1 })
            .collect();
    }
    // Independent conversations are worth as many as there are, not more.
    let each = (all / (cases.len() as u32).max(1)).max(1);
    let share =
        |(case, share): (&usize, &Sums)| Some(Share { case: *case, hits: share.mean()? * f64::from(each), all: each });
    cases.iter().filter_map(share).collect()
}

fn pass_rates(repeated: &[Counted]) -> Vec<AttemptsFigure> {
    let Some(least) = repeated.iter().map(|group| group.all).min() else { return Vec::new() };
    // With as many attempts as repetitions there is a single draw per case.
    let most = if by_case(repeated, |_| Some(0.0)).len() == 1 { least / 2 } else { least };
    let mut tries: Vec<u32> = TRIES.into_iter().filter(|k| *k <= most).collect();
    if most > 1 && !tries.contains(&most) {
        tries.push(most);
    }
    let mean = |of: &dyn Fn(u64, u64) -> Option<f64>| {
        let each = by_case(repeated, |group| of(group.all.into(), group.passed.into()));
        each.values().filter_map(Sums::mean).collect::<Sums>().mean().unwrap_or(f64::NAN)
    };
    let figure = |k: u32| AttemptsFigure {
        k,
        pass_at_k: mean(&|all, hits| pass_at_k(all, hits, k.into()).ok()),
        pass_hat_k: mean(&|all, hits| pass_hat_k_unbiased(all, hits, k.into()).ok()),
    };
    tries.into_iter().map(figure).collect()
}
