//! `test_config.json`: criteria, custom metrics, and the simulated user.

use serde_json::{Map, Value};

use super::KEYS;
use super::criteria::{METRICS, default_metrics, figures, read_criterion};
use crate::dataset::cursor::{Cursor, Spelling, UnknownKeys};
use crate::dataset::model::{CaseUser, Dataset, DatasetMetric, MeasureKind};
use crate::text::nearest;

/// The content of `test_config.json`.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::dataset) struct AdkEvalConfig {
    metrics: Vec<DatasetMetric>,
    /// The most messages of a simulated user; `None` is no limit.
    max_turns: Option<u32>,
    /// The other settings of the simulated user.
    simulator: Map<String, Value>,
    extra: Map<String, Value>,
}

impl Default for AdkEvalConfig {
    /// ADK's defaults without such a file.
    fn default() -> AdkEvalConfig {
        AdkEvalConfig {
            metrics: default_metrics(),
            max_turns: Some(super::scenario::MAX_INVOCATIONS),
            simulator: Map::new(),
            extra: Map::new(),
        }
    }
}

impl AdkEvalConfig {
    /// Adds it to a dataset.
    pub(in crate::dataset) fn apply(self, dataset: &mut Dataset) {
        for case in &mut dataset.cases {
            if let CaseUser::Scenario(scenario) = &mut case.user {
                scenario.max_turns = self.max_turns;
                scenario.extra.extend(self.simulator.clone());
            }
        }
        dataset.metrics = self.metrics;
        dataset.extra.extend(self.extra);
    }
}

/// Reads a `test_config.json`.
pub(in crate::dataset) fn read_config(value: Cursor<'_>, file: &str) -> AdkEvalConfig {
    let mut config = AdkEvalConfig { metrics: Vec::new(), ..AdkEvalConfig::default() };
    let Some(mut fields) = value.fields(KEYS) else { return config };
    let criteria = fields.get("criteria");
    let mut customs = Vec::new();
    if let Some(custom) = fields.get("custom_metrics") {
        customs = custom.node.entries().iter().map(|entry| (entry.key.as_ref(), custom.at(&entry.value))).collect();
    }
    match criteria {
        Some(criteria) => {
            criteria.map();
            for entry in criteria.node.entries() {
                let value = criteria.at(&entry.value);
                let custom = customs.iter().position(|(name, _)| *name == entry.key).map(|at| customs.remove(at));
                let Some(mut metric) = read_metric(&entry.key, value, custom.map(|(_, custom)| custom)) else {
                    continue;
                };
                metric.place = Some((file.to_owned(), value.line()));
                config.metrics.push(metric);
            }
        }
        None => value.warn("there are no `criteria`: nothing is measured"),
    }
    for (name, custom) in customs {
        custom.warn(format!("the custom metric `{name}` is not among the criteria: it is not measured"));
    }
    config.metrics.extend(figures());
    if let Some(simulator) = fields.get("user_simulator_config") {
        read_simulator(simulator, &mut config);
    }
    let live = fields.get("live_model_config");
    if let Some(live) = live.and_then(|live| {
        live.warn("`live_model_config` is not used: eval-job's own time limits hold");
        live.map()
    }) {
        config.extra.insert("liveModelConfig".to_owned(), Value::Object(live));
    }
    config.extra.extend(fields.rest(UnknownKeys::Kept));
    config
}

fn read_metric(name: &str, value: Cursor<'_>, custom: Option<Cursor<'_>>) -> Option<DatasetMetric> {
    if let Some(custom) = custom {
        let mut metric = read_criterion(name, MeasureKind::Custom, value)?;
        let mut fields = custom.fields(KEYS)?;
        let function = fields.required("code_config").and_then(|code| {
            let mut fields = code.fields(Spelling::SnakeOrCamel)?;
            let name = fields.required("name").and_then(Cursor::filled_text)?;
            let args = fields.items("args");
            if !args.is_empty() {
                code.warn("ADK does not use these arguments");
                metric.extra.insert("args".to_owned(), args.iter().map(|arg| arg.json()).collect());
            }
            fields.rest(UnknownKeys::Kept);
            Some(name)
        });
        metric.evaluator = function.unwrap_or_default().to_owned();
        custom.warn(format!("`{name}` is a Python function of its own: eval-job cannot compute it"));
        for key in ["metric_info", "description"] {
            if let Some(value) = fields.get(key) {
                metric.extra.insert(key.to_owned(), value.json());
            }
        }
        metric.extra.extend(fields.rest(UnknownKeys::Kept));
        return Some(metric);
    }
    let Some((_, kind)) = METRICS.iter().find(|(known, _)| *known == name) else {
        let help = nearest(name, METRICS.iter().map(|(known, _)| *known));
        value.error_with(
            format!("ADK has no metric `{name}`, and no custom one has that name"),
            help.map_or_else(|| "see `custom_metrics`".to_owned(), |help| format!("did you mean `{help}`?")),
        );
        return None;
    };
    read_criterion(name, *kind, value)
}

/// Reads the settings of the simulated user.
fn read_simulator(value: Cursor<'_>, config: &mut AdkEvalConfig) {
    let Some(mut fields) = value.fields(KEYS) else { return };
    let simulator = &mut config.simulator;
    if let Some(kind) = fields.get("type") {
        match kind.text() {
            Some("llm_backed") | None => {}
            Some("llm_audio") => {
                kind.warn("this user speaks; eval-job's writes the same words");
                simulator.insert("type".to_owned(), "llm_audio".into());
            }
            Some(_) => kind.error_with("there is no such simulated user", "`llm_backed` or `llm_audio`"),
        }
    }
    if let Some(most) = fields.get("max_allowed_invocations") {
        config.max_turns = match most.whole() {
            Some(-1) => None,
            Some(count @ 1..) => u32::try_from(count).ok(),
            Some(_) => {
                most.error("the number of messages is at least 1, or -1 for no limit");
                None
            }
            None => config.max_turns,
        };
    }
    let instructions = fields.get("custom_instructions");
    if let Some(text) = instructions.and_then(Cursor::text) {
        for name in ["stop_signal", "conversation_plan", "conversation_history"] {
            if let Some(value) = instructions.filter(|_| !text.contains(name)) {
                value.error(format!("these instructions must contain the placeholder `{{{{ {name} }}}}`"));
            }
        }
        simulator.insert("customInstructions".to_owned(), text.into());
    }
    for (name, option) in [
        ("model", "model"),
        ("model_configuration", "modelConfiguration"),
        ("include_function_calls", "includeFunctionCalls"),
        ("audio_model", "audioModel"),
        ("audio_model_configuration", "audioModelConfiguration"),
        ("include_text_with_audio", "includeTextWithAudio"),
    ] {
        if let Some(value) = fields.get(name) {
            simulator.insert(option.to_owned(), value.json());
        }
    }
    simulator.extend(fields.rest(UnknownKeys::Kept));
}
