//! The job file as it is written: the YAML's own shape, from which the JSON Schema is derived.
//!
//! Invariants: the schema of these types is the single truth about what a job file may say (`check` walks it, `serde`
//! reads no more and no less); doc comments are the descriptions that an author's editor shows; what tells kinds apart
//! is the key that is present, never a tag and never `untagged`.

mod assertion;
mod model;
mod people;
mod preparation;
mod rules;
mod target;

pub use assertion::AssertionFile;
pub use model::{ModelFile, ModelMapping};
pub use people::{EvaluatorFile, ScorerFile};
pub use preparation::{SeedFile, SetupFile, TaskFile};
pub use target::{GraphFile, TargetFile};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Isolation, Limits, TimingOn};
use crate::score::VacuousGate;

/// A job: who talks with which agent about what, what is true of the user, and what must hold afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "job")]
pub struct JobFile {
    /// What a reader knows the job by. Without it, the file's name.
    #[serde(default)]
    #[schemars(regex(pattern = r"\S"))]
    pub name: Option<String>,
    /// What the job is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Words to pick jobs by.
    #[serde(default)]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub tags: Vec<String>,
    /// The persona that poses as the user.
    #[serde(default)]
    pub evaluator: EvaluatorFile,
    /// The judge that scores the tasks.
    #[serde(default)]
    pub scorer: ScorerFile,
    /// The agent under test.
    pub target: TargetFile,
    /// The average reply time, in milliseconds, that earns the full timing score. Without it timing does not count.
    #[serde(default)]
    #[schemars(range(min = 1, max = 4_294_967_295_u64))]
    pub aspirational_average: Option<u64>,
    /// What of a reply is timed.
    #[serde(default)]
    pub timing: TimingFile,
    /// How many messages, of both sides, a conversation may have. A safeguard.
    #[serde(default = "default_max_turns")]
    #[schemars(range(min = 2, max = 4_294_967_295_u64))]
    pub max_turns: u32,
    /// The first user message: one of these, drawn at random.
    #[serde(default = "default_greetings")]
    #[schemars(length(min = 1), inner(regex(pattern = r"\S")))]
    pub greetings: Vec<String>,
    /// What primes the agent's memory before each conversation.
    #[serde(default)]
    pub seeds: Vec<SeedFile>,
    /// What prepares the graph before each conversation.
    #[serde(default)]
    pub setups: Vec<SetupFile>,
    /// What the persona is to bring about.
    #[schemars(length(min = 1))]
    pub tasks: Vec<TaskFile>,
    /// What is true of the user; may be empty. Told to the persona in the with-facts condition only.
    #[schemars(inner(regex(pattern = r"\S")))]
    pub facts: Vec<String>,
    /// What must hold after the conversation.
    #[serde(default)]
    pub assertions: Vec<AssertionFile>,
    /// The graph that assertions and setups look at: at most one backend.
    #[serde(default)]
    pub graph: Option<GraphFile>,
    /// What keeps conversations apart. `shared`: one after the other on what all share. `user`: at once, each with a user
    /// of its own. `database`: at once, each with a database of its own. `process`: each with an agent process of its own.
    /// Default: process for an agent that eval-job starts on the embedded graph, database for the demo agent there,
    /// else shared
    #[serde(default)]
    pub isolation: Option<Isolation>,
    /// When the run counts as failed.
    #[serde(default)]
    pub gate: Option<GateFile>,
    /// How long things may take.
    #[serde(default)]
    pub limits: LimitsFile,
}

/// What of a reply is timed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "timing")]
pub struct TimingFile {
    /// Until when: `complete` is the reply's last byte, `firstToken` its first words, where the transport streams.
    pub on: TimingOn,
}

/// When the run counts as failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "gate")]
pub struct GateFile {
    /// The job's figure must be at least this, 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub min_score: Option<f64>,
    /// What an assertion that can't fail means: one that holds before the conversation, on an empty graph, and after.
    #[serde(default)]
    pub vacuous: VacuousGate,
}

/// How long things may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "limits")]
pub struct LimitsFile {
    /// Seconds for one try of one message to the agent.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub turn: f64,
    /// Seconds for one conversation; seeds and judging do not count.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub trial: f64,
    /// Seconds for one statement to the graph, tries included.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub query: f64,
    /// US dollars for the whole run: what persona and judge cost never exceeds it, and once the agent's own cost does, no
    /// further turn begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1_000_000))]
    pub cost: Option<f64>,
    /// Tokens for the whole run, of requests and replies, counted like `cost`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub tokens: Option<u64>,
    /// Seconds for the whole run; what goes on then is cut off, and kept as far as it went.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 31_536_000))]
    pub time: Option<f64>,
}

impl Default for LimitsFile {
    fn default() -> LimitsFile {
        let limits = Limits::default();
        LimitsFile {
            turn: limits.turn_seconds,
            trial: limits.trial_seconds,
            query: limits.query_seconds,
            cost: None,
            tokens: None,
            time: None,
        }
    }
}

fn default_max_turns() -> u32 {
    20
}

fn default_greetings() -> Vec<String> {
    ["Hello", "Hi", "Greetings", "Yo", "Hey"].map(str::to_owned).to_vec()
}
