//! A persona and a judge made of simple rules, for trying a job out without a language model. They are used only where a
//! job or a flag names `scripted`.
//!
//! In: the messages that a model would get. Out: the JSON that the prompts ask for. The rules see nothing else, know
//! English but no job, and give the same reply to the same request:
//!
//! - The persona brings up the tasks in order, answers a question with a fact if it knows one, says so if it doesn't, and
//!   signs off.
//! - The judge looks for the words and numbers of the acceptance criteria in what the agent stated.

mod fact;
mod findings;
mod judge;
mod persona;
mod speech;
mod tag;
mod words;

use async_trait::async_trait;

use super::{Llm, LlmError, LlmReply, LlmRequest, LlmRole, UsageMeter};
use crate::evidence::Usage;

/// Rules in the place of a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scripted;

#[async_trait]
impl Llm for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete_metered(&self, request: &LlmRequest, _: &UsageMeter) -> Result<LlmReply, LlmError> {
        let text = match request.role {
            LlmRole::Persona => persona::reply(&request.messages),
            LlmRole::Judge => judge::reply(&request.messages),
            LlmRole::Reviewer => return Err(LlmError::for_good("scripted rules review nothing".to_owned())),
        }
        .map_err(|missing| LlmError::for_good(missing.to_string()))?;
        Ok(LlmReply { text, usage: Usage::default(), notes: Vec::new(), tokens: Vec::new(), is_cached: false })
    }
}
