//! What the YAML says of an agent that is talked to by a command's standard input and output.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::program::{Missing, Program};
use crate::secret::Variables;

/// `target.command`: a command that reads a line for each message and prints `agent: …`, more lines, and a terminator.
/// Each conversation has a process of its own. `oc exec`, `kubectl exec`, `docker exec` and `ssh` are commands too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandConfig {
    /// The program. With a slash in it, it is relative to the job file's folder; else it is looked for on the PATH.
    #[schemars(regex(pattern = r"\S"))]
    pub command: String,
    /// What stands after the program; `{user}` and `{model}` are filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub args: Vec<String>,
    /// Its environment variables, beside PATH, HOME and the like. `USER_ID`, `AUTHORITATIVE_USER_ID` and
    /// `AGENT_MESSAGE_TERMINATOR` are set by eval-job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub env: BTreeMap<String, String>,
    /// The names of variables that it gets from eval-job's own environment or `.env`, as far as they are set there: its
    /// model's key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(regex(pattern = r"\S")))]
    pub inherit_env: Vec<String>,
    /// Where it runs, relative to the job file's folder. Default: that folder
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The line that ends each of its messages.
    #[serde(default = "CommandConfig::default_terminator")]
    #[schemars(regex(pattern = r"\S"))]
    pub terminator: String,
    /// It speaks first.
    #[serde(default = "CommandConfig::default_greeting")]
    pub greeting: bool,
    /// Each conversation begins with `reset`, and the agent is then asked to introduce itself.
    #[serde(default)]
    pub reset_conversation: bool,
    /// After each reply it is asked for its tokens: `**tokens**`.
    #[serde(default)]
    pub tokens: bool,
}

impl CommandConfig {
    /// The model where `--model` names none.
    pub const MODEL: &'static str = "default";

    fn default_terminator() -> String {
        ":DONE".to_owned()
    }

    fn default_greeting() -> bool {
        true
    }

    pub(super) fn program(&self) -> Program<'_> {
        let CommandConfig { command, args, env, inherit_env, cwd, .. } = self;
        Program { key: "target.command", command, args, env, inherit_env, cwd: cwd.as_deref() }
    }

    /// Why the command can't be started as things are now.
    pub fn missing(&self, folder: &std::path::Path, path: Option<&str>) -> Option<Missing> {
        self.program().missing(folder, path)
    }

    /// The variables that are to be passed on and that are not set.
    pub fn unset(&self, surroundings: &Variables) -> Vec<&str> {
        self.program().unset(surroundings)
    }

    /// Whether an argument tells the agent which model to use.
    pub fn tells_model(&self) -> bool {
        self.args.iter().any(|arg| arg.contains("{model}"))
    }
}

/// Everything in the configuration that can't work, each in a sentence that names its key. Touches nothing.
pub fn check(config: &CommandConfig) -> Vec<String> {
    let mut problems = config.program().problems();
    if config.terminator.contains(['\n', '\r', '\0']) {
        problems.push("target.command.terminator: it must be a part of one line".to_owned());
    }
    if config.reset_conversation && !config.greeting {
        problems.push("target.command: resetConversation needs an agent that speaks first (greeting: true)".to_owned());
    }
    problems
}
