//! What the client has to know, and whether it can work.

use serde_json::{Map, Value};

use super::AdkConfig;
use crate::agent::rest::RestSettings;
use crate::http::BaseUrl;

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdkServer {
    /// Google ADK's `api_server`.
    ApiServer,
    /// The debug server of trpc-agent-go (`server/debug`, until December 2025), made after ADK's.
    TrpcDebug,
}

impl AdkServer {
    /// The key in a job file that names the transport.
    pub(super) fn word(self) -> &'static str {
        match self {
            AdkServer::ApiServer => "adk",
            AdkServer::TrpcDebug => "trpc",
        }
    }

    /// What to try where sessions can't be opened.
    pub(super) fn if_no_sessions(self) -> &'static str {
        match self {
            AdkServer::ApiServer => "; check target.adk.baseUrl and target.adk.app: is this an `adk api_server`?",
            AdkServer::TrpcDebug => {
                "; check target.trpc.baseUrl: is this trpc-agent-go's debug server? Newer ones have `server: agent`"
            }
        }
    }

    /// What to try where the app is not known.
    pub(super) fn if_no_app(self) -> &'static str {
        match self {
            AdkServer::ApiServer => "; does the server know the app of target.adk.app?",
            AdkServer::TrpcDebug => "; does the server know the app of target.trpc.app?",
        }
    }
}

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct AdkSettings {
    /// Whose server it is.
    pub server: AdkServer,
    /// Where the `api_server` listens.
    pub base_url: String,
    /// The app.
    pub app: String,
    /// The user of each session.
    pub user: String,
    /// The state that each session begins with.
    pub state: Map<String, Value>,
    /// Whether replies are asked for piece by piece.
    pub streaming: bool,
    /// What every client has to know.
    pub rest: RestSettings,
}

/// Everything in a transport's configuration that can't work, each in a sentence that names its key. Touches no network.
pub fn check(config: &AdkConfig) -> Vec<String> {
    base(config.base_url(), AdkServer::ApiServer).err().into_iter().collect()
}

/// Reads the address and names its key where that fails.
pub(super) fn base(address: &str, server: AdkServer) -> Result<BaseUrl, String> {
    BaseUrl::parse(address).map_err(|error| format!("target.{}.baseUrl: {error}", server.word()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cant_work_is_named_with_its_key() {
        assert_eq!(check(&AdkConfig::default()), Vec::<String>::new());
        let config = AdkConfig { base_url: Some("localhost:8000".to_owned()), ..AdkConfig::default() };
        assert!(check(&config)[0].starts_with("target.adk.baseUrl: the address must start with http://"));
    }
}
