//! A conversation by chat completions (v2). A transcript is kept in any case: it is what a lost thread is made anew of.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::gate::{Gate, Outgoing, Refused};
use super::hear::{Heard, Step, hear};
use super::runs::{reported, stateless, told_try};
use super::wire::completions::{Beside, Completed, Turn, request};
use super::{EditionConfig, ThreadsConfig};
use crate::agent::attempts::{Again, Failure, admission, fail, settled};
use crate::agent::{AgentError, Attempts, Reply, Session};
use crate::evidence::ObjectContext;
use crate::http::{Method, Pieces, Url};
use crate::secret::Secret;

/// What asks the server for a thread.
const NEW: &str = "new";

/// Who keeps the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Thread {
    /// We: each message carries all of it.
    Ours,
    /// The server shall: the next message carries all of it, for the first time or again.
    Wanted,
    /// The server, in this thread.
    Kept(String),
}

pub(super) struct CompletionsSession {
    gate: Arc<Gate>,
    agent: String,
    /// Our own thread, and our name for the conversation.
    id: String,
    thread: Thread,
    history: Vec<Value>,
}

impl CompletionsSession {
    pub(super) fn new(gate: Arc<Gate>, agent: String, id: String) -> CompletionsSession {
        let thread = match gate.settings.config.threads.unwrap_or_default() {
            ThreadsConfig::Client => Thread::Ours,
            ThreadsConfig::Server => Thread::Wanted,
        };
        CompletionsSession { gate, agent, id, thread, history: Vec::new() }
    }

    async fn turn(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let user = json!({"role": "user", "content": message});
        let (mut delays, place) = (self.gate.delays(), self.gate.settings.rest.place.clone());
        loop {
            let permit = match admission(&place, (&mut delays, attempts)).await {
                Ok(permit) => permit,
                Err(failure) => {
                    fail(failure, &mut delays, attempts).await?;
                    continue;
                }
            };
            let failure = match self.once(&user).await {
                Ok((completed, heard)) => {
                    place.answered(permit);
                    return Ok(self.take(user, completed, &heard));
                }
                Err(Refused { failure, said: Some((status, words)) }) if words.contains("thread") => {
                    let instead = match (status, &self.thread) {
                        (404, Thread::Kept(_)) => {
                            Some((Thread::Wanted, "the thread is lost, and made again from the transcript"))
                        }
                        (503, Thread::Kept(_) | Thread::Wanted) => Some((
                            Thread::Ours,
                            "the deployment keeps no threads, so each message carries the conversation",
                        )),
                        _ => None,
                    };
                    if let Some((thread, words)) = instead {
                        self.thread = thread;
                        attempts.failures.push(told_try(&failure, words, delays.lap_ms()));
                        continue;
                    }
                    failure
                }
                Err(Refused { failure, .. }) => failure,
            };
            if let Err(failure) = settled(&place, permit, failure) {
                fail(failure, &mut delays, attempts).await?;
            }
        }
    }

    fn take(&mut self, user: Value, completed: Completed, heard: &Heard) -> Reply {
        if self.thread == Thread::Wanted {
            // A server that keeps none says `new` again: then all conversations would share that one.
            self.thread = completed.thread.map_or(Thread::Ours, Thread::Kept);
        }
        self.history.push(user);
        self.history.extend(completed.history);
        Reply {
            text: completed.told.text(),
            events: completed.told.events,
            latency_ms: heard.last_ms,
            first_token_ms: heard.first_ms,
            usage: completed.usage,
        }
    }

    async fn once(&self, user: &Value) -> Result<(Completed, Heard), Refused> {
        let stream = self.gate.open(&self.outgoing(user)).await?;
        let place = stream.head.clone();
        let mut turn = Turn::default();
        let heard = hear(stream, Pieces::sse(), |frame| {
            let has_words = turn.take(frame);
            Step { has_words, is_last: turn.failure.is_some() }
        })
        .await;
        if let Some(words) = &turn.failure {
            let what = format!("the agent reported a failure: {}", place.quote(words).trim_matches('"'));
            return Err(reported(format!("{}: {what}", place.place)).into());
        }
        match turn.completed() {
            Some(completed) if !completed.told.is_silent() => Ok((completed, heard)),
            Some(_) => Err(reported(format!("{}: the turn ended without a message", place.place)).into()),
            None => {
                let ended = || place.amiss("the stream ended before the message was complete");
                let mut failure = Failure::of_fault(heard.fault.unwrap_or_else(ended));
                if self.thread != Thread::Ours && heard.began {
                    failure.error.message.push_str("; it is not sent again: the thread would hold the message twice");
                    failure.again = Again::Never;
                }
                Err(failure.into())
            }
        }
    }

    fn outgoing(&self, user: &Value) -> Outgoing {
        let config = &self.gate.settings.config;
        let header = |name: &str, value: &str| (name.to_owned(), Secret::new(value));
        let mut headers = vec![header("accept", "text/event-stream")];
        // There at all, it asks for what is live: the draft is asked for by its absence.
        headers.extend(config.published().map(|environment| header("x-ibm-environment-id", environment)));
        let earlier = match &self.thread {
            Thread::Ours => self.history.as_slice(),
            Thread::Wanted => {
                headers.push(header("x-ibm-thread-id", NEW));
                self.history.as_slice()
            }
            Thread::Kept(thread) => {
                headers.push(header("x-ibm-thread-id", thread));
                &[]
            }
        };
        let messages: Vec<Value> = earlier.iter().chain([user]).cloned().collect();
        let own_thread = (self.thread == Thread::Ours).then_some(self.id.as_str());
        let beside = Beside {
            context: &config.context,
            context_variables: &config.context_variables,
            additional_parameters: &config.additional_parameters,
        };
        Outgoing {
            method: Method::POST,
            url: self.url(),
            body: Some(request(&messages, own_thread, beside)),
            headers,
            if_not_found: "; does the instance have chat completions (v2), and is target.watsonx.edition right?",
        }
    }

    fn url(&self) -> Url {
        let agent = self.agent.as_str();
        match self.gate.edition {
            EditionConfig::Saas => self.gate.base.join(["v2", "orchestrate", agent, "chat", "completions"]),
            EditionConfig::Developer => self.gate.base.join(["api", "v2", agent, "chat", "completions"]),
        }
    }
}

#[async_trait]
impl Session for CompletionsSession {
    fn id(&self) -> &str {
        &self.id
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        self.turn(message, attempts).await
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        Err(stateless())
    }
}
