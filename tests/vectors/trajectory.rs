//! Tool calls: ADK's trajectories and parameters, trpc's of both generations, watsonx' arguments, goals and counts.

use std::collections::BTreeMap;

use eval_job::evidence::ToolUse;
use eval_job::metric::trajectory::{
    ExpectedCall, GoalGraph, LettersOnly, Rule, Trajectory, TrajectoryConfig, TrajectoryDialect, TrajectoryInput,
    TrajectoryMatcher, adk, is_topological_order, trpc, watsonx,
};
use serde_json::{Value, json};

use super::vector::Vector;
use super::{Answer, Answered, Dialect};

type Given = Result<Value, String>;

/// The answer to a vector about tool calls.
pub fn answer(vector: &Vector, dialect: Dialect) -> Option<Answered> {
    let strict = dialect == Dialect::Strict;
    let (kind, given) = match vector.system.as_str() {
        "adk" if vector.has(&["metric", "actual", "expected"]) => ("trajectory", adk_metric(vector, strict)),
        "adk" if vector.has(&["match_type"]) => ("match type", match_type(vector)),
        "adk" if vector.is("adk", "tool_parameter_match") && vector.has(&["actual", "expected"]) => {
            ("tool parameters", tool_parameters(vector, strict))
        }
        "trpc" if vector.has(&["actual_tools", "expected_tools"]) => ("trajectory", trpc_tools(vector, strict)),
        "trpc" if vector.has(&["actual_intermediateData", "expected_intermediateData"]) => {
            ("trajectory, seed era", seed_era(vector, strict))
        }
        "watsonx" if vector.has(&["expected_args", "actual_args"]) => ("arguments", arguments(vector, strict)),
        "watsonx" if vector.has(&["goals", "ordering"]) => ("goals", goals(vector)),
        "watsonx" if vector.has(&["expected_tool_calls", "correct_tool_calls"]) => {
            ("tool metrics", tool_metrics(vector, strict))
        }
        _ => return None,
    };
    Some((kind, Answer(given)))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn compare(config: &TrajectoryConfig, expected: &[ExpectedCall], actual: &[ToolUse]) -> Result<Trajectory, String> {
    let matcher = TrajectoryMatcher::new(config).map_err(|why| why.to_string())?;
    let input = TrajectoryInput { expected, actual, ..TrajectoryInput::default() };
    matcher.compare(input, &LettersOnly).map_err(|why| why.to_string())
}

/// The turns of both sides: lists of calls with `name` and `args`.
/// The expected and the actual calls of a turn.
type CallsOfTurn = (Vec<ExpectedCall>, Vec<ToolUse>);

fn turns(vector: &Vector) -> Result<Vec<CallsOfTurn>, String> {
    let (actual, expected) = (vector.list("actual"), vector.list("expected"));
    if actual.len() != expected.len() {
        return Err(format!("{} turns, {} expected", actual.len(), expected.len()));
    }
    let calls = |turn: &Value| turn.as_array().cloned().unwrap_or_default();
    let wanted = |it: &Value| ExpectedCall::new(text(it, "name"), it["args"].clone());
    let made = |it: &Value| ToolUse::new(text(it, "name"), it["args"].clone());
    let turn = |(actual, expected): (&Value, &Value)| {
        (calls(expected).iter().map(wanted).collect(), calls(actual).iter().map(made).collect())
    };
    Ok(actual.iter().zip(expected).map(turn).collect())
}

/// A mean with the status that it has by a threshold.
fn mean(vector: &Vector, scores: &[f64]) -> Value {
    if scores.is_empty() {
        return json!({"overall_score": null, "status": "NOT_EVALUATED"});
    }
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let threshold = vector.input["threshold"].as_f64().or_else(|| vector.input["criterion"]["threshold"].as_f64());
    let status = if threshold.is_none_or(|threshold| mean >= threshold) { "PASSED" } else { "FAILED" };
    json!({"overall_score": mean, "status": status})
}

fn adk_metric(vector: &Vector, strict: bool) -> Given {
    if text(&vector.input, "metric") == "tool_parameter_match" {
        return tool_parameters(vector, strict);
    }
    let config = adk::from_criterion(&vector.input["criterion"], strict)?;
    let mut scores = Vec::new();
    for (expected, actual) in turns(vector)? {
        let trajectory = compare(&config, &expected, &actual)?;
        scores.extend(trajectory.figures.is_match);
    }
    Ok(mean(vector, &scores))
}

fn tool_parameters(vector: &Vector, strict: bool) -> Given {
    let config = TrajectoryConfig { dialect: TrajectoryDialect::Adk, strict, ..TrajectoryConfig::default() };
    let mut scores = Vec::new();
    for (expected, actual) in turns(vector)? {
        scores.extend(compare(&config, &expected, &actual)?.figures.parameter_match);
    }
    Ok(mean(vector, &scores))
}

fn match_type(vector: &Vector) -> Given {
    let order = adk::match_type(&vector.input["match_type"])?;
    Ok(json!({"match_type": adk::match_type_name(order)}))
}

fn matched(trajectory: &Trajectory) -> Value {
    json!({"match": trajectory.is_match, "why": trajectory.explanation})
}

fn trpc_tools(vector: &Vector, strict: bool) -> Given {
    let config = trpc::from_criterion(&vector.input["criterion"], false, strict)?;
    let present = |it: &Value, key: &str| it.get(key).cloned().map(Into::into);
    let expected: Vec<ExpectedCall> = vector
        .list("expected_tools")
        .iter()
        .map(|it| ExpectedCall {
            name: Some(text(it, "id")),
            tool: text(it, "name"),
            args: present(it, "arguments"),
            result: present(it, "result"),
            ..ExpectedCall::default()
        })
        .collect();
    let actual: Vec<ToolUse> = vector
        .list("actual_tools")
        .iter()
        .map(|it| ToolUse {
            id: Some(text(it, "id")),
            tool: text(it, "name"),
            args: it["arguments"].clone().into(),
            result: present(it, "result"),
        })
        .collect();
    Ok(matched(&compare(&config, &expected, &actual)?))
}

fn seed_era(vector: &Vector, strict: bool) -> Given {
    let config = trpc::from_criterion(&vector.input["criterion"], true, strict)?;
    let actual = trpc::seed_calls(&vector.input["actual_intermediateData"], strict)?;
    let expected = trpc::seed_calls(&vector.input["expected_intermediateData"], strict)?;
    let wanted = |it: ToolUse| ExpectedCall {
        name: it.id,
        tool: it.tool,
        args: Some(it.args),
        result: it.result,
        ..ExpectedCall::default()
    };
    let expected: Vec<ExpectedCall> = expected.into_iter().map(wanted).collect();
    Ok(matched(&compare(&config, &expected, &actual)?))
}

fn arguments(vector: &Vector, strict: bool) -> Given {
    let rules: BTreeMap<String, Rule> = match vector.input.get("arg_matching") {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(rules) => serde_json::from_value(rules.clone()).map_err(|why| why.to_string())?,
    };
    let config = TrajectoryConfig { dialect: TrajectoryDialect::Watsonx, strict, ..TrajectoryConfig::default() };
    let expected = ExpectedCall { rules, ..ExpectedCall::new("t", vector.input["expected_args"].clone()) };
    let actual = ToolUse::new("t", vector.input["actual_args"].clone());
    compare(&config, &[expected], &[actual]).map(|it| json!(it.is_match))
}

fn goals(vector: &Vector) -> Given {
    let graph: GoalGraph = serde_json::from_value(vector.input["goals"].clone()).map_err(|why| why.to_string())?;
    let order: Vec<&str> = vector.list("ordering").iter().filter_map(Value::as_str).collect();
    let strict = vector.input["is_strict"].as_bool().unwrap_or(true);
    Ok(json!(is_topological_order(&graph, &order, strict)))
}

fn tool_metrics(vector: &Vector, strict: bool) -> Given {
    let count = |key: &str| vector.input[key].as_u64().unwrap_or_default() as usize;
    let [expected, total, correct] = ["expected_tool_calls", "total_tool_calls", "correct_tool_calls"].map(count);
    let (precision, recall) = watsonx::precision_and_recall(expected, total, correct, strict);
    Ok(json!({"tool_call_precision": precision, "tool_call_recall": recall}))
}
