//! Files of Red Hat's self-service-agent quickstart: conversations, the ids of users, and texts for the judge.

mod conversation;
mod goldens;
pub(in crate::dataset) mod metrics;
mod write;

pub(super) use conversation::{read_context, read_conversation, user_ids};
pub(super) use goldens::{EXPECTATIONS, multiply, read_goldens};
pub(super) use write::write;
