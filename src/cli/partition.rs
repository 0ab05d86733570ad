//! Leaves the cases of one part in the planned jobs: `--partition 2/4`.

use super::planning::Planned;
use super::selection::CaseSelection;
use crate::plan::{Partition, SuiteCase, parts};
use crate::record::RunPart;
use crate::report::count;

/// Leaves only the cases of this part in the jobs, and only the jobs that have some. Returns a note for the user where jobs are
/// left out.
pub(super) fn keep_part(jobs: &mut Vec<Planned>, partition: Partition) -> Option<String> {
    let Partition { part, of } = partition;
    let suite: Vec<SuiteCase> = jobs.iter().flat_map(|planned| planned.plan.suite_cases()).collect();
    let part_of_case = parts(&suite, of);
    let in_all = sizes(&part_of_case, of);
    let (all, mut before) = (jobs.len(), 0);
    for planned in jobs.iter_mut() {
        let (cases, first_case) = (planned.plan.job.cases.len(), planned.plan.job.cases.first().cloned());
        let own = &part_of_case[before..before + cases];
        before += cases;
        let places: Vec<u32> = (0..).zip(own).filter(|(_, it)| **it == part).map(|(place, _)| place).collect();
        planned.plan.keep_cases(&places);
        let (whole, first_case) = match planned.selection.take() {
            Some(CaseSelection { text, first_case }) => (Some(text), Some(first_case)),
            None => (None, first_case),
        };
        let text = format!("{} of {}, by --partition {part}/{of}", places.len(), count(cases, "case"));
        let text = match &whole {
            _ if places.len() == cases => whole.clone(),
            None => Some(text),
            Some(whole) => Some(format!("{whole}; of these {text}")),
        };
        planned.selection = text.zip(first_case).map(|(text, first_case)| CaseSelection { text, first_case });
        let (cases, suite) = (sizes(own, of), in_all.clone());
        planned.part = Some(RunPart { number: part, of, places, cases, suite, selection: whole });
    }
    jobs.retain(|planned| !planned.plan.job.cases.is_empty());
    let left_out = all - jobs.len();
    let held = in_all.iter().filter(|cases| **cases > 0).count();
    match (jobs.is_empty(), left_out) {
        (true, _) => Some(format!(
            "nothing to run: part {part} of {of} is empty ({} in {})",
            count(suite.len(), "case"),
            count(held, "part")
        )),
        (false, 0) => None,
        (false, _) => Some(format!("{left_out} of {} left out: no case in part {part} of {of}", count(all, "job"))),
    }
}

/// How many cases each part has.
fn sizes(parts: &[u32], of: u32) -> Vec<u32> {
    (1..=of).map(|part| parts.iter().filter(|own| **own == part).count() as u32).collect()
}
