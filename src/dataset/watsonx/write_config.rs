//! The `config.yml` beside written cases: what holds for all of them.

use serde_json::{Map, Value, json};

use super::config::{KEPT, PERSONAS};
use super::metrics::METRICS;
use crate::dataset::model::{CaseUser, Dataset};
use crate::dataset::write::{WrittenDataset, object};
use crate::dataset::{Kind, System};

/// The name of the file.
pub(in crate::dataset) const CONFIG: &str = "config.yml";

/// Adds the file where something holds for all cases that no case file says.
pub(super) fn add_config(dataset: &Dataset, written: &mut WrittenDataset) {
    let is_own = dataset.kind.system() == System::Watsonx;
    let kept = |key: &str| dataset.extra.get(key).filter(|_| is_own).cloned();
    let mut user = match kept("llm_user_config") {
        Some(Value::Object(user)) => user,
        _ => Map::new(),
    };
    let style = shared_style(dataset);
    if !style.is_empty() {
        user.insert("user_response_style".to_owned(), json!(style));
    }
    let (known, own): (Vec<_>, Vec<_>) =
        dataset.personas.iter().partition(|persona| PERSONAS.contains(&persona.name.as_str()) && persona.is_shipped());
    if !known.is_empty() {
        user.insert("personas".to_owned(), known.iter().map(|persona| persona.name.as_str()).collect());
    }
    for persona in own {
        written.warn(format!("watsonx Orchestrate knows no persona {}: its cases are not held with it", persona.name));
    }
    let runs = dataset.runs.filter(|runs| *runs > 1);
    if dataset.kind != Kind::WatsonxConfig && user.is_empty() && runs.is_none() {
        return;
    }
    let cases: Vec<&str> =
        written.files.iter().filter(|file| !file.is_companion).map(|file| file.name.as_str()).collect();
    let is_named = |name: &&str| METRICS.iter().any(|(known, _)| known == name);
    let measured = dataset.metrics.iter().filter(|_| is_own).map(|metric| metric.name.as_str());
    let metrics: Vec<&str> = measured.filter(is_named).collect();
    let mut config = object([
        ("test_paths", json!(cases)),
        ("n_runs", json!(runs)),
        ("metrics", json!(metrics)),
        ("llm_user_config", Value::Object(user)),
    ]);
    for key in KEPT.into_iter().chain(["auth_config"]) {
        if let Some(value) = kept(key) {
            config[key] = value;
        }
    }
    // JSON is YAML, too.
    let text = serde_saphyr::to_string(&config).unwrap_or_else(|_| config.to_string());
    written.add_beside(CONFIG.to_owned(), text);
}

/// How the simulated users of all cases write, where it is the same.
fn shared_style(dataset: &Dataset) -> Vec<String> {
    let styles = dataset.cases.iter().filter_map(|case| match &case.user {
        CaseUser::Scenario(scenario) => Some(scenario),
        CaseUser::Lines(_) => None,
    });
    let mut styles = styles.map(|scenario| &scenario.style);
    let first = styles.next().cloned().unwrap_or_default();
    if styles.all(|style| *style == first) { first } else { Vec::new() }
}
