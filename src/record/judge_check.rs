//! The judge beside the facts: its verdicts on tasks that assertions verify, and its mean corrected by them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::TrialGroup;
use crate::evidence::case_and_persona;
use crate::score::{Dimension, Score};
use crate::statistics::{Estimate, Pair, PreciseSum, Share, Unit, corrected, kappa, rate};

/// The judge's verdicts on one model's tasks beside what assertions verify.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgeCheck {
    /// The agent's model.
    pub model: String,
    /// How many verdicts are on tasks that were verified.
    pub verdicts: u32,
    /// How many cases these are of.
    pub cases: u32,
    /// How many more have no verdict, or could not be verified.
    pub missing: u32,
    /// The verdicts by what is true.
    pub confusion: Confusion,
    /// The judge's false-positive rate: the share of tasks not done that it calls done; `None` where all were done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_done: Option<Estimate>,
    /// Cohen's κ of judge and facts; `None` where one of them always says the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kappa: Option<Estimate>,
    /// The mean of all tasks, corrected by those that were verified.
    pub tasks: CorrectedTasks,
}

/// How many verdicts there are of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Confusion {
    /// Done, says the judge, and it was.
    pub done: u32,
    /// Done, says the judge, and it was not.
    pub falsely_done: u32,
    /// Not done, says the judge, and it was.
    pub falsely_not_done: u32,
    /// Not done, says the judge, and it was not.
    pub not_done: u32,
}

/// The mean of all tasks as the judge has it, and what the verified ones make of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CorrectedTasks {
    /// The mean of the judge's scores.
    pub judged: f64,
    /// The corrected mean; `None` where too few cases are verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Estimate>,
    /// Why it is not corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_corrected: Option<String>,
    /// How many cases have a verified task.
    pub verified_cases: u32,
    /// How many cases there are.
    pub all_cases: u32,
    /// Whether every task is verified, so that nothing is left to estimate.
    pub is_all_verified: bool,
    /// How many verified cases would halve the interval; `None` where it is not corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_halve: Option<u32>,
    /// How many standard errors lie between the judge's means of verified tasks and of the others; `None` where there are no
    /// others, or it is not corrected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imbalance: Option<f64>,
}

/// One task of a group, added up over its trials.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct TaskTally {
    /// How many verdicts there are, and the sum of their scores.
    judged: u32,
    judge_sum: PreciseSum,
    /// The same of those that were verified, by the four cells.
    verified_sum: PreciseSum,
    cells: Confusion,
    /// How many are verified and have no verdict, or the other way round.
    missing: u32,
}

impl TaskTally {
    fn add(&mut self, other: &TaskTally) {
        self.judged += other.judged;
        self.judge_sum.add_all(other.judge_sum);
        self.verified_sum.add_all(other.verified_sum);
        self.missing += other.missing;
        let (own, others) = (&mut self.cells, other.cells);
        own.done += others.done;
        own.falsely_done += others.falsely_done;
        own.falsely_not_done += others.falsely_not_done;
        own.not_done += others.not_done;
    }

    fn is_verified(&self) -> bool {
        self.cells.all() + self.missing > 0
    }
}

impl Confusion {
    /// How many verdicts there are.
    pub fn all(&self) -> u32 {
        self.done + self.falsely_done + self.falsely_not_done + self.not_done
    }

    fn add(&mut self, judge_says_done: bool, is_done: bool) {
        *match (judge_says_done, is_done) {
            (true, true) => &mut self.done,
            (true, false) => &mut self.falsely_done,
            (false, true) => &mut self.falsely_not_done,
            (false, false) => &mut self.not_done,
        } += 1;
    }
}

/// Takes in a trial's verdicts on its tasks.
pub(super) fn add(tallies: &mut Vec<TaskTally>, tasks: &Dimension) {
    if tallies.len() < tasks.items.len() {
        tallies.resize(tasks.items.len(), TaskTally::default());
    }
    for (tally, item) in tallies.iter_mut().zip(&tasks.items) {
        let judged = item.component.score().map(Score::get);
        let truth = item.verified.as_ref().map(|verified| verified.score());
        if let Some(score) = judged {
            tally.judged += 1;
            tally.judge_sum.add(score);
        }
        match (judged, truth) {
            (Some(score), Some(Some(truth))) => {
                let says_done = item.component.score().is_some_and(|score| tasks.pass_line().is_met(score));
                tally.verified_sum.add(score);
                tally.cells.add(says_done, truth == Score::ONE);
            }
            (_, Some(_)) => tally.missing += 1,
            (_, None) => {}
        }
    }
}

/// The judge of one model's trials beside the facts; `None` where nothing is verified.
pub(super) fn model_check<'a>(
    model: &str,
    groups: impl Iterator<Item = &'a TrialGroup>,
    personas: &[String],
) -> Option<JudgeCheck> {
    let cases = by_case(groups, personas);
    if !cases.iter().flatten().any(TaskTally::is_verified) {
        return None;
    }
    let mut confusion = TaskTally::default();
    cases.iter().flatten().for_each(|tally| confusion.add(tally));
    let of_cases =
        || cases.iter().enumerate().flat_map(|(case, tasks)| tasks.iter().map(move |task| (case, task.cells)));
    let falsely: Vec<Share> = of_cases()
        .map(|(case, cells)| Share {
            case,
            hits: f64::from(cells.falsely_done),
            all: cells.falsely_done + cells.not_done,
        })
        .collect();
    let pairs: Vec<Pair> = of_cases().flat_map(|(case, cells)| pairs(case, cells)).collect();
    let with_verdicts = cases.iter().filter(|tasks| tasks.iter().any(|task| task.cells.all() > 0)).count();
    Some(JudgeCheck {
        model: model.to_owned(),
        verdicts: confusion.cells.all(),
        cases: with_verdicts as u32,
        missing: confusion.missing,
        confusion: confusion.cells,
        false_done: rate(&falsely),
        kappa: kappa(&pairs),
        tasks: corrected_tasks(&cases),
    })
}

/// The tasks of each case, over its conditions and personas.
fn by_case<'a>(groups: impl Iterator<Item = &'a TrialGroup>, personas: &[String]) -> Vec<Vec<TaskTally>> {
    let mut cases: Vec<Vec<TaskTally>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for group in groups {
        let place = *places.entry(case_and_persona(&group.case, personas).0).or_insert_with(|| {
            cases.push(Vec::new());
            cases.len() - 1
        });
        let tasks = &mut cases[place];
        tasks.resize(tasks.len().max(group.tasks.len()), TaskTally::default());
        tasks.iter_mut().zip(&group.tasks).for_each(|(task, other)| task.add(other));
    }
    cases
}

fn pairs(case: usize, cells: Confusion) -> impl Iterator<Item = Pair> {
    let cells = [
        (1.0, 1.0, cells.done),
        (1.0, 0.0, cells.falsely_done),
        (0.0, 1.0, cells.falsely_not_done),
        (0.0, 0.0, cells.not_done),
    ];
    let pair = move |(judge, truth, count)| std::iter::repeat_n(Pair { case, judge, truth }, count as usize);
    cells.into_iter().flat_map(pair)
}

fn corrected_tasks(cases: &[Vec<TaskTally>]) -> CorrectedTasks {
    let unit = |case: usize, weight: f64, task: &TaskTally| {
        let verified = f64::from(task.cells.all());
        match task.cells.all() {
            0 => Unit { case, weight, judge: task.judge_sum.value() / f64::from(task.judged), truth: None },
            _ => {
                let done = f64::from(task.cells.done + task.cells.falsely_not_done);
                Unit { case, weight, judge: task.verified_sum.value() / verified, truth: Some(done / verified) }
            }
        }
    };
    let units = cases.iter().enumerate().flat_map(|(case, tasks)| {
        let judged: Vec<&TaskTally> = tasks.iter().filter(|task| task.judged > 0).collect();
        let weight = 1.0 / judged.len().max(1) as f64;
        judged.into_iter().map(move |task| unit(case, weight, task)).collect::<Vec<Unit>>()
    });
    let units: Vec<Unit> = units.collect();
    let cases_of = |is_one: &dyn Fn(&Unit) -> bool| {
        let mut cases: Vec<usize> = units.iter().filter(|unit| is_one(unit)).map(|unit| unit.case).collect();
        cases.dedup();
        cases.len() as u32
    };
    let weights: f64 = units.iter().map(|unit| unit.weight).sum();
    let result = corrected(&units);
    CorrectedTasks {
        judged: units.iter().map(|unit| unit.weight * unit.judge).sum::<f64>() / weights.max(f64::MIN_POSITIVE),
        corrected: result.ok().map(|it| it.mean),
        not_corrected: result.err().map(|error| error.to_string()),
        verified_cases: cases_of(&|unit| unit.truth.is_some()),
        all_cases: cases_of(&|_| true),
        is_all_verified: units.iter().all(|unit| unit.truth.is_some()),
        to_halve: result.ok().map(|it| it.to_halve as u32),
        imbalance: result.ok().and_then(|it| it.imbalance),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::{Component, Item, Weight};

    fn tasks(verdicts: &[(f64, Option<f64>)]) -> Dimension {
        let scored = |score: f64| Component::scored(Score::clamped(score), "");
        let item = |&(judge, truth): &(f64, Option<f64>)| Item {
            verified: truth.map(scored),
            ..Item::new("task", scored(judge))
        };
        Dimension {
            good_above: Score::new(0.6),
            items: verdicts.iter().map(item).collect(),
            ..Dimension::new("tasks", Weight::ONE, scored(0.5))
        }
    }

    fn group(case: usize, verdicts: &[(f64, Option<f64>)]) -> TrialGroup {
        let mut group =
            TrialGroup::empty(format!("case {case}"), "m".to_owned(), crate::evidence::Condition::WithoutFacts, 1);
        add(&mut group.tasks, &tasks(verdicts));
        group
    }

    fn check(groups: &[TrialGroup]) -> Option<JudgeCheck> {
        model_check("m", groups.iter(), &[])
    }

    #[test]
    fn a_lenient_judge_is_exposed() {
        let groups: Vec<TrialGroup> =
            (0..20).map(|case| group(case, &[(0.9, Some(f64::from(u8::from(case < 8)))), (0.9, None)])).collect();
        let check = check(&groups).unwrap();
        assert_eq!(check.confusion, Confusion { done: 8, falsely_done: 12, falsely_not_done: 0, not_done: 0 });
        assert_eq!((check.verdicts, check.cases, check.false_done.unwrap().value), (20, 20, 1.0));
        assert_eq!(check.kappa.unwrap().value, 0.0);
        let tasks = check.tasks;
        assert!((tasks.judged - 0.9).abs() < 1e-9);
        let corrected = tasks.corrected.unwrap();
        assert!((corrected.value - 0.4).abs() < 1e-9 && !corrected.interval.unwrap().covers(0.9), "{corrected:?}");
    }

    #[test]
    fn where_nothing_is_verified_there_is_nothing_to_say() {
        assert_eq!(check(&[group(1, &[(0.9, None)])]), None);
        assert_eq!(check(&[]), None);
    }

    #[test]
    fn few_verified_cases_are_counted_and_correct_nothing() {
        let groups: Vec<TrialGroup> = (0..3).map(|case| group(case, &[(0.9, Some(1.0)), (0.2, None)])).collect();
        let check = check(&groups).unwrap();
        assert_eq!((check.tasks.corrected, check.tasks.verified_cases, check.tasks.all_cases), (None, 3, 3));
        assert!(
            check
                .tasks
                .not_corrected
                .unwrap()
                .starts_with("that takes 10 cases of which the truth is known, and there are 3")
        );
        assert_eq!(check.false_done, None, "none was not done");
    }

    #[test]
    fn what_is_missing_is_counted_apart() {
        let mut dimension = tasks(&[(0.9, Some(1.0)), (0.9, Some(1.0))]);
        dimension.items[0].component = Component::missing("no verdict");
        dimension.items[1].verified = Some(Component::missing("the graph is down"));
        let mut group = group(1, &[]);
        add(&mut group.tasks, &dimension);
        let check = check(&[group]).unwrap();
        assert_eq!((check.verdicts, check.missing, check.kappa), (0, 2, None));
    }
}
