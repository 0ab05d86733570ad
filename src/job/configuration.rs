//! The job: what is written in the file, completed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::assertion::tell_apart;
use super::context::ContextEntry;
use super::own_models::CachedPerCases;
use super::{
    Assertion, Case, ContextText, Gate, JobGraph, Judge, Limits, Persona, Seed, SeparateExpectations, Setup,
    StatementPlace, Target, Task, TimingConfig, User, rules,
};
use crate::evidence::Condition;
use crate::metric::trajectory::Expectation;
use crate::metric::{MetricConfig, MetricEntry, MetricKind, Weights, state_use};

/// A job: who talks with which agent about what, what is true of the user, and what must hold afterwards.
///
/// One type for the file and for what it means: [`Job::complete`] moves what the file says for all cases into the cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "job", description = "A job: who talks with which agent about what, what is true of the user, and what must hold afterwards.", transform = tasks_or_cases)]
pub struct Job {
    /// The job's name in reports. Default: the file's name
    #[serde(default, deserialize_with = "rules::or_default", skip_serializing_if = "String::is_empty")]
    #[schemars(with = "Option<String>", regex(pattern = r"\S"))]
    pub name: String,
    /// The purpose of the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words to pick jobs by.
    #[serde(default)]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub tags: Vec<String>,
    /// The persona that poses as the user.
    #[serde(default, rename = "evaluator")]
    pub persona: Persona,
    /// The judge that scores the tasks.
    #[serde(default, rename = "scorer")]
    pub judge: Judge,
    /// The agent under test.
    pub target: Target,
    /// A second agent, whose replies and tool calls are expected of the agent under test in the cases that say `reference`.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Target")]
    pub reference: Option<Box<Target>>,
    /// The average reply time, in milliseconds, that earns the full timing score. Without it timing does not count.
    #[serde(default, rename = "aspirationalAverage", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_294_967_295_u64))]
    pub aspirational_average_ms: Option<u64>,
    /// The part of a reply that is timed.
    #[serde(default)]
    pub timing: TimingConfig,
    /// The metrics of the job: a name each, or a mapping with its options. Default: timing, tasks, tone and
    /// assertions, and whatever compares with what is expected
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub metrics: Vec<MetricEntry>,
    /// How much each metric counts in the composite; 0 shows it and leaves it out.
    #[serde(default)]
    pub weights: Weights,
    /// How many messages, of both sides, a conversation may have. A safeguard. Where it is absent, a
    /// script has room for all of its lines.
    #[serde(default = "default_max_turns")]
    #[schemars(range(min = 2, max = 4_294_967_295_u64))]
    pub max_turns: u32,
    /// The first user message: one of these, drawn at random. With an empty list the first line of the script begins, or the
    /// persona.
    #[serde(default = "default_greetings")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub greetings: Vec<String>,
    /// Seeds for the agent's memory before each conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) seeds: Vec<Seed>,
    /// Statements that prepare the graph before each conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) setups: Vec<Setup>,
    /// The persona's tasks; with `cases`, in each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub(super) tasks: Vec<Task>,
    /// Facts about the user; may be empty. Only the persona of the with-facts condition knows them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub(super) facts: Vec<String>,
    /// The expectations of each conversation, where its case expects nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expected: Option<Box<Expectation>>,
    /// Texts for judges, in every case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ContextEntry>")]
    pub(super) context: Vec<ContextText>,
    /// Assertions on each conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) assertions: Vec<Assertion>,
    /// The cases, where the job has more than one: each adds to what the file says for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub cases: Vec<Arc<Case>>,
    /// The conditions in which each conversation is held. Default: both where there are facts, withoutFacts alone where
    /// there are none
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 1))]
    pub(super) conditions: Vec<Condition>,
    /// How often each conversation is held.
    #[serde(default = "once")]
    #[schemars(range(min = 1, max = 10_000))]
    pub repeat: u32,
    /// The graph that assertions and setups look at: at most one backend.
    #[serde(default, deserialize_with = "rules::or_default")]
    #[schemars(with = "Option<JobGraph>")]
    pub graph: JobGraph,
    /// How conversations are kept apart. `shared`: one after the other on what all share. `user`: at once, each with a
    /// user of its own. `database`: at once, each with a database of its own. `process`: each with an agent process of
    /// its own. Default: process for an agent that eval-job starts on the embedded graph, database for the demo agent
    /// there, else shared
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// When the run counts as failed.
    #[serde(default, deserialize_with = "rules::or_default")]
    #[schemars(with = "Option<Gate>")]
    pub gate: Gate,
    /// How long things may take.
    #[serde(default)]
    pub limits: Limits,
    /// The folder of the file, as it was named; empty for the one that eval-job runs in.
    #[serde(skip)]
    pub folder: PathBuf,
    /// SHA-256 of the file's text, in hex.
    #[serde(skip)]
    pub digest: String,
    /// Whether a judge is asked which goals of the cases were reached, once that was looked for.
    #[serde(skip)]
    pub(super) asks_reader: CachedPerCases,
    /// Whether the persona's model is asked at all, once that was looked for.
    #[serde(skip)]
    pub(super) asks_persona: CachedPerCases,
}

/// Without cases a file is one case, and has to say what that is about: by tasks and facts, or by the lines of a script.
fn tasks_or_cases(schema: &mut Schema) {
    let script = json!({ "type": "object", "required": ["script"] });
    let scripted = json!({ "required": ["evaluator"], "properties": { "evaluator": script } });
    schema.insert("if".to_owned(), json!({ "not": { "anyOf": [{ "required": ["cases"] }, scripted] } }));
    schema.insert("then".to_owned(), json!({ "required": ["tasks", "facts"] }));
}

fn default_max_turns() -> u32 {
    20
}

fn default_greetings() -> Vec<String> {
    crate::evidence::GREETINGS.map(str::to_owned).to_vec()
}

fn once() -> u32 {
    1
}

impl Job {
    /// Fills in what the file leaves open: the name, and what it says for all cases in each of them. Complete jobs stay as
    /// they are.
    pub(super) fn complete(&mut self, file_name: &str) {
        if self.name.is_empty() {
            self.name = stem(file_name);
        }
        self.folder = Path::new(file_name).parent().map(Path::to_path_buf).unwrap_or_default();
        if self.cases.is_empty() {
            self.cases.push(Arc::new(Case::empty(self.name.clone())));
        }
        self.judge.set_defaults();
        let expected = self.expected.take();
        let mut known: Vec<MetricEntry> = Vec::new();
        self.metrics.retain(|metric| {
            !known.contains(metric) && {
                known.push(metric.clone());
                true
            }
        });
        let user = self.persona.script.take().map_or(User::Persona, User::Lines);
        let (tasks, facts) = (std::mem::take(&mut self.tasks), std::mem::take(&mut self.facts));
        let (seeds, setups) = (std::mem::take(&mut self.seeds), std::mem::take(&mut self.setups));
        let assertions = std::mem::take(&mut self.assertions);
        let context = std::mem::take(&mut self.context);
        let conditions = std::mem::take(&mut self.conditions);
        for case in &mut self.cases {
            let case = Arc::make_mut(case);
            case.tasks = [tasks.as_slice(), &case.tasks].concat();
            case.facts = [facts.as_slice(), &case.facts].concat();
            case.seeds = [seeds.as_slice(), &case.seeds].concat();
            case.setups = [setups.as_slice(), &case.setups].concat();
            case.assertions = [assertions.as_slice(), &case.assertions].concat();
            tell_apart(&mut case.assertions);
            case.context = [context.as_slice(), &case.context].concat();
            if case.expected.is_none() {
                case.expected.clone_from(&expected);
            }
            if case.user.is_persona() {
                case.user = user.clone();
            }
            if case.conditions.is_empty() {
                case.conditions.clone_from(&conditions);
            }
            if case.conditions.is_empty() {
                let both = !case.facts.is_empty();
                case.conditions = if both { Condition::ALL.to_vec() } else { vec![Condition::WithoutFacts] };
            }
            case.conditions.sort_unstable();
            case.conditions.dedup();
        }
        if self.metrics.is_empty() {
            self.metrics = self.default_metrics();
        }
    }

    /// Lets each case of fixed lines have as many messages as its lines need, where neither it nor the job says how many.
    pub(super) fn make_room_for_lines(&mut self) {
        for at in 0..self.cases.len() {
            let needed = self.messages_of_lines(&self.cases[at]).filter(|needed| *needed > self.max_turns);
            if let (Some(needed), None) = (needed, self.cases[at].max_turns) {
                Arc::make_mut(&mut self.cases[at]).max_turns = Some(needed);
            }
        }
    }

    /// How many turns come before the first line of a case.
    pub fn opening_turns(&self, case: &Case) -> u32 {
        case.opening.0.len().max(usize::from(!self.greetings.is_empty())) as u32
    }

    /// How many messages a case of fixed lines needs until its last line is answered: the agent may speak first. `None` of a case with
    /// a persona.
    pub fn messages_of_lines(&self, case: &Case) -> Option<u32> {
        let User::Lines(lines) = &case.user else { return None };
        let turns = u32::try_from(lines.len()).unwrap_or(u32::MAX).saturating_add(self.opening_turns(case));
        Some(turns.saturating_mul(2).saturating_add(1))
    }

    /// The most messages of a conversation about a case.
    pub fn most_messages(&self, case: &Case) -> u32 {
        case.max_turns.unwrap_or(self.max_turns)
    }

    /// The metrics of a job that names none: Embabel's, and those that compare with what its cases expect.
    fn default_metrics(&self) -> Vec<MetricEntry> {
        let mut metrics = MetricEntry::defaults();
        let expects = |is: fn(&Expectation) -> bool| self.cases.iter().any(|case| case.expectations().any(is));
        let compares = self.cases.iter().any(|case| case.reference.is_some());
        if compares || expects(|expected| expected.calls.is_some() || expected.goals.is_some()) {
            metrics.push(MetricEntry::new(MetricConfig::new(MetricKind::Trajectory)));
        }
        if expects(|expected| expected.state.is_some()) {
            metrics.push(MetricEntry::new(MetricConfig::new(MetricKind::State)));
        }
        if compares || expects(|expected| expected.reply.is_some()) {
            metrics.push(MetricEntry::new(MetricConfig::new(MetricKind::Rouge)));
        }
        if expects(|expected| !expected.keywords.is_empty()) {
            metrics.push(MetricEntry::new(MetricConfig::new(MetricKind::Keywords)));
        }
        metrics
    }

    /// Reads a job that was stored with a run.
    ///
    /// # Errors
    /// The stored job can't be read.
    pub fn restored(kept: &serde_json::Value) -> serde_json::Result<Job> {
        let mut job = Job::deserialize(kept)?;
        job.complete("");
        Ok(job)
    }

    /// The job of a document beside which the expectations of its cases stand.
    ///
    /// # Errors
    /// As of [`Job::restored`].
    pub fn restored_with(document: &serde_json::Value, expected: Vec<SeparateExpectations>) -> serde_json::Result<Job> {
        let mut job = Job::deserialize(document)?;
        for (case, expected) in job.cases.iter_mut().zip(expected) {
            expected.put_into(Arc::make_mut(case));
        }
        job.complete("");
        Ok(job)
    }

    /// Whether a setup or an assertion of a case looks at the graph.
    pub fn uses_graph(&self) -> bool {
        self.cases.iter().any(|case| case.uses_graph())
    }

    /// Why a metric looks at the agent's state after a conversation about this case; `None` where none does.
    pub fn state_use(&self, case: &Case) -> Option<&'static str> {
        let is_expected = case.expected.as_ref().is_some_and(|expected| expected.state.is_some());
        self.metrics.iter().find_map(|entry| state_use(&entry.metric, is_expected))
    }

    /// The assertions of all cases.
    pub fn assertions(&self) -> impl Iterator<Item = &Assertion> {
        self.cases.iter().flat_map(|case| &case.assertions)
    }

    /// The Cypher of all cases' setups and assertions, each with its place.
    pub fn statements(&self) -> impl Iterator<Item = (StatementPlace, &str)> {
        let is_one_of_several = self.cases.len() > 1;
        self.cases.iter().flat_map(move |case| {
            case.statements().map(move |(list, number, cypher)| {
                (StatementPlace { list, number, case: case.id.clone(), is_one_of_several }, cypher)
            })
        })
    }
}

/// The file's name without folders and extension.
fn stem(file_name: &str) -> String {
    let name = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned()
}

/// How conversations are kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fn as_str(self) -> &'static str {
        match self {
            Isolation::Shared => "shared",
            Isolation::User => "user",
            Isolation::Database => "database",
            Isolation::Process => "process",
        }
    }
}
