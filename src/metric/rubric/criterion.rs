//! The criteria of judges beside the replies' words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::score::Weight;

/// Something that a judge looks at: a sentence that must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "rubric")]
pub struct Rubric {
    /// Its id; no two rubrics of a metric share one.
    #[schemars(regex(pattern = r"\S"))]
    pub id: String,
    /// The requirement.
    #[schemars(regex(pattern = r"\S"))]
    pub text: String,
    /// Its purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its type: which metrics use it.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub rubric_type: Option<String>,
    /// The one metric that it is for, by its name in reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// How much it counts among the others. Default: 1
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1_000_000))]
    pub weight: Option<Weight>,
}
