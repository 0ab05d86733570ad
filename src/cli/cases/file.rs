//! A file with cases, of whichever system: what they are, and their places in its text.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::super::args::ReadingArgs;
use super::super::context::Context;
use super::super::datasets;
use super::super::error::{CliError, FileArgument};
use super::super::job_files::{JobFiles, job_files};
use super::super::jobs;
use super::super::whole_file;
use crate::dataset::{self, Beside, CaseFile, DatasetCase};
use crate::job::{self, Case};
use crate::plan::Refusal;
use crate::report::{one_line, plain};
use crate::text::nearest;

/// A case, and the file that it is in.
pub(super) struct LocatedCase {
    pub(super) file: PathBuf,
    pub(super) case: FoundCase,
}

pub(super) enum FoundCase {
    OfJob(Arc<Case>),
    /// Another system's.
    OfData(Box<DatasetCase>),
}

/// The cases of a file, or of a folder of files.
pub(super) struct Cases {
    pub(super) list: Vec<LocatedCase>,
    /// Whether they are those of a folder.
    pub(super) is_folder: bool,
}

impl Cases {
    /// Reads what stands at a path: a job file, another system's file, or a folder of both.
    pub(super) fn read(typed: &str, before: &'static str, context: &Context) -> Result<Cases, CliError> {
        let path = Path::new(typed);
        let argument = FileArgument { before, kind: "file with cases" };
        let is_folder = path.is_dir();
        if path.is_file() && !is_data(typed, &fs::read_to_string(path).unwrap_or_default()) || is_missing(typed) {
            return Ok(Cases { list: find_in_jobs(&[path.to_path_buf()], argument, context)?, is_folder });
        }
        let reading = ReadingArgs::default();
        let sets = datasets::open(typed, &reading);
        let jobs = if is_folder { job_files(&[path.to_path_buf()], argument) } else { Ok(JobFiles::default()) };
        let (jobs, sets) = match (jobs, sets) {
            (Err(CliError::NoJobs { .. }), sets) => (Vec::new(), sets?),
            (Ok(jobs), Err(CliError::InvalidJobs(problems))) if dataset::are_no_cases(&problems) && is_folder => {
                (jobs.files, Vec::new())
            }
            (jobs, sets) => (jobs?.files, sets?),
        };
        let mut list = find_in_jobs(&jobs, argument, context)?;
        for case in sets.into_iter().flat_map(|set| set.cases) {
            let file = case.file.clone().unwrap_or_else(|| path.to_path_buf());
            list.push(LocatedCase { file, case: FoundCase::OfData(Box::new(case)) });
        }
        if is_folder {
            // Stable: a file's cases stay in its order.
            list.sort_by(|one, other| one.file.cmp(&other.file));
        }
        Ok(Cases { list, is_folder })
    }

    /// The ids, in the file's order.
    pub(super) fn ids(&self) -> Vec<String> {
        self.list.iter().map(|found| found.case.id().to_owned()).collect()
    }

    /// The case of this id.
    ///
    /// # Errors
    /// The error for an id that no case has, with a suggestion, or that cases of several files have.
    pub(super) fn case(&self, file: &str, id: &str) -> Result<(usize, &LocatedCase), CliError> {
        let mut of_id = self.list.iter().enumerate().filter(|(_, found)| found.case.id() == id);
        match (of_id.next(), of_id.next()) {
            (Some((_, one)), Some((_, other))) if one.file != other.file => {
                let what = format!("several files of {} have a case `{}`", plain(file), plain(id));
                let help =
                    format!("{} or {}", plain(&one.file.to_string_lossy()), plain(&other.file.to_string_lossy()));
                Err(CliError::Unprepared(Refusal::new(what, help)))
            }
            (Some(found), _) => Ok(found),
            (None, _) => Err(no_case(file, id, &self.ids())),
        }
    }
}

fn find_in_jobs(files: &[PathBuf], argument: FileArgument, context: &Context) -> Result<Vec<LocatedCase>, CliError> {
    let loaded = jobs::load(files, argument, None, context.redactor())?;
    let cases = files.iter().zip(loaded).flat_map(|(file, loaded)| {
        let found = |case| LocatedCase { file: file.clone(), case: FoundCase::OfJob(case) };
        loaded.job.cases.into_iter().map(found).collect::<Vec<_>>()
    });
    Ok(cases.collect())
}

impl FoundCase {
    pub(super) fn id(&self) -> &str {
        match self {
            FoundCase::OfJob(case) => &case.id,
            FoundCase::OfData(case) => &case.id,
        }
    }
}

/// The error for an id that no case has, with a suggestion.
pub(super) fn no_case(file: &str, id: &str, ids: &[String]) -> CliError {
    let help = match nearest(id, ids.iter().map(String::as_str)) {
        Some(near) => plain(near),
        None => format!("one of {}", one_line(&ids.join(", "), 300)),
    };
    CliError::Unprepared(Refusal::new(format!("{} has no case `{}`", plain(file), plain(id)), help))
}

/// Whether nothing is there, and no colon parts a path from ids.
fn is_missing(typed: &str) -> bool {
    !Path::new(typed).exists() && !typed.contains(':') && !Path::new(&format!("{typed}.evalset.json")).exists()
}

/// Whether a text is another system's file.
pub(super) fn is_data(name: &str, text: &str) -> bool {
    let is_json = text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '[']);
    let is_job = || job::read_yaml(name, text).is_ok_and(|root| root.get("target").is_some());
    dataset::recognise(name, text).is_ok() || is_json && !is_job()
}

/// A file whose text is changed.
pub(super) struct Edited {
    path: PathBuf,
    name: String,
    /// Its text as it was read.
    read: String,
    pub(super) text: String,
    /// Whether it is another system's.
    pub(super) is_data: bool,
}

impl Edited {
    /// Its path, as it is shown.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Reads it.
    pub(super) fn open(path: &Path, before: &'static str) -> Result<Edited, CliError> {
        let argument = FileArgument { before, kind: "file with cases" };
        let unreadable = |source| CliError::Unreadable { path: path.to_path_buf(), source, argument };
        let text = jobs::text(path).map_err(unreadable)?;
        let name = path.display().to_string();
        Ok(Edited { path: path.to_path_buf(), is_data: is_data(&name, &text), name, read: text.clone(), text })
    }

    /// Its cases in the text.
    pub(super) fn cases(&self) -> Result<CaseFile<'_>, CliError> {
        let found = match self.is_data {
            true => CaseFile::of_data(&self.name, &self.text),
            false => CaseFile::of_job(&self.name, &self.text),
        };
        found.map_err(|problems| CliError::InvalidJobs(vec![problems]))
    }

    /// Writes another text, if its cases are these: to a file beside it first, which then takes its place.
    pub(super) fn replace(&self, text: &str, ids: &[String]) -> Result<(), CliError> {
        let found = ids_of(&self.name, text, self.is_data).map_err(|problems| CliError::InvalidJobs(vec![problems]))?;
        if found != ids {
            let what = format!("{} would have other cases than it should; it is as it was", self.name);
            return Err(CliError::Internal(what));
        }
        // Whoever else edits the file waits here, and then finds it changed.
        let there = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let _lock = there.parent().and_then(|folder| File::open(folder).ok()).filter(|folder| folder.lock().is_ok());
        if jobs::text(&self.path).ok().as_ref() != Some(&self.read) {
            let what = format!("{} was changed meanwhile; nothing was written", plain(&self.name));
            return Err(CliError::Unprepared(Refusal::new(what, "the same command again")));
        }
        whole_file::write(&self.path, text.as_bytes()).map_err(|source| CliError::Unwritable {
            path: self.path.clone(),
            source,
            help: None,
        })
    }
}

/// The ids of the cases in a text.
pub(super) fn ids_of(name: &str, text: &str, is_data: bool) -> Result<Vec<String>, job::Problems> {
    if is_data {
        let set = dataset::load(name, text, &Beside::default())?;
        return Ok(set.cases.into_iter().map(|case| case.id).collect());
    }
    let root = job::read_yaml(name, text)?;
    let cases = root.get("cases").map(job::YamlNode::items).unwrap_or_default();
    Ok(cases.iter().map(|case| case.get("id").and_then(job::YamlNode::text).unwrap_or_default().to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_wrote_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set.json");
        fs::write(&path, r#"{"eval_set_id": "s", "eval_cases": []}"#).unwrap();
        let edited = Edited::open(&path, "eval-job cases add").unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(matches!(edited.replace(&edited.text, &[]), Err(CliError::Unprepared(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
