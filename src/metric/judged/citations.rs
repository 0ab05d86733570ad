//! The evidence of a verdict, as the judge writes it.

use serde_json::{Map, Value, json};

/// The evidence of a verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Citations {
    /// Words of the conversation, each with its turn; `None` for facts and context.
    pub quotes: Vec<(Option<u32>, String)>,
    /// The turns that were read where it rests on something absent.
    pub turns_read: Vec<u32>,
}

impl Citations {
    /// Reads the citations of an entry of a judge's reply; empty where it has none.
    pub(in crate::metric) fn from_entry(entry: &Value) -> Citations {
        let list = |key: &str| entry.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let number_of = |value: &Value| {
            let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok());
            number.and_then(|number| u32::try_from(number).ok())
        };
        let quote = |quote: &Value| {
            let text = quote.as_str().or_else(|| quote.get("text").and_then(Value::as_str)).unwrap_or_default();
            (quote.get("turn").and_then(number_of), text.to_owned())
        };
        Citations {
            quotes: list("quotes").iter().map(quote).collect(),
            turns_read: list("turnsRead").iter().filter_map(number_of).collect(),
        }
    }
}

/// The most quotes of one verdict, and the most characters of each, that a judge is asked for.
pub(in crate::metric) const MOST_QUOTES: u32 = 8;
pub(in crate::metric) const LONGEST_QUOTE: u32 = 400;

/// The properties of an entry that hold it, in their order.
pub(in crate::metric) fn citations_schema() -> Map<String, Value> {
    let quote = json!({
        "type": "object",
        "properties": { "turn": { "type": ["integer", "null"] }, "text": { "type": "string", "maxLength": LONGEST_QUOTE } },
        "required": ["turn", "text"],
        "additionalProperties": false,
    });
    let mut properties = Map::new();
    properties.insert("quotes".to_owned(), json!({ "type": "array", "items": quote, "maxItems": MOST_QUOTES }));
    properties.insert("turnsRead".to_owned(), json!({ "type": "array", "items": { "type": "integer" } }));
    properties
}
