//! Checks of the metrics that ask a judge against what the cases expect: nothing to ask about, or two rubrics with one id. Known
//! here, no conversation is paid for that such a metric could not score.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::problem::{Report, quoted};
use super::source::{YamlNode, as_json};
use crate::metric::trajectory::Expectation;
use crate::metric::{MetricConfig, MetricEntry, RubricConfig};

/// The expectations of one case, with their places in the file.
struct CaseExpectations<'n> {
    whole: Option<ExpectedNode<'n>>,
    lines: Vec<ExpectedNode<'n>>,
    /// Whether a second agent's replies are expected.
    has_reference: bool,
}

struct ExpectedNode<'n> {
    node: &'n YamlNode,
    read: Expectation,
}

/// Reports metrics that could ask their judge nothing in any case, and rubrics that one metric could not tell apart.
pub(super) fn check(report: &mut Report<'_>, root: &YamlNode) {
    let entry = |node| Some((node, MetricEntry::deserialize(as_json(node)).ok()?));
    let asks = |(_, entry): &(&YamlNode, MetricEntry)| {
        matches!(entry.metric, MetricConfig::Rubric(_) | MetricConfig::FinalResponse(_) | MetricConfig::Pairwise(_))
    };
    let metrics = root.get("metrics").map(YamlNode::items).unwrap_or_default();
    let metrics: Vec<(&YamlNode, MetricEntry)> = metrics.iter().filter_map(entry).filter(asks).collect();
    if metrics.is_empty() {
        return;
    }
    // The schema reports what can't be read.
    let Some(cases) = expectations(root) else { return };
    for (node, entry) in &metrics {
        if let MetricConfig::Rubric(options) = &entry.metric {
            same_ids(report, options, entry.label(), &cases);
        }
        if let Some((what, help)) = nothing_to_ask(entry, &cases) {
            let at = node.entry(entry.kind().as_str()).map_or(node.span, |entry| entry.key.span);
            report.add(at, format!("the metric {} {what}", quoted(entry.label()))).try_this(help.to_owned());
        }
    }
}

/// The expectations of the cases; `None` where a part can't be read.
fn expectations(root: &YamlNode) -> Option<Vec<CaseExpectations<'_>>> {
    let read = |node| Some(ExpectedNode { node, read: Expectation::deserialize(as_json(node)).ok()? });
    let of_all = root.get("expected");
    let script_of_all = root.get("evaluator").and_then(|part| part.get("script"));
    let one = [root];
    let cases = root.get("cases").map(YamlNode::items);
    let cases: Vec<&YamlNode> = cases.map_or_else(|| one.to_vec(), |cases| cases.iter().collect());
    let is_one = root.get("cases").is_none();
    cases
        .into_iter()
        .map(|case| {
            let lines = case.get("script").or(script_of_all).map(YamlNode::items).unwrap_or_default();
            let lines = lines.iter().filter_map(|line| line.get("expected")).map(read).collect::<Option<_>>()?;
            let whole = match case.get("expected").or(of_all) {
                Some(node) => Some(read(node)?),
                None => None,
            };
            Some(CaseExpectations { whole, lines, has_reference: !is_one && case.get("reference").is_some() })
        })
        .collect()
}

impl CaseExpectations<'_> {
    fn all(&self) -> impl Iterator<Item = &Expectation> {
        self.whole.iter().chain(&self.lines).map(|expected| &expected.read)
    }

    fn has_reply(&self) -> bool {
        self.has_reference || self.all().any(|expected| expected.reply.is_some())
    }

    fn has_other_conversation(&self) -> bool {
        self.has_reference || self.lines.iter().any(|line| line.read.reply.is_some())
    }
}

/// Why a metric would score no case, and what to try.
fn nothing_to_ask(entry: &MetricEntry, cases: &[CaseExpectations<'_>]) -> Option<(&'static str, &'static str)> {
    let label = entry.label();
    match &entry.metric {
        MetricConfig::Rubric(options) if options.rubrics.is_empty() => {
            let mut rubrics = cases.iter().flat_map(CaseExpectations::all).flat_map(|expected| &expected.rubrics);
            let is_given = rubrics.any(|rubric| options.is_for(rubric, label));
            (!is_given).then_some((
                "has no rubrics to judge by: neither it nor a case has one for it",
                "give it `rubrics: [{id: …, text: …}]`, or a case or a line `expected: {rubrics: […]}`",
            ))
        }
        MetricConfig::FinalResponse(_) if !cases.iter().any(CaseExpectations::has_reply) => Some((
            "has nothing to compare replies with: no case expects one",
            "say `expected: {reply: …}` of a case or of a line of its script",
        )),
        MetricConfig::Pairwise(_) if !cases.iter().any(CaseExpectations::has_other_conversation) => Some((
            "has no other conversation to compare with: no line expects a reply, and no case has a `reference`",
            "say `expected: {reply: …}` of the lines of a script, or name a second agent (`reference`)",
        )),
        _ => None,
    }
}

/// Reports rubrics of one metric that share an id: it identifies a judge's verdicts.
fn same_ids(report: &mut Report<'_>, options: &RubricConfig, label: &str, cases: &[CaseExpectations<'_>]) {
    let mut reported = BTreeSet::new();
    for case in cases {
        let whole = case.whole.as_ref().map(|it| it.read.rubrics.as_slice()).unwrap_or_default();
        let lines: Vec<_> = case.lines.iter().map(|line| line.read.rubrics.as_slice()).collect();
        for same in options.same_ids(label, whole, &lines) {
            let expected = same.line.map_or(case.whole.as_ref(), |line| case.lines.get(line));
            let node = expected.and_then(|it| it.node.get("rubrics")?.items().get(same.rubric));
            let Some(id) = node.and_then(|rubric| rubric.get("id")) else { continue };
            if reported.insert((id.span.line, id.span.column)) {
                let message =
                    format!("the metric {} has another rubric with the id {}", quoted(label), quoted(&same.id));
                let help = "give each an id of its own, or say which `metric` it is for";
                report.add(id.span, message).try_this(help.to_owned());
            }
        }
    }
}
