//! The agent's observable state, in Embabel's shape.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The agent's observable state (`GET /api/v1/chat/objectContexts/{sessionId}`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectContext {
    /// The agent's own name for the context; any JSON.
    #[serde(default)]
    pub context: Value,
    /// The things it has at hand.
    #[serde(default)]
    pub resources: Vec<Resource>,
    /// The functions it can call.
    #[serde(default)]
    pub functions: Vec<Function>,
}

impl ObjectContext {
    /// The label that marks a resource as an entity of the knowledge graph.
    pub const ENTITY_LABEL: &'static str = "DomainNode";

    /// The state as JSON: the agent's own context where that is a mapping, else all of it.
    pub fn state(&self) -> Value {
        match &self.context {
            context @ Value::Object(_) => context.clone(),
            _ => serde_json::to_value(self).unwrap_or_default(),
        }
    }

    /// The resources that are entities of the knowledge graph: those labelled `DomainNode`.
    pub fn entities(&self) -> impl Iterator<Item = &Resource> {
        self.resources.iter().filter(|resource| resource.labels.iter().any(|label| label == Self::ENTITY_LABEL))
    }
}

/// One thing that the agent has at hand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// Its id.
    pub id: String,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// A description; Embabel's default is the name.
    #[serde(default)]
    pub description: String,
    /// Its properties.
    #[serde(default)]
    pub properties: Map<String, Value>,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Other names for it.
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// One function that the agent can call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The purpose of the function.
    #[serde(default)]
    pub description: String,
    /// The label of the entities that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The view that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Whether it needs no entity.
    #[serde(default)]
    pub static_method: bool,
    /// The JSON Schema of its input.
    #[serde(default)]
    pub input_type_schema: Value,
}
