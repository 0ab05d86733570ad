//! Checks of `expected` and of the metrics' options beyond the schema: rules that contradict themselves, goals that lead in a
//! circle or are nowhere.

use serde::Deserialize;

use super::problem::Report;
use super::source::{YamlNode, as_json};
use crate::metric::trajectory::Expectation;
use crate::metric::{MetricEntry, options_problem};

/// Reports what is wrong with the metrics' options, and with what is expected of the file's cases and lines.
pub(super) fn check(report: &mut Report<'_>, root: &YamlNode) {
    for node in root.get("metrics").map(YamlNode::items).unwrap_or_default() {
        let Ok(entry) = MetricEntry::deserialize(as_json(node)) else { continue };
        if let Some((at, problem)) = options_problem(&entry.metric) {
            let options = node.get(entry.kind().as_str()).unwrap_or(node);
            let problem: Vec<&str> = problem.lines().map(str::trim).collect();
            report.add(place(options, &at).unwrap_or(options).span, problem.join(" "));
        }
    }
    expectations(report, root.get("expected"));
    let script = |part: &YamlNode| part.get("script").map(YamlNode::items).unwrap_or_default().to_vec();
    for line in root.get("evaluator").map(script).unwrap_or_default() {
        expectations(report, line.get("expected"));
    }
    for case in root.get("cases").map(YamlNode::items).unwrap_or_default() {
        expectations(report, case.get("expected"));
        for line in script(case) {
            expectations(report, line.get("expected"));
        }
    }
}

/// The deepest value at a path such as `tools.search.args.city` that the file has.
fn place<'n>(node: &'n YamlNode, path: &str) -> Option<&'n YamlNode> {
    path.split('.').try_fold(node, |node, key| node.get(key).or(Some(node)))
}

fn expectations(report: &mut Report<'_>, node: Option<&YamlNode>) {
    let Some(node) = node else { return };
    let Ok(expected) = Expectation::deserialize(as_json(node)) else { return };
    for (call, problem) in expected.problems() {
        let at = match call {
            Some(call) => node.get("calls").and_then(|calls| calls.items().get(call)).map(|call| call.span),
            None => node.entry("goals").map(|entry| entry.key.span),
        };
        report.add(at.unwrap_or(node.span), problem);
    }
}
