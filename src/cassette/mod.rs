//! Recordings of what a run exchanges with persona, judge, agent and graph, and their replay without any of them.
//!
//! In: the requests of a run, with the [`Tape`] of their trial. Out: while recording, the answers as they come, and a folder
//! with a file of JSON lines for each trial; in replay, the recorded answers. Wrappers around an agent
//! ([`TapedAgent`]) and a graph ([`TapedGraph`]), and [`ask`] for a model, stand where the run meets them.
//!
//! Invariants: an answer is found by its trial, the party that was asked, the request, and how often it was made before, so that
//! the order in which trials run does not matter; a request that is not recorded stops its trial and nothing else, and is never
//! made; a recorded failure is replayed as the failure that it was, and one that was no longer waited for is not waited for
//! again; no secret is written; a file is only appended to.

mod agent;
mod difference;
mod error;
mod file;
mod graph;
mod kept;
mod line;
mod model;
mod reading;
mod recorder;
mod replay;
mod tape;
mod trial_replay;
mod waiting;

pub use agent::{SessionOf, TapedAgent};
pub use error::{CassetteError, UnrecordedError};
pub use graph::TapedGraph;
pub use kept::KeptEntry;
pub use line::{Party, RunHeader, VERSION};
pub use model::ask;
pub use recorder::CassetteRecording;
pub use replay::{Replay, Unused};
pub use tape::{OpenTape, Stopped, Tape};
pub use waiting::while_answered;

use std::path::Path;
use std::sync::Arc;

use replay::LIMIT;

use crate::evidence::TrialId;
use crate::secret::Redactor;

/// Whether a run is recorded, replayed, or neither.
#[derive(Clone, Default)]
pub enum Cassette {
    /// Neither.
    #[default]
    Off,
    /// Its exchanges are written to a folder.
    Recording(Arc<CassetteRecording>),
    /// Its exchanges are read from a folder, and none is made.
    Replay(Arc<Replay>),
}

impl Cassette {
    /// Begins a recording in this folder, which is made if it is not there.
    ///
    /// # Errors
    /// The folder holds a recording already, or can't be written.
    pub fn record(folder: &Path, header: RunHeader, redactor: Redactor) -> Result<Cassette, CassetteError> {
        Ok(Cassette::Recording(Arc::new(CassetteRecording::create(folder, header, redactor)?)))
    }

    /// Opens the recording of this folder.
    ///
    /// # Errors
    /// There is none, it is damaged, or a newer version made it.
    pub fn replay(folder: &Path, redactor: Redactor) -> Result<Cassette, CassetteError> {
        Ok(Cassette::Replay(Arc::new(Replay::read(folder, redactor)?)))
    }

    /// The recording that is replayed.
    pub fn replayed(&self) -> Option<&Replay> {
        match self {
            Cassette::Replay(replay) => Some(replay),
            Cassette::Off | Cassette::Recording(_) => None,
        }
    }

    /// Whether a recording takes the place of the world.
    pub fn is_replayed(&self) -> bool {
        self.replayed().is_some()
    }

    /// The common part of all trials of the recorded run.
    pub fn header(&self) -> Option<&RunHeader> {
        match self {
            Cassette::Off => None,
            Cassette::Recording(recording) => Some(&recording.header),
            Cassette::Replay(replay) => Some(&replay.header),
        }
    }

    /// The tape of a trial, which is closed when the value is dropped.
    pub fn open(&self, trial: &TrialId) -> OpenTape {
        match self {
            Cassette::Off => OpenTape::default(),
            Cassette::Recording(recording) => recording.open(trial),
            Cassette::Replay(replay) => replay.open(trial),
        }
    }

    /// The tape of a trial that is open.
    pub fn tape(&self, trial: u32) -> Tape {
        match self {
            Cassette::Off => Tape::Off,
            Cassette::Recording(recording) => recording.tapes.get(trial),
            Cassette::Replay(replay) => replay.tapes.get(trial),
        }
    }

    /// The tape of what belongs to no trial.
    pub fn run_tape(&self) -> Tape {
        match self {
            Cassette::Off => Tape::Off,
            Cassette::Recording(recording) => recording.run.clone(),
            Cassette::Replay(replay) => replay.run.clone(),
        }
    }

    /// Why a limit ended the run, or the recorded one.
    pub fn noted_limit(&self, why: Option<String>) -> Option<String> {
        self.run_tape().noted(LIMIT, why)
    }

    /// The time of the whole run is up: what is recorded of trials that are dropped now ends there, and so does their replay.
    pub fn cut_off(&self) {
        if let Cassette::Recording(recording) = self {
            recording.cut_off();
        }
    }

    /// Whether a trial may be run again as it was: in replay, not where a limit of the recorded run kept it from beginning.
    pub fn was_held(&self, trial: &TrialId) -> bool {
        self.replayed().is_none_or(|replay| replay.was_held(trial))
    }
}
