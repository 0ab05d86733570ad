//! Agents that do nothing: what scores well with them measures nothing. They call no tool, change no graph and ask no model.

use async_trait::async_trait;

use super::{Agent, AgentError, Attempts, Reply, Session};
use crate::evidence::ObjectContext;

/// The reply of an agent that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrivialKind {
    /// Nothing.
    Null,
    /// The user's own message.
    Echo,
    /// "Done!"
    Yes,
    /// Everything that it can see.
    List,
}

impl TrivialKind {
    /// All of them.
    pub const ALL: [TrivialKind; 4] = [TrivialKind::Null, TrivialKind::Echo, TrivialKind::Yes, TrivialKind::List];

    /// Its name, which stands in place of a model's.
    pub fn as_str(self) -> &'static str {
        match self {
            TrivialKind::Null => "null",
            TrivialKind::Echo => "echo",
            TrivialKind::Yes => "yes",
            TrivialKind::List => "list",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<TrivialKind> {
        TrivialKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// An agent that does nothing.
#[derive(Debug, Clone)]
pub struct TrivialAgent {
    /// Its reply.
    pub kind: TrivialKind,
    /// Its session's id.
    pub session: String,
    /// Its state, which it never changes.
    pub state: ObjectContext,
    /// Everything that it can see, as text.
    pub seen: String,
}

impl TrivialAgent {
    fn reply(&self, message: &str) -> String {
        match self.kind {
            TrivialKind::Null => String::new(),
            TrivialKind::Echo => message.to_owned(),
            TrivialKind::Yes => "Done!".to_owned(),
            TrivialKind::List => format!("{message}\n{}", self.seen),
        }
    }
}

#[async_trait]
impl Agent for TrivialAgent {
    async fn open(&self) -> Result<Box<dyn Session>, AgentError> {
        Ok(Box::new(self.clone()))
    }
}

#[async_trait]
impl Session for TrivialAgent {
    fn id(&self) -> &str {
        &self.session
    }

    async fn say(&mut self, message: &str, _: &mut Attempts) -> Result<Reply, AgentError> {
        Ok(Reply { text: self.reply(message), ..Reply::default() })
    }

    async fn object_context(&mut self) -> Result<ObjectContext, AgentError> {
        Ok(self.state.clone())
    }
}
