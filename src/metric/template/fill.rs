//! A prompt with its placeholders replaced.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::TemplateMetric;
use super::part::{PartError, part_of};
use super::trace::{TraceError, TraceStep};
use crate::evidence::{CallsByTurn, Turn};
use crate::metric::{MetricInput, Rubric};
use crate::prompt::{Cut, escape};

/// The value of a prompt's variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TemplateField {
    /// The user's message of the turn.
    UserContent,
    /// The agent's reply of the turn.
    FinalResponse,
    /// The expected reply of the turn.
    ExpectedResponse,
    /// The rubrics of the metric, the case and the turn, as a JSON list: `[{"id": "…", "content": {"text": "…"}}]`, each with its
    /// `description` and `type` where it has them, as trpc-agent-go writes them.
    Rubrics,
    /// The agent's calls of tools in the turn with their results, as a JSON list.
    ToolCalls,
    /// The conversation up to this turn.
    Conversation,
    /// A part of a step of the agent's work, where a recording or the transport `trpc` (`executionTrace`) tells its trace.
    TraceStep(TraceStep),
}

impl TemplateField {
    /// Whether it shows what the agent said or did.
    pub fn is_of_agent(&self) -> bool {
        use TemplateField::{Conversation, FinalResponse, ToolCalls, TraceStep};
        matches!(self, FinalResponse | ToolCalls | Conversation | TraceStep(_))
    }
}

/// The names between double braces, in order.
pub fn placeholders(prompt: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = prompt;
    while let Some((_, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        all.push(name.trim());
        rest = behind;
    }
    all
}

/// A variable of the prompt has no value in a turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FillError {
    /// The job has no variable of this name.
    #[error("`{0}` is no variable")]
    UnknownVariable(String),
    /// No reply is expected of this turn.
    #[error("no reply is expected of turn {0}, which the prompt asks for")]
    NoExpectedReply(u32),
    /// A variable's value has no such part.
    #[error("`{variable}` of turn {turn}: {why}")]
    NoPart {
        /// The variable.
        variable: String,
        /// The turn.
        turn: u32,
        /// Why not.
        why: PartError,
    },
    /// Neither the metric nor the case nor the turn has a rubric.
    #[error("no rubrics are given, which the prompt asks for")]
    NoRubrics,
    /// A step of the agent's work can't be shown.
    #[error(transparent)]
    NoStep(#[from] TraceError),
}

/// The prompt about a turn, and what was left out of texts that are too long. What is inserted is put in once: placeholders in it
/// stay as they are.
///
/// # Errors
/// A variable has no value in this turn.
pub(super) fn fill(
    metric: &TemplateMetric,
    input: &MetricInput<'_>,
    turn: &Turn,
) -> Result<(String, Vec<String>), FillError> {
    let config = &metric.config;
    let (mut filled, mut cut) = (String::new(), Cut::default());
    let mut rest = config.prompt.as_str();
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, behind)) = after.split_once("}}") else { break };
        filled.push_str(before);
        let unknown = || FillError::UnknownVariable(name.trim().to_owned());
        let field = config.variables.get(name.trim()).ok_or_else(unknown)?;
        let value = value(metric, field, input, turn)?;
        let value = match config.paths.get(name.trim()) {
            Some(path) => {
                let variable = name.trim().to_owned();
                part_of(&value, path).map_err(|why| FillError::NoPart { variable, turn: turn.number, why })?
            }
            None => value,
        };
        let value = cut.text(&value, || format!("`{}` of turn {}", name.trim(), turn.number));
        filled.push_str(&if config.judging.strict { value } else { escape(&value) });
        rest = behind;
    }
    filled.push_str(rest);
    Ok((filled, cut.into_sentences()))
}

fn value(
    metric: &TemplateMetric,
    field: &TemplateField,
    input: &MetricInput<'_>,
    turn: &Turn,
) -> Result<String, FillError> {
    let line = || input.lines.iter().find(|line| line.turn == turn.number).map(|line| &line.expected);
    Ok(match field {
        TemplateField::UserContent => turn.user.clone(),
        TemplateField::FinalResponse => turn.agent.clone().unwrap_or_default(),
        TemplateField::ExpectedResponse => {
            let is_last = input.transcript.turns.last().is_some_and(|last| last.number == turn.number);
            let of_case = || input.expected.filter(|_| is_last).and_then(|expected| expected.reply.clone());
            let reply = line().and_then(|expected| expected.reply.clone()).or_else(of_case);
            reply.ok_or(FillError::NoExpectedReply(turn.number))?
        }
        TemplateField::Rubrics => {
            let rubrics: Vec<_> = metric.rubrics(input, turn.number).into_iter().map(shown).collect();
            if rubrics.is_empty() {
                return Err(FillError::NoRubrics);
            }
            Value::from(rubrics).to_string()
        }
        TemplateField::ToolCalls => {
            serde_json::to_string(CallsByTurn::new(input.transcript).of_turn(turn.number)).unwrap_or_default()
        }
        TemplateField::Conversation => {
            let before = input.transcript.turns.iter().take_while(|other| other.number <= turn.number);
            let lines = before.flat_map(|turn| {
                let user = (!turn.is_greeting()).then(|| format!("user: {}", turn.user));
                user.into_iter().chain(turn.agent.as_ref().map(|reply| format!("assistant: {reply}")))
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        TemplateField::TraceStep(step) => step.value(turn)?,
    })
}

/// A rubric as trpc-agent-go's prompts show it.
fn shown(rubric: &Rubric) -> Value {
    let mut shown = json!({ "id": rubric.id, "content": { "text": rubric.text } });
    for (key, text) in [("description", &rubric.description), ("type", &rubric.rubric_type)] {
        if let Some(text) = text {
            shown[key] = text.as_str().into();
        }
    }
    shown
}
