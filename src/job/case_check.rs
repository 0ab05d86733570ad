//! Checks of `cases` beyond the schema: each needs an id of its own and something to do.

use std::collections::{BTreeMap, BTreeSet};

use super::problem::{Report, quoted};
use super::source::YamlNode;

/// The longest id, in characters.
const LONGEST: usize = 100;

/// The rule that [`is_case_id`] checks, for whoever breaks it.
pub const CASE_ID_RULE: &str = "an id is one line of at most 100 characters, without spaces around it";

/// Whether a text can be the id of a case.
pub fn is_case_id(text: &str) -> bool {
    !text.is_empty() && text.chars().count() <= LONGEST && !text.chars().any(char::is_control) && text.trim() == text
}

/// Reports cases that share an id or have no task, and lists that name something twice.
pub(super) fn check(report: &mut Report<'_>, root: &YamlNode) {
    for part in [root].into_iter().chain(root.get("cases").map(YamlNode::items).unwrap_or_default()) {
        for key in ["conditions", "metrics"] {
            named_twice(report, part.get(key).map(YamlNode::items).unwrap_or_default(), key);
        }
    }
    let mut taken = BTreeMap::new();
    for case in root.get("cases").map(YamlNode::items).unwrap_or_default() {
        let Some(id) = case.entry("id") else { continue };
        let Some(text) = id.value.text() else { continue };
        if !text.is_empty() && !is_case_id(text) {
            report.add(id.value.span, CASE_ID_RULE.to_owned()).try_this("say more in `description`".to_owned());
        }
        if let Some(line) = taken.insert(text.to_owned(), id.value.span.line) {
            report
                .add(id.value.span, format!("the case in line {line} has the id {} too", quoted(text)))
                .try_this("give each case an id of its own: results are kept by it".to_owned());
        }
        let has_lines =
            case.get("script").is_some() || root.get("evaluator").is_some_and(|it| it.get("script").is_some());
        if let Some(part) = case.entry("reference").filter(|_| root.get("reference").is_none()) {
            report
                .add(
                    part.key.span,
                    format!("the case {} has a `reference`, and the job names no such agent", quoted(text)),
                )
                .try_this(
                    "say how it is reached at the start of a line, as for `target`: reference: {user: …}".to_owned(),
                );
        }
        let has_plan = case.get("plan").is_some();
        let has_tasks = [root, case].iter().any(|it| it.get("tasks").is_some_and(|tasks| !tasks.items().is_empty()));
        if !has_lines && !has_plan && !has_tasks {
            report
                .add(id.key.span, format!("the case {} has no tasks", quoted(text)))
                .try_this(
                    "give it `tasks` or a `plan`, or write tasks for all cases at the start of a line; or give it the lines of a `script`"
                        .to_owned(),
                );
        }
    }
}

/// Reports what a list names twice: it would not be held, or measured, twice.
fn named_twice(report: &mut Report<'_>, items: &[YamlNode], key: &str) {
    let mut seen = BTreeSet::new();
    for item in items {
        if let Some(text) = item.text().filter(|text| !seen.insert(*text)) {
            report
                .add(item.span, format!("`{key}` names {} twice", quoted(text)))
                .try_this("name it once; `repeat` says how often each conversation is held".to_owned());
        }
    }
}
