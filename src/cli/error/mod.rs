//! The errors before and around a run, and their exit statuses.

mod argument;
mod message;

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::compare::CompareError;
use super::env_file::EnvFileError;
use super::trend::TrendError;
use crate::cassette::CassetteError;
use crate::graph::GraphError;
use crate::job::Problems;
use crate::plan::Refusal;
use crate::report::plain;
use crate::run::PreflightFailure;
use crate::store::folder::StoreError;
use crate::store::postgres::TeamError;
use crate::tool_list::ToolsError;

pub(super) use argument::{FileArgument, file_in_place_of};

/// A job that can't work as it was asked for.
#[derive(Debug)]
pub(super) struct RefusedJob {
    /// The file, as it was typed.
    file: String,
    /// Everything about it that can't work.
    refusals: Vec<Refusal>,
    /// The file's text, if it is known.
    text: Option<String>,
}

impl RefusedJob {
    /// The refusals of a job; with its text they are shown with their lines.
    pub(super) fn new(file: String, text: Option<String>, refusals: Vec<Refusal>) -> RefusedJob {
        RefusedJob { file, refusals, text }
    }

    fn message(&self, error: &str) -> String {
        let line = |refusal: &Refusal| {
            let place = refusal.place.as_ref();
            let found = place.zip(self.text.as_deref()).and_then(|(place, text)| place.find(text));
            let at = found.map_or_else(String::new, |found| format!(":{}:{}", found.at.line, found.at.column));
            // A character that the file's own place does not show.
            let within = place.and_then(|place| place.within).filter(|_| !found.is_some_and(|found| found.is_within));
            let within = within.map_or_else(String::new, |within| format!(" ({within})"));
            format!("{error} {}{at}: {}{within}\n  try: {}", plain(&self.file), plain(&refusal.what), refusal.help)
        };
        self.refusals.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Whether a folder or file can't be written since it was chosen wrongly; a full or broken disk is another matter.
pub(super) fn is_mistake(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::AlreadyExists
            | Kind::InvalidFilename
            | Kind::IsADirectory
            | Kind::NotADirectory
            | Kind::NotFound
            | Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
    )
}

/// An error before or around a run. Errors within a trial are outcomes.
#[derive(Debug)]
pub(super) enum CliError {
    /// A file that an argument names can't be read.
    Unreadable { path: PathBuf, source: io::Error, argument: FileArgument },
    /// The file of variables can't be read.
    UnreadableEnvFile { path: PathBuf, source: io::Error },
    /// The file of variables has a mistake. Nothing of the line is repeated: it can hold a key.
    InvalidEnvFile { path: PathBuf, line: usize, error: EnvFileError },
    /// A file of prices can't be understood.
    InvalidPrices { path: PathBuf, what: String },
    /// A list of tools holds none.
    InvalidTools { path: PathBuf, error: ToolsError },
    /// A folder has no job in it, or a pattern means no file.
    NoJobs { path: PathBuf, is_folder: bool, argument: FileArgument },
    /// No case is what `--tag`, `--filter` and `--limit` say.
    NothingSelected { flags: String, help: String },
    /// The run has no such case.
    NoSuchCase { case: String, near: Option<String>, known: Vec<String> },
    /// The judge of a job does not tell the known conversations of its gate apart.
    Canaries { file: String, is_unknown: bool },
    /// A limit was reached before a judge had seen all known conversations.
    CanariesUnpaid { file: String, why: String },
    /// An agent that does nothing gets more than the gate of a job allows.
    TrivialScore { file: String, score: f64, most: f64 },
    /// The score of an agent that does nothing is unknown, and the job's gate needs it.
    TrivialUnknown { file: String, why: String },
    /// It was interrupted before anything was run.
    Interrupted,
    /// No judge scored anything in a run.
    NothingJudged,
    /// No judge scores this metric.
    NotJudged { metric: String, judged: Vec<String> },
    /// There is no folder where `--prompts` says.
    NoPrompts(PathBuf),
    /// Job files have problems.
    InvalidJobs(Vec<Problems>),
    /// Jobs can't work as they were asked for.
    Refused(Vec<RefusedJob>),
    /// Something that a run needs is missing.
    NotReady { file: String, failures: Vec<PreflightFailure> },
    /// `-o` names a format that there is not.
    UnknownFormat(PathBuf),
    /// `--weights` names a dimension twice.
    RepeatedWeight(String),
    /// A file is another system's, and no agent is named for its cases.
    DataFile { file: String, kind: &'static str },
    /// A weight of a metric that the job does not have: its name, and those that there are.
    UnknownWeight(String, Vec<String>),
    /// A file can't be written, and what to try if that is known.
    Unwritable { path: PathBuf, source: io::Error, help: Option<String> },
    /// No run can be kept in the runs folder; nothing was run.
    NoRunsFolder(StoreError),
    /// The runs folder.
    Store(StoreError),
    /// The store of the team.
    Team(TeamError),
    /// Runs can't be compared.
    Compare(CompareError),
    /// There are no nights of a job.
    Trend(TrendError),
    /// A subcommand lacks something that only the environment can say.
    Unprepared(Refusal),
    /// A recording can't be made or replayed.
    Cassette(CassetteError),
    /// The cache of judges' replies can't be read, or not removed.
    CacheFolder { path: PathBuf, source: io::Error },
    /// The database of the demo agent does not answer as it should.
    Database(GraphError),
    /// No server can listen at this address.
    Unservable { address: SocketAddr, source: io::Error },
    /// The journal could not be written in mid-run; `next` is what is left of it, `resume` the command that goes on with it.
    Journal { folder: PathBuf, source: io::Error, next: Option<String>, resume: Option<String> },
    /// stdout could not be written.
    Stdout(io::Error),
    /// Something that can't happen did.
    Internal(String),
}

impl CliError {
    /// eval-job itself failed.
    pub(super) const FAILED: u8 = 1;
    /// Bad usage or an invalid job.
    pub(super) const USAGE: u8 = 2;
    /// Something outside is broken.
    const BROKEN: u8 = 102;

    /// The exit status that stands for it.
    pub(super) fn exit_status(&self) -> u8 {
        match self {
            CliError::Unreadable { .. }
            | CliError::NoJobs { .. }
            | CliError::NothingSelected { .. }
            | CliError::NoSuchCase { .. }
            | CliError::NothingJudged
            | CliError::NotJudged { .. }
            | CliError::NoPrompts(_)
            | CliError::InvalidPrices { .. }
            | CliError::InvalidTools { .. }
            | CliError::UnreadableEnvFile { .. }
            | CliError::InvalidEnvFile { .. }
            | CliError::InvalidJobs(_)
            | CliError::Refused(_)
            | CliError::Unprepared(_)
            | CliError::UnknownFormat(_)
            | CliError::RepeatedWeight(_)
            | CliError::UnknownWeight(..)
            | CliError::DataFile { .. }
            | CliError::Compare(_)
            | CliError::Team(TeamError::Address(_) | TeamError::NotBuilt | TeamError::Ambiguous { .. })
            | CliError::Trend(_)
            | CliError::Store(
                StoreError::NoSuchRun { .. }
                | StoreError::NoRuns { .. }
                | StoreError::Ambiguous { .. }
                | StoreError::InUse { .. }
                | StoreError::NoSuchBaseline { .. }
                | StoreError::BaselineDeleted { .. },
            ) => CliError::USAGE,
            CliError::Database(_)
            | CliError::NotReady { .. }
            | CliError::Canaries { .. }
            | CliError::CanariesUnpaid { .. }
            | CliError::TrivialUnknown { .. } => CliError::BROKEN,
            CliError::TrivialScore { .. } => crate::record::Verdict::GateFailed.exit_status(),
            CliError::Interrupted => crate::record::Verdict::Interrupted.exit_status(),
            // A full disk is no mistake of the user's.
            CliError::NoRunsFolder(StoreError::Io { source, .. }) | CliError::Unwritable { source, .. }
                if is_mistake(source) =>
            {
                CliError::USAGE
            }
            CliError::Cassette(CassetteError::Io { source, .. }) if !is_mistake(source) => CliError::FAILED,
            CliError::Cassette(_) => CliError::USAGE,
            CliError::Store(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotADirectory => {
                CliError::USAGE
            }
            CliError::Store(_)
            | CliError::Team(_)
            | CliError::NoRunsFolder(_)
            | CliError::CacheFolder { .. }
            | CliError::Unservable { .. }
            | CliError::Unwritable { .. }
            | CliError::Journal { .. }
            | CliError::Stdout(_)
            | CliError::Internal(_) => CliError::FAILED,
        }
    }

    /// The same of a file of `-o`, with the command that writes it later.
    pub(super) fn written_by(self, command: impl Fn(&Path) -> String) -> CliError {
        match self {
            CliError::Unwritable { path, source, .. } => {
                let help = Some(format!("{}, once it can be written, or another path", command(&path)));
                CliError::Unwritable { path, source, help }
            }
            other => other,
        }
    }
}

impl From<CompareError> for CliError {
    fn from(error: CompareError) -> CliError {
        CliError::Compare(error)
    }
}

impl From<TrendError> for CliError {
    fn from(error: TrendError) -> CliError {
        CliError::Trend(error)
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        CliError::Store(error)
    }
}
