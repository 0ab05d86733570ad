//! The turn-taking of one conversation, without any contact with agent or model.
//!
//! In: the rules of a conversation, and the replies of agent and persona. Out: the next step, and in the end the transcript
//! and its ending.
//!
//! Invariants: turns are numbered from 1 without a gap; no conversation has more messages than its rules allow; no user
//! message goes unanswered because of that limit; the persona's last message is still delivered; the agent's text never
//! ends a conversation.
//!
//! [`guard`] finds what is wrong with a turn of the persona, without a model.

pub mod guard;
mod machine;
mod persona_reply;
mod signoff;
mod wanted_tool;

pub use machine::{Conversation, ConversationRules, Next};
pub use persona_reply::{PersonaReply, UnusableReply, read_persona_reply};
pub use wanted_tool::WantedTool;
