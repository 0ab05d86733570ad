//! Google ADK's criteria of trajectories.

use serde_json::Value;

use super::config::{CallOrder, TrajectoryConfig, TrajectoryDialect};
use super::criterion::CriterionError;
use super::equality::{PYTHON, may_hide_digits, python};
use super::expected::ExpectedCall;
use crate::evidence::ToolUse;

/// Reads a `match_type` as ADK does: 0, 1 or 2, or a name in which case, spaces, hyphens and underscores do not matter.
///
/// # Errors
/// It is none of them.
pub fn match_type(value: &Value) -> Result<CallOrder, CriterionError> {
    let known = "match_type must be EXACT, IN_ORDER or ANY_ORDER (0, 1 or 2)";
    let number = value.as_i64();
    let name = value.as_str().map(|text| text.trim().to_uppercase().replace([' ', '-'], "_"));
    match (number, name.as_deref()) {
        (Some(0), _) | (_, Some("EXACT")) => Ok(CallOrder::Exact),
        (Some(1), _) | (_, Some("IN_ORDER")) => Ok(CallOrder::InOrder),
        (Some(2), _) | (_, Some("ANY_ORDER")) => Ok(CallOrder::AnyOrder),
        _ => Err(format!("{known}, not {value}").into()),
    }
}

/// The name that ADK gives an order.
pub fn match_type_name(order: CallOrder) -> &'static str {
    match order {
        CallOrder::Exact => "EXACT",
        CallOrder::InOrder => "IN_ORDER",
        CallOrder::AnyOrder | CallOrder::Goals => "ANY_ORDER",
    }
}

/// The options that a criterion of `tool_trajectory_avg_score` means; keys in both spellings.
///
/// # Errors
/// A key has a value that it can not have.
pub fn from_criterion(criterion: &Value, strict: bool) -> Result<TrajectoryConfig, CriterionError> {
    let key = |snake: &str, camel: &str| criterion.get(snake).or_else(|| criterion.get(camel));
    let order = key("match_type", "matchType").filter(|it| !it.is_null()).map(match_type).transpose()?;
    let ignores = match key("ignore_args", "ignoreArgs") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(ignores)) => *ignores,
        Some(other) => return Err(format!("ignore_args must be true or false, not {other}").into()),
    };
    Ok(TrajectoryConfig {
        dialect: TrajectoryDialect::Adk,
        strict,
        order: Some(order.unwrap_or(CallOrder::Exact)),
        arguments: Some(!ignores),
        ..TrajectoryConfig::default()
    })
}

/// ADK's `tool_parameter_match` of one turn: each expected call is held against the next one of its tool. `None` where none is
/// expected. `doubts` learns of each argument that may be the expected one; it does not count.
pub(super) fn parameter_match(
    expected: &[ExpectedCall],
    actual: &[ToolUse],
    doubts: &mut dyn FnMut(&str),
) -> Option<f64> {
    if expected.is_empty() {
        return None;
    }
    let mut next = 0;
    let mut sum = 0.0;
    for wanted in expected {
        let Some(found) = actual[next..].iter().position(|made| made.tool == wanted.tool) else { continue };
        let made = &actual[next + found];
        next += found + 1;
        let args = wanted.args.as_deref().and_then(Value::as_object).filter(|args| !args.is_empty());
        sum += args.map_or(1.0, |args| {
            let mut holds = |(key, value): &(&String, &Value)| {
                let same = made.args.get(*key).filter(|made| python(value, made));
                let is_doubtful = same.is_some_and(|made| may_hide_digits(&PYTHON, value, made));
                if is_doubtful {
                    doubts(key);
                }
                same.is_some() && !is_doubtful
            };
            args.iter().filter(|arg| holds(arg)).count() as f64 / args.len() as f64
        });
    }
    Some(sum / expected.len() as f64)
}
