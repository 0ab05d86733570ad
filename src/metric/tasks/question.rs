//! The question about all tasks and the tone.

use super::super::judged::{EvidenceRule, Shown};
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
    let judged = judged_tasks(input);
    let rendered = templates.judge_prompt(input.judge.prompt, &view(input, &judged))?;
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

fn judged_tasks<'a>(input: &MetricInput<'a>) -> Vec<JudgedTask<'a>> {
    let tasks = input.tasks.iter();
    tasks.map(|it| JudgedTask { kind: it.kind, task: it.task, criteria: it.acceptance_criteria }).collect()
}

/// The view of the conversation that the judge is shown.
fn view<'v>(input: &'v MetricInput<'_>, tasks: &'v [JudgedTask<'v>]) -> JudgeView<'v> {
    JudgeView {
        tasks,
        facts: input.facts,
        user_knew_facts: input.condition == Condition::WithFacts,
        needs_quotes: input.judge.needs_evidence,
        transcript: input.transcript,
        user_tools: input.user.tool_calls,
    }
}

/// The texts that the judge was shown, where its verdicts must quote them.
pub(super) fn shown(input: &MetricInput<'_>) -> Option<Shown> {
    let shown = || {
        let cut = view(input, &[]).cut_turns();
        Shown::new(input, EvidenceRule::Any, &[], cut).messages_only(input.facts)
    };
    input.judge.needs_evidence.then(shown)
}
