//! The format of a file, by its content, never by its name.

use super::Kind;
use super::findings::{about_file, about_text, unreadable};
use super::json::{self, JsonContent, JsonNode, JsonText};
use crate::job::{Problem, Problems, SourceLines};

/// The searched-for kind, for messages.
pub(super) const LOOKED_FOR: &str = "looked for: Google ADK (`eval_cases`, a list with `query`, `scenarios`), trpc-agent-go \
    (`evalCases`), watsonx Orchestrate (`goals` and `story`, YAML with `test_paths`, CSV `story,agent`), Red Hat \
    (`metadata` and `conversation`, `scenario` and `expected_outcome`)";

/// A file that was recognised.
pub(super) struct Recognised<'t> {
    /// Its format.
    pub(super) kind: Kind,
    /// Its tree, where it is JSON. Of JSON within a JSON text, the inner one.
    pub(super) json: Option<JsonText<'t>>,
    /// The inner text, of JSON within a JSON text: places are those of this one.
    pub(super) inner: Option<String>,
}

/// The format of a file, by its content.
///
/// # Errors
/// The text is no JSON, or none of the known kinds.
pub fn recognise(file_name: &str, text: &str) -> Result<Kind, Problems> {
    look_at(file_name, text).map(|recognised| recognised.kind)
}

/// The format of a file, with its tree.
pub(super) fn look_at<'t>(file_name: &str, text: &'t str) -> Result<Recognised<'t>, Problems> {
    let lines = SourceLines::new(text);
    let unknown = |problem: Problem| Problems { list: vec![problem], untold: 0 };
    let Some(first) = first_character(lines.text()) else {
        return Err(unknown(about_file(file_name, "the file is empty", Some(LOOKED_FOR))));
    };
    if !matches!(first, '{' | '[' | '"') {
        return match kind_of_plain_text(lines.text()) {
            Ok(kind) => Ok(Recognised { kind, json: None, inner: None }),
            Err(message) => Err(unknown(about_text(file_name, text, message, Some(LOOKED_FOR)))),
        };
    }
    let read = json::read(lines.text()).map_err(|error| unreadable(file_name, &lines, error))?;
    // Older writers put their JSON into a JSON text.
    if let Some(inner) = read.root.text() {
        let inner = inner.to_owned();
        let inner_lines = SourceLines::new(&inner);
        let read = json::read(inner_lines.text()).map_err(|error| unreadable(file_name, &inner_lines, error))?;
        let kind = kind_of(&read.root).map_err(|help| unknown(unrecognised(file_name, text, help)))?;
        let json = Some(read.into_owned());
        return Ok(Recognised { kind, json, inner: Some(inner) });
    }
    let kind = kind_of(&read.root).map_err(|help| unknown(unrecognised(file_name, text, help)))?;
    Ok(Recognised { kind, json: Some(read), inner: None })
}

fn unrecognised(file_name: &str, text: &str, help: &str) -> Problem {
    about_text(file_name, text, "this is no evaluation file that eval-job knows", Some(help))
}

/// Whether a text is meant as JSON: behind a byte order mark, white space and comments there is a bracket.
pub fn is_json(text: &str) -> bool {
    matches!(first_character(text.trim_start_matches('\u{feff}')), Some('{' | '['))
}

/// The first character that is neither white space nor part of a comment.
fn first_character(text: &str) -> Option<char> {
    let mut rest = text.trim_start();
    while rest.starts_with("//") || rest.starts_with('#') || rest.starts_with("/*") {
        let end = if rest.starts_with("/*") { rest.find("*/").map(|at| at + 2) } else { rest.find('\n') };
        rest = rest[end.unwrap_or(rest.len())..].trim_start();
    }
    rest.chars().next()
}

/// The kind of a JSON document, or what to try with it.
fn kind_of(root: &JsonNode) -> Result<Kind, &'static str> {
    match &root.content {
        JsonContent::Object(_) => kind_of_object(root),
        JsonContent::List(items) => kind_of_list(items),
        _ => Err(LOOKED_FOR),
    }
}

fn kind_of_list(items: &[JsonNode]) -> Result<Kind, &'static str> {
    let Some(first) = items.iter().find(|item| matches!(item.content, JsonContent::Object(_))) else {
        return Err("it is an empty list, or a list without objects");
    };
    let any = |key: &str| items.iter().any(|item| item.has(key));
    Ok(match first {
        _ if any("query") => Kind::AdkTestList,
        _ if any("name") && any("data") => Kind::AdkOldEvalSet,
        _ if items.iter().any(|item| has_go(item, "metricName")) => Kind::TrpcMetrics,
        _ if any("user_content") || any("userContent") => Kind::AdkInvocations,
        _ if any("message") && any("reason") => Kind::WatsonxAnalyze,
        _ if any("messages") => Kind::MessageList,
        _ if any("role") && is_watsonx_messages(items) => Kind::WatsonxMessages,
        _ if any("role") => Kind::MessageList,
        _ if any("scenario") => Kind::RedhatGoldens,
        _ if any("resourceSpans") || any("resourceLogs") => Kind::OtlpTraces,
        _ if any("expected_tool_use") || any("reference") => {
            return Err("a test of ADK's old schema needs `query`, the user's text, in each turn");
        }
        _ => return Err(LOOKED_FOR),
    })
}

/// Messages of watsonx Orchestrate say what they are; those of others have a type only within their parts.
fn is_watsonx_messages(items: &[JsonNode]) -> bool {
    items.iter().any(|item| {
        item.has("event")
            || item.has("conversational_search_metadata")
            || item.get("type").and_then(JsonNode::text).is_some_and(|kind| kind == "text" || kind.starts_with("tool_"))
    })
}

fn kind_of_object(root: &JsonNode) -> Result<Kind, &'static str> {
    let any = |keys: &[&str]| keys.iter().any(|key| root.has(key));
    Ok(if any(&["eval_set_result_id", "eval_case_results"]) {
        Kind::AdkResult
    } else if any(&["evalSetResultId", "evalCaseResults", "eval_set_result"]) {
        Kind::TrpcResult
    } else if any(&["eval_cases", "eval_set_id"]) || (any(&["evalCases", "evalSetId"]) && is_adk_in_camel_case(root)) {
        Kind::AdkEvalSet
    } else if ["evalCases", "evalSetId"].iter().any(|key| has_go(root, key)) {
        Kind::TrpcEvalSet
    } else if any(&["resourceSpans", "resourceLogs"]) {
        Kind::OtlpTraces
    } else if root.has("test_paths") {
        Kind::WatsonxConfig
    } else if any(&["criteria", "custom_metrics", "customMetrics", "user_simulator_config", "userSimulatorConfig"]) {
        Kind::AdkTestConfig
    } else if any(&["goals", "goal_details"]) || any(&["story"]) && any(&["agent", "starting_sentence"]) {
        Kind::WatsonxCase
    } else if root.has("metadata") && root.has("conversation") {
        Kind::RedhatConversation
    } else if root.has("scenarios") {
        Kind::AdkScenarios
    } else if any(&["is_success", "tool_call_recall", "journey_completion"]) {
        Kind::WatsonxMetrics
    } else if any(&["successful_evaluations", "evaluation_results", "app_tokens"]) {
        Kind::RedhatResult
    } else if root.get("messages").is_some_and(is_messages) {
        Kind::MessageList
    } else if root.has("scenario") {
        Kind::RedhatGoldens
    } else if root.has("state") && !root.has("events") && !root.has("queries") {
        Kind::AdkSession
    } else {
        return Err(look_alike(root));
    })
}

/// Whether an object has this key in any case, as Go reads it.
fn has_go(node: &JsonNode, key: &str) -> bool {
    node.entries().iter().any(|entry| entry.key.eq_ignore_ascii_case(key))
}

/// Whether a value is a list of messages; an empty one is too.
fn is_messages(value: &JsonNode) -> bool {
    let JsonContent::List(items) = &value.content else { return false };
    items.is_empty() || items.iter().any(|message| message.has("role"))
}

/// Whether an eval set in camelCase may be ADK's or of trpc-agent-go's first version, which has ADK's messages and calls: what stands
/// beside it tells which.
pub(super) fn may_be_either(root: &JsonNode) -> bool {
    let cases = root.get("evalCases").map(JsonNode::items).unwrap_or_default();
    let mut turns = cases.iter().flat_map(|case| case.get("conversation").map(JsonNode::items).unwrap_or_default());
    let has_parts = |turn: &JsonNode| turn.get("userContent").is_some_and(|user| user.has_value("parts"));
    !cases.is_empty() && !is_adk_in_camel_case(root) && turns.all(|turn| has_parts(turn) && !turn.has("tools"))
}

/// Whether an eval set in camelCase is ADK's: it has what only ADK's have.
fn is_adk_in_camel_case(root: &JsonNode) -> bool {
    let cases = root.get("evalCases").map(JsonNode::items).unwrap_or_default();
    cases.iter().any(|case| {
        // The role `model` is genai's, which trpc-agent-go's first files have too.
        let has_events =
            |turn: &JsonNode| turn.get("intermediateData").is_some_and(|data| data.has("invocationEvents"));
        let turns = case.get("conversation").map(JsonNode::items).unwrap_or_default();
        let rubrics = case.get("rubrics").map(JsonNode::items).unwrap_or_default();
        // trpc-agent-go's cases have no key with an underscore.
        let is_snake = case.has("eval_id") || turns.iter().any(|turn| turn.has("user_content"));
        is_snake
            || case.has("finalSessionState")
            || case.get("conversationScenario").is_some_and(|scenario| scenario.has("userPersona"))
            || rubrics.iter().any(|rubric| rubric.has("rubricContent"))
            || turns.iter().any(|turn| has_events(turn) || turn.has("appDetails") || has_unanswered_calls(turn))
    })
}

/// Whether a turn has calls without ids, or without a response each: in trpc-agent-go's files no agent could pass it.
fn has_unanswered_calls(turn: &JsonNode) -> bool {
    let Some(data) = turn.get("intermediateData") else { return false };
    let ids = |key: &str| -> Vec<&str> {
        let items = data.get(key).map(JsonNode::items).unwrap_or_default();
        items.iter().map(|item| item.get("id").and_then(JsonNode::text).unwrap_or_default()).collect()
    };
    let (uses, responses) = (ids("toolUses"), ids("toolResponses"));
    uses.len() != responses.len() || uses.iter().any(|id| id.is_empty() || !responses.contains(id))
}

/// The remedy to suggest with a file that is like one that is known.
fn look_alike(root: &JsonNode) -> &'static str {
    let all = |keys: &[&str]| keys.iter().all(|key| root.has(key));
    if root.has("test_cases") {
        return "a list of `test_cases` with `input` and `expected_output` is in ADK's samples (security_agent), but no \
                code of ADK reads it: its eval sets have `eval_set_id` and `eval_cases`, each with a `conversation` of \
                `user_content`, `final_response` and `intermediate_data`";
    }
    if all(&["state", "queries"]) {
        return "this is a file for `adk run --replay`: it has no expectations. An eval set has `eval_cases`";
    }
    if root.has("tool_simulation_configs") {
        return "this configures ADK's simulated tools; it holds no cases. An eval set has `eval_cases`";
    }
    if root.has("events") {
        return "this is a session of an agent, not an evaluation: an eval set of ADK has `eval_cases`";
    }
    if root.has("user_content") || root.has("userContent") || root.has("eval_id") || root.has("evalId") {
        return "this is a single case or turn: put it into `{\"eval_set_id\": …, \"eval_cases\": [{\"eval_id\": …, \
                \"conversation\": […]}]}`";
    }
    if root.has("starting_prompt") || root.has("conversation_plan") {
        return "this is a single scenario: put it into `{\"scenarios\": […]}`";
    }
    if root.get("run").is_some_and(|run| run.has("train")) || root.has("TargetSurfaceIDs") {
        return "this asks PromptIter of trpc-agent-go for better prompts: its cases are in the eval sets that it names (`evalSetId`)";
    }
    if all(&["Status", "Rounds"]) {
        return "this is what PromptIter of trpc-agent-go made of prompts: its cases are in eval sets of their own";
    }
    if root.has("metricName") {
        return "this is a single metric: a metrics file of trpc-agent-go is a list of them, beside an `.evalset.json`";
    }
    if root.has("attack_data") {
        return "this is an attack of watsonx Orchestrate's red-teaming without a `story`";
    }
    if root.has("spec_version") || root.has("instructions") || root.has("api_url") {
        return "this describes an agent; it holds no cases";
    }
    if root.has("openapi") {
        return "this is an OpenAPI description; it holds no cases";
    }
    if is_native_job(|key| root.has(key)) {
        return "this is a job of eval-job's own; a job file is YAML: `eval-job run FILE` reads it as it is";
    }
    LOOKED_FOR
}

fn is_native_job(has: impl Fn(&str) -> bool) -> bool {
    has("target") && ["tasks", "cases", "facts", "evaluator", "script"].iter().any(|key| has(key))
}

/// The kind of a text that is no JSON, or why it is none.
fn kind_of_plain_text(text: &str) -> Result<Kind, &'static str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else { return Err("the file is empty") };
    let columns: Vec<String> =
        first.split(',').map(|column| column.trim().trim_matches('"').to_ascii_lowercase()).collect();
    let has_column = |name: &str| columns.iter().any(|column| column == name);
    if has_column("story") && columns.len() <= 4 {
        return Ok(Kind::WatsonxStories);
    }
    if has_column("dataset_name") {
        return Ok(Kind::WatsonxMetrics);
    }
    let key_line = |key: &str| {
        text.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')))
    };
    if key_line("test_paths") || key_line("trace_sources") {
        return Ok(Kind::WatsonxConfig);
    }
    if is_native_job(key_line) {
        return Err("this is a job of eval-job's own: `eval-job run FILE` reads it as it is");
    }
    if text.lines().any(|line| line.trim_start().starts_with("test_paths:")) {
        return Err("this is a file of environments of watsonx Orchestrate: run what stands at `test_paths` itself");
    }
    if text.lines().filter(|line| !line.trim().is_empty()).all(|line| line.contains('\t')) {
        return Ok(Kind::WatsonxValidation);
    }
    if serde_json::from_str::<serde_json::Value>(text).is_ok() {
        return Err("this is a single value, and no evaluation file");
    }
    let is_id = |line: &str| !line.contains(|c: char| c.is_whitespace() || "{}[]\":,<>".contains(c));
    if text.lines().map(str::trim).filter(|line| !line.is_empty()).all(is_id) {
        return Ok(Kind::RedhatUserIds);
    }
    Err("this is no evaluation file that eval-job knows")
}
