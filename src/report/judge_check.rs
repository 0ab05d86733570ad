//! The judge beside the facts, in sentences that every report shows.

use super::calibration::{figure, percent};
use super::{count, two_decimals};
use crate::compare::MOST_MORE;
use crate::record::{CorrectedTasks, JudgeCheck, RunSummary};

/// From so many standard errors on the verified tasks are unlike the others, beyond what chance does in one of twenty runs.
pub(super) const UNLIKE: f64 = 2.0;

/// One model's verdicts beside the facts.
#[derive(serde::Serialize)]
pub(super) struct JudgeLines {
    /// Their heading.
    pub heading: String,
    /// The findings.
    pub facts: Vec<String>,
    /// Their limits.
    pub reserves: Vec<String>,
}

/// The sentences of a run; none where no task is verified.
pub(super) fn judge_lines(summary: &RunSummary) -> Vec<JudgeLines> {
    let is_one = summary.provenance.models.len() == 1;
    let lines = |check: &JudgeCheck| JudgeLines {
        heading: heading(check, is_one),
        facts: facts(check),
        reserves: reserves(check, summary.provenance.verified_at_random),
    };
    summary.judge_checks.iter().map(lines).collect()
}

fn heading(check: &JudgeCheck, is_one: bool) -> String {
    let model = if is_one { String::new() } else { format!(", {}", check.model) };
    let has_interval = check.kappa.or(check.false_done).is_some_and(|it| it.interval.is_some());
    let over = if has_interval {
        format!(" (95 % intervals over {})", count(check.cases as usize, "case"))
    } else {
        String::new()
    };
    format!("Judge beside the facts{model}{over}")
}

fn facts(check: &JudgeCheck) -> Vec<String> {
    let cells = check.confusion;
    let agreed = cells.done + cells.not_done;
    let kappa = check.kappa.map(|kappa| format!(", κ {}", figure(kappa))).unwrap_or_default();
    let verdicts = count(check.verdicts as usize, "verdict");
    let mut lines = Vec::new();
    if check.verdicts > 0 {
        let agree = if agreed == 1 { "agrees" } else { "agree" };
        lines.push(format!("{agreed} of {verdicts} on verified tasks {agree} with the assertions{kappa}"));
    }
    let not_done = cells.falsely_done + cells.not_done;
    if let Some(rate) = check.false_done {
        let falsely = cells.falsely_done;
        lines.push(format!("{falsely} of {not_done} that were not done passed as done: {}", percent(rate)));
    }
    if cells.falsely_not_done > 0 {
        let done = cells.falsely_not_done + cells.done;
        lines.push(format!("{} of {done} that were done did not pass", cells.falsely_not_done));
    }
    lines.extend(tasks(&check.tasks));
    lines
}

fn tasks(tasks: &CorrectedTasks) -> Option<String> {
    let corrected = tasks.corrected?;
    let judged = two_decimals(tasks.judged);
    if tasks.is_all_verified {
        return Some(format!("tasks: {judged} by the judge, {} by the facts", figure(corrected)));
    }
    let (verified, all) = (tasks.verified_cases, tasks.all_cases);
    let halved = match tasks.to_halve {
        Some(enough) if enough <= all => format!("; {enough} verified would halve the interval"),
        Some(enough) if enough as usize > all as usize + MOST_MORE as usize => {
            format!("; to halve the interval takes more than {MOST_MORE} further cases")
        }
        Some(enough) => format!("; to halve the interval takes {enough} cases, all verified"),
        None => String::new(),
    };
    Some(format!("tasks: {judged} by the judge, {} corrected by {verified} of {all} cases{halved}", figure(corrected)))
}

fn reserves(check: &JudgeCheck, is_random: bool) -> Vec<String> {
    let tasks = &check.tasks;
    let mut reserves = Vec::new();
    if check.missing > 0 {
        reserves.push(format!(
            "{} of verified tasks can't be compared: the verdict or the facts are missing",
            count(check.missing as usize, "verdict")
        ));
    }
    if check.cases == 1 {
        reserves.push("All are of one case: no interval says what another case would show".to_owned());
    }
    if tasks.is_all_verified {
        return reserves;
    }
    let too_few = tasks.not_corrected.as_ref().filter(|_| tasks.all_cases > 1);
    reserves.extend(too_few.map(|why| format!("The judge's mean of the tasks is not corrected by this: {why}")));
    if tasks.corrected.is_none() {
        return reserves;
    }
    let unlike = tasks.imbalance.filter(|errors| *errors > UNLIKE);
    let unlike = unlike.map(|errors| {
        format!(
            "the judge's scores of verified tasks and of the others lie {} standard errors apart",
            two_decimals(errors)
        )
    });
    match (is_random, unlike) {
        (true, None) => {}
        (true, Some(unlike)) => reserves.push(format!(
            "The verified cases are said to be drawn by lot, but {unlike}: the corrected mean may not hold for all"
        )),
        (false, None) => reserves.push(
            "The verified cases were chosen, not drawn by lot: the corrected mean holds for the others only if they are like these. Draw them, and say `scorer: {verifiedCases: random}`"
                .to_owned(),
        ),
        (false, Some(unlike)) => reserves.push(format!(
            "The verified cases were not drawn by lot, and {unlike}: the corrected mean does not hold for all"
        )),
    }
    reserves
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Confusion;
    use crate::statistics::{Estimate, Interval};

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }) }
    }

    fn check() -> JudgeCheck {
        JudgeCheck {
            model: "m".to_owned(),
            verdicts: 100,
            cases: 100,
            missing: 0,
            confusion: Confusion { done: 60, falsely_done: 9, falsely_not_done: 3, not_done: 28 },
            false_done: Some(estimate(0.243, 0.13, 0.4)),
            kappa: Some(estimate(0.74, 0.6, 0.88)),
            tasks: CorrectedTasks {
                judged: 0.7,
                corrected: Some(estimate(0.64, 0.55, 0.73)),
                not_corrected: None,
                verified_cases: 100,
                all_cases: 400,
                is_all_verified: false,
                to_halve: Some(380),
                imbalance: Some(0.4),
            },
        }
    }

    #[test]
    fn what_nobody_judged_is_not_counted() {
        let none = JudgeCheck {
            verdicts: 0,
            missing: 3,
            confusion: Confusion::default(),
            false_done: None,
            kappa: None,
            ..check()
        };
        assert!(facts(&none).iter().all(|line| !line.contains("0 of 0")), "{:?}", facts(&none));
        assert!(reserves(&none, true)[0].starts_with("3 verdicts of verified tasks can't be compared"));
    }

    #[test]
    fn the_facts_are_sentences() {
        assert_eq!(heading(&check(), false), "Judge beside the facts, m (95 % intervals over 100 cases)");
        assert_eq!(
            facts(&check()),
            [
                "88 of 100 verdicts on verified tasks agree with the assertions, κ 0.74 (0.60 to 0.88)",
                "9 of 37 that were not done passed as done: 24 % (13 to 40 %)",
                "3 of 63 that were done did not pass",
                "tasks: 0.70 by the judge, 0.64 (0.55 to 0.73) corrected by 100 of 400 cases; 380 verified would halve the interval",
            ]
        );
        assert_eq!(reserves(&check(), true), [""; 0]);
    }

    #[test]
    fn their_limits_are_stated() {
        let starts = |check: &JudgeCheck, is_random| reserves(check, is_random).concat();
        assert!(starts(&check(), false).starts_with("The verified cases were chosen, not drawn by lot"));
        let mut unlike = check();
        unlike.tasks.imbalance = Some(5.0);
        assert!(starts(&unlike, true).contains("5.00 standard errors apart: the corrected mean may not hold"));
        let mut few = check();
        (few.missing, few.cases) = (2, 1);
        (few.tasks.corrected, few.tasks.not_corrected) = (None, Some("3 are too few".to_owned()));
        assert_eq!(reserves(&few, false).len(), 3);
        few.tasks.all_cases = 1;
        assert_eq!(reserves(&few, false).len(), 2, "of one case it goes without saying");
        few.tasks.is_all_verified = true;
        assert_eq!(reserves(&few, false).len(), 2);
    }
}
