//! Whether the assertions of a stored run notice changes that were recorded differently: mutation testing.

use serde::Serialize;

/// The mutations of one conversation, and whether its assertions notice them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MutatedTrial {
    /// The case's id.
    pub case: String,
    /// Which conversation: [`TrialId::key`](crate::evidence::TrialId::key).
    pub trial: String,
    /// The number of mutants of its graph with a result: whether an assertion notices them.
    pub mutants: usize,
    /// The number of mutants without a result, as an assertion could not be evaluated and no other one notices; with
    /// the reason for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<NotMeasured>,
    /// How many there are, where not all were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut_from: Option<usize>,
    /// Mutants that no assertion notices.
    pub missed: Vec<MissedMutant>,
    /// Why none was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_mutated: Option<NotMutated>,
}

/// Mutants of which it is unknown whether an assertion notices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NotMeasured {
    /// How many.
    pub mutants: usize,
    /// Why, for the first of them.
    pub why: String,
}

/// A change of the graph that could have been another one, and no assertion would have noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissedMutant {
    /// The change, as it was recorded.
    pub change: String,
    /// The mutation.
    pub kind: MutationKind,
    /// The altered part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub altered: Option<String>,
}

/// A mutation of a recorded change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MutationKind {
    /// As if it had not been made.
    Removed,
    /// As if it had been made twice.
    Doubled,
    /// With another value, label or type.
    Altered,
}

impl MutationKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            MutationKind::Removed => "removed",
            MutationKind::Doubled => "doubled",
            MutationKind::Altered => "altered",
        }
    }
}

/// Why a conversation has no mutants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum NotMutated {
    /// There is nothing to mutate, or nothing that could notice.
    Nothing(String),
    /// Its graph could not be made again.
    Unknown(String),
}

impl MutatedTrial {
    /// How many mutants an assertion notices.
    pub fn noticed(&self) -> usize {
        self.mutants - self.missed.len()
    }
}

/// How many mutants are noticed, and how many there are.
pub fn mutation_counts<'a>(trials: impl IntoIterator<Item = &'a MutatedTrial>) -> (usize, usize) {
    let add = |(noticed, all), trial: &MutatedTrial| (noticed + trial.noticed(), all + trial.mutants);
    trials.into_iter().fold((0, 0), add)
}
