//! One trial, top to bottom.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::managed::ended;
use super::persona::Persona;
use super::prepare::{Extent, Stage};
use super::trial_limit::TrialLimit;
use super::watch::Watch;
use super::{Engine, evaluate, hint, judge, observe, prepare};
use crate::agent::managed::{Lifeline, Listener};
use crate::agent::{AgentError, AgentErrorKind, Exchange, Reply, Session, Witness};
use crate::conversation::{Conversation, ConversationRules, Next};
use crate::descriptors;
use crate::evidence::{Ending, Evidence, FailedTry, Judgement, Observed, TrialId, Turn, Usage};
use crate::grade;
use crate::job::{self, Isolation, Mind};
use crate::limiter::Awaited;
use crate::record::Entry;
use crate::score::{Outcome, Scorecard};

/// How long an agent's first words may take until it is told that they are being waited for.
const GREETING: Duration = Duration::from_secs(3);

/// Why a trial says nothing about the agent, or could not be kept.
pub(super) enum Stop {
    /// It is the trial's outcome.
    Outcome(Outcome),
    /// The sink failed: the run must not go on.
    Sink(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Sink(error)
    }
}

impl Stop {
    /// The world around the agent is at fault.
    pub(super) fn broken(error: impl Into<String>) -> Stop {
        Stop::Outcome(Outcome::Broken { error: error.into() })
    }

    /// The persona is at fault.
    pub(super) fn persona_invalid(error: impl Into<String>) -> Stop {
        Stop::Outcome(Outcome::PersonaInvalid { error: error.into() })
    }
}

/// Runs a trial and tells the sink how it came out. `listener` hears what the agent prints, where eval-job starts it.
pub(super) async fn run_trial(engine: &Engine, id: &TrialId, listener: &Listener) -> io::Result<()> {
    (engine.sink)(Entry::TrialStarted { trial: id.number, at: engine.clock.wall() })?;
    let (outcome, scorecard) = match attempt(engine, id, listener).await {
        Ok((outcome, scorecard)) => (outcome, Some(scorecard)),
        Err(Stop::Outcome(outcome)) => (outcome, None),
        Err(Stop::Sink(error)) => return Err(error),
    };
    keep_output(engine, id, listener)?;
    (engine.sink)(Entry::TrialFinished { trial: id.number, at: engine.clock.wall(), outcome, scorecard })
}

/// Tells the sink what the agent printed. Also for a trial that is cut off, once and before anything else is told of it.
pub(super) fn keep_output(engine: &Engine, id: &TrialId, listener: &Listener) -> io::Result<()> {
    match listener.heard() {
        Some(output) => (engine.sink)(Entry::AgentOutput { trial: id.number, output }),
        None => Ok(()),
    }
}

async fn attempt(engine: &Engine, id: &TrialId, listener: &Listener) -> Result<(Outcome, Scorecard), Stop> {
    let stage = prepare::prepare(engine, id, (Extent::Everything, listener)).await?;
    let played = play(engine, id, &stage).await;
    if let Some(refusals) = stage.place.refusals() {
        (engine.sink)(Entry::AgentRefused { trial: id.number, refusals })?;
    }
    stage.close(engine).await;
    let evidence = Arc::new(played?);
    if engine.plan.isolation != Isolation::Shared
        && let Some(leak) = engine.edges.commons.leak(id, &evidence)
    {
        return Err(Stop::broken(leak));
    }
    let judgements = judge::judge(engine, id.number, &evidence).await?;
    for judgement in &judgements {
        (engine.sink)(Entry::Judged { trial: id.number, judgement: judgement.clone() })?;
    }
    let outcome = outcome(&evidence.ending, &judgements);
    let (job, clock) = (engine.plan.job.clone(), engine.clock);
    let graded = move || grade::grade(&job, &evidence, &judgements, clock);
    Ok((outcome, evaluate::off_thread(engine, graded).await?))
}

/// The conversation, and what it left behind.
async fn play(engine: &Engine, id: &TrialId, stage: &Stage) -> Result<Evidence, Stop> {
    let mut session = stage.open().await?;
    let session_id = session.id().to_owned();
    let user = stage.user.clone();
    engine.edges.commons.session_opened(id, &session_id);
    (engine.sink)(Entry::SessionOpened { trial: id.number, session_id: session_id.clone(), user: user.clone() })?;

    let mut evidence = Evidence::of_session(session_id, user, id);
    observe::look_before(engine, id, stage, session.as_mut(), &mut evidence).await;
    if let (Some(before), Some(empty)) = (&evidence.before, &evidence.empty) {
        (engine.sink)(Entry::LookedBefore { trial: id.number, before: before.clone(), empty: empty.clone() })?;
    }
    let mut watch = Watch::before(engine, id, stage, &evidence.session_id).await;

    let talk = converse(engine, id, session.as_mut(), (&mut watch, stage)).await?;
    evidence.transcript = talk.conversation.into_transcript();
    evidence.ending = talk.ending;
    evidence.persona_usage = talk.persona_usage;
    evidence.persona_notes = talk.persona_notes;
    observe::observe(engine, id, stage, session.as_mut(), &mut evidence).await;
    let down = match &evidence.ending {
        Ending::AgentFailed { error } => match excuse(&evidence) {
            Some(excuse) if excuse == descriptors::NONE_LEFT => {
                Some(format!("{excuse}; try {} ({error})", descriptors::HINT))
            }
            Some(excuse) => Some(format!("the agent failed ({error}), and so did what it needs: {excuse}")),
            None => observe::graph_trouble(stage)
                .await
                .map(|trouble| format!("the agent failed ({error}), and so did the graph: {trouble}")),
        },
        _ => None,
    };
    // After all that was looked at: no assertion has seen what is not among the changes.
    let last_turn = evidence.transcript.turns.last().map_or(0, |turn| turn.number);
    evidence.changes = watch.at_end(last_turn).await?;
    (engine.sink)(Entry::ConversationEnded {
        trial: id.number,
        ending: evidence.ending.clone(),
        object_context: evidence.object_context.clone(),
        queries: evidence.queries.clone(),
        changes: evidence.changes.clone(),
        persona_usage: evidence.persona_usage,
        persona_notes: evidence.persona_notes.clone(),
    })?;
    // Whose fault it was can't be told, and the agent is not blamed for a database that is gone.
    match down {
        Some(error) => Err(Stop::broken(error)),
        None => Ok(evidence),
    }
}

/// Why the last turn does not speak against the agent.
fn excuse(evidence: &Evidence) -> Option<&str> {
    let last = evidence.transcript.turns.last()?;
    last.failures.iter().rev().find_map(|failed| failed.excuse.as_deref())
}

fn outcome(ending: &Ending, judgements: &[Judgement]) -> Outcome {
    let unusable = judgements.iter().find_map(|judgement| match &judgement.reply {
        Observed::Failed(error) => Some(error.clone()),
        Observed::Seen(_) => None,
    });
    match (ending, unusable) {
        (_, Some(error)) => Outcome::JudgeFailed { error },
        (Ending::AgentFailed { error }, None) => Outcome::AgentFailed { error: error.clone() },
        (_, None) => Outcome::Graded,
    }
}

/// A conversation that has ended.
struct Talk {
    conversation: Conversation,
    ending: Ending,
    persona_usage: Usage,
    persona_notes: Vec<String>,
}

async fn converse(
    engine: &Engine,
    id: &TrialId,
    session: &mut dyn Session,
    (watch, stage): (&mut Watch<'_>, &Stage),
) -> Result<Talk, Stop> {
    let job = &engine.plan.job;
    let mut conversation = Conversation::new(ConversationRules {
        max_messages: job.max_turns,
        greeting: greeting(engine, id),
        lines: fixed_lines(&job.persona),
    });
    let mut persona = Persona::of(engine, id).await?;
    let greeted = greeted(engine, session).await;
    if let Some(reply) = greeted.map_err(|error| Stop::broken(format!("the agent's greeting did not come: {error}")))? {
        let mut turn = Turn::begun(0, String::new());
        take_in(&mut turn, reply);
        (engine.sink)(Entry::TurnFinished { trial: id.number, turn: turn.clone() })?;
        engine.edges.budget.agent_used(id.number, &id.model, turn.usage.as_ref());
        conversation.agent_greeted(turn);
    }
    let outcome = talk(engine, id, (session, &mut conversation, &mut persona), (watch, stage)).await;
    let (usage, notes) = persona.map(|persona| (persona.usage, persona.notes)).unwrap_or_default();
    match outcome {
        Ok(ending) => Ok(Talk { conversation, ending, persona_usage: usage, persona_notes: notes }),
        Err(stop) => {
            if let Stop::Outcome(_) = stop {
                // What the persona took so far was paid for.
                (engine.sink)(Entry::conversation_cut_off(id.number, usage))?;
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
                Awaited::Greeting,
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
    (watch, stage): (&mut Watch<'_>, &Stage),
) -> Result<Ending, Stop> {
    let mut lifeline = stage.lifeline();
    let job = &engine.plan.job;
    let mut limit = TrialLimit {
        seconds: job.limits.trial_seconds,
        since: engine.clock.start(),
        agent_ms: 0.0,
        watching_ms: 0.0,
        place: stage.place.clone(),
    };
    let mut last_reply = engine.clock.start();
    loop {
        let next = conversation.next();
        if let (false, Some(shortfall)) = (matches!(next, Next::Done(_)), engine.edges.budget.purse.exhausted()) {
            return Err(Stop::broken(shortfall.to_string()));
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
                (engine.sink)(Entry::UserSaid { trial: id.number, turn: number, text: text.clone() })?;
                let witness = observe::witness(stage, last_reply);
                let (turn, end) = say(session, (number, text), (&mut limit, lifeline.as_mut()), witness).await;
                (engine.sink)(Entry::TurnFinished { trial: id.number, turn: turn.clone() })?;
                engine.edges.budget.agent_used(id.number, &id.model, turn.usage.as_ref());
                let before = limit.since.elapsed_ms();
                watch.after_turn(number).await?;
                limit.watching_ms += limit.since.elapsed_ms() - before;
                match end {
                    TurnEnd::Replied => {
                        last_reply = engine.clock.start();
                        conversation.agent_replied(turn);
                    }
                    TurnEnd::Failed(error) if error.kind == AgentErrorKind::Crowded => {
                        return Err(Stop::broken(error.message));
                    }
                    TurnEnd::Failed(error) if !has_answered(conversation) && is_of_the_job(session, &error, &turn) => {
                        return Err(Stop::broken(with_hint(engine, &error)));
                    }
                    TurnEnd::Failed(error) => conversation.agent_failed(turn, error.message),
                    TurnEnd::Crowded => {
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

/// How a turn ended.
enum TurnEnd {
    Replied,
    Failed(AgentError),
    OutOfTime,
    /// The time ran out while the agent refused us because of our other conversations.
    Crowded,
}

/// Says something, until the agent has answered, the time is up, or the agent's process is gone.
async fn say(
    session: &mut dyn Session,
    (number, user): (u32, String),
    (limit, lifeline): (&mut TrialLimit, Option<&mut Lifeline>),
    witness: Witness,
) -> (Turn, TurnEnd) {
    let mut turn = Turn::begun(number, user);
    let before = limit.since.elapsed_ms();
    let mut death = None;
    // What was waited for before this message is not of this turn.
    limit.place.take_waited_ms();
    let exchange = tokio::select! {
        biased;
        exchange = tokio::time::timeout(limit.left(), witness.clone().during(session.say(&turn.user))) => exchange.ok(),
        how = ended(lifeline) => {
            death = Some(format!("the agent's process ended ({how}) in turn {number}"));
            None
        }
    };
    // What was waited for others' sake is neither the agent's time nor the conversation's.
    let waited_ms = limit.place.take_waited_ms();
    let spent_ms = (limit.since.elapsed_ms() - before - waited_ms).max(0.0);
    limit.watching_ms += waited_ms;
    limit.agent_ms += spent_ms;
    turn.spent_ms = Some(spent_ms);
    let (reply, mut tries) = match exchange {
        Some(Exchange { reply, tries }) => (Some(reply), tries),
        None => (None, session.given_up()),
    };
    if let Some(error) = &death {
        tries.failures.push(FailedTry::untimed(error.clone(), true));
    }
    let end = match (&reply, &death) {
        (Some(Ok(_)), _) => None,
        (Some(Err(error)), _) => Some(error.clone()),
        (None, Some(death)) => Some(AgentError { kind: AgentErrorKind::Timeout, message: death.clone() }),
        (None, None) => {
            let message = limit.words("the agent's reply was being waited for");
            Some(AgentError { kind: AgentErrorKind::Timeout, message })
        }
    };
    // Not every transport has asked, and nobody has for a message that was given up.
    if let Some(error) = &end
        && (reply.is_none() || tries.failures.last().is_none_or(|last| last.excuse.is_none()))
        && let Some(excuse) = witness.excuse(error).await
    {
        if reply.is_none() && death.is_none() {
            tries.failures.push(FailedTry::untimed(error.message.clone(), true));
            death = Some(error.message.clone());
        }
        if let Some(failed) = tries.failures.last_mut() {
            failed.excuse = Some(excuse);
        }
    }
    turn.failures = tries.failures;
    turn.maybe_delivered = tries.maybe_delivered;
    match reply {
        None => match death {
            Some(message) => (turn, TurnEnd::Failed(AgentError { kind: AgentErrorKind::Timeout, message })),
            None if waited_ms > spent_ms => (turn, TurnEnd::Crowded),
            None => (turn, TurnEnd::OutOfTime),
        },
        Some(Err(error)) => (turn, TurnEnd::Failed(error)),
        Some(Ok(reply)) => {
            take_in(&mut turn, reply);
            (turn, TurnEnd::Replied)
        }
    }
}

/// Whether the agent has ever answered in this conversation.
fn has_answered(conversation: &Conversation) -> bool {
    conversation.transcript().turns.iter().any(|turn| turn.agent.is_some())
}

/// Whether a failure before the first answer is not the agent's: it refuses what the job sends, it says what the job does
/// not expect, nobody is there at all, or what was started has never said a word.
fn is_of_the_job(session: &dyn Session, error: &AgentError, turn: &Turn) -> bool {
    let is_unheard = !turn.failures.is_empty() && turn.failures.iter().all(|failed| !failed.maybe_received);
    // A port that ends every connection without a byte may be any other program's.
    let is_cut = |failed: &FailedTry| failed.error.contains("the connection broke before a reply came");
    let is_nobody_there = !session.is_met()
        && (error.kind == AgentErrorKind::Unreachable && is_unheard
            || !turn.failures.is_empty() && turn.failures.iter().all(is_cut));
    error.kind.may_be_of_the_job() || is_nobody_there || !session.has_shown_itself()
}

/// The error, and what to change, in the words of `probe` where it does not name the key itself.
fn with_hint(engine: &Engine, error: &AgentError) -> String {
    let target = &engine.plan.job.target;
    let message = &error.message;
    match message.contains(&format!("target.{}.", target.transport.word())) {
        true => message.clone(),
        false => format!("{message}; try {}", hint(target, error)),
    }
}

fn take_in(turn: &mut Turn, reply: Reply) {
    turn.agent = Some(reply.text);
    turn.events = reply.events;
    turn.latency_ms = Some(reply.latency_ms);
    turn.first_token_ms = reply.first_token_ms;
    turn.usage = reply.usage;
}

/// The same pick for both conditions of a repeat, so that they differ in nothing but the facts.
fn greeting(engine: &Engine, id: &TrialId) -> String {
    let mut rng = fastrand::Rng::with_seed(engine.rng_seed.wrapping_add(u64::from(id.repeat)));
    rng.choice(&engine.plan.job.greetings).cloned().unwrap_or_else(|| "Hello".to_owned())
}

fn fixed_lines(persona: &job::Persona) -> Option<Vec<String>> {
    match &persona.mind {
        Mind::Lines(lines) => Some(lines.clone()),
        Mind::Model(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::ObjectContext;

    /// A conversation for which nothing was sent to open it, or something was.
    struct Opened(bool);

    #[async_trait::async_trait]
    impl Session for Opened {
        fn id(&self) -> &str {
            "1"
        }

        fn is_met(&self) -> bool {
            self.0
        }

        async fn say(&mut self, _: &str) -> Exchange {
            Exchange { reply: Err(cut()), tries: crate::agent::Tries::default() }
        }

        async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
            Err(cut())
        }
    }

    fn cut() -> AgentError {
        let message = "POST http://h/: the connection broke before a reply came (closed)".to_owned();
        AgentError { kind: AgentErrorKind::Timeout, message }
    }

    #[test]
    fn a_port_that_ends_every_connection_without_a_byte_may_be_any_programs() {
        let turn = |errors: &[&str]| {
            let failures = errors.iter().map(|error| FailedTry::untimed((*error).to_owned(), true)).collect();
            Turn { failures, ..Turn::begun(1, "Hello".to_owned()) }
        };
        let broke = cut().message;
        assert!(is_of_the_job(&Opened(false), &cut(), &turn(&[&broke, &broke])));
        assert!(!is_of_the_job(&Opened(true), &cut(), &turn(&[&broke, &broke])), "a session was opened there");
        assert!(!is_of_the_job(&Opened(false), &cut(), &turn(&["POST http://h/: answered 500", &broke])));
        assert!(!is_of_the_job(&Opened(false), &cut(), &turn(&[])));
    }
}
