//! One trial, top to bottom.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::prepare::{SetupMode, TrialEnv};
use super::talk::converse;
use super::watch::Watch;
use super::{Durability, Engine, evaluate, judge, observe, prepare};
use crate::agent::managed::Listener;
use crate::descriptors;
use crate::evidence::{Ending, Evidence, Judgement, Observed, TrialId};
use crate::grade::{self, GradeInput};
use crate::job::Isolation;
use crate::plan::Trial;
use crate::record::Entry;
use crate::score::{Outcome, Scorecard};

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
pub(super) async fn run_trial(engine: &Engine, trial: &Trial, listener: &Listener) -> io::Result<()> {
    let id = &trial.id;
    engine.sink.append(Entry::TrialStarted { trial: id.number, at: engine.clock.wall() })?;
    engine.sink.kept(Durability::Process).await?;
    let (outcome, scorecard) = match attempt(engine, trial, listener).await {
        Ok((outcome, scorecard)) => (outcome, Some(scorecard)),
        Err(Stop::Outcome(outcome)) => (outcome, None),
        Err(Stop::Sink(error)) => return Err(error),
    };
    keep_output(engine, id, listener)?;
    engine.sink.append(Entry::TrialFinished { trial: id.number, at: engine.clock.wall(), outcome, scorecard })?;
    engine.sink.kept(Durability::Machine).await
}

/// Tells the sink what the agent printed. Also for a trial that is cut off, once and before anything else is told of it.
pub(super) fn keep_output(engine: &Engine, id: &TrialId, listener: &Listener) -> io::Result<()> {
    match listener.heard() {
        Some(output) => engine.sink.append(Entry::AgentOutput { trial: id.number, output }),
        None => Ok(()),
    }
}

async fn attempt(engine: &Engine, trial: &Trial, listener: &Listener) -> Result<(Outcome, Scorecard), Stop> {
    let id = &trial.id;
    let stage = prepare::prepare(engine, trial, (SetupMode::Everything, listener)).await?;
    let played = play(engine, trial, &stage).await;
    if let Some(refusals) = stage.limiter.refusals() {
        engine.sink.append(Entry::AgentRefused { trial: id.number, refusals })?;
    }
    stage.close(engine).await;
    let evidence = Arc::new(played?);
    if engine.plan.isolation != Isolation::Shared
        && let Some(leak) = engine.edges.resources.leak(id, &evidence)
    {
        return Err(Stop::broken(leak));
    }
    let judgements = judge::judge(engine, trial, &evidence).await?;
    for judgement in &judgements {
        engine.sink.append(Entry::Judged { trial: id.number, judgement: judgement.clone() })?;
    }
    let outcome = outcome(&evidence.ending, &judgements);
    let (job, case, clock) = (engine.plan.job.clone(), trial.case.clone(), engine.clock);
    let graded = move || {
        let trial = GradeInput { job: &job, case: &case, evidence: &evidence, clock };
        grade::grade(trial, &judgements)
    };
    Ok((outcome, evaluate::off_thread(engine, graded).await?))
}

/// The conversation, and what it left behind.
async fn play(engine: &Engine, trial: &Trial, stage: &TrialEnv) -> Result<Evidence, Stop> {
    let id = &trial.id;
    let seconds = engine.plan.job.limits.trial_seconds;
    let mut session =
        tokio::time::timeout(Duration::from_secs_f64(seconds), stage.open(engine)).await.unwrap_or_else(|_| {
            Err(Stop::broken(format!(
                "the conversation's time limit of {seconds} s (limits.trial) ran out while a session was being opened"
            )))
        })?;
    let session_id = session.id().to_owned();
    let user = stage.user.clone();
    engine.edges.resources.session_opened(id, &session_id);
    engine.sink.append(Entry::SessionOpened {
        trial: id.number,
        session_id: session_id.clone(),
        user: user.clone(),
    })?;

    let mut evidence = Evidence::of_session(session_id, user, id);
    let trouble = observe::look_before(engine, trial, stage, session.as_mut(), &mut evidence).await;
    if let (Some(before), Some(empty)) = (&evidence.before, &evidence.empty) {
        engine.sink.append(Entry::LookedBefore { trial: id.number, before: before.clone(), empty: empty.clone() })?;
    }
    if let Some(trouble) = match trouble {
        None => unusable(engine, trial, &evidence).await?,
        trouble => trouble,
    } {
        return Err(Stop::broken(trouble));
    }
    let mut watch = Watch::before(engine, id, stage, &evidence.session_id).await;

    let talk = converse(engine, trial, session.as_mut(), (&mut watch, stage)).await?;
    evidence.transcript = talk.conversation.into_transcript();
    evidence.ending = talk.ending;
    evidence.persona_usage = talk.persona_usage;
    evidence.persona_notes = talk.persona_notes;
    observe::observe(engine, trial, stage, session.as_mut(), &mut evidence).await;
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
    engine.sink.append(Entry::ConversationEnded {
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

/// Why an assertion can't be told, as far as what is there before the first word shows.
async fn unusable(engine: &Engine, trial: &Trial, evidence: &Evidence) -> Result<Option<String>, Stop> {
    // What looks at nothing but the conversation was tried when the run was planned.
    if evidence.before.as_ref().is_none_or(|before| before.queries.is_empty() && before.object_context.is_none()) {
        return Ok(None);
    }
    let (job, case, clock, evidence) = (engine.plan.job.clone(), trial.case.clone(), engine.clock, evidence.clone());
    let look = move || grade::unusable(GradeInput { job: &job, case: &case, evidence: &evidence, clock });
    evaluate::off_thread(engine, look).await
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
