//! Replays one trial.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::Notify;

use super::CassetteError;
use super::difference::nearest;
use super::line::{Exchange, Party};
use super::reading::{Tracks, digest};
use super::recorder::cleared_request;
use super::tape::{Outcome, Stopped};
use crate::secret::Redactor;

/// Called with the number of exchanges that were not replayed, where there are some.
type LeftOver = dyn FnOnce(usize) + Send + Sync;

/// Replays one trial.
pub struct TrialReplay {
    path: PathBuf,
    /// The recording, or why it can't be read.
    tracks: Result<Mutex<Tracks>, String>,
    attempt: AtomicU32,
    redactor: Redactor,
    stopped: Mutex<Option<Stopped>>,
    is_stopped: Notify,
    left_over: Option<Box<LeftOver>>,
}

impl TrialReplay {
    pub(super) fn new(
        path: PathBuf,
        tracks: Result<Tracks, String>,
        redactor: Redactor,
        left_over: Box<LeftOver>,
    ) -> TrialReplay {
        TrialReplay {
            path,
            tracks: tracks.map(Mutex::new),
            attempt: AtomicU32::new(0),
            redactor,
            stopped: Mutex::default(),
            is_stopped: Notify::new(),
            left_over: Some(left_over),
        }
    }

    pub(super) fn begin_attempt(&self, attempt: u32) {
        self.attempt.store(attempt, Ordering::Relaxed);
        if let Err(why) = &self.tracks {
            self.stop(Stopped::Unrecorded(why.clone()));
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
    /// There is none: a sentence that names the nearest one, with what to try.
    pub(super) fn answer<A, P>(&self, with: Party, request: &impl Serialize) -> Result<Outcome<A, P>, String>
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
        let (line, exchange) = &tracks.exchanges[place];
        let damaged = |error| {
            let what = format!("the answer of {with} can't be read ({error})");
            let error = CassetteError::Damaged { path: self.path.clone(), line: *line, what };
            format!("{error}; try: {}", error.help())
        };
        match &exchange.answer {
            Some(answer) => serde_json::from_value(answer.clone()).map(Outcome::Answered).map_err(damaged),
            None => {
                let known = exchange.abandoned.clone().unwrap_or_default();
                serde_json::from_value(known).map(Outcome::Abandoned).map_err(damaged)
            }
        }
    }

    fn missing(&self, tracks: &Tracks, with: Party, request: &Value) -> String {
        let attempt = self.attempt();
        let of_party = || {
            let is_meant = |exchange: &Exchange| exchange.attempt == attempt && exchange.with == with;
            tracks.exchanges.iter().enumerate().filter(move |(_, (_, exchange))| is_meant(exchange))
        };
        let file = self.path.display();
        let help = "try the job and the flags of the recording, or record again with --cassette-record";
        let same = of_party().filter(|(_, (_, exchange))| exchange.request == *request).count();
        if same > 0 {
            let times = if same == 1 { "once".to_owned() } else { format!("{same} times") };
            return format!("a request to {with} is recorded {times} in {file}, and made once more; {help}");
        }
        // What was not replayed yet is nearer to what is asked now.
        let unused = of_party().filter(|(place, _)| !tracks.used.contains(place));
        let near = nearest(request, unused.map(|(_, (line, exchange))| (*line, &exchange.request)));
        let near =
            near.or_else(|| nearest(request, of_party().map(|(_, (line, exchange))| (*line, &exchange.request))));
        match near {
            Some((line, difference)) => format!(
                "this request to {with} is not recorded; the nearest one, {file}:{line}, differs first in {difference}; {help}"
            ),
            None => format!("no request to {with} is recorded in {file}, and one is made; {help}"),
        }
    }

    pub(super) fn stop(&self, why: Stopped) {
        let mut stopped = unpoisoned(&self.stopped);
        // What was missing first made the rest go wrong.
        stopped.get_or_insert(why);
        self.is_stopped.notify_one();
    }

    pub(super) async fn stopped(&self) -> Stopped {
        loop {
            if let Some(why) = unpoisoned(&self.stopped).clone() {
                return why;
            }
            self.is_stopped.notified().await;
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
