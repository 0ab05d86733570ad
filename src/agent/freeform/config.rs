//! What the YAML says of any agent without a protocol of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a reply has the agent's tokens.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UsageConfig {
    /// Where the tokens of the agent's requests are, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Where the tokens of its replies are, as JSONPath.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
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
    /// GET, where a request only looks.
    pub(in crate::agent) fn get() -> MethodConfig {
        MethodConfig::Get
    }
}
