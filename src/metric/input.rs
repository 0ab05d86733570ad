//! The input of a metric.

use std::borrow::Cow;

use super::trajectory::Expectation;
use crate::clock::Clock;
use crate::evidence::{Condition, FactUse, ObjectContext, Observed, Transcript, UserToolCall};

/// The input of a metric: one conversation, and the parts of the job that concern it.
#[derive(Debug, Clone)]
pub struct MetricInput<'a> {
    /// The persona's tasks, in the job's order.
    pub tasks: Vec<InputTask<'a>>,
    /// All that is true of the user.
    pub facts: &'a [String],
    /// When the agent asked for each of them and the user said it; `None` where that is not known.
    pub fact_uses: Option<&'a [FactUse]>,
    /// Whether the persona knew the facts.
    pub condition: Condition,
    /// The conversation.
    pub transcript: &'a Transcript,
    /// The agent's state after the conversation; `None` where it was not read.
    pub state: Option<&'a Observed<ObjectContext>>,
    /// The expectation for the whole conversation.
    pub expected: Option<&'a Expectation>,
    /// The lines of the script with expectations.
    pub lines: Vec<ExpectedTurn<'a>>,
    /// Whether those are the turns of the reference agent.
    pub is_of_reference: bool,
    /// Whether the agent brought the conversation to its end by failing or by taking too long.
    pub agent_ended_it: bool,
    /// The user's part.
    pub user: UserInput<'a>,
    /// How the judge is asked.
    pub judge: JudgeInput<'a>,
    /// Texts for judges, each with its name.
    pub context: Vec<(&'a str, &'a str)>,
    /// Whether the time to the reply's first token counts, rather than that to its last byte.
    pub times_first_token: bool,
    /// The reply time that earns the full timing score, in milliseconds.
    pub aspirational_average_ms: Option<u64>,
    /// Stops scripts that would take for ever.
    pub clock: Clock,
    /// Whether only the score is wanted: nobody reads the reasons.
    pub is_brief: bool,
}

/// A line of the script with expectations.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedTurn<'a> {
    /// The turn's number, from 1.
    pub turn: u32,
    /// The line.
    pub say: &'a str,
    /// The expectation.
    pub expected: Cow<'a, Expectation>,
}

/// One task of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InputTask<'a> {
    /// `task` or `question`, as the job spells it.
    pub kind: &'a str,
    /// The persona's task.
    pub task: &'a str,
    /// When it counts as done well.
    pub acceptance_criteria: &'a str,
}

/// The user's part, beside tasks and facts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserInput<'a> {
    /// Whether a model plays the user.
    pub is_simulated: bool,
    /// Its story or plan.
    pub plan: Option<&'a str>,
    /// How it behaves and writes.
    pub traits: Cow<'a, [String]>,
    /// The fixed messages with which it begins.
    pub opening: &'a [String],
    /// The calls of its own tools.
    pub tool_calls: &'a [UserToolCall],
}

/// How the judge is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgeInput<'a> {
    /// The template of its instructions.
    pub prompt: &'a str,
    /// 0 to 2.
    pub temperature: f64,
    /// How often each judge is asked the same, 1 or more.
    pub samples: u32,
    /// Whether its verdicts on tasks and tone must quote what they rest on.
    pub needs_evidence: bool,
    /// Whether a model judges, which can say whether texts mean the same.
    pub is_there: bool,
    /// Whether embeddings can compare texts.
    pub has_embeddings: bool,
}

/// A conversation of one turn, with some tasks.
#[cfg(test)]
pub(super) struct Example {
    pub(super) tasks: Vec<String>,
    pub(super) transcript: Transcript,
    pub(super) aspirational_average_ms: Option<u64>,
}

#[cfg(test)]
impl Example {
    pub(super) fn new(tasks: usize) -> Example {
        use crate::evidence::Turn;
        let turn = Turn { latency_ms: Some(200.0), ..Turn::answered(1, "Hi", "Hello") };
        Example {
            tasks: (1..=tasks).map(|number| format!("task {number}")).collect(),
            transcript: Transcript { turns: vec![turn] },
            aspirational_average_ms: Some(100),
        }
    }

    pub(super) fn input(&self) -> MetricInput<'_> {
        let task = |task| InputTask { kind: "task", task, acceptance_criteria: "done" };
        MetricInput {
            tasks: self.tasks.iter().map(String::as_str).map(task).collect(),
            facts: &[],
            fact_uses: None,
            condition: Condition::WithFacts,
            transcript: &self.transcript,
            state: None,
            expected: None,
            lines: Vec::new(),
            is_of_reference: false,
            agent_ended_it: false,
            user: UserInput::default(),
            judge: JudgeInput {
                prompt: "eval/score",
                temperature: 0.0,
                samples: 1,
                needs_evidence: false,
                is_there: false,
                has_embeddings: false,
            },
            context: Vec::new(),
            times_first_token: false,
            aspirational_average_ms: self.aspirational_average_ms,
            clock: Clock::system(),
            is_brief: false,
        }
    }
}
