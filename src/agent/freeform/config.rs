//! Settings that the transports by templates and JSONPath share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The places of the agent's tokens in a reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UsageConfig {
    /// The place of the input tokens, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The place of the output tokens, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// The mark of a reply's last event or frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DoneConfig {
    /// The place of the mark, as JSONPath.
    pub path: String,
    /// The value that it must have. Without it, any value will do.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub equals: Value,
}

/// The method of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum MethodConfig {
    /// GET.
    Get,
    /// POST.
    #[default]
    Post,
    /// PUT.
    Put,
    /// PATCH.
    Patch,
}

impl MethodConfig {
    /// The default of requests that only read.
    pub(in crate::agent) fn get() -> MethodConfig {
        MethodConfig::Get
    }
}
