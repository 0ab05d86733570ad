//! Datasets as files of Google ADK: an eval set of the new schema, and the `test_config.json` beside it.

use serde_json::{Map, Value, json};

use super::criteria::METRICS;
use super::scenario::MAX_INVOCATIONS;
use crate::dataset::System;
use crate::dataset::counterpart::NoCounterpart;
use crate::dataset::model::{
    AuthoredText, CaseSession, CaseUser, Dataset, DatasetCall, DatasetCase, DatasetMetric, LineExpectation,
    MeasureKind, Rubric, Scenario, ScenarioPersona, UserLine,
};
use crate::dataset::write::{WrittenDataset, extend, object, text};
use crate::text::file_name;

/// The user and the app of a session that names none: ADK needs both.
const APP: &str = "agent";

/// Writes an eval set, and what it is measured by.
pub(in crate::dataset) fn write(dataset: &Dataset) -> WrittenDataset {
    let mut written = WrittenDataset::default();
    let is_own = dataset.kind.system() == System::Adk;
    let cases: Vec<Value> = dataset.cases.iter().map(|case| write_case(case, is_own, &mut written)).collect();
    let mut set = json!({ "eval_set_id": dataset.name, "eval_cases": cases });
    if let Some(description) = &dataset.description {
        set["description"] = description.as_str().into();
    }
    if let Some(created) = dataset.created {
        set["creation_timestamp"] = created.into();
    }
    match dataset.extra.get("name") {
        _ if is_own => extend(&mut set, &dataset.extra, &["liveModelConfig"]),
        Some(name) => set["name"] = name.clone(),
        None => {}
    }
    written.add(format!("{}.evalset.json", file_name(&dataset.name)), &set);
    let config = write_config(dataset, &mut written);
    written.add_beside("test_config.json".to_owned(), text(&config));
    written
}

fn write_case(case: &DatasetCase, is_own: bool, written: &mut WrittenDataset) -> Value {
    let mut value = json!({ "eval_id": case.id });
    match &case.user {
        CaseUser::Lines(lines) => {
            value["conversation"] = lines.iter().map(|line| write_line(line, is_own)).collect();
        }
        CaseUser::Scenario(scenario) => {
            if scenario.starting_prompt.is_none() {
                written
                    .warn(format!("case {}: ADK needs a first message of the user: \"Hello\" stands for it", case.id));
            }
            value["conversation_scenario"] = write_scenario(scenario);
        }
    }
    let CaseSession { app, user, id, state, .. } = &case.session;
    if app.is_some() || user.is_some() || id.is_some() || !state.is_empty() {
        let mut session = json!({
            "app_name": app.as_deref().unwrap_or(APP),
            "user_id": user.as_deref().unwrap_or(super::TEST_USER),
            "state": state,
        });
        if let Some(id) = id {
            session["session_id"] = id.as_str().into();
        }
        value["session_input"] = session;
    }
    if !case.rubrics.is_empty() {
        value["rubrics"] = rubrics(&case.rubrics);
    }
    if let Some(state) = &case.expected.state {
        value["final_session_state"] = Value::Object(state.clone());
    }
    if let Some(created) = case.created {
        value["creation_timestamp"] = created.into();
    }
    if is_own {
        extend(&mut value, &case.extra, &[]);
    }
    value
}

fn content(role: &str, text: &str, others: &[Value]) -> Value {
    let mut parts = Vec::new();
    if !text.is_empty() || others.is_empty() {
        parts.push(json!({ "text": text }));
    }
    parts.extend(others.iter().cloned());
    json!({ "role": role, "parts": parts })
}

fn write_line(line: &UserLine, is_own: bool) -> Value {
    let attachments: &[Value] = if is_own { &line.attachments } else { &[] };
    let LineExpectation { reply, calls, intermediate, rubrics: judged } = &line.expected;
    let mut turn = json!({ "user_content": content("user", &line.say, attachments) });
    if !line.id.is_empty() {
        turn["invocation_id"] = line.id.as_str().into();
    }
    let kept = |key: &str| line.extra.get(key).filter(|_| is_own);
    if let Some(reply) = kept("finalResponse") {
        turn["final_response"] = reply.clone();
    } else if let Some(reply) = reply {
        turn["final_response"] = content("model", reply, &[]);
    }
    if let Some(events) = kept("invocationEvents") {
        turn["intermediate_data"] = json!({ "invocation_events": events });
    } else if calls.is_some() || !intermediate.is_empty() {
        let mut data = between(calls.as_deref().unwrap_or_default(), intermediate);
        if let (Some(Value::Array(left)), Some(responses)) =
            (kept("toolResponses"), data["tool_responses"].as_array_mut())
        {
            let left = left.iter().filter_map(|call| serde_json::from_value::<DatasetCall>(call.clone()).ok());
            responses.extend(left.filter_map(|call| response(&call)));
        }
        turn["intermediate_data"] = data;
    }
    if !judged.is_empty() {
        turn["rubrics"] = rubrics(judged);
    }
    if is_own {
        extend(&mut turn, &line.extra, &["finalResponse", "invocationEvents", "toolResponses"]);
    }
    turn
}

/// The calls between a message and its reply, with their responses, and what is said meanwhile.
fn between(calls: &[DatasetCall], intermediate: &[AuthoredText]) -> Value {
    let uses = calls.iter().map(|call| {
        let args = match call.args.as_deref() {
            Some(args @ Value::Object(_)) => args.clone(),
            None | Some(Value::Null) => json!({}),
            Some(other) => json!({ "value": other }),
        };
        object([("id", json!(call.id)), ("name", json!(call.tool))]).merged("args", args)
    });
    let said = intermediate.iter().map(|said| json!([said.author, [{ "text": said.text }]]));
    json!({
        "tool_uses": uses.collect::<Vec<_>>(),
        "tool_responses": calls.iter().filter_map(response).collect::<Vec<_>>(),
        "intermediate_responses": said.collect::<Vec<_>>(),
    })
}

fn response(call: &DatasetCall) -> Option<Value> {
    let response = match call.result.as_deref()? {
        result @ Value::Object(_) => result.clone(),
        other => json!({ "result": other }),
    };
    Some(object([("id", json!(call.id)), ("name", json!(call.tool))]).merged("response", response))
}

trait WithEntry {
    fn merged(self, key: &str, value: Value) -> Value;
}

impl WithEntry for Value {
    /// The same with one more entry, empty or not.
    fn merged(mut self, key: &str, value: Value) -> Value {
        self[key] = value;
        self
    }
}

fn write_scenario(scenario: &Scenario) -> Value {
    let persona = scenario.persona.as_ref().map(|persona| {
        let id = persona.id.to_uppercase();
        let of_adk = ScenarioPersona { id: id.clone(), ..persona.clone() };
        if super::persona::built_in(&id) == Some(of_adk) {
            return json!(id);
        }
        let behavior = |it: &crate::dataset::model::PersonaBehavior| {
            json!({
                "name": it.name,
                "description": it.description,
                "behavior_instructions": it.instructions,
                "violation_rubrics": it.violation_rubrics,
            })
        };
        let behaviors: Vec<Value> = persona.behaviors.iter().map(behavior).collect();
        json!({ "id": persona.id, "description": persona.description, "behaviors": behaviors })
    });
    let mut value = json!({
        "starting_prompt": scenario.starting_prompt.as_deref().unwrap_or("Hello"),
        "conversation_plan": scenario.plan,
    });
    if let Some(persona) = persona {
        value["user_persona"] = persona;
    }
    value
}

pub(super) fn rubrics(rubrics: &[Rubric]) -> Value {
    let rubric = |rubric: &Rubric| {
        object([
            ("rubric_id", json!(rubric.id)),
            ("rubric_content", json!({ "text_property": rubric.text })),
            ("description", json!(rubric.description)),
            ("type", json!(rubric.rubric_type)),
        ])
    };
    rubrics.iter().map(rubric).collect()
}

/// `test_config.json`. A figure is reported by ADK in any case.
fn write_config(dataset: &Dataset, written: &mut WrittenDataset) -> Value {
    let (mut criteria, mut customs) = (Map::new(), Map::new());
    for metric in dataset.metrics.iter().filter(|metric| metric.kind != MeasureKind::Figure) {
        match criterion(dataset.kind.system(), metric, written) {
            Ok((name, value)) => {
                if criteria.insert(name.clone(), value).is_some() {
                    written
                        .warn(format!("metric {}: ADK can measure {name} once only, the last one counts", metric.name));
                }
                if metric.kind == MeasureKind::Custom {
                    let mut custom = json!({ "code_config": { "name": metric.evaluator } });
                    if let Some(args) = metric.extra.get("args") {
                        custom["code_config"]["args"] = args.clone();
                    }
                    extend(&mut custom, &metric.extra, &["args"]);
                    customs.insert(name, custom);
                }
            }
            Err(why) => written.warn(format!("metric {}: {why}", metric.name)),
        }
    }
    let mut config = json!({ "criteria": criteria });
    if !customs.is_empty() {
        config["custom_metrics"] = Value::Object(customs);
    }
    let scenarios = dataset.cases.iter().filter_map(|case| match &case.user {
        CaseUser::Scenario(scenario) => Some(scenario),
        CaseUser::Lines(_) => None,
    });
    if let Some(scenario) = scenarios.max_by_key(|scenario| scenario.max_turns.unwrap_or(u32::MAX)) {
        let mut simulator = Map::new();
        match scenario.max_turns {
            Some(MAX_INVOCATIONS) => {}
            most => drop(
                simulator.insert("max_allowed_invocations".to_owned(), most.map_or_else(|| json!(-1), |it| json!(it))),
            ),
        }
        if dataset.kind.system() == System::Adk {
            simulator.extend(scenario.extra.clone());
        }
        if !simulator.is_empty() {
            config["user_simulator_config"] = Value::Object(simulator);
        }
    }
    if let Some(live) = dataset.extra.get("liveModelConfig").filter(|_| dataset.kind.system() == System::Adk) {
        config["live_model_config"] = live.clone();
    }
    config
}

/// A metric by ADK's name, and its criterion.
fn criterion(
    system: System,
    metric: &DatasetMetric,
    written: &mut WrittenDataset,
) -> Result<(String, Value), NoCounterpart> {
    let threshold = metric.threshold.unwrap_or(1.0);
    if system == System::Adk {
        let mut options = metric.options.clone();
        options.extend(
            metric.extra.iter().filter(|_| metric.kind != MeasureKind::Custom).map(|(k, v)| (k.clone(), v.clone())),
        );
        if options.is_empty() && metric.rubrics.is_empty() {
            return Ok((metric.name.clone(), threshold.into()));
        }
        let mut value = Value::Object(options).merged("threshold", threshold.into());
        if !metric.rubrics.is_empty() {
            value["rubrics"] = rubrics(&metric.rubrics);
        }
        return Ok((metric.name.clone(), value));
    }
    let known =
        |kind: MeasureKind| METRICS.iter().find(|(_, known)| *known == kind).map(|(name, _)| (*name).to_owned());
    match metric.kind {
        MeasureKind::Trajectory => {
            let flag = |name: &str| metric.options.get(name).and_then(Value::as_bool).unwrap_or_default();
            let match_type = match (flag("orderSensitive"), flag("subsetMatching")) {
                (true, false) => "EXACT",
                (true, true) => "IN_ORDER",
                (false, true) => "ANY_ORDER",
                (false, false) => {
                    written.warn(format!(
                        "metric {}: ADK allows other calls where the order does not matter",
                        metric.name
                    ));
                    "ANY_ORDER"
                }
            };
            if ["defaultStrategy", "toolStrategy", "rules"].iter().any(|key| metric.options.contains_key(*key)) {
                written
                    .warn(format!("metric {}: ADK compares names and arguments strictly, and no results", metric.name));
            }
            let value = json!({ "threshold": threshold, "match_type": match_type });
            Ok((known(MeasureKind::Trajectory).unwrap_or_default(), value))
        }
        MeasureKind::ResponseMatch => Ok((known(MeasureKind::ResponseMatch).unwrap_or_default(), threshold.into())),
        _ => Err("ADK has no such metric".into()),
    }
}
