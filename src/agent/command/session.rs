//! A conversation with a process of its own. Nothing is ever sent twice: a line that was written is a message.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::client::CommandSettings;
use super::wire::{MessageReader, TOKENS, is_end_of_tokens, one_line, since, tokens_of, unasked};
use crate::agent::output::Listener;
use crate::agent::process_group::ProcessGroup;
use crate::agent::{AgentError, AgentErrorKind, Attempts, Reply, Session};
use crate::evidence::{Event, Usage, UserToolCall};
use crate::http::{BODY_CAP, excerpt, too_long};
use crate::secret::Secret;
use crate::text::is_blank;

/// The time that the exit status and the last output of an ending process are waited for.
const EXIT_LIMIT: Duration = Duration::from_secs(1);

/// The message after a `reset`, so that the agent opens the conversation again.
const INTRODUCE: &str = "Please introduce yourself and tell me how you can help.";

/// A conversation with a process. Dropping it kills the rest of its process group.
pub(super) struct CommandSession {
    pub(super) settings: Arc<CommandSettings>,
    id: String,
    child: Child,
    _group: ProcessGroup,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    /// The beginning of a line that had come when the last message was sent: a prompt, for example.
    begun_line: Vec<u8>,
    /// What came between the last message and a call of a tool of the user.
    pub(super) early: Vec<Event>,
    /// The output on standard error, and the task that reads it.
    errors: Listener,
    drain: JoinHandle<()>,
    greeting_is_due: bool,
    /// Whether it has sent a message.
    has_spoken: bool,
    asks_tokens: bool,
    /// The tokens of earlier turns.
    counted: Usage,
}

#[async_trait]
impl Session for CommandSession {
    fn id(&self) -> &str {
        &self.id
    }

    fn has_agent_output(&self) -> bool {
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
        if self.settings.config.reset_conversation {
            self.message(Some("reset")).await?;
            reply = self.message(Some(INTRODUCE)).await?;
        }
        Ok(Some(reply))
    }

    async fn say(&mut self, message: &str, attempts: &mut Attempts) -> Result<Reply, AgentError> {
        let began = self.settings.context.clock.start();
        let reply = match self.greeting().await {
            Ok(_) => self.turn(message).await,
            Err(error) => Err(error),
        };
        reply.inspect_err(|error| attempts.failed(error, true, Some(began.elapsed_ms())))
    }

    async fn call_user_tool(&mut self, call: &UserToolCall) -> Result<Value, AgentError> {
        self.user_tool(call).await
    }
}

/// The started command, with its streams.
pub(super) struct AgentProcess {
    pub(super) child: Child,
    pub(super) group: ProcessGroup,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    /// The lines of its standard error.
    pub(super) errors: Listener,
    /// The task that reads them.
    pub(super) drain: JoinHandle<()>,
}

impl CommandSession {
    pub(super) fn new(settings: Arc<CommandSettings>, id: String, process: AgentProcess) -> CommandSession {
        let AgentProcess { child, group, stdin, stdout, errors, drain } = process;
        CommandSession {
            greeting_is_due: settings.config.greeting,
            has_spoken: false,
            asks_tokens: settings.config.tokens,
            settings,
            id,
            child,
            _group: group,
            stdin,
            stdout: BufReader::new(stdout),
            begun_line: Vec::new(),
            early: Vec::new(),
            errors,
            drain,
            counted: Usage::default(),
        }
    }

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
            let asked = timeout(self.settings.context.turn_limit, self.tokens()).await;
            match asked.ok().flatten() {
                Some(now) => {
                    reply.usage = Some(since(self.counted, now));
                    self.counted = now;
                }
                // It does not support the request; asked again, it would be one message behind from then on.
                None => self.asks_tokens = false,
            }
        }
        Ok(reply)
    }

    /// Sends a line, if there is one, and reads one message.
    async fn message(&mut self, line: Option<&str>) -> Result<Reply, AgentError> {
        let limit = self.settings.context.turn_limit;
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
                // The job may name another terminator than the one that the agent prints.
                let is_unterminated = !so_far.is_empty();
                error.kind = if is_unterminated { AgentErrorKind::Unreadable } else { AgentErrorKind::Timeout };
                Err(error)
            }
        }
    }

    async fn exchange(&mut self, line: Option<&str>, reader: &mut MessageReader) -> Result<Reply, AgentError> {
        let mut events = std::mem::take(&mut self.early);
        if line.is_some() {
            events.extend(self.take_early().await?);
        }
        // The agent may answer before we know that the line was written.
        let sent = self.settings.context.clock.start();
        if let Some(line) = line
            && let Err(error) = self.write(line).await
        {
            return Err(self.ended_error(&format!("it does not take any more input ({error})"), reader).await);
        }
        let terminator = self.settings.config.terminator.clone();
        let mut read = 0;
        loop {
            let Some(line) = self.line().await? else {
                let what =
                    if self.has_spoken { "it ended in mid-conversation" } else { "it ended before its first message" };
                return Err(self.ended_error(what, reader).await);
            };
            read += line.len();
            if read > BODY_CAP {
                return Err(self.beyond_limit("the agent's message"));
            }
            if let Some(text) = reader.take(&String::from_utf8_lossy(&line), &terminator) {
                let latency_ms = sent.elapsed_ms();
                self.has_spoken = true;
                return Ok(Reply { text, events, latency_ms, first_token_ms: None, usage: None });
            }
        }
    }

    pub(super) async fn write(&mut self, line: &str) -> std::io::Result<()> {
        self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
        self.stdin.flush().await
    }

    /// Takes the lines that came after the end of the message before, or before the first one: they answer nothing that is
    /// said from now on. Returns them as an event.
    pub(super) async fn take_early(&mut self) -> Result<Vec<Event>, AgentError> {
        let (mut lines, mut read) = (Vec::new(), 0);
        while read <= BODY_CAP {
            // The runtime learns what has come when it is let.
            tokio::task::yield_now().await;
            let mut begun = std::mem::take(&mut self.begun_line);
            let before = begun.len();
            // Cut off, it has put all that it has read into the line.
            let mut bounded = (&mut self.stdout).take(BODY_CAP as u64 + 1);
            let outcome = bounded.read_until(b'\n', &mut begun).now_or_never();
            if !begun.ends_with(b"\n") {
                self.begun_line = begun;
                break;
            }
            read += begun.len() - before;
            lines.extend(unasked(&String::from_utf8_lossy(&begun)));
            if !matches!(outcome, Some(Ok(_))) {
                break;
            }
        }
        if read > BODY_CAP {
            return Err(self.beyond_limit("what the agent printed that nobody had asked for"));
        }
        let when = if self.has_spoken { "afterReply" } else { "beforeFirstMessage" };
        Ok((!lines.is_empty()).then(|| Event::other(json!({ when: lines.join("\n") }))).into_iter().collect())
    }

    /// Reads a line of at most [`BODY_CAP`] bytes and one; `None` at the end.
    pub(super) async fn line(&mut self) -> Result<Option<Vec<u8>>, AgentError> {
        let mut line = std::mem::take(&mut self.begun_line);
        let mut bounded = (&mut self.stdout).take(BODY_CAP as u64 + 1);
        let outcome = bounded.read_until(b'\n', &mut line).await;
        outcome.map_err(|error| self.malformed(&format!("its output can't be read ({error})")))?;
        Ok((!line.is_empty()).then_some(line))
    }

    async fn tokens(&mut self) -> Option<Usage> {
        self.write(TOKENS).await.ok()?;
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

    /// The error of a process that has ended, or is about to.
    pub(super) async fn ended_error(&mut self, what: &str, reader: &MessageReader) -> AgentError {
        let status = timeout(EXIT_LIMIT, self.child.wait()).await;
        let how = match &status {
            Ok(Ok(status)) => format!(" ({status})"),
            _ => String::new(),
        };
        if !self.drain.is_finished() {
            // More may still be on its way; a grandchild may hold the pipe for ever.
            let _ = timeout(EXIT_LIMIT, &mut self.drain).await;
        }
        let last = self.errors.last_lines(1);
        let last = last.map(|line| format!("; its last output was: {}", self.quoted(&line))).unwrap_or_default();
        let so_far = reader.so_far();
        let status = status.ok().and_then(Result::ok);
        let kind = match status.and_then(|status| status.code()) {
            // A shell's status for a program that it does not find, or may not start.
            Some(126 | 127) => AgentErrorKind::NotFound,
            // It succeeded, and its message has no terminator.
            Some(0) if !so_far.is_empty() => AgentErrorKind::Unreadable,
            _ => AgentErrorKind::Timeout,
        };
        let unterminated = match kind {
            AgentErrorKind::Unreadable => {
                format!("; without its terminator had come: {}", self.quoted(&so_far))
            }
            _ => String::new(),
        };
        AgentError { kind, ..self.malformed(&format!("{what}{how}{unterminated}{last}")) }
    }

    pub(super) fn malformed(&self, what: &str) -> AgentError {
        AgentError::new(AgentErrorKind::BadReply, format!("the command `{}`: {what}", self.settings.config.command))
    }

    fn beyond_limit(&self, what: &str) -> AgentError {
        AgentError { kind: AgentErrorKind::BeyondLimit, ..self.malformed(&too_long(what, BODY_CAP)) }
    }

    /// Its output in a form that can be shown: without the values of its environment.
    pub(super) fn quoted(&self, output: &str) -> String {
        let long = self.settings.config.env.values().filter(|value| value.len() >= 6);
        let values: Vec<Secret> = long.map(Secret::new).collect();
        excerpt(&self.settings.context.redactor.redact(output), &values)
    }
}
