//! Datasets as ground truth of watsonx Orchestrate: a file a case. Fixed messages are its first sentence and its prompts;
//! what is expected of them becomes goals, one after the other.

use serde_json::{Map, Value, json};

use super::goals::ANY_ARGS;
use super::{MAX_USER_TURNS, STOP_SIGNAL};
use crate::dataset::System;
use crate::dataset::model::{
    CaseUser, Dataset, DatasetCall, DatasetCase, DatasetGoals, Goal, GoalKind, JudgedScope, UserLine,
};
use crate::dataset::write::{WrittenDataset, extend, object};
use crate::text::FileNames;

/// Writes the cases, a file each.
pub(in crate::dataset) fn write(dataset: &Dataset) -> WrittenDataset {
    let mut written = WrittenDataset::default();
    let is_own = dataset.kind.system() == System::Watsonx;
    if !is_own && !dataset.metrics.is_empty() {
        written.warn("watsonx Orchestrate measures journeys: metrics and thresholds are not in its files");
    }
    let mut names = FileNames::default();
    for case in &dataset.cases {
        let name = names.take(&case.id);
        let content = write_case(dataset, case, &name, &mut written);
        written.add(format!("{name}.json"), &content);
    }
    super::write_config::add_config(dataset, &mut written);
    written
}

fn write_case(dataset: &Dataset, case: &DatasetCase, name: &str, written: &mut WrittenDataset) -> Value {
    let is_own = dataset.kind.system() == System::Watsonx;
    let goals = case.expected.goals.clone().or_else(|| match &case.user {
        CaseUser::Lines(lines) => goals_of(case, lines, written),
        CaseUser::Scenario(_) => None,
    });
    let mut variables = case.session.state.clone();
    variables.extend(case.session.variables.clone());
    let agent = case.session.app.as_deref().unwrap_or(if is_own { "" } else { &dataset.name });
    let (story, first, prompts, most) = match &case.user {
        CaseUser::Scenario(scenario) => {
            let most = scenario.extra.get("maxUserTurns").cloned().filter(|_| is_own);
            let most = most.or_else(|| scenario.max_turns.filter(|it| *it != MAX_USER_TURNS).map(Value::from));
            (scenario.plan.clone(), scenario.starting_prompt.clone(), scenario.prompts.clone(), most)
        }
        CaseUser::Lines(lines) => {
            let story = case.description.clone().filter(|text| !text.trim().is_empty());
            let story = story.unwrap_or_else(|| {
                format!("You say what you were told to say, and nothing else. Then you answer {STOP_SIGNAL}.")
            });
            let mut said = lines.iter().map(|line| line.say.clone());
            (story, said.next(), said.collect(), Some(lines.len().into()))
        }
    };
    let uploads = match case.uploads.as_slice() {
        [one] => one.clone(),
        several => several.to_vec().into(),
    };
    let mut value = object([
        ("agent", json!(agent)),
        ("dataset_name", json!((name != case.id).then_some(&case.id))),
        ("story", json!(story)),
        ("starting_sentence", json!(first)),
        ("user_prompts", json!(prompts)),
        ("max_user_turns", json!(most)),
        ("runtime_context", Value::Object(variables)),
        ("file_upload", uploads),
        ("tags", json!(case.tags)),
    ]);
    let mut details: Vec<Value> =
        goals.iter().flat_map(|goals| &goals.nodes).map(|goal| write_goal(goal, is_own)).collect();
    details.extend(case.checks.iter().map(|check| {
        let scope = if check.scope == JudgedScope::Response { "response" } else { "conversation" };
        json!({ "type": "assert_llm", "kind": check.kind, "check": check.check, "scope": scope })
    }));
    if details.is_empty() {
        written.warn(format!("case {}: watsonx Orchestrate refuses a case without goals", case.id));
    }
    value["goals"] = goals.as_ref().map_or_else(|| json!({}), write_graph);
    value["goal_details"] = details.into();
    if is_own {
        extend(&mut value, &case.extra, &[]);
    }
    value
}

/// The goals of fixed messages: their calls one after the other, and the last reply.
fn goals_of(case: &DatasetCase, lines: &[UserLine], written: &mut WrittenDataset) -> Option<DatasetGoals> {
    let mut goals = DatasetGoals::default();
    let calls = lines.iter().filter_map(|line| line.expected.calls.as_ref()).flatten();
    for (call, number) in calls.zip(1..) {
        if call.result.is_some() {
            written.warn(format!("case {}: the results of expected calls are not compared", case.id));
        }
        let call = DatasetCall { id: None, result: None, ..call.clone() };
        goals.nodes.push(Goal {
            name: format!("{}-{number}", call.tool),
            kind: GoalKind::ToolCall(call),
            extra: Map::new(),
        });
    }
    let replies = lines.iter().filter(|line| line.expected.reply.is_some()).count();
    if let Some(reply) = lines.last().and_then(|line| line.expected.reply.clone()) {
        let kind = GoalKind::Text { response: Some(reply), keywords: Vec::new(), is_summary: false };
        goals.nodes.push(Goal { name: "reply".to_owned(), kind, extra: Map::new() });
    }
    let said = usize::from(lines.last().is_some_and(|line| line.expected.reply.is_some()));
    if replies > said {
        written.warn(format!("case {}: only the last of its expected replies is a goal", case.id));
    }
    let names: Vec<String> = goals.nodes.iter().map(|goal| goal.name.clone()).collect();
    goals.edges = names.iter().zip(names.iter().skip(1)).map(|(a, b)| (a.clone(), b.clone())).collect();
    (!goals.nodes.is_empty()).then_some(goals)
}

fn write_graph(goals: &DatasetGoals) -> Value {
    let mut graph: Map<String, Value> = goals.nodes.iter().map(|goal| (goal.name.clone(), json!([]))).collect();
    for (before, after) in &goals.edges {
        if let Some(Value::Array(next)) = graph.get_mut(before) {
            next.push(after.as_str().into());
        }
    }
    Value::Object(graph)
}

fn write_goal(goal: &Goal, is_own: bool) -> Value {
    let mut value = match &goal.kind {
        GoalKind::ToolCall(call) => write_call("tool_call", call),
        GoalKind::ToolResponse(call) => write_call("tool_response", call),
        GoalKind::Text { response, keywords, is_summary } => {
            let key = if *is_summary { "summary" } else { "response" };
            let mut text = json!({ "type": "text", "keywords": keywords });
            if let Some(response) = response {
                text[key] = response.as_str().into();
            }
            text
        }
        GoalKind::Interaction { key, value } => {
            json!({ "type": "interaction", "identifier": { "key": key, "value": value } })
        }
        GoalKind::Search { knowledge_base } => {
            object([("type", json!("conversational_search")), ("knowledge_base", json!(knowledge_base))])
        }
    };
    value["name"] = goal.name.as_str().into();
    if is_own {
        extend(&mut value, &goal.extra, &[]);
    }
    value
}

fn write_call(kind: &str, call: &DatasetCall) -> Value {
    let args = match &call.args {
        None => json!({ ANY_ARGS: null }),
        Some(args) => Value::clone(args),
    };
    let mut value = json!({ "type": kind, "tool_name": call.tool, "args": args });
    if !call.rules.is_empty() {
        value["arg_matching"] = Value::Object(call.rules.clone());
    }
    value
}
