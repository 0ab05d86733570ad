//! Calls of the user's tools, and their results.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::calls::json_of;
use crate::agent::freeform::off_thread;
use crate::agent::rest::Hints;
use crate::agent::{AgentError, AgentErrorKind};
use crate::http::{HttpFault, HttpFaultKind, HttpReply};
use crate::text::is_blank;

/// The hints on such calls.
pub(super) const HINTS: Hints = Hints {
    unreachable: "; target.http.userTools.url says where it was looked for",
    unauthorized: "; check the keys in target.http.userTools, in its headers for example",
    not_found: "; target.http.userTools.url says what was asked for",
};

/// The reply to a call: JSON, a plain text, or nothing.
pub(super) fn reply(reply: &HttpReply) -> Result<Value, HttpFault> {
    match str::from_utf8(&reply.body) {
        Ok(text) if is_blank(text) => Ok(Value::Null),
        Ok(text) if reply.is_of_type("text/plain") => Ok(text.into()),
        Err(_) if reply.is_of_type("text/plain") => {
            let what = "answered text/plain that is not UTF-8".to_owned();
            Err(HttpFault { kind: HttpFaultKind::WrongType, message: format!("{}: {what}", reply.place) })
        }
        _ => json_of(reply),
    }
}

/// What the job's path picks out of a reply.
pub(super) async fn result(reply: Value, path: Option<JsonPath>) -> Result<Value, AgentError> {
    let Some(path) = path else { return Ok(reply) };
    let picked = off_thread(move || {
        let nodes = path.query(&reply).all();
        match nodes.as_slice() {
            [] => None,
            [one] => Some((*one).clone()),
            several => Some(several.iter().map(|node| (*node).clone()).collect()),
        }
    });
    let wrong = |kind, what: String| AgentError::new(kind, format!("target.http.userTools.result: {what}"));
    let picked = picked.await.map_err(|error| wrong(AgentErrorKind::Unsendable, error.to_string()))?;
    picked.ok_or_else(|| wrong(AgentErrorKind::Unreadable, "nothing is there in the reply to the call".to_owned()))
}
