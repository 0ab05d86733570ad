//! Whether what is limited can be counted.

use super::Refusal;
use super::models::{Access, REVIEW, access};
use crate::agent::Ability;
use crate::job::{Job, ModelName, Provider};
use crate::money::PriceTable;
use crate::secret::Variables;

/// Models without a known price, where `limits.cost` must be kept.
pub(super) fn refusals(job: &Job, models: &[String], prices: &PriceTable) -> Vec<Refusal> {
    if job.limits.cost.is_none() {
        return Vec::new();
    }
    let judges = job.judges().map(|model| ("the judge", model));
    let embeddings = job.embeddings_model().map(|model| ("the embeddings", model));
    let reviewer = job.review_model().map(|model| ("the reviewer", model));
    let persona = job.persona_model().map(|model| ("the persona", model));
    let own = persona.into_iter().chain(reviewer).chain(judges).chain(embeddings);
    let own =
        own.filter(|(_, model)| model.name != ModelName::Scripted).map(|(role, model)| (role, model.name.to_string()));
    // Tokens that an agent never reports can't be counted anyway; the report says that it is unknown.
    let reports = job.target.transport.can(Ability::ReportsUsage);
    let agents = models.iter().filter(|_| reports).map(|model| ("the agent", model.clone()));
    let mut unknown: Vec<(String, Vec<&str>)> = Vec::new();
    for (role, model) in own.chain(agents).filter(|(_, model)| prices.price(model).is_none()) {
        match unknown.iter_mut().find(|(known, _)| *known == model) {
            Some((_, roles)) => roles.push(role),
            None => unknown.push((model, vec![role])),
        }
    }
    let refusal = |(model, roles): (String, Vec<&str>)| {
        Refusal::new(
            format!(
                "limits.cost can't be kept: what {model} costs{} is not known, the model of {}",
                if prices.is_elsewhere(&model) { " there" } else { "" },
                roles.join(" and ")
            ),
            format!(
                "say it in a file, in dollars a million tokens: --prices FILE with models: {{\"{model}\": {{input: 0.4, output: \
             1.6}}}}; or limit the tokens: limits: {{tokens: 200000}}"
            ),
        )
    };
    unknown.into_iter().map(refusal).collect()
}

/// The names of models that are asked elsewhere than at their providers: persona and judge, and bare models under test.
pub(super) fn elsewhere(job: &Job, models: &[String], variables: &Variables) -> Vec<String> {
    let persona = job.persona_model().map(|model| ("evaluator".to_owned(), model));
    let embeddings = job.embeddings_model().map(|model| ("scorer.embeddings".to_owned(), model));
    let reviewer = job.review_model().map(|model| (REVIEW.to_owned(), model));
    let own = persona.into_iter().chain(reviewer).chain(job.judges_with_keys()).chain(embeddings);
    let own = own.filter_map(|(part, model)| {
        let Access { provider, base_url, .. } = access(model, &part, variables)?;
        (!is_at_home(provider, &base_url?)).then(|| model.name.to_string())
    });
    let transport = &job.target.transport;
    let is_bare = matches!(transport.key(), "openai" | "responses");
    let is_elsewhere = is_bare && transport.address().is_some_and(|address| !is_at_home(Provider::OpenAi, address));
    own.chain(models.iter().filter(|_| is_elsewhere).cloned()).collect()
}

/// Whether an address is one of the provider's own hosts, or of a cloud that sells its models at its prices.
fn is_at_home(provider: Provider, address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default().split(':').next().unwrap_or_default().to_lowercase();
    let domains: &[&str] = match provider {
        Provider::OpenAi => &["openai.com", "openai.azure.com"],
        Provider::Anthropic => &["anthropic.com"],
        Provider::Gemini => &["googleapis.com"],
        Provider::Watsonx => &["cloud.ibm.com"],
    };
    domains.iter().any(|domain| host == *domain || host.strip_suffix(domain).is_some_and(|sub| sub.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_at_home_at_its_own_hosts_alone() {
        for (address, expected) in [
            ("https://api.openai.com/v1", true),
            ("https://eu.api.openai.com:443/v1", true),
            ("https://me:key@mine.openai.azure.com/openai", true),
            ("http://localhost:11434/v1", false),
            ("https://api.openai.com.example/v1", false),
            ("https://notopenai.com/v1", false),
            ("https://proxy/https://api.openai.com", false),
        ] {
            assert_eq!(is_at_home(Provider::OpenAi, address), expected, "{address}");
        }
    }
}
