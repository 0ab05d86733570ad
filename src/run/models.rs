//! The clients of persona and judge.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::budget::Budget;
use crate::http::{HttpClient, key_problem};
use crate::job::{Job, Model, Provider, ReasoningEffort};
use crate::llm::local_embeddings::{LocalEmbeddings, LocalEmbeddingsConfig};
use crate::llm::scripted::Scripted;
use crate::llm::watsonx::Payer;
use crate::llm::{Effort, Llm, LlmError, ModelOptions, ModelSettings, Origin};
use crate::llm::{anthropic, gemini, openai, watsonx};
use crate::money::Allowance;
use crate::plan::{Access, REVIEW, access};
use crate::retry::RetryPolicy;
use crate::secret::{Secret, Variables};

/// The role of the model of embeddings.
pub(super) const EMBEDDINGS: &str = "embeddings";

/// The clients of persona and judge; they share a rate limiter where they share endpoint and key.
pub(super) struct Models {
    /// `None` where it says fixed lines.
    pub(super) persona: Option<Arc<dyn Llm>>,
    /// The same, also where a person speaks in its place: it makes up the results of tools.
    pub(super) result_writer: Option<Arc<dyn Llm>>,
    /// Who reads its messages before they are sent, where the job names one.
    pub(super) reviewer: Option<Arc<dyn Llm>>,
    /// One, or a panel of several.
    pub(super) judges: Vec<Arc<dyn Llm>>,
    /// The model whose answer to two texts is the cosine of their embeddings.
    pub(super) embeddings: Option<Arc<dyn Llm>>,
    /// The address of each.
    pub(super) addresses: Vec<ModelAddress>,
    /// The addresses that replace those of their providers.
    pub(super) endpoints: Vec<String>,
    /// The keys that they use.
    pub(super) keys: Vec<Secret>,
}

/// The address of one of our own models.
pub(super) struct ModelAddress {
    /// `persona`, `reviewer`, `judge`, `judge openai/gpt-4.1` of a panel, or `embeddings`.
    pub(super) role: String,
    /// Its client.
    pub(super) client: Arc<dyn Llm>,
    pub(super) url: String,
    /// The variable, or the place in the job, that sets it or could.
    pub(super) from: String,
}

impl Models {
    pub(super) fn new(
        job: &Job,
        variables: &Variables,
        http: &HttpClient,
        budget: &Budget,
    ) -> Result<Models, LlmError> {
        let (mut endpoints, mut keys, mut addresses) = (Vec::new(), Vec::new(), Vec::new());
        let mut make = |model: &Model, part: &str| {
            let Some(access) = access(model, part, variables) else {
                return Ok(Arc::new(Scripted) as Arc<dyn Llm>);
            };
            keys.extend(access.key.clone());
            endpoints.extend(access.base_url.clone().filter(|url| !endpoints.contains(url)));
            let url = access.base_url.clone().unwrap_or_else(|| default_address(access.provider).to_owned());
            let from = access.address_from.clone();
            let time_limit = Duration::from_secs_f64(job.limits.model_seconds);
            let is_of_embeddings = part == "scorer.embeddings";
            let client =
                ClientDeps { is_of_embeddings, http: http.clone(), budget, time_limit }.client(model, access)?;
            let role = match part {
                "evaluator" => "persona".to_owned(),
                "scorer" => "judge".to_owned(),
                "scorer.embeddings" => EMBEDDINGS.to_owned(),
                REVIEW => "reviewer".to_owned(),
                _ => format!("judge {}", model.name),
            };
            addresses.push(ModelAddress { role, client: Arc::clone(&client), url, from });
            Ok(client)
        };
        let persona = job.persona_model().map(|model| make(model, "evaluator")).transpose()?;
        let reviewer = job.review_model().map(|model| make(model, REVIEW)).transpose()?;
        let judges = job.judges_with_keys();
        let mut judges: Vec<_> = judges.iter().map(|(part, model)| make(model, part)).collect::<Result<_, _>>()?;
        if judges.is_empty() {
            // It is never asked.
            judges.push(Arc::new(Scripted));
        }
        let endpoint = job.embeddings_model().map(|model| make(model, "scorer.embeddings")).transpose()?;
        let embeddings = match job.embeddings_folder() {
            Some((written, folder)) => Some(local_embeddings(written, folder)?),
            None => endpoint,
        };
        Ok(Models { result_writer: persona.clone(), persona, reviewer, judges, embeddings, addresses, endpoints, keys })
    }
}

/// The model of embeddings in a folder.
fn local_embeddings(written: &str, folder: PathBuf) -> Result<Arc<dyn Llm>, LlmError> {
    let config = LocalEmbeddingsConfig { name: written.to_owned(), folder };
    Ok(Arc::new(LocalEmbeddings::load(config)?))
}

/// The provider's own address.
fn default_address(provider: Provider) -> &'static str {
    match provider {
        Provider::OpenAi => openai::BASE_URL,
        Provider::Anthropic => anthropic::BASE_URL,
        Provider::Gemini => gemini::BASE_URL,
        Provider::Watsonx => watsonx::BASE_URL,
    }
}

/// What a client of a model of ours needs beside the model.
struct ClientDeps<'a> {
    is_of_embeddings: bool,
    http: HttpClient,
    budget: &'a Budget,
    /// For one request.
    time_limit: Duration,
}

impl ClientDeps<'_> {
    fn client(self, model: &Model, access: Access) -> Result<Arc<dyn Llm>, LlmError> {
        let ClientDeps { is_of_embeddings, http, budget, time_limit } = self;
        if let Some(problem) = access.key.as_ref().and_then(|key| key_problem(key.expose())) {
            return Err(LlmError::for_good(format!("{} {problem}", access.key_from)));
        }
        let base_url = access.base_url.unwrap_or_else(|| default_address(access.provider).to_owned());
        let allowance = budget.spend_tracker.is_limited().then(|| Allowance {
            spend_tracker: budget.spend_tracker.clone(),
            price: budget.price(&model.name.to_string()),
        });
        let settings = ModelSettings {
            allowance,
            limiter: budget.model_limiters.limiter(&base_url, access.key.as_ref()),
            base_url,
            key: access.key,
            origin: Origin { key: access.key_from, address: access.address_from },
            model: access.model,
            options: ModelOptions {
                max_tokens: model.max_tokens,
                effort: model.reasoning_effort.map(effort),
                rng_seed: model.rng_seed,
            },
            time_limit,
            rng_seed: budget.rng_seed,
            clock: budget.clock,
            retry: RetryPolicy::MODEL,
        };
        let client = match access.provider {
            Provider::OpenAi if is_of_embeddings => openai::embeddings(settings, http)?,
            Provider::OpenAi => openai::client(settings, http)?,
            Provider::Anthropic => anthropic::client(settings, http)?,
            Provider::Gemini => gemini::client(settings, http)?,
            Provider::Watsonx => {
                let payer = match access.payer {
                    Some(("WATSONX_SPACE_ID", id)) => Payer::SpaceId(id),
                    payer => Payer::ProjectId(payer.map(|(_, id)| id).unwrap_or_default()),
                };
                watsonx::client(settings, payer, access.iam_url.as_deref().unwrap_or(watsonx::IAM_URL), http)?
            }
        };
        Ok(Arc::new(client))
    }
}

fn effort(effort: ReasoningEffort) -> Effort {
    match effort {
        ReasoningEffort::Minimal => Effort::Minimal,
        ReasoningEffort::Low => Effort::Low,
        ReasoningEffort::Medium => Effort::Medium,
        ReasoningEffort::High => Effort::High,
    }
}
