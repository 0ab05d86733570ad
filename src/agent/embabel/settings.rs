//! What the client has to know, and whether it can work.

use std::time::Duration;

use super::{EmbabelConfig, KnowledgeConfig};
use crate::clock::Clock;
use crate::http::BaseUrl;
use crate::limiter::Place;
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct EmbabelSettings {
    /// Where the agent listens.
    pub base_url: String,
    /// The path before `/sessions`, `/messages` and `/objectContexts`.
    pub path: String,
    /// The value of `X-API-KEY`; without one the header is not sent.
    pub api_key: Option<Secret>,
    /// The knowledge context that [`super::EmbabelAgent::create_knowledge`] creates.
    pub knowledge: Option<KnowledgeConfig>,
    /// The user of each session.
    pub user: String,
    /// The chatbot of each session.
    pub chatbot: String,
    /// The model that the agent is asked to use; sent with every message.
    pub model: String,
    /// How long one try of a message, or of any other call, may take.
    pub turn_limit: Duration,
    /// Draws the jitter between tries.
    pub rng_seed: u64,
    /// Measures latencies and dates `Retry-After`.
    pub clock: Clock,
    /// How often and when a call is tried again.
    pub retry: RetryPolicy,
    /// The conversation's place among those that the agent holds.
    pub place: Place,
}

/// Everything in a transport's configuration that can't work, each in a sentence that names its key. Touches no network.
pub fn check(config: &EmbabelConfig) -> Vec<String> {
    let agent = problem("target.embabel.baseUrl", config.base_url());
    let path = path_problem(config.path());
    let knowledge = config.knowledge.as_ref();
    let knowledge = knowledge.and_then(|k| problem("target.embabel.knowledge.baseUrl", k.base_url()));
    agent.into_iter().chain(path).chain(knowledge).collect()
}

/// Reads the agent's address together with the path.
pub(super) fn chat_url(base_url: &str, path: &str) -> Result<BaseUrl, String> {
    let base = named("target.embabel.baseUrl", base_url)?;
    path_problem(path).map_or(Ok(()), Err)?;
    named("target.embabel.path", base.join(path.split('/')).as_str())
}

/// Reads an address and names its key where that fails.
pub(super) fn named(key: &str, address: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(address).map_err(|error| format!("{key}: {error}"))
}

fn problem(key: &str, address: &str) -> Option<String> {
    named(key, address).err()
}

fn path_problem(path: &str) -> Option<String> {
    let unfit = path.contains(['?', '#', ' ']) || path.split('/').any(|segment| matches!(segment, "." | ".."));
    unfit.then(|| {
        "target.embabel.path: the path must be plain segments; write it like /api/v1/chat, without ?, #, spaces and dots"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_embabels() {
        let config = EmbabelConfig::default();
        assert_eq!(check(&config), Vec::<String>::new());
        let url = chat_url(config.base_url(), config.path()).unwrap();
        assert_eq!(url.join(["sessions"]).as_str(), "http://localhost:8081/api/v1/chat/sessions");
    }

    #[test]
    fn slashes_at_either_side_are_never_doubled() {
        for (base, path) in
            [("http://h/", "/chat/"), ("http://h", "chat"), ("http://h/", "chat"), ("http://h", "//chat//")]
        {
            assert_eq!(chat_url(base, path).unwrap().join(["messages"]).as_str(), "http://h/chat/messages");
        }
        assert_eq!(chat_url("http://h/a/", "").unwrap().join(["messages"]).as_str(), "http://h/a/messages");
    }

    #[test]
    fn every_problem_is_named_with_its_key() {
        let config = EmbabelConfig {
            base_url: Some("localhost:8081".to_owned()),
            path: Some("/chat?x=1".to_owned()),
            api_key: None,
            knowledge: Some(KnowledgeConfig {
                name: "memory".to_owned(),
                description: String::new(),
                schema_name: None,
                id: None,
                base_url: Some("ftp://h".to_owned()),
                api_key: None,
            }),
        };
        let problems = check(&config);
        let keys = ["target.embabel.baseUrl: ", "target.embabel.path: ", "target.embabel.knowledge.baseUrl: "];
        assert_eq!(problems.len(), 3, "{problems:?}");
        for (problem, key) in problems.iter().zip(keys) {
            assert!(problem.starts_with(key), "{problem}");
        }
    }
}
