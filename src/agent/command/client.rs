//! A conversation with a process of its own. Nothing is ever sent twice: a line that was written is a message.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::config::CommandConfig;
use super::wire::{MessageReader, is_end_of_tokens, one_line, since, tokens_of};
use crate::agent::attempts::own_session_id;
use crate::agent::group::{Group, Started};
use crate::agent::output::{Listener, Output};
use crate::agent::program::Program;
use crate::agent::{Agent, AgentContext, AgentError, AgentErrorKind, Attempts, Reply, Session};
use crate::descriptors;
use crate::evidence::Usage;
use crate::http::{BODY_CAP, excerpt};
use crate::secret::Secret;
use crate::text::is_blank;

/// How long the last words of a process that has ended are waited for.
const DYING: Duration = Duration::from_secs(1);

/// The message after a `reset`, so that the agent opens the conversation again.
const INTRODUCE: &str = "Please introduce yourself and tell me how you can help.";

/// An agent behind a command.
pub struct CommandAgent {
    shared: Arc<Shared>,
    sessions: AtomicU64,
}

/// The part that all sessions share.
struct Shared {
    config: CommandConfig,
    context: AgentContext,
}

impl CommandAgent {
    /// A client; nothing is started yet.
    pub(super) fn new(config: CommandConfig, context: AgentContext) -> CommandAgent {
        CommandAgent { shared: Arc::new(Shared { config, context }), sessions: AtomicU64::new(0) }
    }
}

#[async_trait]
impl Agent for CommandAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        let shared = Arc::clone(&self.shared);
        let id = own_session_id(shared.context.rng_seed, self.sessions.fetch_add(1, Ordering::Relaxed));
        let mut command = shared.command().map_err(unreachable)?;
        let spawned = Group::spawn(&mut command, true).await;
        let Started { mut child, group, input } = spawned.map_err(|error| unstarted(&shared.config.command, &error))?;
        let (Some(stdin), Some(stdout), Some(stderr)) = (input, child.stdout.take(), child.stderr.take()) else {
            return Err(unreachable("the command has no standard input and output".to_owned()));
        };
        let (errors, output) = (Listener::default(), Output::new(shared.context.redactor.clone(), None));
        output.add_listener(&errors);
        let drain = tokio::spawn(async move { output.drain(stderr).await });
        Ok(Box::new(CommandSession {
            greeting_is_due: shared.config.greeting,
            has_spoken: false,
            asks_tokens: shared.config.tokens,
            shared,
            id,
            child,
            _group: group,
            stdin,
            stdout: BufReader::new(stdout),
            errors,
            drain,
            counted: Usage::default(),
        }))
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

impl Shared {
    fn command(&self) -> Result<Command, String> {
        let filled = |arg: &String| arg.replace("{user}", &self.context.user).replace("{model}", &self.context.model);
        let args: Vec<String> = self.config.args.iter().map(filled).collect();
        let mut command = Program { args: &args, ..self.config.program() }
            .command(&self.context.folder, &self.context.variables)
            .map_err(|error| error.to_string())?;
        command.env("USER_ID", &self.context.user).env("AUTHORITATIVE_USER_ID", &self.context.user);
        command.env("AGENT_MESSAGE_TERMINATOR", &self.config.terminator);
        Ok(command)
    }
}

/// Whatever is left of its process group is killed when this is dropped.
struct CommandSession {
    shared: Arc<Shared>,
    id: String,
    child: Child,
    _group: Group,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The output on standard error, and the task that reads it.
    errors: Listener,
    drain: JoinHandle<()>,
    greeting_is_due: bool,
    /// Whether a message of it has come.
    has_spoken: bool,
    asks_tokens: bool,
    /// The tokens that belong to earlier turns.
    counted: Usage,
}

#[async_trait]
impl Session for CommandSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn has_shown_itself(&self) -> bool {
        self.has_spoken
    }

    fn no_state(&self) -> &'static str {
        "a command has no state to show"
    }

    async fn greeting(&mut self) -> Result<Option<Reply>, AgentError> {
        if !std::mem::take(&mut self.greeting_is_due) {
            return Ok(None);
        }
        let mut reply = self.message(None).await?;
        if self.shared.config.reset_conversation {
            self.message(Some("reset")).await?;
            reply = self.message(Some(INTRODUCE)).await?;
        }
        Ok(Some(reply))
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let began = self.shared.context.clock.start();
        let reply = match self.greeting().await {
            Ok(_) => self.turn(message).await,
            Err(error) => Err(error),
        };
        reply.inspect_err(|error| attempts.failed(error, true, Some(began.elapsed_ms())))
    }
}

impl CommandSession {
    async fn turn(&mut self, message: &str) -> Result<Reply, AgentError> {
        let line = one_line(message);
        if line.is_empty() {
            return Err(self.malformed("the user's message is blank, and a blank line gets no reply"));
        }
        let mut reply = self.message(Some(&line)).await?;
        if is_blank(&reply.text) {
            return Err(self.malformed("the agent's message is empty"));
        }
        if self.asks_tokens {
            let asked = timeout(self.shared.context.turn_limit, self.tokens()).await;
            match asked.ok().flatten() {
                Some(now) => {
                    reply.usage = Some(since(self.counted, now));
                    self.counted = now;
                }
                // It does not know the question, and would be a message behind from now on if it were asked again.
                None => self.asks_tokens = false,
            }
        }
        Ok(reply)
    }

    /// Says a line, if there is one, and reads one message.
    async fn message(&mut self, line: Option<&str>) -> Result<Reply, AgentError> {
        let limit = self.shared.context.turn_limit;
        let mut reader = MessageReader::default();
        let outcome = timeout(limit, self.exchange(line, &mut reader)).await;
        match outcome {
            Ok(reply) => reply,
            Err(_) => {
                let so_far = reader.so_far();
                let what = if so_far.is_empty() {
                    "nothing had come".to_owned()
                } else {
                    format!("without its terminator had come: {}", self.quoted(&so_far))
                };
                let hint = match (line, so_far.is_empty()) {
                    (None, _) => "; if it waits for the user to speak first: target.command.greeting: false",
                    (Some(_), false) => "; target.command.terminator is what it must end its message with",
                    (Some(_), true) if !self.has_spoken => {
                        "; is target.command.command, with its args, the agent? Does it flush what it prints, as python3 -u does?"
                    }
                    (Some(_), true) => "",
                };
                let mut error = self.malformed(&format!("no complete message within {limit:?}; {what}{hint}"));
                // Words without their end: the job may name another end than the one that the agent prints.
                let is_endless = !so_far.is_empty();
                error.kind = if is_endless { AgentErrorKind::Unreadable } else { AgentErrorKind::Timeout };
                Err(error)
            }
        }
    }

    async fn exchange(&mut self, line: Option<&str>, reader: &mut MessageReader) -> Result<Reply, AgentError> {
        if let Some(line) = line
            && let Err(error) = self.write(line).await
        {
            return Err(self.gone(&format!("it does not take any more input ({error})"), reader).await);
        }
        let said = self.shared.context.clock.start();
        let terminator = self.shared.config.terminator.clone();
        let mut read = 0;
        loop {
            let Some(line) = self.line().await? else {
                let what =
                    if self.has_spoken { "it ended in mid-conversation" } else { "it ended before its first message" };
                return Err(self.gone(what, reader).await);
            };
            read += line.len();
            if read > BODY_CAP {
                return Err(self.malformed("the agent's message is longer than 8 MiB; reading stopped there"));
            }
            if let Some(text) = reader.take(&String::from_utf8_lossy(&line), &terminator) {
                let latency_ms = said.elapsed_ms();
                self.has_spoken = true;
                return Ok(Reply { text, events: Vec::new(), latency_ms, first_token_ms: None, usage: None });
            }
        }
    }

    async fn write(&mut self, line: &str) -> std::io::Result<()> {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
        self.stdin.flush().await
    }

    /// A line, of at most as much as a message may hold; `None` at the end.
    async fn line(&mut self) -> Result<Option<Vec<u8>>, AgentError> {
        let mut line = Vec::new();
        let mut bounded = (&mut self.stdout).take(BODY_CAP as u64 + 1);
        let outcome = bounded.read_until(b'\n', &mut line).await;
        outcome.map_err(|error| self.malformed(&format!("its output can't be read ({error})")))?;
        Ok((!line.is_empty()).then_some(line))
    }

    async fn tokens(&mut self) -> Option<Usage> {
        self.write("**tokens**").await.ok()?;
        let mut latest = None;
        loop {
            let line = self.line().await.ok()??;
            let line = String::from_utf8_lossy(&line);
            latest = tokens_of(&line).or(latest);
            if is_end_of_tokens(&line) {
                return latest;
            }
        }
    }

    /// Why a process that has ended, or is about to, says nothing more.
    async fn gone(&mut self, what: &str, reader: &MessageReader) -> AgentError {
        let status = timeout(DYING, self.child.wait()).await;
        let how = match &status {
            Ok(Ok(status)) => format!(" ({status})"),
            _ => String::new(),
        };
        if !self.drain.is_finished() {
            // More may still be on its way; a grandchild may hold the pipe for ever.
            let _ = timeout(DYING, &mut self.drain).await;
        }
        let last = self.errors.last_lines(1);
        let last = last.map(|line| format!("; it said at last: {}", self.quoted(&line))).unwrap_or_default();
        let so_far = reader.so_far();
        let status = status.ok().and_then(Result::ok);
        let kind = match status.and_then(|status| status.code()) {
            // A shell's words for a program that it does not find, or may not start.
            Some(126 | 127) => AgentErrorKind::NotFound,
            // Done in its own view, and its words have no end in ours.
            Some(0) if !so_far.is_empty() => AgentErrorKind::Unreadable,
            _ => AgentErrorKind::Timeout,
        };
        let unended = match kind {
            AgentErrorKind::Unreadable => {
                format!("; without its terminator had come: {}", self.quoted(&so_far))
            }
            _ => String::new(),
        };
        AgentError { kind, ..self.malformed(&format!("{what}{how}{unended}{last}")) }
    }

    fn malformed(&self, what: &str) -> AgentError {
        AgentError::new(AgentErrorKind::BadReply, format!("the command `{}`: {what}", self.shared.config.command))
    }

    /// Its output in a form that can be shown: without the values of its environment.
    fn quoted(&self, words: &str) -> String {
        let long = self.shared.config.env.values().filter(|value| value.len() >= 6);
        let values: Vec<Secret> = long.map(Secret::new).collect();
        excerpt(&self.shared.context.redactor.redact(words), &values)
    }
}
