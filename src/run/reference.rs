//! The conversation with the reference agent: what it says and which tools it calls is expected of the agent under test.

use std::time::Duration;

use super::persona_driver::PersonaDriver;
use super::talk::opening;
use super::trial::Stop;
use super::trial_env::TrialEnv;
use super::turn::set_reply;
use crate::agent::{Agent, Attempts};
use crate::conversation::{Conversation, ConversationRules, Next};
use crate::evidence::{Event, Transcript, Turn, Usage};
use crate::record::Entry;

/// What the user says to the reference agent.
pub(super) enum Said {
    /// What it said to the agent under test.
    Same(Vec<String>),
    /// What the case says.
    OfCase,
}

/// A conversation with the reference agent, and what the persona took for it.
pub(super) struct Held {
    pub(super) transcript: Transcript,
    pub(super) persona_usage: Usage,
    pub(super) persona_notes: Vec<String>,
}

/// Holds the conversation and records it. Whatever goes wrong is not the doing of the agent under test.
pub(super) async fn hold(env: &TrialEnv<'_>, agent: &dyn Agent, said: Said) -> Result<Held, Stop> {
    let (engine, id) = (env.engine, &env.trial.id);
    let seconds = engine.plan.job.limits.trial_seconds;
    let held = tokio::time::timeout(Duration::from_secs_f64(seconds), talk(env, agent, said)).await;
    let held = held.unwrap_or_else(|_| Err(Stop::broken(format!("the reference agent took more than {seconds} s"))))?;
    engine.sink.append(Entry::ReferenceHeld { trial: id.number, transcript: held.transcript.clone() })?;
    Ok(held)
}

async fn talk(env: &TrialEnv<'_>, agent: &dyn Agent, said: Said) -> Result<Held, Stop> {
    let (engine, case) = (env.engine, &env.trial.case);
    let broken = |error| Stop::broken(format!("the reference agent: {error}"));
    let is_own = matches!(said, Said::OfCase);
    let rules = match said {
        Said::Same(lines) => ConversationRules { max_messages: u32::MAX, opening: lines, lines: Some(Vec::new()) },
        Said::OfCase => ConversationRules {
            max_messages: case.max_turns.unwrap_or(engine.plan.job.max_turns),
            opening: opening(env),
            lines: super::talk::fixed_lines(&case.user),
        },
    };
    let mut persona = if is_own { PersonaDriver::new(engine, env.trial).await? } else { None };
    let mut conversation = Conversation::new(rules);
    let mut session = agent.open().await.map_err(broken)?;
    loop {
        match (conversation.next(), persona.as_mut()) {
            (Next::Done(_), _) => break,
            (Next::AskPersona, None) => return Err(Stop::broken("eval-job itself failed: there is nobody to ask")),
            (Next::AskPersona, Some(persona)) => {
                let reply = persona.ask(conversation.transcript()).await?;
                conversation.persona_replied(reply);
            }
            (Next::SayToAgent(text), _) => {
                let mut attempts = Attempts::default();
                let reply = session.say(&text, &mut attempts).await.map_err(broken)?;
                let mut turn = Turn::begun(conversation.turn_number(), text);
                set_reply(&mut turn, reply);
                engine.clients.redactor().redact_across(turn.events.iter_mut().flat_map(Event::documents_mut));
                conversation.agent_replied(turn);
            }
        }
    }
    let (persona_usage, persona_notes) = persona.map(|persona| (persona.usage, persona.notes)).unwrap_or_default();
    Ok(Held { transcript: conversation.into_transcript(), persona_usage, persona_notes })
}
