//! The verdicts of a run's judge on known conversations before the run: `gate.canaries`.

use serde::{Deserialize, Serialize};

use crate::evidence::Usage;
use crate::money::Dollars;

/// Known good and bad conversations that the judge graded before a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CanaryCheck {
    /// The folder, as the job names it.
    pub folder: String,
    /// How many of them are known to be bad; the judge found fault with each.
    pub bad: usize,
    /// How many are known to be good; the judge passed each.
    pub good: usize,
    /// Calls and tokens of the judge, which count towards the run's limits.
    pub usage: Usage,
    /// The cost; `None` where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<Dollars>,
}
