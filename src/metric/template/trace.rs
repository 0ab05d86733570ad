//! The steps of an agent's work that its trace has, as the judge is shown them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evidence::{EventKind, TRACE_STEP, Turn};

/// A part of the last step of a node in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TraceStep {
    /// The id of the node.
    pub node: String,
    /// Which part.
    pub part: StepPart,
}

/// The parts of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StepPart {
    /// The text that it was given.
    Input,
    /// The text that it gave.
    Output,
    /// Its calls of tools, as a JSON list.
    Tools,
    /// The skills that it used, as a JSON list.
    Skills,
}

/// Why a step can't be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TraceError {
    /// No step of the turn is of this node.
    #[error("the agent's trace of turn {turn} has no step of `{node}`")]
    NoStep { node: String, turn: u32 },
    /// It has no text.
    #[error("the step of `{node}` in turn {turn} has no {part}")]
    NoText { node: String, turn: u32, part: &'static str },
}

impl TraceStep {
    /// The part of the node's last step: a text, or a JSON list.
    ///
    /// # Errors
    /// There is no such step, or it has no such text.
    pub(super) fn value(&self, turn: &Turn) -> Result<String, TraceError> {
        let mut steps = turn.events.iter().filter_map(|event| match &event.kind {
            EventKind::Other { data } => data.get(TRACE_STEP),
            _ => None,
        });
        let is_its = |step: &&Value| step.get("node").and_then(Value::as_str) == Some(&self.node);
        let missing = || TraceError::NoStep { node: self.node.clone(), turn: turn.number };
        let step = steps.rfind(is_its).ok_or_else(missing)?;
        let text = |part: &'static str| {
            let text = step.get(part).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned).ok_or_else(|| TraceError::NoText {
                node: self.node.clone(),
                turn: turn.number,
                part,
            })
        };
        let list = |part: &str| step.get(part).map_or_else(|| "[]".to_owned(), Value::to_string);
        match self.part {
            StepPart::Input => text("input"),
            StepPart::Output => text("output"),
            StepPart::Tools => Ok(list("tools")),
            StepPart::Skills => Ok(list("skills")),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::Event;

    #[test]
    fn the_last_step_of_a_node_is_shown() {
        let step = |node: &str, output: &str| {
            Event::other(json!({TRACE_STEP: {"node": node, "input": "", "output": output, "tools": [{"name": "t"}]}}))
        };
        let events =
            vec![step("plan", "first"), Event::other(json!({"author": "a"})), step("plan", "last"), step("b", "")];
        let turn = Turn { events, ..Turn::answered(2, "hi", "hello") };
        let of = |node: &str, part| TraceStep { node: node.to_owned(), part }.value(&turn).map_err(|it| it.to_string());
        assert_eq!(of("plan", StepPart::Output).unwrap(), "last");
        assert_eq!(of("plan", StepPart::Tools).unwrap(), r#"[{"name":"t"}]"#);
        assert_eq!(of("plan", StepPart::Skills).unwrap(), "[]");
        assert_eq!(of("plan", StepPart::Input).unwrap_err(), "the step of `plan` in turn 2 has no input");
        assert_eq!(of("b", StepPart::Output).unwrap_err(), "the step of `b` in turn 2 has no output");
        assert_eq!(of("c", StepPart::Tools).unwrap_err(), "the agent's trace of turn 2 has no step of `c`");
    }
}
