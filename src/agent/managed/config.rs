//! The settings of an agent that eval-job starts: `target.start`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::SettingError;
use crate::agent::program::{Missing, Program};
use crate::http::PortConfig;
use crate::secret::Variables;

/// `target.start`: how eval-job starts the agent under test, waits for it, and ends it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartConfig {
    /// The program. With a slash in it, it is relative to the job file's folder; else it is looked for on the PATH.
    #[schemars(regex(pattern = r"\S"))]
    pub command: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub args: Vec<String>,
    /// Its environment variables, beside PATH, HOME and the like. `PORT` and `NEO_…` are set by eval-job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub env: BTreeMap<String, String>,
    /// The names of variables that it gets from eval-job's own environment or `.env` where they are set there, such as its
    /// model's key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub inherit_env: Vec<String>,
    /// Its working directory, relative to the job file's folder. Default: that folder
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The sign that it is ready. Default: its port takes connections
    #[serde(default)]
    pub ready: ReadyConfig,
    /// How it is stopped.
    #[serde(default)]
    pub stop: StopConfig,
}

/// `target.start.ready`: at most one of `http`, `log` and `port`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(transform = at_most_one)]
pub struct ReadyConfig {
    /// It is ready when this path, or this address, answers with a status from 200 to 299.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub http: Option<String>,
    /// It is ready when it prints a line in which this regular expression is found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    pub log: Option<String>,
    /// It is ready when this port takes connections. A number also fixes the port that the agent is given and reached at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<PortConfig>,
    /// Seconds until it must be ready.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 86_400))]
    pub within: f64,
}

impl Default for ReadyConfig {
    fn default() -> ReadyConfig {
        ReadyConfig { http: None, log: None, port: None, within: 60.0 }
    }
}

fn at_most_one(schema: &mut schemars::Schema) {
    let pairs = [["http", "log"], ["http", "port"], ["log", "port"]];
    let rules = pairs.map(|pair| serde_json::json!({ "not": { "required": pair } }));
    schema.insert("allOf".to_owned(), serde_json::Value::from(rules.to_vec()));
}

/// `target.start.stop`: how the agent is asked to end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StopConfig {
    /// The signal to its whole process group.
    pub signal: SignalConfig,
    /// Seconds until whatever is left of it is killed.
    #[schemars(extend("minimum" = 0, "maximum" = 3_600))]
    pub within: f64,
}

impl Default for StopConfig {
    fn default() -> StopConfig {
        StopConfig { signal: SignalConfig::Term, within: 10.0 }
    }
}

/// The signal by which the agent is asked to end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum SignalConfig {
    /// SIGTERM: what service managers send.
    #[default]
    Term,
    /// SIGINT: Ctrl-C.
    Int,
    /// SIGHUP: the terminal is gone.
    Hup,
    /// SIGQUIT: Ctrl-\.
    Quit,
}

impl StartConfig {
    /// Why the agent can't be started now.
    pub fn missing(&self, folder: &std::path::Path, path: Option<&str>) -> Option<Missing> {
        self.program().missing(folder, path)
    }

    /// The variables to pass on that are not set.
    pub fn unset(&self, variables: &Variables) -> Vec<&str> {
        self.program().unset(variables)
    }

    pub(super) fn program(&self) -> Program<'_> {
        let StartConfig { command, args, env, inherit_env, cwd, .. } = self;
        Program { key: "target.start", command, args, env, inherit_env, cwd: cwd.as_deref() }
    }
}

/// The error of an invalid pattern for [`ReadyConfig::log`].
pub fn pattern_problem(pattern: &str) -> Option<String> {
    let error = regex::Regex::new(pattern).err()?;
    let message = error.to_string();
    let last = message.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
    Some(format!("this is no regular expression: {last}"))
}

/// The error of an invalid address for [`ReadyConfig::http`].
pub fn address_problem(http: &str) -> Option<String> {
    let problem = crate::http::BaseUrl::parse(http).err().filter(|_| !http.starts_with('/'))?;
    Some(format!("{problem}, or only its path, like /health"))
}

/// The problems of the configuration, each with its key.
pub fn check(config: &StartConfig) -> Vec<SettingError> {
    let mut problems = Vec::new();
    if let Some(problem) = config.ready.http.as_deref().and_then(address_problem) {
        problems.push(SettingError::new("target.start.ready.http", problem));
    }
    problems.extend(config.program().problems());
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(ready: ReadyConfig) -> StartConfig {
        StartConfig {
            command: "agent".to_owned(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherit_env: Vec::new(),
            cwd: None,
            ready,
            stop: StopConfig::default(),
        }
    }

    #[test]
    fn what_can_not_be_asked_is_named_with_its_key() {
        let http = |text: &str| ReadyConfig { http: Some(text.to_owned()), ..ReadyConfig::default() };
        for good in ["/health", "/", "http://127.0.0.1:9/ready"] {
            assert_eq!(check(&start(http(good))), [], "{good}");
        }
        for bad in ["health", "ftp://x", ""] {
            let problems = check(&start(http(bad)));
            assert!(problems.len() == 1 && problems[0].key() == "target.start.ready.http", "{bad}: {problems:?}");
        }
        let mut nameless = start(ReadyConfig::default());
        nameless.env.insert("A=B".to_owned(), "secret-value".to_owned());
        let problems = |config: &StartConfig| check(config).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(problems(&nameless), ["target.start.env: a name can't hold a `=`; write `A: VALUE`, not `A=VALUE`"]);
        nameless.env = BTreeMap::from([(String::new(), "x".to_owned()), ("B".to_owned(), "secret\0value".to_owned())]);
        let expected = ["target.start.env: a variable needs a name", "target.start.env: `B` holds a NUL character"];
        assert_eq!(problems(&nameless), expected);
    }

    #[test]
    fn a_pattern_that_is_no_regular_expression_is_reported() {
        assert_eq!(pattern_problem("listening on [0-9]+"), None);
        let problem = pattern_problem("listening (").unwrap();
        assert_eq!(problem, "this is no regular expression: unclosed group");
    }
}
