//! What the client has to know, and whether it can work.

use super::A2aConfig;
use crate::agent::rest::RestSettings;
use crate::http::BaseUrl;

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct A2aSettings {
    /// Where the agent card is.
    pub base_url: String,
    /// Whether replies are asked for piece by piece; `None` leaves it to the card.
    pub streaming: Option<bool>,
    /// Who talks, told as `X-User-ID`: without it, trpc-agent-go's server forgets a conversation after each message.
    pub user: Option<String>,
    /// What every client has to know.
    pub rest: RestSettings,
}

/// Everything in a transport's configuration that can't work, each in a sentence that names its key. Touches no network.
pub fn check(config: &A2aConfig) -> Vec<String> {
    base(config.base_url()).err().into_iter().collect()
}

/// Reads the address and names its key where that fails.
pub(super) fn base(address: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(address).map_err(|error| format!("target.a2a.baseUrl: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cant_work_is_named_with_its_key() {
        assert_eq!(check(&A2aConfig::default()), Vec::<String>::new());
        let config = A2aConfig { base_url: Some("agent.example".to_owned()), ..A2aConfig::default() };
        assert!(check(&config)[0].starts_with("target.a2a.baseUrl: the address can't be read"));
    }
}
