//! `eval-job calibrate RUN…`

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::args::CalibrateArgs;
use super::context::Context;
use super::error::CliError;
use super::grade::{NamedRun, rejudge};
use super::invocation::Invocation;
use super::label::is_judged;
use super::printer::Printer;
use super::team;
use crate::calibration::{Calibration, Flips, Rejudged};
use crate::record::Verdict;
use crate::report::{self, terminal_json};
use crate::store::StoredRun;
use crate::store::folder::RunsFolder;

/// The note where the judge is asked again at temperature 0.
const ALIKE: &str = "note: the judge is asked again at temperature 0, where models answer nearly the same each time: flips and spread are of \
                     copies, and less than of a judge with scorer: {temperature: 0.7}";

/// Shows how far the judge of some runs can be believed. It is a look, so the status is 0 whatever is found; 102 where a judge was
/// to be asked again and not all of it could be, or most of what it said of a metric can't be used.
pub(super) fn calibrate(args: &CalibrateArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let store = RunsFolder::at(&args.runs_dir.runs_dir);
    let ids: Vec<Option<&str>> =
        if args.runs.is_empty() { vec![None] } else { args.runs.iter().map(|id| Some(id.as_str())).collect() };
    team::bring(&ids, &args.runs_dir.runs_dir, context, printer)?;
    let (mut calibration, mut checks, mut rejudged) = (Calibration::default(), Vec::new(), Rejudged::default());
    let (mut worst, mut known) = (Verdict::Passed, BTreeSet::new());
    for (place, id) in ids.into_iter().enumerate() {
        let mut run = store.open_unattended(id)?.with_redactor(context.redactor().clone());
        let name = run.path().to_path_buf();
        if !known.insert(name) {
            continue;
        }
        calibration.begin_run();
        let labels = run.labels()?;
        let personas = run.planned()?.summary.provenance.personas;
        let overview = run.read(|_, trial| calibration.add(trial, &labels, &personas, is_judged))?;
        for note in run.note.iter().chain(&run.damaged_labels) {
            printer.note(&format!("note: {note}"));
        }
        checks.push(overview.summary);
        if let Some(times) = args.repeat {
            let temperature =
                run.job.as_deref().and_then(|job| job.pointer("/scorer/temperature")).and_then(Value::as_f64);
            if times > 1 && temperature.unwrap_or_default() == 0.0 {
                printer.note(ALIKE);
            }
            let left = args.runs.get(place + 1..).unwrap_or_default();
            let verdict = rejudge(Invocation { args, context, printer }, NamedRun { run, left }, times, &mut rejudged)?;
            let verdict = verdict.unwrap_or(Verdict::Interrupted);
            worst = if verdict.exit_status() > worst.exit_status() { verdict } else { worst };
            if verdict == Verdict::Interrupted {
                break;
            }
        }
    }
    let (metrics, flips) = (calibration.figures(), rejudged.flips());
    if worst == Verdict::Passed && flips.iter().any(Flips::is_unusable) {
        worst = Verdict::Incomplete;
    }
    if args.json {
        let facts: Vec<_> = checks.iter().flat_map(|summary| &summary.judge_checks).collect();
        let json = serde_json::to_string_pretty(&json!({
            "metrics": metrics,
            "facts": facts,
            "again": flips,
            "spread": rejudged.spread_shares(),
        }))
        .map_err(|error| CliError::Internal(error.to_string()))?;
        printer.data(&format!("{}\n", terminal_json(&json)))?;
        return Ok(worst.exit_status());
    }
    if metrics.is_empty() && flips.is_empty() {
        return Err(CliError::NothingJudged);
    }
    let screen = context.screen(false);
    printer.data(&report::calibration(&metrics, &flips, rejudged.spread_shares(), screen))?;
    for summary in &checks {
        let page = report::judge_beside_facts(summary, screen);
        if !page.is_empty() {
            printer.data(&page.clone())?;
        }
    }
    Ok(worst.exit_status())
}
