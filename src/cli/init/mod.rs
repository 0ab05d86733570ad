//! `eval-job init`

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;

use super::args::InitArgs;
use super::error::{CliError, file_in_place_of, is_mistake};
use super::printer::Printer;
use crate::job;
use crate::plan::Refusal;

/// The ways of reaching an agent for which there is a first job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum InitTarget {
    /// Sessions, messages and object contexts over HTTP, as Embabel's agents speak them
    Embabel,
    /// A bare model behind chat completions
    Openai,
    /// A bare model behind the Responses API
    Responses,
    /// Any REST agent
    Http,
    /// Any agent behind a WebSocket
    Websocket,
    /// A command that talks by standard input and output
    Command,
    /// Google ADK's api_server
    Adk,
    /// An Agent2Agent server
    A2a,
    /// trpc-agent-go's agent server
    Trpc,
    /// watsonx Orchestrate
    Watsonx,
    /// An agent that eval-job starts, with a graph of its own
    Start,
}

impl InitTarget {
    /// Its lines below `target:`.
    fn section(self) -> &'static str {
        match self {
            InitTarget::Embabel => include_str!("targets/embabel.yml"),
            InitTarget::Openai => include_str!("targets/openai.yml"),
            InitTarget::Responses => include_str!("targets/responses.yml"),
            InitTarget::Http => include_str!("targets/http.yml"),
            InitTarget::Websocket => include_str!("targets/websocket.yml"),
            InitTarget::Command => include_str!("targets/command.yml"),
            InitTarget::Adk => include_str!("targets/adk.yml"),
            InitTarget::A2a => include_str!("targets/a2a.yml"),
            InitTarget::Trpc => include_str!("targets/trpc.yml"),
            InitTarget::Watsonx => include_str!("targets/watsonx.yml"),
            InitTarget::Start => include_str!("targets/start.yml"),
        }
    }
}

/// Where the job goes: the one that `eval-job run` means without a file.
const JOB: &str = super::args::DEFAULT_JOB;

/// Writes a first job, its schema, the variables that it needs and a CI workflow. A file that is there stays as it is,
/// and then nothing is written, unless it is forced.
pub(super) fn init(args: &InitArgs, printer: &Arc<Printer>) -> Result<u8, CliError> {
    let job = include_str!("job.yml").replace("TARGET\n", args.target.section());
    let is_here = args.folder == Path::new(".");
    let folder = if is_here { Path::new("") } else { args.folder.as_path() };
    let files: [(PathBuf, String); 4] = [
        (folder.join(JOB), job),
        (folder.join(JOB).with_file_name("job.schema.json"), format!("{:#}\n", job::schema())),
        (folder.join(".env.example"), include_str!("env.example").to_owned()),
        (folder.join(".github/workflows/agent-eval.yml"), include_str!("workflow.yml").to_owned()),
    ];
    let there: Vec<String> =
        files.iter().filter(|(path, _)| path.exists()).map(|(path, _)| path.display().to_string()).collect();
    if !there.is_empty() && !args.force {
        return Err(CliError::Unprepared(Refusal::new(
            format!("there already: {}; nothing was written", there.join(", ")),
            "write to another folder, or --force to replace",
        )));
    }
    for (path, text) in &files {
        write(path, text, args.force).map_err(|source| unwritten(path, source))?;
        printer.note(&format!("wrote {}", path.display()));
    }
    let here = if is_here { String::new() } else { format!("cd {} && ", args.folder.display()) };
    // A bare model has to be named.
    let model = if matches!(args.target, InitTarget::Openai | InitTarget::Responses) { " --model NAME" } else { "" };
    let commands = [
        (format!("{here}eval-job probe{model}"), "says hello to it"),
        (format!("{here}eval-job validate"), "finds what is wrong with the job"),
        (format!("{here}eval-job run{model}"), "evaluates it"),
    ];
    let width = commands.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    let commands: String = commands.iter().map(|(command, what)| format!("  {command:width$}   {what}\n")).collect();
    printer.note(&format!(
        "next:\n  say in {} where your agent is and what it is to do\n{commands}keep .env and runs/ out of version control",
        folder.join(JOB).display()
    ));
    Ok(0)
}

/// Why a file could not be written: the folder was chosen wrongly, or the disk fails.
fn unwritten(path: &Path, source: io::Error) -> CliError {
    let help = "eval-job init FOLDER, with a folder that can be written to".to_owned();
    match path.parent().and_then(file_in_place_of) {
        Some(file) => CliError::Unprepared(Refusal::new(format!("{} is a file, not a folder", file.display()), help)),
        None if is_mistake(&source) => {
            CliError::Unprepared(Refusal::new(format!("{} can't be written: {source}", path.display()), help))
        }
        None => CliError::Unwritable { path: path.to_path_buf(), source, help: Some(help) },
    }
}

/// A file that came to be meanwhile isn't replaced either.
fn write(path: &Path, text: &str, force: bool) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(force).create_new(!force).truncate(force);
    options.open(path)?.write_all(text.as_bytes())
}
