//! `metrics` and `weights`: what is measured, and how much each counts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::score::Weight;

/// Something that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MetricKind {
    /// How fast the agent replies.
    Timing,
    /// How well the tasks were done, as a judge sees it.
    Tasks,
    /// How the agent spoke, as a judge sees it.
    Tone,
    /// Whether the assertions hold after the conversation.
    Assertions,
}

impl MetricKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [MetricKind; 4] = [MetricKind::Timing, MetricKind::Tasks, MetricKind::Tone, MetricKind::Assertions];

    /// Those of a job that names none.
    pub const DEFAULT: [MetricKind; 4] =
        [MetricKind::Timing, MetricKind::Tasks, MetricKind::Tone, MetricKind::Assertions];

    /// As the job file spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            MetricKind::Timing => "timing",
            MetricKind::Tasks => "tasks",
            MetricKind::Tone => "tone",
            MetricKind::Assertions => "assertions",
        }
    }

    /// What it says, for editors.
    const fn description(self) -> &'static str {
        match self {
            MetricKind::Timing => "How fast the agent replies.",
            MetricKind::Tasks => "How well the tasks were done.",
            MetricKind::Tone => "How the agent spoke.",
            MetricKind::Assertions => "Whether the assertions hold after the conversation.",
        }
    }

    /// How much it counts unless the job says otherwise: Embabel's weights for what Embabel measures, else 1.
    pub const fn default_weight(self) -> Weight {
        match self {
            MetricKind::Timing => weight(1.0),
            MetricKind::Tasks => weight(2.0),
            MetricKind::Tone => weight(0.0),
            MetricKind::Assertions => weight(4.0),
        }
    }

    /// Whether a judge is asked for it.
    pub fn asks_judge(self) -> bool {
        matches!(self, MetricKind::Tasks | MetricKind::Tone)
    }
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

const fn weight(value: f64) -> Weight {
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
        let properties: Map<String, Value> = MetricKind::ALL.into_iter().map(property).collect();
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
