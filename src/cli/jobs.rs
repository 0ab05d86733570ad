//! Reading job files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{CliError, FileArgument};
use super::prompts::PromptFiles;
use crate::job::{self, Job};
use crate::prompt::Templates;
use crate::secret::{Redactor, Secret};

/// A job that was read, with the templates it names.
pub(super) struct Loaded {
    /// The file, as it was typed.
    pub(super) file: String,
    /// The job.
    pub(super) job: Job,
    /// The templates.
    pub(super) templates: Templates,
    /// Which of its cases are left, where not all of them are.
    pub(super) selection: Option<String>,
}

/// Reads all of these files, or tells the problems of all of them; `argument` is how they are named on the command line.
pub(super) fn load(
    files: &[PathBuf],
    argument: FileArgument,
    prompts: Option<&Path>,
    redactor: &Redactor,
) -> Result<Vec<Loaded>, CliError> {
    if let Some(folder) = prompts.filter(|folder| !folder.is_dir()) {
        return Err(CliError::NoPrompts(folder.to_path_buf()));
    }
    let mut loaded = Vec::new();
    let mut invalid = Vec::new();
    for path in files {
        let unreadable = |source| CliError::Unreadable { path: path.clone(), source, argument };
        let text = fs::read(path).and_then(utf8).map_err(unreadable)?;
        let file = path.display().to_string();
        redactor.learn_all(job::secrets(&text).iter().map(Secret::expose));
        let templates = PromptFiles::for_job(path, prompts);
        match job::load(&file, &text, &templates) {
            Ok(job) => {
                let templates = templates.into_templates();
                loaded.push(Loaded { file, job, templates, selection: None });
            }
            Err(problems) => invalid.push(problems),
        }
    }
    if invalid.is_empty() { Ok(loaded) } else { Err(CliError::InvalidJobs(invalid)) }
}

/// The text of a file; guessing at another encoding would change what the job says.
fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8; save the file as UTF-8"))
    })
}
