//! One of our own models: its provider, its name there, and what a job says of it beyond that.

use std::fmt;

use super::model_file::ModelFile;
use crate::text::nearest;

/// The provider of a model, with the environment variables that hold its key and address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provider {
    /// OpenAI's chat completions, or any endpoint that speaks them.
    OpenAi,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini API.
    Gemini,
    /// IBM watsonx.ai.
    Watsonx,
}

impl Provider {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Provider; 4] = [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Watsonx];

    /// As it is written before the slash.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::OpenAi => "openai",
            Provider::Anthropic => "anthropic",
            Provider::Gemini => "gemini",
            Provider::Watsonx => "watsonx",
        }
    }

    fn from_name(name: &str) -> Option<Provider> {
        match name {
            "google" => Some(Provider::Gemini),
            name => Provider::ALL.into_iter().find(|provider| provider.as_str() == name),
        }
    }

    /// The variables that can hold its key; the first that is set counts, the first of all is the one to name.
    pub fn key_variables(self) -> &'static [&'static str] {
        match self {
            Provider::OpenAi => &["OPENAI_API_KEY"],
            Provider::Anthropic => &["ANTHROPIC_API_KEY"],
            Provider::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            Provider::Watsonx => &["WATSONX_APIKEY", "WATSONX_API_KEY"],
        }
    }

    /// The variable that can hold its address.
    pub fn address_variable(self) -> &'static str {
        match self {
            Provider::OpenAi => "OPENAI_BASE_URL",
            Provider::Anthropic => "ANTHROPIC_BASE_URL",
            Provider::Gemini => "GEMINI_BASE_URL",
            Provider::Watsonx => "WATSONX_URL",
        }
    }
}

/// One of our own models, as the job file or a flag spells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelName {
    /// Rules that stand in for a language model: only when named, never a fallback.
    Scripted,
    /// `provider/model`.
    Of {
        /// Who offers it.
        provider: Provider,
        /// Its name there; it may hold slashes.
        model: String,
    },
}

/// Text that names no model. It says why and names the providers there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ModelNameError(String);

impl ModelName {
    /// The persona's and the judge's model unless the job names another.
    pub const DEFAULT: &'static str = "gpt-4.1-mini";

    /// A model of OpenAI's, or of any endpoint that speaks as OpenAI does.
    pub fn openai(model: impl Into<String>) -> ModelName {
        ModelName::Of { provider: Provider::OpenAi, model: model.into() }
    }

    /// Reads `scripted` or `provider/model`; a name without a provider is OpenAI's.
    ///
    /// # Errors
    /// A sentence that names the providers there are.
    pub fn parse(text: &str) -> Result<ModelName, ModelNameError> {
        match text.split_once('/') {
            _ if text == "scripted" => Ok(ModelName::Scripted),
            _ if text.trim() != text || text.is_empty() => {
                Err(ModelNameError("a model's name is empty or has spaces around it".to_owned()))
            }
            None if nearest(text, ["scripted"].into_iter()).is_some() => {
                Err(ModelNameError(format!("did you mean `scripted`? A model of this name is `openai/{text}`")))
            }
            None if Provider::from_name(text).is_some() => {
                Err(ModelNameError(format!("`{text}` is a provider, and no model is named; write `{text}/MODEL`")))
            }
            None => Ok(ModelName::openai(text)),
            Some((first, model)) => match Provider::from_name(first) {
                Some(provider) if !model.is_empty() => Ok(ModelName::Of { provider, model: model.to_owned() }),
                Some(_) => Err(ModelNameError(format!("there is no model behind `{text}`; write `{text}MODEL`"))),
                None => Err(ModelNameError(format!("`{first}` is not a provider; there are {}", ModelName::choices()))),
            },
        }
    }

    /// Reads `MODEL_OVERRIDE`: a name that does not begin with a provider is one of watsonx.ai's, as in IBM's own framework.
    ///
    /// # Errors
    /// A name that is empty or has spaces around it.
    pub fn parse_override(text: &str) -> Result<ModelName, ModelNameError> {
        match text.split_once('/') {
            Some((first, _)) if Provider::from_name(first).is_none() && text.trim() == text => {
                Ok(ModelName::Of { provider: Provider::Watsonx, model: text.to_owned() })
            }
            _ => ModelName::parse(text),
        }
    }

    fn choices() -> String {
        let providers: Vec<String> =
            Provider::ALL.iter().map(|provider| format!("`{}/MODEL`", provider.as_str())).collect();
        format!("{} and `scripted`; `openai/MODEL` is right for every OpenAI-compatible endpoint", providers.join(", "))
    }
}

/// As the job file spells it.
impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelName::Scripted => f.write_str("scripted"),
            ModelName::Of { provider, model } => write!(f, "{}/{model}", provider.as_str()),
        }
    }
}

/// One of our own models, and what the job says of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "ModelFile", into = "ModelFile")]
pub struct Model {
    /// Which.
    pub name: ModelName,
    /// Whether the job names it; else the environment may (`LLM_ID`).
    pub is_named: bool,
    /// Where it is reached instead of the provider's own address or the environment's.
    pub base_url: Option<String>,
    /// The variable that holds its key, instead of the provider's own.
    pub api_key_env: Option<String>,
    /// The longest reply, in tokens, reasoning included.
    pub max_tokens: Option<u32>,
    /// How much it thinks before it speaks.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// The seed of its choices.
    pub rng_seed: Option<u32>,
}

impl Model {
    /// A model of which only the name is known.
    pub fn new(name: ModelName) -> Model {
        Model {
            name,
            is_named: true,
            base_url: None,
            api_key_env: None,
            max_tokens: None,
            reasoning_effort: None,
            rng_seed: None,
        }
    }

    /// Whether the job says nothing of it.
    pub(super) fn is_unnamed(&self) -> bool {
        !self.is_named
    }

    /// The provider, where it is no set of rules.
    pub fn provider(&self) -> Option<Provider> {
        match &self.name {
            ModelName::Scripted => None,
            ModelName::Of { provider, .. } => Some(*provider),
        }
    }
}

impl Default for Model {
    /// The model where a job names none.
    fn default() -> Model {
        Model { is_named: false, ..Model::new(ModelName::openai(ModelName::DEFAULT)) }
    }
}

/// How much a model thinks before it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningEffort {
    /// As little as possible.
    Minimal,
    /// Little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(provider: Provider, model: &str) -> ModelName {
        ModelName::Of { provider, model: model.to_owned() }
    }

    #[test]
    fn what_is_nearly_scripted_is_no_model_of_a_provider() {
        for name in ["Scripted", "scriptd", "SCRIPTED"] {
            let error = ModelName::parse(name).unwrap_err().to_string();
            assert!(error.contains("did you mean `scripted`?"), "{error}");
        }
        assert!(ModelName::parse("openai/Scripted").is_ok() && ModelName::parse("gpt-4.1-mini").is_ok());
    }

    #[test]
    fn names_are_read_and_spelled() {
        for (text, name, spelled) in [
            ("scripted", ModelName::Scripted, "scripted"),
            ("gpt-4.1", named(Provider::OpenAi, "gpt-4.1"), "openai/gpt-4.1"),
            ("openai/meta/llama", named(Provider::OpenAi, "meta/llama"), "openai/meta/llama"),
            ("anthropic/claude-x", named(Provider::Anthropic, "claude-x"), "anthropic/claude-x"),
            ("google/gemini-x", named(Provider::Gemini, "gemini-x"), "gemini/gemini-x"),
            ("watsonx/ibm/granite", named(Provider::Watsonx, "ibm/granite"), "watsonx/ibm/granite"),
        ] {
            assert_eq!(ModelName::parse(text).as_ref(), Ok(&name), "{text}");
            assert_eq!(name.to_string(), spelled);
            assert_eq!(ModelName::parse(spelled), Ok(name));
        }
    }

    #[test]
    fn an_unknown_provider_is_an_error_with_the_known_ones() {
        let error = ModelName::parse("acme/large").unwrap_err().to_string();
        assert!(error.starts_with("`acme` is not a provider; there are `openai/MODEL`, `anthropic/MODEL`"), "{error}");
        for text in ["openai/", "openai", "gemini"] {
            let error = ModelName::parse(text).unwrap_err().to_string();
            assert!(error.contains(&format!("`{}/MODEL`", text.trim_end_matches('/'))), "{error}");
        }
        for text in ["", " gpt", "gpt "] {
            assert!(ModelName::parse(text).is_err() && ModelName::parse_override(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_override_without_a_known_provider_is_a_model_of_watsonx() {
        let llama = "meta-llama/llama-3-3-70b-instruct";
        assert_eq!(ModelName::parse_override(llama), Ok(named(Provider::Watsonx, llama)));
        assert_eq!(ModelName::parse_override("gemini/g"), Ok(named(Provider::Gemini, "g")));
        assert_eq!(ModelName::parse_override("gpt-x"), Ok(named(Provider::OpenAi, "gpt-x")));
    }
}
