//! Files of Red Hat's self-service-agent quickstart: conversations, the ids of users, and texts for the judge.

mod conversation;
mod metrics;

pub(super) use conversation::{read_context, read_conversation, user_ids};
