//! The steps that a judge wrote for a run's `geval` metrics, before it.

use serde::{Deserialize, Serialize};

use crate::evidence::Usage;
use crate::money::Dollars;

/// The steps that a judge wrote before a run. They stand in the run's job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StepsWritten {
    /// The judge that wrote them.
    pub judge: String,
    /// The metrics that have them.
    pub metrics: Vec<String>,
    /// Calls and tokens, which count towards the run's limits.
    pub usage: Usage,
    /// Their cost; `None` where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
}
