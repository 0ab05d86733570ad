//! `config.yml`: which cases are run, how often, and with which user.

use serde_json::{Map, Value};

use super::metrics::METRICS;
use super::{KEYS, UNKNOWN};
use crate::dataset::cursor::{Cursor, Fields, UnknownKeys};
use crate::dataset::json::JsonContent;
use crate::dataset::model::{CaseUser, Dataset, MeasureKind};
use crate::job::UserPersona;
use crate::text::nearest;

/// The content of `config.yml`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::dataset) struct WatsonxRunConfig {
    /// Files and folders with cases.
    pub(in crate::dataset) test_paths: Vec<String>,
    /// Whether folders within folders are looked into.
    pub(in crate::dataset) is_recursive: bool,
    max_turns: Option<u32>,
    runs: Option<u32>,
    tags: Vec<String>,
    metrics: Option<Vec<String>>,
    style: Vec<String>,
    personas: Vec<UserPersona>,
    /// How alike two texts must be that mean the same, 0 to 1.
    similarity: Option<f64>,
    extra: Map<String, Value>,
}

/// Settings that are kept as they are: for the run, the service and the models.
pub(super) const KEPT: [&str; 22] = [
    "output_dir",
    "num_workers",
    "skip_available_results",
    "data_annotation_run",
    "enable_verbose_logging",
    "enable_manual_user_input",
    "max_interaction_steps",
    "similarity_threshold",
    "enable_fuzzy_matching",
    "is_strict",
    "error_keywords",
    "trace_sources",
    "is_adk",
    "collection_name",
    "operator_configs",
    "text_match_config",
    "evaluation_config",
    "provider_config",
    "evaluation_model",
    "custom_metrics_config",
    "extractors_config",
    "wxo_lite_version",
];

/// Those of them that would change what is run or measured there, each with what is done here instead.
const NOT_DONE: [(&str, &str); 15] = [
    (
        "trace_sources",
        "recorded traces are read from a service, which eval-job does not ask: the agent is asked itself",
    ),
    ("skip_available_results", "every case is run; `eval-job run --resume` goes on with a run that was stopped"),
    ("data_annotation_run", "cases are not annotated: they are run and measured"),
    ("enable_manual_user_input", "nobody types the user's part: a model plays it, or the case's own messages are sent"),
    ("max_interaction_steps", "the user's turns are bounded by `max_user_turns` alone"),
    ("enable_fuzzy_matching", "an argument is compared as its own `arg_matching` says"),
    ("is_strict", "`--dialect-strict` asks for what the original counts"),
    ("error_keywords", "whether an agent fails is decided by its transport, not by words of its replies"),
    ("operator_configs", "its operators are not run"),
    ("text_match_config", "its templates are not read: the job's `prompts` are"),
    ("evaluation_config", "its models are not asked: `scorer.model` is, or --scorer-model"),
    ("provider_config", "its provider is not asked: `scorer.model` is, or --scorer-model"),
    ("evaluation_model", "it is not asked: `scorer.model` is, or --scorer-model"),
    ("custom_metrics_config", "metrics in Python are not measured; a `rhai` metric of the job can do the same"),
    ("extractors_config", "extractors in Python are not run; a `rhai` metric of the job can do the same"),
];

/// The kinds of users that the original knows; eval-job has them built in.
pub(super) const PERSONAS: [&str; 3] = ["cooperative", "confused", "adversarial"];

/// The option of a metric that says how alike two texts must be.
pub(in crate::dataset) const SIMILARITY: &str = "similarity";

/// Settings that have no effect any more.
const WITHOUT_EFFECT: [&str; 2] = ["skip_legacy_evaluation", "langfuse_enabled"];

/// Reads a configuration.
pub(in crate::dataset) fn read_config(value: Cursor<'_>) -> WatsonxRunConfig {
    let mut config = WatsonxRunConfig::default();
    let Some(mut fields) = value.fields(KEYS) else { return config };
    match fields.get("test_paths") {
        Some(paths) => {
            config.test_paths = texts_or_list(paths);
            if config.test_paths.is_empty() {
                paths.error("no file and no folder is named here");
            }
        }
        None if fields.get("trace_sources").is_some() => {
            value.error("recorded traces are read from a service, which eval-job does not ask; name `test_paths`");
        }
        None => drop(fields.required("test_paths")),
    }
    config.is_recursive = fields.flag("enable_recursive_search").unwrap_or_default();
    config.max_turns = at_least_one(&mut fields, "max_user_turns");
    config.runs = at_least_one(&mut fields, "n_runs");
    config.tags = fields.get("tags").map(texts_or_list).unwrap_or_default();
    config.metrics = fields.get("metrics").map(read_metrics);
    if let Some(user) = fields.get("llm_user_config") {
        read_user(user, &mut config);
    }
    if let Some(auth) = fields.get("auth_config") {
        read_auth(auth, &mut config.extra);
    }
    for name in KEPT {
        let Some(value) = fields.get(name) else { continue };
        config.extra.insert(name.to_owned(), value.json());
        if name == "similarity_threshold" {
            config.similarity = value.number();
            if config.similarity.is_some_and(|similarity| !(0.0..=1.0).contains(&similarity)) {
                value.error("`similarity_threshold` must be from 0 to 1");
            }
        }
        let says_nothing = match &value.node.content {
            JsonContent::Bool(truth) => !truth,
            JsonContent::Object(entries) => entries.is_empty(),
            JsonContent::List(items) => items.is_empty(),
            _ => false,
        };
        if let Some((_, why)) = NOT_DONE.iter().find(|(known, _)| *known == name && !says_nothing) {
            value.warn(format!("`{name}`: {why}"));
        }
    }
    for name in WITHOUT_EFFECT {
        if let Some(value) = fields.get(name) {
            value.warn(format!("`{name}` has no effect"));
        }
    }
    config.extra.extend(fields.rest(UNKNOWN));
    config
}

/// A list of texts, or one text with commas.
fn texts_or_list(value: Cursor<'_>) -> Vec<String> {
    match &value.node.content {
        JsonContent::Text(text) => {
            text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        }
        _ => value.texts(),
    }
}

fn at_least_one(fields: &mut Fields<'_>, name: &'static str) -> Option<u32> {
    let value = fields.get(name)?;
    let count = value.count()?;
    if count == 0 {
        value.error(format!("`{name}` must be at least 1"));
    }
    Some(count)
}

fn read_metrics(value: Cursor<'_>) -> Vec<String> {
    let mut names = Vec::new();
    for item in value.items() {
        let Some(name) = item.text() else { continue };
        if !METRICS.iter().any(|(known, _)| *known == name) {
            let near = nearest(name, METRICS.iter().map(|(known, _)| *known));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            item.warn(format!("there is no metric `{name}`; watsonx Orchestrate leaves it out{near}"));
            continue;
        }
        names.push(name.to_owned());
    }
    names
}

/// Reads the simulated user; a closed model.
fn read_user(value: Cursor<'_>, config: &mut WatsonxRunConfig) {
    let Some(mut fields) = value.fields(KEYS) else { return };
    config.style = fields.get("user_response_style").map(Cursor::texts).unwrap_or_default();
    let mut user = Map::new();
    if let Some(personas) = fields.get("personas") {
        for persona in personas.items() {
            let Some(name) = persona.text() else { continue };
            match UserPersona::shipped(name).ok().filter(|_| PERSONAS.contains(&name)) {
                Some(shipped) if config.personas.contains(&shipped) => persona.warn("this persona is here already"),
                Some(shipped) => config.personas.push(shipped),
                None => persona.error_with("there is no such persona", format!("one of {}", PERSONAS.join(", "))),
            }
        }
    }
    for name in ["prompt_config", "enable_structured_output", "version", "provider_config", "model_id"] {
        let Some(value) = fields.get(name) else { continue };
        user.insert(name.to_owned(), value.json());
        match name {
            "prompt_config" => value.warn("its prompt is not read: the job's `prompts` are"),
            "provider_config" | "model_id" => {
                value.warn(format!("`{name}` is not asked: `evaluator.model` plays the user, or --evaluator-model"));
            }
            _ => value.warn(format!("`{name}` is about the original's own simulator: it is not used")),
        }
    }
    fields.rest(UnknownKeys::Refused);
    if !user.is_empty() {
        config.extra.insert("llm_user_config".to_owned(), Value::Object(user));
    }
}

/// Reads where the agent is. A token that stands in the file is not taken: whatever is stored would hold it.
fn read_auth(value: Cursor<'_>, extra: &mut Map<String, Value>) {
    let Some(mut fields) = value.fields(KEYS) else { return };
    let mut auth = Map::new();
    for name in ["url", "tenant_name"] {
        if let Some(value) = fields.get(name) {
            value.warn(format!(
                "`{name}` is not used: `--target watsonx=ADDRESS`, or the job's `target`, says where the agent is"
            ));
            auth.insert(name.to_owned(), value.json());
        }
    }
    if let Some(token) = fields.get("token") {
        token.warn("a token stands in the file itself; it is not used: put it into the target's key");
    }
    auth.extend(fields.rest(UNKNOWN));
    extra.insert("auth_config".to_owned(), Value::Object(auth));
}

impl WatsonxRunConfig {
    /// Adds it to a dataset: cases without one of its tags are left out.
    pub(in crate::dataset) fn apply(&self, dataset: &mut Dataset) {
        let has_tag = |tags: &[String]| self.tags.is_empty() || tags.iter().any(|tag| self.tags.contains(tag));
        dataset.cases.retain(|case| has_tag(&case.tags));
        for case in &mut dataset.cases {
            let CaseUser::Scenario(scenario) = &mut case.user else { continue };
            if let Some(most) = self.max_turns.filter(|_| !scenario.extra.contains_key("maxUserTurns")) {
                scenario.max_turns = Some(most);
            }
            scenario.style.clone_from(&self.style);
        }
        if !dataset.metrics.iter().any(|metric| metric.name == super::RESISTED) {
            dataset.metrics = super::metrics::metrics_for(self.metrics.as_deref(), &dataset.cases);
        }
        if let Some(similarity) = self.similarity {
            let compared = dataset.metrics.iter_mut().filter(|metric| metric.kind != MeasureKind::Judge);
            let options = compared.map(|metric| &mut metric.options);
            options.for_each(|options| drop(options.insert(SIMILARITY.to_owned(), similarity.into())));
        }
        dataset.runs = self.runs;
        dataset.personas.clone_from(&self.personas);
        dataset.extra.extend(self.extra.clone());
    }
}
