//! `eval-job coverage RUN…`

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

use super::args::CoverageArgs;
use super::context::Context;
use super::error::{CliError, FileArgument};
use super::jobs;
use super::printer::Printer;
use crate::coverage::{Coverage, Suite, difference, tools_in};
use crate::job::{Case, Job};
use crate::record::Verdict;
use crate::report;
use crate::store::folder::RunsFolder;
use crate::store::{Store, StoreError};

/// Shows what the cases of runs touch. The status is 100 where that is less than was asked for, or than before.
pub(super) fn coverage(args: &CoverageArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    let mut tools = Vec::new();
    for path in &args.tools {
        let argument = FileArgument { before: "eval-job coverage --tools", kind: "list of tools" };
        let unreadable = |source| CliError::Unreadable { path: path.clone(), source, argument };
        let text = jobs::text(path).map_err(unreadable)?;
        tools.extend(tools_in(&text).map_err(|error| CliError::InvalidTools { path: path.clone(), error })?);
    }
    let now = gather(&args.runs, &tools, (args, context, printer))?;
    let before = match args.against.is_empty() {
        true => None,
        false => Some(gather(&args.against, &tools, (args, context, printer))?),
    };
    let difference = before.map(|before| difference(&before, &now));
    match args.json {
        true => printer.data(&format!("{:#}\n", report::coverage_json(&now, difference.as_ref())))?,
        false => printer.data(&report::coverage(&now, difference.as_ref(), context.screen(args.verbose)))?,
    }
    let is_under = args.fail_under.is_some_and(|least| now.share().unwrap_or(1.0) * 100.0 < least);
    if let Some(least) = args.fail_under.filter(|_| is_under) {
        printer.note(&format!("less than {least} % is covered (--fail-under)"));
    }
    let has_lost = difference.is_some_and(|difference| !difference.lost.is_empty());
    Ok(if is_under || has_lost { Verdict::GateFailed.exit_status() } else { 0 })
}

/// What some runs touch; the newest one where none is named.
fn gather(
    ids: &[String],
    tools: &[String],
    (args, context, printer): (&CoverageArgs, &Context, &Printer),
) -> Result<Coverage, CliError> {
    let store = RunsFolder::at(&args.runs_dir.runs_dir);
    let mut suite = Suite::default();
    suite.knows_tools(tools.iter().cloned());
    let newest = [None];
    let named: Vec<_> = ids.iter().map(|id| Some(id.as_str())).collect();
    for id in if named.is_empty() { &newest[..] } else { &named } {
        let mut run = store.open(*id)?.with_redactor(context.redactor().clone());
        run.planned()?;
        let unreadable = |why: String| StoreError::Unreadable { path: run.path().to_path_buf(), why };
        let kept = run.job.as_deref().ok_or_else(|| unreadable("an earlier version kept it without its job".into()))?;
        let job = Job::restored(kept).map_err(|why| unreadable(format!("its job is not whole: {why}")))?;
        suite.run(&job);
        let cases: HashMap<&str, &Arc<Case>> = job.cases.iter().map(|case| (case.id.as_str(), case)).collect();
        run.read_with_texts(|trial| {
            // A run of many cases keeps each with its conversation.
            let own = trial.case.as_ref().and_then(|case| Case::deserialize(&**case).ok());
            if let Some(own) = &own {
                suite.case(&job, own);
            }
            let case = own.as_ref().or_else(|| cases.get(trial.trial.case.as_str()).map(|case| &***case));
            if let (Some(case), Some(evidence)) = (case, &trial.evidence) {
                suite.conversation((&job, case), &trial.trial, evidence);
            }
            Ok(())
        })?;
        if let Some(note) = &run.note {
            printer.note(&format!("note: {note}"));
        }
    }
    Ok(suite.into_coverage())
}
