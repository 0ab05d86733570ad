//! Runs as other systems write theirs: Google ADK, trpc-agent-go, watsonx Orchestrate, Red Hat's quickstart, and
//! OpenTelemetry. Their own readers take these files.
//!
//! Invariants: what was not evaluated is never passed and never a number; no name of a file is anybody's text
//! (`text::file_name`); trials are written while they are read, and what a format sums up is gathered in a pass of its own.

pub(super) mod adk;
mod names;
pub(super) mod otlp;
pub(super) mod redhat;
mod result;
pub(super) mod trpc;
pub(super) mod watsonx;

pub(super) use names::ResultNames;
use result::CaseResult;

use std::io::{self, Write};

use serde::Serialize;

use super::format::{DocumentResult, WrittenRun};
use crate::record::DocumentError;
use crate::text::file_name;

/// Where the files of a format go that is a folder.
pub trait ResultFolder {
    /// Begins a file. `path` is relative, of names that are harmless.
    ///
    /// # Errors
    /// It can't be written.
    fn file(&mut self, path: &str) -> io::Result<Box<dyn ResultFile>>;
}

/// A file of a [`ResultFolder`], which may be there only once it is finished.
pub trait ResultFile: Write {
    /// Finishes the file.
    ///
    /// # Errors
    /// It can't be written.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Writes a JSON file, indented and with a newline at its end.
fn write_json<E>(folder: &mut dyn ResultFolder, path: &str, value: &impl Serialize) -> DocumentResult<E> {
    write_file(folder, path, |to| {
        serde_json::to_writer_pretty(&mut *to, value)?;
        to.write_all(b"\n")
    })
}

/// Writes a file.
fn write_file<E>(
    folder: &mut dyn ResultFolder,
    path: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> DocumentResult<E> {
    let written = folder.file(path).and_then(|mut file| {
        write(&mut *file)?;
        file.finish()
    });
    written.map_err(DocumentError::Write)
}

/// The result of each trial of these runs as a case, one at a time, with the name of its run's job.
fn results<'r, E, T>(
    runs: &'r [WrittenRun<'_, E>],
    names: &'r ResultNames,
    case: impl Fn(&str, &CaseResult<'_>) -> T + Copy + 'r,
) -> impl Iterator<Item = Result<T, E>> + 'r {
    runs.iter().flat_map(move |run| {
        (run.trials)().map(move |trial| {
            let trial = trial?;
            let review = (run.review)(&trial);
            let result = CaseResult::new(run.overview, &trial, &review, names).with_criteria(&run.criteria);
            Ok(case(&run.overview.summary.provenance.job, &result))
        })
    })
}

/// Looks at each trial of these runs as a case, one after the other; the flag says whether its run repeats cases.
fn each_result<E>(
    runs: &[WrittenRun<'_, E>],
    names: &ResultNames,
    mut look: impl FnMut(&CaseResult<'_>, bool) -> DocumentResult<E>,
) -> DocumentResult<E> {
    for run in runs {
        let repeats = run.overview.groups.iter().any(|group| group.planned > 1);
        for trial in (run.trials)() {
            let trial = trial.map_err(DocumentError::Read)?;
            let review = (run.review)(&trial);
            look(&CaseResult::new(run.overview, &trial, &review, names), repeats)?;
        }
    }
    Ok(())
}

/// The jobs' names of several runs, each once.
fn job_names<E>(runs: &[WrittenRun<'_, E>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in runs {
        let name = run.overview.summary.provenance.job.clone();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The id of a result: that of the run, behind its job's name, harmless as a file's name.
pub(super) fn result_id<E>(runs: &[WrittenRun<'_, E>]) -> String {
    let ids: Vec<&str> = runs.iter().map(|run| run.overview.summary.id.as_str()).collect();
    file_name(&format!("{}_{}", job_names(runs).join("+"), ids.join("+")))
}
