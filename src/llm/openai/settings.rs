//! What the client has to know, and whether it can work.

use std::time::Duration;

use crate::clock::Clock;
use crate::http::BaseUrl;
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct OpenAiSettings {
    /// The address before `/chat/completions`; [`OpenAiSettings::BASE_URL`] where `OPENAI_BASE_URL` says nothing.
    pub base_url: String,
    /// The key; an empty one is not sent, for local endpoints that want none.
    pub api_key: Secret,
    /// The model, without the provider: `gpt-4.1-mini`.
    pub model: String,
    /// How long one try may take.
    pub time_limit: Duration,
    /// Draws the jitter between tries.
    pub rng_seed: u64,
    /// Dates `Retry-After`.
    pub clock: Clock,
    /// How often and when a request is tried again; usually [`RetryPolicy::MODEL`].
    pub retry: RetryPolicy,
}

impl OpenAiSettings {
    /// OpenAI's own address.
    pub const BASE_URL: &'static str = "https://api.openai.com/v1";
}

/// What is wrong with an endpoint's address, in a sentence. Touches no network.
pub fn check(base_url: &str) -> Result<(), String> {
    parse(base_url).map(drop)
}

pub(super) fn parse(base_url: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(base_url).map_err(|error| format!("OPENAI_BASE_URL: {error}"))
}
