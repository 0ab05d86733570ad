//! One metric of a job: a name, or a mapping with its options, its threshold and its own name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::{MetricKind, Weights};
use crate::score::{Score, Weight};

/// One metric of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "MetricFile")]
pub struct MetricEntry {
    /// What is measured, and how.
    pub metric: MetricConfig,
    /// Its name in reports, where the job gives one.
    pub name: Option<String>,
    /// How much it counts, instead of what `weights` says.
    pub weight: Option<Weight>,
    /// The least score with which a case passes.
    pub threshold: Option<Score>,
}

/// What is measured, with its options.
#[derive(Debug, Clone, PartialEq)]
pub enum MetricConfig {
    /// How fast the agent replies.
    Timing,
    /// How well the tasks were done, as a judge sees it.
    Tasks,
    /// How the agent spoke, as a judge sees it.
    Tone,
    /// Whether the assertions hold after the conversation.
    Assertions,
}

impl MetricConfig {
    /// The metric with its default options.
    pub fn new(kind: MetricKind) -> MetricConfig {
        match kind {
            MetricKind::Timing => MetricConfig::Timing,
            MetricKind::Tasks => MetricConfig::Tasks,
            MetricKind::Tone => MetricConfig::Tone,
            MetricKind::Assertions => MetricConfig::Assertions,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> MetricKind {
        match self {
            MetricConfig::Timing => MetricKind::Timing,
            MetricConfig::Tasks => MetricKind::Tasks,
            MetricConfig::Tone => MetricKind::Tone,
            MetricConfig::Assertions => MetricKind::Assertions,
        }
    }
}

impl MetricEntry {
    /// A metric of which the job says nothing else.
    pub fn new(metric: MetricConfig) -> MetricEntry {
        MetricEntry { metric, name: None, weight: None, threshold: None }
    }

    /// The metrics of a job that names none.
    pub fn defaults() -> Vec<MetricEntry> {
        MetricKind::DEFAULT.into_iter().map(|kind| MetricEntry::new(MetricConfig::new(kind))).collect()
    }

    /// The name of its dimension: its own, else its kind's.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(self.kind().as_str())
    }

    /// Its kind.
    pub fn kind(&self) -> MetricKind {
        self.metric.kind()
    }

    /// How much it counts: its own weight, else that of its kind.
    pub fn weight(&self, weights: &Weights) -> Weight {
        self.weight.unwrap_or_else(|| weights.weight(self.kind()))
    }
}

/// A metric as it is written.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum MetricFile {
    /// `timing`.
    Name(MetricKind),
    /// `{trajectory: {order: anyOrder}, threshold: 1}`.
    Mapping(Box<MetricMapping>),
}

/// A metric with options, a threshold, or a name of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "metric", rename = "Metric", transform = one_metric)]
pub struct MetricMapping {
    /// The metric's name in reports. Default: that of what it measures
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"\S"))]
    name: Option<String>,
    /// How much it counts, instead of what `weights` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1_000_000))]
    weight: Option<Weight>,
    /// The least score with which a case passes, 0 to 1. A case that scores less fails the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>", range(min = 0, max = 1))]
    threshold: Option<Score>,
    /// How fast the agent replies.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NoOptions>")]
    timing: Option<NoOptions>,
    /// How well the tasks were done, as a judge sees it.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NoOptions>")]
    tasks: Option<NoOptions>,
    /// How the agent spoke, as a judge sees it.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NoOptions>")]
    tone: Option<NoOptions>,
    /// Whether the assertions hold after the conversation.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NoOptions>")]
    assertions: Option<NoOptions>,
}

/// A metric that has no options: `{}`, or nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "metric without options")]
pub struct NoOptions {}

/// Reads a key that counts as present without a value too: `rouge:` is `rouge: {}`.
fn present<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::<T>::deserialize(deserializer).map(|value| Some(value.unwrap_or_default()))
}

fn one_metric(schema: &mut Schema) {
    let branches: Vec<Value> = MetricKind::ALL.into_iter().map(|kind| json!({ "required": [kind.as_str()] })).collect();
    schema.insert("oneOf".to_owned(), Value::Array(branches));
}

/// A mapping that names no metric, or several.
#[derive(Debug, thiserror::Error)]
#[error("an entry of `metrics` names one metric")]
struct NotOneMetric;

impl MetricMapping {
    fn config(&mut self) -> Result<MetricConfig, NotOneMetric> {
        let mut named = [
            self.timing.take().map(|NoOptions {}| MetricConfig::Timing),
            self.tasks.take().map(|NoOptions {}| MetricConfig::Tasks),
            self.tone.take().map(|NoOptions {}| MetricConfig::Tone),
            self.assertions.take().map(|NoOptions {}| MetricConfig::Assertions),
        ]
        .into_iter()
        .flatten();
        match (named.next(), named.next()) {
            (Some(config), None) => Ok(config),
            _ => Err(NotOneMetric),
        }
    }
}

impl From<MetricEntry> for MetricFile {
    fn from(entry: MetricEntry) -> MetricFile {
        let kind = entry.kind();
        let is_plain = entry == MetricEntry::new(MetricConfig::new(kind));
        let MetricEntry { metric, name, weight, threshold } = entry;
        if is_plain {
            return MetricFile::Name(kind);
        }
        let mut mapping = MetricMapping { name, weight, threshold, ..MetricMapping::default() };
        match metric {
            MetricConfig::Timing => mapping.timing = Some(NoOptions {}),
            MetricConfig::Tasks => mapping.tasks = Some(NoOptions {}),
            MetricConfig::Tone => mapping.tone = Some(NoOptions {}),
            MetricConfig::Assertions => mapping.assertions = Some(NoOptions {}),
        }
        MetricFile::Mapping(Box::new(mapping))
    }
}

impl<'de> Deserialize<'de> for MetricEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MetricEntry, D::Error> {
        match Value::deserialize(deserializer)? {
            name @ Value::String(_) => {
                let kind = serde_json::from_value(name).map_err(Error::custom)?;
                Ok(MetricEntry::new(MetricConfig::new(kind)))
            }
            mapping => {
                let mut mapping: MetricMapping = serde_json::from_value(mapping).map_err(Error::custom)?;
                let metric = mapping.config().map_err(Error::custom)?;
                let MetricMapping { name, weight, threshold, .. } = mapping;
                Ok(MetricEntry { metric, name, weight, threshold })
            }
        }
    }
}

impl JsonSchema for MetricEntry {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "MetricEntry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = MetricKind::ALL.into_iter().map(MetricKind::as_str).collect();
        json_schema!({ "anyOf": [{ "type": "string", "enum": names }, generator.subschema_for::<MetricMapping>()] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_stored_as_it_was_written() {
        for written in [
            json!("timing"),
            json!({"threshold": 0.8, "tasks": {}}),
            json!({"name": "right", "weight": 3.0, "assertions": {}}),
        ] {
            let entry: MetricEntry = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&entry).unwrap(), written);
        }
        let plain: MetricEntry = serde_json::from_value(json!({"tone": null})).unwrap();
        assert_eq!(serde_json::to_value(&plain).unwrap(), json!("tone"));
    }

    #[test]
    fn an_entry_names_one_metric() {
        for wrong in [json!({}), json!({"tasks": {}, "tone": {}}), json!("task"), json!({"tasks": {"of": 1}})] {
            assert!(serde_json::from_value::<MetricEntry>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_metric_counts_as_itself_says_else_as_the_weights_say() {
        let weights: Weights = serde_json::from_value(json!({"tasks": 5})).unwrap();
        let weight = |entry: Value| serde_json::from_value::<MetricEntry>(entry).unwrap().weight(&weights).get();
        assert_eq!(weight(json!("tasks")), 5.0);
        assert_eq!(weight(json!({"tasks": {}, "weight": 0.5})), 0.5);
        assert_eq!(weight(json!("assertions")), 4.0);
    }
}
