//! The reasons why an agent that eval-job starts can't be used.

use std::io;

use crate::agent::program::NoFolder;
use crate::descriptors;

/// Why a started agent can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Another program listens on the port that the job names.
    #[error(
        "something listens at 127.0.0.1:{0} already, where the agent is to be started: end it, or leave the port out \
         (target.start.ready.port, target.embabel.baseUrl), so that each agent is given a free one"
    )]
    PortTaken(u16),
    /// No port could be opened.
    #[error("no free port was found for the agent: {0}")]
    NoFreePort(String),
    /// The process can't be created: the reason, in a sentence.
    #[error("{0}")]
    NotStarted(String),
    /// There is no file descriptor left for this step.
    #[error("{0}: {none_left}; try {hint}", none_left = descriptors::NONE_LEFT, hint = descriptors::HINT)]
    NoDescriptor(&'static str),
    /// Its process ended before it was ready.
    #[error("the agent's process ended ({status}) before it was ready{}", output_end(.output))]
    Ended {
        /// Its status.
        status: String,
        /// The last lines of its output.
        output: Option<String>,
    },
    /// It was not ready in time.
    #[error("the agent was not ready within {seconds} s (target.start.ready.within): {what}{}", output_end(.output))]
    NotReady {
        /// The time limit.
        seconds: String,
        /// The sign of readiness that did not come.
        what: String,
        /// The last lines of its output.
        output: Option<String>,
    },
}

fn output_end(output: &Option<String>) -> String {
    match output.as_deref() {
        None => "; it printed nothing".to_owned(),
        Some("") => "; it printed nothing but its log of these requests".to_owned(),
        Some(lines) => format!("; its output ends with:\n{lines}"),
    }
}

impl StartError {
    pub(super) fn no_free_port(error: &io::Error) -> StartError {
        match descriptors::is_exhausted(error) {
            true => StartError::NoDescriptor("no free port was found for the agent"),
            false => StartError::NoFreePort(error.to_string()),
        }
    }

    /// The process of this command can't be created.
    pub(super) fn not_started(command: &str, error: &io::Error) -> StartError {
        let why = match error.kind() {
            _ if descriptors::is_exhausted(error) => {
                return StartError::NoDescriptor("the agent could not be started");
            }
            io::ErrorKind::NotFound => format!(
                "there is no program `{command}`; target.start.command is looked for on the PATH, or relative to the job \
                 file's folder if it has a slash"
            ),
            io::ErrorKind::PermissionDenied => format!(
                "`{command}` may not be executed; try chmod +x, or name what runs it: {{command: python3, args: \
                 [{command}]}}"
            ),
            _ => format!("`{command}`: {error}"),
        };
        StartError::NotStarted(format!("the agent could not be started: {why}"))
    }
}

impl From<NoFolder> for StartError {
    fn from(error: NoFolder) -> StartError {
        StartError::NotStarted(error.to_string())
    }
}

/// An invalid pattern, which [`super::pattern_problem`] finds before.
impl From<regex::Error> for StartError {
    fn from(error: regex::Error) -> StartError {
        StartError::NotStarted(error.to_string())
    }
}
