//! The parts of a suite that several machines share, and the run that their runs are merged to.

use serde::{Deserialize, Serialize};

/// Which part of a suite a run is: enough to merge it with the others, and to see which of them are missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunPart {
    /// Which, counted from 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
    /// The places of its cases among all of the job's, counted from 0.
    pub places: Vec<u32>,
    /// How many cases of the job each part has.
    pub cases: Vec<u32>,
    /// How many cases of all jobs of the command each part has.
    pub suite: Vec<u32>,
    /// Which cases of the job are in any part, where not all of them are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
}

/// The parts of which a run was merged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MergedParts {
    /// Into how many parts the suite was split.
    pub of: u32,
    /// The runs of the parts, in their order.
    pub parts: Vec<MergedPart>,
    /// The parts that are missing: their cases are not in the run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingPart>,
}

/// The run of a part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MergedPart {
    /// Which part.
    pub part: u32,
    /// The run's id.
    pub run: String,
    /// The seed of its random choices.
    pub rng_seed: u64,
}

/// A part without a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MissingPart {
    /// Which part.
    pub part: u32,
    /// How many cases of the job it has.
    pub cases: u32,
}

impl MergedParts {
    /// Which parts are missing, in a phrase.
    pub fn missing_text(&self) -> String {
        let one = |it: &MissingPart| {
            let cases = if it.cases == 1 { "case" } else { "cases" };
            format!("part {} of {} is missing, with {} {cases}", it.part, self.of, it.cases)
        };
        self.missing.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}
