//! A run beside the baseline that its gate names.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::context::Context;
use super::super::error::CliError;
use super::read::ComparedRun;
use crate::cassette::Cassette;
use crate::compare::{BesideBaseline, RuleDifference, beside_baseline};
use crate::record::{BaselineCheck, Provenance};
use crate::score::{GateRules, Score};
use crate::store::Store;
use crate::store::folder::{JournalFile, RunsFolder, StoreError};

/// The most differences between runs that are listed.
const MAX_LISTED: usize = 3;

/// The check of a run against the baseline of its gate; `None` where it names none, and for a run that did not come to its end.
pub(in crate::cli) fn baseline_check(
    file: &mut JournalFile,
    runs_dir: &Path,
    context: &Context,
) -> Result<Option<BaselineCheck>, CliError> {
    let provenance = file.planned()?.summary.provenance;
    let GateRules { baseline: Some(name), .. } = &provenance.gate else { return Ok(None) };
    let run = ComparedRun::read(file)?;
    if !run.has_ended {
        return Ok(None);
    }
    let mut check = BaselineCheck { name: name.clone(), run: None, uses: None, why_not: None, models: Vec::new() };
    let mut opened = match RunsFolder::at(runs_dir).open(Some(name)) {
        Ok(opened) => opened.with_redactor(context.redactor().clone()),
        Err(error) if is_missing(&error) => {
            check.why_not = Some(format!("there is no baseline {name} in {} yet", runs_dir.display()));
            return Ok(Some(check));
        }
        Err(error) => {
            check.why_not = Some(error.to_string());
            return Ok(Some(check));
        }
    };
    let baseline = match ComparedRun::read(&mut opened) {
        Ok(baseline) => baseline,
        Err(error) => {
            check.why_not = Some(error.to_string());
            return Ok(Some(check));
        }
    };
    check.run = Some(baseline.id.clone());
    if baseline.is_damaged {
        let why = opened.note.as_deref().unwrap_or("its journal is damaged");
        check.why_not = Some(format!("it is damaged, so that nothing is shown beside it: {why}"));
        return Ok(Some(check));
    }
    if baseline.job != run.job {
        check.why_not = Some(format!(
            "it is a run of another job, {}: each job has a baseline of its own, by a name of its own (eval-job baseline set NAME RUN)",
            baseline.job
        ));
        return Ok(Some(check));
    }
    let (mut apart, mut models) = (Vec::new(), Vec::new());
    for (side, scores) in &run.models {
        let Some(theirs) = baseline.counterpart(side, &run) else { continue };
        apart = baseline.rules.differences(&run.rules, theirs, scores);
        if !apart.is_empty() {
            break;
        }
        models.push(BesideBaseline { model: &side.model, baseline: theirs, scores });
    }
    if apart.is_empty() {
        check.models = beside_baseline(&models, provenance.gate.allowed_drop(), provenance.rng_seed);
    }
    if !apart.is_empty() {
        check.why_not = Some(different_rules(&apart));
    } else if check.models.is_empty() {
        let names =
            |run: &ComparedRun| run.models.iter().map(|(side, _)| side.model.as_str()).collect::<Vec<_>>().join(", ");
        let (own, theirs) = (names(&run), names(&baseline));
        check.why_not = Some(match models.is_empty() && own != theirs {
            true => format!("its models have other names: {theirs} there, {own} here"),
            false => "no conversation of it has a counterpart with a score".to_owned(),
        });
    }
    if check.why_not.is_none() {
        check.uses = Some(1 + uses_before(&RunsFolder::at(runs_dir), &baseline.id, &run.id, &run.job));
    }
    Ok(Some(check))
}

/// How many runs of a job were compared with this baseline before this one. The newest of them has counted those before it.
fn uses_before(runs: &RunsFolder, baseline: &str, own: &str, job: &str) -> u32 {
    let names = runs.names().unwrap_or_default();
    let is_of = |name: &str, id: &str| name.ends_with(&format!("-{id}"));
    // Those from before the baseline can't have been compared with it.
    let later = names.iter().rev().take_while(|name| !is_of(name, baseline)).filter(|name| !is_of(name, own));
    let check = |name: &String| runs.baseline_check_of(name, job);
    later
        .filter_map(check)
        .find(|check| check.run.as_deref() == Some(baseline) && check.why_not.is_none())
        .map_or(0, |check| check.uses.unwrap_or(1))
}

/// The note of a recording that says how the run was beside its baseline.
const NOTE: &str = "baseline";

/// The check of a recorded run, and the drop that it allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RecordedCheck {
    check: BaselineCheck,
    max_drop: f64,
}

/// The recorded check, where a run of the same job by the same rule is replayed: who replays it need not have the baseline.
pub(in crate::cli) fn recorded_check(cassette: &Cassette, provenance: &Provenance) -> Option<BaselineCheck> {
    let header = cassette.replayed().and(cassette.header())?;
    let RecordedCheck { check, max_drop } = cassette.run_tape().noted(NOTE, None::<RecordedCheck>)?;
    let is_same = header.job_digest == provenance.job_digest
        && provenance.gate.baseline.as_ref() == Some(&check.name)
        && (max_drop - provenance.gate.allowed_drop()).abs() < Score::HAIR;
    is_same.then_some(check)
}

/// Notes the check in the recording of its run.
pub(in crate::cli) fn note_check(cassette: &Cassette, provenance: &Provenance, check: &BaselineCheck) {
    let recorded = RecordedCheck { check: check.clone(), max_drop: provenance.gate.allowed_drop() };
    cassette.run_tape().noted(NOTE, Some(recorded));
}

fn different_rules(differences: &[RuleDifference]) -> String {
    let named: Vec<String> =
        differences.iter().take(MAX_LISTED).map(|it| format!("{} ({} and {})", it.what, it.first, it.second)).collect();
    let more = differences.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("it was not run alike: {}{more}", named.join(", "))
}

/// The warning that a baseline has no run; `None` where it has one.
pub(in crate::cli) fn missing_baseline(name: &str, runs_dir: &Path) -> Option<String> {
    let try_words = format!("so that nothing will show a drop: eval-job baseline set {name} RUN names a run");
    match RunsFolder::at(runs_dir).find(Some(name)) {
        Err(error @ StoreError::BaselineDeleted { .. }) => Some(format!("{error}, {try_words}")),
        Err(error) if is_missing(&error) => {
            Some(format!("there is no baseline {name} in {} yet, {try_words}", runs_dir.display()))
        }
        _ => None,
    }
}

fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::NoSuchRun { .. } | StoreError::NoRuns { .. } | StoreError::NoSuchBaseline { .. })
}
