//! Starts a process for each conversation.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tokio::process::Command;

use super::CommandConfig;
use super::session::{AgentProcess, CommandSession};
use crate::agent::attempts::own_session_id;
use crate::agent::output::{Listener, Output};
use crate::agent::process_group::{ProcessGroup, Started};
use crate::agent::program::Program;
use crate::agent::{Agent, AgentContext, AgentError, AgentErrorKind, Session};
use crate::descriptors;

/// An agent behind a command.
pub struct CommandAgent {
    settings: Arc<CommandSettings>,
    sessions: AtomicU64,
}

/// The settings of all sessions.
pub(super) struct CommandSettings {
    pub(super) config: CommandConfig,
    pub(super) context: AgentContext,
}

impl CommandAgent {
    /// A client; nothing is started yet.
    pub(super) fn new(config: CommandConfig, context: AgentContext) -> CommandAgent {
        CommandAgent { settings: Arc::new(CommandSettings { config, context }), sessions: AtomicU64::new(0) }
    }
}

#[async_trait]
impl Agent for CommandAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let settings = Arc::clone(&self.settings);
        let id = own_session_id(settings.context.rng_seed, self.sessions.fetch_add(1, Ordering::Relaxed));
        let mut command = settings.command()?;
        let spawned = ProcessGroup::spawn(&mut command, true).await;
        let Started { mut child, group, input } =
            spawned.map_err(|error| unstarted(&settings.config.command, &error))?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (input, child.stdout.take(), child.stderr.take()) else {
            return Err(unreachable("the command has no standard input and output".to_owned()));
        };
        let (errors, output) = (Listener::default(), Output::new(settings.context.redactor.clone(), None));
        output.add_listener(&errors);
        let drain = tokio::spawn(async move { output.drain(stderr).await });
        let process = AgentProcess { child, group, stdin, stdout, errors, drain };
        Ok(Box::new(CommandSession::new(settings, id, process)))
    }
}

fn unreachable(message: String) -> AgentError {
    AgentError::new(AgentErrorKind::Unreachable, message)
}

fn unstarted(command: &str, error: &io::Error) -> AgentError {
    match descriptors::is_exhausted(error) {
        true => {
            let why =
                format!("`{command}` could not be started: {}; try {}", descriptors::NONE_LEFT, descriptors::HINT);
            AgentError::new(AgentErrorKind::NoDescriptor, why)
        }
        false => unreachable(format!("`{command}` could not be started: {error}")),
    }
}

impl CommandSettings {
    fn command(&self) -> Result<Command, AgentError> {
        let filled = |arg: &String| arg.replace("{user}", &self.context.user).replace("{model}", &self.context.model);
        let args: Vec<String> = self.config.args.iter().map(filled).collect();
        let mut command = Program { args: &args, ..self.config.program() }
            .command(&self.context.folder, &self.context.variables)
            .map_err(|error| unreachable(error.to_string()))?;
        command.env("USER_ID", &self.context.user).env("AUTHORITATIVE_USER_ID", &self.context.user);
        command.env("AGENT_MESSAGE_TERMINATOR", &self.config.terminator);
        Ok(command)
    }
}
