//! Datasets as files of trpc-agent-go: an eval set as its newest version has it, and the metrics file beside it.

use serde_json::{Map, Value, json};

use crate::dataset::System;
use crate::dataset::counterpart::NoCounterpart;
use crate::dataset::model::{
    CaseUser, ContextMessage, Dataset, DatasetCall, DatasetCase, DatasetMetric, MeasureKind, RecordedTurn, Rubric,
    Scenario, ScenarioDriver, ToolMock, UserLine,
};
use crate::dataset::write::{WrittenDataset, extend, object, text};
use crate::text::file_name;

/// The most messages of a simulated user that nothing else ends.
const MOST_MESSAGES: u32 = 20;

/// Writes an eval set, and what it is measured by.
pub(in crate::dataset) fn write(dataset: &Dataset) -> WrittenDataset {
    let mut written = WrittenDataset::default();
    let is_own = dataset.kind.system() == System::Trpc;
    let mut metrics: Vec<Value> = Vec::new();
    for metric in dataset.metrics.iter().filter(|metric| metric.kind != MeasureKind::Figure) {
        match write_metric(dataset.kind.system(), metric, &mut written) {
            Ok(value) => metrics.push(value),
            Err(why) => written.warn(format!("metric {}: {why}", metric.name)),
        }
    }
    let has_turns = |case: &DatasetCase| matches!(&case.user, CaseUser::Lines(lines) if lines.len() > 1);
    for metric in dataset.metrics.iter().filter(|metric| !is_own && metric.kind == MeasureKind::ResponseMatch) {
        if dataset.cases.iter().any(has_turns) {
            written.warn(format!(
                "metric {}: each turn must reach the threshold there, not the mean of the turns; in a case of several turns \
                 that asks for more",
                metric.name
            ));
        }
    }
    let measured: Vec<&str> = metrics.iter().filter_map(|metric| metric["metricName"].as_str()).collect();
    let cases: Vec<Value> = dataset.cases.iter().map(|case| write_case(case, is_own, &measured)).collect();
    let mut set = object([
        ("evalSetId", json!(dataset.name)),
        ("description", json!(dataset.description)),
        ("evalCases", cases.into()),
        ("creationTimestamp", json!(dataset.created)),
    ]);
    match dataset.extra.get("name") {
        _ if is_own => extend(&mut set, &dataset.extra, &[]),
        Some(name) => set["name"] = name.clone(),
        None => {}
    }
    let name = file_name(&dataset.name);
    written.add(format!("{name}.evalset.json"), &set);
    written.add_beside(format!("{name}.metrics.json"), text(&metrics.into()));
    written
}

fn write_case(case: &DatasetCase, is_own: bool, measured: &[&str]) -> Value {
    let session = &case.session;
    let session_input =
        object([("appName", json!(session.app)), ("userId", json!(session.user)), ("state", json!(session.state))]);
    let rubrics = case.rubrics.iter().filter(|rubric| {
        let metric = rubric.metric.as_deref();
        metric.is_some_and(|metric| measured.contains(&metric))
    });
    let mut value = object([
        ("evalId", json!(case.id)),
        ("contextMessages", session.context.iter().map(context_message).collect()),
        ("sessionInput", session_input),
        ("rubrics", rubrics.map(|it| write_rubric(it, true)).collect()),
        ("creationTimestamp", json!(case.created)),
    ]);
    if case.expected_runner {
        value["expectedRunnerEnabled"] = true.into();
    }
    match (&case.user, &case.recorded) {
        (CaseUser::Scenario(scenario), _) => value["conversationScenario"] = write_scenario(scenario, is_own),
        (CaseUser::Lines(lines), None) => {
            value["conversation"] = lines.iter().map(|line| write_line(line, is_own)).collect();
        }
        (CaseUser::Lines(lines), Some(recorded)) => {
            value["evalMode"] = "trace".into();
            value["actualConversation"] = recorded.iter().map(|turn| write_recorded(turn, is_own)).collect();
            if case.has_expected_side || lines.iter().any(|line| !line.expected.is_empty()) {
                value["conversation"] = lines.iter().map(|line| write_line(line, is_own)).collect();
            }
        }
    }
    if is_own {
        extend(&mut value, &case.extra, &[]);
    }
    value
}

fn context_message(message: &ContextMessage) -> Value {
    let mut value = json!({ "role": message.role, "content": message.content });
    extend(&mut value, &message.extra, &["parts"]);
    value
}

fn message(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

fn write_line(line: &UserLine, is_own: bool) -> Value {
    let mut user = message("user", &line.say);
    for attachment in line.attachments.iter().filter(|_| is_own) {
        // Parts of older files have no place in a message.
        if let Value::Object(beside) = attachment {
            extend(&mut user, beside, &["parts"]);
        }
    }
    let mut reply = line.expected.reply.as_deref().map(|reply| message("assistant", reply));
    if let Some(Value::Object(beside)) = line.extra.get("finalResponse").filter(|_| is_own) {
        let value = reply.get_or_insert_with(|| message("assistant", ""));
        extend(value, beside, &["parts"]);
    }
    let intermediate = line.expected.intermediate.iter();
    let mut turn = object([
        ("invocationId", json!(line.id)),
        ("contextMessages", line.context.iter().map(context_message).collect()),
        ("userContent", user),
        ("finalResponse", json!(reply)),
        ("intermediateResponses", intermediate.map(|it| message(&it.author, &it.text)).collect()),
        (
            "toolMock",
            object([
                ("actual", line.mocks.iter().map(write_mock).collect()),
                ("expected", line.expected_runner_mocks.iter().map(write_mock).collect()),
            ]),
        ),
    ]);
    if let Some(calls) = &line.expected.calls {
        turn["tools"] = calls.iter().map(tool).collect();
    }
    if is_own {
        extend(&mut turn, &line.extra, &["finalResponse", "invocationEvents", "toolResponses"]);
    }
    turn
}

fn write_recorded(recorded: &RecordedTurn, is_own: bool) -> Value {
    let intermediate = recorded.intermediate.iter();
    let mut turn = object([
        ("invocationId", json!(recorded.id)),
        ("userContent", message("user", &recorded.user)),
        ("finalResponse", json!(recorded.reply.as_deref().map(|reply| message("assistant", reply)))),
        ("tools", recorded.calls.iter().map(tool).collect()),
        ("intermediateResponses", intermediate.map(|it| message(&it.author, &it.text)).collect()),
    ]);
    if is_own {
        extend(&mut turn, &recorded.extra, &["finalResponse", "invocationEvents", "toolResponses"]);
    }
    turn
}

fn tool(call: &DatasetCall) -> Value {
    let mut tool = object([("id", json!(call.id)), ("name", json!(call.tool))]);
    for (key, value) in [("arguments", &call.args), ("result", &call.result)] {
        if let Some(value) = value {
            tool[key] = Value::clone(value);
        }
    }
    tool
}

fn write_mock(mock: &ToolMock) -> Value {
    let mut value = json!({ "name": mock.tool });
    if let Some(arguments) = &mock.arguments {
        value["arguments"] = arguments.clone();
    }
    if let Some(result) = &mock.result {
        value["result"] = result.clone();
    }
    if let Some(prompt) = &mock.prompt {
        value["llmGenerator"] = json!({ "prompt": prompt });
    }
    value
}

fn write_scenario(scenario: &Scenario, is_own: bool) -> Value {
    let has_end = scenario.stop_signal.is_some() || scenario.max_turns.is_some();
    let driver = (scenario.driver == ScenarioDriver::Expected).then_some("expected");
    let mut value = object([
        ("driver", json!(driver)),
        ("startingPrompt", json!(scenario.starting_prompt)),
        ("conversationPlan", json!(scenario.plan)),
        ("stopSignal", json!(scenario.stop_signal)),
        ("maxAllowedInvocations", json!(scenario.max_turns.or((!has_end).then_some(MOST_MESSAGES)))),
    ]);
    if is_own {
        extend(&mut value, &scenario.extra, &[]);
    }
    value
}

fn write_rubric(rubric: &Rubric, is_of_case: bool) -> Value {
    object([
        ("metricName", json!(rubric.metric.as_deref().filter(|_| is_of_case))),
        ("id", json!(rubric.id)),
        ("content", json!({ "text": rubric.text })),
        ("description", json!(rubric.description)),
        ("type", json!(rubric.rubric_type)),
    ])
}

/// A metric of the metrics file.
fn write_metric(system: System, metric: &DatasetMetric, written: &mut WrittenDataset) -> Result<Value, NoCounterpart> {
    let (key, evaluator, mut options) = match (metric.kind, system) {
        (MeasureKind::Trajectory, System::Trpc) => {
            ("toolTrajectory", metric.evaluator.as_str(), metric.options.clone())
        }
        (MeasureKind::FinalResponse, System::Trpc) => {
            ("finalResponse", metric.evaluator.as_str(), metric.options.clone())
        }
        (MeasureKind::Judge, System::Trpc) => ("llmJudge", metric.evaluator.as_str(), metric.options.clone()),
        (MeasureKind::Custom, System::Trpc) => ("", metric.evaluator.as_str(), Map::new()),
        (MeasureKind::Trajectory, _) => ("toolTrajectory", "tool_trajectory_avg_score", trajectory(metric)),
        (MeasureKind::ResponseMatch, _) => ("finalResponse", "final_response_avg_score", rouge(metric)),
        _ => return Err("trpc-agent-go has no such evaluator".into()),
    };
    if options.remove("generation").is_some_and(|generation| generation == "seed") {
        written.warn(format!("metric {}: numbers may differ by 0.000001 in the newer version", metric.name));
    }
    let threshold = metric.threshold.unwrap_or(1.0);
    // An average of matches, each of which is 0 or 1, has to reach all.
    let threshold = if system != System::Trpc && metric.kind == MeasureKind::ResponseMatch { 1.0 } else { threshold };
    let mut value = json!({ "metricName": metric.name, "threshold": threshold });
    if evaluator != metric.name {
        value["evaluatorName"] = evaluator.into();
    }
    if !metric.rubrics.is_empty() {
        options.insert("rubrics".to_owned(), metric.rubrics.iter().map(|rubric| write_rubric(rubric, false)).collect());
    }
    let mut criterion = Map::new();
    if !key.is_empty() && !options.is_empty() {
        criterion.insert(key.to_owned(), Value::Object(options));
    }
    for other in ["toolTrajectory", "finalResponse", "llmJudge"] {
        criterion.extend(metric.extra.get(other).map(|value| (other.to_owned(), value.clone())));
    }
    if !criterion.is_empty() {
        value["criterion"] = Value::Object(criterion);
    }
    if system == System::Trpc {
        extend(&mut value, &metric.extra, &["toolTrajectory", "finalResponse", "llmJudge"]);
    }
    Ok(value)
}

/// How calls are compared elsewhere: names and arguments, and no results.
fn trajectory(metric: &DatasetMetric) -> Map<String, Value> {
    let (ordered, subset) = match metric.options.get("matchType").and_then(Value::as_str) {
        Some("IN_ORDER") => (true, true),
        Some("ANY_ORDER") => (false, true),
        _ => (true, false),
    };
    // Which calls more are allowed is written apart where it does not follow from the order.
    let flag = |name: &str| metric.options.get(name).and_then(Value::as_bool);
    let (ordered, subset) = (flag("orderSensitive").unwrap_or(ordered), flag("subsetMatching").unwrap_or(subset));
    let ignores = metric.options.get("ignoreArgs").and_then(Value::as_bool).unwrap_or_default();
    let arguments = if ignores { json!({ "ignore": true }) } else { json!({}) };
    let strategy = json!({ "name": {}, "arguments": arguments, "result": { "ignore": true } });
    let options = json!({ "orderSensitive": ordered, "subsetMatching": subset, "defaultStrategy": strategy });
    options.as_object().cloned().unwrap_or_default()
}

/// The overlap of words with the expected reply, as a criterion that holds or not.
fn rouge(metric: &DatasetMetric) -> Map<String, Value> {
    let f1 = metric.threshold.unwrap_or(0.8);
    let rouge = json!({ "rougeType": "rouge1", "measure": "f1", "threshold": { "f1": f1 }, "useStemmer": true });
    Map::from_iter([("rouge".to_owned(), rouge)])
}
