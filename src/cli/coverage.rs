//! `eval-job coverage RUN…`

use std::path::Path;
use std::sync::Arc;

use super::args::CoverageArgs;
use super::context::Context;
use super::error::{CliError, FileArgument};
use super::invocation::Invocation;
use super::jobs;
use super::printer::Printer;
use super::stored::StoredCases;
use super::team;
use crate::coverage::{Coverage, CoverageSubject, CoveredConversation, Suite, difference};
use crate::grade;
use crate::job::Job;
use crate::record::Verdict;
use crate::report;
use crate::store::StoreError;
use crate::store::folder::RunsFolder;
use crate::tool_list::{Tool, read_tools};

/// The rounding error of a share in percent.
const HAIR: f64 = 1e-9;

/// Shows what the cases of runs touch. The status is 100 where that is less than was asked for, or than before.
pub(super) fn coverage(args: &CoverageArgs, context: &Context, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let mut tools = Vec::new();
    for path in &args.tools {
        tools.extend(tools_of(path, "eval-job coverage --tools")?.into_iter().map(|tool| tool.name));
    }
    let now = gather(&args.runs, &tools, Invocation { args, context, printer })?;
    let before = match args.against.is_empty() {
        true => None,
        false => Some(gather(&args.against, &tools, Invocation { args, context, printer })?),
    };
    let difference = before.map(|before| difference(&before, &now));
    match args.json {
        true => printer.data(&format!("{:#}\n", report::coverage_json(&now, difference.as_ref())))?,
        false => printer.data(&report::coverage(&now, difference.as_ref(), context.screen(args.verbose)))?,
    }
    // Without known parts of the agent no share can be computed.
    let is_under = args
        .fail_under
        .filter(|least| *least > 0.0)
        .is_some_and(|least| now.share().is_none_or(|share| share * 100.0 + HAIR < least));
    if let Some(least) = args.fail_under.filter(|_| is_under) {
        printer.note(&match now.share() {
            Some(_) => format!("less than {least} % is covered (--fail-under)"),
            None if !now.is_unlisted(CoverageSubject::Tool) => {
                format!("nothing is known that could be covered, so {least} % is not (--fail-under)")
            }
            None => {
                format!("only the calls that were seen are known, so {least} % is not (--fail-under); --tools FILE lists the tools")
            }
        });
    }
    let has_lost = difference.is_some_and(|difference| !difference.lost.is_empty());
    Ok(if is_under || has_lost { Verdict::GateFailed.exit_status() } else { 0 })
}

/// The tools that a file lists.
pub(super) fn tools_of(path: &Path, before: &'static str) -> Result<Vec<Tool>, CliError> {
    let argument = FileArgument { before, kind: "list of tools" };
    let unreadable = |source| CliError::Unreadable { path: path.to_path_buf(), source, argument };
    let text = jobs::text(path).map_err(unreadable)?;
    read_tools(&text).map_err(|error| CliError::InvalidTools { path: path.to_path_buf(), error })
}

/// The coverage of some runs; of the newest one where none is named.
fn gather(ids: &[String], tools: &[String], invocation: Invocation<'_, CoverageArgs>) -> Result<Coverage, CliError> {
    let Invocation { args, context, printer } = invocation;
    let store = RunsFolder::at(&args.runs_dir.runs_dir);
    let mut suite = Suite::default();
    suite.knows_tools(tools.iter().cloned());
    let newest = [None];
    let named: Vec<_> = ids.iter().map(|id| Some(id.as_str())).collect();
    let named = if named.is_empty() { &newest[..] } else { &named };
    team::bring(named, &args.runs_dir.runs_dir, context, printer)?;
    for id in named {
        let mut run = store.open_unattended(*id)?.with_redactor(context.redactor().clone());
        run.planned()?;
        let unreadable = |why: String| StoreError::Unreadable { path: run.path().to_path_buf(), why };
        let kept = run.job.as_deref().ok_or_else(|| unreadable("an earlier version kept it without its job".into()))?;
        let job = Job::restored(kept).map_err(|why| unreadable(format!("its job is not whole: {why}")))?;
        suite.run(&job);
        let cases = StoredCases::new(&job);
        run.read_with_texts(|trial| {
            let case = cases.case(&trial);
            if let Some(case) = case.as_ref().filter(|_| trial.case.is_some()) {
                suite.case(&job, case);
            }
            if let (Some(case), Some(evidence)) = (&case, &trial.evidence) {
                let input = grade::metric_input(&job, case, evidence, context.clock);
                suite.conversation(CoveredConversation {
                    job: &job,
                    case,
                    condition: trial.trial.condition,
                    evidence,
                    judged: Some((&input, &trial.judgements)),
                });
            }
            Ok(())
        })?;
        if let Some(note) = &run.note {
            printer.note(&format!("note: {note}"));
        }
    }
    Ok(suite.into_coverage())
}
