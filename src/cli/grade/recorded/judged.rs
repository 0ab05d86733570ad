//! A judge's answers about recorded conversations, which are part of their run from the beginning.

use std::path::Path;

use super::super::again::Regrader;
use super::super::asking::{AskRequest, JudgeAnswers, JudgeSession};
use super::super::rest;
use super::keeper::{KeepError, RecordedGrader};
use crate::evidence::AskedQuestion;
use crate::record::{Entry, TrialRecord};
use crate::run::AskingStopped;
use crate::store::StoredRun;
use crate::store::folder::JournalFile;

use super::super::super::error::CliError;

/// Asks about the conversations that wait for a judge, and ends their run. What can't be asked is graded without.
pub(super) fn ask_judge(
    keeper: &mut RecordedGrader<'_>,
    folder: &Path,
    asking: &JudgeSession<'_>,
) -> Result<(), KeepError> {
    let run = JournalFile::from_journal(folder, keeper.kept.journal());
    let mut run = run.with_redactor(keeper.context.redactor().clone());
    let before = run.read(|_, _| {}).map_err(|error| KeepError::Cli(error.into()))?;
    let own = (keeper.loaded.job.clone(), Some(keeper.loaded.templates.clone()));
    let again = Regrader::new(&keeper.args.weights, keeper.context, Some(own), None, &before);
    let again = again.ok_or_else(|| KeepError::Cli(CliError::Internal("a job was lost".to_owned())))?;
    let mut again = again.judged_by(&asking.judge);
    let mut failure = None;
    let mut is_judged = false;
    if !asking.is_interrupted() {
        let rest = rest(keeper.args, keeper.context, &before.summary.id, &[]);
        let request = AskRequest { before: &before, elsewhere: None, rest: &rest };
        match asking.ask(&run, &mut again, request) {
            Ok(JudgeAnswers { stopped: Some(AskingStopped::Interrupted), .. }) => {}
            Ok(JudgeAnswers { grading, stopped, .. }) => {
                if let Some(AskingStopped::LimitReached(why)) = &stopped {
                    let (at, why) = (keeper.context.clock.wall(), why.clone());
                    keeper.kept.append(Entry::LimitReached { at, why, wanted: None })?;
                }
                again.asked(grading, stopped);
                is_judged = true;
            }
            Err(error) => failure = Some(error),
        }
    }
    for trial in run.trials() {
        let mut trial = trial.map_err(|error| KeepError::Cli(error.into()))?;
        let Some(outcome) = keeper.waiting.remove(&trial.trial.number) else { continue };
        trial.outcome = Some(outcome);
        let trial = if is_judged { again.grade(trial) } else { Ok(without_judge(keeper, &again, trial)) };
        keep(keeper, trial.map_err(|error| KeepError::Cli(error.into()))?)?;
    }
    keeper.end(asking.is_interrupted())?;
    asking.runtime.block_on(keeper.kept.journal().synced())?;
    failure.map_or(Ok(()), |error| Err(KeepError::Cli(error)))
}

/// A trial as it is graded where no judge was asked.
fn without_judge(keeper: &RecordedGrader<'_>, again: &Regrader<'_>, trial: TrialRecord) -> TrialRecord {
    let case = again.case_of(&trial);
    let scorecard = case.zip(trial.evidence.as_ref()).map(|(case, evidence)| keeper.unjudged(&case, evidence));
    TrialRecord { scorecard, ..trial }
}

/// Keeps what a judge said of a trial, and how the trial came out.
fn keep(keeper: &mut RecordedGrader<'_>, record: TrialRecord) -> Result<(), KeepError> {
    let TrialRecord { trial, calls, questions, judgements, places, outcome, scorecard, .. } = record;
    let trial = trial.number;
    for call in calls {
        keeper.kept.append(Entry::ModelAsked { trial, number: None, call, set_aside: None })?;
    }
    let mut places = places.into_iter();
    for (question, judgement) in questions.into_iter().zip(judgements) {
        // It is rendered from the templates of the run.
        let question = Some(Box::new(AskedQuestion { prompt: None, ..question }));
        keeper.kept.append(Entry::Judged { trial, question, judgement, place: places.next() })?;
    }
    let Some(outcome) = outcome else { return Ok(()) };
    Ok(keeper.finish(trial, outcome, scorecard)?)
}
