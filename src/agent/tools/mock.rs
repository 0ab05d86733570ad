//! The mocked results of the job's functions: the same call always gets the same result, unless a model makes it up.

use serde_json::{Map, Value, json};

use super::{ToolConfig, ToolMockConfig};

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Returned<'a> {
    /// This value.
    Value(Value),
    /// What a model makes up by these instructions.
    Written(&'a str),
}

/// The result of a call: that of the first mock of this turn that answers it, else the job's; an object with `error` where
/// there is none, also where the tool has mocks and none answers.
pub(super) fn returned<'a>(
    tools: &[ToolConfig],
    mocks_of_turn: &'a [ToolMockConfig],
    name: &str,
    args: &Value,
) -> Returned<'a> {
    let mut own = mocks_of_turn.iter().filter(|mock| mock.tool == name).peekable();
    if own.peek().is_none() {
        return Returned::Value(of_job(tools, name, args));
    }
    let answer = own.find(|mock| mock.args.as_ref().is_none_or(|wanted| mock.answers("", wanted, args)));
    match answer {
        None => Returned::Value(unknown()),
        Some(ToolMockConfig { prompt: Some(prompt), .. }) => Returned::Written(prompt),
        Some(mock) => Returned::Value(mock.result.clone().unwrap_or_default()),
    }
}

/// The result that the job has for a call.
fn of_job(tools: &[ToolConfig], name: &str, args: &Value) -> Value {
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

/// Whether two values are the same, all of them; 1 equals 1.0.
fn equal(one: &Value, other: &Value) -> bool {
    ToolMockConfig::default().answers("", one, other)
}

impl ToolMockConfig {
    /// Whether the arguments at this path are those that it answers, as far as it looks at them.
    fn answers(&self, path: &str, wanted: &Value, given: &Value) -> bool {
        match (wanted, given) {
            (Value::Number(one), Value::Number(other)) => {
                let tolerance = self.number_tolerance.unwrap_or_default();
                let near = one.as_f64().zip(other.as_f64()).is_some_and(|(a, b)| a == b || (a - b).abs() <= tolerance);
                one == other || near
            }
            (Value::Array(one), Value::Array(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| self.answers(path, one, other))
            }
            (Value::Object(one), Value::Object(other)) => {
                let beyond = other.keys().filter(|key| !one.contains_key(*key));
                one.keys().chain(beyond).all(|key| {
                    let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    !self.looks_at(&below)
                        || one.get(key).zip(other.get(key)).is_some_and(|(one, other)| self.answers(&below, one, other))
                })
            }
            _ => wanted == given,
        }
    }

    /// Whether what stands at this path counts, or something below it.
    fn looks_at(&self, path: &str) -> bool {
        let is_within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_related = |only: &String| is_within(path, only) || is_within(only, path);
        let is_ignored = self.ignore_paths.iter().any(|ignored| is_within(path, ignored));
        !is_ignored && (self.only_paths.is_empty() || self.only_paths.iter().any(is_related))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(tools: &[ToolConfig], mocks: &[ToolMockConfig], name: &str, args: &Value) -> Value {
        match super::returned(tools, mocks, name, args) {
            Returned::Value(value) => value,
            Returned::Written(prompt) => json!({ "by": prompt }),
        }
    }

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
        let mock = |args: Option<Value>, result: Value| ToolMockConfig {
            tool: "price".to_owned(),
            args,
            result: Some(result),
            ..ToolMockConfig::default()
        };
        let mocks = [mock(Some(json!({"item": "tea"})), json!(3)), mock(Some(json!({"item": "milk"})), Value::Null)];
        let answer = |args: Value| returned(&tool(json!(9)), &mocks, "price", &args);
        assert_eq!((answer(json!({"item": "tea"})), answer(json!({"item": "milk"}))), (json!(3), Value::Null));
        assert_eq!(answer(json!({"item": "tea", "more": 1})), unknown());
        assert_eq!(returned(&tool(json!(9)), &[mock(None, json!(1))], "price", &json!({"x": 1})), 1);
        assert_eq!(returned(&tool(json!(9)), &[], "price", &json!({"x": 1})), 9);
    }

    #[test]
    fn a_mock_without_a_result_is_left_to_a_model() {
        let of = |mock: Value| serde_json::from_value::<ToolMockConfig>(mock).unwrap();
        let first = of(json!({"tool": "price", "args": {"item": "tea"}, "prompt": "Make up a price."}));
        let mocks = [first, of(json!({"tool": "price", "result": null}))];
        let answer = |args: Value| returned(&tool(json!(9)), &mocks, "price", &args);
        assert_eq!(answer(json!({"item": "tea"})), json!({"by": "Make up a price."}));
        assert_eq!(answer(json!({"item": "milk"})), Value::Null);
    }

    #[test]
    fn a_mock_may_look_at_a_part_of_the_arguments_and_take_near_numbers() {
        let args = json!({"item": "tea", "at": {"city": "Rome", "zip": 1}, "rows": [{"n": 1, "note": "a"}]});
        let answers = |options: Value, given: Value| {
            let mut mock = json!({"tool": "price", "args": args, "result": 3});
            mock.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
            let mock: ToolMockConfig = serde_json::from_value(mock).unwrap();
            returned(&tool(json!(9)), &[mock], "price", &given) == 3
        };
        let with = |change: fn(&mut Value)| {
            let mut given = args.clone();
            change(&mut given);
            given
        };
        let other_zip = with(|it| it["at"]["zip"] = json!(2));
        let more = with(|it| it["more"] = json!(true));
        let other_note = with(|it| it["rows"][0]["note"] = json!("b"));
        let no_city = with(|it| drop(it["at"].as_object_mut().unwrap().remove("city")));
        let (only, ignore) =
            (json!({"onlyPaths": ["item", "at.city", "rows.n"]}), json!({"ignorePaths": ["at.zip", "rows.note"]}));
        for (given, all, by_only, by_ignore) in [
            (args.clone(), true, true, true),
            (other_zip.clone(), false, true, true),
            (more, false, true, false),
            (other_note, false, true, true),
            (no_city, false, false, false),
            (json!({"item": "milk"}), false, false, false),
        ] {
            let found = [json!({}), only.clone(), ignore.clone()].map(|options| answers(options, given.clone()));
            assert_eq!(found, [all, by_only, by_ignore], "{given}");
        }
        assert!(!answers(json!({"numberTolerance": 0.5}), other_zip.clone()));
        assert!(answers(json!({"numberTolerance": 1}), other_zip));
        assert!(!answers(json!({"onlyPaths": ["it"]}), json!({"it": 1})), "a path is whole keys");
    }

    #[test]
    fn the_model_learns_of_an_unknown_function() {
        assert_eq!(returned(&tool(json!(1)), &[], "cost", &json!({})), json!({"error": "there is no function cost"}));
    }
}
