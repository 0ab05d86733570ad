//! Parses the command line: what was typed, else environment variables, else the env file.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, CommandFactory, FromArgMatches};

use super::{Args, Command};
use crate::cli::context;
use crate::cli::env_file::EnvFile;
use crate::cli::job_files::is_yaml;
use crate::text::nearest;

/// Variables that are no flag's.
const OTHER_VARIABLES: [&str; 3] = ["EVAL_JOB_AGENT_API_KEY", "EVAL_JOB_REFERENCE_API_KEY", "EVAL_JOB_STARTED_BY"];

impl Args {
    /// Parses the command line; an argument that was not typed is taken from its environment variable, else from the env file.
    ///
    /// # Errors
    /// clap's words, which are help, the version or what is wrong.
    pub(in crate::cli) fn typed(typed: &[OsString], file: &EnvFile) -> Result<Args, clap::Error> {
        let command = Args::command_of(file);
        let outer = typed.iter().skip(1).find_map(|word| command.find_subcommand(word));
        let outer = outer.filter(|inner| inner.has_subcommands()).unwrap_or(&command);
        let subcommands: Vec<String> = outer.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
        let matches = command.try_get_matches_from(typed).map_err(|error| with_subcommands(error, &subcommands))?;
        Args::from_arg_matches(&matches)
    }

    /// The command line, with what a file of variables says.
    pub(super) fn command_of(file: &EnvFile) -> clap::Command {
        let twin = |arg: Arg| with_file_value(unset_where_empty(negative_as_value(arg)), file);
        Args::command().mut_subcommands(|command| command.mut_args(twin).mut_subcommands(|inner| inner.mut_args(twin)))
    }

    /// A sentence about each of these variables that looks like one of ours and is none.
    pub(in crate::cli) fn unknown_variables<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut commands = vec![Args::command()];
        let mut known: Vec<String> = OTHER_VARIABLES.map(str::to_owned).to_vec();
        while let Some(command) = commands.pop() {
            let variables = command.get_arguments().filter_map(|arg| arg.get_env()?.to_str());
            known.extend(variables.map(str::to_owned));
            commands.extend(command.get_subcommands().cloned());
        }
        let is_unknown = |name: &&str| {
            name.starts_with("EVAL_JOB_") && !name.starts_with("EVAL_JOB_TEST_") && !known.iter().any(|it| it == name)
        };
        let described = |name: &str| {
            let near = nearest(name, known.iter().map(String::as_str)).map(|near| format!("; did you mean {near}?"));
            format!("{name} is no variable of eval-job{}", near.unwrap_or_default())
        };
        names.filter(is_unknown).map(described).collect()
    }

    /// The file of variables that a subcommand reads: `None` where it reads none, `Some(None)` for the usual one.
    pub(in crate::cli) fn env_file(&self) -> Option<Option<&Path>> {
        match &self.command {
            Command::Run(args) => Some(args.plan.files.env_file.as_deref()),
            Command::Validate(args) => Some(args.plan.files.env_file.as_deref()),
            Command::Probe(args) => Some(args.env_file.as_deref()),
            Command::Grade(args) => Some(args.files.env_file.as_deref()),
            Command::Check(args) => Some(args.files.env_file.as_deref()),
            Command::Calibrate(args) => Some(args.env_file.as_deref()),
            _ => None,
        }
    }
}

/// A subcommand that there is not: the nearest one, and all that there are.
fn with_subcommands(mut error: clap::Error, subcommands: &[String]) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let near = nearest(typed, subcommands.iter().map(String::as_str)).map(str::to_owned);
    if is_yaml(Path::new(typed)) {
        let run = format!("a job is run by `eval-job run {typed}`");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![run.into()]));
        return error;
    }
    // A longer name has clap's own suggestion.
    if error.get(ContextKind::SuggestedSubcommand).is_none()
        && let Some(near) = near
    {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    let all = format!("the subcommands are {}", subcommands.join(", "));
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![all.into()]));
    error
}

/// `--repeat -1` is a number that is wrong, not a flag that there is not.
fn negative_as_value(arg: Arg) -> Arg {
    let takes_value = arg.get_action().takes_values() && !arg.is_positional();
    if takes_value { arg.allow_negative_numbers(true) } else { arg }
}

/// The argument with the file's value of its variable as the default. A variable that is set, though it be empty,
/// is the environment's word.
fn with_file_value(arg: Arg, file: &EnvFile) -> Arg {
    let value = arg.get_env().and_then(|name| Some((name, file.get(name.to_str()?)?)));
    match value {
        Some((name, value)) if !value.is_empty() && !context::is_set(name) => {
            let delimiter = arg.get_value_delimiter();
            let values: Vec<String> = match delimiter {
                Some(delimiter) => value.split(delimiter).map(str::to_owned).collect(),
                None => vec![value.clone()],
            };
            arg.default_values(values)
        }
        _ => arg,
    }
}

/// An empty variable says nothing: that is how CI systems pass on what is not set.
fn unset_where_empty(arg: Arg) -> Arg {
    let is_empty = arg.get_env().is_some_and(context::is_empty);
    if is_empty { arg.env(Resettable::Reset) } else { arg }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_looks_like_ours_and_is_none_is_reported() {
        let names = ["EVAL_JOB_REPAET", "EVAL_JOB_REPEAT", "EVAL_JOB_AGENT_API_KEY", "EVAL_JOB_TEST_X", "REPAET"];
        let found = Args::unknown_variables(names.into_iter());
        assert_eq!(found, ["EVAL_JOB_REPAET is no variable of eval-job; did you mean EVAL_JOB_REPEAT?"]);
        let found = Args::unknown_variables(["EVAL_JOB_SOMETHING_QUITE_ELSE"].into_iter());
        assert_eq!(found, ["EVAL_JOB_SOMETHING_QUITE_ELSE is no variable of eval-job"]);
    }
}
