//! `metrics` and `weights`: what is measured, and how much each counts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::MetricKind;
use crate::score::Weight;

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

pub(super) const fn weight(value: f64) -> Weight {
    match Weight::new(value) {
        Some(weight) => weight,
        None => Weight::ONE,
    }
}

/// How much each metric counts in the composite; 0 shows it and leaves it out. Metrics that are not named have their
/// default weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<MetricKind, Weight>")]
pub struct Weights(BTreeMap<MetricKind, Weight>);

impl Weights {
    /// The weight of a metric.
    pub fn weight(&self, kind: MetricKind) -> Weight {
        self.0.get(&kind).copied().unwrap_or(kind.default_weight())
    }
}

/// Whatever a job leaves open has its default weight, and is stored with it.
impl From<BTreeMap<MetricKind, Weight>> for Weights {
    fn from(written: BTreeMap<MetricKind, Weight>) -> Weights {
        let mut weights = Weights::default();
        weights.0.extend(written);
        weights
    }
}

impl Default for Weights {
    fn default() -> Weights {
        Weights(MetricKind::DEFAULT.into_iter().map(|kind| (kind, kind.default_weight())).collect())
    }
}

impl JsonSchema for Weights {
    fn schema_name() -> Cow<'static, str> {
        "Weights".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let property = |kind: MetricKind| {
            let schema = json!({
                "description": kind.description(),
                "type": "number",
                "minimum": 0,
                "maximum": 1_000_000,
                "default": kind.default_weight().get(),
            });
            (kind.as_str().to_owned(), schema)
        };
        let mut schema = Schema::default();
        let properties: Map<String, Value> = MetricKind::ALL.iter().copied().map(property).collect();
        schema.insert("title".to_owned(), "weights".into());
        schema.insert(
            "description".to_owned(),
            "How much each metric counts in the composite; 0 shows it and leaves it out. Defaults: Embabel's.".into(),
        );
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("additionalProperties".to_owned(), false.into());
        schema
    }
}
