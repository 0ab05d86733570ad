//! What the client has to know, and whether it can work.

use serde_json::{Map, Value};

use super::AdkConfig;
use crate::agent::rest::RestSettings;
use crate::http::BaseUrl;

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct AdkSettings {
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
    base(config.base_url()).err().into_iter().collect()
}

/// Reads the address and names its key where that fails.
pub(super) fn base(address: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(address).map_err(|error| format!("target.adk.baseUrl: {error}"))
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
