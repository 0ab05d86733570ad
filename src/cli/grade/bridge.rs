//! A stored run that is judged again by the job of another one, to be compared with it.

use super::super::args::{CommandChanges, CompareArgs, rebuilt_command};
use super::super::cache;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::invocation::Invocation;
use super::super::jobs::Loaded;
use super::super::run::runtime;
use super::again::Regrader;
use super::asking::{AskArgs, AskRequest, JudgeAnswers, JudgeSession};
use super::earlier::{EarlierAnswers, PendingWork, ReusePolicy};
use super::{kept_templates, listen, unreadable};
use crate::cassette::Cassette;
use crate::compare::Bridge;
use crate::job::{Job, Panel};
use crate::prompt::Templates;
use crate::record::TrialRecord;
use crate::run::AskingStopped;
use crate::store::StoredRun;
use crate::store::folder::JournalFile;

/// Judges the older run by the job of the newer, and hands on its conversations with their new scores. What was answered before
/// is not asked again. `None` where it was interrupted.
pub(in crate::cli) fn bridge(
    invocation: Invocation<'_, CompareArgs>,
    older: &mut JournalFile,
    newer: &mut JournalFile,
    mut each: impl FnMut(&TrialRecord),
) -> Result<Option<Bridge>, CliError> {
    let context = invocation.context;
    let by = newer.planned()?.summary.id;
    let loaded = job_of(newer, by.clone())?;
    let planned = older.planned()?;
    let kept = match &older.job {
        Some(job) => {
            Some(Job::restored(job).map_err(|why| unreadable(older, &format!("its job is not whole: {why}")))?)
        }
        None => None,
    };
    let kept = kept.map(|job| {
        let templates = kept_templates(older, &planned, &job);
        (job, templates)
    });
    let judges = loaded.job.judge.model.clone();
    let mut again =
        Regrader::new(&[], context, kept, Some(&loaded), &planned).ok_or_else(|| unreadable(older, "it has no job"))?;
    let before = older.read(|_, _| {})?;
    let judge = judges.to_string();
    // A run names the judges of a panel with spaces between them.
    let is_same_judge = before.summary.provenance.judge_model.replace(", ", ",") == judge;
    let mut bridge = Bridge {
        run: before.summary.id.clone(),
        by,
        judge: None,
        asked: 0,
        without_score: 0,
        stopped: None,
        kept: None,
    };
    let mut overview = planned.without_trials();
    let mut number = None;
    match answered(older, &again, &judge, is_same_judge)? {
        Answered::ByRun => {}
        Answered::By(known) => {
            if let Some(grading) = known.into_grading() {
                again.asked(grading, None);
            }
            bridge.judge = Some(judge);
        }
        Answered::InPart(known, left) => {
            let asking = session(invocation, judges)?;
            let rest = rebuilt_command(&context.typed, CommandChanges::default());
            let request = AskRequest { before: &before, elsewhere: Some(known), rest: &rest };
            let JudgeAnswers { number: taken, grading, stopped, prices, .. } =
                asking.ask(older, &mut again, request)?;
            asking.runtime.shutdown_background();
            (bridge.judge, bridge.asked, number) = (Some(judge), left.to_ask, Some(taken));
            overview.summary.provenance.judge_model.clone_from(&grading.judge);
            overview.summary.provenance.prices.extend(prices);
            match &stopped {
                Some(AskingStopped::Interrupted) => return Ok(None),
                Some(AskingStopped::LimitReached(why)) => overview.summary.limit_reached = Some(why.clone()),
                Some(AskingStopped::Refused(_)) | None => {}
            }
            if let Some(AskingStopped::LimitReached(why) | AskingStopped::Refused(why)) = &stopped {
                bridge.stopped = Some(why.clone());
            }
            again.asked(grading, stopped);
        }
    }
    let before = older.read_with_texts(|trial| {
        // What only the older job has is not compared.
        let had_score = trial.score().is_some() && again.case_of(&trial).is_some();
        let trial = again.grade(trial)?;
        overview.add(&trial);
        bridge.without_score += usize::from(had_score && trial.score().is_none());
        each(&trial);
        Ok(())
    })?;
    if let Some(number) = number {
        overview.ended_like(&before);
        overview.conclude();
        let kept = older.write_grading(number, &overview.summary)?;
        bridge.kept = Some(kept.display().to_string());
    }
    Ok(Some(bridge))
}

/// The session in which the judges of the newer job are asked.
fn session(invocation: Invocation<'_, CompareArgs>, judge: Panel) -> Result<JudgeSession<'_>, CliError> {
    let Invocation { args, context, printer } = invocation;
    Ok(JudgeSession {
        args: AskArgs {
            goes_on: ReusePolicy::WhereMissing,
            asked_by: "--bridge",
            job: None,
            max_concurrency: args.judging.max_concurrency,
            spend: args.judging.spend(),
            prices: args.prices.clone(),
        },
        context,
        printer,
        judge,
        runtime: runtime()?,
        signals: listen(printer)?,
        cassette: (Cassette::Off, Context::random()),
        cache: cache::open(args.cache, &args.runs_dir.runs_dir, context),
    })
}

/// The job of a run, with the templates that it was made with.
fn job_of(run: &mut JournalFile, id: String) -> Result<Loaded, CliError> {
    let planned = run.planned()?;
    let kept = run.job.as_ref().ok_or_else(|| unreadable(run, "an earlier version kept it without its job"))?;
    let job = Job::restored(kept).map_err(|why| unreadable(run, &format!("its job is not whole: {why}")))?;
    let templates = kept_templates(run, &planned, &job).unwrap_or_else(Templates::embedded);
    Ok(Loaded { file: format!("run {id}"), text: String::new(), job, templates, selection: None })
}

/// Where the answers to a job's questions about a run are.
enum Answered {
    /// All of them in the run itself.
    ByRun,
    /// All of them in one grading.
    By(EarlierAnswers),
    /// Some of them, or none.
    InPart(EarlierAnswers, PendingWork),
}

fn answered(run: &JournalFile, again: &Regrader<'_>, judge: &str, of_run: bool) -> Result<Answered, CliError> {
    let is_whole = |earlier: &EarlierAnswers| PendingWork::new(run, again, earlier).map(|left| left.to_ask == 0);
    // Where nothing is asked at all no answer is needed.
    let by_run = if of_run { EarlierAnswers::one(None) } else { EarlierAnswers::default() };
    if is_whole(&by_run)? {
        return Ok(Answered::ByRun);
    }
    for grading in run.gradings().filter(|grading| grading.judge == judge && grading.is_whole) {
        let earlier = EarlierAnswers::one(Some(grading));
        if is_whole(&earlier)? {
            return Ok(Answered::By(earlier));
        }
    }
    let earlier = EarlierAnswers::all(run, judge, of_run);
    let left = PendingWork::new(run, again, &earlier)?;
    Ok(Answered::InPart(earlier, left))
}
