//! Checks of `changes` assertions beyond the schema: patterns, and empty ranges.

use super::problem::Report;
use super::source::{YamlNode, as_json};
use crate::assertion::changes::{PropertyConfig, property_problem};

/// Reports what is wrong in an assertion's `changes` beyond the structure.
pub(super) fn check(report: &mut Report<'_>, changes: &YamlNode) {
    numbers(report, changes, "turn");
    for kind in ["created", "deleted", "changed"] {
        for line in changes.get(kind).map(YamlNode::items).unwrap_or_default() {
            numbers(report, line, "count");
            for owner in [Some(line), line.get("from"), line.get("to")].into_iter().flatten() {
                properties(report, owner.get("where"));
            }
            properties(report, line.get("set"));
        }
    }
}

fn properties(report: &mut Report<'_>, owner: Option<&YamlNode>) {
    for entry in owner.map(YamlNode::entries).unwrap_or_default() {
        // A wrong structure is reported by the schema check.
        let Ok(property) = serde_json::from_value::<PropertyConfig>(as_json(&entry.value)) else { continue };
        let Some(problem) = property_problem(&property) else { continue };
        let place = match problem.key.and_then(|key| entry.value.get(key)) {
            Some(node) => node.span,
            None => entry.key.span,
        };
        report.add(place, problem.message).try_this(problem.help);
    }
}

fn numbers(report: &mut Report<'_>, owner: &YamlNode, key: &str) {
    let Some(range) = owner.get(key) else { return };
    let number = |key: &str| range.get(key).and_then(|node| as_json(node).as_u64());
    if let (Some(min), Some(max), Some(node)) = (number("min"), number("max"), range.get("min"))
        && min > max
    {
        report.add(node.span, "`min` is more than `max`: no number is in between".to_owned());
    }
}
