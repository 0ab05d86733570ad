//! Calls one of our own models, and records the cost.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

use super::budget::Budget;
use super::sink::Sink;
use super::trial::TrialAbort;
use super::{Durability, Engine};
use crate::cassette;
use crate::clock::{BusyTime, Clock};
use crate::evidence::Usage;
use crate::llm::{Llm, LlmError, LlmReply, LlmRequest, LlmRole, RequestLog, UsageMeter};
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
    let mut metered_call = engine.calls.call(CallerOf { trial, asker, model: llm.name() }, last_failure.busy.clone());
    metered_call.last_failure = Some(last_failure);
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

/// Records the calls of our own models, and counts them for the trials that may still begin.
#[derive(Clone)]
pub(super) struct CallRecorder {
    sink: Arc<dyn Sink>,
    budget: Arc<Budget>,
    clock: Clock,
    /// How many calls there were.
    calls: Arc<AtomicU64>,
}

/// For which trial and role a model is called.
#[derive(Clone, Copy)]
pub(super) struct CallerOf<'a> {
    pub(super) trial: u32,
    pub(super) asker: Asker,
    pub(super) model: &'a str,
}

impl CallRecorder {
    pub(super) fn new(sink: Arc<dyn Sink>, budget: Arc<Budget>, clock: Clock) -> CallRecorder {
        CallRecorder { sink, budget, clock, calls: Arc::default() }
    }

    /// A call that is about to be made; waits in queues of our own are left out of its time.
    pub(super) fn call<'a>(&self, of: CallerOf<'a>, busy: Option<Arc<BusyTime>>) -> MeteredCall<'a> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        // Where nothing is limited, nobody asks what a request that was killed can have cost.
        let log = self.budget.spend_tracker.is_limited().then(|| {
            let CallerOf { trial, asker, model } = of;
            let call = NumberedCall { trial, number, asker, model: model.to_owned() };
            Arc::new(CallLog { call, sink: self.sink.clone(), clock: self.clock }) as Arc<dyn RequestLog>
        });
        let meter = UsageMeter::timed_by(busy).with_log(log);
        MeteredCall { recorder: self.clone(), of, number, meter, last_failure: None, is_recorded: false }
    }

    /// Records a call that is over, and counts it; `logged` is what the journal has of it from before.
    pub(super) fn record(&self, of: CallerOf<'_>, usage: Usage, logged: LoggedCall) -> io::Result<()> {
        let CallerOf { trial, asker, model } = of;
        self.budget.model_called(trial, model, &usage);
        let call = ModelCall { at: self.clock.wall(), asker, model: model.to_owned(), usage };
        let LoggedCall { number, set_aside } = logged;
        self.sink.append(Entry::ModelAsked { trial, number, call, set_aside })
    }
}

/// What the journal has of a call before it is over.
#[derive(Clone, Copy, Default)]
pub(super) struct LoggedCall {
    /// Its number, where it was logged before its requests were sent.
    number: Option<u64>,
    /// The most that its requests without a known usage can have cost, where that is limited.
    set_aside: Option<Amount>,
}

/// A call with the number that it has in the journal.
struct NumberedCall {
    trial: u32,
    number: u64,
    asker: Asker,
    model: String,
}

/// Writes each request to the journal before it is sent: that of a process that is killed then is not free.
struct CallLog {
    call: NumberedCall,
    sink: Arc<dyn Sink>,
    clock: Clock,
}

#[async_trait]
impl RequestLog for CallLog {
    async fn about_to_send(&self, usage: Usage, set_aside: Amount) -> io::Result<()> {
        let NumberedCall { trial, number, asker, model } = &self.call;
        let call = ModelCall { at: self.clock.wall(), asker: *asker, model: model.clone(), usage };
        self.sink.append(Entry::ModelAsking { trial: *trial, number: *number, call, set_aside })?;
        self.sink.kept(Durability::Process).await
    }
}

/// A call that is not in the journal yet.
pub(super) struct MeteredCall<'a> {
    recorder: CallRecorder,
    of: CallerOf<'a>,
    number: u64,
    pub(super) meter: UsageMeter,
    last_failure: Option<&'a LastFailure>,
    is_recorded: bool,
}

impl MeteredCall<'_> {
    /// It is over.
    ///
    /// # Errors
    /// Those of the sink.
    pub(super) fn record(&mut self) -> io::Result<()> {
        self.is_recorded = true;
        if let Some(last_failure) = self.last_failure {
            *last_failure.why.lock().unwrap_or_else(PoisonError::into_inner) = self.meter.last_failure();
        }
        let (usage, number) = (self.meter.usage(), self.meter.is_logged().then_some(self.number));
        // Scripted rules cost nothing, and neither does a request that was not sent.
        if usage.calls == 0 && number.is_none() {
            return Ok(());
        }
        // Nothing is spent in replay, and without a limit nothing is set aside that anybody asks for.
        let is_limited = self.recorder.budget.spend_tracker.is_limited();
        let set_aside = Some(self.meter.set_aside()).filter(|most| is_limited && *most != Amount::default());
        self.recorder.record(self.of, usage, LoggedCall { number, set_aside })
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
    fn the_last_failure_is_named_where_there_is_one() {
        let last_failure = LastFailure::default();
        assert_eq!(last_failure.after("the time ran out".to_owned()), "the time ran out");
        *last_failure.why.lock().unwrap() = Some("answered 500".to_owned());
        let text = last_failure.after("the time ran out".to_owned());
        assert_eq!(text, "the time ran out; the last try failed: answered 500");
    }
}
