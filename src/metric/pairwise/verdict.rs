//! A judge's verdict on two conversations: its shape, and how it is read.

use serde::Deserialize;
use serde_json::json;

use super::super::judged::{LONGEST_QUOTE, MOST_QUOTES, is_quoted_from};
use super::{MAX_REASON, Messages};
use crate::evidence::ReplySchema;
use crate::metric::ReplyError;
use crate::score::Component;
use crate::text::{contradiction, visible};

/// Which conversation is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Preference {
    /// The first that was read.
    First,
    /// The second.
    Second,
    /// Neither.
    Equal,
}

/// A verdict whose quotes were said.
#[derive(Debug)]
pub(super) struct PairVerdict {
    pub(super) better: Preference,
    /// The judge's reason: untrusted text.
    pub(super) reason: String,
}

#[derive(Deserialize)]
struct WrittenPreference {
    #[serde(default)]
    reason: String,
    #[serde(default)]
    quotes: Vec<Quote>,
    verdict: Preference,
}

#[derive(Deserialize)]
struct Quote {
    conversation: Place,
    text: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Place {
    First,
    Second,
}

/// The shape of a reply: the reason comes before the decision.
pub(super) fn reply_schema() -> ReplySchema {
    let quote = json!({
        "type": "object",
        "properties": {
            "conversation": { "type": "string", "enum": ["first", "second"] },
            "text": { "type": "string", "maxLength": LONGEST_QUOTE },
        },
        "required": ["conversation", "text"],
        "additionalProperties": false,
    });
    ReplySchema {
        name: "better".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "reason": { "type": "string", "maxLength": MAX_REASON, "description": "Before the decision." },
                "quotes": { "type": "array", "items": quote, "maxItems": MOST_QUOTES },
                "verdict": { "type": "string", "enum": ["first", "second", "equal"] },
            },
            "required": ["reason", "quotes", "verdict"],
            "additionalProperties": false,
        }),
        max_tokens: 600,
        wants_alternatives: false,
    }
}

/// Reads a verdict on these conversations. One that prefers a conversation quotes the assistant's words that decided it.
///
/// # Errors
/// It is no verdict, or it rests on words that were not said.
pub(super) fn read(raw: &str, first: &Messages<'_>, second: &Messages<'_>) -> Result<PairVerdict, ReplyError> {
    if let Some(key) = contradiction(raw) {
        return Err(ReplyError::Contradiction(key));
    }
    let wrong = |why: String| Err(ReplyError::Verdicts(vec![why]));
    // Asked for once more.
    let unfounded = |why: String| Err(ReplyError::InPart(vec![why]));
    let written: WrittenPreference = match serde_json::from_str(raw.trim()) {
        Ok(written) => written,
        Err(error) if error.is_data() => {
            return wrong("The reply must be an object with `reason`, `quotes` (each with `conversation` and `text`) and `verdict`: first, second or equal.".to_owned());
        }
        Err(error) => return Err(ReplyError::NotJson(error.to_string())),
    };
    if written.reason.trim().is_empty() {
        return wrong("The verdict has no `reason`.".to_owned());
    }
    for quote in &written.quotes {
        let (of, name) = match quote.conversation {
            Place::First => (first, "first"),
            Place::Second => (second, "second"),
        };
        if !of.iter().any(|(_, text)| is_quoted_from(&quote.text, text)) {
            return unfounded(format!(
                "The verdict quotes \"{}\", which does not stand in the {name} conversation.",
                visible(&quote.text.chars().take(80).collect::<String>())
            ));
        }
    }
    let is_of_assistant = |quote: &Quote| {
        let own = if matches!(quote.conversation, Place::First) { first } else { second };
        own.iter().any(|(from, text)| *from == "assistant" && is_quoted_from(&quote.text, text))
    };
    if written.verdict != Preference::Equal && !written.quotes.iter().any(is_of_assistant) {
        return unfounded("The verdict quotes nothing that an assistant said.".to_owned());
    }
    let mark = if written.quotes.iter().any(is_of_assistant) { "" } else { Component::UNSUPPORTED };
    Ok(PairVerdict { better: written.verdict, reason: visible(&written.reason) + mark })
}
