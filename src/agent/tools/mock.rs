//! The mocked results of the job's functions: the same call always gets the same result.

use serde_json::{Map, Value, json};

use super::{ToolConfig, ToolMockConfig};

/// The result of a call: that of the first mock of this turn that answers it, else the job's; an object with `error` where
/// there is none, also where the tool has mocks and none answers.
pub(super) fn returned(tools: &[ToolConfig], mocks_of_turn: &[ToolMockConfig], name: &str, args: &Value) -> Value {
    let mut own = mocks_of_turn.iter().filter(|mock| mock.tool == name).peekable();
    if own.peek().is_some() {
        let answer = own.find(|mock| mock.args.as_ref().is_none_or(|wanted| equal(wanted, args)));
        return answer.map_or_else(unknown, |mock| mock.result.clone());
    }
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        return json!({ "error": format!("there is no function {name}") });
    };
    let Some(mocks) = mocks(&tool.returns) else { return tool.returns.clone() };
    let answer = mocks.into_iter().find(|mock| agrees(mock.get("when"), args));
    answer.map_or_else(unknown, |mock| mock["returns"].clone())
}

fn unknown() -> Value {
    json!({ "error": "nothing is known for these arguments" })
}

/// The list of mocks, if it is one: a list of mappings with `returns`, and nothing but `when` beside it.
fn mocks(returns: &Value) -> Option<Vec<&Map<String, Value>>> {
    let list = returns.as_array().filter(|list| !list.is_empty())?;
    let is_mock = |map: &Map<String, Value>| {
        map.contains_key("returns") && map.keys().all(|key| matches!(key.as_str(), "when" | "returns"))
    };
    list.iter().map(|entry| entry.as_object().filter(|map| is_mock(map))).collect()
}

/// Whether the arguments have these values; 1 equals 1.0.
fn agrees(when: Option<&Value>, args: &Value) -> bool {
    let Some(Value::Object(when)) = when else { return when.is_none_or(Value::is_null) };
    when.iter().all(|(name, wanted)| args.get(name).is_some_and(|given| equal(wanted, given)))
}

fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(returns: Value) -> [ToolConfig; 1] {
        [ToolConfig { name: "price".to_owned(), description: String::new(), parameters: Value::Null, returns }]
    }

    #[test]
    fn a_value_is_returned_whatever_the_arguments() {
        for value in [json!({"eur": 5}), json!([1, 2]), json!([]), json!([{"a": 1}]), Value::Null] {
            assert_eq!(returned(&tool(value.clone()), &[], "price", &json!({"x": 1})), value);
        }
    }

    #[test]
    fn the_first_mock_that_agrees_counts() {
        let mocks = tool(json!([
            {"when": {"item": "tea", "count": 2}, "returns": 10},
            {"when": {"item": "tea"}, "returns": {"eur": 5}},
            {"when": {"item": ["a", {"b": 1}]}, "returns": "list"},
        ]));
        for (args, returns) in [
            (json!({"item": "tea", "count": 2.0, "more": true}), json!(10)),
            (json!({"item": "tea", "count": 3}), json!({"eur": 5})),
            (json!({"item": ["a", {"b": 1.0}]}), json!("list")),
            (json!({"item": "milk"}), json!({"error": "nothing is known for these arguments"})),
            (json!("no object"), json!({"error": "nothing is known for these arguments"})),
        ] {
            assert_eq!(returned(&mocks, &[], "price", &args), returns, "{args}");
        }
        let always = tool(json!([{"when": {"item": "tea"}, "returns": 1}, {"returns": 0}]));
        assert_eq!(returned(&always, &[], "price", &json!({})), 0);
    }

    #[test]
    fn a_turns_own_mocks_come_first_and_a_call_that_none_answers_fails() {
        let mock = |args: Option<Value>, result: Value| ToolMockConfig { tool: "price".to_owned(), args, result };
        let mocks = [mock(Some(json!({"item": "tea"})), json!(3)), mock(Some(json!({"item": "milk"})), Value::Null)];
        let answer = |args: Value| returned(&tool(json!(9)), &mocks, "price", &args);
        assert_eq!((answer(json!({"item": "tea"})), answer(json!({"item": "milk"}))), (json!(3), Value::Null));
        assert_eq!(answer(json!({"item": "tea", "more": 1})), unknown());
        assert_eq!(returned(&tool(json!(9)), &[mock(None, json!(1))], "price", &json!({"x": 1})), 1);
        assert_eq!(returned(&tool(json!(9)), &[], "price", &json!({"x": 1})), 9);
    }

    #[test]
    fn an_unknown_function_is_told_to_the_model() {
        assert_eq!(returned(&tool(json!(1)), &[], "cost", &json!({})), json!({"error": "there is no function cost"}));
    }
}
