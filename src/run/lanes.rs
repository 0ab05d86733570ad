//! Runs lanes side by side, in the order in which they come.

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
    needs: Mutex<TimeNeeds>,
}

/// The time that conversations take.
#[derive(Default)]
struct TimeNeeds {
    /// The longest conversation so far, in seconds.
    longest: f64,
    /// How many of the conversations that are compared with the last admitted one may begin with it.
    with_it: u32,
    /// How many conversations, which are compared with each other, had no room any more.
    left_out: Option<u32>,
}

impl TimeLimit {
    pub(super) fn new(seconds: Option<f64>, since: Stopwatch) -> TimeLimit {
        TimeLimit { seconds, since, needs: Mutex::default() }
    }

    /// Whether a trial may begin with those that are compared with it, so many `together`, as many `at_once` as may be. It may
    /// not where they would not end in time if each took as long as the longest so far: then none of them is run, so that
    /// models and conditions stay in step.
    fn admits(&self, together: u32, at_once: usize) -> bool {
        let Some(left) = self.left() else { return true };
        let mut needs = self.needs();
        if together == 1 && needs.with_it > 0 {
            needs.with_it -= 1;
            return true;
        }
        let rounds = (together as usize).div_ceil(at_once.max(1));
        let has_room = needs.left_out.is_none() && needs.longest * rounds as f64 <= left.as_secs_f64();
        match has_room {
            true => needs.with_it = together - 1,
            false => drop(needs.left_out.get_or_insert(together)),
        }
        has_room
    }

    /// A conversation was run, and took so long.
    fn took(&self, milliseconds: f64) {
        let mut needs = self.needs();
        needs.longest = needs.longest.max(milliseconds / 1000.0);
    }

    fn needs(&self) -> MutexGuard<'_, TimeNeeds> {
        self.needs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn left(&self) -> Option<Duration> {
        self.seconds.map(|seconds| Duration::from_secs_f64((seconds - self.since.elapsed_ms() / 1000.0).max(0.0)))
    }

    /// Whether it has run out, or has no room for what would come next.
    pub(super) fn is_up(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero()) || self.needs().left_out.is_some()
    }

    /// Waits until it has run out; for ever where there is none.
    pub(super) async fn ran_out(&self) {
        if self.seconds.is_none() {
            return std::future::pending().await;
        }
        // A pause of this process is none of its time, and the timer knows none.
        while let Some(left) = self.left().filter(|left| !left.is_zero()) {
            tokio::time::sleep(left).await;
        }
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, needs) = (self.seconds.unwrap_or_default(), self.needs());
        match needs.left_out {
            None => write!(f, "limits.time ({seconds} s) ran out"),
            Some(1) => write!(
                f,
                "limits.time ({seconds} s) has no room for the next conversation: the longest took {:.1} s",
                needs.longest
            ),
            Some(together) => write!(
                f,
                "limits.time ({seconds} s) has no room for the next {together} conversations, which are compared with each \
                 other: the longest took {:.1} s",
                needs.longest
            ),
        }
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
    time: &Arc<TimeLimit>,
) -> io::Result<bool> {
    let slots = Arc::new(Semaphore::new(engine.max_concurrency.max(1)));
    // Trials that share state are all in one lane.
    let at_once = if engine.plan.lane_count() > 1 { engine.max_concurrency } else { 1 };
    let mut next = next_lane(&mut lanes);
    let mut running: JoinSet<io::Result<bool>> = JoinSet::new();
    let (mut whole, mut failure) = (true, None);
    let stopped = async {
        tokio::select! {
            () = interrupt.cancelled() => {}
            () = time.ran_out() => engine.cassette.cut_off(),
        }
    };
    tokio::pin!(stopped);
    let mut is_stopped = false;
    while next.is_some() || !running.is_empty() {
        let first = next.as_ref().map(|(first, _)| first.clone());
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
            slot = slot_for(engine, first.as_ref(), &slots), if first.is_some() => match (slot, next.take()) {
                (Some(slot), Some((first, rest))) if time.admits(first.together, at_once) => {
                    running.spawn(run_lane(engine.clone(), first, rest, time.clone(), slot));
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
async fn slot_for(engine: &Engine, first: Option<&Trial>, slots: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    let (first, slot) = (first?, slots.clone().acquire_owned().await.ok()?);
    engine.admits(first).await.then_some(slot)
}

/// Runs a lane, of which the first trial may begin. Returns whether every trial was finished.
async fn run_lane(
    engine: Arc<Engine>,
    first: Trial,
    rest: Lane,
    time: Arc<TimeLimit>,
    _slot: OwnedSemaphorePermit,
) -> io::Result<bool> {
    let mut began = engine.clock.start();
    if !run_trial(&engine, &first).await? {
        return Ok(false);
    }
    for trial in rest {
        time.took(began.elapsed_ms());
        if !time.admits(trial.together, 1) || !engine.admits(&trial).await {
            return Ok(false);
        }
        began = engine.clock.start();
        if !run_trial(&engine, &trial).await? {
            return Ok(false);
        }
    }
    time.took(began.elapsed_ms());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    #[test]
    fn conversations_that_are_compared_begin_only_while_all_of_them_can_be_held() {
        let time = TimeLimit::new(Some(100.0), Clock::system().start());
        assert!(time.admits(4, 1), "nothing is known yet");
        time.took(30_000.0);
        time.took(20_000.0);
        assert!(time.admits(1, 1) && time.admits(1, 1) && time.admits(1, 1), "the rest of the four");
        assert!(time.admits(1, 1) && time.admits(4, 2) && time.admits(3, 1));
        assert!(time.admits(1, 1) && time.admits(1, 1), "the rest of the three");
        assert!(!time.is_up() && time.to_string() == "limits.time (100 s) ran out");
        assert!(!time.admits(4, 1), "120 s would be needed");
        assert!(time.is_up() && !time.admits(2, 1), "nothing overtakes them");
        let text = time.to_string();
        assert!(text.contains("no room for the next 4 conversations, which") && text.ends_with("30.0 s"), "{text}");
        assert!(TimeLimit::new(None, Clock::system().start()).admits(1000, 1));
    }
}
