//! Scenarios: a simulated user.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::KEYS;
use super::persona::read_persona;
use crate::dataset::Kind;
use crate::dataset::cursor::{Cursor, UnknownKeys};
use crate::dataset::model::{CaseUser, Dataset, DatasetCase, Scenario};

/// The stop signal of ADK's simulated user; fixed in its code.
const STOP_SIGNAL: &str = "</finished>";

/// The most messages of the user where no configuration says otherwise.
pub(super) const MAX_INVOCATIONS: u32 = 20;

/// Reads a file of scenarios: each becomes a case, as `adk eval_set add_eval_case` makes it.
pub(in crate::dataset) fn read_scenarios(value: Cursor<'_>, name: &str) -> Dataset {
    let mut dataset = Dataset::new(Kind::AdkScenarios, name);
    let Some(mut fields) = value.fields(KEYS) else { return dataset };
    let scenarios = fields.required("scenarios").map(Cursor::items).unwrap_or_default();
    if scenarios.is_empty() {
        value.warn("this file has no scenarios");
    }
    for value in scenarios {
        let Some(scenario) = read_scenario(value) else { continue };
        let id = id_of(&scenario, value);
        if dataset.cases.iter().any(|case| case.id == id) {
            value.warn("this scenario is here already; it is skipped");
            continue;
        }
        let user = CaseUser::Scenario(Box::new(scenario));
        dataset.cases.push(DatasetCase { id, user, line: value.line(), ..DatasetCase::default() });
    }
    dataset.extra = fields.rest(UnknownKeys::Kept);
    dataset
}

/// Reads one scenario.
pub(super) fn read_scenario(value: Cursor<'_>) -> Option<Scenario> {
    let mut fields = value.fields(KEYS)?;
    let starting_prompt = fields.required("starting_prompt").and_then(Cursor::filled_text).map(str::to_owned);
    let plan = fields.required("conversation_plan").and_then(Cursor::text).unwrap_or_default().to_owned();
    let persona = fields.get("user_persona").and_then(read_persona);
    fields.rest(UnknownKeys::Refused);
    Some(Scenario {
        starting_prompt,
        plan,
        persona,
        stop_signal: Some(STOP_SIGNAL.to_owned()),
        max_turns: Some(MAX_INVOCATIONS),
        ..Scenario::default()
    })
}

/// The first eight hexadecimal digits of the digest of its JSON with sorted keys, as ADK names it.
fn id_of(scenario: &Scenario, value: Cursor<'_>) -> String {
    let persona = value.node.get("user_persona").or_else(|| value.node.get("userPersona"));
    let fields = json!({
        "conversation_plan": scenario.plan,
        "starting_prompt": scenario.starting_prompt,
        "user_persona": persona.map(|persona| persona.to_json()),
    });
    let digest = Sha256::digest(python_json(&fields).as_bytes());
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// JSON as Python writes it: a space after each comma and colon, ASCII only, keys sorted.
fn python_json(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let quoted = Value::String(text.clone()).to_string();
            let mut ascii = String::new();
            for character in quoted.chars() {
                if character.is_ascii() && character != '\u{7f}' {
                    ascii.push(character);
                } else {
                    let mut units = [0; 2];
                    for unit in character.encode_utf16(&mut units) {
                        ascii.push_str(&format!("\\u{unit:04x}"));
                    }
                }
            }
            ascii
        }
        Value::Array(items) => format!("[{}]", items.iter().map(python_json).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort();
            let entry =
                |key: &String| format!("{}: {}", python_json(&Value::String(key.clone())), python_json(&map[key]));
            format!("{{{}}}", keys.into_iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
