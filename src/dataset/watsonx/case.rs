//! A ground-truth dataset: one journey.

use super::attack::read_attack;
use super::goals::{read_details, read_goals};
use super::metrics::metrics_for;
use super::{KEYS, MAX_USER_TURNS, STOP_SIGNAL, UNKNOWN};
use crate::dataset::Kind;
use crate::dataset::cursor::Cursor;
use crate::dataset::json::JsonNode;
use crate::dataset::model::{CaseSession, CaseUser, Dataset, DatasetCase, MeasureKind, Scenario};

/// Reads a ground-truth dataset: one case, named after the file where it has no name. `any_value` is the word that stands for any
/// value in arguments, where it is not the usual one.
pub(in crate::dataset) fn read_case(value: Cursor<'_>, name: &str, any_value: Option<&str>) -> Dataset {
    let mut dataset = Dataset::new(Kind::WatsonxCase, name);
    let Some(mut fields) = value.fields(KEYS) else { return dataset };
    if let Some(name) = fields.text("dataset_name").filter(|name| !name.is_empty()) {
        dataset.name = name;
    }
    let mut case = DatasetCase { id: dataset.name.clone(), line: value.line(), ..DatasetCase::default() };
    let mut scenario = Scenario {
        plan: fields.required("story").and_then(Cursor::filled_text).unwrap_or_default().to_owned(),
        starting_prompt: fields.text("starting_sentence").filter(|text| !text.trim().is_empty()),
        prompts: fields.get("user_prompts").map(Cursor::texts).unwrap_or_default(),
        stop_signal: Some(STOP_SIGNAL.to_owned()),
        max_turns: Some(MAX_USER_TURNS),
        ..Scenario::default()
    };
    if let Some(most) = fields.get("max_user_turns") {
        scenario.max_turns = most.count();
        if scenario.max_turns == Some(0) {
            most.error("the user needs at least one turn");
        }
        scenario.extra.insert("maxUserTurns".to_owned(), most.json());
    }
    let (details, checks) =
        fields.get("goal_details").map(|details| read_details(details, any_value)).unwrap_or_default();
    let goals = fields.get("goals");
    case.checks = checks;
    case.expected.goals = read_goals(value, goals, details);
    case.session = CaseSession {
        app: fields.text("agent").filter(|agent| !agent.is_empty()),
        variables: fields.map("runtime_context"),
        ..CaseSession::default()
    };
    if let Some(files) = fields.get("file_upload") {
        case.uploads = if files.node.items().is_empty() {
            vec![files.json()]
        } else {
            files.node.items().iter().map(JsonNode::to_json).collect()
        };
    }
    case.tags = fields.get("tags").map(Cursor::texts).unwrap_or_default();
    let attack = read_attack(&mut fields, &mut case, &mut scenario);
    if case.expected.goals.is_none()
        && case.checks.is_empty()
        && attack.as_ref().is_none_or(|it| it.kind == MeasureKind::Journey)
    {
        value.warn("this case has no goals: nothing of the conversation is measured but its tool calls as such");
    }
    for name in ["response_summary_version", "thread_id", "context_variables"] {
        if let Some(part) = fields.get(name) {
            if name == "context_variables" && !part.node.entries().is_empty() {
                part.warn("`context_variables` are those of the recording and not sent: `runtime_context` is");
            }
            case.extra.insert(name.to_owned(), part.json());
        }
    }
    case.extra.extend(fields.rest(UNKNOWN));
    case.user = CaseUser::Scenario(Box::new(scenario));
    dataset.metrics = match attack {
        Some(metric) => vec![metric],
        None => metrics_for(None, std::slice::from_ref(&case)),
    };
    dataset.cases = vec![case];
    dataset
}

/// How a case says what its last reply sums up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::dataset) enum SummaryVersion {
    /// A goal `summarize` without `summary`.
    V1,
    /// One with it.
    V2,
}

/// The version of a case's summary; one without a goal `summarize` goes with either.
pub(in crate::dataset) fn summary_version(root: &JsonNode) -> Option<SummaryVersion> {
    let details = root.get("goal_details").map(JsonNode::items).unwrap_or_default();
    let summarize = details.iter().find(|goal| goal.get("name").and_then(JsonNode::text) == Some("summarize"))?;
    Some(if summarize.has_value("summary") { SummaryVersion::V2 } else { SummaryVersion::V1 })
}
