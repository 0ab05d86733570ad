//! What no schema can say: models' names, templates, scripts. Read from the tree, so that a structural problem elsewhere
//! hides none of them.

use super::ModelName;
use super::problem::{Problem, Report};
use super::script_place::script_place;
use super::source::{Node, Span};
use super::template_check::{TemplateCheck, TemplateKind};
use super::written::{EvaluatorFile, ScorerFile};
use crate::assertion::expression;

/// Reports what is wrong beyond the structure.
pub(super) fn check(report: &mut Report<'_>, templates: &dyn TemplateCheck, root: &Node) {
    for part in ["evaluator", "scorer"] {
        if let Some((name, node)) = text_at(root, part, "model")
            && let Err(message) = ModelName::parse(name)
        {
            report.add(node.span, message);
        }
    }
    let default = EvaluatorFile::default().prompt;
    template(report, templates, root, ("evaluator", TemplateKind::Persona, &default));
    let default = ScorerFile::default().prompt;
    template(report, templates, root, ("scorer", TemplateKind::Judge, &default));
    for assertion in root.get("assertions").map(Node::items).unwrap_or_default() {
        if let Some(node) = assertion.get("expression") {
            script(report, node);
        }
    }
}

/// The template that the part names, or its default: a file beside the job may stand for that too.
fn template(
    report: &mut Report<'_>,
    templates: &dyn TemplateCheck,
    root: &Node,
    (part, kind, default): (&str, TemplateKind, &str),
) {
    let written = root.get(part).and_then(|node| node.get("prompt"));
    let name = match written {
        Some(node) => match node.text() {
            Some(text) if !text.trim().is_empty() => text,
            _ => return,
        },
        None => default,
    };
    let Some(problem) = templates.problem(name, kind) else { return };
    let span = written.map(|node| node.span).or_else(|| root.entry(part).map(|entry| entry.key.span));
    let span = span.or_else(|| root.entries().first().map(|entry| entry.key.span)).unwrap_or(root.span);
    report.add(span, problem);
}

fn script(report: &mut Report<'_>, node: &Node) {
    let Some(text) = node.text().filter(|text| !text.trim().is_empty()) else { return };
    let Some(problem) = expression::compile_problem(text) else { return };
    let _: &mut Problem = match script_place(report.lines, node, problem.line, problem.column) {
        Some(place) => report.add(place, problem.message),
        None if problem.line == 0 => report.add(first_line(node), problem.message),
        None => {
            let (line, column) = (problem.line, problem.column);
            report.add(first_line(node), format!("{} (line {line}, column {column} of the script)", problem.message))
        }
    }
    .try_this(problem.help);
}

fn first_line(node: &Node) -> Span {
    node.span
}

fn text_at<'n>(root: &'n Node, part: &str, key: &str) -> Option<(&'n str, &'n Node)> {
    let node = root.get(part)?.get(key)?;
    node.text().map(|text| (text, node))
}
