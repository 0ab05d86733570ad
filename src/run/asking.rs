//! Asking one of our own models, and keeping what it cost.

use super::Engine;
use super::trial::Stop;
use crate::llm::{Llm, LlmError, LlmReply, LlmRequest, LlmRole};
use crate::record::{Asker, Entry, ModelCall};

/// Asks a model for a trial. What it cost is in the journal before its answer is used, also where there is none.
pub(super) async fn ask(
    engine: &Engine,
    trial: u32,
    llm: &dyn Llm,
    request: &LlmRequest,
) -> Result<Result<LlmReply, LlmError>, Stop> {
    let answer = llm.complete(request).await;
    let usage = match &answer {
        Ok(reply) => reply.usage,
        Err(error) => *error.usage,
    };
    // Rules cost nothing, and neither does a request that nobody answered.
    if usage.calls > 0 {
        let asker = match request.role {
            LlmRole::Persona => Asker::Persona,
            LlmRole::Judge => Asker::Judge,
        };
        engine.edges.budget.asked(trial, llm.name(), &usage);
        let call = ModelCall { at: engine.clock.wall(), asker, model: llm.name().to_owned(), usage };
        (engine.sink)(Entry::ModelAsked { trial, call })?;
    }
    Ok(answer)
}
