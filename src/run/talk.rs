//! A trial's conversation: who speaks next, until there is nothing more to say.

use std::io;
use std::time::Duration;

use super::persona::Persona;
use super::prepare::TrialEnv;
use super::trial::Stop;
use super::trial_limit::TrialLimit;
use super::turn::{TurnEnd, blames_the_job, say, take_in, with_hint};
use super::watch::Watch;
use super::{Durability, Engine, observe};
use crate::agent::{AgentError, AgentErrorKind, Reply, Session};
use crate::conversation::{Conversation, ConversationRules, Next};
use crate::evidence::{Ending, Event, TrialId, Turn, Usage};
use crate::job::User;
use crate::limiter::WaitReason;
use crate::plan::Trial;
use crate::record::Entry;

/// How long an agent's first words may take until it is told that they are being waited for.
const GREETING: Duration = Duration::from_secs(3);

/// A conversation that has ended.
pub(super) struct Talk {
    pub(super) conversation: Conversation,
    pub(super) ending: Ending,
    pub(super) persona_usage: Usage,
    pub(super) persona_notes: Vec<String>,
}

/// The whole conversation, the greeting first.
pub(super) async fn converse(
    engine: &Engine,
    trial: &Trial,
    session: &mut dyn Session,
    (watch, stage): (&mut Watch<'_>, &TrialEnv),
) -> Result<Talk, Stop> {
    let (id, job) = (&trial.id, &engine.plan.job);
    let mut conversation = Conversation::new(ConversationRules {
        max_messages: job.max_turns,
        greeting: greeting(engine, id),
        lines: fixed_lines(&trial.case.user),
    });
    let mut persona = Persona::new(engine, trial).await?;
    let greeted = greeted(engine, session).await;
    if let Some(reply) = greeted.map_err(|error| Stop::broken(format!("the agent's greeting did not come: {error}")))? {
        let mut turn = Turn::begun(0, String::new());
        take_in(&mut turn, reply);
        keep(engine, id, &mut turn).await?;
        conversation.agent_greeted(turn);
    }
    let outcome = talk(engine, id, (session, &mut conversation, &mut persona), (watch, stage)).await;
    let (usage, notes) = persona.map(|persona| (persona.usage, persona.notes)).unwrap_or_default();
    match outcome {
        Ok(ending) => Ok(Talk { conversation, ending, persona_usage: usage, persona_notes: notes }),
        Err(stop) => {
            if let Stop::Outcome(_) = stop {
                // What the persona took so far was paid for.
                engine.sink.append(Entry::conversation_cut_off(id.number, usage))?;
            }
            Err(stop)
        }
    }
}

/// The agent's own first words. Somebody who watches is told when they do not come: most agents wait for the user.
pub(super) async fn greeted(engine: &Engine, session: &mut dyn Session) -> Result<Option<Reply>, AgentError> {
    let mut greeting = session.greeting();
    match tokio::time::timeout(GREETING, &mut greeting).await {
        Ok(greeted) => greeted,
        Err(_) => {
            engine.edges.tell(
                WaitReason::Greeting,
                Duration::from_secs_f64(engine.plan.job.limits.turn_seconds).saturating_sub(GREETING),
            );
            greeting.await
        }
    }
}

/// Takes turns until there is nothing more to say.
async fn talk(
    engine: &Engine,
    id: &TrialId,
    (session, conversation, persona): (&mut dyn Session, &mut Conversation, &mut Option<Persona<'_>>),
    (watch, stage): (&mut Watch<'_>, &TrialEnv),
) -> Result<Ending, Stop> {
    let mut lifeline = stage.lifeline();
    let job = &engine.plan.job;
    let mut limit = TrialLimit {
        seconds: job.limits.trial_seconds,
        since: engine.clock.start(),
        agent_ms: 0.0,
        watching_ms: 0.0,
        limiter: stage.limiter.clone(),
    };
    let mut last_reply = engine.clock.start();
    loop {
        let next = conversation.next();
        if let (false, Some(limit_exceeded)) =
            (matches!(next, Next::Done(_)), engine.edges.budget.spend_tracker.exhausted())
        {
            return Err(Stop::broken(limit_exceeded.to_string()));
        }
        match next {
            Next::Done(ending) => return Ok(ending),
            Next::AskPersona => {
                let Some(persona) = persona else {
                    return Err(Stop::broken("eval-job itself failed: fixed lines have no model to ask"));
                };
                let asking = persona.ask(conversation.transcript());
                match tokio::time::timeout(limit.left(), asking).await {
                    Ok(said) => conversation.persona_said(said?),
                    // The time is the agent's doing where it took most of it.
                    Err(_) if limit.is_spent_by_agent() => {
                        conversation.time_ran_out(limit.seconds);
                    }
                    Err(_) => return Err(Stop::broken(limit.words("the persona's model was being waited for"))),
                }
            }
            Next::SayToAgent(text) => {
                let number = conversation.turn_number();
                engine.sink.append(Entry::UserSaid { trial: id.number, turn: number, text: text.clone() })?;
                engine.sink.kept(Durability::Process).await?;
                let witness = observe::witness(stage, last_reply);
                let (mut turn, end) = say(session, (number, text), (&mut limit, lifeline.as_mut()), witness).await;
                keep(engine, id, &mut turn).await?;
                let before = limit.since.elapsed_ms();
                watch.after_turn(number).await?;
                limit.watching_ms += limit.since.elapsed_ms() - before;
                match end {
                    TurnEnd::Replied => {
                        engine.edges.resources.agent_answered();
                        last_reply = engine.clock.start();
                        conversation.agent_replied(turn);
                    }
                    TurnEnd::Failed(error) if error.kind == AgentErrorKind::RefusedTogether => {
                        return Err(Stop::broken(error.message));
                    }
                    // It is the job's doing, whatever the agent had answered before.
                    TurnEnd::Failed(error) if error.kind == AgentErrorKind::Unsendable => {
                        return Err(Stop::broken(with_hint(engine, &error)));
                    }
                    TurnEnd::Failed(error)
                        if !engine.edges.resources.has_agent_answered() && blames_the_job(session, &error, &turn) =>
                    {
                        return Err(Stop::broken(with_hint(engine, &error)));
                    }
                    TurnEnd::Failed(error) => conversation.agent_failed(turn, error.message),
                    TurnEnd::RefusedTogether => {
                        let what =
                            "the agent refused requests because of our other conversations; try target.maxConcurrency";
                        return Err(Stop::broken(limit.words(what)));
                    }
                    TurnEnd::OutOfTime => conversation.time_ran_out_on(turn, limit.seconds),
                }
            }
        }
    }
}

/// Keeps a finished turn. Each entry is cleared of secrets by itself; of those in pieces over several events only this knows.
async fn keep(engine: &Engine, id: &TrialId, turn: &mut Turn) -> io::Result<()> {
    engine.edges.redactor().redact_across(turn.events.iter_mut().flat_map(Event::documents_mut));
    engine.sink.append(Entry::TurnFinished { trial: id.number, turn: turn.clone() })?;
    engine.sink.kept(Durability::Process).await?;
    engine.edges.budget.agent_used(id.number, &id.model, turn.usage.as_ref());
    Ok(())
}

/// The same pick for both conditions of a repeat, so that they differ in nothing but the facts.
fn greeting(engine: &Engine, id: &TrialId) -> String {
    let mut rng = fastrand::Rng::with_seed(engine.rng_seed.wrapping_add(u64::from(id.repeat)));
    rng.choice(&engine.plan.job.greetings).cloned().unwrap_or_else(|| "Hello".to_owned())
}

fn fixed_lines(user: &User) -> Option<Vec<String>> {
    match user {
        User::Lines(lines) => Some(lines.clone()),
        User::Persona => None,
    }
}
