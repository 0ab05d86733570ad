//! Lanes side by side, begun in the order of the plan.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::trial::{keep_output, run_trial};
use crate::agent::managed::Listener;
use crate::plan::Trial;

/// What ends a run before its time.
#[derive(Clone)]
pub(super) struct Limits {
    /// Its user.
    pub(super) interrupt: CancellationToken,
    /// `limits.time`.
    pub(super) time: TimeLimit,
}

impl Limits {
    async fn reached(&self) {
        tokio::select! {
            () = self.interrupt.cancelled() => {}
            () = self.time.up.cancelled() => {}
        }
    }
}

/// `limits.time`, as it runs down.
#[derive(Clone)]
pub(super) struct TimeLimit {
    seconds: Option<f64>,
    up: CancellationToken,
    watch: AbortHandle,
}

impl TimeLimit {
    /// Begins now, with so much of it spent.
    pub(super) fn of(seconds: Option<f64>, spent_ms: f64) -> TimeLimit {
        let up = CancellationToken::new();
        let token = up.clone();
        let watch = tokio::spawn(async move {
            let Some(seconds) = seconds else { return };
            tokio::time::sleep(Duration::from_secs_f64((seconds - spent_ms / 1000.0).max(0.0))).await;
            token.cancel();
        });
        TimeLimit { seconds, up, watch: watch.abort_handle() }
    }

    /// Whether it has run out.
    pub(super) fn is_up(&self) -> bool {
        self.up.is_cancelled()
    }

    /// The run is over.
    pub(super) fn stop(&self) {
        self.watch.abort();
    }

    /// That it ran out, in a sentence.
    pub(super) fn words(&self) -> String {
        format!("limits.time ({} s) ran out", self.seconds.unwrap_or_default())
    }
}

/// Runs all lanes, as many at once as may be. Whether every trial came to its end.
///
/// # Errors
/// What the sink says.
pub(super) async fn carry_out(engine: &Arc<Engine>, limits: &Limits) -> io::Result<bool> {
    let slots = Arc::new(Semaphore::new(engine.max_concurrency.max(1)));
    let mut to_come = engine.plan.lanes.clone().into_iter().peekable();
    let mut running: JoinSet<io::Result<bool>> = JoinSet::new();
    let mut whole = true;
    let mut failure = None;
    loop {
        let next = to_come.peek().and_then(|lane| lane.first()).filter(|_| failure.is_none());
        tokio::select! {
            biased;
            Some(over) = running.join_next(), if !running.is_empty() => {
                let internal = |panic| Err(io::Error::other(format!("eval-job itself failed: {panic}")));
                match over.unwrap_or_else(internal) {
                    Ok(lane_is_whole) => whole &= lane_is_whole,
                    Err(error) => {
                        // Whatever the other lanes have in flight could not be kept either.
                        running.abort_all();
                        failure.get_or_insert(error);
                    }
                }
            }
            slot = slot_for(engine, next, &slots, limits), if next.is_some() => match (slot, to_come.next()) {
                (Some(slot), Some(lane)) => {
                    running.spawn(run_lane(engine.clone(), lane, slot, limits.clone()));
                }
                // What can't begin now, nothing that comes later may overtake.
                _ => {
                    whole = false;
                    to_come = Vec::new().into_iter().peekable();
                }
            },
            else => break,
        }
    }
    failure.map_or(Ok(whole), Err)
}

/// Waits until a lane may begin, which is when its first trial may; `None` if it may not.
async fn slot_for(
    engine: &Engine,
    first: Option<&Trial>,
    slots: &Arc<Semaphore>,
    limits: &Limits,
) -> Option<OwnedSemaphorePermit> {
    let first = first?;
    let admitted = async {
        let slot = slots.clone().acquire_owned().await.ok()?;
        engine.edges.budget.admits(first.id.number).await.then_some(slot)
    };
    tokio::select! {
        biased;
        () = limits.reached() => None,
        slot = admitted => slot,
    }
}

/// Runs a lane whose first trial may begin. Whether every trial of it came to its end.
async fn run_lane(
    engine: Arc<Engine>,
    lane: Vec<Trial>,
    _slot: OwnedSemaphorePermit,
    limits: Limits,
) -> io::Result<bool> {
    for (place, trial) in lane.iter().enumerate() {
        let listener = Listener::default();
        // Dropping a trial's future cancels whatever it waits for.
        let result = tokio::select! {
            biased;
            () = limits.reached() => {
                keep_output(&engine, &trial.id, &listener)?;
                return Ok(false);
            }
            result = admit_and_run(&engine, trial, &listener, place == 0) => result,
        };
        engine.edges.budget.is_over(trial.id.number);
        if !result? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs a trial if it may begin; whether it did.
async fn admit_and_run(engine: &Engine, trial: &Trial, listener: &Listener, is_admitted: bool) -> io::Result<bool> {
    if !is_admitted && !engine.edges.budget.admits(trial.id.number).await {
        return Ok(false);
    }
    run_trial(engine, trial, listener).await?;
    Ok(true)
}
