//! The requests of a conversation, and how their replies are read.

use serde_json::Value;

use super::KnowledgeConfig;
use super::wire::{KnowledgeRequest, MessageReply, MessageRequest, SessionReply, SessionRequest, parse_object_context};
use crate::agent::attempts::AttemptFailure;
use crate::agent::rest::{AgentRequest, Caller, EventOutcome, Hints, NextStep, Received, TurnInput, Wire, hints};
use crate::agent::{AgentContext, AgentError, AgentErrorKind, Reply, UnfinishedSession};
use crate::evidence::ObjectContext;
use crate::http::{BaseUrl, HttpFault, HttpReply, Method, Url, is_same_origin};
use crate::secret::Secret;
use crate::text::is_blank;

const OPENING: Hints = hints!(
    "embabel",
    "apiKey",
    "; check target.embabel.baseUrl and target.embabel.path, and that the agent knows the chatbot (target.chatbot)"
);

const TALKING: Hints =
    Hints { not_found: "; the agent does not know the session any more, or has no such path", ..OPENING };

const KNOWLEDGE: Hints = Hints {
    unreachable: "; is the knowledge-graph service running? target.embabel.knowledge.baseUrl says where it is looked for",
    unauthorized: "; the agent's key goes to the agent's own scheme, host and port only: check target.embabel.knowledge.apiKey",
    not_found: "",
};

/// A conversation by Embabel's protocol.
#[derive(Clone)]
pub(super) struct EmbabelWire {
    chat: BaseUrl,
    knowledge: Option<(KnowledgeConfig, BaseUrl)>,
    user: String,
    chatbot: String,
    model: String,
    reply: MessageReply,
}

impl EmbabelWire {
    pub(super) fn new(
        chat: BaseUrl,
        knowledge: Option<(KnowledgeConfig, BaseUrl)>,
        context: &AgentContext,
    ) -> EmbabelWire {
        let AgentContext { user, chatbot, model, .. } = context.clone();
        EmbabelWire { chat, knowledge, user, chatbot, model, reply: MessageReply::default() }
    }
}

fn request(method: Method, url: Url, hints: Hints) -> AgentRequest {
    AgentRequest { key_header: ("x-api-key", ""), ..AgentRequest::to(method, url, hints) }
}

impl Wire for EmbabelWire {
    /// Creates the knowledge context that the job names; one that exists already (409) is used.
    async fn prepare_memory(&self, caller: &Caller) -> Result<(), AgentError> {
        let Some((config, base)) = &self.knowledge else { return Ok(()) };
        let url = base.join(["api", "v1", "graphs"]);
        // The agent's key is for the agent.
        let is_for_agent = is_same_origin(&url, &self.chat.join([]));
        let key = config.api_key.as_ref().map(Secret::new).or(caller.api_key.clone().filter(|_| is_for_agent));
        let request = AgentRequest { own_key: Some(key), ..request(Method::PUT, url, KNOWLEDGE) };
        match caller.call(&request.with_body(&KnowledgeRequest::new(config)), |_| Ok(())).await {
            Err(error) if error.kind == AgentErrorKind::Status(409) => Ok(()),
            outcome => outcome,
        }
    }

    /// The agent keeps the conversation, by its id.
    async fn reopen(&mut self, _: &Caller, _: &UnfinishedSession) -> Result<(), AgentError> {
        Ok(())
    }

    async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        let body = SessionRequest { user: self.user.clone(), chatbot: self.chatbot.clone() };
        let request = request(Method::PUT, self.chat.join(["sessions"]), OPENING).with_body(&body);
        caller.call(&request, session_id).await
    }

    async fn send(&mut self, input: &TurnInput) -> Result<AgentRequest, AttemptFailure> {
        let body = MessageRequest::from_user(&input.session_id, &input.message, &self.model);
        Ok(request(Method::PUT, self.chat.join(["messages"]), TALKING).with_body(&body))
    }

    fn document(&mut self, reply: &HttpReply) -> Result<Value, HttpFault> {
        self.reply = reply.object()?;
        Ok(Value::Null)
    }

    fn feed(&mut self, _: Value, _: &HttpReply) -> Result<EventOutcome, AttemptFailure> {
        Ok(EventOutcome::Nothing)
    }

    async fn finish(&mut self, input: &TurnInput, received: &Received) -> Result<NextStep, AttemptFailure> {
        let reply = std::mem::take(&mut self.reply);
        if !reply.session_id.is_empty() && reply.session_id != input.session_id {
            let what = format!(
                "the reply belongs to another session ({:?} instead of {:?})",
                reply.session_id, input.session_id
            );
            return Err(received.reported(&what));
        }
        if matches!(reply.message.role.as_str(), "user" | "system" | "tool") {
            let role = reply.message.role;
            return Err(received.reported(&format!("the reply is no message of the agent's: its role is {role}")));
        }
        if is_blank(&reply.message.content) {
            let body: Value = received.reply.object()?;
            if body.get("message").is_none_or(|message| message.is_object() && message.get("content").is_none()) {
                return Err(received.reply.unreadable("the reply holds no message.content").into());
            }
            return Err(received.reply.useless("the agent's message is empty").into());
        }
        NextStep::reply(Reply { events: reply.events(), ..received.timed_reply(reply.message.content) })
    }

    async fn state(&mut self, caller: &Caller, input: &TurnInput) -> Result<ObjectContext, AgentError> {
        let url = self.chat.join(["objectContexts", &input.session_id]);
        let read = |reply: &HttpReply| {
            parse_object_context(reply.object()?).map_err(|error| {
                reply
                    .unreadable(&format!("the object context can't be read ({})", reply.quote(&error.to_string())))
                    .into()
            })
        };
        caller.call(&request(Method::GET, url, TALKING), read).await
    }
}

fn session_id(reply: &HttpReply) -> Result<String, AttemptFailure> {
    let id = reply.object::<SessionReply>()?.session_id;
    match id.as_str() {
        "" => Err(reply.unreadable("the reply holds no sessionId").into()),
        // No encoding keeps these two apart from the steps of a path.
        "." | ".." => Err(reply.unreadable("the sessionId can't stand in an address").into()),
        _ => Ok(id),
    }
}
