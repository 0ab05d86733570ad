//! An instance of watsonx Orchestrate: its agents, and the common part of its two APIs.

use super::wire::{agent_id, uuid_of};
use super::{EditionConfig, WatsonxConfig};
use crate::agent::attempts::AttemptFailure;
use crate::agent::rest::{AgentRequest, Caller, Hints};
use crate::agent::{AgentContext, AgentError, AgentErrorKind};
use crate::http::{BaseUrl, HttpReply, Method, Url};

/// The number of names of other agents that an error lists.
const NAMES: usize = 20;

/// Hints, but for 404.
pub(super) const HINTS: Hints = Hints {
    unreachable: "; is it running? target.watsonx.baseUrl says where it is looked for",
    unauthorized: "; check the key (target.watsonx.apiKey or EVAL_JOB_AGENT_API_KEY), and whether it is a token or, with \
                   `auth: iam`, an API key",
    not_found: "",
};

/// An instance, and one of its agents.
#[derive(Clone)]
pub(super) struct Instance {
    pub(super) config: WatsonxConfig,
    pub(super) base: BaseUrl,
    name: String,
    /// The agent's id, once it is known.
    pub(super) agent: String,
}

impl Instance {
    pub(super) fn new(config: &WatsonxConfig, base: BaseUrl, context: &AgentContext) -> Instance {
        let name = config.agent.as_ref().unwrap_or(&context.chatbot).clone();
        let config = WatsonxConfig { context: context.state_over(&config.context), ..config.clone() };
        Instance { config, base, name, agent: String::new() }
    }

    /// Finds the agent by its name. Returns an id for a conversation.
    pub(super) async fn open(&mut self, caller: &Caller) -> Result<String, AgentError> {
        let not_found = "; check target.watsonx.baseUrl: is this an instance of watsonx Orchestrate?";
        let url = self.base.join(["v1", "orchestrate", "agents"]);
        let request = AgentRequest::to(Method::GET, url, Hints { not_found, ..HINTS });
        let agents = caller.call(&request, |reply: &HttpReply| Ok(reply.json()?)).await?;
        self.agent = match agent_id(&agents, &self.name) {
            Some(Ok(id)) => id,
            Some(Err(names)) => {
                let message = format!(
                    "no agent is called {:?}; there are {}; check target.watsonx.agent",
                    self.name,
                    shown(&names)
                );
                return Err(AgentError::new(AgentErrorKind::NotFound, message));
            }
            None => {
                let what = "the reply to GET /v1/orchestrate/agents is no list of agents; check target.watsonx.baseUrl";
                return Err(AgentError::new(AgentErrorKind::BadReply, what));
            }
        };
        Ok(uuid_of(&caller.unique_session_id()))
    }

    /// The address of this path in the SaaS, or in the developer edition.
    pub(super) fn url(&self, saas: &[&str], developer: &[&str]) -> Url {
        self.base.join(match self.edition() {
            EditionConfig::Saas => saas.iter().copied(),
            EditionConfig::Developer => developer.iter().copied(),
        })
    }

    /// The edition, unless the job sets it: by the address, as in IBM's own evaluation framework.
    fn edition(&self) -> EditionConfig {
        let by_address = if self.base.is_loopback() { EditionConfig::Developer } else { EditionConfig::Saas };
        self.config.edition.unwrap_or(by_address)
    }
}

fn shown(names: &[String]) -> String {
    let more = if names.len() > NAMES { format!(" and {} more", names.len() - NAMES) } else { String::new() };
    let shown: Vec<String> = names.iter().take(NAMES).map(|name| crate::http::excerpt(name, &[])).collect();
    if names.is_empty() { "none".to_owned() } else { format!("{}{more}", shown.join(", ")) }
}

/// A failure of the agent's own, at this call.
pub(super) fn reported(reply: &HttpReply, what: &str) -> AttemptFailure {
    AttemptFailure::reported(AgentErrorKind::BadReply, format!("{}: {what}", reply.place))
}

/// A failure that the agent reports with this message.
pub(super) fn reported_failure(reply: &HttpReply, message: &str) -> AttemptFailure {
    let quoted = reply.quote(message);
    reported(reply, &format!("the agent reported a failure: {}", quoted.trim_matches('"')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_tells_the_edition_unless_the_job_does() {
        let at = |address: &str, edition| {
            let base = BaseUrl::parse(address).unwrap();
            let config = WatsonxConfig { edition, ..WatsonxConfig::default() };
            Instance { config, base, name: String::new(), agent: String::new() }.edition()
        };
        let saas = "https://api.us-south.watson-orchestrate.cloud.ibm.com/instances/1";
        assert_eq!(at(saas, None), EditionConfig::Saas);
        assert_eq!(at("http://127.0.0.1:4321", None), EditionConfig::Developer);
        assert_eq!(at(saas, Some(EditionConfig::Developer)), EditionConfig::Developer);
    }
}
