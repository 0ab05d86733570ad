//! The settings of a client, and whether they can work.

use std::sync::Arc;
use std::time::Duration;

use super::LlmError;
use crate::clock::Clock;
use crate::http::BaseUrl;
use crate::limiter::RateLimiter;
use crate::money::Allowance;
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// The settings of any provider's client. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct ModelSettings {
    /// Where the provider's paths begin.
    pub base_url: String,
    /// The key; without one none is sent, for local endpoints that want none.
    pub key: Option<Secret>,
    /// Where key and address come from, for error messages.
    pub origin: Origin,
    /// The model, without the provider: `gpt-4.1-mini`.
    pub model: String,
    /// The job's options for the model.
    pub options: ModelOptions,
    /// How long one try may take.
    pub time_limit: Duration,
    /// Draws the jitter between tries.
    pub rng_seed: u64,
    /// Dates `Retry-After`.
    pub clock: Clock,
    /// How often and when a request is tried again; usually [`RetryPolicy::MODEL`].
    pub retry: RetryPolicy,
    /// The one limiter of this endpoint and key.
    pub limiter: Arc<RateLimiter>,
    /// Its part of the budget, where the run's spending is limited.
    pub allowance: Option<Allowance>,
}

/// The sources of key and address, as an author writes them: `OPENAI_API_KEY`, `evaluator.model.baseUrl`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The key's variable.
    pub key: String,
    /// The address's variable, or its place in the job file.
    pub address: String,
}

/// A job's options for a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelOptions {
    /// The longest reply, in tokens, reasoning included; 1 or more.
    pub max_tokens: Option<u32>,
    /// How much it thinks before it speaks.
    pub effort: Option<Effort>,
    /// Makes its choices repeatable, as far as the provider can.
    pub rng_seed: Option<u32>,
}

/// How much a model thinks before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// As little as possible.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl Effort {
    /// As OpenAI, and everything that speaks it, spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Effort::Minimal => "minimal",
            Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
        }
    }
}

/// Checks an endpoint's address without touching the network. The error begins with the source of the address.
pub fn check(base_url: &str, from: &str) -> Result<(), LlmError> {
    parse(base_url, from).map(drop)
}

fn parse(base_url: &str, from: &str) -> Result<BaseUrl, LlmError> {
    BaseUrl::parse(base_url).map_err(|error| LlmError::for_good(format!("{from}: {error}")))
}

impl ModelSettings {
    /// The address, read.
    ///
    /// # Errors
    /// The address is invalid; [`check`] finds the same.
    pub fn base(&self) -> Result<BaseUrl, LlmError> {
        parse(&self.base_url, &self.origin.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_cannot_work_is_found_before_anything_is_sent() {
        assert_eq!(check("https://api.openai.com/v1", "OPENAI_BASE_URL"), Ok(()));
        let problem = check("api.openai.com", "scorer.model.baseUrl").unwrap_err();
        assert!(problem.message.starts_with("scorer.model.baseUrl: the address must start with"), "{problem}");
    }
}
