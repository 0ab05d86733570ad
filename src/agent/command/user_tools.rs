//! Calls of the user's tools, between two messages.

use tokio::time::timeout;

use serde_json::{Value, json};

use super::session::CommandSession;
use super::wire::{MessageReader, ToolAnswer, USER_TOOL, tool_answer};
use crate::agent::{AgentError, AgentErrorKind};
use crate::evidence::UserToolCall;
use crate::http::BODY_CAP;

impl CommandSession {
    /// Sends the call and reads up to its result. What was printed before it answers nothing, and what else is printed meanwhile is passed
    /// over.
    pub(super) async fn user_tool(&mut self, call: &UserToolCall) -> Result<Value, AgentError> {
        let limit = self.settings.context.turn_limit;
        let outcome = timeout(limit, self.tool_exchange(call)).await;
        outcome.unwrap_or_else(|_| {
            let what = format!(
                "no USER_TOOL_RESULT within {limit:?} of `**user_tool**`; target.command.userTools says that it can"
            );
            Err(AgentError { kind: AgentErrorKind::Timeout, ..self.malformed(&what) })
        })
    }

    async fn tool_exchange(&mut self, call: &UserToolCall) -> Result<Value, AgentError> {
        let sent = json!({"name": call.name, "arguments": call.arguments});
        let nothing = MessageReader::default();
        let early = self.take_early().await?;
        self.early.extend(early);
        if let Err(error) = self.write(&format!("{USER_TOOL} {sent}")).await {
            return Err(self.ended_error(&format!("it does not take any more input ({error})"), &nothing).await);
        }
        let terminator = self.settings.config.terminator.clone();
        let mut read = 0;
        while let Some(line) = self.line().await? {
            read += line.len();
            if read > BODY_CAP {
                return Err(self.malformed("the result of the user's tool is longer than 8 MiB"));
            }
            match tool_answer(&String::from_utf8_lossy(&line), &terminator) {
                ToolAnswer::Nothing => {}
                ToolAnswer::Result(result) => return Ok(result),
                ToolAnswer::Begun(text) => {
                    let text = self.quoted(&text);
                    let what = format!(
                        "the result of the user's tool begins as JSON, {text}, and does not end on its line; print it on one"
                    );
                    return Err(AgentError { kind: AgentErrorKind::Unreadable, ..self.malformed(&what) });
                }
                ToolAnswer::Error(text) => {
                    let what = format!("USER_TOOL_ERROR: {}", self.quoted(&text));
                    return Err(self.malformed(&what));
                }
                ToolAnswer::Message(text) => {
                    let text = self.quoted(&text);
                    let what = format!(
                        "it took `**user_tool**` for a message, and answered {text}; target.command.userTools says that it carries \
                         out such calls"
                    );
                    return Err(AgentError { kind: AgentErrorKind::Unreadable, ..self.malformed(&what) });
                }
            }
        }
        Err(self.ended_error("it ended before the result of the user's tool", &nothing).await)
    }
}
