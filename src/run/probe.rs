//! Sends one message to the agent, to see that it is there and how it answers, without persona, judge, seeds and journal.

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::abort::SetupError;
use super::talk::greeted;
use super::trial_env::{SetupMode, TrialEnv};
use crate::agent::managed::Listener;
use crate::agent::{Agent, AgentError, Attempts, Reply};
use crate::evidence::{Event, ObjectContext};
use crate::secret::Redactor;

/// The agent's answer to one message.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeReport {
    /// The session, as the agent names it.
    pub session_id: String,
    /// The agent's own greeting.
    pub greeting: Option<Reply>,
    /// The message that was sent.
    pub message: String,
    /// Its reply to that.
    pub reply: Result<Reply, AgentError>,
    /// The attempts that failed.
    pub attempts: Attempts,
    /// Its observable state after that.
    pub context: Result<ObjectContext, AgentError>,
}

impl ProbeReport {
    /// Clears the report of secrets, before any part of it is shortened.
    pub fn cleared_by(mut self, redactor: &Redactor) -> ProbeReport {
        let clear = |text: &mut String| *text = redactor.redact(text).into_owned();
        let clear_reply = |reply: &mut Reply| {
            clear(&mut reply.text);
            redactor.redact_across(reply.events.iter_mut().flat_map(Event::documents_mut));
            clear_document(redactor, &mut reply.events);
        };
        clear(&mut self.session_id);
        clear(&mut self.message);
        self.greeting.iter_mut().for_each(clear_reply);
        self.attempts.failures.iter_mut().for_each(|failure| clear(&mut failure.error));
        match &mut self.reply {
            Ok(reply) => clear_reply(reply),
            Err(error) => clear(&mut error.message),
        }
        match &mut self.context {
            Ok(context) => clear_document(redactor, context),
            Err(error) => clear(&mut error.message),
        }
        self
    }
}

/// Clears a document of secrets; one that can't be cleared is left out.
fn clear_document<T: Serialize + DeserializeOwned + Default>(redactor: &Redactor, document: &mut T) {
    let cleared = serde_json::to_vec(document).and_then(|json| redactor.cleared(document, &json));
    match cleared {
        Ok(Some(cleared)) => *document = cleared,
        Ok(None) => {}
        Err(_) => *document = T::default(),
    }
}

/// Why no message could be sent.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeError {
    /// The graph or the agent could not be prepared.
    NotSetUp(SetupError),
    /// The agent opened no session.
    NoSession(AgentError),
}

/// Opens a session and sends the job's first greeting. `None` where it was interrupted; all that was started has ended.
///
/// # Errors
/// No message could be sent.
pub async fn probe(engine: &Engine, interrupt: CancellationToken) -> Result<Option<ProbeReport>, ProbeError> {
    // Dropping the future cancels its requests.
    let seen = tokio::select! {
        biased;
        () = interrupt.cancelled() => None,
        seen = look(engine) => Some(seen),
    };
    engine.close().await;
    seen.transpose()
}

async fn look(engine: &Engine) -> Result<ProbeReport, ProbeError> {
    let no_trial = || ProbeError::NotSetUp(SetupError::new("the plan holds no conversation"));
    let trial = engine.plan.trials().next().ok_or_else(no_trial)?;
    let env = TrialEnv::set_up(engine, &trial, SetupMode::LeavesNoTrace, &Listener::default()).await;
    let env = env.map_err(|stop| ProbeError::NotSetUp(stop.into()))?;
    let message = engine.plan.job.greetings.first().map_or("Hello", String::as_str);
    let seen = hello(engine, env.agent.as_ref(), message).await.map_err(ProbeError::NoSession);
    env.close().await;
    seen
}

async fn hello(engine: &Engine, agent: &dyn Agent, message: &str) -> Result<ProbeReport, AgentError> {
    let mut session = agent.open().await?;
    let greeting = greeted(engine, session.as_mut()).await?;
    let mut attempts = Attempts::default();
    let reply = session.say(message, &mut attempts).await;
    // Where the first message opens the conversation, one that can't have arrived has opened none.
    let is_undelivered = attempts.failures.iter().all(|failed| !failed.maybe_received);
    if let (false, true, Err(error)) = (session.is_agent_confirmed(), is_undelivered, &reply) {
        return Err(error.clone());
    }
    let context = session.object_context().await;
    let (session_id, message) = (session.id().to_owned(), message.to_owned());
    Ok(ProbeReport { session_id, greeting, message, reply, attempts, context })
}
