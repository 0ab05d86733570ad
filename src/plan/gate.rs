//! Gates that no run could pass or fail, whatever the agent does.

use super::{Refusal, personas};
use crate::job::Job;

/// The fewest cases with which a sign-flip test can reach significance.
const MIN_CASES_FOR_SIGN_FLIP: usize = 6;

/// The requirements of a gate that the job can't meet.
pub(super) fn refusals(job: &Job) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut refuse = |key: &str, problem: &str, help: &str| refusals.push(Refusal::for_key(key, problem, help));
    if job.gate.max_drop.is_some() && job.gate.baseline.is_none() {
        refuse(
            "gate.maxDrop",
            "no baseline is named that the score could drop from",
            "gate.baseline: main, or --baseline main",
        );
    }
    if job.gate.max_flake.is_some() && job.repeat < 2 {
        refuse("gate.maxFlake", "no case is repeated, so that none can flip", "repeat: 3, or --repeat 3");
    }
    let is_asked = job.gate.min_score.is_some()
        || job.assertions().next().is_some()
        || job.metrics.iter().any(|metric| metric.threshold.is_some());
    if job.gate.max_flake.is_some() && !is_asked {
        refuse(
            "gate.maxFlake",
            "nothing says which conversation passes, so that none can flip",
            "gate.minScore: 0.8, or a metric's threshold",
        );
    }
    if job.gate.min_pass_rate.is_some() && !is_asked {
        refuse(
            "gate.minPassRate",
            "nothing says which conversation passes, so that no case can pass often enough",
            "gate.minScore: 0.8, or a metric's threshold",
        );
    }
    if job.gate.assertions.is_some() && job.assertions().next().is_none() {
        refuse("gate.assertions", "the job has no assertions", "leave it out, or say what must hold: assertions");
    }
    refusals
}

/// A warning where a comparison can't reach a verdict.
pub(super) fn warnings(job: &Job, models: &[String]) -> Option<String> {
    let what = match (&job.gate.baseline, models.len()) {
        (Some(_), _) => "gate.baseline",
        (None, 2..) => "the comparison of the models",
        _ => return None,
    };
    let cases = personas::cases_in_file(job);
    match (cases, job.repeat) {
        (1, 1) if job.cases.len() == 1 => Some(format!(
            "{what} can't come to a verdict: it compares one conversation a condition. Repeat it (--repeat 5), or add cases"
        )),
        (1, 2) if job.cases.len() == 1 => Some(format!(
            "{what} can't come to a verdict with two repetitions of one case, unless nothing differs: their spread is a single distance. \
             Repeat it more often (--repeat 5), or add cases"
        )),
        (2, _) => Some(format!(
            "{what} can't come to a verdict with two cases, unless nothing differs: their spread is a single distance. Add cases"
        )),
        (3..MIN_CASES_FOR_SIGN_FLIP, _) => Some(format!(
            "{what} rests on {cases} cases: only a large difference can be shown by so few. \
             From {MIN_CASES_FOR_SIGN_FLIP} cases on it can be shown without assuming how scores are distributed"
        )),
        _ => None,
    }
}
