//! A2A's JSON ↔ our types, pure. 1.0 is ProtoJSON (`{"task": …}`, `TASK_STATE_COMPLETED`, `ROLE_USER`), 0.3 has a field
//! `kind` (`{"kind": "task", …}`, `completed`, `user`); one reader takes both.

mod card;
mod part;
mod progress;

pub use card::{Card, parse_card};
pub use progress::TaskProgress;

use serde_json::{Value, json};

use crate::agent::json::JsonFields;

/// A version of the protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Version {
    /// 0.3 and what came before.
    V0_3,
    /// 1.0 and what follows it.
    #[default]
    V1,
}

impl Version {
    /// The version of a card's interface; one without a version is 1.0, the first that lists interfaces.
    pub fn parse(text: &str) -> Version {
        if text.starts_with("0.") { Version::V0_3 } else { Version::V1 }
    }

    /// The value of the `A2A-Version` header.
    pub fn header(self) -> &'static str {
        match self {
            Version::V0_3 => "0.3",
            Version::V1 => "1.0",
        }
    }

    /// The request that sends a message.
    pub fn send(self, message: &UserMessage<'_>, streaming: bool) -> Value {
        let UserMessage { text, message_id, context_id, task_id } = message;
        let (method, role, part) = match (self, streaming) {
            (Version::V1, false) => ("SendMessage", "ROLE_USER", json!({"text": text})),
            (Version::V1, true) => ("SendStreamingMessage", "ROLE_USER", json!({"text": text})),
            (Version::V0_3, false) => ("message/send", "user", json!({"kind": "text", "text": text})),
            (Version::V0_3, true) => ("message/stream", "user", json!({"kind": "text", "text": text})),
        };
        let mut message = json!({"messageId": message_id, "role": role, "parts": [part]});
        if self == Version::V0_3 {
            message["kind"] = json!("message");
        }
        for (key, id) in [("contextId", context_id), ("taskId", task_id)] {
            if let Some(id) = id {
                message[key] = json!(id);
            }
        }
        let mut configuration = json!({"acceptedOutputModes": ["text/plain", "application/json"]});
        if self == Version::V0_3 && !streaming {
            configuration["blocking"] = json!(true);
        }
        rpc(method, message_id, json!({"message": message, "configuration": configuration}))
    }

    /// The request that polls a task.
    pub fn task(self, id: &str) -> Value {
        let method = match self {
            Version::V0_3 => "tasks/get",
            Version::V1 => "GetTask",
        };
        rpc(method, id, json!({"id": id}))
    }
}

fn rpc(method: &str, id: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A message to send.
#[derive(Debug, Clone, Copy)]
pub struct UserMessage<'a> {
    /// The text.
    pub text: &'a str,
    /// Its id, the same at every attempt.
    pub message_id: &'a str,
    /// The conversation, once the agent has named it.
    pub context_id: Option<&'a str>,
    /// The task that waits for this message.
    pub task_id: Option<&'a str>,
}

/// Why a JSON-RPC reply has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RpcError {
    /// The agent reports an error.
    Reported {
        /// Its code.
        code: i64,
        /// Its message, or the whole error where it has none.
        message: String,
    },
    /// It is no JSON-RPC: the reason, in a sentence, or an error without a code.
    Malformed(String),
}

/// The result of a JSON-RPC reply.
///
/// # Errors
/// The reply reports an error, or is no JSON-RPC.
pub fn parse_result(reply: &Value) -> Result<&Value, RpcError> {
    if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
        let message = error.text("message").map_or_else(|| error.to_string(), str::to_owned);
        return Err(match error.get("code").and_then(Value::as_i64) {
            Some(code) => RpcError::Reported { code, message },
            None => RpcError::Malformed(message),
        });
    }
    let malformed = || RpcError::Malformed("the reply is no JSON-RPC: it has neither result nor error".to_owned());
    reply.get("result").ok_or_else(malformed)
}

#[cfg(test)]
mod tests;
