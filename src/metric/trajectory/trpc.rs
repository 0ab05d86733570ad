//! trpc-agent-go's criteria of trajectories, of both generations.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::config::{CallCount, CallOrder, ToolRules, TrajectoryConfig, TrajectoryDialect};
use super::criterion::CriterionError;
use super::rule::{LengthRule, Rule, RuleKind, RuleOptions};
use crate::evidence::ToolUse;
use crate::metric::selection::Paths;

/// Reads a criterion `toolTrajectory`.
///
/// # Errors
/// A key has a value that it can not have, or asks for a function of the program that the file was written for.
pub fn from_criterion(criterion: &Value, is_seed_era: bool, strict: bool) -> Result<TrajectoryConfig, CriterionError> {
    let empty = Map::new();
    let map = match criterion {
        Value::Null => &empty,
        Value::Object(map) => map,
        other => return Err(format!("a toolTrajectory criterion is a mapping, not {other}").into()),
    };
    no_function(map)?;
    // Either generation's key may stand in either's file.
    let is_ordered = match is_seed_era && !map.contains_key("orderSensitive") {
        true => !flag(map, "orderInsensitive")?,
        false => flag(map, "orderSensitive")?,
    };
    let tools = match map.get("toolStrategy") {
        None | Some(Value::Null) => BTreeMap::new(),
        Some(Value::Object(tools)) => {
            tools.iter().map(|(name, it)| Ok((name.clone(), rules(it)?))).collect::<Result<_, CriterionError>>()?
        }
        Some(other) => return Err(format!("toolStrategy must be a mapping, not {other}").into()),
    };
    let default = map.get("defaultStrategy").filter(|it| !it.is_null());
    let subset = !is_seed_era && flag(map, "subsetMatching")?;
    Ok(TrajectoryConfig {
        dialect: if is_seed_era { TrajectoryDialect::TrpcSeed } else { TrajectoryDialect::Trpc },
        strict,
        order: Some(if is_ordered { CallOrder::InOrder } else { CallOrder::AnyOrder }),
        count: Some(if subset { CallCount::Subset } else { CallCount::Equal }),
        tools,
        default_rules: default.map(rules).transpose()?,
        ..TrajectoryConfig::default()
    })
}

fn flag(map: &Map<String, Value>, key: &str) -> Result<bool, CriterionError> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(format!("{key} must be true or false, not {other}").into()),
    }
}

fn no_function(map: &Map<String, Value>) -> Result<(), CriterionError> {
    match map.get("compareName").and_then(Value::as_str).filter(|name| !name.is_empty()) {
        Some(name) => {
            Err(format!("compareName: the function {name:?} is part of another program and can not be called").into())
        }
        None => Ok(()),
    }
}

/// A strategy: what it does not name is not compared.
fn rules(strategy: &Value) -> Result<ToolRules, CriterionError> {
    let part = |key: &str| strategy.get(key).filter(|it| !it.is_null());
    let ignored = || Rule::Kind(RuleKind::Ignore);
    let result = part("result").or_else(|| part("response"));
    Ok(ToolRules {
        name: Some(part("name").map(text_rule).transpose()?.unwrap_or_else(ignored)),
        arguments: Some(part("arguments").map(json_rule).transpose()?.unwrap_or_else(ignored)),
        args: BTreeMap::new(),
        result: Some(result.map(json_rule).transpose()?.unwrap_or_else(ignored)),
    })
}

/// The rule that a JSON criterion means.
///
/// # Errors
/// A key has a value that it can not have.
pub fn json_rule(criterion: &Value) -> Result<Rule, CriterionError> {
    let map = criterion.as_object().ok_or_else(|| format!("a criterion is a mapping, not {criterion}"))?;
    if flag(map, "ignore")? {
        return Ok(Rule::Kind(RuleKind::Ignore));
    }
    no_function(map)?;
    let tree = |key: &str| match map.get(key) {
        None | Some(Value::Null) => Ok(Paths::default()),
        Some(Value::Object(tree)) => Ok(Paths::Tree(tree.clone().into_iter().collect())),
        Some(other) => Err(format!("{key} must be a mapping, not {other}")),
    };
    let number = match map.get("numberTolerance") {
        None | Some(Value::Null) => None,
        Some(number) => Some(number.as_f64().ok_or_else(|| format!("numberTolerance must be a number, not {number}"))?),
    };
    let compares = strategy(map, &[])? != Some(Strategy::Skip);
    let rule = compares.then_some(RuleKind::Strict);
    let (only_paths, ignore_paths) = (tree("onlyTree")?, tree("ignoreTree")?);
    if !only_paths.is_empty() && !ignore_paths.is_empty() {
        return Err("onlyTree and ignoreTree are both there; keep one of them".to_owned().into());
    }
    let schema = map.get("schema").filter(|it| !it.is_null()).cloned();
    let valid = flag(map, "valid")?;
    if !compares && schema.is_none() && !valid {
        return Ok(Rule::Kind(RuleKind::Ignore));
    }
    let (only_paths, ignore_paths) =
        if compares { (only_paths, ignore_paths) } else { (Paths::default(), Paths::default()) };
    let number = number.filter(|_| compares);
    Ok(Rule::detailed(RuleOptions { rule, number, schema, only_paths, ignore_paths, valid, ..RuleOptions::default() }))
}

/// The rule that a text criterion means.
///
/// # Errors
/// A key has a value that it can not have.
pub fn text_rule(criterion: &Value) -> Result<Rule, CriterionError> {
    let map = criterion.as_object().ok_or_else(|| format!("a criterion is a mapping, not {criterion}"))?;
    if flag(map, "ignore")? {
        return Ok(Rule::Kind(RuleKind::Ignore));
    }
    no_function(map)?;
    let rule = match strategy(map, &["contains", "regex"])? {
        None | Some(Strategy::Exact) => Some(RuleKind::Strict),
        Some(Strategy::Other("contains")) => Some(RuleKind::Contains),
        Some(Strategy::Other(_)) => Some(RuleKind::Regex),
        Some(Strategy::Skip) => None,
    };
    let length = match map.get("length").filter(|it| !it.is_null()) {
        Some(length) if length.get("ignore") != Some(&Value::Bool(true)) => {
            let bound = |key: &str| match length.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(bound) => {
                    bound.as_u64().map(Some).ok_or_else(|| format!("length.{key} must be 0 or more, not {bound}"))
                }
            };
            Some(LengthRule { min: bound("min")?, max: bound("max")? })
        }
        _ => None,
    };
    if rule.is_none() && length.is_none() {
        return Ok(Rule::Kind(RuleKind::Ignore));
    }
    let case_insensitive = Some(flag(map, "caseInsensitive")?);
    Ok(Rule::detailed(RuleOptions { rule, length, case_insensitive, ..RuleOptions::default() }))
}

#[derive(PartialEq)]
enum Strategy {
    Exact,
    Skip,
    Other(&'static str),
}

fn strategy(map: &Map<String, Value>, others: &[&'static str]) -> Result<Option<Strategy>, CriterionError> {
    let Some(value) = map.get("matchStrategy").filter(|it| !it.is_null()) else { return Ok(None) };
    match value.as_str() {
        Some("") => Ok(None),
        Some("exact") => Ok(Some(Strategy::Exact)),
        Some("skip") => Ok(Some(Strategy::Skip)),
        Some(name) if others.contains(&name) => Ok(others.iter().find(|it| **it == name).map(|it| Strategy::Other(it))),
        _ => {
            let known = ["exact", "skip"].iter().chain(others).copied().collect::<Vec<_>>().join(", ");
            Err(format!("matchStrategy must be one of {known}, not {value}").into())
        }
    }
}

/// The calls of an `intermediateData` of the seed era: uses and responses that belong together by their ids.
///
/// # Errors
/// Under `strict`, what the original refuses: another number of responses than of uses, ids that are empty or come twice, and a use
/// without its response. Otherwise nothing: what has no response has no result.
pub fn seed_calls(data: &Value, strict: bool) -> Result<Vec<ToolUse>, CriterionError> {
    let list = |key: &str| data.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let (uses, responses) = (list("toolUses"), list("toolResponses"));
    let id = |it: &Value| it.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    if strict {
        if data.is_null() {
            return Err("there is no intermediateData".to_owned().into());
        }
        if uses.len() != responses.len() {
            return Err(format!("{} tool uses and {} tool responses", uses.len(), responses.len()).into());
        }
        for (what, all) in [("tool use", uses), ("tool response", responses)] {
            let mut seen = BTreeSet::new();
            for one in all {
                let id = id(one);
                if id.is_empty() {
                    return Err(format!("a {what} has no id").into());
                }
                if !seen.insert(id.clone()) {
                    return Err(format!("the id {id} is that of two {what}s").into());
                }
            }
        }
        let answered: BTreeSet<String> = responses.iter().map(id).collect();
        if let Some(open) = uses.iter().map(id).find(|id| !answered.contains(id)) {
            return Err(format!("the tool use {open} has no response").into());
        }
    }
    let mut taken = vec![false; responses.len()];
    let calls = uses.iter().enumerate().map(|(at, one)| {
        let own = id(one);
        let by_id = (0..responses.len()).find(|it| !taken[*it] && !own.is_empty() && id(&responses[*it]) == own);
        let in_order = || (own.is_empty() && at < responses.len() && !taken[at]).then_some(at);
        let found = by_id.or_else(in_order);
        if let Some(found) = found {
            taken[found] = true;
        }
        let text = |key: &str| one.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        ToolUse {
            id: (!own.is_empty()).then_some(own),
            tool: text("name"),
            args: one.get("args").cloned().unwrap_or_default().into(),
            result: found.map(|found| responses[found].get("response").cloned().unwrap_or_default().into()),
        }
    });
    Ok(calls.collect())
}
