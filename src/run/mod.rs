//! A plan, carried out: lanes side by side, each trial top to bottom.
//!
//! Invariants: what happened is handed to the sink before whatever comes after it begins; nothing in here prints, knows
//! a folder or reads the environment.

mod asking;
mod budget;
mod commons;
mod contamination;
mod edges;
mod ground;
mod judge;
mod managed;
mod models;
mod observe;
mod persona;
mod prepare;
mod probe;
mod provenance;
mod rehearse;
mod trial;
mod watch;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::agent::managed::Listener;
use crate::evidence::TrialId;
use crate::record::{Entry, FORMAT_VERSION, Provenance};

pub use edges::{Credentials, Edges, Means, neo4j_connection};
pub use probe::{ProbeError, Sighting, probe};
pub use provenance::{provenance, without_user};
pub use rehearse::{Rehearsal, rehearse};

/// Takes what happened, as it happens. An error ends the run: nothing goes on that can't be kept.
pub type Sink = dyn Fn(Entry) -> io::Result<()> + Send + Sync;

/// Numbers that nobody can foresee, of 53 bits each.
pub type Chance = dyn Fn() -> u64 + Send + Sync;

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
    pub sink: Box<Sink>,
}

/// Carries out a plan. Returns whether it was interrupted.
///
/// # Errors
/// Only what the sink says: everything else is an outcome.
pub async fn run(engine: Arc<Engine>, provenance: Provenance, interrupt: CancellationToken) -> io::Result<bool> {
    (engine.sink)(Entry::RunStarted {
        version: FORMAT_VERSION,
        id: engine.id.clone(),
        at: engine.clock.wall(),
        provenance: Box::new(provenance),
        trials: engine.plan.trials(),
    })?;
    let time = TimeLimit::of(&engine);
    let slots = Arc::new(Semaphore::new(engine.max_concurrency.max(1)));
    let mut lanes = JoinSet::new();
    for lane in engine.plan.lanes.clone() {
        let limits = (interrupt.clone(), time.up.clone());
        lanes.spawn(run_lane(engine.clone(), lane, slots.clone(), limits));
    }
    let mut failure = None;
    while let Some(lane) = lanes.join_next().await {
        let result = lane.unwrap_or_else(|panic| Err(io::Error::other(format!("eval-job itself failed: {panic}"))));
        if let Err(error) = result {
            // Whatever the other lanes have in flight could not be kept either.
            lanes.abort_all();
            failure.get_or_insert(error);
        }
    }
    time.watch.abort();
    engine.edges.close().await;
    if let Some(error) = failure {
        return Err(error);
    }
    let interrupted = interrupt.is_cancelled();
    let shortfall = engine.edges.budget.purse.shortfall().map(|shortfall| shortfall.to_string());
    if let Some(why) = time.up.is_cancelled().then(|| time.words()).or(shortfall) {
        (engine.sink)(Entry::LimitReached { at: engine.clock.wall(), why })?;
    }
    (engine.sink)(Entry::RunFinished { at: engine.clock.wall(), interrupted })?;
    Ok(interrupted)
}

async fn run_lane(
    engine: Arc<Engine>,
    lane: Vec<TrialId>,
    slots: Arc<Semaphore>,
    (interrupt, time_up): (CancellationToken, CancellationToken),
) -> io::Result<()> {
    let Ok(_slot) = slots.acquire().await else { return Ok(()) };
    for id in lane {
        let listener = Listener::default();
        // Dropping a trial's future cancels whatever it waits for.
        let result = tokio::select! {
            biased;
            () = interrupt.cancelled() => return trial::keep_output(&engine, &id, &listener),
            () = time_up.cancelled() => return trial::keep_output(&engine, &id, &listener),
            result = admit_and_run(&engine, &id, &listener) => result,
        };
        engine.edges.budget.is_over(id.number);
        if !result? {
            return Ok(());
        }
    }
    Ok(())
}

/// Runs a trial if it can be paid; whether it could.
async fn admit_and_run(engine: &Engine, id: &TrialId, listener: &Listener) -> io::Result<bool> {
    if !engine.edges.budget.admits(id.number).await {
        return Ok(false);
    }
    trial::run_trial(engine, id, listener).await?;
    Ok(true)
}

/// `limits.time`, as it runs down.
struct TimeLimit {
    seconds: Option<f64>,
    up: CancellationToken,
    watch: AbortHandle,
}

impl TimeLimit {
    /// Begins now.
    fn of(engine: &Engine) -> TimeLimit {
        let seconds = engine.plan.job.limits.run.seconds;
        let up = CancellationToken::new();
        let token = up.clone();
        let watch = tokio::spawn(async move {
            let Some(seconds) = seconds else { return };
            tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            token.cancel();
        });
        TimeLimit { seconds, up, watch: watch.abort_handle() }
    }

    fn words(&self) -> String {
        format!("limits.time ({} s) ran out", self.seconds.unwrap_or_default())
    }
}
