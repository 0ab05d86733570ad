//! Which of our own models are asked, where and with which key: the job, the flags and the environment taken together.
//!
//! A key is sent only to its own provider: the provider's own variable goes with the provider's address or with the
//! address of its own variable; an address that a job names gets the key that the job names, or none.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Environment, Overrides, Refusal};
use crate::job::{Case, Job, JobPlace, Line, Model, ModelName, ModelNameError, Panel, Provider, User};
use crate::llm::check as check_address;
use crate::secret::{Secret, Variables};

/// Address and key of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The provider.
    pub provider: Provider,
    /// The model's name there.
    pub model: String,
    /// The address; `None` is the provider's own.
    pub base_url: Option<String>,
    /// The source of the address: a variable, or a key of the job.
    pub address_from: String,
    /// The key, if there is one.
    pub key: Option<Secret>,
    /// The source of the key.
    pub key_from: String,
    /// The project or space of watsonx.ai: the variable that was set, with its value.
    pub payer: Option<(&'static str, String)>,
    /// The address of watsonx.ai's IAM tokens, if the environment sets one.
    pub iam_url: Option<String>,
}

/// Puts the models in place that go before the job's: a flag, then `MODEL_OVERRIDE`; `LLM_ID` where the job names none.
pub(super) fn choose(job: &mut Job, wanted: &Overrides, variables: &Variables) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut read = |name: &str, parse: fn(&str) -> Result<ModelName, ModelNameError>| {
        let parsed = parse(variables.text(name)?);
        parsed
            .map_err(|error| refusals.push(Refusal::new(format!("{name}: {error}"), "correct it in the environment")))
            .ok()
    };
    let forced = read("MODEL_OVERRIDE", ModelName::parse_override);
    // Whatever the endpoint calls its model: the name may hold slashes.
    let usual = speaks_by_llm(variables).then(|| read("LLM_ID", |text| Ok(ModelName::openai(text.trim())))).flatten();
    let place = |model: &mut Model, flag: &Option<ModelName>| {
        let is_rules = model.name == ModelName::Scripted;
        if let Some(name) = flag {
            // The job's own, with the address and the key that it names.
            if *name != model.name {
                *model = Model::new(name.clone());
            }
        } else if let Some(name) = forced.clone().filter(|_| !is_rules) {
            *model = Model::new(name);
        } else if let Some(name) = usual.clone().filter(|_| !model.is_named) {
            *model = Model::new(name);
        }
    };
    place(&mut job.persona.model, &wanted.evaluator_model);
    if wanted.evaluator_model.is_some() {
        // A model that is named is to speak, but where a case is about its fixed messages.
        let can_speak = |case: &&mut Arc<Case>| !is_about_lines(case);
        job.cases.iter_mut().filter(can_speak).for_each(|case| Arc::make_mut(case).user = User::Persona);
    }
    let is_panel = |panel: &Panel| !panel.seats().is_empty();
    match (&wanted.scorer_model, &forced) {
        // One model for all of ours: a panel is replaced, too.
        (None, Some(name)) if is_panel(&job.judge.model) => job.judge.model = Panel::from(Model::new(name.clone())),
        (Some(panel), _) if is_panel(panel) || is_panel(&job.judge.model) => job.judge.model.replace(panel),
        (wanted, _) => {
            let name = wanted.iter().flat_map(Panel::judges).next().map(|model| model.name.clone());
            job.judge.model.only_mut().into_iter().for_each(|own| place(own, &name));
        }
    }
    refusals
}

/// Whether a case has fixed messages that no persona can replace: it has no tasks, or something is expected of the replies to them.
fn is_about_lines(case: &Case) -> bool {
    match &case.user {
        User::Lines(lines) => {
            let is_more = |line: &Line| line.expected.is_some() || !line.mocks.is_empty() || !line.before.is_empty();
            case.tasks.is_empty() || lines.iter().any(is_more)
        }
        User::Persona => false,
    }
}

/// What a conversation asks of the persona's model that scripted rules can't do.
pub(super) fn beyond_rules(job: &Job) -> Vec<Refusal> {
    if job.persona_model().is_none_or(|model| model.name != ModelName::Scripted) {
        return Vec::new();
    }
    let refusal = |problem: String, key: &str| {
        let place = Some(JobPlace::key(key));
        Refusal { place, ..Refusal::new(problem, "name a model with --evaluator-model") }
    };
    let unwritten = job.cases.iter().find(|case| case.writes_results()).map(|case| {
        let problem = format!("case {}: a mock has a `prompt`, and scripted rules make no result up", case.id);
        refusal(problem, "evaluator.model")
    });
    let has_tools = !job.persona.tools.is_empty();
    let unused = || refusal("evaluator.tools: the rules of `scripted` use no tools".to_owned(), "evaluator.tools");
    unwritten.into_iter().chain(has_tools.then(unused)).collect()
}

/// Everything about the job's models that cannot work.
pub(super) fn refusals(job: &Job, environment: &Environment) -> Vec<Refusal> {
    let variables = &environment.variables;
    let mut lacking: Vec<(String, Option<Provider>, Vec<String>)> = Vec::new();
    let mut refusals: Vec<Refusal> = Vec::new();
    let persona = job.persona_model().map(|model| ("evaluator", "the persona", model));
    let judges = job.judges_with_keys();
    let judges = judges.iter().map(|(part, model)| (part.as_str(), "the judge", *model));
    let embeddings = job.embeddings_model().map(|model| ("scorer.embeddings", "the embeddings", model));
    let reviewer = job.review_model().map(|model| (REVIEW, "the reviewer", model));
    if reviewer.is_some_and(|(.., model)| model.name == ModelName::Scripted) {
        let problem = "evaluator.review.model: scripted rules review nothing";
        let place = Some(JobPlace::key("evaluator.review.model"));
        refusals.push(Refusal { place, ..Refusal::new(problem.to_owned(), "name a model, or leave `review` out") });
    }
    for (part, role, model) in persona.into_iter().chain(reviewer).chain(judges).chain(embeddings) {
        let Some(access) = access(model, part, variables) else { continue };
        let who = format!("{role} ({})", model.name);
        let mut lacks = |what: String, provider| match lacking.iter_mut().find(|(name, ..)| *name == what) {
            Some((_, _, roles)) => roles.push(who.clone()),
            None => lacking.push((what, provider, vec![who.clone()])),
        };
        let own_variable = model.api_key_env.is_none().then_some(access.provider);
        let needs_key =
            model.api_key_env.is_some() || access.base_url.is_none() || access.provider == Provider::Watsonx;
        if access.key.is_none() && needs_key {
            lacks(access.key_from.clone(), own_variable);
        }
        if access.provider == Provider::Watsonx && access.payer.is_none() {
            lacks("WATSONX_PROJECT_ID (or WATSONX_SPACE_ID)".to_owned(), Some(access.provider));
        }
        let addresses = [
            (access.base_url.as_deref(), access.address_from.as_str()),
            (access.iam_url.as_deref(), "WATSONX_IAM_URL"),
        ];
        for (address, from) in addresses {
            let problem = address.and_then(|address| check_address(address, from).err());
            let is_in_job = from.contains('.');
            let help = if is_in_job { "correct it in the job file" } else { "correct it in the environment" };
            let place = is_in_job.then(|| JobPlace::key(from));
            let new = problem.map(|problem| Refusal { place, ..Refusal::new(problem.to_string(), help) });
            refusals.extend(new.filter(|new| !refusals.contains(new)));
        }
    }
    let missing = lacking.into_iter().filter(|_| !environment.is_replayed).map(|(what, provider, roles)| {
        let elsewhere = match provider {
            Some(Provider::OpenAi) => " (with OPENAI_BASE_URL for another endpoint)",
            _ => "",
        };
        let help = format!(
            "set {what}{elsewhere}, in the environment or in .env (--env-file names another file), or name the rules that stand in \
             for a model: --evaluator-model scripted --scorer-model scripted"
        );
        Refusal::new(format!("{what} is not set, but needed for {}", roles.join(" and ")), &help)
    });
    missing.chain(refusals).collect()
}

/// The providers, of whose variables any may choose or find a model.
const PROVIDERS: [Provider; 4] = [Provider::OpenAi, Provider::Anthropic, Provider::Gemini, Provider::Watsonx];

/// The variables by which models are chosen and found, as they are set and count; none of them is secret.
pub fn model_variables(variables: &Variables) -> BTreeMap<String, String> {
    let of_llm = if speaks_by_llm(variables) { &["LLM_URL", "LLM_ID"][..] } else { &[] };
    let named = PROVIDERS.iter().map(|provider| provider.address_variable());
    let named = named.chain(["WATSONX_IAM_URL", "MODEL_OVERRIDE"]).chain(of_llm.iter().copied());
    named.filter_map(|name| Some((name.to_owned(), variables.text(name)?.to_owned()))).collect()
}

/// The environment with these variables of models, and no others: the keys, which decide which count, are left out, too.
pub fn with_model_variables(variables: &Variables, of_models: &BTreeMap<String, String>) -> Variables {
    let addresses = PROVIDERS.iter().map(|provider| provider.address_variable());
    let keys = PROVIDERS.iter().flat_map(|provider| provider.key_variables()).copied();
    let others = ["WATSONX_IAM_URL", "MODEL_OVERRIDE", "LLM_URL", "LLM_ID", "LLM_API_TOKEN"];
    let replaced: Vec<&str> = addresses.chain(keys).chain(others).collect();
    variables.replaced(&replaced, of_models.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

/// The part of the job that names the reviewer of the persona's messages.
pub const REVIEW: &str = "evaluator.review.model";

/// Address and key of a model; `None` for scripted rules. `part` is the key of the job that names it: `evaluator`,
/// `evaluator.review.model`, `scorer`, `scorer.model[1]` or `scorer.embeddings`.
pub fn access(model: &Model, part: &str, variables: &Variables) -> Option<Access> {
    let ModelName::Of { provider, model: name } = &model.name else { return None };
    let provider = *provider;
    let by_llm = provider == Provider::OpenAi && speaks_by_llm(variables);
    let (address_variable, key_variables) = if by_llm {
        ("LLM_URL", &["LLM_API_TOKEN"][..])
    } else {
        (provider.address_variable(), provider.key_variables())
    };
    let usual_key = || {
        let set = key_variables.iter().find_map(|name| Some((*name, variables.secret(name)?)));
        set.map_or((key_variables[0], None), |(name, key)| (name, Some(key.clone())))
    };
    let place = if part.contains('.') { part.to_owned() } else { format!("{part}.model") };
    let in_job = model.base_url.is_some();
    let (key_from, key) = match &model.api_key_env {
        Some(name) => (name.clone(), variables.secret(name).cloned()),
        // IBM's key goes to IBM's token service, wherever the model is.
        None if in_job && provider != Provider::Watsonx => (format!("{place}.apiKeyEnv"), None),
        None => {
            let (name, key) = usual_key();
            (name.to_owned(), key)
        }
    };
    let text = |name: &str| variables.text(name).map(str::to_owned);
    let is_watsonx = provider == Provider::Watsonx;
    let payer = ["WATSONX_PROJECT_ID", "WATSONX_SPACE_ID"].into_iter().find_map(|name| Some((name, text(name)?)));
    Some(Access {
        provider,
        model: name.clone(),
        base_url: model.base_url.clone().or_else(|| text(address_variable)),
        address_from: if in_job { format!("{place}.baseUrl") } else { address_variable.to_owned() },
        key,
        key_from,
        payer: payer.filter(|_| is_watsonx),
        iam_url: text("WATSONX_IAM_URL").filter(|_| is_watsonx),
    })
}

/// Whether `LLM_URL`, `LLM_API_TOKEN` and `LLM_ID` speak for OpenAI's variables, of which none is set: the two families are
/// never mixed, or a key would go to the other's address.
fn speaks_by_llm(variables: &Variables) -> bool {
    let is_set = |name| variables.secret(name).is_some();
    !is_set("OPENAI_API_KEY") && !is_set("OPENAI_BASE_URL") && (is_set("LLM_URL") || is_set("LLM_API_TOKEN"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().copied().collect()
    }

    fn named(name: &str) -> Model {
        Model::new(ModelName::parse(name).unwrap())
    }

    fn reached(model: &Model, pairs: &[(&str, &str)]) -> (Option<String>, Option<String>, String) {
        let access = access(model, "scorer", &variables(pairs)).unwrap();
        (access.base_url, access.key.map(|key| key.expose().to_owned()), access.key_from)
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn openai_goes_before_llm_and_the_two_are_never_mixed() {
        let llm = [("LLM_URL", "http://llm"), ("LLM_API_TOKEN", "t")];
        assert_eq!(reached(&named("m"), &llm), (some("http://llm"), some("t"), "LLM_API_TOKEN".to_owned()));
        let both = [("LLM_URL", "http://llm"), ("LLM_API_TOKEN", "t"), ("OPENAI_API_KEY", "k")];
        assert_eq!(reached(&named("m"), &both), (None, some("k"), "OPENAI_API_KEY".to_owned()));
        let address = [("LLM_API_TOKEN", "t"), ("OPENAI_BASE_URL", "http://o")];
        assert_eq!(reached(&named("m"), &address), (some("http://o"), None, "OPENAI_API_KEY".to_owned()));
        assert_eq!(reached(&named("anthropic/c"), &llm), (None, None, "ANTHROPIC_API_KEY".to_owned()));
    }

    #[test]
    fn an_address_of_the_job_gets_the_key_that_the_job_names_or_none() {
        let keys = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://o"), ("OLLAMA_KEY", "o")];
        let local = Model { base_url: some("http://localhost:11434/v1"), ..named("openai/qwen3") };
        assert_eq!(reached(&local, &keys), (local.base_url.clone(), None, "scorer.model.apiKeyEnv".to_owned()));
        let with_key = Model { api_key_env: some("OLLAMA_KEY"), ..local.clone() };
        assert_eq!(reached(&with_key, &keys), (local.base_url.clone(), some("o"), "OLLAMA_KEY".to_owned()));
        let only_key = Model { base_url: None, ..with_key };
        assert_eq!(reached(&only_key, &keys), (some("http://o"), some("o"), "OLLAMA_KEY".to_owned()));
    }

    #[test]
    fn the_second_name_of_a_key_counts_where_the_first_is_not_set() {
        let google = [("GOOGLE_API_KEY", "g")];
        assert_eq!(reached(&named("gemini/g"), &google), (None, some("g"), "GOOGLE_API_KEY".to_owned()));
        assert_eq!(reached(&named("gemini/g"), &[]).2, "GEMINI_API_KEY");
        assert_eq!(access(&named("scripted"), "scorer", &variables(&google)), None);
    }
}
