//! The job files that the arguments of a command name: files, folders of them, and patterns.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{CliError, FileArgument};
use crate::text::NamePattern;

/// A file in a folder that is larger than this is not read to find out whether it is a job.
const LARGEST_READ: u64 = 16 << 20;

/// The files that the arguments name.
#[derive(Debug, Default, PartialEq)]
pub(super) struct JobFiles {
    /// Job files, in the order of the arguments, those of a folder or a pattern by name.
    pub(super) files: Vec<PathBuf>,
    /// YAML files of folders and patterns that are no jobs.
    pub(super) left_out: Vec<PathBuf>,
    /// Where those are that were found.
    known: HashSet<PathBuf>,
}

/// The files that these arguments mean. A folder means all jobs in it and below it; of what isn't there, `*` and `?` stand
/// for parts of a name and `**` for any folders. A file that is named is a job, whatever is in it.
///
/// # Errors
/// An argument that means no file.
pub(super) fn job_files(typed: &[PathBuf], argument: FileArgument) -> Result<JobFiles, CliError> {
    let mut found = JobFiles::default();
    for path in typed {
        let before = found.files.len();
        if path.is_dir() {
            found.add_folder(path, argument)?;
        } else if path.exists() || !is_pattern(path) {
            found.known.insert(place(path));
            found.files.push(path.clone());
        } else {
            for path in matching(path) {
                match path.is_dir() {
                    true => found.add_folder(&path, argument)?,
                    // Known answers and prompts lie beside jobs.
                    false if is_yaml(&path) && !is_job(&path) => found.left_out.push(path),
                    false => found.add(path),
                }
            }
        }
        if found.files.len() == before && !found.has_some_of(path) {
            return Err(CliError::NoJobs { path: path.clone(), is_folder: path.is_dir(), argument });
        }
    }
    Ok(found)
}

impl JobFiles {
    fn add_folder(&mut self, folder: &Path, argument: FileArgument) -> Result<(), CliError> {
        let unreadable = |source| CliError::Unreadable { path: folder.to_path_buf(), source, argument };
        for path in yaml_files(folder).map_err(unreadable)? {
            match is_job(&path) {
                true => self.add(path),
                false => self.left_out.push(path),
            }
        }
        Ok(())
    }

    /// Whether files of this folder or pattern were found before.
    fn has_some_of(&self, path: &Path) -> bool {
        let places: HashSet<&Path> = self.known.iter().flat_map(|file| file.ancestors()).collect();
        let has_files = |found: &Path| places.contains(place(found).as_path());
        match path.is_dir() {
            true => has_files(path),
            false => matching(path).iter().any(|found| has_files(found)),
        }
    }

    /// A file that several arguments mean is one job.
    fn add(&mut self, path: PathBuf) {
        if self.known.insert(place(&path)) {
            self.files.push(path);
        }
    }
}

fn canonical(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Where a file or a folder is: `eval/job.yml` and `./eval/job.yml` are one place. A link to a file is a place of its own: what a job names
/// is looked for beside the link.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match path.file_name().filter(|_| !path.is_dir()) {
        Some(name) => canonical(folder).join(name),
        None => canonical(path),
    }
}

/// The YAML files in a folder and below it, by path, without hidden ones and those of installed packages.
fn yaml_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (name, path) = (entry.file_name(), entry.path());
            let is_foreign = name.to_string_lossy().starts_with('.') || name == "node_modules";
            if is_foreign {
                continue;
            }
            // A link to a folder can lead back to where it is.
            if entry.file_type()?.is_dir() {
                folders.push(path);
            } else if is_yaml(&path) && path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file is a YAML file by its ending.
pub(super) fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yml" || ending == "yaml")
}

/// Whether a YAML file is meant to be a job: it has a `target`. What can't be read is one, so that its error is reported.
fn is_job(path: &Path) -> bool {
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= LARGEST_READ);
    match fs::read(path) {
        Ok(bytes) if is_small => has_target(&String::from_utf8_lossy(&bytes)),
        _ => true,
    }
}

fn has_target(text: &str) -> bool {
    const QUOTES: [char; 2] = ['"', '\''];
    let mut lines = text.trim_start_matches('\u{feff}').lines();
    let is_flow_mapping = lines
        .clone()
        .map(str::trim_start)
        .find(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("---"))
        .is_some_and(|line| line.starts_with('{'));
    let is_target = |line: &str| {
        let after = line.trim_start_matches(QUOTES).strip_prefix("target");
        after.is_some_and(|after| after.trim_start_matches(QUOTES).trim_start().starts_with(':'))
    };
    is_flow_mapping || lines.any(is_target)
}

/// Whether a path that isn't there can be a pattern.
fn is_pattern(path: &Path) -> bool {
    path.to_string_lossy().contains(['*', '?'])
}

/// The files and folders that a pattern means, by path.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let mut found = vec![PathBuf::new()];
    for component in pattern.components() {
        let name = component.as_os_str().to_string_lossy();
        found = match name.as_ref() {
            "**" => found.iter().flat_map(|folder| folders_below(folder)).collect(),
            name if name.contains(['*', '?']) => {
                let pattern = NamePattern::new(name);
                let is_selected =
                    |entry: &String| pattern.matches(entry) && (name.starts_with('.') || !entry.starts_with('.'));
                let entries = |folder: &PathBuf| {
                    let names = names(folder).into_iter().filter(is_selected);
                    names.map(|entry| folder.join(entry)).collect::<Vec<_>>()
                };
                found.iter().flat_map(entries).collect()
            }
            _ => found.into_iter().map(|folder| folder.join(component)).filter(|path| path.exists()).collect(),
        };
    }
    found.sort();
    found.dedup();
    found
}

/// This folder and all below it, without hidden ones.
fn folders_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    let mut next = 0;
    while next < found.len() {
        let folder = found[next].clone();
        let inner = names(&folder).into_iter().filter(|name| !name.starts_with('.')).map(|name| folder.join(name));
        // A link to a folder can lead back to where it is.
        found.extend(inner.filter(|path| path.is_dir() && !path.is_symlink()));
        next += 1;
    }
    found
}

fn names(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: &str = "name: x\ntarget: {user: u}\n";

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn found(folder: &tempfile::TempDir, typed: &[&str]) -> Result<Vec<String>, CliError> {
        let typed: Vec<PathBuf> = typed.iter().map(|path| folder.path().join(path)).collect();
        let found = job_files(&typed, FileArgument::job("eval-job run"))?;
        let name = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().to_string_lossy().into_owned();
        let left_out = found.left_out.iter().map(|path| format!("-{}", name(path)));
        Ok(found.files.iter().map(name).chain(left_out).collect())
    }

    #[test]
    fn a_folder_means_the_jobs_in_it_and_below_it() {
        let folder = folder(&[
            ("b.yml", JOB),
            ("a/z.yaml", "# c\n{\"target\": {}}"),
            ("a/y.yml", "'target' : {}"),
            ("prices.yml", "models: {}\n  target: x"),
            ("notes.txt", JOB),
            (".github/workflows/x.yml", JOB),
            ("node_modules/p/x.yml", JOB),
        ]);
        assert_eq!(found(&folder, &[""]).unwrap(), ["a/y.yml", "a/z.yaml", "b.yml", "-prices.yml"]);
        assert_eq!(found(&folder, &["a", "b.yml", "a"]).unwrap(), ["a/y.yml", "a/z.yaml", "b.yml"]);
        assert_eq!(found(&folder, &["notes.txt", "b.yml", "b.yml"]).unwrap(), ["notes.txt", "b.yml", "b.yml"]);
    }

    #[test]
    fn a_folder_that_is_named_in_two_ways_holds_each_job_once() {
        let folder = folder(&[("eval/a.yml", JOB), ("eval/b.yml", JOB)]);
        assert_eq!(found(&folder, &["eval", "eval/../eval"]).unwrap(), ["eval/a.yml", "eval/b.yml"]);
        assert_eq!(found(&folder, &["eval", "eval/../eval/*.yml"]).unwrap(), ["eval/a.yml", "eval/b.yml"]);
    }

    #[test]
    fn a_pattern_means_what_a_shell_means_by_it() {
        let folder = folder(&[("a/one.yml", JOB), ("a/two.yml", JOB), ("a/b/three.yml", JOB), ("a/.four.yml", JOB)]);
        assert_eq!(found(&folder, &["a/*.yml"]).unwrap(), ["a/one.yml", "a/two.yml"]);
        assert_eq!(found(&folder, &["**/t*.yml"]).unwrap(), ["a/b/three.yml", "a/two.yml"]);
        assert_eq!(found(&folder, &["*/b"]).unwrap(), ["a/b/three.yml"]);
        assert_eq!(found(&folder, &["a/o?e.yml", "a/o*"]).unwrap(), ["a/one.yml"]);
        let error = found(&folder, &["a/*.yaml"]).unwrap_err();
        assert!(matches!(error, CliError::NoJobs { is_folder: false, .. }), "{error:?}");
        fs::create_dir(folder.path().join("empty")).unwrap();
        let error = found(&folder, &["empty"]).unwrap_err();
        assert!(matches!(error, CliError::NoJobs { is_folder: true, .. }), "{error:?}");
    }

    #[test]
    fn a_file_whose_name_looks_like_a_pattern_is_that_file() {
        let folder = folder(&[("what?.yml", JOB), ("whatx.yml", JOB)]);
        assert_eq!(found(&folder, &["what?.yml"]).unwrap(), ["what?.yml"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_in_two_folders_are_two_jobs() {
        let folder = folder(&[("common/agent.yml", JOB), ("a/notes.txt", ""), ("b/notes.txt", "")]);
        for team in ["a", "b"] {
            std::os::unix::fs::symlink("../common/agent.yml", folder.path().join(team).join("agent.yml")).unwrap();
        }
        assert_eq!(found(&folder, &["*/agent.yml", "a"]).unwrap(), ["a/agent.yml", "b/agent.yml", "common/agent.yml"]);
    }

    #[test]
    fn a_pattern_leaves_out_files_that_are_no_jobs() {
        let folder = folder(&[("a.yml", JOB), ("known/good.yml", "replies: [yes]\n")]);
        assert_eq!(found(&folder, &["**/*.yml"]).unwrap(), ["a.yml", "-known/good.yml"]);
    }
}
