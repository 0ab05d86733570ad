//! The progress of one message towards its reply: messages, tasks, states and artifacts, as they come.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::part;
use crate::agent::WireError;
use crate::agent::json::JsonFields;
use crate::evidence::{Event, EventKind};
use crate::text::is_blank;

/// The state of a message: the fold of one reply, of a stream, or of polls of a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskProgress {
    /// The conversation, as the agent names it.
    pub context_id: Option<String>,
    /// The task that the message became.
    pub task_id: Option<String>,
    /// The task's state, in 0.3's spelling: `working`, `input-required`.
    pub state: Option<String>,
    /// The message that the agent answered with, or the last of its task's states.
    message: Option<String>,
    /// The last text before it went on working.
    before: Option<String>,
    /// The results, by their ids, in the order in which they first came.
    artifacts: Vec<(String, String)>,
    /// The agent's last message in the task's own history.
    history: Option<String>,
    /// The events so far.
    pub events: Vec<Event>,
    /// The keys of the reported calls and results: the same part often comes again, in a task's history or in an artifact.
    reported: BTreeSet<String>,
    /// An answer came that is a message and no task.
    is_message: bool,
    /// The agent has said that nothing more comes: by `final`, or in 1.0, which has no such mark, by a state in which it rests.
    is_final: bool,
}

impl TaskProgress {
    /// Takes in a result. Returns whether it has text for the user.
    ///
    /// # Errors
    /// The result is neither a message nor a task, or a message of the user's.
    pub fn apply(&mut self, result: &Value) -> Result<bool, WireError> {
        let kind = result.get("kind").and_then(Value::as_str);
        let payload = |wrapper: &str, name: &str| result.get(wrapper).or((kind == Some(name)).then_some(result));
        if let Some(message) = payload("message", "message").filter(|_| kind.is_none() || kind == Some("message")) {
            // ProtoJSON leaves an empty list out.
            if ["parts", "messageId", "role"].iter().all(|key| message.get(key).is_none()) {
                return Err(WireError::Malformed("the message holds no parts".to_owned()));
            }
            if is_of(message, "user") {
                return Err(WireError::Failed("the reply is no message of the agent's: its role is user".to_owned()));
            }
            self.take_ids(message);
            self.is_message = true;
            return Ok(self.apply_message(message));
        }
        if let Some(task) = payload("task", "task") {
            return Ok(self.apply_task(task));
        }
        if let Some(update) = payload("statusUpdate", "status-update") {
            self.take_ids(update);
            let has_text = self.apply_status(update);
            self.is_final |= match kind {
                Some(_) => update.get("final") == Some(&Value::Bool(true)),
                None => self.rests(),
            };
            return Ok(has_text);
        }
        if let Some(update) = payload("artifactUpdate", "artifact-update") {
            self.take_ids(update);
            let append = update.get("append") == Some(&Value::Bool(true));
            let append = append || is_piece(update);
            return Ok(update.get("artifact").is_some_and(|artifact| self.apply_artifact(artifact, append)));
        }
        // The reply to `tasks/get` is a bare task in 1.0.
        if result.get("status").is_some() && result.get("id").is_some() {
            return Ok(self.apply_task(result));
        }
        Err(WireError::Malformed("the result is neither a message nor a task".to_owned()))
    }

    /// Usually there is one; trpc-agent-go can send many, pieces and wholes.
    fn apply_message(&mut self, message: &Value) -> bool {
        let (before, after) = around_calls(message, "\n");
        let has_text = [before.as_deref(), Some(&after)].into_iter().flatten().any(|text| !is_blank(text));
        let known = self.message.take().unwrap_or_default();
        let with_known = |text: &str| match () {
            () if is_piece(message) => known.clone() + text,
            () if has_text => text.to_owned(),
            () => known.clone(),
        };
        self.message = Some(match &before {
            Some(before) => {
                self.push_intermediate(&with_known(before));
                after
            }
            None => with_known(&after),
        });
        self.push_reports(message, "messageId");
        has_text
    }

    /// Adds a text that came before the agent went on working.
    fn push_intermediate(&mut self, text: &str) {
        if !is_blank(text) {
            self.before = Some(text.trim().to_owned());
            self.events.push(Event::other(json!({"intermediate": text.trim()})));
        }
    }

    /// Adds the calls and results among the parts of a message or an artifact, each once.
    fn push_reports(&mut self, holder: &Value, id_key: &str) {
        let place = holder.text(id_key).unwrap_or_default();
        for part in holder.list("parts") {
            let Some((event, id)) = part::report(part) else { continue };
            let is_call = matches!(event.kind, EventKind::FunctionCall(_));
            let key = id.map_or_else(|| format!("{place} {part}"), |id| format!("{is_call} {id}"));
            if self.reported.insert(key) {
                self.events.push(event);
            }
        }
    }

    fn apply_task(&mut self, task: &Value) -> bool {
        self.take_ids(task);
        replace(&mut self.task_id, task.text("id"));
        let history = task.list("history");
        let is_users = |message: &Value| is_of(message, "user");
        let answers = history.iter().rposition(is_users).map_or(history, |user| &history[user + 1..]);
        answers.iter().for_each(|message| self.push_reports(message, "messageId"));
        let mut has_text = false;
        for artifact in task.list("artifacts") {
            has_text |= self.apply_artifact(artifact, false);
        }
        self.history = history.iter().rfind(|message| is_of(message, "agent")).map(text_of);
        self.apply_status(task) || has_text
    }

    fn apply_status(&mut self, update: &Value) -> bool {
        let status = update.get("status").unwrap_or(&Value::Null);
        let state = status.text("state").map(state_of);
        let text = status.get("message").map(text_of).filter(|text| !is_blank(text));
        let rests = state.as_deref().is_some_and(rests);
        if rests {
            self.message = text.clone().or(self.message.take());
        } else if let Some(text) = &text {
            let kind = EventKind::Other { data: json!({"status": state, "intermediate": text}) };
            if self.events.last().is_none_or(|last| last.kind != kind) {
                self.events.push(Event { raw: status.get("message").cloned(), ..Event::from(kind) });
            }
        }
        if let Some(message) = status.get("message") {
            self.push_reports(message, "messageId");
        }
        self.state = state.or(self.state.take());
        rests && text.is_some()
    }

    fn apply_artifact(&mut self, artifact: &Value, append: bool) -> bool {
        let id = artifact.text("artifactId").unwrap_or_default();
        // Its parts are pieces of one text: a stream brings them one by one.
        let (before, after) = around_calls(artifact, "");
        let has_text = !after.is_empty() || before.as_ref().is_some_and(|text| !text.is_empty());
        // A call that comes alone does not replace the text so far.
        let append = append || (!has_text && before.is_some());
        let place = self.artifacts.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            self.artifacts.push((id.to_owned(), String::new()));
            self.artifacts.len() - 1
        });
        let known = if append { std::mem::take(&mut self.artifacts[place].1) } else { String::new() };
        self.artifacts[place].1 = match before {
            Some(before) => {
                self.push_intermediate(&(known + before.as_str()));
                after
            }
            None => known + after.as_str(),
        };
        self.push_reports(artifact, "artifactId");
        has_text
    }

    fn take_ids(&mut self, message: &Value) {
        replace(&mut self.context_id, message.text("contextId"));
        replace(&mut self.task_id, message.text("taskId"));
    }

    /// Whether the message is answered, or the task is in a state in which nothing more will come.
    pub fn rests(&self) -> bool {
        self.is_message || self.state.as_deref().is_some_and(rests)
    }

    /// Whether nothing of a stream is read any more: it rests, and the agent has said that it was the last event.
    pub fn is_over(&self) -> bool {
        self.is_final && self.rests()
    }

    /// The task that the next message is for: one that waits for it.
    pub fn waiting_task(&self) -> Option<String> {
        self.task_id.clone().filter(|_| self.state.as_deref() == Some("input-required"))
    }

    /// The events without those that repeat the reply.
    pub fn events_beside(&self, reply: &str) -> Vec<Event> {
        let is_other = |event: &&Event| match &event.kind {
            EventKind::Other { data } => data.get("intermediate").and_then(Value::as_str) != Some(reply),
            _ => true,
        };
        self.events.iter().filter(is_other).cloned().collect()
    }

    /// The reply, once it rests: the message of the state, followed by the artifacts.
    ///
    /// # Errors
    /// The task failed, or there is no text.
    pub fn reply(&self) -> Result<String, WireError> {
        let message = self.message.as_deref().map(str::trim).filter(|message| !message.is_empty());
        if let Some(state @ ("failed" | "canceled" | "auth-required")) = self.state.as_deref() {
            let why = message.map(|message| format!(": {message}")).unwrap_or_default();
            return Err(WireError::Failed(format!("the agent's task ended as {state}{why}")));
        }
        let results = self.artifacts.iter().map(|(_, text)| text.trim()).filter(|text| !is_blank(text));
        let mut parts: Vec<&str> = message.into_iter().collect();
        parts.extend(results.filter(|text| Some(*text) != message));
        if parts.is_empty() {
            parts.extend(self.history.as_deref().map(str::trim).filter(|text| !is_blank(text)));
        }
        // Some agents report their calls after the text about them.
        if parts.is_empty() {
            parts.extend(self.before.as_deref());
        }
        match (parts.is_empty(), self.state.as_deref()) {
            (false, _) => Ok(parts.join("\n\n")),
            (true, None) => Err(WireError::Failed("the agent's message is empty".to_owned())),
            (true, Some(state)) => Err(WireError::Failed(format!("the agent's task ended as {state} without a word"))),
        }
    }
}

/// Whether a message is of this role; 1.0 writes ROLE_USER.
fn is_of(message: &Value, role: &str) -> bool {
    message.text("role").is_some_and(|own| own.to_ascii_lowercase().trim_start_matches("role_") == role)
}

/// Replaces a value where there is a new one.
fn replace(known: &mut Option<String>, new: Option<&str>) {
    if let Some(new) = new {
        *known = Some(new.to_owned());
    }
}

/// A state in 0.3's spelling.
fn state_of(state: &str) -> String {
    state.trim_start_matches("TASK_STATE_").to_ascii_lowercase().replace('_', "-")
}

/// Terminal states, and those in which the agent waits for input.
fn rests(state: &str) -> bool {
    matches!(state, "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required")
}

/// Whether it is a piece of a text that comes as a whole later, as trpc-agent-go marks it.
fn is_piece(update: &Value) -> bool {
    update.pointer("/metadata/object_type").and_then(Value::as_str) == Some("chat.completion.chunk")
}

/// The text of a message or an artifact before its last call, where there is one, and the text after it.
fn around_calls(holder: &Value, separator: &str) -> (Option<String>, String) {
    let parts = holder.list("parts");
    let text = |parts: &[Value]| parts.iter().filter_map(part::text).collect::<Vec<_>>().join(separator);
    match parts.iter().rposition(part::is_call) {
        Some(call) => (Some(text(&parts[..call])), text(&parts[call + 1..])),
        None => (None, text(parts)),
    }
}

/// The parts of a message or an artifact as text.
pub(super) fn text_of(message: &Value) -> String {
    message.list("parts").iter().filter_map(part::text).collect::<Vec<String>>().join("\n")
}
