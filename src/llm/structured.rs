//! The ways of asking for JSON, from the strictest down. Independent of any provider.
//!
//! An endpoint that refuses one way is asked the next; [`RequestFeatures`](super::RequestFeatures) remember that.

use std::borrow::Cow;

use super::LlmRequest;
use crate::evidence::{ReplySchema, Role};

/// The first message for providers that require conversations to begin with the user.
pub const OPENING: &str = "(The conversation begins.)";

/// A way of asking for JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Structured {
    /// The endpoint enforces a JSON Schema.
    Schema,
    /// The endpoint enforces JSON, by a mode or by a tool that the model must use; the prompt has the schema where the request
    /// has not.
    Json,
    /// Only the prompt has the schema.
    Prompt,
}

impl Structured {
    /// The next way down.
    pub fn weaker(self) -> Option<Structured> {
        match self {
            Structured::Schema => Some(Structured::Json),
            Structured::Json => Some(Structured::Prompt),
            Structured::Prompt => None,
        }
    }
}

/// A message of a request: its role and its text.
pub(super) type RoleText<'a> = (Role, Cow<'a, str>);

impl LlmRequest {
    /// The messages. Where `schema_in_prompt`, the first one, the fixed part, has the schema if there is one, so that
    /// later requests still only append to it.
    pub(super) fn texts(&self, schema_in_prompt: bool) -> Vec<RoleText<'_>> {
        let texts = self.messages.iter().map(|message| (message.role, Cow::Borrowed(message.content.as_str())));
        self.with_schema(texts.collect(), schema_in_prompt)
    }

    /// The instructions at the beginning, and the rest, which begins with the user.
    pub(super) fn instructions_and_texts(&self, schema_in_prompt: bool) -> (Option<Cow<'_, str>>, Vec<RoleText<'_>>) {
        let mut texts = self.texts(false);
        let first = usize::from(texts.first().is_some_and(|(role, _)| *role == Role::System));
        if texts.get(first).is_none_or(|(role, _)| *role == Role::Assistant) {
            texts.insert(first, (Role::User, OPENING.into()));
        }
        let mut texts = self.with_schema(texts, schema_in_prompt);
        let conversation = texts.split_off(first);
        (texts.pop().map(|(_, instructions)| instructions), conversation)
    }

    fn with_schema<'a>(&self, mut texts: Vec<RoleText<'a>>, schema_in_prompt: bool) -> Vec<RoleText<'a>> {
        if let (true, Some(schema), Some((_, first))) = (schema_in_prompt, &self.schema, texts.first_mut()) {
            *first = with_schema_in_prompt(first, schema).into();
        }
        texts
    }
}

fn with_schema_in_prompt(text: &str, schema: &ReplySchema) -> String {
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
        let schema = ReplySchema {
            name: "score".to_owned(),
            schema: json!({"type": "object"}),
            max_tokens: 100,
            wants_alternatives: false,
        };
        let worded = with_schema_in_prompt("Be fair.", &schema);
        assert!(worded.starts_with("Be fair.\n\nReply with one JSON object"));
        assert!(worded.ends_with("{\"type\":\"object\"}"));
    }
}
