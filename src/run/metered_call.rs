//! A call of one of our own models, and keeping what it cost.

use super::trial::Stop;
use super::{Durability, Engine};
use crate::llm::{Llm, LlmError, LlmReply, LlmRequest, LlmRole, Meter};
use crate::record::{Asker, Entry, ModelCall};

/// Asks a model for a trial. What it cost is handed to the sink before its answer is used, also where there is none, or
/// nobody waits for it any more.
pub(super) async fn ask(
    engine: &Engine,
    trial: u32,
    llm: &dyn Llm,
    request: &LlmRequest,
) -> Result<Result<LlmReply, LlmError>, Stop> {
    let asker = match request.role {
        LlmRole::Persona => Asker::Persona,
        LlmRole::Judge => Asker::Judge,
    };
    // What was paid for so far outlives us, however long the model takes.
    engine.sink.kept(Durability::Process).await?;
    let mut asking = MeteredCall { engine, trial, asker, model: llm.name(), meter: Meter::default(), is_told: false };
    let answer = llm.complete_metered(request, &asking.meter).await;
    asking.tell()?;
    Ok(answer)
}

/// A request of which the journal does not know yet.
struct MeteredCall<'a> {
    engine: &'a Engine,
    trial: u32,
    asker: Asker,
    model: &'a str,
    meter: Meter,
    is_told: bool,
}

impl MeteredCall<'_> {
    fn tell(&mut self) -> std::io::Result<()> {
        self.is_told = true;
        let usage = self.meter.taken();
        // Rules cost nothing, and neither does a request that never left.
        if usage.calls == 0 {
            return Ok(());
        }
        self.engine.budget.model_called(self.trial, self.model, &usage);
        let call = ModelCall { at: self.engine.clock.wall(), asker: self.asker, model: self.model.to_owned(), usage };
        self.engine.sink.append(Entry::ModelAsked { trial: self.trial, call })
    }
}

impl Drop for MeteredCall<'_> {
    fn drop(&mut self) {
        if !self.is_told {
            // A sink that fails now has failed before, or will tell with whatever comes next.
            let _ = self.tell();
        }
    }
}
