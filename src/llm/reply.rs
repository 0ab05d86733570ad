//! The body of a successful response: its text, or why there is none.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ApiError, repair};
use crate::text::is_blank;

/// The JSON body of a successful response.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct ReplyBody(Value);

/// Where the providers' replies have their lists.
const LISTS: [&str; 3] = ["choices", "content", "candidates"];

/// The field that should be a list and is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no list")]
pub struct NotAList(&'static str);

impl TryFrom<Map<String, Value>> for ReplyBody {
    type Error = NotAList;

    fn try_from(body: Map<String, Value>) -> Result<ReplyBody, NotAList> {
        let is_list = |key: &&str| body.get(*key).is_none_or(|value| value.is_array() || value.is_null());
        match LISTS.iter().find(|key| !is_list(key)) {
            Some(key) => Err(NotAList(key)),
            None => Ok(ReplyBody(body.into())),
        }
    }
}

impl ReplyBody {
    /// The value at a JSON pointer without escapes: no provider's key needs one.
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        let value = pointer.split('/').skip(1).try_fold(&self.0, |value, step| match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            value => value.get(step),
        });
        value.filter(|value| !value.is_null())
    }

    /// The text at a JSON pointer.
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.get(pointer)?.as_str()
    }

    /// The list at a JSON pointer; an empty one where there is none.
    pub fn list(&self, pointer: &str) -> &[Value] {
        self.get(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The count at a JSON pointer.
    pub fn number(&self, pointer: &str) -> Option<u64> {
        self.get(pointer)?.as_u64()
    }

    /// The error that a gateway wrapped into a success.
    pub fn error(&self) -> Option<ApiError> {
        self.get("/error").map(ApiError::from_value)
    }
}

/// The text as it is used: with a schema, the JSON object that is cut out of what is around it. A text without one stays
/// whole, so that the caller can say what is wrong with it.
pub(super) fn usable(text: String, wants_json: bool) -> Result<String, NoText> {
    if is_blank(&text) {
        return Err(NoText::Nothing);
    }
    Ok(wants_json.then(|| repair(&text)).flatten().unwrap_or(text))
}

/// Why a successful response has no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoText {
    /// The model refuses, with its message, which may be empty.
    Refused(String),
    /// The provider's filter took the text away; the provider's reason, if it gives one.
    Filtered(String),
    /// The reply reached its token limit; its text as far as it goes.
    CutOff(String),
    /// There is no text.
    Nothing,
    /// There is no reply in it at all.
    NoChoice,
    /// There are not exactly two embeddings in it, or they have no cosine.
    NoVectors,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_cut_out_only_where_it_was_asked_for() {
        let fenced = "```json\n{\"a\":1}\n```";
        assert_eq!(usable(fenced.to_owned(), true).unwrap(), r#"{"a":1}"#);
        assert_eq!(usable(fenced.to_owned(), false).unwrap(), fenced);
        assert_eq!(usable("0.8".to_owned(), true).unwrap(), "0.8");
        for empty in ["", " \n"] {
            assert_eq!(usable(empty.to_owned(), true), Err(NoText::Nothing));
        }
    }
}
