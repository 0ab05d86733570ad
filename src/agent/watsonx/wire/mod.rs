//! watsonx Orchestrate's runs and chat completions ↔ ours, pure. The shapes are those that IBM's evaluation framework
//! (`ibm-watsonx-orchestrate-evaluation-framework` 1.6.9, `agentops/runtime_adapter`) reads and writes.

pub mod completions;
mod content;
pub mod runs;
mod turn_content;

use serde_json::Value;

use crate::agent::json::JsonFields;

pub use turn_content::TurnContent;

/// The id of the agent with this name, or this id, in the reply of `GET /v1/orchestrate/agents`; else the names of all
/// agents. `None` where the reply is no list.
pub fn agent_id(agents: &Value, name: &str) -> Option<Result<String, Vec<String>>> {
    let agents = agents.as_array()?;
    let found = |key: &str| agents.iter().find(|agent| agent.text(key).unwrap_or_default() == name);
    let id = found("name").or_else(|| found("id")).and_then(|agent| agent.text("id")).map(str::to_owned);
    Some(id.ok_or_else(|| agents.iter().filter_map(|agent| agent.text("name")).map(str::to_owned).collect()))
}

/// Whether a text is a UUID in its usual form.
pub fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// 32 hex digits as a UUID of version 4 (RFC 9562).
pub fn uuid_of(digits: &str) -> String {
    let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
    format!("{}-{}-4{}-a{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

#[cfg(test)]
mod tests;
