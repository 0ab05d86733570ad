//! The files of `-o`.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::{CliError, file_in_place_of, is_mistake};
use super::stored::StoredPrompts;
use super::whole_file::{self, WholeFile};
use crate::plan::Refusal;
use crate::record::{DocumentError, Overview};
use crate::report::{Format, ResultFile, ResultFolder, Screen, WrittenRun, plain, terminal_json};
use crate::secret::Variables;
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
    /// Whether the path is a folder.
    is_folder: bool,
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
    paths.iter().map(|typed| checked_output(typed, summary)).collect()
}

fn checked_output(typed: &Path, summary: Option<&Path>) -> Result<OutputFile, CliError> {
    let is_appended = summary == Some(typed);
    let (named, path) = prefixed(typed)?;
    if path == Path::new(STDOUT) {
        let format = named.unwrap_or(Format::Json);
        if format.is_folder() {
            return Err(no_folder(format));
        }
        return Ok(OutputFile { path, format, is_appended, is_folder: false });
    }
    let format = if is_appended { Some(Format::Markdown) } else { named.or_else(|| Format::from_path(&path)) };
    let format = format.ok_or_else(|| CliError::UnknownFormat(path.clone()))?;
    let is_folder = format.is_folder() || (named.is_some() && is_folder(&path));
    checked(path, format, is_appended, is_folder)
}

/// Whether a path is a folder, in which the format's file gets a name of its own.
fn is_folder(path: &Path) -> bool {
    path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// A file or folder for this format, if it can be written.
pub(super) fn output_at(path: PathBuf, format: Format) -> Result<OutputFile, CliError> {
    let is_folder = format.is_folder() || is_folder(&path);
    checked(path, format, false, is_folder)
}

fn checked(path: PathBuf, format: Format, is_appended: bool, is_folder: bool) -> Result<OutputFile, CliError> {
    if is_folder {
        check_folder(&path)?
    } else {
        check_place(&path)?
    }
    Ok(OutputFile { path, format, is_appended, is_folder })
}

/// `adk=results.json`: a format by its name, and the path. What stands before a `=` and is no format's name is part of the
/// path; `./adk=results.json` is a path too.
fn prefixed(typed: &Path) -> Result<(Option<Format>, PathBuf), CliError> {
    let split = typed.to_str().and_then(|text| text.split_once('='));
    match split.and_then(|(name, path)| Some((name.parse::<Format>().ok()?, path))) {
        Some((format, path)) if !path.is_empty() => Ok((Some(format), PathBuf::from(path))),
        Some((format, _)) => Err(CliError::Unprepared(Refusal::new(
            format!("-o {}= has no path behind it", format.name()),
            format!("-o {}=PATH", format.name()),
        ))),
        None => match split.and_then(|(name, path)| Some((name, Format::nearest(name)?, path))) {
            Some((name, near, path)) => Err(CliError::Unprepared(Refusal::new(
                format!("there is no format `{}` for -o", plain(name)),
                format!(
                    "-o {near}={}, or -o ./{} for a file of that name",
                    plain(path),
                    plain(&typed.display().to_string())
                ),
            ))),
            None => Ok((None, typed.to_path_buf())),
        },
    }
}

/// A format that is a folder, where one file is asked for.
pub(super) fn no_folder(format: Format) -> CliError {
    CliError::Unprepared(Refusal::new(
        format!("{} is a folder of files: it can't be printed", format.name()),
        "a folder with -o FOLDER",
    ))
}

/// Whether files can be written into a folder, which is made where there is none.
fn check_folder(path: &Path) -> Result<(), CliError> {
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => check_place(&path.join(".eval-job")),
        Ok(_) => Err(unwritable(path, "it is a file, not a folder", "")),
        Err(_) => {
            // `out/` as `out`.
            let name: PathBuf = path.components().collect();
            check_place(&name)
        }
    }
}

/// Refuses a path that no file can be written to.
pub(super) fn check_place(path: &Path) -> Result<(), CliError> {
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
    CliError::Unprepared(Refusal::new(
        format!("{} can't be written: {what}", path.display()),
        format!("{help}another path with -o PATH"),
    ))
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
        if file.is_folder {
            write_folder(file, runs)?;
            continue;
        }
        let refused = |source| unwritten(file, source);
        if file.is_appended {
            let opened = File::options().append(true).create(true).open(&file.path).map_err(refused)?;
            write_one(file, runs, BufWriter::new(opened))?;
            continue;
        }
        let mut whole = WholeFile::open(&file.path).map_err(refused)?;
        write_one(file, runs, &mut whole)?;
        Box::new(whole).finish().map_err(refused)?;
    }
    Ok(())
}

/// The same for a process that may end meanwhile: a file that was there before is replaced by a whole one, or not at all.
pub(super) fn write_at_once<R: StoredRun>(files: &[OutputFile], runs: &[OutputRun<'_, R>]) -> Result<(), CliError> {
    for file in files.iter().filter(|file| !file.is_stdout()) {
        if file.is_folder {
            write_folder(file, runs)?;
            continue;
        }
        let mut text = Vec::new();
        write_one(file, runs, &mut text)?;
        let written = match file.is_appended {
            true => File::options().append(true).create(true).open(&file.path).and_then(|mut it| it.write_all(&text)),
            false => whole_file::write_at_once(&file.path, &text),
        };
        written.map_err(|source| unwritten(file, source))?;
    }
    Ok(())
}

fn unwritten(file: &OutputFile, source: io::Error) -> CliError {
    CliError::Unwritable { path: file.path.clone(), source, help: None }
}

fn failed(file: &OutputFile, error: DocumentError<StoreError>) -> CliError {
    match error {
        DocumentError::Read(error) => error.into(),
        DocumentError::Write(source) => unwritten(file, source),
    }
}

fn write_one<R: StoredRun>(file: &OutputFile, runs: &[OutputRun<'_, R>], to: impl Write) -> Result<(), CliError> {
    let runs: Vec<WrittenRun<'_, StoreError>> = runs.iter().map(OutputRun::written).collect();
    file.format.write(&runs, to).map_err(|error| failed(file, error))
}

fn write_folder<R: StoredRun>(file: &OutputFile, runs: &[OutputRun<'_, R>]) -> Result<(), CliError> {
    let runs: Vec<WrittenRun<'_, StoreError>> = runs.iter().map(OutputRun::written).collect();
    let mut folder = DiskFolder { path: file.path.clone() };
    file.format.write_folder(&runs, &mut folder).map_err(|error| failed(file, error))
}

/// Prints the runs as one document.
pub(super) fn print<R: StoredRun>(format: Format, runs: &[OutputRun<'_, R>], to: impl Write) -> Result<(), CliError> {
    let file = OutputFile { path: PathBuf::from(STDOUT), format, is_appended: false, is_folder: false };
    write_one(&file, runs, to).map_err(|error| match error {
        CliError::Unwritable { source, .. } => CliError::Stdout(source),
        other => other,
    })
}

/// The table that the format's own system prints, where it prints one.
pub(super) fn table<R: StoredRun>(
    format: Format,
    runs: &[OutputRun<'_, R>],
    screen: Screen,
) -> Result<Option<String>, CliError> {
    let runs: Vec<WrittenRun<'_, StoreError>> = runs.iter().map(OutputRun::written).collect();
    format.table(&runs, screen).map_err(|error| match error {
        DocumentError::Read(error) => error.into(),
        DocumentError::Write(source) => CliError::Stdout(source),
    })
}

/// A folder on disk, which is made when the first file comes.
struct DiskFolder {
    path: PathBuf,
}

impl ResultFolder for DiskFolder {
    fn file(&mut self, path: &str) -> io::Result<Box<dyn ResultFile>> {
        let path = self.path.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(Box::new(WholeFile::open(&path)?))
    }
}

impl<R: StoredRun> OutputRun<'_, R> {
    /// A run to write: its trials are read as often as the format needs them.
    pub(super) fn written(&self) -> WrittenRun<'_, StoreError> {
        WrittenRun {
            overview: self.overview,
            trials: Box::new(|| Box::new(self.run.trials())),
            with_prompts: Box::new(|trial| self.prompts.filled_in(trial)),
            review: Box::new(|trial| self.prompts.review(trial)),
            criteria: self.prompts.criteria(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_named_before_the_path() {
        for (typed, format, path) in [
            ("adk=a.json", Some(Format::Adk), "a.json"),
            ("trpc=out/x.evalset_result.json", Some(Format::Trpc), "out/x.evalset_result.json"),
            ("watsonx=folder=1", Some(Format::Watsonx), "folder=1"),
            ("./adk=a.json", None, "./adk=a.json"),
            ("a=b.json", None, "a=b.json"),
            ("plain.json", None, "plain.json"),
        ] {
            assert_eq!(prefixed(Path::new(typed)).unwrap(), (format, PathBuf::from(path)), "{typed}");
        }
    }
}
