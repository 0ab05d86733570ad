//! An eval set with its cases.

use super::invocation::{TrpcInvocation, read_invocation};
use super::message::read_messages;
use super::{Generation, KEYS, UNKNOWN};
use crate::dataset::Kind;
use crate::dataset::cursor::{Cursor, Fields};
use crate::dataset::json::JsonNode;
use crate::dataset::model::{
    CaseSession, CaseUser, Dataset, DatasetCase, DatasetMetric, MeasureKind, RecordedTurn, Rubric, Scenario,
    ScenarioDriver,
};

/// Reads an eval set. `name` stands in for a missing id.
pub(in crate::dataset) fn read_eval_set(value: Cursor<'_>, name: &str) -> Dataset {
    let mut dataset = Dataset::new(Kind::TrpcEvalSet, name);
    let Some(mut fields) = value.fields(KEYS) else { return dataset };
    if let Some(id) = fields.required("evalSetId").and_then(Cursor::filled_text) {
        dataset.name = id.to_owned();
    }
    if let Some(title) = fields.text("name").filter(|title| *title != dataset.name && !title.is_empty()) {
        dataset.extra.insert("name".to_owned(), title.into());
    }
    dataset.description = fields.text("description").filter(|text| !text.is_empty());
    dataset.created = fields.number("creationTimestamp");
    let cases = fields.items("evalCases");
    if cases.is_empty() {
        value.warn("this eval set has no cases");
    }
    dataset.cases = cases.into_iter().filter_map(read_case).collect();
    dataset.extra.extend(fields.rest(UNKNOWN));
    dataset
}

/// The generation of an eval set: the older one's turns have contents with parts.
pub(in crate::dataset) fn generation_of(root: &JsonNode) -> Generation {
    let cases = root.get("evalCases").map(JsonNode::items).unwrap_or_default();
    let is_old = |turn: &JsonNode| {
        turn.has_value("intermediateData") || turn.get("userContent").is_some_and(|user| user.has_value("parts"))
    };
    let turns = |case: &JsonNode| case.get("conversation").map(JsonNode::items).unwrap_or_default().iter().any(is_old);
    if cases.iter().any(turns) { Generation::Seed } else { Generation::Head }
}

fn read_case(value: Cursor<'_>) -> Option<DatasetCase> {
    let mut fields = value.fields(KEYS)?;
    let id = fields.required("evalId").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let mut case = DatasetCase { id, line: value.line(), ..DatasetCase::default() };
    let mode = fields.get("evalMode");
    let is_trace = match mode.map(|mode| mode.text().unwrap_or_default()) {
        None | Some("" | "default") => false,
        Some("trace") => true,
        Some(_) => {
            mode.into_iter().for_each(|mode| mode.error_with("there is no such mode", "`trace`, or none"));
            false
        }
    };
    case.expected_runner = fields.flag("expectedRunnerEnabled").unwrap_or_default();
    if is_trace {
        read_trace(&mut fields, &mut case)
    } else {
        read_live(&mut fields, &mut case)
    }
    case.session = fields.get("sessionInput").map(read_session).unwrap_or_default();
    case.session.context = read_messages(fields.items("contextMessages"));
    for (rubric, number) in fields.items("rubrics").into_iter().zip(1..) {
        case.rubrics.extend(read_rubric(rubric, number));
    }
    case.created = fields.number("creationTimestamp");
    case.extra = fields.rest(UNKNOWN);
    Some(case)
}

fn turns(value: Cursor<'_>) -> Vec<TrpcInvocation> {
    let turns = value.items();
    if turns.is_empty() {
        value.error("this conversation has no turns");
    }
    turns.into_iter().filter_map(read_invocation).collect()
}

/// Reads the user of a case for which the agent is asked.
fn read_live(fields: &mut Fields<'_>, case: &mut DatasetCase) {
    let conversation = fields.get("conversation");
    let scenario = fields.get("conversationScenario");
    if let Some(actual) = fields.get("actualConversation") {
        actual.error_with("only a case with `\"evalMode\": \"trace\"` has recorded turns", "is that mode meant?");
    }
    match (conversation, scenario) {
        (Some(conversation), None) => {
            case.user = CaseUser::Lines(turns(conversation).into_iter().map(TrpcInvocation::into_line).collect());
        }
        (None, Some(scenario)) => {
            if let Some(scenario) = read_scenario(scenario) {
                case.user = CaseUser::Scenario(Box::new(scenario));
            }
        }
        (Some(_), Some(second)) => {
            second.error("a case has either a `conversation` or a `conversationScenario`, not both");
        }
        (None, None) => fields.cursor.error("a case needs a `conversation` or a `conversationScenario`"),
    }
}

/// Reads a case whose actual side is in the file: it is `actualConversation`, or without one `conversation`, of which then
/// nothing is expected.
fn read_trace(fields: &mut Fields<'_>, case: &mut DatasetCase) {
    let conversation = fields.get("conversation");
    let actual = fields.get("actualConversation");
    if let Some(scenario) = fields.get("conversationScenario") {
        scenario.error("a recorded case has no simulated user");
    }
    let recorded = |turns: Vec<TrpcInvocation>| {
        turns.into_iter().map(TrpcInvocation::into_recorded).collect::<Vec<RecordedTurn>>()
    };
    let (lines, actual) = match (conversation, actual) {
        (Some(expected), Some(actual)) => {
            let (expected_turns, actual_turns) = (turns(expected), turns(actual));
            if expected_turns.len() != actual_turns.len() {
                let (expected, recorded) = (expected_turns.len(), actual_turns.len());
                actual.error(format!("{recorded} recorded turns stand beside {expected} expected ones"));
            }
            case.has_expected_side = true;
            (expected_turns.into_iter().map(TrpcInvocation::into_line).collect(), recorded(actual_turns))
        }
        (Some(only), None) | (None, Some(only)) => {
            let turns = turns(only);
            (turns.iter().map(TrpcInvocation::line_alone).collect(), recorded(turns))
        }
        (None, None) => {
            return fields.cursor.error("a recorded case needs a `conversation` or an `actualConversation`");
        }
    };
    case.user = CaseUser::Lines(lines);
    case.recorded = Some(actual);
}

fn read_scenario(value: Cursor<'_>) -> Option<Scenario> {
    let mut fields = value.fields(KEYS)?;
    let driver = match fields.get("driver") {
        None => ScenarioDriver::Actual,
        Some(driver) => match driver.text() {
            Some("" | "actual") => ScenarioDriver::Actual,
            Some("expected") => ScenarioDriver::Expected,
            Some(_) => {
                driver.error_with("there is no such driver", "`actual` or `expected`");
                ScenarioDriver::Actual
            }
            None => ScenarioDriver::Actual,
        },
    };
    let starting_prompt = fields.text("startingPrompt").filter(|text| !text.trim().is_empty());
    let plan = fields.required("conversationPlan").and_then(Cursor::filled_text).unwrap_or_default().to_owned();
    let stop_signal = fields.text("stopSignal").filter(|signal| !signal.trim().is_empty());
    let max_turns = fields.get("maxAllowedInvocations").and_then(Cursor::count).filter(|count| *count > 0);
    if stop_signal.is_none() && max_turns.is_none() {
        value.error("a scenario without `stopSignal` and without `maxAllowedInvocations` would never end");
    }
    let extra = fields.rest(UNKNOWN);
    Some(Scenario { starting_prompt, plan, stop_signal, max_turns, driver, extra, ..Scenario::default() })
}

fn read_session(value: Cursor<'_>) -> CaseSession {
    let Some(mut fields) = value.fields(KEYS) else { return CaseSession::default() };
    let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
    let (app, user) = (filled(fields.text("appName")), filled(fields.text("userId")));
    let id = filled(fields.text("sessionId"));
    let state = fields.map("state");
    fields.rest(UNKNOWN);
    CaseSession { app, user, id, state, ..CaseSession::default() }
}

fn read_rubric(value: Cursor<'_>, number: usize) -> Option<Rubric> {
    let mut fields = value.fields(KEYS)?;
    let metric = fields.required("metricName").and_then(Cursor::filled_text).map(str::to_owned);
    let id = fields.text("id").filter(|id| !id.is_empty()).unwrap_or_else(|| format!("case_rubric_{number}"));
    let text = fields.required("content").and_then(|content| {
        let mut fields = content.fields(KEYS)?;
        let text = fields.required("text").and_then(Cursor::filled_text).map(str::to_owned);
        fields.rest(UNKNOWN);
        text
    });
    let (description, rubric_type) = (fields.text("description"), fields.text("type"));
    fields.rest(UNKNOWN);
    Some(Rubric { id, text: text.unwrap_or_default(), description, rubric_type, metric, weight: None })
}

/// The problem with the rubrics of cases beside these metrics: the line of the case, and a sentence.
pub(in crate::dataset) fn check_rubrics(dataset: &Dataset, metrics: &[DatasetMetric]) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    for case in &dataset.cases {
        for (index, rubric) in case.rubrics.iter().enumerate() {
            let name = rubric.metric.as_deref().unwrap_or_default();
            let metric = metrics.iter().find(|metric| metric.name == name);
            let mut taken = case.rubrics[..index].iter().filter(|other| other.metric == rubric.metric);
            let problem = match metric {
                None => Some(format!("rubric `{}` is for the metric `{name}`, which is not measured", rubric.id)),
                Some(metric) if metric.kind != MeasureKind::Judge => {
                    Some(format!("rubric `{}` is for the metric `{name}`, which asks no judge", rubric.id))
                }
                Some(metric) if metric.rubrics.iter().chain(taken.by_ref()).any(|other| other.id == rubric.id) => {
                    Some(format!("the metric `{name}` has a rubric `{}` already", rubric.id))
                }
                Some(_) => None,
            };
            wrong.extend(problem.map(|problem| (case.line, format!("case {}: {problem}", case.id))));
        }
    }
    wrong
}
