//! Tool calls: ADK's trajectories and parameters, trpc's of both generations, watsonx' arguments, goals and counts.

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

/// The answer to a vector about tool calls.
pub fn answer(vector: &Vector, _dialect: Dialect) -> Option<Answered> {
    let kind = match vector.system.as_str() {
        "adk" if vector.has(&["metric", "actual", "expected"]) => "trajectory",
        "adk" if vector.is("adk", "tool_parameter_match") && vector.has(&["actual", "expected"]) => "tool parameters",
        "trpc" if vector.has(&["actual_tools", "expected_tools"]) => "trajectory",
        "trpc" if vector.has(&["actual_intermediateData", "expected_intermediateData"]) => "trajectory, seed era",
        "watsonx" if vector.has(&["expected_args", "actual_args"]) => "arguments",
        "watsonx" if vector.has(&["goals", "ordering"]) => "goals",
        "watsonx" if vector.has(&["expected_tool_calls", "correct_tool_calls"]) => "tool metrics",
        _ => return None,
    };
    Some((kind, Answer::Pending("trajectories")))
}
