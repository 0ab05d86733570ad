//! The verdicts of all samples, each rating with its evidence looked at, and the score by all of them.

use super::super::judged::{SPREAD, Shown, is_mean_settled, spread, stood_before};
use super::QUESTION;
use super::question::shown;
use super::verdict::{JudgeVerdict, Rating};
use crate::evidence::{Judgement, Observed, Question};
use crate::metric::{MetricInput, ReplyError};
use crate::score::Component;

/// A verdict with its evidence checked.
pub(super) struct CheckedVerdict {
    pub(super) tasks: Vec<Result<Rating, UnusableRating>>,
    pub(super) tone: Option<Result<Rating, UnusableRating>>,
}

/// A rating can't be used: a sentence that can be sent back to the judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct UnusableRating(pub(super) String);

impl CheckedVerdict {
    fn new(verdict: JudgeVerdict, shown: Option<&Shown>) -> CheckedVerdict {
        let checked = |(name, rating): (String, Rating)| {
            let problem = shown.and_then(|shown| shown.problem_of(&name, &rating.citations, rating.score));
            problem.map_or(Ok(rating), |problem| Err(UnusableRating(problem)))
        };
        let numbered = |(rating, number): (Rating, usize)| checked((format!("task {number}"), rating));
        CheckedVerdict {
            tasks: verdict.tasks.into_iter().zip(1..).map(numbered).collect(),
            tone: verdict.tone.map(|tone| checked(("`tone`".to_owned(), tone))),
        }
    }
}

/// The judge that is no model.
const SCRIPTED: &str = "scripted";

/// Marks good scores for which nothing of the agent is quoted as unsupported. The scripted rules are exempt.
fn mark_unsupported(mut verdict: CheckedVerdict, judge: &str, shown: Option<&Shown>) -> CheckedVerdict {
    let Some(shown) = shown.filter(|_| judge != SCRIPTED) else { return verdict };
    for rating in verdict.tasks.iter_mut().flatten() {
        rating.reason += shown.mark(&rating.citations, rating.score);
    }
    verdict
}

pub(super) fn read(input: &MetricInput<'_>, question: &Question, raw: &str) -> Result<CheckedVerdict, ReplyError> {
    let verdict = JudgeVerdict::read(raw, input.tasks.len())?;
    match stood_before(&question.prompt, raw) {
        true => Err(ReplyError::Quoted),
        false => Ok(CheckedVerdict::new(verdict, shown(input).as_ref())),
    }
}

/// Why there is no verdict.
pub(super) enum MissingVerdict {
    /// The agent never replied.
    Silent,
    /// There is nothing to judge.
    NoTasks,
    /// The judge gave none.
    Missing(String),
}

/// The verdicts of all samples of which a majority can be read.
pub(super) struct Verdicts {
    read: Vec<CheckedVerdict>,
    /// Why the others can't be read.
    unread: Vec<UnusableRating>,
}

impl Verdicts {
    /// The score by all verdicts on one thing.
    pub(super) fn score<'v>(
        &'v self,
        rating: impl Fn(&'v CheckedVerdict) -> Result<&'v Rating, &'v UnusableRating>,
    ) -> Component {
        score_of_samples(self.read.iter().map(rating).chain(self.unread.iter().map(Err)))
    }
}

/// The verdicts of all samples. A majority of them can be read.
pub(super) fn verdicts(input: &MetricInput<'_>, judgements: &[Judgement]) -> Result<Verdicts, MissingVerdict> {
    if input.tasks.is_empty() {
        return Err(MissingVerdict::NoTasks);
    }
    if !input.transcript.has_reply() {
        return Err(MissingVerdict::Silent);
    }
    let shown = shown(input);
    let (mut read, mut why) = (Vec::new(), Vec::new());
    for judgement in judgements.iter().filter(|judgement| judgement.question == QUESTION) {
        match &judgement.reply {
            Observed::Failed(error) => why.push(error.clone()),
            Observed::Seen(raw) => match JudgeVerdict::read(raw, input.tasks.len()) {
                Ok(verdict) => {
                    let verdict = CheckedVerdict::new(verdict, shown.as_ref());
                    read.push(mark_unsupported(verdict, &judgement.judge, shown.as_ref()));
                }
                Err(error) => why.push(error.to_string()),
            },
        }
    }
    match (read.len(), why.as_slice()) {
        (0, []) => Err(MissingVerdict::Missing("the judge was not asked".to_owned())),
        (usable, why) => match enough(usable, why) {
            Ok(()) => Ok(Verdicts { read, unread: why.iter().cloned().map(UnusableRating).collect() }),
            Err(error) => Err(MissingVerdict::Missing(error.to_string())),
        },
    }
}

/// Fewer than a majority of the verdicts can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum TooFewVerdicts {
    /// None of them: why the first one can't.
    #[error("{0}")]
    Nothing(String),
    /// Some of them.
    #[error("only {usable} of {all} verdicts can be used: {first}")]
    TooFew { usable: usize, all: usize, first: String },
    /// Most of them, which differ so much that the others would have decided.
    #[error("{usable} of {all} verdicts can be used, and the others could have turned the result: {first}")]
    Apart { usable: usize, all: usize, first: String },
}

/// Whether a majority can be used: those that can't may have judged otherwise.
fn enough<S: ToString>(usable: usize, why: &[S]) -> Result<(), TooFewVerdicts> {
    match (usable, why) {
        (0, [why, ..]) => Err(TooFewVerdicts::Nothing(why.to_string())),
        (usable, [first, ..]) if usable <= why.len() => {
            Err(TooFewVerdicts::TooFew { usable, all: usable + why.len(), first: first.to_string() })
        }
        _ => Ok(()),
    }
}

/// The score by all samples of one rating.
///
/// Where some can't be used, the others must agree, unless those are too few to move the mean far: of two that differ, the third one
/// would have decided.
fn score_of_samples<'r>(samples: impl Iterator<Item = Result<&'r Rating, &'r UnusableRating>>) -> Component {
    let (mut usable, mut why) = (Vec::new(), Vec::new());
    samples.for_each(|sample| match sample {
        Ok(rating) => usable.push(rating),
        Err(problem) => why.push(problem),
    });
    let scores: Vec<f64> = usable.iter().map(|rating| rating.score.get()).collect();
    let is_apart = spread(&scores) > SPREAD;
    let is_open = !is_mean_settled(&scores, why.len());
    let apart = |first: &&UnusableRating| TooFewVerdicts::Apart {
        usable: usable.len(),
        all: usable.len() + why.len(),
        first: first.to_string(),
    };
    match enough(usable.len(), &why).and_then(|()| why.first().filter(|_| is_open).map_or(Ok(()), |it| Err(apart(it))))
    {
        Ok(()) => {
            let rating = Rating::mean(&usable);
            Component::scored(rating.score, rating.reason).unstable_if(is_apart)
        }
        Err(error) => Component::missing(error.to_string()),
    }
}
