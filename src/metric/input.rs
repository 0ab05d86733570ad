//! What a metric may look at.

use crate::evidence::{Condition, Transcript};

/// What a metric may look at: one conversation, and what the job says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricInput {
    /// What the persona was to bring about, in the job's order.
    pub tasks: Vec<InputTask>,
    /// Whether the persona knew the facts.
    pub condition: Condition,
    /// The conversation.
    pub transcript: Transcript,
    /// The judge's prompt, rendered; `None` when there is no judge to ask.
    pub judge_prompt: Option<String>,
    /// The judge's temperature, 0 to 2.
    pub judge_temperature: f64,
    /// Whether it is the time to the reply's first words that counts, and not that to its last byte.
    pub times_first_token: bool,
    /// The reply time that earns the full timing score, in milliseconds.
    pub aspirational_average_ms: Option<u64>,
}

/// One task of a input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputTask {
    /// `task` or `question`, as the job spells it.
    pub kind: String,
    /// What the persona does.
    pub task: String,
    /// When it counts as done well.
    pub acceptance_criteria: String,
}

/// A conversation of one turn, with this many tasks.
#[cfg(test)]
pub(super) fn example(tasks: usize) -> MetricInput {
    use crate::evidence::Turn;
    let turn = Turn { latency_ms: Some(200.0), ..Turn::said(1, "Hi", "Hello") };
    let task =
        |number| InputTask { kind: "task".into(), task: format!("task {number}"), acceptance_criteria: "done".into() };
    MetricInput {
        tasks: (1..=tasks).map(task).collect(),
        condition: Condition::WithFacts,
        transcript: Transcript { turns: vec![turn] },
        judge_prompt: Some("Judge this".into()),
        judge_temperature: 0.0,
        times_first_token: false,
        aspirational_average_ms: Some(100),
    }
}
