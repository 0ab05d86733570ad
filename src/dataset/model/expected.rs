//! Expectations of a case or a turn.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::evidence::LazyValue;
use crate::metric::Rubric;

/// A tool call that is expected, or was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DatasetCall {
    /// The call's id in its system: it pairs calls with their results, and is never compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The arguments; `None` where the file gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<LazyValue>,
    /// The result; `None` where the file gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<LazyValue>,
    /// How an argument is compared, by its path: `strict`, `optional`, `ignore`, `fuzzy`.
    #[serde(rename = "match", skip_serializing_if = "Map::is_empty")]
    pub rules: Map<String, Value>,
    /// Whether a recording has it in one message with the call before it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_parallel: bool,
}

/// The expectations of one turn of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LineExpectation {
    /// The final reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// The tool calls, in order; none expected is an empty list, nothing said is `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Vec<DatasetCall>>,
    /// The agent's messages before its final reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intermediate: Vec<AuthoredText>,
    /// The criteria for judges in this turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rubrics: Vec<Rubric>,
}

impl LineExpectation {
    /// Whether nothing is expected.
    pub fn is_empty(&self) -> bool {
        *self == LineExpectation::default()
    }
}

/// A text of one of several agents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AuthoredText {
    /// The agent's name; may be empty.
    pub author: String,
    /// Its message.
    pub text: String,
    /// How many of its turn's calls were made before it, where a recording tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after_calls: Option<usize>,
}

/// The expectations of a whole conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaseExpectation {
    /// The goals, and in which order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goals: Option<DatasetGoals>,
    /// The session's state afterwards: each entry must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Map<String, Value>>,
}

/// Goals, and which must be reached before which.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DatasetGoals {
    /// The goals, in the file's order.
    pub nodes: Vec<Goal>,
    /// Pairs of names: the first must be reached before the second.
    pub edges: Vec<(String, String)>,
}

/// A goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Goal {
    /// Its name; no two goals of a case share one.
    pub name: String,
    /// The event that reaches it.
    pub kind: GoalKind,
    /// All other content of the file.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// The event that reaches a goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum GoalKind {
    /// A call of a tool.
    ToolCall(DatasetCall),
    /// A reply that says the same and has the keywords.
    Text {
        /// The text that it must say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response: Option<String>,
        /// Words that must be in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keywords: Vec<String>,
        /// Whether `response` is the older summary of the conversation.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_summary: bool,
    },
    /// An element of the user interface that is offered.
    Interaction {
        /// Its identifier.
        key: String,
        /// With which value.
        value: Value,
    },
    /// A search in a knowledge base.
    Search {
        /// The knowledge base.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        knowledge_base: Option<String>,
    },
    /// A tool's response.
    ToolResponse(DatasetCall),
}

/// The answer of a tool that is not to be called.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolMock {
    /// The tool's name.
    pub tool: String,
    /// Which calls it answers; `None` is every call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    /// The instructions for a model that makes the answer up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
}

/// A check by a judge in a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgedCheck {
    /// The requirement, in plain language.
    pub check: String,
    /// `observed` or `policy`.
    pub kind: String,
    /// The evidence that the judge is shown.
    pub scope: JudgedScope,
}

/// The evidence that a judge is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum JudgedScope {
    /// A single reply.
    Response,
    /// All of it.
    #[default]
    Conversation,
}
