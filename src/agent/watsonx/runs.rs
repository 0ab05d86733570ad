//! A conversation by runs (v1): the server keeps the thread.

use std::sync::Arc;

use async_trait::async_trait;

use super::EditionConfig;
use super::gate::{Gate, Outgoing};
use super::hear::{Heard, Step, hear};
use super::wire::Told;
use super::wire::runs::{Run, answer_of, request};
use crate::agent::attempts::{Again, Failure, admission, fail, settled};
use crate::agent::{AgentError, AgentErrorKind, Attempts, Reply, Session};
use crate::evidence::{FailedTry, ObjectContext};
use crate::http::{Method, Pieces, Url};

pub(super) struct RunsSession {
    gate: Arc<Gate>,
    agent: String,
    /// Our own name for it: the server's, the thread, comes with its first event.
    id: String,
    thread: Option<String>,
    /// How many messages the thread must hold of ours.
    said: usize,
}

impl RunsSession {
    pub(super) fn new(gate: Arc<Gate>, agent: String, id: String) -> RunsSession {
        RunsSession { gate, agent, id, thread: None, said: 0 }
    }

    async fn turn(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let (mut delays, place) = (self.gate.delays(), self.gate.settings.rest.place.clone());
        loop {
            let permit = match admission(&place, (&mut delays, attempts)).await {
                Ok(permit) => permit,
                Err(failure) => {
                    fail(failure, &mut delays, attempts).await?;
                    continue;
                }
            };
            let stopwatch = self.gate.settings.rest.clock.start();
            let failure = match self.once(message).await {
                Ok((told, heard)) => {
                    place.answered(permit);
                    return Ok(reply(told, heard.first_ms, heard.last_ms));
                }
                Err(Missed::Failed(failure)) => match settled(&place, permit, failure) {
                    Ok(()) => continue,
                    Err(failure) => failure,
                },
                Err(Missed::CutOff(failure, thread)) => {
                    drop(permit);
                    attempts.failures.push(told_try(&failure, "its thread is read", delays.lap_ms()));
                    let told = self.read_thread(&thread, message).await?;
                    // The thread does not say when the answer was there: this is when it was seen.
                    return match told {
                        Some(told) => Ok(reply(told, None, stopwatch.elapsed_ms())),
                        None => Err(AgentError {
                            message: format!("{}; and its thread shows no answer", failure.error.message),
                            ..failure.error
                        }),
                    };
                }
            };
            fail(failure, &mut delays, attempts).await?;
        }
    }

    async fn once(&mut self, message: &str) -> Result<(Told, Heard), Missed> {
        let settings = &self.gate.settings;
        let mut url = self.gate.base.join(["v1", "orchestrate", "runs"]);
        url.query_pairs_mut().append_pair("stream", "true");
        let outgoing = Outgoing {
            method: Method::POST,
            url,
            body: Some(request(&self.agent, self.thread.as_deref(), message, &settings.config.context)),
            headers: Vec::new(),
            if_not_found: match self.thread {
                Some(_) => "; the agent has forgotten the thread in mid-conversation, or it is there no more",
                None => "; check target.watsonx.baseUrl: does this instance have the runs of v1?",
            },
        };
        let stream = self.gate.open(&outgoing).await.map_err(|refused| Missed::Failed(refused.failure))?;
        let place = stream.head.clone();
        let mut run = Run::in_thread(self.thread.clone());
        let heard = hear(stream, Pieces::lines(), |event| {
            let has_words = run.take(event);
            Step { has_words, is_last: run.failure.is_some() }
        })
        .await;
        self.thread.clone_from(&run.thread);
        if let Some(words) = &run.failure {
            let what = format!("the agent reported a failure: {}", place.quote(words).trim_matches('"'));
            return Err(Missed::Failed(reported(format!("{}: {what}", place.place))));
        }
        let is_over = run.is_over;
        let fault = match heard.fault.clone() {
            None if is_over || !run.told.is_silent() => None,
            None => Some(place.amiss("the stream ended in the middle of the run")),
            // What broke after the run's end takes nothing away.
            fault => fault.filter(|_| !is_over),
        };
        if let Some(fault) = fault {
            let failure = Failure::of_fault(fault);
            return Err(match run.thread.filter(|_| heard.began) {
                Some(thread) => Missed::CutOff(failure, thread),
                None => Missed::Failed(failure),
            });
        }
        let told = run.finish();
        match told.is_silent() {
            true => Err(Missed::Failed(reported(format!("{}: the run ended without a message", place.place)))),
            false => Ok((told, heard)),
        }
    }

    /// Looks for the answer in the thread until it is there, as long as the policy says.
    async fn read_thread(&self, thread: &str, message: &str) -> Result<Option<Told>, AgentError> {
        let settings = &self.gate.settings;
        let outgoing = Outgoing {
            method: Method::GET,
            url: self.messages(thread),
            body: None,
            headers: Vec::new(),
            if_not_found: "; is target.watsonx.edition right?",
        };
        let mut waits = settings.reading.delays(settings.rest.rng_seed);
        while let Some(wait) = waits.next(None) {
            tokio::time::sleep(wait).await;
            let messages = self.gate.document(&outgoing).await?;
            if let Some(told) = answer_of(&messages, self.said, message) {
                return Ok(Some(told));
            }
        }
        Ok(None)
    }

    fn messages(&self, thread: &str) -> Url {
        match self.gate.edition {
            EditionConfig::Saas => self.gate.base.join(["v1", "orchestrate", "threads", thread, "messages"]),
            EditionConfig::Developer => self.gate.base.join(["v1", "threads", thread, "messages"]),
        }
    }
}

/// Why a try brought no reply.
enum Missed {
    Failed(Failure),
    /// The message has arrived in this thread, and the reply broke off.
    CutOff(Failure, String),
}

/// The agent's own failure, which is not tried again.
pub(super) fn reported(message: String) -> Failure {
    let error = AgentError { kind: AgentErrorKind::BadReply, message };
    Failure { error, maybe_received: true, again: Again::Never }
}

/// A try that failed, and what is done instead of saying the same again.
pub(super) fn told_try(failure: &Failure, instead: &str, took_ms: Option<f64>) -> FailedTry {
    let error = format!("{}; {instead}", failure.error.message);
    FailedTry { took_ms, ..FailedTry::untimed(error, failure.maybe_received) }
}

fn reply(told: Told, first_token_ms: Option<f64>, latency_ms: f64) -> Reply {
    Reply { text: told.text(), events: told.events, latency_ms, first_token_ms, usage: None }
}

#[async_trait]
impl Session for RunsSession {
    fn id(&self) -> &str {
        &self.id
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        self.said += 1;
        self.turn(message, attempts).await
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        Err(stateless())
    }
}

/// Neither API shows what an agent knows.
pub(super) fn stateless() -> AgentError {
    let message = "watsonx Orchestrate has no way to show an agent's state".to_owned();
    AgentError { kind: AgentErrorKind::NotFound, message }
}
