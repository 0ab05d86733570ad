//! The loader's interface to the files that a job names: templates, and texts for judges.

use std::io;

use super::{ContextText, UserPersona};

/// The files that a job names.
pub trait TemplateCheck {
    /// The template's problem: not there, not valid, a variable that this kind does not have.
    fn problem(&self, name: &str, kind: PromptRole) -> Option<TemplateProblem>;

    /// The persona of this name.
    ///
    /// # Errors
    /// There is none, or its file is not valid.
    fn persona(&self, name: &str) -> Result<UserPersona, TemplateProblem> {
        UserPersona::shipped(name)
    }

    /// The text of a file, or the texts of a folder, by its path from the job's folder.
    ///
    /// # Errors
    /// There is none, or it is of no use to a judge.
    fn context(&self, path: &str) -> Result<Vec<ContextText>, ContextFileError> {
        Err(ContextFileError::NoFiles { path: path.to_owned() })
    }
}

/// Why there are no texts for judges at a path of the job.
#[derive(Debug, thiserror::Error)]
pub enum ContextFileError {
    /// Files can't be read where the job is loaded.
    #[error("{path} can't be read here")]
    NoFiles {
        /// The path, as the job has it.
        path: String,
    },
    /// The folder can't be listed.
    #[error("the folder {path} can't be read: {source}")]
    Folder {
        /// The path, as the job has it.
        path: String,
        /// The error.
        source: io::Error,
    },
    /// The folder has no file of a known ending.
    #[error("the folder {path} has no .txt, .md or .json file")]
    EmptyFolder {
        /// The path, as the job has it.
        path: String,
    },
    /// The folder has too many files.
    #[error("the folder {path} has more than {most} files")]
    TooManyFiles {
        /// The path, as the job has it.
        path: String,
        /// The most files that are read.
        most: usize,
    },
    /// A file can't be read, or is no text.
    #[error("{path} can't be read: {source}")]
    File {
        /// The file's path from the job's folder.
        path: String,
        /// The error.
        source: io::Error,
    },
    /// All files together have more text than a judge can read.
    #[error("{path} has more than {} MB of text, which no judge can read", .most_bytes >> 20)]
    TooLong {
        /// The path, as the job has it.
        path: String,
        /// The most bytes that are read.
        most_bytes: u64,
    },
}

/// A problem of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateProblem {
    /// In a sentence.
    pub message: String,
    /// Where in the template's own file; `None` where the job's line is the place.
    pub place: Option<TemplatePlace>,
}

/// A place in a template's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplatePlace {
    /// The file, as it is to be named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// The length of the marked part of the line in characters, at least 1.
    pub width: usize,
    /// The line, without its break.
    pub source_line: String,
}

impl From<String> for TemplateProblem {
    fn from(message: String) -> TemplateProblem {
        TemplateProblem { message, place: None }
    }
}

/// The role that a template instructs; it decides which variables there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptRole {
    /// The persona's: `evaluator.prompt`.
    Persona,
    /// The persona's, where a case has a `plan`: it must show it.
    PersonaWithPlan,
    /// The judge's: `scorer.prompt`.
    Judge,
}
