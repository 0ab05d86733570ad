//! The files of `-o`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{CliError, file_in_place_of, is_mistake};
use crate::clock::Clock;
use crate::grade::{self, GradeInput};
use crate::job::Job;
use crate::plan::Refusal;
use crate::prompt::Templates;
use crate::record::{DocumentError, Overview, TrialRecord};
use crate::report::{Format, WrittenRun, terminal_json};
use crate::secret::Variables;
use crate::store::folder::JournalFile;
use crate::store::{StoreError, StoredRun};

/// The variable by which a step of GitHub Actions gets the place of its summary: a file without an ending, to which
/// each command of the step adds something.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The path that means standard output.
const STDOUT: &str = "-";

/// A file of `-o`.
#[derive(Debug, Clone)]
pub(super) struct OutputFile {
    path: PathBuf,
    format: Format,
    /// Whether what is in the file stays.
    is_appended: bool,
}

impl OutputFile {
    /// Whether it is standard output, which gets the record as JSON; the report then goes to standard error.
    pub(super) fn is_stdout(&self) -> bool {
        self.path == Path::new(STDOUT)
    }
}

/// The files of `-o`. Endings that tell no format and files that can't be written are refused before anything else happens.
pub(super) fn check_outputs(paths: &[PathBuf], variables: &Variables) -> Result<Vec<OutputFile>, CliError> {
    let summary = variables.text(STEP_SUMMARY).map(Path::new);
    let checked = |path: &PathBuf| {
        let is_appended = summary == Some(path.as_path());
        if path == Path::new(STDOUT) {
            return Ok(OutputFile { path: path.clone(), format: Format::Json, is_appended });
        }
        let format = if is_appended { Some(Format::Markdown) } else { Format::from_path(path) };
        let format = format.ok_or_else(|| CliError::UnknownFormat(path.clone()))?;
        check_place(path)?;
        Ok(OutputFile { path: path.clone(), format, is_appended })
    };
    paths.iter().map(checked).collect()
}

fn check_place(path: &Path) -> Result<(), CliError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
        let (what, help) = match file_in_place_of(folder) {
            Some(file) => (format!("{} is a file, not a folder", file.display()), String::new()),
            None => {
                let folder = folder.display();
                (format!("there is no folder {folder}"), format!("mkdir -p {folder}, or "))
            }
        };
        return Err(unwritable(path, &what, &help));
    }
    check_writable(path).map_err(|error| match error.kind() {
        io::ErrorKind::IsADirectory => unwritable(path, "it is a folder", ""),
        _ if is_mistake(&error) => unwritable(path, &error.to_string(), ""),
        _ => CliError::Unwritable { path: path.to_path_buf(), source: error, help: None },
    })
}

fn unwritable(path: &Path, what: &str, help: &str) -> CliError {
    CliError::Unprepared(Refusal {
        what: format!("{} can't be written: {what}", path.display()),
        help: format!("{help}another path with -o PATH"),
    })
}

/// Whether a file can be written, without a change to it: one that is there keeps its content, and none is left behind. A
/// pipe or a device is opened once only, when there is something to write.
fn check_writable(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(there) if there.is_file() => File::options().append(true).open(path).map(drop),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            File::options().append(true).create(true).open(path)?;
            // Of a link that led nowhere the link is kept.
            fs::remove_file(fs::canonicalize(path)?)
        }
        Err(error) => Err(error),
    }
}

/// A run that is written to files.
pub(super) struct OutputRun<'a, R> {
    pub(super) run: &'a R,
    pub(super) prompts: &'a StoredPrompts,
    pub(super) overview: &'a Overview,
}

/// The runs as one document for standard output, where one of the files is that.
pub(super) fn document<R: StoredRun>(
    files: &[OutputFile],
    runs: &[OutputRun<'_, R>],
) -> Result<Option<String>, CliError> {
    let Some(file) = files.iter().find(|file| file.is_stdout()) else { return Ok(None) };
    let mut json = Vec::new();
    write_one(file, runs, &mut json)?;
    Ok(Some(terminal_json(&String::from_utf8_lossy(&json))))
}

/// Writes the runs, all of them to each of these files.
pub(super) fn write<R: StoredRun>(files: &[OutputFile], runs: &[OutputRun<'_, R>]) -> Result<(), CliError> {
    for file in files.iter().filter(|file| !file.is_stdout()) {
        let unwritable = |source| CliError::Unwritable { path: file.path.clone(), source, help: None };
        let mut options = File::options();
        let options = match file.is_appended {
            true => options.append(true).create(true),
            false => options.write(true).create(true).truncate(true),
        };
        write_one(file, runs, BufWriter::new(options.open(&file.path).map_err(unwritable)?))?;
    }
    Ok(())
}

/// The same for a process that may end meanwhile: a file that was there before is replaced by a whole one, or not at all.
pub(super) fn write_at_once<R: StoredRun>(files: &[OutputFile], runs: &[OutputRun<'_, R>]) -> Result<(), CliError> {
    for file in files.iter().filter(|file| !file.is_stdout()) {
        let mut text = Vec::new();
        write_one(file, runs, &mut text)?;
        let unwritable = |source| CliError::Unwritable { path: file.path.clone(), source, help: None };
        let written = match file.is_appended {
            true => File::options().append(true).create(true).open(&file.path).and_then(|mut it| it.write_all(&text)),
            false => fs::write(&file.path, text),
        };
        written.map_err(unwritable)?;
    }
    Ok(())
}

fn write_one<R: StoredRun>(file: &OutputFile, runs: &[OutputRun<'_, R>], to: impl Write) -> Result<(), CliError> {
    let runs: Vec<WrittenRun<'_, StoreError>> = runs.iter().map(OutputRun::written).collect();
    file.format.write(&runs, to).map_err(|error| match error {
        DocumentError::Read(error) => error.into(),
        DocumentError::Write(source) => CliError::Unwritable { path: file.path.clone(), source, help: None },
    })
}

impl<R: StoredRun> OutputRun<'_, R> {
    /// For whoever writes it: its trials are read as often as the format needs them.
    pub(super) fn written(&self) -> WrittenRun<'_, StoreError> {
        WrittenRun {
            overview: self.overview,
            trials: Box::new(|| Box::new(self.run.trials())),
            with_prompts: Box::new(|trial| self.prompts.filled_in(trial)),
        }
    }
}

/// Fills in the prompts of the judge's questions, which a journal does not hold: they are rendered again from its job, its
/// templates and its conversations.
pub(super) struct StoredPrompts {
    job: Option<Job>,
    templates: Templates,
    clock: Clock,
}

impl StoredPrompts {
    /// Those of a run that was read.
    pub(super) fn from_run(run: &JournalFile, clock: Clock) -> StoredPrompts {
        let job = run.job.as_ref().and_then(|job| Job::restored(job).ok());
        StoredPrompts { job, templates: Templates::from_sources(run.templates.clone()), clock }
    }

    /// The trial with them; one that can't be rendered to the byte as it was asked is left out.
    pub(super) fn filled_in(&self, mut trial: TrialRecord) -> TrialRecord {
        if trial.questions.is_empty() {
            return trial;
        }
        let case = self.job.as_ref().and_then(|job| job.cases.iter().find(|case| case.id == trial.trial.case));
        if let (Some(job), Some(case), Some(evidence)) = (&self.job, case, &trial.evidence) {
            let trial_of = GradeInput { job, case, evidence, clock: self.clock };
            grade::fill_in_prompts(trial_of, &self.templates, &mut trial.questions);
        }
        trial
    }
}
