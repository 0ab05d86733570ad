//! Times in which this process did not run: it was stopped (Ctrl-Z, SIGSTOP), or its container was frozen. They are nobody's but ours.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

/// How often it is looked whether the process still runs.
const TICK: Duration = Duration::from_millis(200);

/// From this delay of a tick on the process was stopped: a machine under load delays it by less.
const LEAST: Duration = Duration::from_secs(2);

/// For so long after a pause a time limit may run out because of it: limits go on meanwhile.
const AFTERWARDS: Duration = Duration::from_secs(300);

#[derive(Debug, Clone, Copy)]
struct PauseDetector {
    last: Instant,
    /// When the last pause ended.
    ended: Option<Instant>,
    /// How long all pauses were.
    total: Duration,
}

static TICKS: Mutex<Option<PauseDetector>> = Mutex::new(None);

/// Whether anybody looks.
static IS_WATCHED: AtomicBool = AtomicBool::new(false);

/// Looks for pauses from now on, in a thread of its own.
pub fn watch_for_pauses() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        tick(now());
        let watch = || loop {
            std::thread::sleep(TICK);
            tick(now());
        };
        // Without it a pause counts as time.
        let watched = std::thread::Builder::new().name("pauses".to_owned()).spawn(watch);
        IS_WATCHED.store(watched.is_ok(), Ordering::Relaxed);
    });
}

/// Whether this process was stopped so lately that a time limit may have run out because of it.
pub fn was_paused_lately() -> bool {
    let now = now();
    tick_if_late(now)
        .and_then(|ticks| ticks.ended)
        .is_some_and(|ended| now.saturating_duration_since(ended) < AFTERWARDS)
}

/// How long this process was stopped, since it is looked for that.
pub(super) fn total() -> Duration {
    tick_if_late(now()).map_or(Duration::ZERO, |ticks| ticks.total)
}

#[expect(clippy::disallowed_methods, reason = "of the one place")]
fn now() -> Instant {
    Instant::now()
}

/// The ticks, with one more where the thread has not come to it yet.
fn tick_if_late(now: Instant) -> Option<PauseDetector> {
    if !IS_WATCHED.load(Ordering::Relaxed) {
        return None;
    }
    let ticks = *TICKS.lock().unwrap_or_else(PoisonError::into_inner);
    match ticks.filter(|ticks| now.saturating_duration_since(ticks.last) >= LEAST) {
        Some(_) => Some(tick(now)),
        None => ticks,
    }
}

fn tick(now: Instant) -> PauseDetector {
    let mut ticks = TICKS.lock().unwrap_or_else(PoisonError::into_inner);
    let next = ticks.map_or(PauseDetector { last: now, ended: None, total: Duration::ZERO }, |ticks| ticks.after(now));
    *ticks.insert(next)
}

impl PauseDetector {
    /// The ticks after one more.
    fn after(self, now: Instant) -> PauseDetector {
        let late = now.saturating_duration_since(self.last);
        match late >= LEAST {
            true => PauseDetector { last: now, ended: Some(now), total: self.total + late.saturating_sub(TICK) },
            false => PauseDetector { last: now.max(self.last), ..self },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_that_comes_late_is_the_end_of_a_pause() {
        let start = now();
        let after = |ticks: PauseDetector, ms| ticks.after(ticks.last + Duration::from_millis(ms));
        let ticks = PauseDetector { last: start, ended: None, total: Duration::ZERO };
        let ticks = after(after(ticks, 200), 1900);
        assert_eq!((ticks.ended, ticks.total), (None, Duration::ZERO), "a busy machine is no pause");
        let ticks = after(ticks, 6200);
        assert_eq!((ticks.ended, ticks.total), (Some(ticks.last), Duration::from_secs(6)));
        let ticks = after(after(ticks, 200), 3200);
        assert_eq!((ticks.ended, ticks.total), (Some(ticks.last), Duration::from_secs(9)));
        let earlier = ticks.after(start);
        assert_eq!(earlier.last, ticks.last, "another thread looked later");
    }
}
