//! `eval-job show [ID]`

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::args::ShowArgs;
use super::context::Context;
use super::error::{CliError, file_in_place_of, is_mistake};
use super::printer::Printer;
use crate::grade;
use crate::job::Job;
use crate::plan::Refusal;
use crate::prompt::Templates;
use crate::record::{DocumentError, Overview, TrialRecord, write_document};
use crate::report::{self, Gathered};
use crate::store::folder::{JournalFile, RunsFolder};
use crate::store::{Store, StoredRun};

/// Shows a run again. The status is that of the run, so that a script can ask once more.
pub(super) fn show(args: &ShowArgs, context: &Context, printer: &Printer) -> Result<u8, CliError> {
    check_outputs(&args.output)?;
    // A run may have been kept before keys were cleared from it.
    let mut run =
        RunsFolder::at(&args.runs.runs_dir).open(args.id.as_deref())?.with_redactor(context.redactor().clone());
    let mut gathered = Gathered::default();
    let overview = run.read(|group, trial| gathered.add(group, trial))?;
    if let Some(note) = &run.note {
        printer.note(&format!("note: {note}"));
    }
    let prompts = StoredPrompts::of(&run);
    if args.verbose {
        for trial in run.trials() {
            let trial = prompts.filled_in(trial?);
            printer.data(&report::conversation(&overview, &trial, context.stdout_ink))?;
            printer.data(&report::judging(&trial, context.stdout_ink))?;
        }
    }
    printer.data(&report::terminal(&overview, &gathered, context.screen(args.verbose)))?;
    Outputs { run: &run, prompts: &prompts, overview: &overview }.write(&args.output)?;
    Ok(overview.summary.verdict.exit_status())
}

/// Fills in the prompts of the judge's questions, which a journal does not hold: they are rendered again from its job, its
/// templates and its conversations.
pub(super) struct StoredPrompts {
    job: Option<Job>,
    templates: Templates,
}

impl StoredPrompts {
    /// Those of a run that was read.
    pub(super) fn of(run: &JournalFile) -> StoredPrompts {
        let job = run.job.as_ref().and_then(|job| Job::restored(job).ok());
        StoredPrompts { job, templates: Templates::from_sources(run.templates.clone()) }
    }

    /// The trial with them; one that can't be rendered to the byte as it was asked is left out.
    pub(super) fn filled_in(&self, mut trial: TrialRecord) -> TrialRecord {
        let case = self.job.as_ref().and_then(|job| job.cases.iter().find(|case| case.id == trial.trial.case));
        if let (Some(job), Some(case), Some(evidence)) = (&self.job, case, &trial.evidence) {
            grade::fill_in_prompts(job, case, evidence, &self.templates, &mut trial.questions);
        }
        trial
    }
}

/// Refuses endings that tell no format and files that can't be written, before anything else happens.
pub(super) fn check_outputs(outputs: &[PathBuf]) -> Result<(), CliError> {
    for path in outputs {
        if path.extension().is_none_or(|ending| ending != "json") {
            return Err(CliError::UnknownFormat(path.clone()));
        }
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
            _ => CliError::Unwritable { path: path.clone(), source: error, help: None },
        })?;
    }
    Ok(())
}

fn unwritable(path: &Path, what: &str, help: &str) -> CliError {
    CliError::Unprepared(Refusal {
        what: format!("{} can't be written: {what}", path.display()),
        help: format!("{help}another path with -o PATH"),
    })
}

/// Whether a file can be written, without a change to it: one that is there keeps what it holds, and none is left behind. A
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

/// What the files of `-o` are written from.
pub(super) struct Outputs<'a, R> {
    pub(super) run: &'a R,
    pub(super) prompts: &'a StoredPrompts,
    pub(super) overview: &'a Overview,
}

impl<R: StoredRun> Outputs<'_, R> {
    /// Writes the run to each of these files.
    pub(super) fn write(&self, paths: &[PathBuf]) -> Result<(), CliError> {
        for path in paths {
            let unwritable = |source| CliError::Unwritable { path: path.clone(), source, help: None };
            self.write_one(path, BufWriter::new(File::create(path).map_err(unwritable)?))?;
        }
        Ok(())
    }

    /// The same for a process that may end meanwhile: a file that was there before is replaced by a whole one, or not at all.
    pub(super) fn write_at_once(&self, paths: &[PathBuf]) -> Result<(), CliError> {
        for path in paths {
            let mut text = Vec::new();
            self.write_one(path, &mut text)?;
            let unwritable = |source| CliError::Unwritable { path: path.clone(), source, help: None };
            fs::write(path, text).map_err(unwritable)?;
        }
        Ok(())
    }

    fn write_one(&self, path: &Path, out: impl Write) -> Result<(), CliError> {
        let is_tokens = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("tokens.json"));
        let trials = self.run.trials();
        let written = match is_tokens {
            true => report::write_token_file(self.overview, trials, out),
            false => {
                let trials = trials.map(|trial| trial.map(|trial| self.prompts.filled_in(trial)));
                write_document(&self.overview.summary, trials, out)
            }
        };
        written.map_err(|error| match error {
            DocumentError::Read(error) => error.into(),
            DocumentError::Write(source) => CliError::Unwritable { path: path.to_path_buf(), source, help: None },
        })
    }
}
