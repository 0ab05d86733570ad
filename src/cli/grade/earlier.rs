//! The answers of a judge from before it was stopped, or failed: it is not asked those questions again.

use super::again::{Regrader, can_be_judged};
use crate::evidence::{AskedQuestion, Judgement, Observed, Question};
use crate::record::{PlacedJudgement, TrialRecord};
use crate::run::StoredConversation;
use crate::store::folder::{Grading, JournalFile, RunsFolder};
use crate::store::{Store, StoreError, StoredRun};

/// The most checks that are looked through for one that was stopped.
const CHECKS: usize = 20;

/// Which answers of the same judge are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReusePolicy {
    /// Answers from before it was stopped. Failures of a judge that is itself checked are kept.
    WhereStopped,
    /// Answers from before it was stopped, also in the run itself; failures are asked again.
    WhereMissing,
}

/// The answers of a judge about the conversations of a run that are there already.
#[derive(Debug, Default)]
pub(super) struct EarlierAnswers {
    /// Gradings of which none is whole, the newest first.
    gradings: Vec<Grading>,
    /// Whether those of the run itself count too.
    of_run: bool,
    /// Answers about the same conversations, as they were kept with another run.
    elsewhere: Vec<(AskedQuestion, Judgement)>,
}

/// A conversation with what is left to ask about it, and what is answered.
pub(super) struct PendingQuestions {
    pub(super) conversation: StoredConversation,
    pub(super) answered: Vec<PlacedJudgement>,
}

/// How much there is to ask.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PendingWork {
    /// How many conversations there are questions about.
    pub(super) all: usize,
    /// About how many of them something is left to ask.
    pub(super) to_ask: usize,
    /// How many questions are answered.
    pub(super) answers: usize,
}

impl PendingWork {
    /// The questions left about a run.
    pub(super) fn new(
        run: &JournalFile,
        again: &Regrader<'_>,
        earlier: &EarlierAnswers,
    ) -> Result<PendingWork, StoreError> {
        let mut left = PendingWork::default();
        for trial in run.trials() {
            let Some(PendingQuestions { conversation, answered }) = earlier.rest(again, trial?)? else { continue };
            left.all += usize::from(!(conversation.questions.is_empty() && answered.is_empty()));
            left.to_ask += usize::from(!conversation.questions.is_empty());
            left.answers += answered.len();
        }
        Ok(left)
    }
}

impl EarlierAnswers {
    /// The answers of this judge since it last answered everything; `run_judge` is that of the run itself.
    pub(super) fn read(
        run: &JournalFile,
        judge: &str,
        goes_on: ReusePolicy,
        run_judge: &str,
    ) -> Result<EarlierAnswers, StoreError> {
        let is_missing = |grading: &Grading| match goes_on {
            ReusePolicy::WhereStopped => !grading.is_whole,
            ReusePolicy::WhereMissing => !grading.is_whole || grading.has_failures,
        };
        let mut earlier = EarlierAnswers::default();
        for grading in run.gradings().filter(|grading| grading.judge == judge) {
            if !is_missing(&grading) {
                return Ok(earlier);
            }
            earlier.gradings.push(grading);
        }
        // A run names the judges of a panel with spaces between them.
        if goes_on == ReusePolicy::WhereMissing && run_judge.replace(", ", ",") == judge {
            for trial in run.trials() {
                let trial = trial?;
                earlier.of_run |= can_be_judged(&trial) && (trial.outcome.is_none() || has_failed(&trial));
            }
        }
        Ok(earlier)
    }

    /// All answers of this judge about a run, whatever they were asked for; `of_run`: those of the run itself too.
    pub(super) fn all(run: &JournalFile, judge: &str, of_run: bool) -> EarlierAnswers {
        let gradings = run.gradings().filter(|grading| grading.judge == judge).collect();
        EarlierAnswers { gradings, of_run, elsewhere: Vec::new() }
    }

    /// The answers of one grading alone, or of the run itself without one.
    pub(super) fn one(grading: Option<Grading>) -> EarlierAnswers {
        EarlierAnswers { of_run: grading.is_none(), gradings: grading.into_iter().collect(), elsewhere: Vec::new() }
    }

    /// The grading that this is of.
    pub(super) fn into_grading(self) -> Option<Grading> {
        self.gradings.into_iter().next()
    }

    /// The answers of this judge in the newest checks of the same job and conversations, where they were stopped.
    pub(super) fn from_checks(
        checks: &RunsFolder,
        run: &JournalFile,
        judge: &str,
    ) -> Result<EarlierAnswers, StoreError> {
        let mut earlier = EarlierAnswers::default();
        for name in checks.names()?.iter().rev().take(CHECKS) {
            let Ok(mut other) = checks.open(Some(name)) else { continue };
            let is_same = other.path() != run.path() && other.planned().is_ok() && other.job == run.job;
            let Some(grading) = other.gradings().next().filter(|grading| is_same && grading.judge == judge) else {
                continue;
            };
            if grading.is_whole {
                break;
            }
            for trial in other.trials() {
                let regraded = grading.regraded(trial?.trial.number)?;
                earlier.elsewhere.extend(regraded.judgements);
            }
        }
        Ok(earlier)
    }

    /// The questions left about a trial; `None` where nothing can be asked about it.
    pub(super) fn rest(
        &self,
        again: &Regrader<'_>,
        trial: TrialRecord,
    ) -> Result<Option<PendingQuestions>, StoreError> {
        let mut known = Vec::new();
        for grading in &self.gradings {
            known.extend(grading.regraded(trial.trial.number)?.judgements);
        }
        if self.of_run {
            known.extend(again.first_answers(&trial));
        }
        let Some(mut conversation) = again.conversation(trial) else { return Ok(None) };
        let (mut answered, mut left) = (Vec::new(), Vec::new());
        for placed in conversation.questions {
            let is_its =
                |(asked, judgement): &&(AskedQuestion, Judgement)| is_answer(asked, judgement, &placed.question);
            match known.iter().chain(&self.elsewhere).find(is_its).cloned() {
                Some((asked, judgement)) => {
                    let (place, question) = (Some(placed.place), Some(Box::new(asked)));
                    answered.push(PlacedJudgement { place, question, judgement });
                }
                None => left.push(placed),
            }
        }
        conversation.questions = left;
        Ok(Some(PendingQuestions { conversation, answered }))
    }
}

fn has_failed(trial: &TrialRecord) -> bool {
    trial.judgements.iter().any(|judgement| matches!(judgement.reply, Observed::Failed(_)))
}

/// Whether this is a usable answer to the very same question.
fn is_answer(asked: &AskedQuestion, judgement: &Judgement, question: &Question) -> bool {
    asked.key() == question.key() && matches!(judgement.reply, Observed::Seen(_)) && asked.digest == question.digest()
}
