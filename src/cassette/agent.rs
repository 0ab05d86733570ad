//! An agent whose answers are recorded or replayed.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Tape;
use super::line::{Answer, Party};
use super::tape::{OpenRequest, RequestOutcome};
use crate::agent::{Agent, AgentError, AgentErrorKind, Attempts, Reply, Session};
use crate::evidence::{FailedAttempt, Message, ObjectContext, UserToolCall};

/// The session that is opened, with its context.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionOf {
    /// The user.
    pub user: String,
    /// The chatbot.
    pub chatbot: String,
    /// The agent's model.
    pub model: String,
    /// The state that it begins with.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub state: Map<String, Value>,
}

/// An agent with the tape of a trial.
pub struct TapedAgent {
    tape: Tape,
    party: Party,
    of: SessionOf,
    /// `None` in replay.
    agent: Option<Box<dyn Agent>>,
    sessions: AtomicU32,
}

#[derive(Serialize)]
#[serde(tag = "call", rename_all = "camelCase")]
enum AgentCall<'a> {
    PrepareMemory,
    Open {
        session: u32,
        #[serde(flatten)]
        of: &'a SessionOf,
        #[serde(skip_serializing_if = "<[Message]>::is_empty")]
        history: &'a [Message],
    },
    Greeting {
        session: u32,
    },
    Say {
        session: u32,
        turn: u32,
        message: &'a str,
    },
    ObjectContext {
        session: u32,
    },
    UserTool {
        session: u32,
        turn: u32,
        name: &'a str,
        arguments: &'a Value,
    },
}

/// The facts about a session that are known without asking for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionFacts {
    id: String,
    is_met: bool,
    has_shown_itself: bool,
    /// Recordings of earlier versions do not say: then nothing is in doubt that was not when they were made.
    #[serde(default)]
    forgets_unanswered: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SayOutcome {
    #[serde(flatten)]
    answer: Answer<Reply, AgentError>,
    session: SessionFacts,
    #[serde(flatten)]
    attempts: FailedCall,
}

/// The attempts at a message that failed.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FailedCall {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failures: Vec<FailedAttempt>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    maybe_delivered: bool,
}

impl FailedCall {
    fn since(attempts: &Attempts, before: usize) -> FailedCall {
        FailedCall { failures: attempts.failures[before..].to_vec(), maybe_delivered: attempts.maybe_delivered }
    }

    fn add_to(self, attempts: &mut Attempts) {
        attempts.failures.extend(self.failures);
        attempts.maybe_delivered |= self.maybe_delivered;
    }
}

impl TapedAgent {
    /// An agent of which the exchanges are recorded; without an agent, one of which they are replayed.
    pub fn boxed(tape: Tape, party: Party, of: SessionOf, agent: Option<Box<dyn Agent>>) -> Box<dyn Agent> {
        Box::new(TapedAgent { tape, party, of, agent, sessions: AtomicU32::new(0) })
    }
}

fn absent() -> AgentError {
    AgentError { kind: AgentErrorKind::Unsendable, message: "the recorded agent has no such answer".to_owned() }
}

#[async_trait]
impl Agent for TapedAgent {
    async fn prepare_memory(&self) -> Result<(), AgentError> {
        let request = AgentCall::PrepareMemory;
        match self.tape.replayed::<Answer<(), AgentError>, ()>(self.party, &request).await {
            None => {}
            Some(RequestOutcome::Answered(answer)) => return answer.into_result(),
            Some(RequestOutcome::Abandoned(())) => return self.tape.abandon().await,
        }
        let agent = self.agent.as_ref().ok_or_else(absent)?;
        let recorded = self.tape.request(self.party, &request);
        let prepared = agent.prepare_memory().await;
        recorded.answered(&Answer::from(prepared.clone()));
        prepared
    }

    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        self.open_after(&[]).await
    }

    async fn open_after(&self, history: &[Message]) -> Result<Box<dyn Session>, AgentError> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        let request = AgentCall::Open { session: number, of: &self.of, history };
        let taped = |known, session| TapedSession {
            tape: self.tape.clone(),
            party: self.party,
            number,
            turn: 0,
            known,
            session,
        };
        match self.tape.replayed::<Answer<SessionFacts, AgentError>, ()>(self.party, &request).await {
            None => {}
            Some(RequestOutcome::Answered(answer)) => return Ok(Box::new(taped(answer.into_result()?, None))),
            Some(RequestOutcome::Abandoned(())) => return self.tape.abandon().await,
        }
        let agent = self.agent.as_ref().ok_or_else(absent)?;
        let recorded = self.tape.request(self.party, &request);
        let opened = agent.open_after(history).await;
        let known = opened.as_ref().map(|session| known(session.as_ref())).map_err(Clone::clone);
        recorded.answered(&Answer::from(known.clone()));
        Ok(Box::new(taped(known?, Some(opened?))))
    }
}

fn known(session: &dyn Session) -> SessionFacts {
    let id = session.id().to_owned();
    SessionFacts {
        id,
        is_met: session.is_agent_confirmed(),
        has_shown_itself: session.has_agent_output(),
        forgets_unanswered: Some(session.forgets_unanswered()),
    }
}

/// A session with the tape of a trial.
struct TapedSession {
    tape: Tape,
    party: Party,
    /// Which session of the trial, counted from 1.
    number: u32,
    turn: u32,
    known: SessionFacts,
    /// `None` in replay.
    session: Option<Box<dyn Session>>,
}

/// A message that is under way; the attempts that failed are recorded with it where it is dropped.
struct PendingMessage<'a> {
    recorded: Option<OpenRequest>,
    attempts: &'a mut Attempts,
    before: usize,
}

impl Drop for PendingMessage<'_> {
    fn drop(&mut self) {
        if let Some(mut recorded) = self.recorded.take() {
            recorded.abandoned(&FailedCall::since(self.attempts, self.before));
        }
    }
}

#[async_trait]
impl Session for TapedSession {
    fn id(&self) -> &str {
        &self.known.id
    }

    fn is_agent_confirmed(&self) -> bool {
        self.session.as_ref().map_or(self.known.is_met, |session| session.is_agent_confirmed())
    }

    fn has_agent_output(&self) -> bool {
        self.session.as_ref().map_or(self.known.has_shown_itself, |session| session.has_agent_output())
    }

    fn forgets_unanswered(&self) -> bool {
        let known = self.known.forgets_unanswered.unwrap_or(true);
        self.session.as_ref().map_or(known, |session| session.forgets_unanswered())
    }

    fn resume_point(&self) -> Option<serde_json::Value> {
        self.session.as_ref().and_then(|session| session.resume_point())
    }

    async fn greeting(&mut self) -> Result<Option<Reply>, AgentError> {
        let request = AgentCall::Greeting { session: self.number };
        match self.tape.replayed::<Answer<Option<Reply>, AgentError>, ()>(self.party, &request).await {
            None => {}
            Some(RequestOutcome::Answered(answer)) => return answer.into_result(),
            Some(RequestOutcome::Abandoned(())) => return self.tape.abandon().await,
        }
        let session = self.session.as_mut().ok_or_else(absent)?;
        let recorded = self.tape.request(self.party, &request);
        let greeted = session.greeting().await;
        recorded.answered(&Answer::from(greeted.clone()));
        greeted
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        self.turn += 1;
        let request = AgentCall::Say { session: self.number, turn: self.turn, message };
        match self.tape.replayed::<SayOutcome, FailedCall>(self.party, &request).await {
            None => {}
            Some(RequestOutcome::Answered(SayOutcome { answer, session, attempts: failed })) => {
                self.known = session;
                failed.add_to(attempts);
                return answer.into_result();
            }
            Some(RequestOutcome::Abandoned(failed)) => {
                failed.add_to(attempts);
                return self.tape.abandon().await;
            }
        }
        let session = self.session.as_mut().ok_or_else(absent)?;
        let recorded = Some(self.tape.request(self.party, &request));
        let mut under_way = PendingMessage { recorded, before: attempts.failures.len(), attempts };
        let reply = session.say(message, under_way.attempts).await;
        let failed = FailedCall::since(under_way.attempts, under_way.before);
        if let Some(recorded) = under_way.recorded.take() {
            let session = known(session.as_ref());
            recorded.answered(&SayOutcome { answer: reply.clone().into(), session, attempts: failed });
        }
        reply
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        let request = AgentCall::ObjectContext { session: self.number };
        match self.tape.replayed::<Answer<ObjectContext, AgentError>, ()>(self.party, &request).await {
            None => {}
            Some(RequestOutcome::Answered(answer)) => return answer.into_result(),
            Some(RequestOutcome::Abandoned(())) => return self.tape.abandon().await,
        }
        let session = self.session.as_mut().ok_or_else(absent)?;
        let recorded = self.tape.request(self.party, &request);
        let state = session.object_context().await;
        recorded.answered(&Answer::from(state.clone()));
        state
    }

    async fn call_user_tool(&mut self, call: &UserToolCall) -> Result<Value, AgentError> {
        let UserToolCall { turn, name, arguments, .. } = call;
        let request = AgentCall::UserTool { session: self.number, turn: *turn, name, arguments };
        match self.tape.replayed::<Answer<Value, AgentError>, ()>(self.party, &request).await {
            None => {}
            Some(RequestOutcome::Answered(answer)) => return answer.into_result(),
            Some(RequestOutcome::Abandoned(())) => return self.tape.abandon().await,
        }
        let session = self.session.as_mut().ok_or_else(absent)?;
        let recorded = self.tape.request(self.party, &request);
        let result = session.call_user_tool(call).await;
        recorded.answered(&Answer::from(result.clone()));
        result
    }
}
