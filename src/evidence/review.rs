//! The calls of a conversation beside those that were expected of it.

use serde_json::Value;

use super::ToolUse;

/// A conversation beside what was expected of it. Nothing of it is stored: it is made of the evidence again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExpectationReview {
    /// The expectations of single turns.
    pub turns: Vec<TurnExpectation>,
    /// The calls that were expected of the whole conversation; `None` where nothing is said about them.
    pub calls: Option<Vec<ToolUse>>,
    /// Each call that the agent made, in order.
    pub made: Vec<ReviewedCall>,
    /// The calls that were expected and are not among those.
    pub missed: Vec<MissedCall>,
    /// How many calls were expected in all.
    pub expected: usize,
}

/// The expectations of one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnExpectation {
    /// The turn's number.
    pub turn: u32,
    /// The user's message.
    pub say: String,
    /// The reply.
    pub reply: Option<String>,
    /// The calls; `None` where nothing is said about them.
    pub calls: Option<Vec<ToolUse>>,
}

/// A call that the agent made.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewedCall {
    /// The turn in which it was made.
    pub turn: u32,
    /// The call.
    pub call: ToolUse,
    /// Its match with the expected calls.
    pub finding: CallFinding,
}

impl ReviewedCall {
    /// The tool's error, where its result is one.
    pub fn error(&self) -> Option<String> {
        error_of(self.call.result.as_ref()?)
    }
}

/// The match of a call with the expected ones.
#[derive(Debug, Clone, PartialEq)]
pub enum CallFinding {
    /// There are no expected calls, or others beside them are allowed.
    Unjudged,
    /// It was expected.
    AsExpected,
    /// A call of this tool was expected, with other values.
    Differs(Vec<ValueDifference>),
    /// It was expected at another place.
    OutOfOrder,
    /// It was not expected.
    NotExpected,
}

/// One place in which a call differs from the expected one.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueDifference {
    /// Where: `args.city`, `result`.
    pub path: String,
    /// The expected value; `None` where nothing was.
    pub expected: Option<Value>,
    /// The actual value; `None` where nothing was.
    pub actual: Option<Value>,
}

/// A call that was expected and not made.
#[derive(Debug, Clone, PartialEq)]
pub struct MissedCall {
    /// The turn in which it was expected; `None` where any would do.
    pub turn: Option<u32>,
    /// The call.
    pub call: ToolUse,
}

/// The error in a tool's result; `None` where there is none.
fn error_of(result: &Value) -> Option<String> {
    let is_said = |value: &&Value| !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("");
    let words = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match result {
        Value::Object(map) => {
            let named = ["error", "errorMessage", "error_message"].iter().find_map(|key| map.get(*key)).filter(is_said);
            let flagged = ["isError", "is_error"].iter().any(|key| map.get(*key) == Some(&Value::Bool(true)));
            let status = map.get("status").and_then(Value::as_str);
            let is_status = status.is_some_and(|status| ["error", "failed"].contains(&status));
            named.map(words).or_else(|| (flagged || is_status).then(|| result.to_string()))
        }
        Value::String(text) => {
            let begins = text.trim_start().get(..5).is_some_and(|begin| begin.eq_ignore_ascii_case("error"));
            begins.then(|| text.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_that_is_an_error_is_one() {
        for (result, error) in [
            (json!({"error": "no such order"}), Some("no such order")),
            (json!({"error": null, "ok": 1}), None),
            (json!({"error": false}), None),
            (json!({"isError": true}), Some(r#"{"isError":true}"#)),
            (json!({"status": "error"}), Some(r#"{"status":"error"}"#)),
            (json!({"status": "done"}), None),
            (json!("Error: 500"), Some("Error: 500")),
            (json!("erro"), None),
            (json!("é¢’"), None),
            (json!(["error"]), None),
        ] {
            assert_eq!(error_of(&result).as_deref(), error, "{result}");
        }
    }
}
