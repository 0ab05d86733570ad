//! `assertions`.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::rules;
use crate::assertion::changes::ChangesConfig;
use crate::evidence::Condition;

/// What must hold after the conversation: `cypher` with `expected`, `expression`, or `changes`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "assertion", transform = one_assertion_kind)]
pub struct AssertionFile {
    /// What a reader knows it by. Without it, its own text.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub name: Option<String>,
    /// How much it counts among the assertions; 0 shows it and leaves it out of the score.
    #[serde(default = "AssertionFile::default_weight")]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub weight: f64,
    /// The one condition in which it must hold. Without it, both.
    #[serde(default)]
    pub when: Option<Condition>,
    /// It is meant to hold before the conversation too: something that must not come to be. Then it is no vacuous one.
    #[serde(default)]
    pub holds_before: bool,
    /// A Cypher query that only reads. `$user`, `$sessionId`, `$trial` and `$model` are parameters.
    #[serde(default, deserialize_with = "rules::present")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub cypher: Option<String>,
    /// What the query must return: a value, a list for one row, a list of lists or of mappings for a table. 1 equals 1.0 but not "1".
    #[serde(default, deserialize_with = "rules::present")]
    #[schemars(with = "Value")]
    pub expected: Option<Value>,
    /// A Rhai script that must be true, over `objectContext`, `evaluation` and `changes`.
    #[serde(default, deserialize_with = "rules::present")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub expression: Option<String>,
    /// What the conversation may do to the graph, and must: whatever it does beyond that fails.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ChangesConfig")]
    pub changes: Option<ChangesConfig>,
}

impl AssertionFile {
    fn default_weight() -> f64 {
        1.0
    }
}

fn one_assertion_kind(schema: &mut Schema) {
    rules::exactly_one(schema, &["cypher", "expression", "changes"]);
    schema.insert("dependentRequired".to_owned(), json!({ "cypher": ["expected"], "expected": ["cypher"] }));
}
