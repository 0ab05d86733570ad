//! The calls of the user's own tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Change;
use super::event::present;

/// One call of a tool that the simulated user has: it is the user's doing, and none of the agent's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserToolCall {
    /// The turn that the user's next message begins.
    pub turn: u32,
    /// The tool's name.
    pub name: String,
    /// Its arguments, a mapping.
    pub arguments: Value,
    /// Its result; `None` where none has come.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Value>,
    /// What differed in the watched graph after it: the user's doing, which `evidence.changes` leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

impl UserToolCall {
    /// What the result says, a line for each thing: the user knows it. What the user wrote into the call was its own.
    pub fn known_text(&self) -> String {
        let mut lines = Vec::new();
        if let Some(result) = &self.result {
            collect(result, "", &mut lines);
        }
        lines.join("\n")
    }

    /// The result as a text; empty where there is none.
    pub fn result_text(&self) -> String {
        match &self.result {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    /// Whether another one is this call, with its result.
    fn is_answered_by(&self, other: &UserToolCall) -> bool {
        self.result.is_none() && (self.turn, &self.name, &self.arguments) == (other.turn, &other.name, &other.arguments)
    }
}

/// Adds a call to those that were made before; with its result, it replaces what was noted when it began.
pub(super) fn add(calls: &mut Vec<UserToolCall>, call: UserToolCall) {
    match calls.last_mut() {
        Some(begun) if begun.is_answered_by(&call) => *begun = call,
        _ => calls.push(call),
    }
}

fn collect(value: &Value, key: &str, lines: &mut Vec<String>) {
    let with_key = |text: &str| if key.is_empty() { text.to_owned() } else { format!("{key}: {text}") };
    match value {
        Value::Object(entries) => entries.iter().for_each(|(key, value)| collect(value, key, lines)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, key, lines)),
        Value::String(text) => lines.push(with_key(text)),
        Value::Null => lines.push(with_key("")),
        other => lines.push(with_key(&other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::evidence::{ChangeTime, Entity, Node};

    fn call(turn: u32, result: Option<Value>) -> UserToolCall {
        UserToolCall { turn, name: "toggle".to_owned(), arguments: json!({"on": true}), result, changes: Vec::new() }
    }

    #[test]
    fn a_call_is_one_with_its_result_and_the_next_is_another() {
        let mut calls = Vec::new();
        for it in [call(1, None), call(1, Some(json!("ok"))), call(1, None), call(1, Some(Value::Null)), call(2, None)]
        {
            add(&mut calls, it);
        }
        assert_eq!(calls, [call(1, Some(json!("ok"))), call(1, Some(Value::Null)), call(2, None)]);
        let (when, labels) = (ChangeTime { turn: 2, late: false }, vec!["Phone".to_owned()]);
        let entity = Entity::Node(Node { id: "1".to_owned(), labels, properties: Default::default() });
        let changes = vec![Change::Created { when, entity }];
        add(&mut calls, UserToolCall { changes, ..call(2, Some(json!("ok"))) });
        assert_eq!((calls.len(), calls[2].changes.len()), (3, 1));
        let text = serde_json::to_string(&calls).unwrap();
        assert_eq!(serde_json::from_str::<Vec<UserToolCall>>(&text).unwrap(), calls, "null is a result: {text}");
    }

    #[test]
    fn whatever_a_result_says_is_known() {
        let result = json!({"carrier": "TeleNova", "bars": 3, "apps": ["Maps", {"name": "Mail"}], "sim": null});
        let known = call(1, Some(result)).known_text();
        assert_eq!(known, "carrier: TeleNova\nbars: 3\napps: Maps\nname: Mail\nsim: ");
        assert_eq!(
            call(1, Some(json!("It is on"))).known_text(),
            "It is on",
            "what the user wrote itself is not shown by the tool"
        );
    }
}
