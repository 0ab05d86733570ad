//! Runs lanes side by side, in the order in which they come.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::trial::run_trial;
use crate::clock::Stopwatch;
use crate::plan::{Lane, Trial};

/// `limits.time`, as it runs down.
pub(super) struct TimeLimit {
    seconds: Option<f64>,
    since: Stopwatch,
}

impl TimeLimit {
    pub(super) fn new(seconds: Option<f64>, since: Stopwatch) -> TimeLimit {
        TimeLimit { seconds, since }
    }

    fn left(&self) -> Option<Duration> {
        self.seconds.map(|seconds| Duration::from_secs_f64((seconds - self.since.elapsed_ms() / 1000.0).max(0.0)))
    }

    /// Whether it has run out.
    pub(super) fn is_up(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// Waits until it has run out; for ever where there is none.
    pub(super) async fn ran_out(&self) {
        match self.left() {
            Some(left) => tokio::time::sleep(left).await,
            None => std::future::pending().await,
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limits.time ({} s) ran out", self.seconds.unwrap_or_default())
    }
}

/// Runs these lanes, as many at once as allowed, until all are finished, the user interrupts or the time is up. Returns whether
/// every trial was finished.
///
/// # Errors
/// Those of the sink.
pub(super) async fn carry_out(
    engine: &Arc<Engine>,
    mut lanes: impl Iterator<Item = Lane>,
    interrupt: &CancellationToken,
    time: &TimeLimit,
) -> io::Result<bool> {
    let slots = Arc::new(Semaphore::new(engine.max_concurrency.max(1)));
    let mut next = next_lane(&mut lanes);
    let mut running: JoinSet<io::Result<bool>> = JoinSet::new();
    let (mut whole, mut failure) = (true, None);
    let stopped = async {
        tokio::select! {
            () = interrupt.cancelled() => {}
            () = time.ran_out() => {}
        }
    };
    tokio::pin!(stopped);
    let mut is_stopped = false;
    while next.is_some() || !running.is_empty() {
        let first = next.as_ref().map(|(first, _)| (first.id.number, first.together));
        tokio::select! {
            biased;
            () = &mut stopped, if !is_stopped => {
                // Cancels whatever they wait for.
                running.abort_all();
                is_stopped = true;
                whole &= next.take().is_none();
            }
            Some(over) = running.join_next() => match over {
                Ok(Ok(lane_is_whole)) => whole &= lane_is_whole,
                Err(error) if error.is_cancelled() => whole = false,
                over => {
                    let internal = |panic| Err(io::Error::other(format!("eval-job itself failed: {panic}")));
                    failure = failure.or(over.unwrap_or_else(internal).err());
                    // The entries of the other lanes could not be kept either.
                    running.abort_all();
                    next = None;
                }
            },
            slot = slot_for(engine, first.unwrap_or_default(), &slots), if first.is_some() => match (slot, next.take()) {
                (Some(slot), Some((first, rest))) => {
                    running.spawn(run_lane(engine.clone(), first, rest, slot));
                    next = next_lane(&mut lanes);
                }
                // A lane that can't begin now is not overtaken by a later one.
                _ => whole = false,
            },
        }
    }
    failure.map_or(Ok(whole), Err)
}

/// The first trial of the next lane, and the rest of it.
fn next_lane(lanes: &mut impl Iterator<Item = Lane>) -> Option<(Trial, Lane)> {
    lanes.find_map(|mut lane| Some((lane.next()?, lane)))
}

/// Waits until the first trial of a lane may begin; `None` if it may not.
async fn slot_for(
    engine: &Engine,
    (first, together): (u32, u32),
    slots: &Arc<Semaphore>,
) -> Option<OwnedSemaphorePermit> {
    let slot = slots.clone().acquire_owned().await.ok()?;
    engine.budget.admits(first, together).await.then_some(slot)
}

/// Runs a lane, of which the first trial may begin. Returns whether every trial was finished.
async fn run_lane(engine: Arc<Engine>, first: Trial, rest: Lane, _slot: OwnedSemaphorePermit) -> io::Result<bool> {
    run_trial(&engine, &first).await?;
    for trial in rest {
        if !engine.budget.admits(trial.id.number, trial.together).await {
            return Ok(false);
        }
        run_trial(&engine, &trial).await?;
    }
    Ok(true)
}
