//! The settings of an agent behind a command's standard input and output: `target.command`.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::agent::program::{Missing, Program};
use crate::secret::Variables;

use super::CommandAgent;
use crate::agent::transport::abilities_where;
use crate::agent::{Ability, Agent, AgentContext, AgentError, AgentErrorKind, Hosting, SettingError, Transport};

/// `target.command`: a command that reads a line for each message and prints `agent: …`, more lines, and a terminator.
/// Each conversation has a process of its own. `oc exec`, `kubectl exec`, `docker exec` and `ssh` are commands too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommandConfig {
    /// The program. With a slash in it, it is relative to the job file's folder; else it is looked for on the PATH.
    #[schemars(regex(pattern = r"\S"))]
    pub command: String,
    /// The arguments; `{user}` and `{model}` are filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("writeOnly" = true))]
    pub args: Vec<String>,
    /// Its environment variables, beside PATH, HOME and the like. `USER_ID`, `AUTHORITATIVE_USER_ID` and
    /// `AGENT_MESSAGE_TERMINATOR` are set by eval-job.
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
    /// The line that ends each of its messages.
    #[serde(default = "CommandConfig::default_terminator")]
    #[schemars(regex(pattern = r"\S"))]
    pub terminator: String,
    /// Whether the agent speaks first.
    #[serde(default = "CommandConfig::default_greeting")]
    pub greeting: bool,
    /// Whether each conversation begins with `reset`, after which the agent is asked to introduce itself.
    #[serde(default)]
    pub reset_conversation: bool,
    /// Whether it is asked for its tokens after each reply: `**tokens**`.
    #[serde(default)]
    pub tokens: bool,
    /// Whether it carries out calls of the user's tools (`evaluator.tools`): a line `**user_tool** {"name": …, "arguments": {…}}`,
    /// to be answered by `USER_TOOL_RESULT: JSON` or `USER_TOOL_ERROR: TEXT`.
    #[serde(default)]
    pub user_tools: bool,
}

impl CommandConfig {
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
}

impl Transport for CommandConfig {
    fn abilities(&self) -> Vec<Ability> {
        let sends_model = self.args.iter().any(|arg| arg.contains("{model}"));
        abilities_where(&[
            (sends_model, Ability::ChoosesModel),
            (self.tokens, Ability::ReportsUsage),
            (self.user_tools, Ability::OffersUserTools),
        ])
    }

    fn check(&self) -> Vec<SettingError> {
        let mut problems = self.program().problems();
        if self.terminator.contains(['\n', '\r', '\0']) {
            problems.push(SettingError::new("target.command.terminator", "it must be a part of one line"));
        }
        if self.reset_conversation && !self.greeting {
            let problem = "resetConversation needs an agent that speaks first (greeting: true)";
            problems.push(SettingError::new("target.command", problem));
        }
        problems
    }

    fn secrets(&self) -> Vec<(&str, &str)> {
        self.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn default_model(&self) -> &'static str {
        "default"
    }

    fn hosting(&self) -> Hosting {
        Hosting::OwnProcess
    }

    fn program(&self) -> Option<&str> {
        Some(&self.command)
    }

    fn address_key(&self) -> &'static str {
        "command"
    }

    fn how_to_choose_model(&self) -> &'static str {
        "tell it: {model} in target.command.args; or run the job once for each agent"
    }

    fn missing(&self, folder: &Path, path: Option<&str>) -> Option<Missing> {
        self.program().missing(folder, path)
    }

    fn inherited_variables(&self) -> &[String] {
        &self.inherit_env
    }

    fn unset_variables(&self, variables: &Variables) -> Vec<&str> {
        self.program().unset(variables)
    }

    fn hint(&self, error: &AgentError) -> Option<String> {
        let names = |part: &str| error.message.contains(part);
        let what = match error.kind {
            AgentErrorKind::Unreachable | AgentErrorKind::NotFound => {
                "the program's name or path in target.command.command, and target.command.cwd"
            }
            AgentErrorKind::Unreadable => {
                "target.command.terminator: a message ends where it stands, at the end of a line"
            }
            _ if names("ended in mid-conversation")
                || names("ended before its first message")
                || names("any more input") =>
            {
                "what it needs: its arguments (target.command.args), its environment (env, inheritEnv), its files (cwd)"
            }
            _ => "target.command.terminator: a message ends where it stands; or a longer limits.turn",
        };
        Some(what.to_owned())
    }

    fn connect(&self, context: AgentContext) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(CommandAgent::new(self.clone(), context)))
    }
}
