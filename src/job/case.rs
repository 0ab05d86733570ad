//! A case: the subject of one conversation.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::context::ContextEntry;
use super::user_persona::UserPersonaFile;
use super::{Assertion, ContextText, Line, Opening, ReferencePart, StatementList, User, UserPersona, rules};
use crate::agent::tools::ToolMockConfig;
use crate::evidence::{Condition, Guard, Message, Role};
use crate::metric::trajectory::Expectation;

/// A case: the user of one conversation, the state before it, and the assertions on it. In the file it adds to what the
/// file says for all cases; a loaded [`Job`](super::Job)'s cases are complete.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "case")]
pub struct Case {
    /// The case's id in reports and across runs; no two cases of a job share one.
    #[schemars(regex(pattern = r"\S"))]
    pub id: String,
    /// The purpose of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words to pick cases by, beside the job's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub tags: Vec<String>,
    /// Fixed messages, sent one after the other, instead of the persona's.
    #[serde(default, rename = "script", skip_serializing_if = "User::is_persona")]
    #[schemars(with = "Vec<Line>", length(min = 1))]
    pub user: User,
    /// The first user message in this case, instead of one of the greetings; or several, sent one after the other before the
    /// persona speaks.
    #[serde(default, skip_serializing_if = "Opening::is_empty")]
    pub opening: Opening,
    /// The story that the persona plays, or the plan that it follows: beside its tasks, or instead of them.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    pub plan: Option<String>,
    /// The kind of person the user is in this case: how the persona behaves and writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub traits: Vec<String>,
    /// The kind of person the user is in this case, as `evaluator.personas` says it; the case is held with no other.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "UserPersonaFile")]
    pub persona: Option<Box<UserPersona>>,
    /// How many messages, of both sides, the conversation may have in this case, instead of the job's `maxTurns`.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 2, max = 4_294_967_295_u64))]
    pub max_turns: Option<u32>,
    /// What the job's `reference` agent says and does is expected of the agent. `follows`: it gets the user's messages after the
    /// conversation. `leads`: the user talks with it first, and the agent gets the same messages.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ReferencePart")]
    pub reference: Option<ReferencePart>,
    /// Texts for judges, beside the job's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ContextEntry>")]
    pub context: Vec<ContextText>,
    /// The expectations of the whole conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Box<Expectation>>,
    /// The state in which the session begins.
    #[serde(default, skip_serializing_if = "CaseSession::is_empty")]
    pub session: CaseSession,
    /// The persona's tasks in this case, after the job's own tasks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// Facts about the user, beside the job's own facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub facts: Vec<String>,
    /// Seeds for the agent's memory before the conversation, after the job's own seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seeds: Vec<Seed>,
    /// Statements that prepare the graph before the conversation, after the job's own setups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setups: Vec<Setup>,
    /// Assertions on the conversation, beside the job's own assertions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assertions: Vec<Assertion>,
    /// The conditions in which it is held, instead of the job's. Default: both where there are facts, withoutFacts alone
    /// where there are none
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

impl Case {
    /// An empty case.
    pub(super) fn empty(id: String) -> Case {
        Case {
            id,
            description: None,
            tags: Vec::new(),
            user: User::Persona,
            opening: Opening::default(),
            plan: None,
            traits: Vec::new(),
            persona: None,
            max_turns: None,
            reference: None,
            context: Vec::new(),
            expected: None,
            session: CaseSession::default(),
            tasks: Vec::new(),
            facts: Vec::new(),
            seeds: Vec::new(),
            setups: Vec::new(),
            assertions: Vec::new(),
            conditions: Vec::new(),
        }
    }

    /// The Cypher of its setups and assertions, each with its list and its number there, from 1.
    pub fn statements(&self) -> impl Iterator<Item = (StatementList, usize, &str)> {
        let setups = self.setups.iter().zip(1..);
        let setups = setups.map(|(setup, number)| (StatementList::Setups, number, setup.cypher.as_str()));
        let assertions = self
            .assertions
            .iter()
            .zip(1..)
            .filter_map(|(assertion, number)| Some((StatementList::Assertions, number, assertion.check.cypher()?)));
        setups.chain(assertions)
    }

    /// The kind of person the user is, but for how it writes.
    pub fn user_traits(&self) -> Vec<String> {
        let persona = self.persona.iter().flat_map(|persona| persona.traits());
        persona.chain(self.traits.iter().cloned()).collect()
    }

    /// How the user writes, where the case's own persona says so.
    pub fn user_style(&self) -> Option<&str> {
        self.persona.as_ref()?.style.as_deref()
    }

    /// Whether the persona may make this fault in this case, where the job doesn't say so.
    pub fn allows(&self, guard: Guard) -> bool {
        self.persona.as_ref().is_some_and(|persona| persona.allow.allows(guard))
    }

    /// Its id in the file: without the persona with which it is held.
    pub fn id_in_file(&self) -> &str {
        let Some(persona) = &self.persona else { return &self.id };
        self.id.strip_suffix(&persona.name).and_then(|id| id.strip_suffix('@')).unwrap_or(&self.id)
    }

    /// The facts that the persona knows in this condition.
    pub fn facts_known(&self, condition: Condition) -> &[String] {
        match condition {
            Condition::WithoutFacts => &[],
            Condition::WithFacts => &self.facts,
        }
    }

    /// The expectations of the whole conversation, and of single turns.
    pub fn expectations(&self) -> impl Iterator<Item = &Expectation> {
        let lines = match &self.user {
            User::Lines(lines) => lines.as_slice(),
            User::Persona => &[],
        };
        self.expected.iter().chain(lines.iter().filter_map(|line| line.expected.as_ref())).map(AsRef::as_ref)
    }

    /// Its fixed messages, where it has some.
    pub fn lines(&self) -> &[Line] {
        match &self.user {
            User::Lines(lines) => lines,
            User::Persona => &[],
        }
    }

    /// The results of tools, of each turn that has some, in order.
    pub fn mocks(&self) -> impl Iterator<Item = &[ToolMockConfig]> {
        self.lines().iter().map(|line| line.mocks.as_slice()).filter(|mocks| !mocks.is_empty())
    }

    /// Whether a model makes up the results of tools, of the agent under test or of the reference agent.
    pub fn writes_results(&self) -> bool {
        let mut mocks = self.lines().iter().flat_map(|line| line.mocks.iter().chain(&line.reference_mocks));
        mocks.any(|mock| mock.prompt.is_some())
    }

    /// Whether a setup or an assertion looks at the graph.
    pub fn uses_graph(&self) -> bool {
        !self.setups.is_empty() || self.assertions.iter().any(|assertion| assertion.check.needs_graph())
    }
}

/// The state in which the session of a case begins, instead of what the target says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "session")]
pub struct CaseSession {
    /// The user that the session is opened for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub user: Option<String>,
    /// The chatbot that it is opened with.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub chatbot: Option<String>,
    /// State that the agent is given with the session or with each message, as its transport has it.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub state: Map<String, Value>,
}

impl CaseSession {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == CaseSession::default()
    }
}

/// Something that primes the agent's memory: a text or a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SeedFile", into = "SeedFile")]
pub enum Seed {
    /// A document that the agent is asked to remember.
    Text(String),
    /// An earlier conversation; only the user's lines are sent.
    Conversation(Vec<Message>),
}

/// Something that primes the agent's memory: a text or a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "seed", rename = "Seed", transform = one_seed_kind)]
struct SeedFile {
    /// A document that the agent is asked to remember.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", regex(pattern = r"\S"))]
    text: Option<String>,
    /// An earlier conversation; only the user's lines are sent.
    #[serde(default, deserialize_with = "rules::present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<MessageFile>", length(min = 1))]
    conversation: Option<Vec<MessageFile>>,
}

fn one_seed_kind(schema: &mut Schema) {
    rules::exactly_one(schema, &["text", "conversation"]);
}

/// One message of an earlier conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "message", rename = "Message")]
pub(super) struct MessageFile {
    /// Who spoke.
    #[serde(default = "by_user")]
    role: Role,
    /// The text of the message.
    #[schemars(regex(pattern = r"\S"))]
    content: String,
}

impl From<MessageFile> for Message {
    fn from(MessageFile { role, content }: MessageFile) -> Message {
        Message::new(role, content)
    }
}

fn by_user() -> Role {
    Role::User
}

/// A seed with both of its kinds, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a seed is either a text or a conversation")]
struct SeedError;

impl TryFrom<SeedFile> for Seed {
    type Error = SeedError;

    fn try_from(file: SeedFile) -> Result<Seed, SeedError> {
        match (file.text, file.conversation) {
            (Some(text), None) => Ok(Seed::Text(text)),
            (None, Some(messages)) => {
                let message = |MessageFile { role, content }| Message::new(role, content);
                Ok(Seed::Conversation(messages.into_iter().map(message).collect()))
            }
            _ => Err(SeedError),
        }
    }
}

impl From<Seed> for SeedFile {
    fn from(seed: Seed) -> SeedFile {
        match seed {
            Seed::Text(text) => SeedFile { text: Some(text), conversation: None },
            Seed::Conversation(messages) => {
                let message = |Message { role, content }| MessageFile { role, content };
                SeedFile { text: None, conversation: Some(messages.into_iter().map(message).collect()) }
            }
        }
    }
}

/// Something that prepares the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "setup")]
pub struct Setup {
    /// One Cypher statement, or several separated by semicolons.
    #[schemars(regex(pattern = r"\S"))]
    pub cypher: String,
}

/// A task of the persona.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "task")]
pub struct Task {
    /// Whether something is to be done or answered.
    #[serde(default, rename = "type")]
    pub kind: TaskKind,
    /// The task itself.
    #[schemars(regex(pattern = r"\S"))]
    pub task: String,
    /// When it counts as done well.
    #[schemars(regex(pattern = r"\S"))]
    pub acceptance_criteria: String,
    /// The names of assertions that hold if, and only if, it was done: they tell how far the judge can be believed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verified_by: Vec<String>,
}

/// Whether something is to be done or answered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    pub fn as_str(self) -> &'static str {
        match self {
            TaskKind::Task => "task",
            TaskKind::Question => "question",
        }
    }
}
