//! A plan, carried out: lanes side by side, each trial top to bottom.
//!
//! Invariants: what happened is handed to the sink before whatever comes after it begins; nothing in here prints, knows
//! a folder or reads the environment.

mod metered_call;
mod budget;
mod resources;
mod concurrency;
mod contamination;
mod edges;
mod evaluate;
mod trial_graph;
mod hint;
mod judge;
mod lanes;
mod managed;
mod models;
mod observe;
mod persona;
mod preflight;
mod prepare;
mod probe;
mod provenance;
mod live_check;
mod sink;
mod talk;
mod trial;
mod trial_limit;
mod turn;
mod watch;

use std::io;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::record::{Entry, FORMAT_VERSION, Provenance};
use crate::score::Outcome;
use lanes::{Limits, TimeLimit};

pub use concurrency::{AtOnce, at_once};
pub use edges::{Credentials, Edges, RunDeps, neo4j_connection};
pub use hint::hint;
pub use live_check::{AssertionPlace, LiveCheck, live_check};
pub use preflight::{KeyCheck, Preflight, Trouble, missing_program, preflight};
pub use probe::{ProbeError, ProbeReport, probe};
pub use provenance::{provenance, without_user};
pub use sink::{Durability, Sink};

/// Numbers that nobody can foresee, of 53 bits each.
pub type RandomSource = dyn Fn() -> u64 + Send + Sync;

/// Everything that carrying out a plan needs.
pub struct Engine {
    /// The run's id.
    pub id: String,
    /// What is carried out.
    pub plan: crate::plan::Plan,
    /// The prompts.
    pub templates: crate::prompt::Templates,
    /// The clients of agents, models and graphs.
    pub edges: Edges,
    /// The clock.
    pub clock: crate::clock::Clock,
    /// The seed of every random choice.
    pub rng_seed: u64,
    /// How many lanes run at once, 1 or more.
    pub max_concurrency: usize,
    /// Where everything goes.
    pub sink: Arc<dyn Sink>,
}

/// Keeps a run of which no conversation could begin, for these reasons: each is broken, and nothing was asked of anybody.
///
/// # Errors
/// What the sink says.
pub async fn refuse(engine: Arc<Engine>, provenance: Provenance, troubles: &[Trouble]) -> io::Result<()> {
    begin(&engine, provenance).await?;
    let error = troubles.iter().map(ToString::to_string).collect::<Vec<_>>().join("; and ");
    for planned in engine.plan.trials() {
        let (trial, outcome) = (planned.id.number, Outcome::Broken { error: error.clone() });
        engine.sink.append(Entry::TrialStarted { trial, at: engine.clock.wall() })?;
        engine.sink.append(Entry::TrialFinished { trial, at: engine.clock.wall(), outcome, scorecard: None })?;
    }
    engine.edges.close().await;
    finish(&engine, false).await
}

async fn begin(engine: &Engine, provenance: Provenance) -> io::Result<()> {
    engine.sink.append(Entry::RunStarted {
        version: FORMAT_VERSION,
        id: engine.id.clone(),
        at: engine.clock.wall(),
        provenance: Box::new(provenance),
        job: serde_json::to_value(&*engine.plan.job).ok().map(Box::new),
        trials: engine.plan.trials().into_iter().map(|trial| trial.id.clone()).collect(),
    })?;
    engine.sink.kept(Durability::Machine).await
}

/// Carries out a plan. Returns whether it was interrupted.
///
/// # Errors
/// Only what the sink says: everything else is an outcome.
pub async fn run(engine: Arc<Engine>, provenance: Provenance, interrupt: CancellationToken) -> io::Result<bool> {
    begin(&engine, provenance).await?;
    let limits =
        Limits { interrupt, time: TimeLimit::of(engine.plan.job.limits.run_seconds, engine.edges.since.elapsed_ms()) };
    let carried_out = lanes::carry_out(&engine, &limits).await;
    limits.time.stop();
    engine.edges.close().await;
    let whole = carried_out?;
    let interrupted = limits.interrupt.is_cancelled();
    let limit_exceeded =
        engine.edges.budget.spend_tracker.limit_exceeded().map(|limit_exceeded| limit_exceeded.to_string());
    let out_of_time = (!whole && limits.time.is_up()).then(|| limits.time.words());
    if let Some(why) = out_of_time.or(limit_exceeded) {
        engine.sink.append(Entry::LimitReached { at: engine.clock.wall(), why })?;
    }
    finish(&engine, interrupted).await?;
    Ok(interrupted)
}

async fn finish(engine: &Engine, interrupted: bool) -> io::Result<()> {
    engine.sink.append(Entry::RunFinished { at: engine.clock.wall(), interrupted })?;
    engine.sink.kept(Durability::Machine).await
}
