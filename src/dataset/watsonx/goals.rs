//! The details of goals.

use serde_json::{Map, Value};

use super::graph::check_graph;
use super::{KEYS, UNKNOWN};
use crate::dataset::cursor::{Cursor, Fields, UnknownKeys};
use crate::dataset::json::JsonNode;
use crate::dataset::model::{DatasetCall, DatasetGoals, Goal, GoalKind, JudgedCheck, JudgedScope};
use crate::text::nearest;

/// A goal, and where its name is written.
pub(super) type Detail<'a> = (Goal, Cursor<'a>);

const TYPES: [&str; 6] = ["tool_call", "text", "interaction", "conversational_search", "tool_response", "assert_llm"];

/// The word for "any value" in arguments, and the key that stands for any arguments.
const ANY_VALUE: &str = "<IGNORE>";
pub(super) const ANY_ARGS: &str = "IGNORE";

/// Reads the details of the goals, and what a judge checks. `any_value` is the word for any value where it is not the usual one.
pub(super) fn read_details<'a>(value: Cursor<'a>, any_value: Option<&str>) -> (Vec<Detail<'a>>, Vec<JudgedCheck>) {
    let (mut details, mut checks) = (Vec::new(), Vec::new());
    for item in value.items() {
        let Some(mut fields) = item.fields(KEYS) else { continue };
        let Some(kind) = fields.required("type") else { continue };
        match kind.text() {
            Some("assert_llm") => checks.extend(read_check(fields)),
            Some(name) if TYPES.contains(&name) => details.extend(read_detail(name, fields, any_value)),
            Some(name) => {
                let help = nearest(name, TYPES.into_iter()).map(|near| format!("did you mean `{near}`?"));
                let help = help.unwrap_or_else(|| format!("one of {}", TYPES.join(", ")));
                kind.error_with(format!("there is no type `{name}` of goals"), help);
            }
            None => {}
        }
    }
    (details, checks)
}

fn read_check(mut fields: Fields<'_>) -> Option<JudgedCheck> {
    let kind = fields.required("kind");
    let kind = kind.and_then(|kind| match kind.text()? {
        known @ ("observed" | "policy") => Some(known.to_owned()),
        _ => {
            kind.error_with("there is no such kind of check", "`observed` or `policy`");
            None
        }
    });
    let check = fields.required("check").and_then(Cursor::filled_text).map(str::to_owned);
    let scope = match fields.get("scope") {
        None => JudgedScope::Conversation,
        Some(scope) => match scope.text() {
            Some("response") => JudgedScope::Response,
            Some("conversation") | None => JudgedScope::Conversation,
            Some(_) => {
                scope.error_with("there is no such scope", "`response` or `conversation`");
                JudgedScope::Conversation
            }
        },
    };
    fields.rest(UnknownKeys::Refused);
    Some(JudgedCheck { check: check?, kind: kind?, scope })
}

fn read_detail<'a>(kind: &str, mut fields: Fields<'a>, any_value: Option<&str>) -> Option<Detail<'a>> {
    let item = fields.cursor;
    let mut settings = None;
    let name = fields.required("name");
    let kind = match kind {
        "tool_call" | "tool_response" => {
            let call = read_call(&mut fields, any_value);
            if kind == "tool_call" { GoalKind::ToolCall(call) } else { GoalKind::ToolResponse(call) }
        }
        "text" => {
            let (response, summary) = (fields.text("response"), fields.text("summary"));
            let keywords = fields.get("keywords").map(Cursor::texts).unwrap_or_default();
            if response.is_none() && summary.is_none() && keywords.is_empty() {
                item.warn("this goal has neither a `response` nor `keywords`: any reply reaches it");
            }
            let is_summary = response.is_none() && summary.is_some();
            GoalKind::Text { response: response.or(summary), keywords, is_summary }
        }
        "interaction" => {
            let identifier = fields.required("identifier").and_then(|value| value.fields(KEYS));
            let (key, value) = identifier.map(read_identifier).unwrap_or_default();
            GoalKind::Interaction { key, value }
        }
        _ => {
            let base = fields.get("knowledge_base");
            // In the original's own model it is an object with settings of its metrics.
            let is_settings = base.is_some_and(|base| !base.node.entries().is_empty());
            settings = base.filter(|_| is_settings).map(Cursor::json);
            GoalKind::Search { knowledge_base: base.filter(|_| !is_settings).and_then(Cursor::text).map(str::to_owned) }
        }
    };
    let name = name?;
    let text = name.filled_text()?.to_owned();
    let mut extra = fields.rest(UNKNOWN);
    extra.extend(settings.map(|settings| ("knowledge_base".to_owned(), settings)));
    Some((Goal { name: text, kind, extra }, name))
}

fn read_identifier(mut fields: Fields<'_>) -> (String, Value) {
    let key = fields.required("key").and_then(Cursor::text).unwrap_or_default().to_owned();
    let value = fields.get("value").map(Cursor::json).unwrap_or_default();
    fields.rest(UNKNOWN);
    (key, value)
}

/// Reads an expected call. Arguments that are null are none expected; the word for any arguments leaves them out.
fn read_call(fields: &mut Fields<'_>, any_value: Option<&str>) -> DatasetCall {
    let tool = fields.required("tool_name").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let args = fields.get("args");
    let mut call = DatasetCall { tool, args: Some(Value::Null.into()), ..DatasetCall::default() };
    if let Some(args) = args.filter(|args| args.map().is_some()) {
        let is_any =
            args.node.entries().len() == 1 && args.node.get(ANY_ARGS).is_some_and(|value| args.at(value).is_null());
        let mut known = args.json();
        if let Some(word) = any_value.filter(|word| *word != ANY_VALUE) {
            if holds_text(&known, ANY_VALUE) {
                args.warn(format!("`{ANY_VALUE}` stands for any value here as well, although `{word}` does"));
            }
            rename_any(&mut known, word);
        }
        collect_any(&known, "", &mut call.rules);
        call.args = (!is_any).then_some(known.into());
    }
    let Some(matching) = fields.get("arg_matching") else { return call };
    if matching.map().is_none() {
        return call;
    }
    let mut paths = Vec::new();
    if let Some(args) = args {
        collect_paths(args.node, "", &mut paths);
    }
    if paths.is_empty() && !matching.node.entries().is_empty() {
        matching.warn("`arg_matching` means nothing where no arguments are expected");
        return call;
    }
    for entry in matching.node.entries() {
        let rule = matching.at(&entry.value);
        let known = ["strict", "optional", "ignore", "fuzzy"];
        match rule.text() {
            Some(name) if known.contains(&name) => drop(call.rules.insert(entry.key.to_string(), name.into())),
            Some(name) => {
                rule.error_with(format!("there is no strategy `{name}`"), format!("one of {}", known.join(", ")))
            }
            None => {}
        }
        if !paths.iter().any(|path| *path == entry.key) {
            let near = rule.nearest(&entry.key, paths.iter().map(String::as_str));
            let help = near.map_or_else(
                || "it names an argument, or a dotted path below one".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            rule.error_with(format!("`{}` is no argument of this call", entry.key), help);
        }
    }
    call
}

/// The paths of all arguments, those of objects and of what is in them.
fn collect_paths(node: &JsonNode, prefix: &str, paths: &mut Vec<String>) {
    for entry in node.entries() {
        let path = if prefix.is_empty() { entry.key.to_string() } else { format!("{prefix}.{}", entry.key) };
        collect_paths(&entry.value, &path, paths);
        paths.push(path);
    }
}

/// Arguments with the word for any value are not compared.
fn collect_any(value: &Value, prefix: &str, rules: &mut Map<String, Value>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        match value.as_str() {
            Some(ANY_VALUE) => drop(rules.insert(path, "ignore".into())),
            _ => collect_any(value, &path, rules),
        }
    }
}

/// Whether a text stands anywhere in a value by itself.
fn holds_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own == text,
        Value::Array(items) => items.iter().any(|item| holds_text(item, text)),
        Value::Object(map) => map.values().any(|value| holds_text(value, text)),
        _ => false,
    }
}

/// Puts the usual word for any value in the place of another one.
fn rename_any(value: &mut Value, word: &str) {
    match value {
        Value::String(text) if text == word => ANY_VALUE.clone_into(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename_any(item, word)),
        Value::Object(map) => map.values_mut().for_each(|value| rename_any(value, word)),
        _ => {}
    }
}

/// Puts the graph and its goals together, checked; `None` without any.
pub(super) fn read_goals<'a>(
    case: Cursor<'a>,
    goals: Option<Cursor<'a>>,
    details: Vec<Detail<'a>>,
) -> Option<DatasetGoals> {
    let edges = match goals {
        Some(goals) => check_graph(goals, &details),
        None if details.is_empty() => Vec::new(),
        None => {
            case.error("`goals` is missing: it says which goals come before which");
            Vec::new()
        }
    };
    let nodes: Vec<Goal> = details.into_iter().map(|(goal, _)| goal).collect();
    (!nodes.is_empty()).then_some(DatasetGoals { nodes, edges })
}
