//! The process's surroundings: environment, terminal, clock and chance, read here and nowhere else.

use std::io::IsTerminal;

use super::env_file::EnvFile;
use crate::clock::Clock;
use crate::report::{Ink, Screen};
use crate::run::Credentials;
use crate::secret::{Redactor, Secret, Variables};

/// The process's surroundings.
pub(super) struct Context {
    /// Keys, passwords and addresses.
    pub(super) credentials: Credentials,
    /// The clock.
    pub(super) clock: Clock,
    /// Colours on stdout.
    pub(super) stdout_ink: Ink,
    /// Colours on stderr.
    pub(super) stderr_ink: Ink,
    /// Whether someone watches stderr.
    pub(super) stderr_is_tty: bool,
    /// Columns of the terminal, or 100.
    pub(super) width: usize,
}

impl Context {
    /// Reads the surroundings of this process. What the file says fills in what the environment leaves open.
    pub(super) fn of_process(file: &EnvFile) -> Context {
        let variables = variables(file);
        let env = |name: &str| variables.text(name).map(str::to_owned);
        let colourless = env("NO_COLOR").is_some() || env("TERM").as_deref() == Some("dumb");
        let ink = |tty: bool| if tty && !colourless { Ink::Colour } else { Ink::None };
        let stderr_is_tty = std::io::stderr().is_terminal() && env("CI").is_none();
        Context {
            credentials: Credentials {
                variables: variables.clone(),
                agent_api_key: env("EVAL_JOB_AGENT_API_KEY").map(Secret::new),
                neo4j_uri: env("NEO_URI"),
                neo4j_username: env("NEO_USERNAME"),
                neo4j_password: env("NEO_PASSWORD").map(Secret::new),
                redactor: redactor(&variables),
            },
            clock: Clock::system(),
            stdout_ink: ink(std::io::stdout().is_terminal()),
            stderr_ink: ink(std::io::stderr().is_terminal()),
            stderr_is_tty,
            width: width(env("COLUMNS")),
        }
    }

    /// What reports are laid out for.
    pub(super) fn screen(&self, is_unfolded: bool) -> Screen {
        Screen { ink: self.stdout_ink, width: self.width, is_unfolded }
    }

    /// Clears the secrets of this process.
    pub(super) fn redactor(&self) -> &Redactor {
        &self.credentials.redactor
    }

    /// A number that nobody can foresee: the system's own randomness, and where there is none the next best.
    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub(super) fn chance() -> u64 {
        let number = getrandom::u64().unwrap_or_else(|_| fastrand::Rng::new().u64(..));
        // 53 bits, so that the number survives every JSON reader.
        number >> 11
    }
}

/// A redactor that knows what of the environment and the file is secret.
pub(super) fn redactor_of_process(file: &EnvFile) -> Redactor {
    redactor(&variables(file))
}

fn redactor(variables: &Variables) -> Redactor {
    let redactor = Redactor::default();
    redactor.learn_variables(variables);
    redactor
}

/// The width that the user sets, else the terminal's, else 100; at least 60, for a narrower report can't be read.
fn width(columns: Option<String>) -> usize {
    let said = columns.and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(terminal_size::Width(width), _)| usize::from(width));
    said.or_else(terminal).unwrap_or(100).max(60)
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
