//! The assistant's sessions: each with a dialogue of its own, all sessions of a user with the same knowledge.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::dialogue::{self, Act, Mind};
use super::ledger;
use super::notebook::Notebook;
use crate::agent::embabel::wire::{MessageReply, WireMessage};
use crate::clock::Clock;
use crate::evidence::{EventKind, Function, ObjectContext, Role, ToolCall};
use crate::graph::{Graph, GraphError};

/// How thorough the assistant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    /// It does what it says.
    Careful,
    /// It says the same and does nothing.
    Sloppy,
}

impl Model {
    /// `gpt-4.1-mini` is what a job sends that names no model: the demo has no such model and serves its careful one.
    pub(super) fn named(name: &str) -> Option<Model> {
        match name {
            "demo-careful" | "gpt-4.1-mini" => Some(Model::Careful),
            "demo-sloppy" => Some(Model::Sloppy),
            _ => None,
        }
    }
}

/// Why a request came to nothing.
#[derive(Debug)]
pub(super) enum Refusal {
    NoSuchSession(String),
    Graph(GraphError),
}

pub(super) struct Assistant {
    graph: Arc<dyn Graph>,
    clock: Clock,
    sessions: Mutex<HashMap<String, Arc<Mutex<Session>>>>,
    /// What the sloppy model believes to have written, by user.
    beliefs: Mutex<HashMap<String, Notebook>>,
}

struct Session {
    user: String,
    chatbot: String,
    mind: Mind,
    history: Vec<WireMessage>,
}

const SYSTEM_PROMPT: &str = "You look after the user's reminders and contacts and remember what the user tells you. Ask for what you need and don't know; when the user can't tell, say what you assume.";

impl Assistant {
    pub(super) fn new(graph: Arc<dyn Graph>, clock: Clock) -> Assistant {
        Assistant { graph, clock, sessions: Mutex::default(), beliefs: Mutex::default() }
    }

    pub(super) async fn open(&self, user: String, chatbot: String) -> String {
        let mut sessions = self.sessions.lock().await;
        let id = format!("demo-{}-{}", self.clock.wall().timestamp_millis(), sessions.len() + 1);
        let session = Session { user, chatbot, mind: Mind::default(), history: Vec::new() };
        sessions.insert(id.clone(), Arc::new(Mutex::new(session)));
        id
    }

    pub(super) async fn say(&self, id: &str, model: Model, message: WireMessage) -> Result<MessageReply, Refusal> {
        let session = self.session(id).await?;
        let mut session = session.lock().await;
        let book = self.book(&session.user, model).await?;
        let mut mind = session.mind.clone();
        let (reply, acts) = dialogue::answer(book.clone(), self.clock.wall(), &mut mind, &message.content);

        let mut events = Vec::new();
        if session.history.is_empty() {
            events.push(EventKind::SystemPrompt { text: SYSTEM_PROMPT.to_owned() }.to_json());
        }
        match model {
            Model::Careful => events.extend(self.carry_out(id, &session.user, &acts).await?),
            Model::Sloppy => self.believe(&session.user, book, &acts).await,
        }
        // Only now: a message that could not be carried out was not answered, and can be sent again.
        session.mind = mind;
        let reply = WireMessage { content: reply, role: Role::Assistant.as_str().to_owned() };
        session.history.extend([message, reply.clone()]);
        Ok(MessageReply {
            session_id: id.to_owned(),
            chatbot: session.chatbot.clone(),
            message: reply,
            history: session.history.clone(),
            events,
        })
    }

    /// What the graph holds of the session's user, whatever any model believes.
    pub(super) async fn object_context(&self, id: &str) -> Result<ObjectContext, Refusal> {
        let session = self.session(id).await?;
        let user = session.lock().await.user.clone();
        let resources = ledger::resources(self.graph.as_ref(), &user).await.map_err(Refusal::Graph)?;
        Ok(ObjectContext { context: json!(user), resources, functions: functions() })
    }

    async fn session(&self, id: &str) -> Result<Arc<Mutex<Session>>, Refusal> {
        self.sessions.lock().await.get(id).cloned().ok_or_else(|| Refusal::NoSuchSession(id.to_owned()))
    }

    async fn book(&self, user: &str, model: Model) -> Result<Notebook, Refusal> {
        if model == Model::Sloppy
            && let Some(believed) = self.beliefs.lock().await.get(user)
        {
            return Ok(believed.clone());
        }
        ledger::load(self.graph.as_ref(), user).await.map_err(Refusal::Graph)
    }

    async fn carry_out(&self, id: &str, user: &str, acts: &[Act]) -> Result<Vec<Value>, Refusal> {
        let mut events = Vec::new();
        for act in acts {
            let call = ToolCall { function: act.function.to_owned(), args: act.arguments.clone() };
            let mut call = EventKind::FunctionCall(call).to_json();
            call["request"]["context"] = id.into();
            events.push(call);
            if let Some(change) = &act.change {
                let statement = ledger::write(self.graph.as_ref(), user, change).await.map_err(Refusal::Graph)?;
                events
                    .push(EventKind::GraphRequest { content: statement.to_owned(), summary_direction: None }.to_json());
            }
            events.push(EventKind::FunctionResponse { output: act.output.clone() }.to_json());
        }
        Ok(events)
    }

    async fn believe(&self, user: &str, mut book: Notebook, acts: &[Act]) {
        acts.iter().filter_map(|act| act.change.as_ref()).for_each(|change| book.apply(change));
        self.beliefs.lock().await.insert(user.to_owned(), book);
    }
}

fn functions() -> Vec<Function> {
    FUNCTIONS
        .iter()
        .map(|(name, description, label, inputs)| {
            let properties: serde_json::Map<String, serde_json::Value> =
                inputs.iter().map(|input| ((*input).to_owned(), json!({"type": "string"}))).collect();
            Function {
                name: (*name).to_owned(),
                description: (*description).to_owned(),
                label: Some((*label).to_owned()),
                view: None,
                static_method: true,
                input_type_schema: json!({"type": "object", "properties": properties}),
            }
        })
        .collect()
}

const FUNCTIONS: &[(&str, &str, &str, &[&str])] = &[
    ("createReminder", "Creates a reminder", "Reminder", &["title", "at", "timeZone"]),
    ("rescheduleReminder", "Moves a reminder to another moment", "Reminder", &["title", "at", "timeZone"]),
    ("cancelReminder", "Removes a reminder", "Reminder", &["title"]),
    ("findReminder", "Finds a reminder by words of its title", "Reminder", &["title"]),
    ("listReminders", "Lists the reminders", "Reminder", &[]),
    ("addContact", "Adds a contact", "Contact", &["name", "phone", "email"]),
    ("updateContact", "Changes a contact", "Contact", &["name", "phone", "email"]),
    ("deleteContact", "Removes a contact", "Contact", &["name"]),
    ("findContact", "Finds a contact by its name", "Contact", &["name"]),
    ("listContacts", "Lists the contacts", "Contact", &[]),
    ("rememberName", "Remembers the user's name", "User", &["name"]),
    ("rememberHome", "Remembers where the user lives", "User", &["home"]),
    ("rememberTimeZone", "Remembers the user's time zone", "User", &["timeZone"]),
    ("rememberNote", "Remembers something else that the user told", "User", &["note"]),
    ("recall", "Looks for something that the user told", "User", &["question"]),
];
