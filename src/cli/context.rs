//! The process's environment, terminal, clock and randomness, read here and nowhere else.

use std::ffi::OsString;
use std::io::IsTerminal;

use super::args::ColorArg;
use super::env_file::EnvFile;
use crate::clock::Clock;
use crate::report::{Ink, Screen};
use crate::run::Credentials;
use crate::secret::{Redactor, Secret, Variables, secrets_of};

/// The process's context.
pub(super) struct Context {
    /// The command line.
    pub(super) typed: Vec<OsString>,
    /// The address of the team's store, with its password.
    pub(super) store: Option<Secret>,
    /// Keys, passwords and addresses.
    pub(super) credentials: Credentials,
    pub(super) clock: Clock,
    /// Colours on stdout.
    pub(super) stdout_ink: Ink,
    /// Colours on stderr.
    pub(super) stderr_ink: Ink,
    /// Whether stderr is a terminal.
    pub(super) stderr_is_tty: bool,
    /// Whether nothing but ASCII can be expected to be shown: the terminal is dumb, or the locale is not of UTF-8.
    pub(super) is_ascii: bool,
    /// Columns of the terminal, or 100.
    pub(super) width: usize,
    /// The columns at which text of any length is broken on stdout; none in a file or a pipe, where lines stay whole.
    pub(super) stdout_breaks_at: Option<usize>,
}

impl Context {
    /// Reads the context of this process. The file sets the variables that the environment does not set.
    pub(super) fn from_process(typed: Vec<OsString>, file: &EnvFile, color: ColorArg, store: Option<&str>) -> Context {
        let variables = variables(file);
        let env = |name: &str| variables.text(name).map(str::to_owned);
        let is_dumb = env("TERM").as_deref() == Some("dumb");
        let ink = |tty: bool| ink(color, &env, tty && !is_dumb);
        let width = width(env("COLUMNS"));
        let stderr_is_tty = std::io::stderr().is_terminal() && env("CI").is_none() && !is_dumb;
        let redactor = redactor(&variables);
        // It may have been typed.
        redactor.learn_all(store.iter().flat_map(|url| secrets_of("EVAL_JOB_STORE", url)));
        Context {
            typed,
            store: store.filter(|url| !url.is_empty()).map(Secret::new),
            credentials: Credentials {
                variables: variables.clone(),
                agent_api_key: env("EVAL_JOB_AGENT_API_KEY").map(Secret::new),
                reference_api_key: env("EVAL_JOB_REFERENCE_API_KEY").map(Secret::new),
                neo4j_uri: env("NEO_URI"),
                neo4j_username: env("NEO_USERNAME"),
                neo4j_password: env("NEO_PASSWORD").map(Secret::new),
                redactor,
            },
            clock: Clock::system(),
            stdout_ink: ink(std::io::stdout().is_terminal()),
            stderr_ink: ink(std::io::stderr().is_terminal()),
            stderr_is_tty,
            is_ascii: is_dumb || !is_utf8(&env),
            width,
            stdout_breaks_at: std::io::stdout().is_terminal().then_some(width),
        }
    }

    /// The layout of reports.
    pub(super) fn screen(&self, is_unfolded: bool) -> Screen {
        Screen { ink: self.stdout_ink, width: self.width, is_unfolded }
    }

    /// How wide the terminal is, asked again each time: people resize their windows.
    pub(super) fn terminal_size(&self) -> impl Fn() -> usize + Send + Sync + 'static {
        let at_first = self.width;
        move || {
            let size = terminal_size::terminal_size_of(std::io::stderr());
            size.map_or(at_first, |(terminal_size::Width(width), _)| usize::from(width))
        }
    }

    /// Clears the secrets of this process.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.credentials.redactor
    }

    /// An unpredictable number, from the system's randomness where there is one.
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub(super) fn random() -> u64 {
        let number = getrandom::u64().unwrap_or_else(|_| fastrand::Rng::new().u64(..));
        // 53 bits, so that the number survives every JSON reader.
        number >> 11
    }
}

/// A redactor that knows the secrets of the environment and the file.
pub(super) fn redactor_of_process(file: &EnvFile) -> Redactor {
    redactor(&variables(file))
}

/// The colours of a stream: what was typed goes before NO_COLOR, that before CLICOLOR_FORCE, that before the terminal.
fn ink(color: ColorArg, env: &impl Fn(&str) -> Option<String>, is_capable: bool) -> Ink {
    let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    let is_forced = is_set("CLICOLOR_FORCE") && env("CLICOLOR_FORCE").as_deref() != Some("0");
    let is_coloured = match color {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto if is_set("NO_COLOR") => false,
        ColorArg::Auto => is_forced || (is_capable && env("CLICOLOR").as_deref() != Some("0")),
    };
    if is_coloured { Ink::Colour } else { Ink::None }
}

/// Whether the locale is of UTF-8, as it is where none is set.
fn is_utf8(env: &impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(env).find(|value| !value.is_empty());
    set.is_none_or(|locale| locale.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

fn redactor(variables: &Variables) -> Redactor {
    let redactor = Redactor::default();
    redactor.learn_variables(variables);
    redactor
}

/// The width that the user sets, else the terminal's, else 100; at least 60, for a narrower report can't be read.
fn width(columns: Option<String>) -> usize {
    let set = columns.and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width));
    set.or_else(terminal).unwrap_or(100).max(60)
}

/// All variables that are text, the file's too. One that is set is never overridden, also if it is empty.
#[expect(clippy::disallowed_methods, reason = "the one place")]
fn variables(file: &EnvFile) -> Variables {
    let of_file = file.iter().filter(|(name, _)| std::env::var_os(name).is_none());
    let of_file = of_file.map(|(name, value)| (name.clone(), value.clone()));
    let set = std::env::vars_os();
    set.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).chain(of_file).collect()
}

/// Whether an environment variable is there.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub(super) fn is_set(name: &std::ffi::OsStr) -> bool {
    std::env::var_os(name).is_some()
}

/// Whether an environment variable is there without a value.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub(super) fn is_empty(name: &std::ffi::OsStr) -> bool {
    std::env::var_os(name).is_some_and(|value| value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_that_is_not_of_utf8_has_ascii_only() {
        for (variables, expected) in [
            (vec![], true),
            (vec![("LANG", "C.UTF-8")], true),
            (vec![("LANG", "en_GB.utf8"), ("LC_ALL", "")], true),
            (vec![("LANG", "C.UTF-8"), ("LC_ALL", "C")], false),
            (vec![("LC_CTYPE", "de_DE@euro")], false),
        ] {
            let env =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(is_utf8(&env), expected, "{variables:?}");
        }
    }

    #[test]
    fn what_was_typed_goes_before_the_environment_and_that_before_the_terminal() {
        use ColorArg::{Always, Auto, Never};
        for (color, variables, is_capable, is_coloured) in [
            (Auto, vec![], true, true),
            (Auto, vec![], false, false),
            (Auto, vec![("NO_COLOR", "1")], true, false),
            (Auto, vec![("NO_COLOR", "")], true, true),
            (Auto, vec![("CLICOLOR_FORCE", "1")], false, true),
            (Auto, vec![("CLICOLOR_FORCE", "0")], false, false),
            (Auto, vec![("CLICOLOR", "0")], true, false),
            (Auto, vec![("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true, false),
            (Always, vec![("NO_COLOR", "1")], false, true),
            (Never, vec![("CLICOLOR_FORCE", "1")], true, false),
        ] {
            let env =
                |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            let expected = if is_coloured { Ink::Colour } else { Ink::None };
            assert_eq!(ink(color, &env, is_capable), expected, "{color:?} {variables:?}");
        }
    }
}
