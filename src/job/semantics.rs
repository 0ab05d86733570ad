//! Checks beyond the schema: models' names, templates, scripts. Read from the tree, so that a structural problem
//! elsewhere hides none of them.

use super::panel::no_seat;
use super::problem::{Report, quoted_key};
use super::script_place::script_place;
use super::source::{YamlNode, as_json};
use super::template_check::{PromptRole, TemplateCheck, TemplateProblem};
use super::{Judge, ModelName, Persona, Provider};
use super::{case_check, change_lines, expected_check, user_tool, verified_check};
use crate::agent::managed::{address_problem, pattern_problem};
use crate::assertion::cypher::expected_problem;
use crate::assertion::expression::{ExpressionProblem, compile_problem};
use crate::graph::{CypherProblem, assertion_problem, setup_problem};

/// Reports what is wrong beyond the structure.
pub(super) fn check(report: &mut Report<'_>, templates: &dyn TemplateCheck, root: &YamlNode) {
    for part in ["evaluator", "scorer"] {
        if let Some(node) = root.get(part).and_then(|part| part.get("model")) {
            models(report, node);
        }
    }
    if let Some(node) = ["evaluator", "review", "model"].iter().try_fold(root, |node, key| node.get(key)) {
        models(report, node);
    }
    if let Some(node) = root.get("scorer").and_then(|part| part.get("embeddings")) {
        embeddings(report, node);
    }
    let default = Persona::default().prompt;
    let has_plan = root.get("cases").is_some_and(|cases| cases.items().iter().any(|case| case.get("plan").is_some()));
    let role = if has_plan { PromptRole::PersonaWithPlan } else { PromptRole::Persona };
    template(report, templates, root, NamedTemplate { part: "evaluator", role, default: &default });
    let default = Judge::default().prompt;
    template(report, templates, root, NamedTemplate { part: "scorer", role: PromptRole::Judge, default: &default });
    let ready = ["target", "start", "ready"].iter().try_fold(root, |node, key| node.get(key));
    for (key, problem) in [("http", address_problem as fn(&str) -> Option<String>), ("log", pattern_problem)] {
        if let Some(node) = ready.and_then(|ready| ready.get(key))
            && let Some(problem) = node.text().filter(|text| !text.trim().is_empty()).and_then(problem)
        {
            report.add(node.span, problem);
        }
    }
    statements(report, root);
    case_check::check(report, root);
    expected_check::check(report, root);
    verified_check::check(report, root);
    user_tool::check(report, root);
    for case in root.get("cases").map(YamlNode::items).unwrap_or_default() {
        statements(report, case);
    }
}

/// The Cypher, the scripts and the expected changes of the file or of one of its cases.
fn statements(report: &mut Report<'_>, part: &YamlNode) {
    for (list, problem) in [("setups", setup_problem as StatementCheck), ("assertions", assertion_problem)] {
        for node in part.get(list).map(YamlNode::items).unwrap_or_default().iter().filter_map(|item| item.get("cypher"))
        {
            cypher(report, node, problem);
        }
    }
    for assertion in part.get("assertions").map(YamlNode::items).unwrap_or_default() {
        if let Some(node) = assertion.get("expression") {
            script(report, node);
        }
        if let (Some(cypher), Some(expected)) =
            (assertion.get("cypher").and_then(YamlNode::text), assertion.get("expected"))
            && let Some(problem) = expected_problem(cypher, &as_json(expected))
        {
            let help = "`expected` is a value, a list for one row, or a list of lists or of mappings for several";
            report.add(expected.span, problem).try_this(help.to_owned());
        }
        if let Some(node) = assertion.get("changes") {
            change_lines::check(report, node);
        }
    }
}

/// A model, or a panel of several.
fn models(report: &mut Report<'_>, node: &YamlNode) {
    if node.items().is_empty() {
        return model(report, node);
    }
    node.items().iter().for_each(|item| model(report, item));
    let name = |item: &YamlNode| ModelName::parse(item.get("name").unwrap_or(item).text()?).ok();
    let names: Option<Vec<ModelName>> = node.items().iter().map(name).collect();
    if let Some((at, error)) = names.and_then(|names| no_seat(&names.iter().collect::<Vec<_>>())) {
        report.add(node.items()[at].span, error.to_string());
    }
}

/// A model's name, or the mapping that holds one.
fn model(report: &mut Report<'_>, node: &YamlNode) {
    let name = node.get("name").unwrap_or(node);
    let Some(text) = name.text() else { return };
    match ModelName::parse(text) {
        Err(error) => {
            report.add(name.span, error.to_string());
        }
        Ok(ModelName::Scripted) => {
            if let Some(entry) = node.entries().iter().find(|entry| entry.key.text != "name") {
                report.add(
                    entry.key.span,
                    format!("`scripted` is no model: it takes no {}", quoted_key(&entry.key.text)),
                );
            }
        }
        Ok(ModelName::Of { .. }) => {}
    }
}

/// The model of embeddings: one that speaks OpenAI's, or a folder.
fn embeddings(report: &mut Report<'_>, node: &YamlNode) {
    let name = node.get("name").unwrap_or(node);
    let is_other = |text: &str| {
        ModelName::parse(text).is_ok_and(|name| !matches!(name, ModelName::Of { provider: Provider::OpenAi, .. }))
    };
    match name.text() {
        Some(text) if is_other(text) => {
            let help = "any OpenAI-compatible endpoint: `{name: openai/MODEL, baseUrl: …}`; or a model on this machine: `{folder: PATH}`";
            report.add(name.span, "only OpenAI's embeddings are spoken".to_owned()).try_this(help.to_owned());
        }
        _ => model(report, node),
    }
}

/// The part of a job that may name a template, the role of that template, and its default.
struct NamedTemplate<'a> {
    part: &'a str,
    role: PromptRole,
    default: &'a str,
}

/// The template that the part names, or its default: a file beside the job may stand for that too.
fn template(report: &mut Report<'_>, templates: &dyn TemplateCheck, root: &YamlNode, place: NamedTemplate<'_>) {
    let NamedTemplate { part, role, default } = place;
    let written = root.get(part).and_then(|node| node.get("prompt"));
    let name = match written {
        Some(node) => match node.text() {
            Some(text) if !text.trim().is_empty() => text,
            _ => return,
        },
        None => default,
    };
    let message = match templates.problem(name, role) {
        None => return,
        Some(TemplateProblem { message, place: Some(place) }) => return report.add_elsewhere(place, message),
        Some(TemplateProblem { message, place: None }) => message,
    };
    let span = written.map(|node| node.span).or_else(|| root.entry(part).map(|entry| entry.key.span));
    let span = span.or_else(|| root.entries().first().map(|entry| entry.key.span)).unwrap_or(root.span);
    report.add(span, message);
}

fn script(report: &mut Report<'_>, node: &YamlNode) {
    let text = node.text().filter(|text| !text.trim().is_empty());
    if let Some(problem) = text.and_then(compile_problem) {
        report_script(report, node, problem);
    }
}

type StatementCheck = fn(&str) -> Option<CypherProblem>;

fn cypher(report: &mut Report<'_>, node: &YamlNode, problem: StatementCheck) {
    let text = node.text().filter(|text| !text.trim().is_empty());
    if let Some(problem) = text.and_then(problem) {
        let CypherProblem { line, column, message, help } = problem;
        report_script(report, node, ExpressionProblem { line, column, message, help });
    }
}

/// Reports an error of the script's compiler at its place in the YAML, or at the script's start with the place in the
/// message.
pub(super) fn report_script(report: &mut Report<'_>, node: &YamlNode, problem: ExpressionProblem) {
    let ExpressionProblem { line, column, message, help } = problem;
    match script_place(report.lines, node, line, column) {
        Some(place) => report.add(place, message),
        None if line == 0 => report.add(node.span, message),
        None => report.add(node.span, format!("{message} (line {line}, column {column} of the script)")),
    }
    .try_this(help);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::render_problems;
    use crate::job::source::{self, SourceLines};

    /// The report of a compiler error at this place of the value of `e`.
    fn shown(yaml: &str, line: usize, column: usize) -> String {
        let lines = SourceLines::new(yaml);
        let mut report = Report::new("job.yml", &lines);
        let root = source::parse(&mut report).unwrap();
        let problem = ExpressionProblem { line, column, message: "bad".to_owned(), help: None };
        report_script(&mut report, root.get("e").unwrap(), problem);
        render_problems(&report.failed())
    }

    /// The lines from the source line on.
    fn caret(yaml: &str, line: usize, column: usize) -> String {
        shown(yaml, line, column).lines().skip(2).map(|line| line[4..].to_owned()).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_caret_stands_at_the_scripts_character_in_every_style() {
        let cases = [
            ("plain", "e: a + ? + b\n", 1, 5, "e: a + ? + b\n       ^"),
            ("single quotes", "e: 'a + ?'\n", 1, 5, "e: 'a + ?'\n        ^"),
            ("apostrophes", "e: 'a == ''x'' ?'\n", 1, 10, "e: 'a == ''x'' ?'\n               ^"),
            ("double quotes", "e: \"ä + ?\"\n", 1, 5, "e: \"ä + ?\"\n        ^"),
            ("escapes", "e: \"\\u00e4 \\\"x\\\" ?\"\n", 1, 7, "e: \"\\u00e4 \\\"x\\\" ?\"\n                 ^"),
            ("line by escape", "e: \"a\\nb ?\"\n", 2, 3, "e: \"a\\nb ?\"\n         ^"),
            ("literal", "e: |\n  a\n    b ?\n", 2, 5, "    b ?\n      ^"),
            ("literal, first line", "e: |\n  a ?\n  b\n", 1, 3, "  a ?\n    ^"),
            ("literal, CR LF", "e: |\r\n  a\r\n  b ?\r\n", 2, 3, "  b ?\n    ^"),
            ("literal, after a blank line", "e: |\n  a\n\n  b ?\n", 3, 3, "  b ?\n    ^"),
            ("folded", "e: >\n  a ?\n", 1, 3, "  a ?\n    ^"),
        ];
        for (style, yaml, line, column, expected) in cases {
            assert_eq!(caret(yaml, line, column), expected, "{style}");
        }
    }

    #[test]
    fn a_place_that_can_not_be_shown_is_described() {
        let expected = "job.yml:2:3: bad (line 1, column 5 of the script)\n  |\n2 |   a +\n  |   ^^^\n";
        assert_eq!(shown("e: >\n  a +\n  ?\n", 1, 5), expected);
    }

    #[test]
    fn an_unknown_place_is_the_scripts_start() {
        assert_eq!(shown("e: abc\n", 0, 0), "job.yml:1:4: bad\n  |\n1 | e: abc\n  |    ^^^\n");
    }
}
