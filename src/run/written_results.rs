//! The results of tools that a case leaves to a model: the persona's model plays the world, too.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Engine;
use super::conversation_seed::conversation_seed;
use super::metered_call::{CallRecorder, CallerOf, LoggedCall, MeteredCall};
use crate::agent::tools::{ResultError, ResultWriter, WantedResult};
use crate::clock::BusyTime;
use crate::evidence::{Message, Role, Usage};
use crate::llm::{Llm, LlmRequest, LlmRole};
use crate::plan::Trial;
use crate::record::Asker;
use crate::secret::Redactor;
use crate::text::unfenced;

/// Makes up results for the tools of one trial's agents, and records what that costs before a result is used.
pub(super) struct WrittenResults {
    trial: u32,
    llm: Option<Arc<dyn Llm>>,
    temperature: f64,
    conversation_seed: u32,
    calls: CallRecorder,
    redactor: Redactor,
    written: Mutex<WrittenSoFar>,
    busy: Arc<BusyTime>,
}

/// What the requests of a trial came to.
#[derive(Default)]
struct WrittenSoFar {
    usage: Usage,
    /// Those since the last turn was over.
    of_turn: Vec<WritingCall>,
}

/// One request for a result, as a recording has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct WritingCall {
    model: String,
    usage: Usage,
}

impl WrittenResults {
    /// The writer of a trial; it refuses where no case asks for one.
    pub(super) fn new(engine: &Engine, trial: &Trial) -> WrittenResults {
        WrittenResults {
            trial: trial.id.number,
            llm: engine.clients.result_writer(),
            temperature: engine.plan.job.persona.temperature,
            conversation_seed: conversation_seed(engine.rng_seed, &trial.id, LlmRole::Persona, trial.attempt),
            calls: engine.calls.clone(),
            redactor: engine.clients.redactor().clone(),
            written: Mutex::default(),
            busy: BusyTime::new(engine.clock),
        }
    }

    /// What its requests came to so far.
    pub(super) fn usage(&self) -> Usage {
        self.written().usage
    }

    /// The time in which results are made up: it is not the agent's.
    pub(super) fn busy(&self) -> Arc<BusyTime> {
        self.busy.clone()
    }

    /// The requests since this was last asked.
    pub(super) fn take_calls(&self) -> Vec<WritingCall> {
        std::mem::take(&mut self.written().of_turn)
    }

    /// In replay nobody makes results up: these requests were made then.
    pub(super) fn replay(&self, calls: Vec<WritingCall>) {
        for WritingCall { model, usage } in calls {
            // A sink that fails now fails at the next entry.
            let _ = self.calls.record(self.caller(&model), usage, LoggedCall::default());
            let mut written = self.written();
            written.usage = written.usage.plus(usage);
        }
    }

    fn caller<'a>(&self, model: &'a str) -> CallerOf<'a> {
        CallerOf { trial: self.trial, asker: Asker::Persona, model }
    }

    fn written(&self) -> MutexGuard<'_, WrittenSoFar> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is under way; what it took is known also where nobody waits for it any more.
struct Writing<'a> {
    results: &'a WrittenResults,
    call: MeteredCall<'a>,
    model: &'a str,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let usage = self.call.meter.usage();
        if usage.calls > 0 {
            let mut written = self.results.written();
            written.usage = written.usage.plus(usage);
            written.of_turn.push(WritingCall { model: self.model.to_owned(), usage });
        }
    }
}

#[async_trait]
impl ResultWriter for WrittenResults {
    async fn write(&self, wanted: WantedResult<'_>) -> Result<Value, ResultError> {
        let _under_way = self.busy.begin();
        self.written_result(wanted).await
    }
}

impl WrittenResults {
    async fn written_result(&self, wanted: WantedResult<'_>) -> Result<Value, ResultError> {
        let llm = self.llm.as_deref().ok_or(ResultError::NoModel)?;
        let WantedResult { tool, prompt, args } = wanted;
        let instructions = format!(
            "{prompt}\n\nYou stand in for the tool `{tool}`: the user's message is the arguments of a call. Answer with its \
             result and nothing else, as JSON where it is more than a text."
        );
        // An agent that repeats its key must not make us send it to somebody else.
        let args = self.redactor.redact_known(&args.to_string()).into_owned();
        let request = LlmRequest {
            role: LlmRole::Persona,
            messages: vec![Message::new(Role::System, instructions), Message::new(Role::User, args)],
            temperature: self.temperature,
            schema: None,
            sample: 1,
            conversation_seed: Some(self.conversation_seed),
        };
        let model = llm.name();
        let mut writing = Writing { results: self, call: self.calls.call(self.caller(model), None), model };
        let answer = llm.complete_metered(&request, &writing.call.meter).await;
        writing.call.record().map_err(|error| ResultError::Model(error.to_string()))?;
        let reply = answer.map_err(|error| ResultError::Model(error.message))?;
        read_result(&reply.text)
    }
}

/// The result in a model's answer: JSON, or else its text.
fn read_result(answer: &str) -> Result<Value, ResultError> {
    let text = unfenced(answer);
    match serde_json::from_str(text) {
        Ok(Value::Null) => Err(ResultError::NoResult("null")),
        Ok(value) => Ok(value),
        Err(_) if text.is_empty() => Err(ResultError::NoResult("empty")),
        Err(_) => Ok(answer.trim().into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::Clock;
    use crate::llm::{LlmError, LlmReply, UsageMeter};
    use crate::record::Entry;
    use crate::run::budget::tests::budget;

    /// A model of which each answer takes 40 tokens.
    struct Costly;

    #[async_trait]
    impl Llm for Costly {
        fn name(&self) -> &str {
            "costly"
        }

        async fn complete_metered(&self, _: &LlmRequest, meter: &UsageMeter) -> Result<LlmReply, LlmError> {
            let usage = Usage::from_counts(Some(30), Some(10));
            meter.set_recorded(usage, None);
            let text = "sunny".to_owned();
            Ok(LlmReply { text, usage, notes: Vec::new(), tokens: Vec::new(), is_cached: false })
        }
    }

    #[tokio::test]
    async fn what_a_made_up_result_takes_is_a_part_of_what_its_trial_takes() {
        let budget = budget("limits: {tokens: 100}");
        let entries = Arc::new(Mutex::new(Vec::new()));
        let kept = entries.clone();
        let sink = Arc::new(move |entry: Entry| {
            kept.lock().unwrap().push(entry);
            Ok::<(), std::io::Error>(())
        });
        let clock = Clock::system();
        let results = WrittenResults {
            trial: 1,
            llm: Some(Arc::new(Costly)),
            temperature: 0.0,
            conversation_seed: 1,
            calls: CallRecorder::new(sink, budget.clone(), clock),
            redactor: Redactor::default(),
            written: Mutex::default(),
            busy: BusyTime::new(clock),
        };
        assert!(budget.admits(1, 1).await);
        let args = json!({"city": "Oslo"});
        let result = results.write(WantedResult { tool: "weather", prompt: "Make it up.", args: &args }).await;
        assert_eq!(result, Ok(json!("sunny")));
        budget.trial_ended(1);
        assert_eq!((results.usage().calls, results.take_calls().len(), results.take_calls().len()), (1, 1, 0));
        let is_asked =
            |entry: &Entry| matches!(entry, Entry::ModelAsked { trial: 1, call, .. } if call.model == "costly");
        assert!(entries.lock().unwrap().iter().any(is_asked));
        budget.agent_used(1, "own", Some(&Usage::from_counts(Some(70), None)));
        assert!(!budget.admits(2, 1).await, "30 are left, and 40 may be needed");
    }

    #[test]
    fn an_answer_is_json_or_a_text() {
        for (answer, result) in [
            (" {\"price\": 3} ", Ok(json!({"price": 3}))),
            ("```json\n[1, 2]\n```", Ok(json!([1, 2]))),
            ("\"sunny\"", Ok(json!("sunny"))),
            ("sunny, 21 degrees\n", Ok(json!("sunny, 21 degrees"))),
            ("```\nno json\n```", Ok(json!("```\nno json\n```"))),
            ("null", Err(ResultError::NoResult("null"))),
            ("  \n", Err(ResultError::NoResult("empty"))),
        ] {
            assert_eq!(read_result(answer), result, "{answer}");
        }
    }
}
