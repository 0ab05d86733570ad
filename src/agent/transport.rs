//! The interface of all transports, the ways to reach the agent under test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::tools::TurnParts;
use super::{Ability, Agent, AgentError, Missing, SettingError};
use crate::clock::Clock;
use crate::http::{BaseUrl, HttpClient, header_problem};
use crate::limiter::ConversationLimiter;
use crate::retry::RetryPolicy;
use crate::secret::{Redactor, Secret, Variables};

/// A way to reach an agent, implemented by the configuration of each transport; nothing else tells them apart.
pub trait Transport: Send + Sync {
    /// Its abilities as it is configured.
    fn abilities(&self) -> Vec<Ability>;

    /// The problems of its configuration, each with its key. Pure: no request is made.
    fn check(&self) -> Vec<SettingError>;

    /// The values of its configuration that may be secret, by their names.
    fn secrets(&self) -> Vec<(&str, &str)>;

    /// The model where `--model` names none.
    fn default_model(&self) -> &'static str;

    /// A client for the agent; nothing is sent yet.
    ///
    /// # Errors
    /// Whatever [`Transport::check`] finds before a run.
    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError>;

    /// Why this build has no such agent; `None` where it has.
    fn absent(&self) -> Option<&'static str> {
        None
    }

    /// Where an agent runs that is not started by `target.start`.
    fn hosting(&self) -> Hosting {
        Hosting::Elsewhere
    }

    /// The models that the agent has, where the list is fixed.
    fn models(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The address that the job names for the agent.
    fn named_address(&self) -> Option<&str> {
        None
    }

    /// The address of an agent that is not started by `target.start`; `None` where it is not known beforehand.
    fn address(&self) -> Option<&str> {
        self.named_address()
    }

    /// The key of the agent's address, below `target.<key>`.
    fn address_key(&self) -> &'static str {
        "baseUrl"
    }

    /// The schemes of its addresses, without TLS and with it.
    fn schemes(&self) -> [&'static str; 2] {
        ["http", "https"]
    }

    /// The command of an agent in a process of its own, for the record.
    fn program(&self) -> Option<&str> {
        None
    }

    /// The key of the name by which the agent is addressed.
    fn name_key(&self) -> Option<&'static str> {
        None
    }

    /// Whether its requests are templates, API keys included.
    fn is_templated(&self) -> bool {
        false
    }

    /// Whether a template sends `EVAL_JOB_AGENT_API_KEY`; `None` where the transport has a place of its own for it.
    fn templates_api_key(&self) -> Option<bool> {
        None
    }

    /// The key of the first template that needs the address of an agent that eval-job starts.
    fn needs_base_url(&self) -> Option<&'static str> {
        None
    }

    /// Whether the user's name is sent to the agent.
    fn sends_user(&self) -> bool {
        true
    }

    /// The hint for a job that needs function calls, which the transport does not report.
    fn how_to_report_calls(&self) -> &'static str {
        "look at the graph, or at `evaluation.transcript` instead"
    }

    /// The hint for a job that names models, which the transport does not send.
    fn how_to_choose_model(&self) -> &'static str {
        "run the job once for each agent"
    }

    /// The hint for a job whose cases have a state of their own, which the transport does not send.
    fn how_to_take_state(&self) -> &'static str {
        "tell the agent in the user's words, or prepare its graph with `setups`"
    }

    /// Whether a call of the user's tools is sent with its arguments.
    fn sends_tool_arguments(&self) -> bool {
        true
    }

    /// The address at which tools of the user are called, where it has one of its own.
    fn user_tools_address(&self) -> Option<&str> {
        None
    }

    /// The hint for this error, where it differs from that of other transports.
    fn hint(&self, _error: &AgentError) -> Option<String> {
        None
    }

    /// Why the program that it starts can't be started now. `path` is the PATH.
    fn missing(&self, _folder: &Path, _path: Option<&str>) -> Option<Missing> {
        None
    }

    /// The names of the variables that are passed on to the program that it starts.
    fn inherited_variables(&self) -> &[String] {
        &[]
    }

    /// The variables of the configuration that are not set.
    fn unset_variables(&self, _variables: &Variables) -> Vec<&str> {
        Vec::new()
    }
}

/// Where an agent runs that is not started by `target.start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hosting {
    /// Somewhere else: it must be running.
    Elsewhere,
    /// In a process of its own for each conversation.
    OwnProcess,
    /// In this process, one for each trial, on the trial's graph.
    InProcess,
}

impl Hosting {
    /// Whether eval-job itself is the agent's process.
    pub fn is_in_process(self) -> bool {
        self == Hosting::InProcess
    }
}

/// The context in which a transport reaches the agent of one trial. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct AgentContext {
    /// The user of each session.
    pub user: String,
    /// The chatbot of each session.
    pub chatbot: String,
    /// The model that the agent is asked to use.
    pub model: String,
    /// The state that the case's session begins with.
    pub state: Map<String, Value>,
    /// What eval-job says for others in each turn, for agents whose tools it answers for or whose history it keeps.
    pub turns: TurnParts,
    /// The address of the agent that was started for the trial.
    pub started_at: Option<String>,
    /// `EVAL_JOB_AGENT_API_KEY`, for transports without a key of their own.
    pub api_key: Option<Secret>,
    /// The job file's folder.
    pub folder: PathBuf,
    /// eval-job's own environment, of which started programs get a part.
    pub variables: Variables,
    /// Clears texts of secrets.
    pub redactor: Redactor,
    /// The parts of the agent's state that assertions look at: `resources`.
    pub state_parts: Vec<&'static str>,
    /// Makes the requests.
    pub http: HttpClient,
    /// The time limit of one attempt at a message, or at any other call.
    pub turn_limit: Duration,
    /// Draws jitter and the ids of sessions.
    pub rng_seed: u64,
    /// Measures latencies and dates `Retry-After`.
    pub clock: Clock,
    /// The retries of a call.
    pub retry: RetryPolicy,
    /// The polls for a reply that was cut off.
    pub reading: RetryPolicy,
    /// The conversation's part of the limiter of all those that the agent holds.
    pub limiter: ConversationLimiter,
}

impl AgentContext {
    /// A context with the default retries, without a started agent.
    pub fn new(user: &str, chatbot: &str, model: &str, http: HttpClient, clock: Clock) -> AgentContext {
        AgentContext {
            user: user.to_owned(),
            chatbot: chatbot.to_owned(),
            model: model.to_owned(),
            state: Map::new(),
            turns: TurnParts::default(),
            started_at: None,
            api_key: None,
            folder: PathBuf::new(),
            variables: Variables::default(),
            redactor: Redactor::default(),
            state_parts: Vec::new(),
            http,
            turn_limit: Duration::from_secs(60),
            rng_seed: 0,
            clock,
            retry: RetryPolicy::AGENT,
            reading: RetryPolicy::READING,
            limiter: ConversationLimiter::default(),
        }
    }
}

impl AgentContext {
    /// A state of the target's, with that of the case over it.
    pub(super) fn state_over(&self, of_target: &Map<String, Value>) -> Map<String, Value> {
        let both = of_target.iter().chain(&self.state);
        both.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// Reads the address under this key below `target`.
pub(super) fn base_url(key: &str, address: &str) -> Result<BaseUrl, SettingError> {
    BaseUrl::parse(address).map_err(|error| SettingError::new(format!("target.{key}"), error))
}

/// The abilities of which the condition holds.
pub(super) fn abilities_where(abilities: &[(bool, Ability)]) -> Vec<Ability> {
    abilities.iter().filter(|(has, _)| *has).map(|(_, ability)| *ability).collect()
}

/// The problems of these headers, each in a sentence.
pub(super) fn header_problems(key: &str, headers: &BTreeMap<String, String>) -> impl Iterator<Item = SettingError> {
    headers.iter().filter_map(move |(name, value)| {
        let what = header_problem(name, value)?;
        Some(SettingError::new(format!("target.{key}.headers"), format!("`{name}` {what}")))
    })
}

/// Whether an error says that the server expects TLS.
pub(super) fn is_of_tls(error: &AgentError) -> bool {
    ["begins with https://", "HTTPS port", "HTTPS server"].iter().any(|phrase| error.message.contains(phrase))
}
