//! A message on its way to its reply: messages, tasks, states and artifacts, as they come.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::part;
use crate::agent::json::Fields;
use crate::evidence::{Event, EventKind};
use crate::text::is_blank;

/// The state of a message: the fold of one reply, of a stream, or of polls of a task.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
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
    /// The parts among them: the same part often comes again, in a task's history or in an artifact.
    told: BTreeSet<String>,
    /// An answer came that is a message and no task.
    is_message: bool,
}

impl Progress {
    /// Takes in a result; whether it holds words for the user. The error says that it is of no known shape.
    pub fn apply(&mut self, result: &Value) -> Result<bool, String> {
        let kind = result.get("kind").and_then(Value::as_str);
        let of = |wrapper: &str, word: &str| result.get(wrapper).or((kind == Some(word)).then_some(result));
        if let Some(message) = of("message", "message").filter(|_| kind.is_none() || kind == Some("message")) {
            // ProtoJSON leaves an empty list out.
            if ["parts", "messageId", "role"].iter().all(|key| message.get(key).is_none()) {
                return Err("the message holds no parts".to_owned());
            }
            self.ids_of(message);
            self.is_message = true;
            return Ok(self.apply_message(message));
        }
        if let Some(task) = of("task", "task") {
            return Ok(self.apply_task(task));
        }
        if let Some(update) = of("statusUpdate", "status-update") {
            self.ids_of(update);
            return Ok(self.apply_status(update));
        }
        if let Some(update) = of("artifactUpdate", "artifact-update") {
            self.ids_of(update);
            let append = update.get("append") == Some(&Value::Bool(true));
            let append = append || is_piece(update);
            return Ok(update.get("artifact").is_some_and(|artifact| self.apply_artifact(artifact, append)));
        }
        // What is asked for by `tasks/get` stands there bare in 1.0.
        if result.get("status").is_some() && result.get("id").is_some() {
            return Ok(self.apply_task(result));
        }
        Err("the result is neither a message nor a task".to_owned())
    }

    /// Usually there is one; trpc-agent-go can send many, pieces and wholes.
    fn apply_message(&mut self, message: &Value) -> bool {
        let (before, after) = around_calls(message, "\n");
        let has_words = [before.as_deref(), Some(&after)].into_iter().flatten().any(|words| !is_blank(words));
        let known = self.message.take().unwrap_or_default();
        let with_known = |words: &str| match () {
            () if is_piece(message) => known.clone() + words,
            () if has_words => words.to_owned(),
            () => known.clone(),
        };
        self.message = Some(match &before {
            Some(before) => {
                self.said_before(&with_known(before));
                after
            }
            None => with_known(&after),
        });
        self.tell(message, "messageId");
        has_words
    }

    /// Adds a text that came before the agent went on working.
    fn said_before(&mut self, words: &str) {
        if !is_blank(words) {
            self.before = Some(words.trim().to_owned());
            self.events.push(Event::other(json!({"intermediate": words.trim()})));
        }
    }

    /// Tells the calls and results among the parts of a message or an artifact, each once.
    fn tell(&mut self, thing: &Value, id_key: &str) {
        let place = thing.text(id_key).unwrap_or_default();
        for part in thing.list("parts") {
            let Some((event, id)) = part::report(part) else { continue };
            let is_call = matches!(event.kind, EventKind::FunctionCall(_));
            let known_by = id.map_or_else(|| format!("{place} {part}"), |id| format!("{is_call} {id}"));
            if self.told.insert(known_by) {
                self.events.push(event);
            }
        }
    }

    fn apply_task(&mut self, task: &Value) -> bool {
        self.ids_of(task);
        replace(&mut self.task_id, task.text("id"));
        // 1.0 writes ROLE_USER.
        let is_of = |message: &Value, role: &str| {
            message.text("role").is_some_and(|own| own.to_ascii_lowercase().trim_start_matches("role_") == role)
        };
        let history = task.list("history");
        let is_users = |message: &Value| is_of(message, "user");
        let answers = history.iter().rposition(is_users).map_or(history, |user| &history[user + 1..]);
        answers.iter().for_each(|message| self.tell(message, "messageId"));
        let mut has_words = false;
        for artifact in task.list("artifacts") {
            has_words |= self.apply_artifact(artifact, false);
        }
        self.history = history.iter().rfind(|message| is_of(message, "agent")).map(text_of);
        self.apply_status(task) || has_words
    }

    fn apply_status(&mut self, update: &Value) -> bool {
        let status = update.get("status").unwrap_or(&Value::Null);
        let state = status.text("state").map(state_of);
        let words = status.get("message").map(text_of).filter(|words| !is_blank(words));
        let rests = state.as_deref().is_some_and(rests);
        if rests {
            self.message = words.clone().or(self.message.take());
        } else if let Some(words) = &words {
            let kind = EventKind::Other { data: json!({"status": state, "intermediate": words}) };
            if self.events.last().is_none_or(|last| last.kind != kind) {
                self.events.push(Event { kind, raw: status.get("message").cloned() });
            }
        }
        if let Some(message) = status.get("message") {
            self.tell(message, "messageId");
        }
        self.state = state.or(self.state.take());
        rests && words.is_some()
    }

    fn apply_artifact(&mut self, artifact: &Value, append: bool) -> bool {
        let id = artifact.text("artifactId").unwrap_or_default();
        // Its parts are pieces of one text: a stream brings them one by one.
        let (before, after) = around_calls(artifact, "");
        let has_words = !after.is_empty() || before.as_ref().is_some_and(|words| !words.is_empty());
        // A call that comes alone takes nothing back.
        let append = append || (!has_words && before.is_some());
        let place = self.artifacts.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
            self.artifacts.push((id.to_owned(), String::new()));
            self.artifacts.len() - 1
        });
        let known = if append { std::mem::take(&mut self.artifacts[place].1) } else { String::new() };
        self.artifacts[place].1 = match before {
            Some(before) => {
                self.said_before(&(known + before.as_str()));
                after
            }
            None => known + after.as_str(),
        };
        self.tell(artifact, "artifactId");
        has_words
    }

    fn ids_of(&mut self, thing: &Value) {
        replace(&mut self.context_id, thing.text("contextId"));
        replace(&mut self.task_id, thing.text("taskId"));
    }

    /// Whether nothing more will come by itself.
    pub fn rests(&self) -> bool {
        self.is_message || self.state.as_deref().is_some_and(rests)
    }

    /// The task that the next message is for: one that waits for it.
    pub fn waiting_task(&self) -> Option<String> {
        self.task_id.clone().filter(|_| self.state.as_deref() == Some("input-required"))
    }

    /// The events that are not the reply itself, which some say while they work as well.
    pub fn events_beside(&self, reply: &str) -> Vec<Event> {
        let says = |event: &&Event| match &event.kind {
            EventKind::Other { data } => data.get("intermediate").and_then(Value::as_str) != Some(reply),
            _ => true,
        };
        self.events.iter().filter(says).cloned().collect()
    }

    /// The reply, once it rests: what the agent says with the state, and its results below. The error is the failure that
    /// the agent reports, or says that there is nothing.
    pub fn reply(&self) -> Result<String, String> {
        let said = self.message.as_deref().map(str::trim).filter(|said| !said.is_empty());
        if let Some(state @ ("failed" | "canceled" | "auth-required")) = self.state.as_deref() {
            let why = said.map(|said| format!(": {said}")).unwrap_or_default();
            return Err(format!("the agent's task ended as {state}{why}"));
        }
        let results = self.artifacts.iter().map(|(_, words)| words.trim()).filter(|words| !is_blank(words));
        let mut parts: Vec<&str> = said.into_iter().collect();
        parts.extend(results.filter(|words| Some(*words) != said));
        if parts.is_empty() {
            parts.extend(self.history.as_deref().map(str::trim).filter(|words| !is_blank(words)));
        }
        // Some report what they did below the words that tell of it.
        if parts.is_empty() {
            parts.extend(self.before.as_deref());
        }
        match (parts.is_empty(), self.state.as_deref()) {
            (false, _) => Ok(parts.join("\n\n")),
            (true, None) => Err("the agent's message is empty".to_owned()),
            (true, Some(state)) => Err(format!("the agent's task ended as {state} without a word")),
        }
    }
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

/// Terminal states, and those in which the agent waits for somebody.
fn rests(state: &str) -> bool {
    matches!(state, "completed" | "failed" | "canceled" | "rejected" | "input-required" | "auth-required")
}

/// Whether it is a piece of a text that comes as a whole later, by trpc-agent-go's own word.
fn is_piece(thing: &Value) -> bool {
    thing.pointer("/metadata/object_type").and_then(Value::as_str) == Some("chat.completion.chunk")
}

/// The words of a message or an artifact before its last call, where there is one, and those after it.
fn around_calls(thing: &Value, between: &str) -> (Option<String>, String) {
    let parts = thing.list("parts");
    let words = |parts: &[Value]| parts.iter().filter_map(part::text).collect::<Vec<_>>().join(between);
    match parts.iter().rposition(part::is_call) {
        Some(call) => (Some(words(&parts[..call])), words(&parts[call + 1..])),
        None => (None, words(parts)),
    }
}

/// The parts of a message or an artifact as text.
pub(super) fn text_of(message: &Value) -> String {
    message.list("parts").iter().filter_map(part::text).collect::<Vec<String>>().join("\n")
}
