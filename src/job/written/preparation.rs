//! `seeds`, `setups` and `tasks`.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::rules;
use crate::evidence::Role;
use crate::job::TaskKind;

/// Something that primes the agent's memory: a text or a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "seed", transform = one_seed_kind)]
pub struct SeedFile {
    /// A document that the agent is asked to remember.
    #[serde(default, deserialize_with = "rules::present")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub text: Option<String>,
    /// An earlier conversation; only the user's lines are sent.
    #[serde(default, deserialize_with = "rules::present")]
    #[schemars(with = "Vec<MessageFile>", length(min = 1))]
    pub conversation: Option<Vec<MessageFile>>,
}

fn one_seed_kind(schema: &mut Schema) {
    rules::exactly_one(schema, &["text", "conversation"]);
}

/// One message of an earlier conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "message")]
pub struct MessageFile {
    /// Who spoke.
    #[serde(default = "MessageFile::default_role")]
    pub role: Role,
    /// The words.
    #[schemars(regex(pattern = r"\S"))]
    pub content: String,
}

impl MessageFile {
    fn default_role() -> Role {
        Role::User
    }
}

/// Something that prepares the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "setup")]
pub struct SetupFile {
    /// One Cypher statement, or several separated by semicolons.
    #[schemars(regex(pattern = r"\S"))]
    pub cypher: String,
}

/// What the persona is to bring about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "task")]
pub struct TaskFile {
    /// Whether something is to be done or answered.
    #[serde(default, rename = "type")]
    pub kind: TaskKind,
    /// What the persona does.
    #[schemars(regex(pattern = r"\S"))]
    pub task: String,
    /// When it counts as done well.
    #[schemars(regex(pattern = r"\S"))]
    pub acceptance_criteria: String,
}
