//! Finds the run that is to be resumed, and its job.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::args::{DEFAULT_JOB, ResumeMode, RunArgs, runs_dir_flag};
use super::super::error::{CliError, is_mistake};
use super::super::planning::Planned;
use super::refused;
use crate::record::{ListedRun, RunStart, Verdict};
use crate::report::{count, plain};
use crate::store::folder::{ReopenedRun, RunsFolder, StoreError};
use crate::store::{Store, StoredRun};

/// The run that a command asks to go on with.
pub(in crate::cli) struct ResumeRequest {
    pub(super) mode: ResumeMode,
    /// The named run with its beginning; none where the newest run of the job file is resumed.
    named: Option<(ReopenedRun, RunStart)>,
    /// The job files.
    pub(super) files: Vec<PathBuf>,
}

/// The run that the command asks to go on with, if it does.
///
/// # Errors
/// There is no such run, or another process holds it.
pub(in crate::cli) fn resume_request(args: &RunArgs) -> Result<Option<ResumeRequest>, CliError> {
    let Some(mode) = args.resume.mode() else { return Ok(None) };
    let files = args.resume.files(&args.files);
    let named = match (args.resume.id(), &files) {
        (Some(id), _) => Some(named(id, args)?),
        (None, None) => Some(named(&newest_of_any(mode, args)?, args)?),
        (None, Some(_)) => None,
    };
    let files = files.unwrap_or_else(|| {
        let of_run = named.as_ref().map(|(_, beginning)| beginning.provenance.job_file.as_str());
        vec![PathBuf::from(of_run.unwrap_or(DEFAULT_JOB))]
    });
    Ok(Some(ResumeRequest { mode, named, files }))
}

/// The folder's name of the newest run, of whatever job, that can be resumed.
fn newest_of_any(mode: ResumeMode, args: &RunArgs) -> Result<String, CliError> {
    let runs = RunsFolder::at(&args.runs.runs_dir);
    let names = match runs.names() {
        Err(StoreError::NoRuns { .. }) => Vec::new(),
        names => names?,
    };
    for name in names.iter().rev() {
        let Ok(run) = runs.listed(Some(name)) else { continue };
        if run.provenance.by_person {
            continue;
        }
        if mode == ResumeMode::Errors || is_unfinished(&run, &runs.find(Some(name))?, &runs)? {
            return Ok(name.clone());
        }
    }
    let unfinished = if names.is_empty() { "there is no run" } else { "no run is unfinished" };
    Err(refused(
        format!("nothing to resume: {unfinished} in {}", args.runs.runs_dir.display()),
        format!("without {}, or another folder with --runs-dir DIR", mode.flag()),
    ))
}

fn named(id: &str, args: &RunArgs) -> Result<(ReopenedRun, RunStart), CliError> {
    let reopened = reopened(&RunsFolder::at(&args.runs.runs_dir).find(Some(id))?)?;
    let mut run = reopened.run();
    let first = run.first_entry()?.and_then(RunStart::from_entry);
    match first {
        Some(first) => Ok((reopened, first)),
        None => {
            // Reading the whole run reports why there is no beginning.
            let read = run.read(|_, _| ()).map_err(|error| match error {
                // It is held, but by this process.
                StoreError::JustBegun(path) => {
                    let why = "the journal is empty, the run was cut off before it began".to_owned();
                    StoreError::NothingLeft { path, why }
                }
                error => error,
            });
            match read {
                Err(error @ StoreError::NothingLeft { .. }) => {
                    let help = "another run, which `eval-job list` names; its folder can be deleted";
                    return Err(refused(plain(&error.to_string()), help));
                }
                read => drop(read?),
            }
            Err(refused(format!("run {} has no beginning", plain(id)), "another run, which `eval-job list` names"))
        }
    }
}

/// Opens the run in this folder to go on with it.
fn reopened(folder: &Path) -> Result<ReopenedRun, CliError> {
    RunsFolder::reopen(folder).map_err(|error| match error {
        StoreError::Io { source, path, .. } if is_mistake(&source) => {
            let path = plain(&path.display().to_string());
            refused(format!("the run can't be resumed: {path} can't be written: {source}"), "make it writable")
        }
        error => error.into(),
    })
}

impl ResumeRequest {
    /// The run, and the place of its job among the planned ones.
    pub(super) fn find(self, jobs: &[Planned], args: &RunArgs) -> Result<(ReopenedRun, usize), CliError> {
        match self.named {
            Some((reopened, beginning)) => {
                let at = job_of(&beginning, jobs, args)?;
                Ok((reopened, at))
            }
            None => newest(self.mode, jobs, args),
        }
    }
}

/// The place of a run's job.
fn job_of(run: &RunStart, jobs: &[Planned], args: &RunArgs) -> Result<usize, CliError> {
    let is_its = |job: &Planned| is_of(job, &run.provenance.job, &run.provenance.job_file);
    // The named job may have another name or place now: the differences are reported.
    let at = jobs.iter().position(is_its).or((jobs.len() == 1).then_some(0));
    at.ok_or_else(|| {
        let (job, file) = (plain(&run.provenance.job), plain(&run.provenance.job_file));
        refused(
            format!("run {} is of the job `{job}` in {file}, which is none of these", run.id),
            format!("eval-job run --resume {} {file}{}", run.id, runs_dir_flag(&args.runs.runs_dir)),
        )
    })
}

/// The newest run of one of these jobs that can be resumed.
fn newest(mode: ResumeMode, jobs: &[Planned], args: &RunArgs) -> Result<(ReopenedRun, usize), CliError> {
    let runs = RunsFolder::at(&args.runs.runs_dir);
    let names = match runs.names() {
        Err(StoreError::NoRuns { .. }) => Vec::new(),
        names => names?,
    };
    let mut ended: Option<String> = None;
    for name in names.iter().rev() {
        let Ok(run) = runs.listed(Some(name)) else { continue };
        let provenance = &run.provenance;
        let Some(at) = jobs.iter().position(|job| is_of(job, &provenance.job, &provenance.job_file)) else { continue };
        if provenance.by_person {
            continue;
        }
        let folder = runs.find(Some(name))?;
        if mode == ResumeMode::Errors || is_unfinished(&run, &folder, &runs)? {
            return Ok((reopened(&folder)?, at));
        }
        ended.get_or_insert(run.id);
    }
    let files = match jobs {
        [job] => plain(&job.file),
        jobs => count(jobs.len(), "job"),
    };
    let runs_dir = args.runs.runs_dir.display();
    Err(match ended {
        Some(id) => refused(
            format!("nothing to resume: no run of {files} in {runs_dir} is unfinished; the newest is {id}"),
            format!("eval-job show {id}{}, or a new run without {}", runs_dir_flag(&args.runs.runs_dir), mode.flag()),
        ),
        None => refused(
            format!("nothing to resume: there is no run of {files} in {runs_dir}"),
            format!("without {}, or another folder with --runs-dir DIR", mode.flag()),
        ),
    })
}

/// Whether a run was cut off, or ended before all of its trials were over.
fn is_unfinished(run: &ListedRun, folder: &Path, runs: &RunsFolder) -> Result<bool, CliError> {
    match (run.finished_at, run.verdict) {
        (None, _) | (_, Verdict::Interrupted) => Ok(true),
        (_, Verdict::Passed | Verdict::GateFailed | Verdict::Inconclusive) => Ok(false),
        (_, Verdict::Incomplete) => {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            Ok(runs.open(Some(&name))?.read(|_, _| ())?.unfinished() > 0)
        }
    }
}

/// Whether a run of a job of this name and file is one of this job.
fn is_of(job: &Planned, name: &str, file: &str) -> bool {
    job.plan.job.name == name && is_same_file(&job.file, file)
}

fn is_same_file(one: &str, other: &str) -> bool {
    let absolute = |path: &str| -> io::Result<PathBuf> { fs::canonicalize(path) };
    one == other || matches!((absolute(one), absolute(other)), (Ok(one), Ok(other)) if one == other)
}
