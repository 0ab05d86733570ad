//! Who speaks next: the turn-taking of one conversation, without any contact with agent or model.
//!
//! Invariants: turns are numbered from 1 without a gap; no conversation has more messages than its rules allow; no user
//! message goes unanswered because of that limit; what the persona said before it signed off is still delivered; what
//! the agent says never ends a conversation.

mod machine;
mod persona_reply;
mod signoff;

pub use machine::{Conversation, ConversationRules, Next};
pub use persona_reply::{PersonaReply, UnusableReply, read_persona_reply};
