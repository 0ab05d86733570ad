//! What can be measured of a trial: one folder a metric.
//!
//! Invariants: a metric never calls a model. It asks [`Question`]s, the runner carries them to the judge, and from what
//! comes back it scores purely, now and whenever the trial is graded again.

pub mod tasks;
pub mod timing;

use crate::evidence::{Condition, Judgement, Question, Transcript};
use crate::score::Dimension;

/// Something that can be measured.
pub trait Metric: Sync {
    /// Its name: questions and judgements are matched by it.
    fn name(&self) -> &'static str;

    /// What the judge is to be asked; nothing where the answer is plain without it.
    fn questions(&self, case: &Case) -> Vec<Question>;

    /// Whether a judge's raw reply can be used.
    ///
    /// # Errors
    /// What is wrong with it, in words that can be sent back to the judge.
    fn read(&self, case: &Case, raw: &str) -> Result<(), String>;

    /// What it came to, in one dimension or more.
    fn score(&self, case: &Case, judgement: Option<&Judgement>) -> Vec<Dimension>;
}

/// What a metric may know of a trial and its job.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The job's tasks, in order; never empty.
    pub tasks: Vec<CaseTask>,
    /// Which of the two conversations it was.
    pub condition: Condition,
    /// The conversation.
    pub transcript: Transcript,
    /// The judge's prompt, rendered; `None` when nothing is to be asked any more.
    pub judge_prompt: Option<String>,
    /// 0 to 2.
    pub judge_temperature: f64,
    /// The reply time in milliseconds that earns the full timing score.
    pub aspirational_average_ms: Option<u64>,
}

/// One task of the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTask {
    /// What the persona was to bring about.
    pub task: String,
    /// When it counts as done well.
    pub acceptance_criteria: String,
}
