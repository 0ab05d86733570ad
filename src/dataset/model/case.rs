//! A case: what one conversation is about.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::evidence::Usage;
use crate::job::UserPersona;

use super::{CaseExpectation, DatasetCall, JudgedCheck, LineExpectation, Rubric, ToolMock};

/// A case of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DatasetCase {
    /// The case's id; no two cases of a dataset share one.
    pub id: String,
    /// The purpose of the case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words to pick cases by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The line of the file at which it begins, from 1.
    pub line: usize,
    /// The file that it is in, where it was opened by its path.
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Who speaks with the agent.
    pub user: CaseUser,
    /// The beginning of the conversation.
    pub session: CaseSession,
    /// The expectations of the whole conversation.
    pub expected: CaseExpectation,
    /// The recorded conversation: nobody has to ask the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Vec<RecordedTurn>>,
    /// Whether the recording stands beside turns that are expected: then one that names no calls expects none, as where the agent is
    /// asked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_expected_side: bool,
    /// Whether a second runner makes the expected side: its replies and calls stand in for what the file expects.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub expected_runner: bool,
    /// The criteria for judges in this case, beside the metrics' own rubrics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rubrics: Vec<Rubric>,
    /// A check by a judge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<JudgedCheck>,
    /// Texts for the judge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_files: Vec<ContextFile>,
    /// Files that the user offers to the agent, as the system describes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uploads: Vec<Value>,
    /// When it was made, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<f64>,
    /// All other content of the file.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// Who speaks with the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CaseUser {
    /// Fixed messages, sent one after the other.
    Lines(Vec<UserLine>),
    /// A simulated user.
    Scenario(Box<Scenario>),
}

impl DatasetCase {
    /// Whether its own turns are what is expected of the agent: not where the file has a recording alone, nor where a second agent
    /// makes them.
    pub fn expects_by_turn(&self) -> bool {
        (self.recorded.is_none() || self.has_expected_side) && !self.expected_runner
    }
}

impl Default for CaseUser {
    fn default() -> CaseUser {
        CaseUser::Lines(Vec::new())
    }
}

/// One message of the user, and what is expected of the agent's turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UserLine {
    /// The turn's id in its system; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The text of the message.
    pub say: String,
    /// Parts of the message that are no text, as the system describes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Value>,
    /// Messages that are put before this turn.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextMessage>,
    /// The expectations.
    pub expected: LineExpectation,
    /// Answers of tools that are not to be called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mocks: Vec<ToolMock>,
    /// The same for the expected runner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expected_runner_mocks: Vec<ToolMock>,
    /// All other content of the file.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// The goals and knowledge of a simulated user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Scenario {
    /// The first message, word for word; made up where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starting_prompt: Option<String>,
    /// The plan or story that the user follows.
    pub plan: String,
    /// Messages after the first one that are fixed too; the simulator speaks after them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<String>,
    /// The kind of person the user is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<ScenarioPersona>,
    /// How the user writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub style: Vec<String>,
    /// The expected outcome of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected_outcome: Option<String>,
    /// The stop signal of the simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_signal: Option<String>,
    /// The most messages of the user, the first one included; `None` is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// With whom the simulator talks.
    pub driver: ScenarioDriver,
    /// All other content of the file.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// With whom the simulated user talks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ScenarioDriver {
    /// With the agent under test.
    #[default]
    Actual,
    /// With the expected runner; the agent under test gets the same messages afterwards.
    Expected,
}

/// The kind of person a simulated user is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ScenarioPersona {
    /// Its id.
    pub id: String,
    /// Who that is.
    pub description: String,
    /// How it behaves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub behaviors: Vec<PersonaBehavior>,
}

impl From<&UserPersona> for ScenarioPersona {
    fn from(persona: &UserPersona) -> ScenarioPersona {
        let behavior = |name: &str, instruction: &str| PersonaBehavior {
            name: name.to_owned(),
            instructions: vec![instruction.to_owned()],
            ..PersonaBehavior::default()
        };
        let named = [("goals", &persona.goals), ("patience", &persona.patience), ("knowledge", &persona.knowledge)];
        let named = named.into_iter().filter_map(|(name, text)| Some(behavior(name, text.as_ref()?)));
        // `end: Say goodbye when …` has its name before it.
        let own = persona.behaviours.iter().map(|text| match text.split_once(": ") {
            Some((name, instruction)) => behavior(name, instruction),
            None => behavior("behaviour", text),
        });
        let tone = persona.style.iter().map(|style| behavior("tone", style));
        ScenarioPersona {
            id: persona.name.clone(),
            description: persona.description.clone().unwrap_or_default(),
            behaviors: named.chain(own).chain(tone).collect(),
        }
    }
}

/// One habit of a persona.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersonaBehavior {
    /// Its name.
    pub name: String,
    /// Its kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The instructions for the simulator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<String>,
    /// By what a judge sees that it did otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub violation_rubrics: Vec<String>,
}

/// The beginning of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaseSession {
    /// The app or agent, by the name that its system knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The id that the session must have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The session's state.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub state: Map<String, Value>,
    /// Messages that are put before the conversation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextMessage>,
    /// Variables that are sent with each message.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub variables: Map<String, Value>,
}

/// A message that was said before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContextMessage {
    /// Who spoke.
    pub role: String,
    /// The text.
    pub content: String,
    /// Its tool calls, parts and reasoning, as the system writes them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A text that a judge is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContextFile {
    /// The file's name.
    pub name: String,
    /// The text.
    pub text: String,
}

/// The actual side of a turn, as it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RecordedTurn {
    /// The turn's id; may be empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The user's message; empty where the agent greets.
    pub user: String,
    /// The agent's final reply; `None` when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// How many of its calls were made before that reply; `None` for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_after_calls: Option<usize>,
    /// Its tool calls, in order, with their results.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<DatasetCall>,
    /// Its messages before its final reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intermediate: Vec<super::AuthoredText>,
    /// The agent's own tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// All other content of the record: traces, times.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl RecordedTurn {
    /// Takes in a message of the agent's: it is the reply until another one comes.
    pub(in crate::dataset) fn say(&mut self, author: &str, text: Option<String>) {
        let after_calls = self.reply_after_calls.replace(self.calls.len());
        if let Some(former) = std::mem::replace(&mut self.reply, text) {
            self.intermediate.push(super::AuthoredText { author: author.to_owned(), text: former, after_calls });
        }
    }
}
