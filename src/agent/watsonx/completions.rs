//! A conversation by chat completions (v2). The transcript is always kept: a lost thread is restored from it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ThreadsConfig;
use super::instance::{HINTS, Instance, reported, reported_failure};
use super::wire::completions::{CompletionTurn, RequestExtras, request};
use crate::agent::attempts::{AttemptFailure, Retry};
use crate::agent::rest::{AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, ReplyForm, TurnInput, Wire};
use crate::agent::{AgentError, Reply, UnfinishedSession};
use crate::http::{HttpReply, Method};
use crate::secret::Secret;

/// The value that asks the server for a thread.
const NEW: &str = "new";

/// The side that keeps the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Thread {
    /// The client: each message carries all of it.
    Ours,
    /// The server, from the next message on, which carries all of it.
    Overrides,
    /// The server, in this thread.
    Kept(String),
}

/// A conversation by chat completions.
#[derive(Clone)]
pub(super) struct CompletionsWire {
    instance: Instance,
    thread: Thread,
    history: Vec<Value>,
    /// The length of the history before the last turn.
    before: usize,
    turn: CompletionTurn,
}

/// A turn as another process needs it: where the conversation is, and the messages of the turn with its calls of tools.
#[derive(Serialize, Deserialize)]
struct CompletionPoint {
    thread: Thread,
    messages: Vec<Value>,
}

impl CompletionsWire {
    pub(super) fn new(instance: Instance) -> CompletionsWire {
        let thread = match instance.config.threads.unwrap_or_default() {
            ThreadsConfig::Client => Thread::Ours,
            ThreadsConfig::Server => Thread::Overrides,
        };
        let (history, turn) = (Vec::new(), CompletionTurn::default());
        CompletionsWire { instance, thread, history, before: 0, turn }
    }
}

impl Wire for CompletionsWire {
    const NO_STATE: &'static str = "watsonx Orchestrate has no way to show an agent's state";

    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        self.instance.open(caller).await
    }

    async fn reopen(&mut self, caller: &Caller, left: &UnfinishedSession) -> Result<(), AgentError> {
        let points: Result<Vec<CompletionPoint>, _> =
            left.resume_points.iter().map(CompletionPoint::deserialize).collect();
        let points = points.ok().filter(|points| points.len() == left.turns as usize);
        for CompletionPoint { thread, messages } in points.ok_or_else(AgentError::not_resumed)? {
            self.thread = thread;
            self.history.extend(messages);
        }
        self.instance.open(caller).await.map(drop)
    }

    fn forgets_unanswered(&self) -> bool {
        self.thread == Thread::Ours
    }

    fn resume_point(&self) -> Option<Value> {
        let messages = self.history[self.before..].to_vec();
        serde_json::to_value(CompletionPoint { thread: self.thread.clone(), messages }).ok()
    }

    async fn send(&mut self, input: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        self.turn = CompletionTurn::default();
        let (instance, config) = (&self.instance, &self.instance.config);
        let header = |name: &str, value: &str| (name.to_owned(), Secret::new(value));
        // Without this header the draft answers.
        let mut headers: Vec<(String, Secret)> =
            config.published().map(|environment| header("x-ibm-environment-id", environment)).into_iter().collect();
        let earlier = match &self.thread {
            Thread::Ours => self.history.as_slice(),
            Thread::Overrides => {
                headers.push(header("x-ibm-thread-id", NEW));
                self.history.as_slice()
            }
            Thread::Kept(thread) => {
                headers.push(header("x-ibm-thread-id", thread));
                &[]
            }
        };
        let messages: Vec<Value> = earlier.iter().cloned().chain([user_message(input)]).collect();
        // A thread of ours has the conversation's id.
        let own_thread = (self.thread == Thread::Ours).then_some(input.session_id.as_str());
        let beside = RequestExtras {
            context: &config.context,
            context_variables: &config.context_variables,
            additional_parameters: &config.additional_parameters,
        };
        let agent = instance.agent.as_str();
        let saas = ["v2", "orchestrate", agent, "chat", "completions"];
        let url = instance.url(&saas, &["api", "v2", agent, "chat", "completions"]);
        let not_found = "; does the instance have chat completions (v2), and is target.watsonx.edition right?";
        let request_to = AgentRequest { headers, ..AgentRequest::to(Method::POST, url, Hints { not_found, ..HINTS }) };
        let body = request(&messages, own_thread, beside);
        Ok(request_to.with_body(&body).in_form(ReplyForm::Events, Some("text/event-stream")))
    }

    fn feed(&mut self, event: Value, _: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        Ok(match self.turn.take(&event) {
            _ if self.turn.failure.is_some() => EventOutcome::End,
            true => EventOutcome::Text,
            false => EventOutcome::Nothing,
        })
    }

    async fn finish(&mut self, input: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        let (turn, head) = (std::mem::take(&mut self.turn), &received.reply);
        if let Some(failure) = &turn.failure {
            return Err(reported_failure(head, failure));
        }
        let Some(completed) = turn.completed() else {
            let ended = || match turn.is_other {
                Some(true) => head.misshapen("what came is no turn: no event of the stream holds an `object`"),
                _ => head.malformed("the stream ended before the message was complete"),
            };
            let mut failure = AttemptFailure::from(received.fault.clone().unwrap_or_else(ended));
            if self.thread != Thread::Ours && received.has_begun {
                failure.error.message.push_str("; it is not sent again: the thread would hold the message twice");
                failure.retry = Retry::Never;
            }
            return Err(failure);
        };
        if completed.content.is_silent() {
            return Err(reported(head, "the turn ended without a message"));
        }
        if self.thread == Thread::Overrides {
            // A server that keeps none returns `new`: all conversations would share that thread.
            self.thread = completed.thread.map_or(Thread::Ours, Thread::Kept);
        }
        self.before = self.history.len();
        self.history.push(user_message(input));
        self.history.extend(completed.history);
        let text = completed.content.text();
        NextStep::reply(Reply {
            events: completed.content.events,
            usage: completed.usage,
            ..received.timed_reply(text)
        })
    }

    /// A lost thread is restored from the transcript; a deployment without threads gets the conversation with each message.
    fn failed(&mut self, failure: AttemptFailure, refusal: Option<&HttpReply>) -> AttemptFailure {
        let Some(reply) = refusal else { return failure };
        if !String::from_utf8_lossy(&reply.body).to_lowercase().contains("thread") {
            return failure;
        }
        let (thread, what) = match (reply.status, &self.thread) {
            (404, Thread::Kept(_)) => (Thread::Overrides, "the thread is lost, and made again from the transcript"),
            (503, Thread::Kept(_) | Thread::Overrides) => {
                (Thread::Ours, "the deployment keeps no threads, so each message carries the conversation")
            }
            _ => return failure,
        };
        self.thread = thread;
        AttemptFailure { retry: Retry::Instead { what, poll: None }, ..failure }
    }
}

fn user_message(input: &TurnInput) -> Value {
    json!({"role": "user", "content": input.message})
}
