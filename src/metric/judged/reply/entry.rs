//! One verdict of a reply in JSON.

use serde_json::Value;

use super::MAX_REASON;
use crate::metric::judged::{Citations, DecisionError, ItemVerdict, JudgeItem, JudgeOptions, Scale, Support};
use crate::text::visible;

/// An entry of a reply that is no verdict: a sentence that can be sent back to the judge.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum VerdictEntryError {
    /// It has no id; its place, from 1.
    #[error("Verdict {0} has no `id`.")]
    NoId(usize),
    /// No item has its id.
    #[error("Verdict {number} has the id {id}, which no item has.")]
    UnknownId { number: usize, id: String },
    /// It does not name the item that the judge found.
    #[error("Verdict {0} has no `item`.")]
    NoItem(usize),
    /// It lacks a key.
    #[error("The verdict on {id} has no `{key}`.")]
    NoKey { id: String, key: &'static str },
    /// Its decision can't be read.
    #[error("The verdict on {id} {error}.")]
    Decision { id: String, error: DecisionError },
}

/// Reads an entry; `number` is its place, from 1.
pub(super) fn read_verdict(
    entry: &Value,
    number: usize,
    scale: Scale,
    items: &[JudgeItem],
    options: &JudgeOptions,
) -> Result<ItemVerdict, VerdictEntryError> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let given = match entry.get("id") {
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => text("id").map(str::to_owned),
    };
    let id = match (given, items) {
        // Whatever it calls them, they are counted.
        (_, []) => number.to_string(),
        (None, _) => return Err(VerdictEntryError::NoId(number)),
        (Some(id), items) if items.iter().any(|item| item.id == id) => id,
        (Some(id), _) => return Err(VerdictEntryError::UnknownId { number, id: visible(&id) }),
    };
    let no_key = |key: &'static str| VerdictEntryError::NoKey { id: visible(&id), key };
    let found = text("item").map(str::to_owned);
    if items.is_empty() && found.is_none() {
        return Err(VerdictEntryError::NoItem(number));
    }
    let reason = text("reason").map(str::to_owned);
    let reason = match (reason, options.strict) {
        (Some(reason), _) => shortened(reason),
        (None, true) => String::new(),
        (None, false) => return Err(no_key("reason")),
    };
    let decision = entry.get(scale.key()).ok_or_else(|| no_key(scale.key()))?;
    let label = decision.as_str().filter(|_| scale == Scale::Support).and_then(Support::parse);
    let decision =
        scale.read(decision, options).map_err(|error| VerdictEntryError::Decision { id: visible(&id), error })?;
    Ok(ItemVerdict { id, found, reason, citations: Citations::from_entry(entry), label, decision: Ok(decision) })
}

/// A reason, no longer than what was asked for by far.
fn shortened(reason: String) -> String {
    match reason.char_indices().nth(2 * MAX_REASON as usize) {
        Some((at, _)) => format!("{}…", &reason[..at]),
        None => reason,
    }
}
