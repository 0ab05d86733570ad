//! What a job file means: every default filled in, every kind told apart.

use std::path::PathBuf;

use super::Model;
use crate::agent::TransportConfig;
use crate::agent::managed::StartConfig;
use crate::assertion::AssertionCheck;
use crate::evidence::{Condition, Message};
use crate::graph::{GraphConfig, WatchConfig};
use crate::money::SpendLimits;
use crate::score::{Score, VacuousGate, Weight};

/// A job, valid by construction.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// What a reader knows it by: `name`, or the file's stem.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Words to pick jobs by.
    pub tags: Vec<String>,
    /// The evaluator persona that poses as the user.
    pub persona: Persona,
    /// The judge that scores the tasks.
    pub judge: Judge,
    /// The agent under test.
    pub target: Target,
    /// The reply time that earns the full timing score, in milliseconds; without it timing leaves the weighting.
    pub aspirational_average_ms: Option<u64>,
    /// Until when a reply is timed.
    pub timing_on: TimingOn,
    /// How many messages, of both sides, a conversation may have. A safeguard.
    pub max_turns: u32,
    /// The first user message is one of these.
    pub greetings: Vec<String>,
    /// What primes the agent's memory before each conversation.
    pub seeds: Vec<Seed>,
    /// What prepares the graph before each conversation.
    pub setups: Vec<Setup>,
    /// What the persona is to bring about; never empty.
    pub tasks: Vec<Task>,
    /// What is true of the user; may be empty.
    pub facts: Vec<String>,
    /// What must hold after the conversation; may be empty.
    pub assertions: Vec<Assertion>,
    /// The graph that the job names; `None` leaves the choice to the plan.
    pub graph: Option<GraphConfig>,
    /// Which part of it is watched for changes.
    pub watch: WatchConfig,
    /// What keeps conversations apart; `None` leaves the choice to the plan.
    pub isolation: Option<Isolation>,
    /// When the run counts as failed.
    pub gate: Gate,
    /// How long things may take.
    pub limits: Limits,
    /// The folder of the file, as it was named; empty for the one that eval-job runs in.
    pub folder: PathBuf,
    /// SHA-256 of the file's text, in hex.
    pub digest: String,
}

/// Until when a reply is timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TimingOn {
    /// Its last byte.
    #[default]
    Complete,
    /// Its first words.
    FirstToken,
}

/// The facts that a persona is given in a condition.
pub type Facts<'a> = &'a [String];

impl Job {
    /// The Cypher of its setups and assertions, each with its place: `setup 1`.
    pub fn statements(&self) -> impl Iterator<Item = (String, &str)> {
        let setups =
            self.setups.iter().zip(1..).map(|(setup, number)| (format!("setup {number}"), setup.cypher.as_str()));
        let assertions = self.assertions.iter().zip(1..).filter_map(|(assertion, number)| {
            assertion.check.cypher().map(|cypher| (format!("assertion {number}"), cypher))
        });
        setups.chain(assertions)
    }

    /// The facts that the persona knows in this condition.
    pub fn facts_known(&self, condition: Condition) -> Facts<'_> {
        match condition {
            Condition::WithoutFacts => &[],
            Condition::WithFacts => &self.facts,
        }
    }
}

/// The evaluator persona.
#[derive(Debug, Clone, PartialEq)]
pub struct Persona {
    /// Shown beside its lines.
    pub name: String,
    /// How it speaks.
    pub voice: String,
    /// The template of its instructions, `eval/socrates` for `prompts/eval/socrates.jinja`.
    pub prompt: String,
    /// 0 to 2.
    pub temperature: f64,
    /// The phrase that ends the conversation; case is ignored.
    pub signoff: String,
    /// What thinks for it.
    pub mind: Mind,
}

/// What thinks for the persona.
#[derive(Debug, Clone, PartialEq)]
pub enum Mind {
    /// A model, or the scripted rules.
    Model(Model),
    /// Fixed lines, said one after the other.
    Lines(Vec<String>),
}

impl Mind {
    /// The model, where it is one.
    pub fn model(&self) -> Option<&Model> {
        match self {
            Mind::Model(model) => Some(model),
            Mind::Lines(_) => None,
        }
    }
}

/// The judge.
#[derive(Debug, Clone, PartialEq)]
pub struct Judge {
    /// The template of its instructions, `eval/score` for `prompts/eval/score.jinja`.
    pub prompt: String,
    /// 0 to 2.
    pub temperature: f64,
    /// The model, or the scripted rules.
    pub model: Model,
}

/// The agent under test and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The user that a session is opened for.
    pub user: String,
    /// The chatbot that a session is opened with.
    pub chatbot: String,
    /// How the agent is reached.
    pub transport: TransportConfig,
    /// How it is started; `None` for an agent that is running already.
    pub start: Option<StartConfig>,
    /// How many conversations may be held with it at once.
    pub max_concurrency: Option<std::num::NonZeroU16>,
}

/// What keeps conversations apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Isolation {
    /// Nothing but time: one conversation after the other.
    Shared,
    /// Each has a user of its own.
    User,
    /// Each has a database of its own.
    Database,
    /// Each has an agent process of its own, and a graph of its own where that is the embedded one.
    Process,
}

impl Isolation {
    /// As the job file spells it.
    pub fn word(self) -> &'static str {
        match self {
            Isolation::Shared => "shared",
            Isolation::User => "user",
            Isolation::Database => "database",
            Isolation::Process => "process",
        }
    }
}

/// Something that primes the agent's memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Seed {
    /// A document that the agent is asked to remember.
    Text(String),
    /// An earlier conversation; only the user's lines are sent.
    Conversation(Vec<Message>),
}

/// Something that prepares the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// One statement, or several separated by semicolons.
    pub cypher: String,
}

/// What the persona is to bring about.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Whether something is to be done or answered.
    pub kind: TaskKind,
    /// What the persona does.
    pub task: String,
    /// When it counts as done well.
    pub acceptance_criteria: String,
}

/// Whether something is to be done or answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskKind {
    /// Something is to be done.
    #[default]
    Task,
    /// Something is to be answered.
    Question,
}

impl TaskKind {
    /// As the job file spells it.
    pub fn word(self) -> &'static str {
        match self {
            TaskKind::Task => "task",
            TaskKind::Question => "question",
        }
    }
}

/// What must hold after the conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    /// What a reader knows it by, if the job says.
    pub name: Option<String>,
    /// How much it counts among the assertions.
    pub weight: Weight,
    /// The one condition in which it must hold; `None` means both.
    pub when: Option<Condition>,
    /// It is meant to hold before the conversation too.
    pub holds_before: bool,
    /// What is looked at and what must be seen.
    pub check: AssertionCheck,
}

impl Assertion {
    /// The name, or the check's own text.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.check.label())
    }

    /// Whether it is checked in this condition.
    pub fn applies_in(&self, condition: Condition) -> bool {
        self.when.is_none_or(|when| when == condition)
    }
}

/// When a run counts as failed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gate {
    /// The job's figure must be at least this.
    pub min_score: Option<Score>,
    /// What an assertion that can't fail means.
    pub vacuous: VacuousGate,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Seconds for one try of one message to the agent.
    pub turn_seconds: f64,
    /// Seconds for one conversation, seeds and judging not counted.
    pub trial_seconds: f64,
    /// Seconds for one setup or one query of an assertion, tries included.
    pub query_seconds: f64,
    /// What the whole run may take.
    pub run: RunLimits,
}

/// What a whole run may take; without a number there is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RunLimits {
    /// Money and tokens.
    pub spend: SpendLimits,
    /// Seconds.
    pub seconds: Option<f64>,
}

impl RunLimits {
    /// These, and where there is none, the other's.
    pub fn or(self, other: RunLimits) -> RunLimits {
        RunLimits {
            spend: SpendLimits {
                cost: self.spend.cost.or(other.spend.cost),
                tokens: self.spend.tokens.or(other.spend.tokens),
            },
            seconds: self.seconds.or(other.seconds),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { turn_seconds: 60.0, trial_seconds: 1800.0, query_seconds: 30.0, run: RunLimits::default() }
    }
}
