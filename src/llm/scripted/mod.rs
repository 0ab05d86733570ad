//! Rules that stand in for a model, so that a job can be run without one: only when a job names `scripted`.
//!
//! Invariants: they see what a model would see, the request's messages, and nothing else; they know English but no job;
//! the same request gets the same reply. They are plain about their limits: the persona asks for one task after the other
//! in the words of the job, the judge looks for the words of the criteria in the agent's replies.

mod ask;
mod criteria;
mod fact;
mod judge;
mod persona;
mod perspective;
mod question;
mod sentence;
mod stretch;
mod tag;
mod words;

use async_trait::async_trait;

use super::{Llm, LlmError, LlmReply, LlmRequest, LlmRole, Meter};
use crate::evidence::Usage;

/// Rules that stand in for a model.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scripted;

#[async_trait]
impl Llm for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete_metered(&self, request: &LlmRequest, _: &Meter) -> Result<LlmReply, LlmError> {
        let text = match request.role {
            LlmRole::Persona => persona::reply(&request.messages),
            LlmRole::Judge => judge::reply(&request.messages),
        }
        .map_err(|missing| LlmError::for_good(missing.sentence()))?;
        Ok(LlmReply { text, usage: Usage::default(), notes: Vec::new() })
    }
}
