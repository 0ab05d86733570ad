//! The ways of asking for JSON, from the strictest down. Independent of any provider.
//!
//! An endpoint that refuses one way is asked the next, and that is remembered for its client.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::evidence::ReplySchema;

/// A way of asking for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Structured {
    /// The endpoint holds the model to a JSON Schema.
    Schema,
    /// The endpoint holds the model to JSON; the words name the schema.
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

/// What an endpoint is known to refuse; shared by all requests of a client.
#[derive(Debug, Default)]
pub struct Ladder(AtomicU8);

impl Ladder {
    /// The strictest way that has not been refused.
    pub fn strictest(&self) -> Structured {
        match self.0.load(Ordering::Relaxed) {
            0 => Structured::Schema,
            1 => Structured::Json,
            _ => Structured::Words,
        }
    }

    /// Remembers that this way was refused; says whether there is a weaker one.
    pub fn refuse(&self, way: Structured) -> bool {
        let Some(weaker) = way.weaker() else { return false };
        // Requests in flight may come back late with a refusal that is known already.
        self.0.fetch_max(weaker as u8, Ordering::Relaxed);
        true
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
    fn a_refused_way_is_not_tried_again_and_the_last_one_stays() {
        let ladder = Ladder::default();
        assert_eq!(ladder.strictest(), Structured::Schema);
        assert!(ladder.refuse(Structured::Schema));
        assert_eq!(ladder.strictest(), Structured::Json);
        assert!(ladder.refuse(Structured::Json));
        assert_eq!(ladder.strictest(), Structured::Words);
        assert!(!ladder.refuse(Structured::Words));
        assert_eq!(ladder.strictest(), Structured::Words);
    }

    #[test]
    fn a_late_refusal_does_not_climb_back() {
        let ladder = Ladder::default();
        ladder.refuse(Structured::Json);
        ladder.refuse(Structured::Schema);
        assert_eq!(ladder.strictest(), Structured::Words);
    }

    #[test]
    fn the_schema_stands_after_the_text() {
        let schema = ReplySchema { name: "score".to_owned(), schema: json!({"type": "object"}) };
        let worded = with_schema_in_words("Be fair.", &schema);
        assert!(worded.starts_with("Be fair.\n\nReply with one JSON object"));
        assert!(worded.ends_with("{\"type\":\"object\"}"));
    }
}
