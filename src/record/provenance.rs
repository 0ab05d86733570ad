//! The job, models, prompts and limits that a run was made with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CanaryCheck, MergedParts, RunPart, StepsWritten};
use crate::money::{Dollars, Price};
use crate::score::{GateRules, Score, UntilDecided, VacuousGate};

/// The job, models, prompts and limits that a run was made with: enough to see whether two runs can be compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Provenance {
    /// eval-job's version.
    pub tool_version: String,
    /// The job's name.
    pub job: String,
    /// Where the job was read from.
    pub job_file: String,
    /// Which of its cases were run, where not all of them were: how many, and by which flags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
    /// Which part of a suite it is, where several machines share one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<RunPart>,
    /// The parts of which it was merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedParts>,
    /// The id of the recorded run that it replays; `None` where somebody was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<String>,
    /// Whether a person was the user (`eval-job record`): one conversation, and no evaluation of the job.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// SHA-256 of the job file's text, in hex.
    pub job_digest: String,
    /// The templates that were used.
    pub prompts: Vec<PromptDigest>,
    /// How the agent was reached: the transport and its address, without credentials.
    pub agent: String,
    /// The files in which the conversations were recorded, each with what it is; empty where the agent was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<String>,
    /// The models that the agent was asked to use.
    pub models: Vec<String>,
    /// Whether they are others than the one that the transport asks for where nobody names any.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_named_models: bool,
    /// The persona's name.
    pub persona: String,
    /// The kinds of users with which the cases were run, by name; empty where the job names none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub personas: Vec<String>,
    /// The persona's model, `scripted`, or `script` for fixed lines.
    pub persona_model: String,
    /// The model that reviewed its messages; `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer_model: Option<String>,
    /// How repetitions were added until the models differed; `None` where their number was fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilDecided>,
    /// The persona's temperature.
    pub persona_temperature: f64,
    /// The judge's model, or `scripted`.
    pub judge_model: String,
    /// The judge's temperature.
    pub judge_temperature: f64,
    /// Where persona and judge were asked instead of their providers' own addresses, without credentials; two addresses
    /// where they differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_endpoint: Option<String>,
    /// The isolation of the trials, as the job file spells it; empty in records of earlier versions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub isolation: String,
    /// The graph's backend, if the job uses one.
    pub graph: Option<String>,
    /// The known prices of the models, in dollars a million tokens, by model name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<String, Price>,
    /// The day of the prices; empty in what an earlier version kept.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prices_dated: String,
    /// The limit of the whole run in US dollars, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_limit: Option<Dollars>,
    /// Its limit in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_limit: Option<u64>,
    /// Its limit in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
    /// The limit on messages of a conversation.
    pub max_turns: u32,
    /// The seed of every random choice.
    pub rng_seed: u64,
    /// The gate, if there is one.
    pub min_score: Option<Score>,
    /// The least share of conversations in which the persona must play its part, where the gate has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_validity: Option<Score>,
    /// The rules of the gate beside these.
    #[serde(skip_serializing_if = "is_default")]
    pub gate: GateRules,
    /// The effect of an assertion that can't fail.
    pub vacuous: VacuousGate,
    /// Whether the cases whose tasks are verified were drawn by lot.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verified_at_random: bool,
    /// The known conversations that the judge was tried on before, where the job names some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub canaries: Option<CanaryCheck>,
    /// The figure of the best agent that does nothing, 0 to 1, where `gate.maxTrivialScore` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trivial_score: Option<f64>,
    /// The steps that the judge wrote before, where the job has it write some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsWritten>,
}

fn is_default(rules: &GateRules) -> bool {
    *rules == GateRules::default()
}

/// A template that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptDigest {
    /// Its name, `eval/socrates`.
    pub name: String,
    /// SHA-256 of its text, in hex.
    pub digest: String,
}

impl Provenance {
    /// Whether rules stood in for a language model somewhere.
    pub fn is_scripted(&self) -> bool {
        self.persona_model == "scripted" && !self.by_person || self.judge_model == "scripted"
    }
}
