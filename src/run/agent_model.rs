//! The endpoint of an agent that is a bare model: before a run it is asked for its models and whether it takes the key, as the
//! endpoints of our own models are. No question is asked.

use std::sync::Arc;

use super::Engine;
use super::models::ModelAddress;
use crate::agent::Hosting;
use crate::llm::{ModelOptions, ModelSettings, Origin, openai};
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// The role of an agent's model, beside those of our own.
pub(super) const AGENT_ROLE: &str = "agent";

/// The transports behind which a model is that OpenAI's list of models may name.
const BARE_MODELS: [&str; 2] = ["openai", "responses"];

/// A client for each of the agent's models; none where it is no bare model, is started by the run, or wants headers of its own.
pub(super) fn agent_models(engine: &Engine) -> Vec<ModelAddress> {
    let target = &engine.plan.job.target;
    let transport = &target.transport;
    let secrets = transport.secrets();
    let has_headers = secrets.iter().any(|(name, _)| *name != "apiKey");
    let is_elsewhere = target.start.is_none() && transport.hosting() == Hosting::Elsewhere;
    let Some(url) = transport.address().filter(|_| is_elsewhere && !has_headers) else { return Vec::new() };
    if !BARE_MODELS.contains(&transport.key()) {
        return Vec::new();
    }
    let own_key = secrets.iter().find(|(name, _)| *name == "apiKey").map(|(_, key)| Secret::new(*key));
    let place = |key: &str| format!("target.{}.{key}", transport.key());
    let key_from = if own_key.is_some() { place("apiKey") } else { "EVAL_JOB_AGENT_API_KEY".to_owned() };
    let key = own_key.or_else(|| engine.clients.credentials.agent_api_key.clone());
    let client = |model: &String| {
        let settings = ModelSettings {
            allowance: None,
            limiter: engine.budget.model_limiters.limiter(url, key.as_ref()),
            base_url: url.to_owned(),
            key: key.clone(),
            origin: Origin { key: key_from.clone(), address: place("baseUrl") },
            model: model.clone(),
            options: ModelOptions::default(),
            time_limit: super::preflight::LIMIT,
            rng_seed: 0,
            clock: engine.clock,
            retry: RetryPolicy::MODEL,
        };
        // An address that can't be used is refused by the transport itself.
        let client = openai::client(settings, engine.clients.http.clone()).ok()?;
        let role = AGENT_ROLE.to_owned();
        Some(ModelAddress { role, client: Arc::new(client), url: url.to_owned(), from: place("baseUrl") })
    };
    engine.plan.models.iter().filter_map(client).collect()
}
