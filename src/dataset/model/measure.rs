//! By what the cases of a dataset are measured.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Rubric;

/// A metric that a file asks for, or that its system measures by default.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetMetric {
    /// Its name in reports.
    pub name: String,
    /// Its implementation, by the name that its system knows; usually the same.
    pub evaluator: String,
    /// The implementation.
    pub kind: MeasureKind,
    /// The least score that passes; `None` only where no score can fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Its options, each key as its system's newest files spell it, in camelCase.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub options: Map<String, Value>,
    /// The criteria for a judge.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rubrics: Vec<Rubric>,
    /// The file and the line that ask for it; `None` where it is a default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<(String, usize)>,
    /// All other content of the file.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

impl DatasetMetric {
    /// A metric without options.
    pub(in crate::dataset) fn new(name: &str, kind: MeasureKind, threshold: Option<f64>) -> DatasetMetric {
        DatasetMetric {
            name: name.to_owned(),
            evaluator: name.to_owned(),
            kind,
            threshold,
            options: Map::new(),
            rubrics: Vec::new(),
            place: None,
            extra: Map::new(),
        }
    }
}

/// The implementation of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum MeasureKind {
    /// Expected against actual tool calls.
    Trajectory,
    /// The parameters of expected calls, with partial credit.
    ToolParameters,
    /// The overlap of words with the expected reply (ROUGE-1).
    ResponseMatch,
    /// The reply as text, JSON, XML or by ROUGE.
    FinalResponse,
    /// The goals of a journey.
    Journey,
    /// The agents that were called.
    Routing,
    /// Questions to a judge.
    Judge,
    /// A figure that has no threshold.
    Figure,
    /// A metric that only the vendor's own service can compute.
    VendorService,
    /// A function of the user's own in the system's language.
    Custom,
}

impl MeasureKind {
    /// Whether a threshold has a meaning for it.
    pub fn needs_threshold(self) -> bool {
        self != MeasureKind::Figure
    }
}
