//! The interface of all transports: one way to reach the agent under test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Ability, Agent, AgentError, AgentErrorKind, Missing};
use crate::clock::Clock;
use crate::http::{BaseUrl, HttpClient, header_problem};
use crate::limiter::ConversationLimiter;
use crate::retry::RetryPolicy;
use crate::secret::{Redactor, Secret, Variables};

/// A way to reach an agent. Each member's configuration implements it; nothing else knows the members apart.
pub trait Transport: Send + Sync {
    /// Its abilities as it is configured.
    fn abilities(&self) -> Vec<Ability>;

    /// Everything in its configuration that can't work, each in a sentence that names its key. Contacts nobody.
    fn check(&self) -> Vec<String>;

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

    /// Where the agent runs that nobody starts by `target.start`.
    fn hosting(&self) -> Hosting {
        Hosting::Elsewhere
    }

    /// The models that it has, where it has no others.
    fn models(&self) -> Option<&'static [&'static str]> {
        None
    }

    /// The address that the job names for the agent.
    fn named_address(&self) -> Option<&str> {
        None
    }

    /// Where the agent is looked for that nobody starts; `None` where nobody knows before.
    fn address(&self) -> Option<&str> {
        self.named_address()
    }

    /// The key that says where the agent is, below `target.<key>`.
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

    /// Where the job says by which name the agent is asked for.
    fn name_key(&self) -> Option<&'static str> {
        None
    }

    /// Whether templates make up its requests, keys too.
    fn is_templated(&self) -> bool {
        false
    }

    /// The key of the first template that needs the address of an agent that eval-job starts.
    fn needs_base_url(&self) -> Option<&'static str> {
        None
    }

    /// Whether the agent is told who the user is.
    fn tells_user(&self) -> bool {
        true
    }

    /// The hint where function calls are to be reported, and are not.
    fn how_to_report_calls(&self) -> &'static str {
        "look at the graph, or at `evaluation.transcript` instead"
    }

    /// The hint where the agent is to be told its model, and is not.
    fn how_to_choose_model(&self) -> &'static str {
        "run the job once for each agent"
    }

    /// The hint after this error, where it differs from that of other transports.
    fn hint(&self, _error: &AgentError) -> Option<String> {
        None
    }

    /// Why the program that it starts can't be started as things are now. `path` is the PATH.
    fn missing(&self, _folder: &Path, _path: Option<&str>) -> Option<Missing> {
        None
    }

    /// The names of the variables that are to be passed on to the program that it starts.
    fn inherited_variables(&self) -> &[String] {
        &[]
    }

    /// Those of them that are not set.
    fn unset_variables(&self, _variables: &Variables) -> Vec<&str> {
        Vec::new()
    }
}

/// Where an agent runs that nobody starts by `target.start`.
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
    /// Where the agent listens that was started for the trial.
    pub started_at: Option<String>,
    /// `EVAL_JOB_AGENT_API_KEY`, for whoever names no key.
    pub api_key: Option<Secret>,
    /// The job file's folder.
    pub folder: PathBuf,
    /// eval-job's own environment, of which a program that is started gets a part.
    pub variables: Variables,
    /// Clears texts of secrets.
    pub redactor: Redactor,
    /// The parts of the agent's state that assertions look at: `resources`.
    pub state_parts: Vec<&'static str>,
    /// Makes the requests.
    pub http: HttpClient,
    /// How long one attempt at a message, or at any other call, may take.
    pub turn_limit: Duration,
    /// Draws jitter and the ids of sessions.
    pub rng_seed: u64,
    /// Measures latencies and dates `Retry-After`.
    pub clock: Clock,
    /// How often and when a call is tried again.
    pub retry: RetryPolicy,
    /// How often and when a thread is read whose reply was cut off.
    pub reading: RetryPolicy,
    /// The conversation's part of the limiter of all those that the agent holds.
    pub limiter: ConversationLimiter,
}

impl AgentContext {
    /// A context with the usual retries, for whom nothing was started.
    pub fn new(user: &str, chatbot: &str, model: &str, http: HttpClient, clock: Clock) -> AgentContext {
        AgentContext {
            user: user.to_owned(),
            chatbot: chatbot.to_owned(),
            model: model.to_owned(),
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

/// Reads an address below `target` and names its key where that fails.
pub(super) fn base_url(key: &str, address: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(address).map_err(|error| format!("target.{key}: {error}"))
}

/// The error of a client that can't be made.
pub(super) fn unusable(message: String) -> AgentError {
    AgentError::new(AgentErrorKind::Unreachable, message)
}

/// The abilities that a configuration brings along.
pub(super) fn abilities_where(abilities: &[(bool, Ability)]) -> Vec<Ability> {
    abilities.iter().filter(|(has, _)| *has).map(|(_, ability)| *ability).collect()
}

/// The headers that no request can have, each in a sentence.
pub(super) fn header_problems(key: &str, headers: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    headers.iter().filter_map(move |(name, value)| {
        header_problem(name, value).map(|what| format!("target.{key}.headers: `{name}` {what}"))
    })
}

/// Whether an error says that TLS is spoken where it was not expected.
pub(super) fn is_of_tls(error: &AgentError) -> bool {
    ["begins with https://", "HTTPS port", "HTTPS server"].iter().any(|words| error.message.contains(words))
}
