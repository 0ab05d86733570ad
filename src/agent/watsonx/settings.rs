//! What the client has to know, and whether it can work.

use super::wire::is_uuid;
use super::{ApiConfig, AuthConfig, EditionConfig, WatsonxConfig};
use crate::agent::rest::RestSettings;
use crate::http::{BaseUrl, IAM_URL};
use crate::retry::RetryPolicy;

/// What the client has to know. It has no `Debug`: an address can hold a password.
#[derive(Clone)]
pub struct WatsonxSettings {
    /// What the job says.
    pub config: WatsonxConfig,
    /// The instance.
    pub base_url: String,
    /// The agent's name.
    pub agent: String,
    /// How often and when a thread is read whose reply was cut off.
    pub reading: RetryPolicy,
    /// What every client has to know.
    pub rest: RestSettings,
}

/// Everything in a transport's configuration that can't work, each in a sentence that names its key. Touches no network.
pub fn check(config: &WatsonxConfig) -> Vec<String> {
    let mut problems: Vec<String> = base(config.base_url()).err().into_iter().collect();
    problems.extend(iam(config).err());
    if config.auth == AuthConfig::Bearer && config.iam_url.is_some() {
        problems.push("target.watsonx.iamUrl: keys are exchanged only with `auth: iam`".to_owned());
    }
    if config.published().is_some_and(|environment| !is_uuid(environment)) {
        problems.push(
            "target.watsonx.environment: a published environment is named by its id, a UUID; the one being edited is `draft`"
                .to_owned(),
        );
    }
    let only_v2 = [
        ("environment", config.published().is_some()),
        ("threads", config.threads.is_some()),
        ("contextVariables", !config.context_variables.is_empty()),
        ("additionalParameters", !config.additional_parameters.is_empty()),
    ];
    if config.api == ApiConfig::V1 {
        let named = only_v2.iter().filter(|(_, is_there)| *is_there);
        problems.extend(named.map(|(key, _)| format!("target.watsonx.{key}: only `api: v2` takes it")));
    }
    problems
}

/// Reads the address and names its key where that fails.
pub(super) fn base(address: &str) -> Result<BaseUrl, String> {
    BaseUrl::parse(address).map_err(|error| format!("target.watsonx.baseUrl: {error}"))
}

/// The same for the token service.
pub(super) fn iam(config: &WatsonxConfig) -> Result<BaseUrl, String> {
    let address = config.iam_url.as_deref().unwrap_or(IAM_URL);
    BaseUrl::parse(address).map_err(|error| format!("target.watsonx.iamUrl: {error}"))
}

/// Whose paths an address has, unless the job says so. As IBM's own evaluation framework tells them apart.
pub(super) fn edition(config: &WatsonxConfig, base: &BaseUrl) -> EditionConfig {
    let by_address = if base.is_loopback() { EditionConfig::Developer } else { EditionConfig::Saas };
    config.edition.unwrap_or(by_address)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_cant_work_is_named_with_its_key() {
        let config = |json: Value| serde_json::from_value::<WatsonxConfig>(json).unwrap();
        let id = "0f8fad5b-d9cb-469f-a165-70867728950e";
        for (json, expected) in [
            (json!({}), vec![]),
            (json!({"environment": "draft", "context": {"a": 1}}), vec![]),
            (json!({"api": "v2", "environment": id, "threads": "server", "contextVariables": {"a": 1}}), vec![]),
            (json!({"auth": "iam", "iamUrl": "https://iam.test.cloud.ibm.com"}), vec![]),
            (json!({"baseUrl": "localhost:4321"}), vec!["target.watsonx.baseUrl: the address must start"]),
            (json!({"auth": "iam", "iamUrl": "x"}), vec!["target.watsonx.iamUrl: the address can't be read"]),
            (json!({"iamUrl": "https://i"}), vec!["target.watsonx.iamUrl: keys are exchanged only with `auth: iam`"]),
            (json!({"api": "v2", "environment": "live"}), vec!["target.watsonx.environment: a published environment"]),
            (
                json!({"environment": id, "threads": "client", "additionalParameters": {"a": 1}}),
                vec![
                    "target.watsonx.environment: only `api: v2`",
                    "target.watsonx.threads: only `api: v2`",
                    "target.watsonx.additionalParameters: only `api: v2`",
                ],
            ),
        ] {
            let problems = check(&config(json.clone()));
            assert_eq!(problems.len(), expected.len(), "{json}: {problems:?}");
            assert!(problems.iter().zip(&expected).all(|(problem, start)| problem.starts_with(start)), "{problems:?}");
        }
    }

    #[test]
    fn the_address_tells_the_edition_unless_the_job_does() {
        let config = WatsonxConfig::default();
        let saas = BaseUrl::parse("https://api.us-south.watson-orchestrate.cloud.ibm.com/instances/1").unwrap();
        assert_eq!(edition(&config, &saas), EditionConfig::Saas);
        assert_eq!(edition(&config, &BaseUrl::parse("http://127.0.0.1:4321").unwrap()), EditionConfig::Developer);
        let named = WatsonxConfig { edition: Some(EditionConfig::Developer), ..config };
        assert_eq!(edition(&named, &saas), EditionConfig::Developer);
    }
}
