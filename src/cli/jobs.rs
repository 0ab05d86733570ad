//! Reading job files.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::error::{CliError, FileArgument};
use super::prompts::PromptFiles;
use super::selection::CaseSelection;
use crate::dataset;
use crate::job::{self, Job};
use crate::prompt::Templates;
use crate::secret::{Redactor, Secret};

/// A job that was read, with the templates it names.
pub(super) struct Loaded {
    /// The file, as it was typed.
    pub(super) file: String,
    pub(super) text: String,
    pub(super) job: Job,
    pub(super) templates: Templates,
    /// Which of its cases are left, where not all of them are.
    pub(super) selection: Option<CaseSelection>,
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
        let text = text(path).map_err(unreadable)?;
        let file = path.display().to_string();
        if dataset::is_json(&text)
            && let Ok(kind) = dataset::recognise(&file, &text)
        {
            return Err(CliError::DataFile { file, kind: kind.name() });
        }
        let learn = |secrets: Vec<Secret>| redactor.learn_all(secrets.iter().map(Secret::expose));
        let templates = PromptFiles::for_job(path, prompts);
        match job::load_and_learn(&file, &text, &templates, learn) {
            Ok(job) => {
                let templates = templates.into_templates();
                loaded.push(Loaded { file, text, job, templates, selection: None });
            }
            Err(problems) => invalid.push(problems),
        }
    }
    if invalid.is_empty() { Ok(loaded) } else { Err(CliError::InvalidJobs(invalid)) }
}

/// The largest job file that is read.
pub(super) const LARGEST: u64 = 64 << 20;

/// The text of a file, if it is one and not too large.
pub(super) fn text(path: &Path) -> io::Result<String> {
    utf8(bytes(path)?)
}

/// The text of a job file, `-` being standard input. A pipe or a device may never end, and is refused.
fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let refused = |what: String| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    let too_large = || refused(format!("it is larger than {} MB, which no job is", LARGEST >> 20));
    let is_stdin = path.as_os_str() == "-";
    let mut bytes = Vec::new();
    if is_stdin {
        io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes)?;
    } else {
        let there = fs::metadata(path)?;
        match there.len() {
            _ if !there.is_file() && !there.is_dir() => {
                return refused("it is a pipe or a device; `-` reads standard input".to_owned());
            }
            size if there.is_file() && size > LARGEST => return too_large(),
            _ => File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?,
        };
    }
    if bytes.len() as u64 > LARGEST { too_large() } else { Ok(bytes) }
}

/// The text of a file; guessing at another encoding would change what the job says.
fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        io::Error::new(io::ErrorKind::InvalidData, format!("line {line} is not UTF-8; save the file as UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_and_a_file_that_no_job_can_be_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (large, small) = (folder.path().join("large.yml"), folder.path().join("small.yml"));
        File::create(&large).unwrap().set_len(5 << 30).unwrap();
        fs::write(&small, "name: x\n").unwrap();
        assert_eq!(bytes(&small).unwrap(), b"name: x\n");
        assert!(bytes(&large).unwrap_err().to_string().contains("larger than 64 MB"));
        #[cfg(unix)]
        assert!(bytes(Path::new("/dev/zero")).unwrap_err().to_string().contains("a pipe or a device"));
    }
}
