//! The conversation with the reference agent: what it says and which tools it calls is expected of the agent under test.

use futures_util::FutureExt;

use super::persona_driver::{PersonaDriver, PersonaEnd};
use super::sink::Durability;
use super::talk::{fixed_lines, greeted, opening};
use super::trial::TrialAbort;
use super::trial_env::{Reference, TrialEnv};
use super::trial_limit::TrialLimit;
use super::turn::{Partner, TurnEnd, set_reply};
use super::{Engine, hint};
use crate::agent::{AgentError, OutageCheck};
use crate::conversation::{Conversation, ConversationRules, Next};
use crate::evidence::{Event, PersonaFault, Transcript, Turn, Usage};
use crate::record::Entry;

/// The user's messages to the reference agent.
pub(super) enum ReferenceLines {
    /// The messages that the agent under test got.
    Same(Vec<String>),
    /// The lines of the case.
    OfCase,
}

/// A conversation with the reference agent, and what the persona took for it.
pub(super) struct ReferenceConversation {
    pub(super) transcript: Transcript,
    pub(super) persona_usage: Usage,
    pub(super) persona_notes: Vec<String>,
    pub(super) persona_faults: Vec<PersonaFault>,
}

/// Holds the conversation and records each of its turns. Its limits are those of a conversation with the agent under test, to
/// which nothing counts that goes wrong here.
pub(super) async fn hold(
    env: &TrialEnv<'_>,
    reference: &Reference,
    lines: ReferenceLines,
) -> Result<ReferenceConversation, TrialAbort> {
    let (engine, case) = (env.engine, &env.trial.case);
    let is_own = matches!(lines, ReferenceLines::OfCase);
    let rules = match lines {
        ReferenceLines::Same(lines) => {
            ConversationRules { max_messages: u32::MAX, opening: lines, lines: Some(Vec::new()) }
        }
        ReferenceLines::OfCase => ConversationRules {
            max_messages: engine.plan.job.most_messages(case),
            opening: opening(env),
            lines: fixed_lines(&case.user),
        },
    };
    let mut persona = if is_own { PersonaDriver::new(engine, env.trial).await? } else { None };
    let mut conversation = Conversation::new(rules);
    let outcome = talk(env, reference, persona.as_mut(), &mut conversation).await;
    let PersonaEnd { usage: persona_usage, notes: persona_notes, faults: persona_faults, .. } =
        persona.map(PersonaDriver::end).unwrap_or_default();
    if let (Err(TrialAbort::Outcome(_)), true) = (&outcome, is_own) {
        // The persona's calls so far were paid for.
        let usage = persona_usage.plus(env.writer.usage());
        engine.sink.append(Entry::conversation_cut_off(env.trial.id.number, usage))?;
    }
    outcome.map(|()| ReferenceConversation {
        transcript: conversation.into_transcript(),
        persona_usage,
        persona_notes,
        persona_faults,
    })
}

async fn talk(
    env: &TrialEnv<'_>,
    reference: &Reference,
    mut persona: Option<&mut PersonaDriver<'_>>,
    conversation: &mut Conversation,
) -> Result<(), TrialAbort> {
    let engine = env.engine;
    let limit = TrialLimit::new(engine.plan.job.limits.trial_seconds, engine.clock.start(), reference.limiter.clone());
    let limit = limit.without(env.writer.busy());
    let failed = |error: AgentError| failure(engine, &error);
    let ran_out =
        |limit: &TrialLimit, what| TrialAbort::broken(format!("{}; try a longer one", limit.ran_out_while(what)));
    let opened = limit.within(reference.agent.open_after(&reference.history)).await;
    let mut session = opened
        .ok_or_else(|| ran_out(&limit, "a session with the reference agent was being opened"))?
        .map_err(failed)?;
    let greeting = limit.within(greeted(engine, session.as_mut())).await;
    let greeting = greeting.ok_or_else(|| ran_out(&limit, "the reference agent's greeting was awaited"))?;
    if let Some(reply) = greeting.map_err(failed)? {
        let mut turn = Turn::begun(0, String::new());
        set_reply(&mut turn, reply);
        keep(env, &mut turn).await?;
        conversation.agent_greeted(turn);
    }
    let mut partner = Partner {
        session: session.as_mut(),
        limit,
        lifeline: None,
        tape: env.tape.clone(),
        name: "the reference agent",
        writer: env.writer.clone(),
    };
    loop {
        let next = conversation.next();
        let step = if matches!(next, Next::AskPersona) { "persona" } else { "agent" };
        let when = format!("limit before the reference's {step}, turn {}", conversation.turn_number());
        if !matches!(next, Next::Done(_))
            && let Some(limit_exceeded) = engine.exhausted(env.trial.id.number, &when)
        {
            return Err(TrialAbort::broken(format!("the conversation with the reference agent: {limit_exceeded}")));
        }
        match (next, persona.as_deref_mut()) {
            (Next::Done(_), _) => return Ok(()),
            (Next::AskPersona, None) => {
                return Err(TrialAbort::broken("eval-job itself failed: there is nobody to ask"));
            }
            (Next::AskPersona, Some(persona)) => {
                let busy = persona.timed();
                let asking = persona.ask(conversation.transcript());
                let asked = partner.limit.within_busy(&busy, engine.clock, asking).await;
                let reply = asked.ok_or_else(|| {
                    let what = partner.limit.ran_out_while("the persona's model was being waited for");
                    TrialAbort::broken(persona.last_failure.after(what))
                })?;
                conversation.persona_replied(reply?);
            }
            (Next::SayToAgent(text), _) => {
                let outage_check = OutageCheck::new(|_| async { None }.boxed());
                let (mut turn, end) = partner.say(conversation.turn_number(), text, outage_check).await;
                keep(env, &mut turn).await?;
                match end {
                    TurnEnd::Replied => conversation.agent_replied(turn),
                    TurnEnd::Failed(error) => return Err(failed(error)),
                    TurnEnd::OutOfTime | TurnEnd::RefusedTogether | TurnEnd::RateLimited => {
                        return Err(ran_out(&partner.limit, "the reference agent's reply was awaited"));
                    }
                }
            }
        }
    }
}

/// The error, with a hint that names the keys of `reference`.
fn failure(engine: &Engine, error: &AgentError) -> TrialAbort {
    let mut what = format!("the reference agent: {error}");
    if let Some(reference) = &engine.plan.job.reference {
        let [target, own] = ["target", "reference"].map(|part| format!("{part}.{}.", reference.transport.key()));
        if !what.contains(&target) {
            // eval-job does not start one.
            let hint = hint(reference, error).replace(", or target.start to have it started", "");
            what = format!("{what}; try {hint}");
        }
        what = what.replace(&target, &own);
    }
    TrialAbort::broken(what)
}

/// Records a finished turn and counts what it took.
async fn keep(env: &TrialEnv<'_>, turn: &mut Turn) -> Result<(), TrialAbort> {
    let (engine, id) = (env.engine, &env.trial.id);
    engine.clients.redactor().redact_across(turn.events.iter_mut().flat_map(Event::documents_mut));
    engine.sink.append(Entry::ReferenceTurn { trial: id.number, turn: turn.clone() })?;
    engine.sink.kept(Durability::Process).await?;
    engine.budget.agent_used(id.number, &id.model, turn.usage.as_ref());
    Ok(())
}
