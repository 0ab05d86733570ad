//! The results of tools that a case leaves to a model: the persona's model plays the world, too.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use super::Engine;
use super::conversation_seed::conversation_seed;
use super::sink::Sink;
use crate::agent::tools::{ResultError, ResultWriter, WantedResult};
use crate::clock::Clock;
use crate::evidence::{Message, Role, Usage};
use crate::limiter::ConversationLimiter;
use crate::llm::{Llm, LlmRequest, LlmRole, UsageMeter};
use crate::money::Amount;
use crate::plan::Trial;
use crate::record::{Asker, Entry, ModelCall};
use crate::secret::Redactor;
use crate::text::unfenced;

/// Makes up results for the tools of one trial's agents, and records what that costs before a result is used.
pub(super) struct WrittenResults {
    trial: u32,
    llm: Option<Arc<dyn Llm>>,
    temperature: f64,
    conversation_seed: u32,
    sink: Arc<dyn Sink>,
    clock: Clock,
    redactor: Redactor,
    used: Mutex<Usage>,
}

impl WrittenResults {
    /// The writer of a trial; it refuses where no case asks for one.
    pub(super) fn new(engine: &Engine, trial: &Trial) -> WrittenResults {
        WrittenResults {
            trial: trial.id.number,
            llm: engine.clients.result_writer(),
            temperature: engine.plan.job.persona.temperature,
            conversation_seed: conversation_seed(engine.rng_seed, &trial.id, LlmRole::Persona, trial.attempt),
            sink: engine.sink.clone(),
            clock: engine.clock,
            redactor: engine.clients.redactor().clone(),
            used: Mutex::default(),
        }
    }

    /// What its requests came to so far.
    pub(super) fn usage(&self) -> Usage {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, model: &str, meter: &UsageMeter) -> Result<(), ResultError> {
        let usage = meter.usage();
        if usage.calls == 0 {
            return Ok(());
        }
        {
            let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
            *used = used.plus(usage);
        }
        let call = ModelCall { at: self.clock.wall(), asker: Asker::Persona, model: model.to_owned(), usage };
        let set_aside = Some(meter.set_aside()).filter(|most| *most != Amount::default());
        let entry = Entry::ModelAsked { trial: self.trial, call, set_aside };
        self.sink.append(entry).map_err(|error| ResultError::Model(error.to_string()))
    }
}

/// The same for one of the trial's agents, whose time this is not.
pub(super) struct ResultsFor {
    pub(super) results: Arc<WrittenResults>,
    pub(super) limiter: ConversationLimiter,
}

#[async_trait]
impl ResultWriter for ResultsFor {
    async fn write(&self, wanted: WantedResult<'_>) -> Result<Value, ResultError> {
        let since = self.results.clock.start();
        let result = self.results.write(wanted).await;
        self.limiter.add_waited_ms(since.elapsed_ms());
        result
    }
}

impl WrittenResults {
    async fn write(&self, wanted: WantedResult<'_>) -> Result<Value, ResultError> {
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
        let meter = UsageMeter::default();
        let answer = llm.complete_metered(&request, &meter).await;
        self.record(llm.name(), &meter)?;
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
