//! The ways of asking for JSON, from the strictest down. Independent of any provider.
//!
//! An endpoint that refuses one way is asked the next; `manner` remembers that.

use crate::evidence::ReplySchema;

/// A way of asking for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Structured {
    /// The endpoint holds the model to a JSON Schema.
    Schema,
    /// The endpoint holds the model to JSON, by a mode or by a tool that it must use; the words name the schema where
    /// nothing else does.
    Json,
    /// Only the words name the schema.
    Words,
}

impl Structured {
    /// The next way down.
    pub fn weaker(self) -> Option<Structured> {
        match self {
            Structured::Schema => Some(Structured::Json),
            Structured::Json => Some(Structured::Words),
            Structured::Words => None,
        }
    }
}

/// A text with the schema in words: for the first message, the fixed part, so that what follows it is still only appended
/// to from request to request.
pub fn with_schema_in_words(text: &str, schema: &ReplySchema) -> String {
    format!(
        "{text}\n\nReply with one JSON object and nothing else. It must follow this JSON Schema:\n{}",
        schema.schema
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_stands_after_the_text() {
        let schema = ReplySchema { name: "score".to_owned(), schema: json!({"type": "object"}) };
        let worded = with_schema_in_words("Be fair.", &schema);
        assert!(worded.starts_with("Be fair.\n\nReply with one JSON object"));
        assert!(worded.ends_with("{\"type\":\"object\"}"));
    }
}
