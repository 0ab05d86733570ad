//! One metric of a job: a name, or a mapping with its options, its threshold and its own name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::table::{MetricMapping, NotOneMetric};
use super::{MetricConfig, MetricKind, Weights};
use crate::score::{Score, Weight};

/// One metric of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(into = "MetricFile")]
pub struct MetricEntry {
    /// The metric with its options.
    pub metric: MetricConfig,
    /// Its name in reports, where the job gives one.
    pub name: Option<String>,
    /// How much it counts, instead of what `weights` says.
    pub weight: Option<Weight>,
    /// The least score with which a case passes.
    pub threshold: Option<Score>,
    /// The same metric with other options, for comparison.
    pub beside: Option<Box<MetricEntry>>,
}

impl MetricEntry {
    /// A metric of which the job says nothing else.
    pub fn new(metric: MetricConfig) -> MetricEntry {
        MetricEntry { metric, name: None, weight: None, threshold: None, beside: None }
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

impl From<MetricEntry> for MetricFile {
    fn from(entry: MetricEntry) -> MetricFile {
        let kind = entry.kind();
        let is_plain = entry == MetricEntry::new(MetricConfig::new(kind));
        match is_plain {
            true => MetricFile::Name(kind),
            false => MetricFile::Mapping(Box::new(entry.into())),
        }
    }
}

impl From<MetricEntry> for MetricMapping {
    fn from(entry: MetricEntry) -> MetricMapping {
        let MetricEntry { metric, name, weight, threshold, beside } = entry;
        let beside = beside.map(|beside| Box::new(MetricMapping::from(*beside)));
        let mut mapping = MetricMapping { name, weight, threshold, beside, ..MetricMapping::default() };
        mapping.set(metric);
        mapping
    }
}

impl MetricEntry {
    fn read(mut mapping: MetricMapping) -> Result<MetricEntry, NotOneMetric> {
        let metric = mapping.config()?;
        let MetricMapping { name, weight, threshold, beside, .. } = mapping;
        let beside = beside.map(|beside| MetricEntry::read(*beside).map(Box::new)).transpose()?;
        Ok(MetricEntry { metric, name, weight, threshold, beside })
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
                let mapping: MetricMapping = serde_json::from_value(mapping).map_err(Error::custom)?;
                MetricEntry::read(mapping).map_err(Error::custom)
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
        let names: Vec<&str> = MetricKind::ALL.iter().map(|kind| kind.as_str()).collect();
        json_schema!({ "anyOf": [{ "type": "string", "enum": names }, generator.subschema_for::<MetricMapping>()] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_is_stored_as_it_was_written() {
        for written in [
            json!("timing"),
            json!({"threshold": 0.8, "tasks": {}}),
            json!({"name": "right", "weight": 3.0, "assertions": {}}),
            json!({"rouge": {"type": "rouge1"}, "beside": {"name": "there", "rouge": {"type": "rougeL"}}}),
        ] {
            let entry: MetricEntry = serde_json::from_value(written.clone()).unwrap();
            let stored = serde_json::to_value(&entry).unwrap();
            assert_eq!(serde_json::from_value::<MetricEntry>(stored.clone()).unwrap(), entry);
            assert!(written["rouge"].is_object() || stored == written, "{stored}");
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
