//! The assistant's sessions: each with a dialogue of its own, all sessions of a user with the same data.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::dialogue::{self, DialogueState};
use super::reminders::{ReminderAction, UserData};
use super::storage;
use crate::agent::embabel::wire::{MessageReply, WireMessage};
use crate::clock::Clock;
use crate::evidence::{EventKind, Function, ObjectContext, Role, ToolCall};
use crate::graph::{Graph, GraphError};

/// How thorough the assistant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DemoModel {
    /// It does what it says.
    Careful,
    /// It says the same and does nothing.
    Sloppy,
}

impl DemoModel {
    /// `gpt-4.1-mini` is what a job sends that names no model: the demo has no such model and serves its careful one.
    pub(super) fn from_name(name: &str) -> Option<DemoModel> {
        match name {
            "demo-careful" | "gpt-4.1-mini" => Some(DemoModel::Careful),
            "demo-sloppy" => Some(DemoModel::Sloppy),
            _ => None,
        }
    }
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum AssistantError {
    NoSuchSession(String),
    Graph(GraphError),
}

pub(super) struct Assistant {
    graph: Arc<dyn Graph>,
    clock: Clock,
    sessions: Mutex<HashMap<String, Arc<Mutex<DemoSession>>>>,
    /// The data that the sloppy model claims to have written, by user.
    claims: Mutex<HashMap<String, UserData>>,
}

struct DemoSession {
    user: String,
    chatbot: String,
    dialogue: DialogueState,
    history: Vec<WireMessage>,
}

const SYSTEM_PROMPT: &str = "You look after the user's reminders. Ask for what you need and don't know; when the user can't tell, say what you assume.";

impl Assistant {
    pub(super) fn new(graph: Arc<dyn Graph>, clock: Clock) -> Assistant {
        Assistant { graph, clock, sessions: Mutex::default(), claims: Mutex::default() }
    }

    pub(super) async fn open(&self, user: String, chatbot: String) -> String {
        let mut sessions = self.sessions.lock().await;
        let id = format!("demo-{}-{}", self.clock.wall().timestamp_millis(), sessions.len() + 1);
        let session = DemoSession { user, chatbot, dialogue: DialogueState::default(), history: Vec::new() };
        sessions.insert(id.clone(), Arc::new(Mutex::new(session)));
        id
    }

    pub(super) async fn say(
        &self,
        id: &str,
        model: DemoModel,
        message: WireMessage,
    ) -> Result<MessageReply, AssistantError> {
        let session = self.session(id).await?;
        let mut session = session.lock().await;
        let data = self.data(&session.user, model).await?;
        let mut dialogue = session.dialogue.clone();
        let answer = dialogue::answer(data.clone(), self.clock.wall(), &mut dialogue, &message.content);

        let mut events = Vec::new();
        if session.history.is_empty() {
            events.push(EventKind::SystemPrompt { text: SYSTEM_PROMPT.to_owned() }.to_json());
        }
        match model {
            DemoModel::Careful => events.extend(self.carry_out(id, &session.user, &answer.actions).await?),
            DemoModel::Sloppy => self.claim(&session.user, data, &answer.actions).await,
        }
        // Only now: a message that could not be carried out was not answered, and can be sent again.
        session.dialogue = dialogue;
        let reply = WireMessage { content: answer.text, role: Role::Assistant.as_str().to_owned() };
        session.history.extend([message, reply.clone()]);
        Ok(MessageReply {
            session_id: id.to_owned(),
            chatbot: session.chatbot.clone(),
            message: reply,
            history: session.history.clone(),
            events,
        })
    }

    /// The data of the session's user in the graph, whatever a model claims.
    pub(super) async fn object_context(&self, id: &str) -> Result<ObjectContext, AssistantError> {
        let session = self.session(id).await?;
        let user = session.lock().await.user.clone();
        let resources = storage::resources(self.graph.as_ref(), &user).await.map_err(AssistantError::Graph)?;
        Ok(ObjectContext { context: json!(user), resources, functions: functions() })
    }

    async fn session(&self, id: &str) -> Result<Arc<Mutex<DemoSession>>, AssistantError> {
        self.sessions.lock().await.get(id).cloned().ok_or_else(|| AssistantError::NoSuchSession(id.to_owned()))
    }

    async fn data(&self, user: &str, model: DemoModel) -> Result<UserData, AssistantError> {
        if model == DemoModel::Sloppy
            && let Some(claimed) = self.claims.lock().await.get(user)
        {
            return Ok(claimed.clone());
        }
        storage::load(self.graph.as_ref(), user).await.map_err(AssistantError::Graph)
    }

    /// Carries the actions out and returns their events.
    async fn carry_out(&self, id: &str, user: &str, actions: &[ReminderAction]) -> Result<Vec<Value>, AssistantError> {
        let mut events = Vec::new();
        for action in actions {
            let call = ToolCall { function: action.function().to_owned(), args: action.arguments().into() };
            let mut call = EventKind::FunctionCall(call).to_json();
            call["request"]["context"] = id.into();
            events.push(call);
            if let Some(statement) =
                storage::write(self.graph.as_ref(), user, action).await.map_err(AssistantError::Graph)?
            {
                let content = statement.to_owned();
                events.push(EventKind::GraphRequest { content, summary_direction: None }.to_json());
            }
            events.push(EventKind::FunctionResponse { output: action.output().into() }.to_json());
        }
        Ok(events)
    }

    async fn claim(&self, user: &str, mut data: UserData, actions: &[ReminderAction]) {
        actions.iter().for_each(|action| data.apply(action));
        self.claims.lock().await.insert(user.to_owned(), data);
    }
}

fn functions() -> Vec<Function> {
    let function = |(name, description, arguments): (&str, &str, &[&str])| {
        let properties: serde_json::Map<String, Value> =
            arguments.iter().map(|argument| ((*argument).to_owned(), json!({"type": "string"}))).collect();
        Function {
            name: name.to_owned(),
            description: description.to_owned(),
            label: Some("Reminder".to_owned()),
            view: None,
            static_method: true,
            input_type_schema: json!({"type": "object", "properties": properties}),
        }
    };
    ReminderAction::FUNCTIONS.map(function).to_vec()
}
