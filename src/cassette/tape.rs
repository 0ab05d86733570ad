//! The recording of one trial.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::kept::KeptEntry;
use super::line::Party;
use super::recorder::TrialRecorder;
use super::trial_replay::TrialReplay;
use super::waiting::give_up;

/// The recording or replay of one trial; nothing where a run is neither.
#[derive(Clone, Default)]
pub enum Tape {
    /// The run is neither recorded nor replayed.
    #[default]
    Off,
    /// The trial is recorded.
    Recorded(Arc<TrialRecorder>),
    /// The trial is replayed.
    Replayed(Arc<TrialReplay>),
}

/// Why a trial can't be replayed any further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// Something that it needs is not recorded, or its file is damaged: a sentence with what to try.
    Unrecorded(String),
    /// It waits for something that was never answered in the recording either.
    Unanswered,
    /// The time limit of the recorded run has cut it off here.
    CutOff,
}

/// The outcome of a recorded request.
pub(super) enum RequestOutcome<A, P> {
    Answered(A),
    /// It was no longer waited for: what was known then.
    Abandoned(P),
}

impl Tape {
    /// Whether a recording takes the place of the world.
    pub fn is_replayed(&self) -> bool {
        matches!(self, Tape::Replayed(_))
    }

    /// A conversation begins, for the first time (0) or again.
    pub fn begin_attempt(&self, attempt: u32) {
        match self {
            Tape::Off => {}
            Tape::Recorded(recorder) => recorder.begin_attempt(attempt),
            Tape::Replayed(replay) => replay.begin_attempt(attempt),
        }
    }

    /// The value of something that the clock or other trials decide: as it is, or in replay as it was. A value that is the
    /// default is not written. Each name is used once in an attempt.
    pub fn noted<T>(&self, name: &str, value: T) -> T
    where
        T: Serialize + DeserializeOwned + Default + PartialEq,
    {
        match self {
            Tape::Off => {}
            Tape::Recorded(_) if value == T::default() => {}
            Tape::Recorded(recorder) => recorder.note(name, &value),
            Tape::Replayed(replay) => return replay.note(name),
        }
        value
    }

    /// The recorded answer to a request; `None` where the run is not replayed, and the request is to be made. It never comes
    /// where the request is not recorded: that stops the trial.
    pub(super) async fn replayed<A, P>(&self, with: Party, request: &impl Serialize) -> Option<RequestOutcome<A, P>>
    where
        A: DeserializeOwned,
        P: DeserializeOwned,
    {
        let Tape::Replayed(replay) = self else { return None };
        match replay.answer(with, request) {
            Ok(outcome) => Some(outcome),
            Err(error) => {
                replay.stop_without(error);
                std::future::pending().await
            }
        }
    }

    /// The same where there is no time to wait: the outer `None` is a run that is not replayed, the inner one a request that was
    /// not recorded.
    pub(super) fn replayed_at_once<A: DeserializeOwned>(
        &self,
        with: Party,
        request: &impl Serialize,
    ) -> Option<Option<A>> {
        let Tape::Replayed(replay) = self else { return None };
        match replay.answer::<A, Value>(with, request) {
            Ok(RequestOutcome::Answered(answer)) => Some(Some(answer)),
            Ok(RequestOutcome::Abandoned(_)) => Some(None),
            Err(error) => {
                replay.stop_without(error);
                Some(None)
            }
        }
    }

    /// A request that is about to be made, to be recorded with its answer.
    pub(super) fn request(&self, with: Party, request: &impl Serialize) -> OpenRequest {
        let begun = match self {
            Tape::Recorded(recorder) => Some((recorder.clone(), recorder.attempt(), recorder.cleared_request(request))),
            Tape::Off | Tape::Replayed(_) => None,
        };
        OpenRequest { with, begun }
    }

    /// Stands for an answer that was given up in the recording: the caller gives up at once.
    pub(super) async fn abandon<T>(&self) -> T {
        match self {
            // Its caller did not give up: nobody waited for the whole trial any more.
            Tape::Replayed(replay) if replay.last_is_cut_off() => replay.reach_cut_off(),
            Tape::Replayed(replay) if !give_up() => replay.stop(Stopped::Unanswered),
            _ => {}
        }
        std::future::pending().await
    }

    /// Whether the recording of the trial was cut off here by the time limit of the run: it does not come to its end.
    pub fn was_cut_off(&self) -> bool {
        matches!(self, Tape::Replayed(replay) if replay.is_cut_off_here())
    }

    /// Whether an entry of the trial may be kept: not one that the time limit of the recorded run kept from being.
    pub fn may_keep(&self, entry: KeptEntry) -> bool {
        match self {
            Tape::Off | Tape::Recorded(_) => true,
            Tape::Replayed(replay) => replay.may_keep(entry),
        }
    }

    /// An entry of the trial is kept.
    pub fn kept(&self, entry: KeptEntry) {
        match self {
            Tape::Off => {}
            Tape::Recorded(recorder) => recorder.kept(entry),
            Tape::Replayed(replay) => replay.kept(entry),
        }
    }

    /// The trial is over, and the recording of it complete.
    pub fn end(&self) {
        if let Tape::Recorded(recorder) = self {
            recorder.end();
        }
    }

    /// Waits until the trial can't be replayed any further; for ever where it can, or is not replayed.
    pub async fn stopped(&self) -> Stopped {
        match self {
            Tape::Replayed(replay) => replay.stopped().await,
            Tape::Off | Tape::Recorded(_) => std::future::pending().await,
        }
    }
}

/// A request that was made, and is recorded when it is answered, or dropped.
pub(super) struct OpenRequest {
    with: Party,
    begun: Option<(Arc<TrialRecorder>, u32, Value)>,
}

impl OpenRequest {
    /// It was answered.
    pub(super) fn answered<A: Serialize + DeserializeOwned>(mut self, answer: &A) {
        if let Some((recorder, attempt, request)) = self.begun.take() {
            recorder.exchange(attempt, self.with, request, Ok::<&A, &A>(answer));
        }
    }

    /// It is no longer waited for.
    pub(super) fn abandoned<P: Serialize + DeserializeOwned>(&mut self, known: &P) {
        if let Some((recorder, attempt, request)) = self.begun.take() {
            recorder.exchange(attempt, self.with, request, Err::<&P, &P>(known));
        }
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.abandoned(&());
    }
}

/// The tapes that are open, by the numbers of their trials.
#[derive(Default)]
pub(super) struct OpenTapes(Arc<Tapes>);

type Tapes = Mutex<BTreeMap<u32, Tape>>;

impl OpenTapes {
    pub(super) fn get(&self, trial: u32) -> Tape {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&trial).cloned().unwrap_or_default()
    }

    pub(super) fn open(&self, trial: u32, tape: Tape) -> OpenTape {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(trial, tape.clone());
        OpenTape { tape, among: Some((Arc::clone(&self.0), trial)) }
    }
}

/// The tape of a trial that is under way.
#[derive(Default)]
pub struct OpenTape {
    tape: Tape,
    among: Option<(Arc<Tapes>, u32)>,
}

impl OpenTape {
    /// The tape.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }
}

impl Drop for OpenTape {
    fn drop(&mut self) {
        if let Tape::Recorded(recorder) = &self.tape {
            recorder.dropped();
        }
        if let Some((tapes, trial)) = &self.among {
            tapes.lock().unwrap_or_else(PoisonError::into_inner).remove(trial);
        }
    }
}
