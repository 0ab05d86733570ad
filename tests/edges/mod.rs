//! The edges against a server that misbehaves in every way that the table names.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod command_agent;
mod embabel;
mod http;
mod http_agent;
mod neo4j;
mod models;
mod money;
mod openai;
mod openai_agent;
mod responses_agent;
pub mod server;
mod websocket_agent;

use std::time::Duration;

use eval_job::agent::RestSettings;
use eval_job::agent::freeform::Known;
use eval_job::clock::Clock;
use eval_job::retry::RetryPolicy;
use eval_job::secret::Secret;

/// Four tries and hardly a wait between them.
fn quick(api_key: Option<Secret>) -> RestSettings {
    let (first_delay, short) = (Duration::from_millis(1), Duration::from_millis(2));
    RestSettings {
        headers: Vec::new(),
        api_key,
        turn_limit: Duration::from_secs(20),
        rng_seed: 1,
        clock: Clock::system(),
        retry: RetryPolicy { tries: 4, first_delay, max_delay: short, retry_after_cap: short },
        place: eval_job::limiter::Place::default(),
    }
}

/// What templates may name.
fn known(url: &str) -> Known {
    let (user, chatbot, model) = ("ann".to_owned(), "shop".to_owned(), "m".to_owned());
    Known { base_url: Some(url.to_owned()), user, chatbot, model }
}
