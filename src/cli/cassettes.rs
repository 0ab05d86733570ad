//! The recordings of the jobs of a command: a folder for each in that of `--cassette-record` or `--cassette-replay`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::args::CassetteArgs;
use super::context::Context;
use super::error::CliError;
use super::printer::Printer;
use crate::cassette::{Cassette, CassetteError, CassetteRecording, RunHeader, Unused, VERSION};
use crate::job::Job;
use crate::plan::{model_variables, with_model_variables};
use crate::report::{count, plain};
use crate::run::{Credentials, without_user};
use crate::text::FileNames;

/// The recording of one job.
#[derive(Debug, Clone, Default)]
pub(super) enum JobCassette {
    /// There is none.
    #[default]
    Off,
    /// It is made in this folder.
    Record(PathBuf),
    /// It is replayed.
    Replay(ReplayedFolder),
}

/// A recording, and what of its environment decides about the plan.
#[derive(Debug, Clone)]
pub(super) struct ReplayedFolder {
    folder: PathBuf,
    variables: BTreeMap<String, String>,
}

/// The run that is recorded or replayed.
pub(super) struct CassetteRun<'a> {
    pub(super) job: &'a Job,
    pub(super) id: &'a str,
    /// The seed that was typed.
    pub(super) rng_seed: Option<u64>,
}

/// The recordings of a command.
pub(super) struct JobCassettes<'a> {
    args: &'a CassetteArgs,
    names: FileNames,
    /// The folders of jobs before this one.
    replayed: BTreeSet<PathBuf>,
}

impl<'a> JobCassettes<'a> {
    pub(super) fn new(args: &'a CassetteArgs) -> JobCassettes<'a> {
        JobCassettes { args, names: FileNames::default(), replayed: BTreeSet::new() }
    }

    /// The recording of the next job, in a folder of its name.
    pub(super) fn next(&mut self, job: &Job, context: &Context) -> Result<JobCassette, CliError> {
        let CassetteArgs { cassette_record, cassette_replay } = self.args;
        match (cassette_record, cassette_replay) {
            (Some(folder), _) => Ok(JobCassette::Record(folder.join(self.names.take(&job.name)))),
            (None, Some(folder)) => {
                let folder = self.recorded(job, folder, context);
                self.replayed.insert(folder.clone());
                let cassette = Cassette::replay(&folder, context.redactor().clone())?;
                let variables = cassette.header().map(|header| header.variables.clone()).unwrap_or_default();
                Ok(JobCassette::Replay(ReplayedFolder { folder, variables }))
            }
            (None, None) => Ok(JobCassette::Off),
        }
    }

    /// The folder in which a job was recorded. Of several jobs of one name it is that of the same file, whatever order they are
    /// in now; of one that was changed since, the first that is left.
    fn recorded(&self, job: &Job, folder: &Path, context: &Context) -> PathBuf {
        let mut names = FileNames::default();
        let first = folder.join(names.take(&job.name));
        let more = std::iter::repeat_with(|| folder.join(names.take(&job.name))).take_while(|path| path.is_dir());
        let left: Vec<PathBuf> =
            std::iter::once(first.clone()).chain(more).filter(|path| !self.replayed.contains(path)).collect();
        let is_of_job = |path: &&PathBuf| {
            Cassette::replay(path, context.redactor().clone())
                .is_ok_and(|cassette| cassette.header().is_some_and(|header| header.job_digest == job.digest))
        };
        let same_file = if left.len() > 1 { left.iter().find(is_of_job) } else { None };
        same_file.or(left.first()).cloned().unwrap_or(first)
    }
}

/// Keys and addresses: in replay the addresses of the recording, and no keys of models.
pub(super) fn credentials(context: &Context, recorded: Option<&BTreeMap<String, String>>) -> Credentials {
    let own = context.credentials.clone();
    match recorded {
        Some(recorded) => Credentials { variables: with_model_variables(&own.variables, recorded), ..own },
        None => own,
    }
}

impl JobCassette {
    /// Whether a recording takes the place of the world.
    pub(super) fn is_replayed(&self) -> bool {
        matches!(self, JobCassette::Replay(_))
    }

    /// Checks that a recording can be made.
    pub(super) fn check(&self) -> Result<(), CliError> {
        match self {
            JobCassette::Record(folder) => Ok(CassetteRecording::check(folder)?),
            JobCassette::Off | JobCassette::Replay(_) => Ok(()),
        }
    }

    /// Keys and addresses, as they were where it is replayed.
    pub(super) fn credentials(&self, context: &Context) -> Credentials {
        credentials(
            context,
            match self {
                JobCassette::Replay(replayed) => Some(&replayed.variables),
                JobCassette::Off | JobCassette::Record(_) => None,
            },
        )
    }

    /// Begins the recording of a run, or opens it, and the seed of the run.
    pub(super) fn begin(&self, run: &CassetteRun<'_>, context: &Context) -> Result<(Cassette, u64), CliError> {
        let (rng_seed, redactor) = (run.rng_seed.unwrap_or_else(Context::random), context.redactor().clone());
        let cassette = match self {
            JobCassette::Off => Cassette::Off,
            JobCassette::Record(folder) => {
                let header = RunHeader {
                    version: VERSION,
                    tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                    job: run.job.name.clone(),
                    job_digest: run.job.digest.clone(),
                    run_id: run.id.to_owned(),
                    rng_seed,
                    variables: model_variables(&context.credentials.variables)
                        .into_iter()
                        .map(|(name, value)| (name, without_user(&value)))
                        .collect(),
                    token_key: std::array::from_fn(|_| Context::random()),
                };
                Cassette::record(folder, header, redactor)?
            }
            JobCassette::Replay(replayed) => Cassette::replay(&replayed.folder, redactor)?,
        };
        let recorded = cassette.replayed().and(cassette.header()).map(|header| header.rng_seed);
        Ok((cassette, run.rng_seed.or(recorded).unwrap_or(rng_seed)))
    }

    /// The recording of something that is done before the run.
    pub(super) fn part(&self, name: &str) -> JobCassette {
        match self {
            JobCassette::Off => JobCassette::Off,
            JobCassette::Record(folder) => JobCassette::Record(folder.join(name)),
            JobCassette::Replay(replayed) => {
                JobCassette::Replay(ReplayedFolder { folder: replayed.folder.join(name), ..replayed.clone() })
            }
        }
    }

    /// Tells what is replayed.
    pub(super) fn tell(&self, cassette: &Cassette, job: &Job, printer: &Printer) {
        let (JobCassette::Replay(replayed), Some(header)) = (self, cassette.header()) else { return };
        let folder = plain(&replayed.folder.display().to_string());
        printer
            .note(&format!("replayed from {folder}: no requests are made, and all times are those of the recording"));
        if header.job_digest != job.digest {
            printer.note("the job is not the one that was recorded: what it asks otherwise is not in the recording");
        }
    }

    /// Tells what was not used of a recording.
    ///
    /// # Errors
    /// The recording is not whole, since its files could not be written.
    pub(super) fn close(&self, cassette: &Cassette, printer: &Printer) -> Result<(), CliError> {
        match cassette {
            Cassette::Off => Ok(()),
            Cassette::Recording(recording) => recording.failure().map_or(Ok(()), |error| Err(error.into())),
            Cassette::Replay(replay) => {
                unused(&replay.unused()).into_iter().for_each(|note| printer.note(&format!("note: {note}")));
                Ok(())
            }
        }
    }
}

/// The unused part, for the user.
fn unused(unused: &Unused) -> Vec<String> {
    const NAMED: usize = 3;
    let named = |files: &[String]| {
        let names = plain(&files.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", "));
        let more = files.len().saturating_sub(NAMED);
        if more > 0 { format!("{names} and {more} more") } else { names }
    };
    let mut notes = Vec::new();
    if unused.exchanges > 0 {
        let exchanges = count(unused.exchanges, "recorded exchange");
        notes.push(format!("{exchanges} not used, in {}", named(&unused.files)));
    }
    if !unused.trials.is_empty() {
        let trials = count(unused.trials.len(), "recorded conversation");
        notes.push(format!("{trials} not used: {}", named(&unused.trials)));
    }
    notes
}

impl From<CassetteError> for CliError {
    fn from(error: CassetteError) -> CliError {
        CliError::Cassette(error)
    }
}
