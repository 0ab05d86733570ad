//! A conversation by runs (v1): the server keeps the thread. A reply that was cut off is read from the thread; a message is
//! never sent again.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

use super::instance::{HINTS, Instance, reported, reported_failure};
use super::wire::TurnContent;
use super::wire::runs::{PartialRun, find_answer, request};
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::rest::{AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, ReplyForm, TurnInput, Wire};
use crate::agent::{AgentContext, AgentError, Reply, UnfinishedSession};
use crate::http::{HttpFault, HttpReply, Method};

/// A conversation by runs.
#[derive(Clone)]
pub(super) struct RunsWire {
    instance: Instance,
    /// The waits between polls of a thread, where a reply was cut off.
    waits: Vec<Duration>,
    thread: Option<String>,
    run: PartialRun,
    cut_off: Option<CutOff>,
}

/// A reply that was cut off.
#[derive(Clone)]
struct CutOff {
    error: AgentError,
    waits: VecDeque<Duration>,
    messages: Value,
}

impl RunsWire {
    pub(super) fn new(instance: Instance, context: &AgentContext) -> RunsWire {
        let mut delays = context.reading.delays(context.rng_seed);
        let waits = std::iter::from_fn(|| delays.next(None)).collect();
        RunsWire { instance, waits, thread: None, run: PartialRun::default(), cut_off: None }
    }

    /// Turns to polling the thread for the reply: the message has arrived there, and the reply was cut off.
    fn poll(&mut self, mut failure: AttemptFailure) -> AttemptFailure {
        let mut cut =
            CutOff { error: failure.error.clone(), waits: self.waits.iter().copied().collect(), messages: Value::Null };
        let retry = match cut.waits.pop_front() {
            Some(wait) => Retry::Instead { what: "its thread is read", poll: Some(wait) },
            None => Retry::Never,
        };
        if retry == Retry::Never {
            failure.error.message.push_str("; and its thread shows no answer");
        }
        self.cut_off = Some(cut);
        AttemptFailure { retry, ..failure }
    }

    /// The answer, as far as the thread shows it.
    fn polled(&mut self, input: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        let Some(cut) = &mut self.cut_off else { return Ok(NextStep::Send) };
        if let Some(content) = find_answer(&cut.messages, input.turn, &input.message) {
            // The thread does not tell the time of the answer: this is the time of the poll.
            return reply(received, content);
        }
        match cut.waits.pop_front() {
            Some(wait) => Ok(NextStep::Poll(wait)),
            None => {
                let message = format!("{}; and its thread shows no answer", cut.error.message);
                Err(AttemptFailure::reported(cut.error.kind, message))
            }
        }
    }
}

impl Wire for RunsWire {
    const NO_STATE: &'static str = "watsonx Orchestrate has no way to show an agent's state";

    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        self.instance.open(caller).await
    }

    /// The server keeps the thread.
    async fn reopen(&mut self, caller: &Caller, left: &UnfinishedSession) -> Result<(), AgentError> {
        self.thread = left.last_point()?;
        self.instance.open(caller).await.map(drop)
    }

    fn resume_point(&self) -> Option<Value> {
        self.thread.as_deref().map(Value::from)
    }

    fn begin(&mut self, _: &TurnInput) {
        self.cut_off = None;
    }

    async fn send(&mut self, input: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        if let (Some(_), Some(thread)) = (&self.cut_off, &self.thread) {
            let saas = ["v1", "orchestrate", "threads", thread, "messages"];
            let url = self.instance.url(&saas, &["v1", "threads", thread, "messages"]);
            let not_found = "; is target.watsonx.edition right?";
            return Ok(AgentRequest::to(Method::GET, url, Hints { not_found, ..HINTS }));
        }
        self.run = PartialRun::in_thread(self.thread.clone());
        let mut url = self.instance.base.join(["v1", "orchestrate", "runs"]);
        url.query_pairs_mut().append_pair("stream", "true");
        let not_found = match self.thread {
            Some(_) => "; the agent has forgotten the thread in mid-conversation, or it is there no more",
            None => "; check target.watsonx.baseUrl: does this instance have the runs of v1?",
        };
        let body = request(&self.instance.agent, self.thread.as_deref(), &input.message, &self.instance.config.context);
        let request = AgentRequest::to(Method::POST, url, Hints { not_found, ..HINTS });
        Ok(request.with_body(&body).in_form(ReplyForm::Lines, None))
    }

    fn document(&mut self, reply: &HttpReply) -> Result<Value, HttpFault> {
        reply.json()
    }

    fn feed(&mut self, event: Value, _: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        if let Some(cut) = &mut self.cut_off {
            cut.messages = event;
            return Ok(EventOutcome::Nothing);
        }
        Ok(match self.run.take(&event) {
            _ if self.run.failure.is_some() => EventOutcome::End,
            true => EventOutcome::Text,
            false => EventOutcome::Nothing,
        })
    }

    async fn finish(&mut self, input: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        if self.cut_off.is_some() {
            return self.polled(input, received);
        }
        let (run, head) = (std::mem::take(&mut self.run), &received.reply);
        self.thread.clone_from(&run.thread);
        if let Some(failure) = &run.failure {
            return Err(reported_failure(head, failure));
        }
        let fault = match received.fault.clone() {
            None if run.is_over || !run.content.is_silent() => None,
            None if run.is_other == Some(true) => {
                Some(head.misshapen("what came is no run: no line of the stream holds an `event`"))
            }
            None => Some(head.malformed("the stream ended in the middle of the run")),
            // A fault after the run's end does not matter.
            fault => fault.filter(|_| !run.is_over),
        };
        if let Some(fault) = fault {
            let failure = AttemptFailure::from(fault);
            let has_arrived = run.thread.is_some() && received.has_begun;
            return Err(if has_arrived { self.poll(failure) } else { failure });
        }
        match run.finish() {
            content if content.is_silent() => Err(reported(head, "the run ended without a message")),
            content => reply(received, content),
        }
    }
}

fn reply(received: &Received, content: TurnContent) -> Result<NextStep, AttemptFailure> {
    let text = content.text();
    NextStep::reply(Reply { events: content.events, ..received.timed_reply(text) })
}
