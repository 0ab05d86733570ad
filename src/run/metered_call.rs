//! Calls one of our own models, and records the cost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::trial::TrialAbort;
use super::{Durability, Engine};
use crate::cassette;
use crate::clock::BusyTime;
use crate::llm::{Llm, LlmError, LlmReply, LlmRequest, LlmRole, UsageMeter};
use crate::money::Amount;
use crate::record::{Asker, Entry, ModelCall};

/// Why the last try of a call failed: known also to those who give up waiting for its answer.
#[derive(Debug, Default)]
pub(super) struct LastFailure {
    why: Mutex<Option<String>>,
    is_for_all: AtomicBool,
    /// The time of the calls, where it is measured.
    busy: Option<Arc<BusyTime>>,
}

impl LastFailure {
    /// One of calls whose waits in queues of our own are left out of this time.
    pub(super) fn timed_by(busy: Arc<BusyTime>) -> LastFailure {
        LastFailure { busy: Some(busy), ..LastFailure::default() }
    }

    /// Every other request would fail the same way.
    pub(super) fn set_for_all(&self) {
        self.is_for_all.store(true, Ordering::Relaxed);
    }

    /// Whether one failed as every other would.
    pub(super) fn is_for_all(&self) -> bool {
        self.is_for_all.load(Ordering::Relaxed)
    }

    /// A sentence that ends with the last failure, where there is one.
    pub(super) fn after(&self, what: String) -> String {
        match &*self.why.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(why) => format!("{what}; the last try failed: {why}"),
            None => what,
        }
    }
}

/// Asks a model for a trial. The cost is appended to the sink before the answer is used, also where there is none, or where the
/// future is dropped.
pub(super) async fn ask(
    engine: &Engine,
    trial: u32,
    llm: &dyn Llm,
    request: &LlmRequest,
    last_failure: &LastFailure,
) -> Result<Result<LlmReply, LlmError>, TrialAbort> {
    let asker = match request.role {
        LlmRole::Persona => Asker::Persona,
        LlmRole::Reviewer => Asker::Reviewer,
        LlmRole::Judge => Asker::Judge,
    };
    // Earlier entries survive a crash while the model is asked.
    engine.sink.kept(Durability::Process).await?;
    let mut metered_call = MeteredCall {
        engine,
        trial,
        asker,
        model: llm.name(),
        meter: UsageMeter::timed_by(last_failure.busy.clone()),
        last_failure,
        is_recorded: false,
    };
    let answer = cassette::ask(&engine.cassette.tape(trial), llm, request, &metered_call.meter).await;
    metered_call.record()?;
    let of_role = engine.clients.models.addresses.iter().filter(|address| address.role.starts_with(asker_role(asker)));
    engine.refusals.add(asker, &answer, of_role.count() <= 1);
    Ok(answer)
}

/// The beginning of the role of whoever asks.
fn asker_role(asker: Asker) -> &'static str {
    match asker {
        Asker::Persona => "persona",
        Asker::Reviewer => "reviewer",
        Asker::Judge => "judge",
    }
}

/// A request that is not in the journal yet.
struct MeteredCall<'a> {
    engine: &'a Engine,
    trial: u32,
    asker: Asker,
    model: &'a str,
    meter: UsageMeter,
    last_failure: &'a LastFailure,
    is_recorded: bool,
}

impl MeteredCall<'_> {
    fn record(&mut self) -> std::io::Result<()> {
        self.is_recorded = true;
        *self.last_failure.why.lock().unwrap_or_else(PoisonError::into_inner) = self.meter.last_failure();
        let usage = self.meter.usage();
        // Scripted rules cost nothing, and neither does a request that was not sent.
        if usage.calls == 0 {
            return Ok(());
        }
        self.engine.budget.model_called(self.trial, self.model, &usage);
        let call = ModelCall { at: self.engine.clock.wall(), asker: self.asker, model: self.model.to_owned(), usage };
        // Nothing is spent in replay, and without a limit nothing is set aside that anybody asks for.
        let is_limited = self.engine.budget.spend_tracker.is_limited();
        let set_aside = Some(self.meter.set_aside()).filter(|most| is_limited && *most != Amount::default());
        self.engine.sink.append(Entry::ModelAsked { trial: self.trial, call, set_aside })
    }
}

impl Drop for MeteredCall<'_> {
    fn drop(&mut self) {
        if !self.is_recorded {
            // A sink that fails now has failed before, or fails at the next entry.
            let _ = self.record();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_failure_is_told_where_there_is_one() {
        let last_failure = LastFailure::default();
        assert_eq!(last_failure.after("the time ran out".to_owned()), "the time ran out");
        *last_failure.why.lock().unwrap() = Some("answered 500".to_owned());
        let text = last_failure.after("the time ran out".to_owned());
        assert_eq!(text, "the time ran out; the last try failed: answered 500");
    }
}
