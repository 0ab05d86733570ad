//! What the client has to know, and whether it can work.

use serde_json::{Map, Value};

use super::{ServerConfig, TrpcConfig};
use crate::agent::rest::RestSettings;
use crate::http::BaseUrl;

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct TrpcSettings {
    /// Where the agent server listens.
    pub base_url: String,
    /// The app.
    pub app: String,
    /// The user of each session.
    pub user: String,
    /// State that each run begins with.
    pub runtime_state: Map<String, Value>,
    /// What every client has to know.
    pub rest: RestSettings,
}

/// Everything in a transport's configuration that can't work, each in a sentence that names its key. Touches no network.
pub fn check(config: &TrpcConfig) -> Vec<String> {
    let mut problems: Vec<String> = base(config.base_url()).err().into_iter().collect();
    match config.server {
        ServerConfig::Agent if config.streaming => problems.push(
            "target.trpc.streaming: the agent server answers in one piece; only `server: debug` can stream".to_owned(),
        ),
        ServerConfig::Debug if !config.runtime_state.is_empty() => problems
            .push("target.trpc.runtimeState: the debug server takes no state; only `server: agent` does".to_owned()),
        ServerConfig::Agent | ServerConfig::Debug => {}
    }
    problems
}

/// Reads the address and names its key where that fails.
pub(super) fn base(address: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(address).map_err(|error| format!("target.trpc.baseUrl: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_server_cant_do_is_named_with_its_key() {
        let config = |json: Value| serde_json::from_value::<TrpcConfig>(json).unwrap();
        for (json, words) in [
            (json!({}), None),
            (json!({"server": "debug", "streaming": true}), None),
            (json!({"runtimeState": {"city": "Rome"}}), None),
            (json!({"baseUrl": "localhost:8080"}), Some("target.trpc.baseUrl: the address must start with http://")),
            (json!({"streaming": true}), Some("target.trpc.streaming: the agent server answers in one piece")),
            (json!({"server": "debug", "runtimeState": {"a": 1}}), Some("target.trpc.runtimeState: the debug server")),
        ] {
            let problems = check(&config(json.clone()));
            assert_eq!(problems.len(), usize::from(words.is_some()), "{json}: {problems:?}");
            assert!(problems.iter().all(|problem| problem.starts_with(words.unwrap_or_default())), "{problems:?}");
        }
    }
}
