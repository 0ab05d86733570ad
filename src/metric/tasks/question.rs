//! The question about all tasks and the tone.

use super::{QUESTION, verdict};
use crate::evidence::{Condition, Question, QuestionTo};
use crate::metric::MetricInput;
use crate::prompt::{JudgeView, JudgedTask, PromptError, Templates};

/// One question for all tasks; none where the agent never replied, for which no judge is needed.
pub(super) fn question(
    metric: &str,
    input: &MetricInput<'_>,
    templates: &Templates,
) -> Result<Vec<Question>, PromptError> {
    if input.tasks.is_empty() || !input.transcript.has_reply() {
        return Ok(Vec::new());
    }
    let judged = input.tasks.iter().map(|task| JudgedTask {
        kind: task.kind,
        task: task.task,
        criteria: task.acceptance_criteria,
    });
    let view = JudgeView {
        tasks: &judged.collect::<Vec<_>>(),
        facts: input.facts,
        user_knew_facts: input.condition == Condition::WithFacts,
        needs_quotes: input.judge.needs_evidence,
        transcript: input.transcript,
    };
    let rendered = templates.judge_prompt(input.judge.prompt, &view)?;
    let needs_evidence = input.judge.needs_evidence;
    let samples = input.judge.samples.max(1);
    let question = |sample| Question {
        id: QUESTION.to_owned(),
        metric: metric.to_owned(),
        judge: None,
        sample,
        samples,
        prompt: rendered.prompt.clone(),
        schema: verdict::reply_schema(input.tasks.len(), needs_evidence),
        temperature: input.judge.temperature,
        to: QuestionTo::Judge,
        cuts: rendered.cuts.clone(),
    };
    Ok((1..=samples).map(question).collect())
}
