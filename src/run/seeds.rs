//! Seeds: the agent's memory before the conversation begins.

use super::Engine;
use super::trial::TrialAbort;
use crate::agent::{Ability, Agent, AgentError, AgentErrorKind, Attempts};
use crate::evidence::{Message, Role, Usage};
use crate::job::{Case, Seed, Target};
use crate::plan::Trial;
use crate::record::Entry;

/// The seeds as earlier messages of the conversation, for an agent without a memory across conversations.
pub(super) fn history(target: &Target, case: &Case) -> Vec<Message> {
    if !target.transport.can(Ability::TakesHistory) {
        return Vec::new();
    }
    let messages = |seed: &Seed| match seed {
        Seed::Text(text) => vec![
            Message::new(Role::User, remember(text)),
            // Some endpoints want the two to take turns.
            Message::new(Role::Assistant, "I will remember it."),
        ],
        Seed::Conversation(messages) => messages.clone(),
    };
    case.seeds.iter().flat_map(messages).collect()
}

fn remember(text: &str) -> String {
    format!("Please remember the following:\n\n{text}")
}

/// Primes the agent's memory, each seed in an earlier session of its own.
pub(super) async fn deliver_seeds(engine: &Engine, trial: &Trial, agent: &dyn Agent) -> Result<(), TrialAbort> {
    let (id, seeds) = (&trial.id, &trial.case.seeds);
    if seeds.is_empty() {
        return Ok(());
    }
    agent
        .prepare_memory()
        .await
        .map_err(|error| TrialAbort::broken(format!("the agent's memory could not be made ready: {error}")))?;
    let mut usages: Vec<Option<Usage>> = Vec::new();
    let mut undelivered = None;
    for (index, seed) in seeds.iter().enumerate() {
        if let Some(limit_exceeded) = engine.exhausted(id.number, &format!("limit before seed {}", index + 1)) {
            undelivered = Some(limit_exceeded);
            break;
        }
        let before = usages.len();
        let delivered = deliver(agent, seed, &mut usages).await;
        let used = Usage::sum_reported(usages[before..].iter().copied());
        engine.budget.agent_used(id.number, &id.model, used.as_ref());
        if let Err(error) = delivered {
            undelivered = Some(format!("seed {} could not be delivered: {error}", index + 1));
            break;
        }
    }
    engine.sink.append(Entry::Primed { trial: id.number, usage: Usage::sum_reported(usages) })?;
    undelivered.map_or(Ok(()), |error| Err(TrialAbort::broken(error)))
}

/// Sends a seed's lines in a session of their own; the agent's usage is collected line by line.
async fn deliver(agent: &dyn Agent, seed: &Seed, usages: &mut Vec<Option<Usage>>) -> Result<(), AgentError> {
    let lines: Vec<String> = match seed {
        Seed::Text(text) => vec![remember(text)],
        Seed::Conversation(messages) => messages
            .iter()
            .filter(|message| message.role == Role::User)
            .map(|message| message.content.clone())
            .collect(),
    };
    let mut session = agent.open().await?;
    for line in lines {
        let mut attempts = Attempts::default();
        let reply = session.say(&line, &mut attempts).await;
        let may_be_received = reply.is_ok() || attempts.failures.iter().any(|failed| failed.maybe_received);
        if may_be_received {
            usages.push(reply.as_ref().ok().and_then(|reply| reply.usage));
        }
        reply?;
        if attempts.maybe_delivered {
            // A memory that holds it twice would be blamed on the agent.
            let message = "a line was sent again after a try that the agent may have received".to_owned();
            return Err(AgentError { kind: AgentErrorKind::Timeout, message });
        }
    }
    Ok(())
}
