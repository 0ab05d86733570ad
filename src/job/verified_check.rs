//! Checks of `verifiedBy`: each name is that of an assertion which is checked wherever the task is given.

use super::nearest::nearest;
use super::problem::{Report, listed, quoted};
use super::source::YamlNode;

/// Reports tasks that are verified by assertions which are not there.
pub(super) fn check(report: &mut Report<'_>, root: &YamlNode) {
    let cases: Vec<&YamlNode> = root.get("cases").map(YamlNode::items).unwrap_or_default().iter().collect();
    let own = names(root);
    let is_everywhere = |name: &str| !cases.is_empty() && cases.iter().all(|case| names(case).contains(&name));
    tasks(report, root, |name| own.contains(&name) || is_everywhere(name), &own);
    for case in &cases {
        let known: Vec<&str> = own.iter().copied().chain(names(case)).collect();
        tasks(report, case, |name| known.contains(&name), &known);
    }
    let measured = root.get("metrics").map(YamlNode::items).unwrap_or_default();
    let is_measured = measured.iter().any(|item| item.text() == Some("assertions") || item.get("assertions").is_some());
    let verified = [root].into_iter().chain(cases).flat_map(entries).next();
    if let Some(entry) = verified.filter(|_| !measured.is_empty() && !is_measured) {
        report
            .add(entry.span, "a task is verified by assertions, and `metrics` does not list `assertions`".to_owned())
            .try_this("list it; with a weight of 0 under `weights` it does not count".to_owned());
    }
}

fn names(part: &YamlNode) -> Vec<&str> {
    let assertions = part.get("assertions").map(YamlNode::items).unwrap_or_default();
    assertions.iter().filter_map(|assertion| assertion.get("name")?.text()).collect()
}

/// The entries of `verifiedBy` of the tasks of a job or a case.
fn entries(part: &YamlNode) -> Vec<&YamlNode> {
    let tasks = part.get("tasks").map(YamlNode::items).unwrap_or_default();
    tasks.iter().filter_map(|task| task.get("verifiedBy")).flat_map(YamlNode::items).collect()
}

fn tasks(report: &mut Report<'_>, part: &YamlNode, is_known: impl Fn(&str) -> bool, known: &[&str]) {
    for node in entries(part) {
        let Some(name) = node.text().filter(|name| !is_known(name)) else { continue };
        let help = match (nearest(name, known.iter().copied()), known) {
            (Some(near), _) => format!("did you mean {}?", quoted(near)),
            (None, []) => "give the assertion a `name`, and write it here".to_owned(),
            (None, known) => {
                format!("it is one of {}", listed(&known.iter().map(|name| quoted(name)).collect::<Vec<_>>(), "or"))
            }
        };
        report.add(node.span, format!("no assertion has the name {}", quoted(name))).try_this(help);
    }
}
