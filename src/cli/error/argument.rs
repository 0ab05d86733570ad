//! Arguments that name files, and suggestions where there is no such file.

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

use super::super::job_files::is_yaml;
use crate::text::nearest;

const JOB_FILE: &str = "job file";

/// An argument that names a file.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct FileArgument {
    /// The part of the command before it.
    pub(in crate::cli) before: &'static str,
    /// The kind of file.
    pub(in crate::cli) kind: &'static str,
}

impl FileArgument {
    /// The job file of a subcommand: what is typed before it.
    pub(in crate::cli) fn job(before: &'static str) -> FileArgument {
        FileArgument { before, kind: JOB_FILE }
    }

    /// The same with the first YAML file of this folder, if that can be the one.
    pub(super) fn file_in(&self, folder: &Path) -> Option<String> {
        if self.kind != JOB_FILE {
            return None;
        }
        let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
        let first = files.filter(|path| is_yaml(path) && path.is_file()).min()?;
        Some(format!("{} {}", self.before, first.display()))
    }
}

impl Display for FileArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} FILE, with the path of a {}", self.before, self.kind)
    }
}

/// The file whose name is nearest to that of one that is not there.
pub(super) fn near(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).take(10_000);
    let alike: Vec<PathBuf> = there.filter(|there| there.extension() == path.extension() && there.is_file()).collect();
    let stems = alike.iter().filter_map(|path| path.file_stem()?.to_str());
    let near = nearest(path.file_stem()?.to_str()?, stems)?.to_owned();
    let extension = path.extension().map_or_else(String::new, |extension| format!(".{}", extension.display()));
    Some(path.with_file_name(format!("{near}{extension}")).display().to_string())
}

/// The file that stands where a folder has to be.
pub(in crate::cli) fn file_in_place_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir())
}
