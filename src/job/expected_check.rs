//! Checks of `expected` and of the metrics' options beyond the schema: rules that contradict themselves, goals that lead in a
//! circle or are nowhere.

use serde::Deserialize;

use super::problem::Report;
use super::semantics::report_script;
use super::source::{YamlNode, as_json};
use crate::metric::trajectory::Expectation;
use crate::metric::{MetricConfig, MetricEntry, MetricKind, expectation_problems, options_problem};

/// Reports what is wrong with the metrics' options, and with what is expected of the file's cases and lines.
pub(super) fn check(report: &mut Report<'_>, root: &YamlNode) {
    let mut metrics = Vec::new();
    for node in root.get("metrics").map(YamlNode::items).unwrap_or_default() {
        let Ok(mut entry) = MetricEntry::deserialize(as_json(node)) else { continue };
        let beside = entry.beside.take().map(|beside| *beside).zip(node.get("beside"));
        for (entry, node) in [(entry, node)].into_iter().chain(beside) {
            options_of(report, &entry, node);
            metrics.push(entry.metric);
        }
    }
    if metrics.is_empty() {
        metrics.push(MetricConfig::new(MetricKind::Trajectory));
    }
    let mut expectations = |node: Option<&YamlNode>, of| expectations(report, node, of, &metrics);
    expectations(root.get("expected"), ExpectationOwner::Case);
    let script = |part: &YamlNode| part.get("script").map(YamlNode::items).unwrap_or_default().to_vec();
    for line in root.get("evaluator").map(script).unwrap_or_default() {
        expectations(line.get("expected"), ExpectationOwner::Line);
    }
    for case in root.get("cases").map(YamlNode::items).unwrap_or_default() {
        expectations(case.get("expected"), ExpectationOwner::Case);
        for line in script(case) {
            expectations(line.get("expected"), ExpectationOwner::Line);
        }
    }
}

/// Reports what is wrong with the options of one metric.
fn options_of(report: &mut Report<'_>, entry: &MetricEntry, node: &YamlNode) {
    let Some(problem) = options_problem(&entry.metric) else { return };
    let options = node.get(entry.kind().as_str()).unwrap_or(node);
    let node = place(options, &problem.place);
    match problem.script {
        // The schema reports a blank one.
        Some(_) if is_blank(node) => {}
        Some(script) => report_script(report, node, script),
        None => {
            let message: Vec<&str> = problem.message.lines().map(str::trim).collect();
            report.add(node.span, message.join(" "));
        }
    }
}

/// The deepest value at a path such as `tools.search.args.city` that the file has. A key may have dots itself.
fn place<'n>(node: &'n YamlNode, path: &str) -> &'n YamlNode {
    let mut ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]).collect::<Vec<_>>();
    ends.reverse();
    for end in ends {
        if let Some(next) = node.get(&path[..end]) {
            return place(next, path[end..].trim_start_matches('.'));
        }
    }
    match path.split_once('.') {
        Some((_, rest)) => place(node, rest),
        None => node,
    }
}

fn is_blank(node: &YamlNode) -> bool {
    node.text().is_some_and(|text| text.trim().is_empty())
}

/// The owner of expectations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectationOwner {
    Case,
    Line,
}

fn expectations(report: &mut Report<'_>, node: Option<&YamlNode>, of: ExpectationOwner, metrics: &[MetricConfig]) {
    let Some(node) = node else { return };
    if let Some(entry) = node.entry("state").filter(|_| of == ExpectationOwner::Line) {
        let help = "say `expected: {state: …}` of the case: it is what is left after the conversation";
        report.add(entry.key.span, "no state is expected of a line".to_owned()).try_this(help.to_owned());
    }
    let Ok(expected) = Expectation::deserialize(as_json(node)) else { return };
    let unusable = metrics.iter().flat_map(|metric| expectation_problems(metric, &expected));
    for problem in expected.problems().into_iter().chain(unusable) {
        let call = problem.call.and_then(|call| node.get("calls")?.items().get(call));
        match (problem.script, call) {
            (Some(_), Some(call)) if is_blank(place(call, &problem.place)) => {}
            (Some(script), Some(call)) => report_script(report, place(call, &problem.place), *script),
            (_, Some(call)) if problem.help.is_some() => {
                report.add(place(call, &problem.place).span, problem.message).try_this(problem.help);
            }
            (_, Some(call)) => drop(report.add(call.span, problem.message)),
            (_, None) => {
                let entry = node.entry(&problem.place);
                let at = entry.map(|entry| if problem.help.is_some() { entry.value.span } else { entry.key.span });
                report.add(at.unwrap_or(node.span), problem.message).try_this(problem.help);
            }
        }
    }
}
