//! Errors as their reader sees them: where, what, and what to try.

use std::io;
use std::path::Path;

use super::super::args::{DEFAULT_JOB, runs_dir_flag};
use super::argument::near;
use super::{CliError, file_in_place_of};
use crate::job::render_problems;
use crate::report::{AMBIGUOUS_ENDING, Ink, beside_gate, one_line, plain};
use crate::run::PreflightFailure;
use crate::store::folder::StoreError;
use crate::store::postgres::TeamError;
use crate::store::sqlite::IndexTrouble;
use crate::text::nearest;
use crate::tool_list::ToolsError;

impl CliError {
    /// The message without colours, and without the leading `error:`.
    pub(in crate::cli) fn message(&self) -> String {
        let message = self.colored_message(Ink::None);
        message.strip_prefix("error: ").unwrap_or(&message).to_owned()
    }

    /// The message for the user, on several lines.
    pub(in crate::cli) fn colored_message(&self, ink: Ink) -> String {
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
            CliError::InvalidEnvFile { path, line, error: what } => {
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
                let is_empty = &(*problem == ToolsError::NoTools);
                let (path, problem) = (plain(&path.display().to_string()), plain(&problem.to_string()));
                let place = if *is_empty { ":1:1" } else { "" };
                format!("{error} {path}{place}: {problem}\n  try: a list of names: [\"search\", \"order\"]")
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
            CliError::NothingSelected { flags, help } => {
                format!("{error} no case is meant by {}\n  try: {}", plain(flags), plain(help))
            }
            CliError::NoSuchCase { case, near, known } => {
                let help = match near {
                    Some(near) => format!("--case {near}"),
                    None => format!("one of {}", one_line(&known.join(", "), 300)),
                };
                format!("{error} the run has no case `{}`\n  try: {}", plain(case), plain(&help))
            }
            CliError::Canaries { file, is_unknown: true } => format!(
                "{error} {}: the judge gave no usable verdict on known conversations (gate.canaries), so nothing was run\n  try: another scorer.model, or once more",
                plain(file)
            ),
            CliError::CanariesUnpaid { file, why } => format!(
                "{error} {}: {why}, before the judge had seen all known conversations (gate.canaries), so nothing was run\n  try: a higher limit, or fewer of them",
                plain(file)
            ),
            CliError::Canaries { file, is_unknown: false } => format!(
                "{error} {}: the judge does not tell known conversations apart (gate.canaries), so nothing was run\n  try: another scorer.model, sharper acceptance criteria, or `eval-job check` on the folder until it does",
                plain(file)
            ),
            CliError::TrivialScore { file, score, most } => format!(
                "{error} {file}: an agent that does nothing gets {score}, and gate.maxTrivialScore allows {most}, so nothing was run\n  try: `eval-job audit {file}` shows what lets it pass",
                score = beside_gate(*score, Some(*most)),
                file = plain(file)
            ),
            CliError::TrivialUnknown { file, why } => format!(
                "{error} {file}: what an agent that does nothing gets could not be determined (gate.maxTrivialScore), so nothing was run: {}\n  try: `eval-job audit {file}` shows more",
                one_line(why, 300),
                file = plain(file)
            ),
            CliError::Interrupted => format!("{error} interrupted before anything was run"),
            CliError::NothingJudged => {
                format!(
                    "{error} no judge scored anything in this run\n  try: a run whose job has tasks, or a metric that asks a judge"
                )
            }
            CliError::NotJudged { metric, judged } => {
                let judged = one_line(&judged.join(", "), 300);
                format!("{error} no judge scores `{}` in this run\n  try: --metric with one of {judged}", plain(metric))
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
                jobs.iter().map(|job| job.message(&error.to_string())).collect::<Vec<_>>().join("\n")
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
                let room = is_full(source).then(|| "free some space there".to_owned());
                let helps: Vec<String> = room.into_iter().chain(help.clone()).collect();
                let help =
                    if helps.is_empty() { String::new() } else { format!("\n  try: {}", plain(&helps.join(", or "))) };
                format!("{error} {} can't be written: {source}{help}", plain(&path.display().to_string()))
            }
            CliError::Compare(problem) => {
                let words: Vec<String> = problem.to_string().lines().map(plain).collect();
                format!("{error} {}\n  try: {}", words.join("\n"), problem.help())
            }
            CliError::Trend(problem) => format!("{error} {}\n  try: {}", plain(&problem.to_string()), problem.help()),
            CliError::Store(source) => store_message(&error.to_string(), source, "free some space there"),
            CliError::Team(source) => {
                format!("{error} {}\n  try: {}", plain(&source.to_string()), help_of_team(source))
            }
            CliError::NoRunsFolder(source) => store_message(
                &error.to_string(),
                source,
                "free some space there, or another folder with --runs-dir DIR",
            ),
            CliError::Unprepared(refusal) => format!("{error} {}\n  try: {}", refusal.what, refusal.help),
            CliError::Cassette(problem) => {
                format!("{error} {}\n  try: {}", plain(&problem.to_string()), problem.help())
            }
            CliError::CacheFolder { path, source } => format!(
                "{error} the cache {} can't be read, or not removed: {source}\n  try: allow it, or another folder with --runs-dir DIR",
                plain(&path.display().to_string())
            ),
            CliError::Database(source) => format!("{error} {}", plain(&source.message)),
            CliError::Unservable { address, source } => {
                format!(
                    "{error} nothing can listen at {address}: {source}\n  try: another port with --port PORT, 0 for a free one"
                )
            }
            CliError::Journal { folder, source, next, resume } => format!(
                "{error} the journal in {} could not be written: {source}\n  the run was stopped: nothing goes on that can't be kept{}{}",
                folder.display(),
                next.as_ref().map_or_else(String::new, |next| format!("; {next}")),
                match (is_full(source), resume) {
                    (true, Some(command)) => format!("\n  try: free some space there, then {command}"),
                    (true, None) => "\n  try: free some space there".to_owned(),
                    (false, Some(command)) => format!("\n  try: once it can be written, {command}"),
                    (false, None) => String::new(),
                },
            ),
            CliError::Stdout(source) => format!("{error} stdout can't be written: {source}"),
            CliError::Internal(what) => format!("{error} eval-job itself failed: {what}"),
        }
    }
}

/// An error of the runs folder; `room` is what helps where the disk is full.
fn store_message(error: &str, source: &StoreError, room: &str) -> String {
    match source {
        StoreError::Io { path, source, .. }
            if matches!(source.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists) =>
        {
            let file = plain(&file_in_place_of(path).unwrap_or(path).display().to_string());
            format!("{error} {file} is a file, not a folder\n  try: another folder with --runs-dir DIR")
        }
        StoreError::Io { source: why, .. } if is_full(why) => format!("{error} {source}\n  try: {room}"),
        StoreError::Io { .. } => format!("{error} {source}\n  try: another folder with --runs-dir DIR"),
        StoreError::NoRuns { .. } => {
            format!("{error} {source}\n  try: eval-job run, or another folder with --runs-dir DIR")
        }
        StoreError::NoSuchRun { path, .. } => format!("{error} {source}\n  try: eval-job list{}", runs_dir_flag(path)),
        StoreError::JustBegun(_) => format!("{error} {source}\n  try: again in a moment"),
        StoreError::NothingLeft { .. } => {
            format!("{error} {source}\n  try: another run, which `eval-job list` names; its folder can be deleted")
        }
        StoreError::Ambiguous { .. } => format!("{error} {source}\n  try: the whole id of one of them"),
        StoreError::NoSuchBaseline { known, path, .. } => match known.as_slice() {
            [] => format!("{error} {source}\n  try: eval-job baseline set NAME RUN{}", runs_dir_flag(path)),
            known => format!("{error} {source}\n  try: one of {}", one_line(&known.join(", "), 300)),
        },
        StoreError::InUse { id, path } => {
            let flag = path.parent().map(runs_dir_flag).unwrap_or_default();
            format!("{error} {source}\n  try: wait for it to end; eval-job show {id}{flag} shows how far it is")
        }
        StoreError::BaselineDeleted { name, path, .. } => {
            let flag = runs_dir_flag(path);
            format!("{error} {source}\n  try: eval-job baseline set {name} RUN{flag}, with another run")
        }
        StoreError::Index(IndexTrouble::Locked(_)) => {
            format!("{error} {source}\n  try: again, once that one has ended")
        }
        StoreError::Index(_) => {
            format!("{error} {source}\n  try: make it writable; without it, the folders of the runs are read")
        }
        source => format!("{error} {source}"),
    }
}

/// The remedy to suggest with the store of a team.
fn help_of_team(error: &TeamError) -> &'static str {
    match error {
        TeamError::Address(_) => {
            "postgres://HOST:5432/DATABASE?sslmode=verify-full, with USER:PASSWORD@ before the host"
        }
        TeamError::NotBuilt => "a build with the feature `postgres`, or without --store",
        TeamError::Away { .. } => "again, once it can be reached; nothing is lost meanwhile",
        TeamError::Refused { .. } => "another user, password or database in EVAL_JOB_STORE",
        TeamError::Newer(_) => "the eval-job that the team has",
        TeamError::Ambiguous { .. } => "the whole id of one of them",
        TeamError::Failed { .. } | TeamError::Io { .. } | TeamError::Run(_) => "again, or without --store",
    }
}

/// Whether there is no room on the disk, or no more of it for this user.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
