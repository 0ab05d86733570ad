//! One trial, top to bottom.

use std::io;
use std::sync::Arc;

use super::abort::STOPPED;
pub(super) use super::abort::TrialAbort;
use super::reference::{self, ReferenceLines};
use super::sink::{Durability, kept_soon};
use super::talk::converse;
use super::trial_env::{SetupMode, TrialEnv};
use super::trial_limit::TrialLimit;
use super::watch::Watch;
use super::{Engine, audit, evaluate, judge, observe};
use crate::agent::Session;
use crate::agent::managed::Listener;
use crate::cassette::Tape;
use crate::conversation::guard;
use crate::descriptors;
use crate::evidence::{Ending, Evidence, FactUse, Transcript};
use crate::grade::{self, GradeInput};
use crate::job::{Case, Isolation, ReferencePart};
use crate::plan::{Trial, UnfinishedTrial};
use crate::record::Entry;
use crate::score::{NOT_HELD_AGAIN, Outcome, Scorecard};

/// The note in a cassette that a conversation was not held again, because the persona fails there each time.
const STUCK: &str = "persona stuck";

/// Runs a trial that may begin, and appends its outcome to the sink. Where the persona does not play its part, the conversation
/// is run again, as often as `limits.reruns` says. Returns whether it came to its end: one that is replayed may have been cut off.
pub(super) async fn run_trial(engine: &Engine, trial: &Trial) -> io::Result<bool> {
    let (mut trial, open) = (trial.clone(), engine.cassette.open(&trial.id));
    let number = trial.id.number;
    if let Some(left) = &trial.left {
        let (at, stopped_at, was_over) = (engine.clock.wall(), left.stopped_at, left.was_over);
        engine.sink.append(Entry::TrialContinued { trial: number, at, stopped_at, was_over })?;
    } else if trial.restart.is_some() {
        engine.sink.append(Entry::TrialRestarted { trial: number, at: engine.clock.wall() })?;
    }
    loop {
        match hold(engine, &trial, open.tape()).await? {
            TrialResult::Finished => return Ok(true),
            TrialResult::CutOff => return Ok(false),
            TrialResult::Discarded => trial.attempt += 1,
            TrialResult::NotContinued => {
                engine.sink.append(Entry::TrialRestarted { trial: number, at: engine.clock.wall() })?;
                trial.restart = Some(trial.restart.unwrap_or_default() + 1);
            }
        }
        trial.left = None;
    }
}

/// The result of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TrialResult {
    /// It is over.
    Finished,
    /// The time limit of the recorded run has cut it off here.
    CutOff,
    /// It does not count, and is to be run again.
    Discarded,
    /// It was cut off before and could not go on where it was: it is held again from its setups.
    NotContinued,
}

async fn hold(engine: &Engine, trial: &Trial, tape: &Tape) -> io::Result<TrialResult> {
    let number = trial.id.number;
    tape.begin_attempt(trial.attempt);
    let mut under_way = Unfinished { engine, tape, number, listener: Listener::default(), output_is_kept: false };
    if trial.left.is_none() {
        engine.sink.append(Entry::TrialStarted { trial: number, at: engine.clock.wall(), case: None })?;
    }
    engine.sink.kept(Durability::Process).await?;
    let attempted = tokio::select! {
        biased;
        stopped = tape.stopped() => Err(TrialAbort::of_replay(stopped, tape)),
        attempted = attempt(engine, trial, &under_way.listener) => attempted,
    };
    let (mut outcome, scorecard) = match attempted {
        Ok((outcome, scorecard)) => (outcome, Some(scorecard)),
        Err(TrialAbort::Outcome(outcome)) => {
            if !tape.is_replayed() {
                tape.noted(STOPPED, Some(outcome.clone()));
            }
            (outcome, None)
        }
        Err(TrialAbort::NotContinued(_)) => {
            under_way.keep_output()?;
            return Ok(TrialResult::NotContinued);
        }
        Err(TrialAbort::CutOff) => return Ok(TrialResult::CutOff),
        Err(TrialAbort::Sink(error)) => return Err(error),
    };
    // The recorded one was dropped while it was graded.
    if tape.was_cut_off() {
        return Ok(TrialResult::CutOff);
    }
    under_way.keep_output()?;
    match &mut outcome {
        Outcome::PersonaInvalid { error } => {
            let is_stuck = tape.noted(STUCK, engine.stuck_persona.is_stuck(trial));
            if trial.attempt < engine.plan.job.limits.reruns {
                if is_stuck {
                    error.push_str(NOT_HELD_AGAIN);
                } else if engine.exhausted(number, "limit before the conversation is held again").is_none() {
                    let (at, error) = (engine.clock.wall(), error.clone());
                    engine.sink.append(Entry::TrialDiscarded { trial: number, at, error })?;
                    return Ok(TrialResult::Discarded);
                }
            }
        }
        Outcome::Broken { .. } => {}
        _ if trial.case.user.is_persona() => engine.stuck_persona.got_through(trial),
        _ => {}
    }
    engine.sink.append(Entry::TrialFinished { trial: number, at: engine.clock.wall(), outcome, scorecard })?;
    engine.sink.kept(Durability::Machine).await?;
    tape.end();
    Ok(TrialResult::Finished)
}

/// A trial that is under way. When it is dropped too, the agent's output is recorded, and its part of the budget released.
struct Unfinished<'a> {
    engine: &'a Engine,
    tape: &'a Tape,
    number: u32,
    listener: Listener,
    output_is_kept: bool,
}

impl Unfinished<'_> {
    fn keep_output(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.output_is_kept, true) {
            return Ok(());
        }
        match self.tape.noted("output", self.listener.output()) {
            Some(output) => self.engine.sink.append(Entry::AgentOutput { trial: self.number, output }),
            None => Ok(()),
        }
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // A sink that fails now has failed before, or fails at the next entry.
        let _ = self.keep_output();
        self.engine.budget.trial_ended(self.number);
    }
}

async fn attempt(engine: &Engine, trial: &Trial, listener: &Listener) -> Result<(Outcome, Scorecard), TrialAbort> {
    let evidence = match trial.left.as_ref().filter(|left| left.has_ended()) {
        Some(left) => Arc::new(left.evidence.clone()),
        None => Arc::new(conversation(engine, trial, listener).await?),
    };
    let judgements = match engine.plan.is_audit {
        true => Vec::new(),
        false => judge::judge(engine, trial, &evidence).await?,
    };
    let outcome = grade::outcome(&evidence.ending, &judgements, &engine.plan.job);
    let (job, case, clock) = (engine.plan.job.clone(), trial.case.clone(), engine.clock);
    let graded = move || {
        let trial = GradeInput { job: &job, case: &case, evidence: &evidence, clock };
        grade::grade(trial, &judgements)
    };
    Ok((outcome, kept_soon(&*engine.sink, evaluate::off_thread(engine, graded)).await??))
}

/// Sets up what a conversation runs on, and holds it.
async fn conversation(engine: &Engine, trial: &Trial, listener: &Listener) -> Result<Evidence, TrialAbort> {
    let id = &trial.id;
    let mode = if trial.left.is_some() { SetupMode::IsContinued } else { SetupMode::Everything };
    let env = TrialEnv::set_up(engine, trial, mode, listener).await;
    let env = if trial.left.is_some() { env.map_err(TrialAbort::not_continued)? } else { env? };
    let played = play(&env).await;
    if let Some(refusals) = env.tape.noted("refusals", env.limiter.refusals()) {
        engine.sink.append(Entry::AgentRefused { trial: id.number, refusals })?;
    }
    let tape = env.tape.clone();
    env.close().await;
    let evidence = played?;
    if engine.plan.isolation != Isolation::Shared {
        let leak = engine.resources.leak(trial.into(), &evidence);
        let leak = leak.map(|leak| format!("state leaked from {}: {leak}", name(engine, leak.owner.trial)));
        if let Some(leak) = tape.noted("leak", leak) {
            return Err(TrialAbort::broken(leak));
        }
    }
    Ok(evidence)
}

/// The name of a trial for a reader.
fn name(engine: &Engine, number: u32) -> String {
    match engine.plan.trials().nth(number as usize - 1) {
        Some(Trial { id, .. }) => {
            format!("the trial {} {} (repeat {})", id.model, id.condition.label(), id.repeat)
        }
        None => format!("trial {number}"),
    }
}

/// Opens the session of a trial. Returns it with the evidence so far.
async fn open(env: &TrialEnv<'_>) -> Result<(Box<dyn Session>, Evidence), TrialAbort> {
    let (engine, id) = (env.engine, &env.trial.id);
    let seconds = engine.plan.job.limits.trial_seconds;
    let opening = TrialLimit::new(seconds, engine.clock.start(), env.limiter.clone());
    let mut session = opening.within(env.open()).await.unwrap_or_else(|| {
        let what = opening.ran_out_while(match env.limiter.refusals() {
            Some(_) => "the agent refused to open a session (429) because of our other conversations; try target.maxConcurrency",
            None if env.limiter.is_refused_alone() => "the agent refused to open a session (429), with no other conversation open",
            None => "a session was being opened",
        });
        Err(TrialAbort::broken(env.tape.noted("no session", what)))
    })?;
    let session_id = session.id().to_owned();
    let user = env.user.clone();
    if engine.plan.isolation != Isolation::Shared {
        engine.resources.note_session(env.trial.into(), &session_id);
    }
    engine.sink.append(Entry::SessionOpened {
        trial: id.number,
        session_id: session_id.clone(),
        user: user.clone(),
    })?;

    let mut evidence = Evidence::new(session_id, user, id);
    let trouble = observe::look_before(env, session.as_mut(), &mut evidence).await;
    if let (Some(before), Some(empty)) = (&evidence.before, &evidence.empty) {
        engine.sink.append(Entry::LookedBefore { trial: id.number, before: before.clone(), empty: empty.clone() })?;
    }
    if let Some(trouble) = match trouble {
        None => unusable(env, &evidence).await?,
        trouble => trouble,
    } {
        return Err(TrialAbort::broken(trouble));
    }
    Ok((session, evidence))
}

/// Takes up the session of a trial that was cut off. Returns it with the evidence so far.
async fn reopen(env: &TrialEnv<'_>, left: &UnfinishedTrial) -> Result<(Box<dyn Session>, Evidence), TrialAbort> {
    let session = env.reopen(left).await?;
    if env.engine.plan.isolation != Isolation::Shared {
        env.engine.resources.note_session(env.trial.into(), session.id());
    }
    Ok((session, left.evidence.clone()))
}

/// The conversation, and what it left behind.
async fn play(env: &TrialEnv<'_>) -> Result<Evidence, TrialAbort> {
    let (engine, id) = (env.engine, &env.trial.id);
    let (mut session, mut evidence) = match env.trial.left.as_deref() {
        Some(left) => reopen(env, left).await?,
        None => open(env).await?,
    };
    let watch = Watch::before(env, &evidence.session_id).await;
    let reference = env.reference.as_ref().zip(env.trial.case.reference);
    let led = match reference {
        Some((agent, ReferencePart::Leads)) => Some(reference::hold(env, agent, ReferenceLines::OfCase).await?),
        _ => None,
    };
    let lines = match engine.plan.is_audit {
        true => audit::lines(env),
        false => led.as_ref().map(|held| user_messages(&held.transcript)),
    };
    let ended = converse(env, session.as_mut(), watch, lines).await?;
    evidence.transcript = ended.conversation.into_transcript();
    evidence.fact_uses = fact_uses(&env.trial.case, &evidence.transcript);
    evidence.ending = ended.ending;
    evidence.persona_usage = ended.persona_usage;
    evidence.persona_notes = ended.persona_notes;
    evidence.persona_faults = ended.persona_faults;
    evidence.user_tool_calls = ended.user_tool_calls;
    let mut without_reference = None;
    match (reference, led) {
        (Some((agent, ReferencePart::Follows)), _) => {
            let lines = ReferenceLines::Same(user_messages(&evidence.transcript));
            match reference::hold(env, agent, lines).await {
                Ok(held) => evidence.reference = Some(held.transcript),
                // The conversation with the agent under test was run all the same.
                Err(TrialAbort::Outcome(outcome)) => without_reference = Some(outcome),
                Err(sink) => return Err(sink),
            }
        }
        (_, Some(held)) => {
            (evidence.persona_usage, evidence.persona_notes) = (held.persona_usage, held.persona_notes);
            evidence.persona_faults = held.persona_faults;
            evidence.reference = Some(held.transcript);
        }
        (_, None) => {}
    }
    evidence.persona_usage = evidence.persona_usage.plus(env.writer.usage());
    observe::observe(env, session.as_mut(), &mut evidence).await;
    let down = match &evidence.ending {
        Ending::AgentFailed { error } => match excuse(&evidence) {
            Some(excuse) if excuse == descriptors::NONE_LEFT => {
                Some(format!("{excuse}; try {} ({error})", descriptors::HINT))
            }
            Some(excuse) => Some(format!("the agent failed ({error}), and so did what it needs: {excuse}")),
            None => observe::graph_trouble(env)
                .await
                .map(|trouble| format!("the agent failed ({error}), and so did the graph: {trouble}")),
        },
        _ => None,
    };
    // After all observations: no assertion has seen a change that is not recorded.
    let last_turn = evidence.transcript.turns.last().map_or(0, |turn| turn.number);
    evidence.changes = ended.watch.at_end(last_turn).await?;
    engine.sink.append(Entry::ConversationEnded {
        trial: id.number,
        ending: evidence.ending.clone(),
        object_context: evidence.object_context.clone(),
        queries: evidence.queries.clone(),
        changes: evidence.changes.clone(),
        persona_usage: evidence.persona_usage,
        persona_notes: evidence.persona_notes.clone(),
        fact_uses: evidence.fact_uses.clone(),
    })?;
    // It is unknown who failed, and the agent is not blamed for a database that is gone.
    match (down, without_reference) {
        (Some(error), _) => Err(TrialAbort::broken(error)),
        (None, Some(outcome)) => Err(TrialAbort::Outcome(outcome)),
        (None, None) => Ok(evidence),
    }
}

/// When each fact of a case was asked for and released in a conversation about it; `None` where it has none.
pub fn fact_uses(case: &Case, transcript: &Transcript) -> Option<Vec<FactUse>> {
    let tasks: Vec<&str> = case.tasks.iter().map(|task| task.task.as_str()).collect();
    let facts: Vec<&str> = case.facts.iter().map(String::as_str).collect();
    (!facts.is_empty()).then(|| guard::fact_uses(&tasks, &facts, transcript))
}

/// The user's messages of a conversation.
fn user_messages(transcript: &Transcript) -> Vec<String> {
    transcript.turns.iter().filter(|turn| !turn.is_greeting()).map(|turn| turn.user.clone()).collect()
}

/// The reason why an assertion can't be evaluated, as far as that is known before the first turn.
async fn unusable(env: &TrialEnv<'_>, evidence: &Evidence) -> Result<Option<String>, TrialAbort> {
    // Assertions on nothing but the conversation were tried when the run was planned.
    if evidence.before.as_ref().is_none_or(|before| before.queries.is_empty() && before.object_context.is_none()) {
        return Ok(None);
    }
    let (job, case) = (env.engine.plan.job.clone(), env.trial.case.clone());
    let (clock, evidence) = (env.engine.clock, evidence.clone());
    let look = move || grade::unusable(GradeInput { job: &job, case: &case, evidence: &evidence, clock });
    evaluate::off_thread(env.engine, look).await
}

/// The outage that excuses the failure of the last turn.
fn excuse(evidence: &Evidence) -> Option<&str> {
    let last = evidence.transcript.turns.last()?;
    last.failures.iter().rev().find_map(|failed| failed.excuse.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a function's future.
    fn size<'a, F>(_: impl Fn(&'a Engine, &'a Trial) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_trial_that_waits_holds_little_beside_its_evidence() {
        assert!(size(run_trial) < 16 << 10, "{} bytes", size(run_trial));
    }
}
