//! The command line once more: what goes on where this one was stopped.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};

use super::Args;
use crate::cli::env_file::EnvFile;

/// The changes to a command that is typed again.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::cli) struct CommandChanges<'a> {
    /// The runs, where others are meant than those that were named.
    pub(in crate::cli) runs: Option<&'a [&'a str]>,
    /// The arguments that are left out, by the names of their fields.
    pub(in crate::cli) without: &'a [&'a str],
    /// Words that stand after all other flags.
    pub(in crate::cli) with: &'a [&'a str],
}

/// The argument that has a password in it: whoever goes on types it again.
const WITH_PASSWORD: &str = "store";

/// The command that was typed, for a shell: with a flag for each variable of the environment that counted.
pub(in crate::cli) fn rebuilt_command(typed: &[OsString], instead: CommandChanges<'_>) -> String {
    let mut words = vec!["eval-job".to_owned()];
    let mut command = Args::command_of(&EnvFile::new());
    let Ok(matches) = command.try_get_matches_from_mut(typed) else { return words.remove(0) };
    let Some((name, matches)) = matches.subcommand() else { return words.remove(0) };
    words.push(name.to_owned());
    let mut places: Vec<String> = Vec::new();
    for arg in command.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments) {
        let id = arg.get_id().as_str();
        if let Some(runs) = instead.runs.filter(|_| id == "runs" && arg.is_positional()) {
            places.extend(runs.iter().map(|run| quoted(run)));
        } else if !instead.without.contains(&id) && id != WITH_PASSWORD {
            let given = given(arg, matches);
            if arg.is_positional() { places.extend(given) } else { words.extend(given) }
        }
    }
    words.extend(instead.with.iter().map(|word| quoted(word)));
    if places.iter().any(|place| place.starts_with('-')) {
        places.insert(0, "--".to_owned());
    }
    words.extend(places);
    words.join(" ")
}

/// An argument as it was typed or set, in words for a shell; none where it has its default.
fn given(arg: &Arg, matches: &ArgMatches) -> Vec<String> {
    let id = arg.get_id().as_str();
    let is_given = matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable));
    if !is_given {
        return Vec::new();
    }
    let flag = arg.get_long().map(|name| format!("--{name}"));
    if !arg.get_action().takes_values() {
        let is_set = matches.try_get_one::<bool>(id).ok().flatten().is_some_and(|set| *set);
        return flag.filter(|_| is_set).into_iter().collect();
    }
    let values = matches.get_raw(id).into_iter().flatten().map(OsStr::to_string_lossy);
    let words = |value: std::borrow::Cow<'_, str>| match &flag {
        None => vec![quoted(&value)],
        Some(flag) if value.starts_with('-') => vec![quoted(&format!("{flag}={value}"))],
        Some(flag) => vec![flag.clone(), quoted(&value)],
    };
    values.flat_map(words).collect()
}

/// A word of a command for a shell, in quotes where it needs some.
pub(in crate::cli) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// ` --runs-dir DIR`, where it is not the usual one.
pub(in crate::cli) fn runs_dir_flag(folder: &Path) -> String {
    if folder == Path::new("runs") {
        String::new()
    } else {
        format!(" --runs-dir {}", quoted(&folder.to_string_lossy()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(typed: &str, instead: CommandChanges<'_>) -> String {
        let typed: Vec<OsString> = typed.split('|').map(OsString::from).collect();
        rebuilt_command(&typed, instead)
    }

    #[test]
    fn a_command_is_typed_again_as_a_shell_takes_it() {
        let none = CommandChanges::default();
        assert_eq!(
            again("x|check|my known|--job=a b.yml|--runs-dir|r|-j|3|--json", none),
            "eval-job check --job 'a b.yml' --max-concurrency 3 --runs-dir r --json 'my known'"
        );
        assert_eq!(
            again("x|run|it's.yml|--model|a,b|-v", none),
            r"eval-job run --model a --model b --verbose 'it'\''s.yml'"
        );
        assert_eq!(again("x|check|--|-known", none), "eval-job check -- -known");
        assert_eq!(again("x|list|--store|postgres://bob:pw@db/evals|--json", none), "eval-job list --json");
        let runs = CommandChanges { runs: Some(&["b2"]), ..CommandChanges::default() };
        assert_eq!(again("x|calibrate|a1|b2|--repeat|3", runs), "eval-job calibrate --repeat 3 b2");
        let resumed =
            CommandChanges { without: &["resume"], with: &["--resume", "k3f9qz"], ..CommandChanges::default() };
        assert_eq!(again("x|run|--resume|-v|job.yml", resumed), "eval-job run --verbose --resume k3f9qz job.yml");
        let of_data =
            CommandChanges { runs: Some(&["b2"]), without: &["dataset", "actual"], ..CommandChanges::default() };
        assert_eq!(
            again("x|grade|--dataset|d.yml|--actual|a.json|--scorer-model|openai/j", of_data),
            "eval-job grade --scorer-model openai/j b2"
        );
    }
}
