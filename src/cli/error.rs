//! The messages of all errors: where, what, and what to try.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::args::DEFAULT_JOB;
use super::job_files::is_yaml;
use crate::coverage::ToolsError;
use crate::graph::GraphError;
use crate::job::{Problems, render_problems};
use crate::plan::Refusal;
use crate::report::{AMBIGUOUS_ENDING, Ink, one_line, plain};
use crate::run::PreflightFailure;
use crate::store::folder::StoreError;
use crate::text::nearest;

/// A job that can't work as it was asked for.
#[derive(Debug)]
pub(super) struct RefusedJob {
    /// The file, as it was typed.
    file: String,
    /// Everything about it that can't work.
    refusals: Vec<Refusal>,
    /// The file's text, if it is known.
    text: Option<String>,
}

impl RefusedJob {
    /// What can't work of a job, whose text is given where places in it can be told.
    pub(super) fn new(file: String, text: Option<String>, refusals: Vec<Refusal>) -> RefusedJob {
        RefusedJob { file, refusals, text }
    }

    fn words(&self, error: &str) -> String {
        let line = |refusal: &Refusal| {
            let place = refusal.place.as_ref();
            let found = place.zip(self.text.as_deref()).and_then(|(place, text)| place.find(text));
            let at = found.map_or_else(String::new, |found| format!(":{}:{}", found.at.line, found.at.column));
            // A character that the file's own place does not show.
            let within = place.and_then(|place| place.within).filter(|_| !found.is_some_and(|found| found.is_within));
            let within = within.map_or_else(String::new, |within| format!(" ({within})"));
            format!("{error} {}{at}: {}{within}\n  try: {}", plain(&self.file), plain(&refusal.what), refusal.help)
        };
        self.refusals.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

const JOB_FILE: &str = "job file";

/// An argument that names a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileArgument {
    /// The part of the command before it.
    pub(super) before: &'static str,
    /// The kind of file.
    pub(super) kind: &'static str,
}

impl FileArgument {
    /// The job file of a subcommand: what is typed before it.
    pub(super) fn job(before: &'static str) -> FileArgument {
        FileArgument { before, kind: JOB_FILE }
    }

    /// The same with the first YAML file of this folder, if that can be the one.
    fn file_in(&self, folder: &Path) -> Option<String> {
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
fn near(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let there = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).take(10_000);
    let alike: Vec<PathBuf> = there.filter(|there| there.extension() == path.extension() && there.is_file()).collect();
    let stems = alike.iter().filter_map(|path| path.file_stem()?.to_str());
    let near = nearest(path.file_stem()?.to_str()?, stems)?.to_owned();
    let extension = path.extension().map_or_else(String::new, |extension| format!(".{}", extension.display()));
    Some(path.with_file_name(format!("{near}{extension}")).display().to_string())
}

/// The file that stands where a folder has to be.
pub(super) fn file_in_place_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|path| path.exists()).filter(|path| !path.is_dir())
}

/// Whether a folder or file can't be written since it was chosen wrongly; a full or broken disk is another matter.
pub(super) fn is_mistake(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::AlreadyExists
            | Kind::InvalidFilename
            | Kind::IsADirectory
            | Kind::NotADirectory
            | Kind::NotFound
            | Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
    )
}

/// An error before or around a run. Errors within a trial are outcomes.
#[derive(Debug)]
pub(super) enum CliError {
    /// A file that an argument names can't be read.
    Unreadable { path: PathBuf, source: io::Error, argument: FileArgument },
    /// The file of variables can't be read.
    UnreadableEnvFile { path: PathBuf, source: io::Error },
    /// The file of variables has a mistake. Nothing of the line is repeated: it can hold a key.
    InvalidEnvFile { path: PathBuf, line: usize, what: &'static str },
    /// A file of prices can't be understood.
    InvalidPrices { path: PathBuf, what: String },
    /// A list of tools holds none.
    InvalidTools { path: PathBuf, error: ToolsError },
    /// A folder has no job in it, or a pattern means no file.
    NoJobs { path: PathBuf, is_folder: bool, argument: FileArgument },
    /// No case is what `--tag`, `--filter` and `--limit` say.
    NothingSelected { words: String, help: String },
    /// The run has no such case.
    NoSuchCase { case: String, near: Option<String>, known: Vec<String> },
    /// There is no folder where `--prompts` says.
    NoPrompts(PathBuf),
    /// Job files have problems.
    InvalidJobs(Vec<Problems>),
    /// Jobs can't work as they were asked for.
    Refused(Vec<RefusedJob>),
    /// Something that a run needs is missing.
    NotReady { file: String, failures: Vec<PreflightFailure> },
    /// `-o` names a format that there is not.
    UnknownFormat(PathBuf),
    /// `--weights` names a dimension twice.
    RepeatedWeight(String),
    /// A file is another system's, and no agent is named for its cases.
    DataFile { file: String, kind: &'static str },
    /// A weight of a metric that the job does not have: its name, and those that there are.
    UnknownWeight(String, Vec<String>),
    /// A file can't be written, and what to try if that is known.
    Unwritable { path: PathBuf, source: io::Error, help: Option<String> },
    /// No run can be kept in the runs folder; nothing was run.
    NoRunsFolder(StoreError),
    /// The runs folder.
    Store(StoreError),
    /// A subcommand lacks something that only the environment can say.
    Unprepared(Refusal),
    /// The database of the demo agent does not answer as it should.
    Database(GraphError),
    /// No server can listen at this address.
    Unservable { address: SocketAddr, source: io::Error },
    /// The journal could not be written in mid-run.
    Journal { folder: PathBuf, source: io::Error, show: Option<String> },
    /// stdout could not be written.
    Stdout(io::Error),
    /// Something that can't happen did.
    Internal(String),
}

impl CliError {
    /// eval-job itself failed.
    pub(super) const FAILED: u8 = 1;
    /// Bad usage or an invalid job.
    pub(super) const USAGE: u8 = 2;
    /// Something outside is broken.
    const BROKEN: u8 = 102;

    /// The exit status that stands for it.
    pub(super) fn exit_status(&self) -> u8 {
        match self {
            CliError::Unreadable { .. }
            | CliError::NoJobs { .. }
            | CliError::NothingSelected { .. }
            | CliError::NoSuchCase { .. }
            | CliError::NoPrompts(_)
            | CliError::InvalidPrices { .. }
            | CliError::InvalidTools { .. }
            | CliError::UnreadableEnvFile { .. }
            | CliError::InvalidEnvFile { .. }
            | CliError::InvalidJobs(_)
            | CliError::Refused(_)
            | CliError::Unprepared(_)
            | CliError::UnknownFormat(_)
            | CliError::RepeatedWeight(_)
            | CliError::UnknownWeight(..)
            | CliError::DataFile { .. }
            | CliError::Store(
                StoreError::NoSuchRun { .. } | StoreError::NoRuns { .. } | StoreError::Ambiguous { .. },
            ) => CliError::USAGE,
            CliError::Database(_) | CliError::NotReady { .. } => CliError::BROKEN,
            // A full disk is nobody's mistake.
            CliError::NoRunsFolder(StoreError::Io { source, .. }) | CliError::Unwritable { source, .. }
                if is_mistake(source) =>
            {
                CliError::USAGE
            }
            CliError::Store(StoreError::Io { source, .. }) if source.kind() == io::ErrorKind::NotADirectory => {
                CliError::USAGE
            }
            CliError::Store(_)
            | CliError::NoRunsFolder(_)
            | CliError::Unservable { .. }
            | CliError::Unwritable { .. }
            | CliError::Journal { .. }
            | CliError::Stdout(_)
            | CliError::Internal(_) => CliError::FAILED,
        }
    }

    /// The same of a file of `-o`, with the command that writes it later.
    pub(super) fn written_by(self, command: impl Fn(&Path) -> String) -> CliError {
        match self {
            CliError::Unwritable { path, source, .. } => {
                let help = Some(format!("{}, once it can be written, or another path", command(&path)));
                CliError::Unwritable { path, source, help }
            }
            other => other,
        }
    }

    /// The message for the user.
    pub(super) fn words(&self, ink: Ink) -> String {
        let error = ink.bad("error:");
        match self {
            CliError::Unreadable { path, source, argument } if source.kind() == io::ErrorKind::NotFound => {
                let first = match near(path) {
                    _ if path == Path::new(DEFAULT_JOB) => "eval-job init, which writes one; or ".to_owned(),
                    Some(near) => format!("{} {}; or ", argument.before, plain(&near)),
                    None => String::new(),
                };
                let path = plain(&path.display().to_string());
                format!("{error} there is no file {path}\n  try: {first}{argument}")
            }
            CliError::Unreadable { path, argument, .. } if path.is_dir() => {
                let inside = argument.file_in(path).map_or_else(|| argument.to_string(), |file| plain(&file));
                format!("{error} {} is a folder, not a file\n  try: {inside}", plain(&path.display().to_string()))
            }
            CliError::Unreadable { path, source, .. } => {
                format!("{error} {} can't be read: {source}", plain(&path.display().to_string()))
            }
            CliError::UnreadableEnvFile { path, source } => {
                let path = plain(&path.display().to_string());
                format!("{error} {path} can't be read: {source}\n  try: --env-file FILE, with lines such as NAME=value")
            }
            CliError::InvalidEnvFile { path, line, what } => {
                format!("{error} {}:{line}: {what}", plain(&path.display().to_string()))
            }
            CliError::InvalidPrices { path, what } => {
                format!(
                    "{error} {}: {}\n  try: models: {{openai/my-model: {{input: 0.4, cachedInput: 0.1, output: 1.6}}}}, in US dollars \
                     a million tokens",
                    plain(&path.display().to_string()),
                    plain(what)
                )
            }
            CliError::InvalidTools { path, error: problem } => {
                let (path, problem) = (plain(&path.display().to_string()), plain(&problem.to_string()));
                format!("{error} {path}: {problem}\n  try: a list of names: [\"search\", \"order\"]")
            }
            CliError::NoJobs { path, is_folder: true, argument } => {
                let path = plain(&path.display().to_string());
                format!(
                    "{error} there is no job in {path}: no .yml or .yaml file with a `target`\n  try: eval-job init {path}, which writes one; or {argument}"
                )
            }
            CliError::NoJobs { path, is_folder: false, argument } => {
                let path = plain(&path.display().to_string());
                format!("{error} no file matches {path}\n  try: {argument}, or a folder")
            }
            CliError::NothingSelected { words, help } => {
                format!("{error} no case is meant by {}\n  try: {}", plain(words), plain(help))
            }
            CliError::NoSuchCase { case, near, known } => {
                let help = match near {
                    Some(near) => format!("--case {near}"),
                    None => format!("one of {}", one_line(&known.join(", "), 300)),
                };
                format!("{error} the run has no case `{}`\n  try: {}", plain(case), plain(&help))
            }
            CliError::NoPrompts(path) => {
                let path = plain(&path.display().to_string());
                format!(
                    "{error} there is no folder {path}\n  try: --prompts DIR, with templates such as DIR/eval/socrates.jinja"
                )
            }
            CliError::InvalidJobs(files) => {
                let count: usize = files.iter().map(|problems| problems.list.len()).sum();
                let rendered: Vec<String> = files.iter().map(render_problems).collect();
                let noun = if count == 1 { "problem" } else { "problems" };
                format!("{}\n{error} {count} {noun}; nothing was run", rendered.join("\n").trim_end())
            }
            CliError::Refused(jobs) => {
                jobs.iter().map(|job| job.words(&error.to_string())).collect::<Vec<_>>().join("\n")
            }
            CliError::NotReady { file, failures } => {
                let line = |trouble: &PreflightFailure| {
                    let help = match trouble.help.as_str() {
                        "" => String::new(),
                        help => format!("\n  try: {}", plain(help)),
                    };
                    format!("{error} {}: {}{help}", plain(file), plain(&trouble.what))
                };
                failures.iter().map(line).collect::<Vec<_>>().join("\n")
            }
            CliError::UnknownFormat(path) if path == Path::new("-") => {
                format!("{error} -o - is for `eval-job run`\n  try: eval-job show --json, which prints the record")
            }
            CliError::UnknownFormat(path) if path.is_dir() => {
                let path = plain(&path.display().to_string());
                let path = path.trim_end_matches('/');
                format!("{error} {path} is a folder, not a file\n  try: -o {path}/result.html, or another file in it")
            }
            CliError::UnknownFormat(path) if path.to_string_lossy().to_lowercase().ends_with(AMBIGUOUS_ENDING) => {
                let path = plain(&path.display().to_string());
                format!(
                    "{error} {path}: Google ADK and trpc-agent-go both call their results so\n  try: -o adk={path}, or -o trpc={path}"
                )
            }
            CliError::UnknownFormat(path) => format!(
                "{error} {}: the ending tells no format\n  try: a name that ends in .json, .html, .xml (JUnit), .md or .csv, or in tokens.json for the tokens that the models took; or a format before the path: adk=, trpc=, watsonx=, redhat= or otlp=",
                plain(&path.display().to_string())
            ),
            CliError::DataFile { file, kind } => format!(
                "{error} {}: this is {kind}, and nothing says where the agent is\n  try: --target adk=http://localhost:8000, or another transport; or write it as a job: eval-job import",
                plain(file)
            ),
            CliError::UnknownWeight(name, known) => {
                let near = nearest(name, known.iter().map(String::as_str));
                let try_this = match near {
                    Some(near) => format!("--weights {}=…; the job has {}", plain(near), plain(&known.join(", "))),
                    None => format!("one of {}", plain(&known.join(", "))),
                };
                format!("{error} --weights: the run's job has no metric `{}`\n  try: {try_this}", plain(name))
            }
            CliError::RepeatedWeight(name) => {
                format!("{error} --weights names {name} twice\n  try: one weight for each dimension, such as {name}=1")
            }
            CliError::Unwritable { path, source, help } => {
                let help = help.as_ref().map_or_else(String::new, |help| format!("\n  try: {}", plain(help)));
                format!("{error} {} can't be written: {source}{help}", plain(&path.display().to_string()))
            }
            CliError::Store(StoreError::Io { path, source, .. })
            | CliError::NoRunsFolder(StoreError::Io { path, source, .. })
                if matches!(source.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists) =>
            {
                let file = file_in_place_of(path).unwrap_or(path);
                let file = plain(&file.display().to_string());
                format!("{error} {file} is a file, not a folder\n  try: another folder with --runs-dir DIR")
            }
            CliError::Store(source @ StoreError::Io { .. })
            | CliError::NoRunsFolder(source @ StoreError::Io { .. }) => {
                format!("{error} {source}\n  try: another folder with --runs-dir DIR")
            }
            CliError::Store(source @ StoreError::NoRuns { .. }) => {
                format!("{error} {source}\n  try: eval-job run, or another folder with --runs-dir DIR")
            }
            CliError::Store(source @ StoreError::NoSuchRun { .. }) => format!("{error} {source}\n  try: eval-job list"),
            CliError::Store(source @ StoreError::Ambiguous { .. }) => {
                format!("{error} {source}\n  try: the whole id of one of them")
            }
            CliError::Store(source) | CliError::NoRunsFolder(source) => format!("{error} {source}"),
            CliError::Unprepared(refusal) => format!("{error} {}\n  try: {}", refusal.what, refusal.help),
            CliError::Database(source) => format!("{error} {}", plain(&source.message)),
            CliError::Unservable { address, source } => {
                format!(
                    "{error} nothing can listen at {address}: {source}\n  try: another port with --port PORT, 0 for a free one"
                )
            }
            CliError::Journal { folder, source, show } => format!(
                "{error} the journal in {} could not be written: {source}\n  the run was stopped: nothing goes on that can't be kept{}",
                folder.display(),
                show.as_ref().map_or_else(String::new, |show| format!("; what was kept: {show}")),
            ),
            CliError::Stdout(source) => format!("{error} stdout can't be written: {source}"),
            CliError::Internal(what) => format!("{error} eval-job itself failed: {what}"),
        }
    }
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> CliError {
        CliError::Store(error)
    }
}
