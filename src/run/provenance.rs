//! The provenance of a run, for its record.

use super::Engine;
use crate::graph::GraphConfig;
use crate::job::{Job, VerifiedCases};
use crate::plan::Plan;
use crate::prompt::{REVIEW_TEMPLATE, USER_TOOLS_TEMPLATE};
use crate::record::{PromptDigest, Provenance, RunPrices};

impl Engine {
    /// The provenance of the run, without secrets.
    pub fn provenance(&self, job_file: &str) -> Provenance {
        let Engine { plan, templates, clients, .. } = self;
        let job = &plan.job;
        let persona_prompt = clients.persona().is_some().then_some(&job.persona.prompt);
        let prompts = persona_prompt
            .into_iter()
            .map(String::as_str)
            .chain([job.judge.prompt.as_str()])
            .chain(job.review().map(|_| REVIEW_TEMPLATE))
            .chain((!job.persona.tools.is_empty()).then_some(USER_TOOLS_TEMPLATE))
            .filter_map(|name| Some(PromptDigest { name: name.to_owned(), digest: templates.digest(name)? }))
            .collect();
        let prices = prices(plan);
        Provenance {
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            job: job.name.clone(),
            job_file: job_file.to_owned(),
            selection: None,
            part: None,
            merged: None,
            replayed: self.cassette.replayed().and(self.cassette.header()).map(|header| header.run_id.clone()),
            by_person: false,
            job_digest: job.digest.clone(),
            prompts,
            agent: agent(job),
            recorded: Vec::new(),
            models: plan.models.clone(),
            has_named_models: plan.models != [plan.job.target.transport.default_model()],
            persona: job.persona.name.clone(),
            personas: personas(job),
            persona_model: job.persona_model().map_or_else(|| "script".to_owned(), |model| model.name.to_string()),
            persona_temperature: job.persona.temperature,
            until: plan.until.clone(),
            reviewer_model: job.review_model().map(|model| model.name.to_string()),
            judge_model: judges(job),
            judge_temperature: job.judge.temperature,
            model_endpoint: {
                let addresses: Vec<String> = clients.models.endpoints.iter().map(|url| without_user(url)).collect();
                let addresses = (!addresses.is_empty()).then(|| addresses.join(" and "));
                self.cassette.run_tape().noted("model endpoint", addresses)
            },
            isolation: plan.isolation.as_str().to_owned(),
            graph: plan.graph.as_ref().map(|graph| match graph {
                GraphConfig::Embedded(_) => "embedded".to_owned(),
                GraphConfig::Neo4j(_) => "neo4j".to_owned(),
            }),
            prices: prices.models,
            prices_dated: prices.dated,
            cost_limit: job.limits.cost,
            token_limit: job.limits.tokens,
            time_limit: job.limits.run_seconds,
            max_turns: job.max_turns,
            rng_seed: self.rng_seed,
            min_score: job.gate.min_score,
            min_validity: job.gate.min_validity,
            gate: job.gate.rules(),
            vacuous: job.gate.vacuous,
            verified_at_random: job.judge.verified_cases == VerifiedCases::Random,
            canaries: None,
            trivial_score: None,
            steps: None,
        }
    }
}

/// The names of the judges, with commas between them; `none` where there is none.
fn judges(job: &Job) -> String {
    let names: Vec<String> = job.judges().map(|model| model.name.to_string()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The names of the kinds of users, in the order of the plan.
fn personas(job: &Job) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for persona in job.cases.iter().filter_map(|case| case.persona.as_ref()) {
        if !names.contains(&persona.name) {
            names.push(persona.name.clone());
        }
    }
    names
}

/// The prices of the models of a plan, where they are known, and their day.
pub fn prices(plan: &Plan) -> RunPrices {
    let models = priced(plan).filter_map(|name| plan.prices.price(&name).copied().map(|price| (name, price))).collect();
    RunPrices { models, dated: plan.prices.dated(priced(plan)) }
}

/// The names of all models that may cost something.
fn priced(plan: &Plan) -> impl Iterator<Item = String> + '_ {
    let job = &plan.job;
    let of_user = job.persona_model().into_iter().chain(job.review_model());
    let own = of_user.chain(job.judges()).chain(job.embeddings_model());
    own.map(|model| model.name.to_string()).chain(plan.models.iter().cloned())
}

/// A transport and where its agent is, or how it was started.
fn agent(job: &Job) -> String {
    let transport = &job.target.transport;
    let key = transport.key();
    match (&job.target.start, transport.named_address()) {
        (Some(start), None) => format!("{key}, started by `{}`", start.command),
        (Some(start), Some(address)) => format!("{key} at {}, started by `{}`", without_user(address), start.command),
        (None, _) => match (transport.program(), transport.address()) {
            // Its arguments can hold keys.
            (Some(program), _) => format!("{key} `{program}`"),
            (None, Some(address)) => format!("{key} at {}", without_user(address)),
            (None, None) => format!("the {key} agent, on loopback"),
        },
    }
}

/// An address without user and password.
pub fn without_user(address: &str) -> String {
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split_once('/').map_or(rest, |(host, _)| host);
            let bare = host.rsplit_once('@').map_or(rest, |(user, _)| &rest[user.len() + 1..]);
            format!("{scheme}://{bare}")
        }
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::without_user;

    #[test]
    fn an_address_is_kept_without_its_credentials() {
        assert_eq!(without_user("http://me:pa@ss@host:8081/chat@x"), "http://host:8081/chat@x");
        assert_eq!(without_user("http://host:8081"), "http://host:8081");
    }
}
