//! The lines of a recording's files: each is a JSON object, and the first one says what the file is.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of the format.
pub const VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub(super) enum CassetteLine {
    /// The first line of `run.jsonl`.
    Run(RunHeader),
    /// The first line of a trial's file.
    Trial(TrialHeader),
    /// A request and what came of it.
    Exchange(Exchange),
    /// Something else that the clock or other trials decided.
    Note(Note),
    /// The trial is over: the last line of its file.
    End,
}

/// The common part of all trials of a recorded run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunHeader {
    /// The version of the format.
    pub version: u32,
    /// The eval-job that recorded it.
    pub tool_version: String,
    /// The job's name.
    pub job: String,
    /// The digest of the job's file.
    pub job_digest: String,
    /// The run's id, which statements get as `$trial`.
    pub run_id: String,
    /// The seed of its random choices.
    pub rng_seed: u64,
    /// The variables by which its models were chosen and found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// The numbers that its tokens derive from, by which users are kept apart.
    pub token_key: [u64; 4],
}

/// Which trial a file is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TrialHeader {
    pub(super) version: u32,
    /// Case, model, condition and repetition.
    pub(super) trial: String,
}

/// A request and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exchange {
    /// Counted from 0: a conversation is run again where the persona did not play its part.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) attempt: u32,
    pub(super) with: Party,
    pub(super) request: Value,
    /// The answer, which may be a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<Value>,
    /// The state when it was no longer waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) abandoned: Option<Value>,
    /// Whether it was no longer waited for since the time of the whole run was up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_cut_off: bool,
}

/// Something that the clock or other trials decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Note {
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) attempt: u32,
    pub(super) name: String,
    pub(super) value: Value,
}

/// The party that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Party {
    /// The persona's model.
    Persona,
    /// The model that reads the persona's messages before they are sent.
    Reviewer,
    /// A judge's model, or that of embeddings.
    Judge,
    /// The agent under test.
    Agent,
    /// The agent whose turns are expected of it.
    Reference,
    /// The trial's graph.
    Graph,
    /// A graph with nothing in it.
    EmptyGraph,
}

impl fmt::Display for Party {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Party::Persona => "the persona",
            Party::Reviewer => "the reviewer",
            Party::Judge => "the judge",
            Party::Agent => "the agent",
            Party::Reference => "the reference agent",
            Party::Graph => "the graph",
            Party::EmptyGraph => "the empty graph",
        })
    }
}

/// An answer, or the error in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Answer<T, E> {
    Reply(T),
    Error(E),
}

impl<T, E> From<Result<T, E>> for Answer<T, E> {
    fn from(result: Result<T, E>) -> Answer<T, E> {
        match result {
            Ok(reply) => Answer::Reply(reply),
            Err(error) => Answer::Error(error),
        }
    }
}

impl<T, E> Answer<T, E> {
    pub(super) fn into_result(self) -> Result<T, E> {
        match self {
            Answer::Reply(reply) => Ok(reply),
            Answer::Error(error) => Err(error),
        }
    }
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}
