//! Assertions that can't fail.

use serde::{Deserialize, Serialize};

/// What is known about whether an assertion that holds could have failed at all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Vacuity {
    /// It held before the first word too, and it holds on an empty graph and an empty object context.
    Vacuous,
    /// It could not be told.
    NotChecked {
        /// Why.
        why: String,
    },
}

/// What an assertion that can't fail means for the gate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum VacuousGate {
    /// It is told and changes nothing.
    #[default]
    Warn,
    /// The gate fails.
    Fail,
}
