//! Replays one trial.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Notify;

use super::difference::nearest;
use super::kept::{KeptEntries, KeptEntry};
use super::line::{Exchange, Party};
use super::reading::{TrialExchanges, digest};
use super::recorder::{CUT_OFF, KEPT, cleared_request};
use super::tape::{RequestOutcome, Stopped};
use super::{CassetteError, UnrecordedError};
use crate::secret::Redactor;

/// The longest time without any progress for which a trial that has reached where it was cut off is left to come to all that was kept.
const LAST_ANSWERS: Duration = Duration::from_secs(2);

/// Called with the number of exchanges that were not replayed, where there are some.
type OnUnusedExchanges = dyn FnOnce(usize) + Send + Sync;

/// Replays one trial.
pub struct TrialReplay {
    path: PathBuf,
    tracks: Result<Mutex<TrialExchanges>, UnrecordedError>,
    attempt: AtomicU32,
    redactor: Redactor,
    stopped: Mutex<Option<Stopped>>,
    is_stopped: Notify,
    /// Whether the exchange that was replayed last is one that the time limit of the run has cut off.
    last_is_cut_off: AtomicBool,
    /// Whether the trial has come to where that limit has cut it off; what it asked for at the same time may still be answered.
    has_reached_cut_off: AtomicBool,
    /// The entries that were kept of it until then; `None` of one that was not cut off, and in recordings of earlier versions.
    all_kept: Option<KeptEntries>,
    /// Those that are kept now.
    kept: Mutex<KeptEntries>,
    left_over: Option<Box<OnUnusedExchanges>>,
}

impl TrialReplay {
    pub(super) fn new(
        path: PathBuf,
        tracks: Result<TrialExchanges, UnrecordedError>,
        redactor: Redactor,
        left_over: Box<OnUnusedExchanges>,
    ) -> TrialReplay {
        let all_kept = tracks.as_ref().ok().and_then(|tracks| tracks.note_of_any(KEPT)).cloned();
        TrialReplay {
            all_kept: all_kept.and_then(|kept| serde_json::from_value(kept).ok()),
            kept: Mutex::default(),
            path,
            tracks: tracks.map(Mutex::new),
            attempt: AtomicU32::new(0),
            redactor,
            stopped: Mutex::default(),
            is_stopped: Notify::new(),
            last_is_cut_off: AtomicBool::new(false),
            has_reached_cut_off: AtomicBool::new(false),
            left_over: Some(left_over),
        }
    }

    pub(super) fn begin_attempt(&self, attempt: u32) {
        self.attempt.store(attempt, Ordering::Relaxed);
        if let Err(error) = &self.tracks {
            self.stop(Stopped::Unrecorded(error.to_string()));
        }
    }

    fn attempt(&self) -> u32 {
        self.attempt.load(Ordering::Relaxed)
    }

    /// A noted value; the default where none was written.
    pub(super) fn note<T: DeserializeOwned + Default>(&self, name: &str) -> T {
        let Ok(tracks) = &self.tracks else { return T::default() };
        let value = unpoisoned(tracks).notes.get(&(self.attempt(), name.to_owned())).cloned();
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    /// The recorded answer to a request.
    ///
    /// # Errors
    /// There is none: the error names the nearest one.
    pub(super) fn answer<A, P>(
        &self,
        with: Party,
        request: &impl Serialize,
    ) -> Result<RequestOutcome<A, P>, UnrecordedError>
    where
        A: DeserializeOwned,
        P: DeserializeOwned,
    {
        let tracks = self.tracks.as_ref().map_err(Clone::clone)?;
        let request = cleared_request(&self.redactor, request);
        let (attempt, mut tracks) = (self.attempt(), unpoisoned(tracks));
        let place = tracks.next.get_mut(&(attempt, with, digest(&request))).and_then(VecDeque::pop_front);
        let Some(place) = place else { return Err(self.missing(&tracks, with, &request)) };
        tracks.used.insert(place);
        if (self.all_kept.is_some() || self.has_reached_cut_off.load(Ordering::Relaxed)) && self.is_at_end(&tracks) {
            self.stop(Stopped::CutOff);
        }
        let (line, exchange) = &tracks.exchanges[place];
        self.last_is_cut_off.store(exchange.is_cut_off, Ordering::Relaxed);
        let damaged = |error: serde_json::Error| {
            let what = format!("the answer of {with} can't be read ({error})");
            UnrecordedError::from(CassetteError::Damaged { path: self.path.clone(), line: *line, what })
        };
        match &exchange.answer {
            Some(answer) => serde_json::from_value(answer.clone()).map(RequestOutcome::Answered).map_err(damaged),
            None => {
                let known = exchange.abandoned.clone().unwrap_or_default();
                serde_json::from_value(known).map(RequestOutcome::Abandoned).map_err(damaged)
            }
        }
    }

    fn missing(&self, tracks: &TrialExchanges, with: Party, request: &Value) -> UnrecordedError {
        let attempt = self.attempt();
        let of_party = || {
            let is_of_party = |exchange: &Exchange| exchange.attempt == attempt && exchange.with == with;
            tracks.exchanges.iter().enumerate().filter(move |(_, (_, exchange))| is_of_party(exchange))
        };
        let path = self.path.clone();
        let count = of_party().filter(|(_, (_, exchange))| exchange.request == *request).count();
        if count > 0 {
            return UnrecordedError::Exhausted { with, count, path };
        }
        // An exchange that was not replayed yet is the likelier match.
        let unused = of_party().filter(|(place, _)| !tracks.used.contains(place));
        let near = nearest(request, unused.map(|(_, (line, exchange))| (*line, &exchange.request)));
        let near =
            near.or_else(|| nearest(request, of_party().map(|(_, (line, exchange))| (*line, &exchange.request))));
        match near {
            Some((line, difference)) => UnrecordedError::Different { with, path, line, difference },
            None => UnrecordedError::None { with, path },
        }
    }

    pub(super) fn stop(&self, why: Stopped) {
        let mut stopped = unpoisoned(&self.stopped);
        // The first missing exchange is the cause of the others.
        stopped.get_or_insert(why);
        self.is_stopped.notify_one();
    }

    /// A request is not recorded. Where the recording was cut off by the time limit of the run, it was not made any more.
    pub(super) fn stop_without(&self, error: UnrecordedError) {
        match self.note::<bool>(CUT_OFF) {
            true => self.reach_cut_off(),
            false => self.stop(Stopped::Unrecorded(error.to_string())),
        }
    }

    pub(super) fn last_is_cut_off(&self) -> bool {
        self.last_is_cut_off.load(Ordering::Relaxed)
    }

    /// The trial has come to where the time limit of the run has cut it off. It stops once everything was replayed that had been
    /// answered by then: the judge is asked several questions at once.
    pub(super) fn reach_cut_off(&self) {
        self.has_reached_cut_off.store(true, Ordering::Relaxed);
        if self.tracks.as_ref().map_or(true, |tracks| self.is_at_end(&unpoisoned(tracks))) {
            self.stop(Stopped::CutOff);
        }
        self.is_stopped.notify_one();
    }

    /// Whether all is replayed that was there when the trial was cut off: what was asked, and what was kept of the answers.
    fn is_at_end(&self, tracks: &TrialExchanges) -> bool {
        match &self.all_kept {
            Some(all) => tracks.is_used_up() && unpoisoned(&self.kept).is_all_of(all),
            None => tracks.unused_answers() == 0,
        }
    }

    /// Whether the time limit of the recorded run has cut it off before whatever comes next.
    pub(super) fn is_cut_off_here(&self) -> bool {
        let is_at_last = |all: &KeptEntries| unpoisoned(&self.kept).is_as_far_as(all);
        self.note::<bool>(CUT_OFF) && self.all_kept.as_ref().is_none_or(is_at_last)
    }

    /// Whether an entry was kept when it was recorded.
    pub(super) fn may_keep(&self, entry: KeptEntry) -> bool {
        self.all_kept.as_ref().is_none_or(|all| unpoisoned(&self.kept).has_room_for(self.attempt(), entry, all))
    }

    /// An entry is kept: the trial stops with the last one.
    pub(super) fn kept(&self, entry: KeptEntry) {
        unpoisoned(&self.kept).add(self.attempt(), entry);
        if let (Some(_), Ok(tracks)) = (&self.all_kept, &self.tracks)
            && self.is_at_end(&unpoisoned(tracks))
        {
            self.stop(Stopped::CutOff);
        }
    }

    /// How far it is.
    fn progress(&self) -> usize {
        let used = self.tracks.as_ref().map_or(0, |tracks| unpoisoned(tracks).used.len());
        used + unpoisoned(&self.kept).count()
    }

    pub(super) async fn stopped(&self) -> Stopped {
        loop {
            if let Some(why) = unpoisoned(&self.stopped).clone() {
                return why;
            }
            if !self.has_reached_cut_off.load(Ordering::Relaxed) {
                self.is_stopped.notified().await;
                continue;
            }
            let before = self.progress();
            let waited = tokio::time::timeout(LAST_ANSWERS, self.is_stopped.notified()).await;
            if waited.is_err() && self.progress() == before {
                return Stopped::CutOff;
            }
        }
    }
}

impl Drop for TrialReplay {
    fn drop(&mut self) {
        let Ok(tracks) = &self.tracks else { return };
        let tracks = unpoisoned(tracks);
        let count = tracks.exchanges.len() - tracks.used.len();
        if let (1.., Some(left_over)) = (count, self.left_over.take()) {
            left_over(count);
        }
    }
}

fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
