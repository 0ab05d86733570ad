//! Reading job files.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::CliError;
use super::prompts::PromptFiles;
use crate::job::{self, Job};
use crate::prompt::Templates;

/// A job that was read, with the templates it names.
pub(super) struct Loaded {
    /// The file, as it was typed.
    pub(super) file: String,
    /// What it means.
    pub(super) job: Job,
    /// The templates.
    pub(super) templates: Templates,
}

/// Reads all of these files, or tells the problems of all of them.
pub(super) fn load(files: &[PathBuf], prompts: Option<&Path>) -> Result<Vec<Loaded>, CliError> {
    let mut loaded = Vec::new();
    let mut invalid = Vec::new();
    for path in files {
        let bytes = fs::read(path).map_err(|source| CliError::Unreadable { path: path.clone(), source })?;
        let file = path.display().to_string();
        let templates = PromptFiles::for_job(path, prompts);
        match job::load(&file, &String::from_utf8_lossy(&bytes), &templates) {
            Ok(job) => loaded.push(Loaded { file, job, templates: templates.into_templates() }),
            Err(problems) => invalid.push(problems),
        }
    }
    if invalid.is_empty() { Ok(loaded) } else { Err(CliError::InvalidJobs(invalid)) }
}
