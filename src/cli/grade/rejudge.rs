//! The same conversations, judged several times: how often the judge's verdicts flip.

use super::super::args::{CalibrateArgs, CommandChanges, rebuilt_command};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::invocation::Invocation;
use super::super::label::is_judged;
use super::super::run::runtime;
use super::again::{self, Regrader};
use super::asking::{AskArgs, AskRequest, JudgeSession, SCORER_MODEL};
use super::earlier::ReusePolicy;
use super::{NamedRun, kept_templates, listen, unreadable};
use crate::cache::Cache;
use crate::calibration::{Rejudged, RejudgedTrial};
use crate::cassette::Cassette;
use crate::evidence::Judgement;
use crate::grade::{self, GradeInput};
use crate::job::Job;
use crate::record::Verdict;
use crate::run::AskingStopped;
use crate::store::StoredRun;

/// Has the conversations of a run judged so often again, and takes in what became of them; `None` where it was interrupted.
pub(in crate::cli) fn rejudge(
    invocation: Invocation<'_, CalibrateArgs>,
    named: NamedRun<'_>,
    times: u32,
    rejudged: &mut Rejudged,
) -> Result<Option<Verdict>, CliError> {
    let Invocation { args, context, printer } = invocation;
    let NamedRun { mut run, left } = named;
    let planned = run.planned()?;
    let kept = run.job.as_ref().ok_or_else(|| unreadable(&run, "an earlier version kept it without its job"))?;
    let mut kept = kept.clone();
    without_own_samples(&mut kept);
    let mut job = Job::restored(&kept).map_err(|why| unreadable(&run, &format!("its job is not whole: {why}")))?;
    let mut once = job.clone();
    (job.judge.samples, once.judge.samples) = (times, 1);
    let judge = args.scorer_model.clone().unwrap_or_else(|| job.judge.model.clone());
    once.judge.model.replace(&judge);
    if judge.is_scripted() {
        return Err(CliError::NothingJudged);
    }
    let templates = kept_templates(&run, &planned, &job);
    let mut again = Regrader::new(&[], context, Some((job, templates)), None, &planned)
        .ok_or_else(|| unreadable(&run, "it has no job"))?
        .judged_by(&judge);
    let asking = JudgeSession {
        args: AskArgs {
            goes_on: ReusePolicy::WhereStopped,
            asked_by: SCORER_MODEL,
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
        // What it said before shows nothing of how it varies.
        cache: Cache::OFF,
    };
    let before = run.read(|_, _| {})?;
    let runs: Vec<&str> = std::iter::once(&*before.summary.id).chain(left.iter().map(String::as_str)).collect();
    let rest = rebuilt_command(&context.typed, CommandChanges { runs: Some(&runs), ..CommandChanges::default() });
    let answers = asking.ask(&run, &mut again, AskRequest { before: &before, elsewhere: None, rest: &rest })?;
    asking.runtime.shutdown_background();
    if answers.stopped == Some(AskingStopped::Interrupted) {
        return Ok(None);
    }
    for trial in run.trials() {
        let trial = trial?;
        let (Some(case), Some(evidence)) = (again.case_of(&trial), &trial.evidence) else { continue };
        if !again::can_be_judged(&trial) {
            continue;
        }
        let given = answers.grading.regraded(trial.trial.number)?.judgements;
        let sample = |number: u32| -> Vec<Judgement> {
            let own = given.iter().filter(|(asked, _)| asked.sample == number);
            own.map(|(_, judgement)| Judgement { sample: 1, ..judgement.clone() }).collect()
        };
        let input = GradeInput { job: &once, case: &case, evidence, clock: context.clock };
        let cards: Vec<_> = (1..=times).map(|number| grade::grade(input, &sample(number))).collect();
        let run = &before.summary;
        let of_run = RejudgedTrial { trial: &trial.trial, run: &run.id, personas: &run.provenance.personas };
        rejudged.add(of_run, &cards, is_judged);
    }
    Ok(Some(if answers.stopped.is_some() { Verdict::Incomplete } else { Verdict::Passed }))
}

/// Metrics that say how often their judge is asked are asked as often as all others.
fn without_own_samples(job: &mut serde_json::Value) {
    let metrics = job["metrics"].as_array_mut().into_iter().flatten();
    for options in metrics.filter_map(serde_json::Value::as_object_mut).flat_map(|metric| metric.values_mut()) {
        if let Some(judging) = options.get_mut("judging").and_then(serde_json::Value::as_object_mut) {
            judging.remove("samples");
        }
    }
}
