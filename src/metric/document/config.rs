//! The options of a reply that is a document in a job file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::JsonMeasure;
use crate::metric::json::JsonRules;
use crate::metric::measured::{MeasureProblem, problem, shown};
use crate::metric::selection::{Paths, Selection};

/// Whether a reply is one JSON document, which one, and of what shape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "json")]
pub struct JsonConfig {
    /// How it is compared with the expected document.
    #[serde(rename = "match")]
    pub json_match: JsonMatch,
    /// The document; without it, the reply that the case expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Value>,
    /// A JSON Schema (2020-12 unless it names another draft) that the reply must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// What must be at places in the reply, by JSONPath: each finds one value, and it is this.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, Value>")]
    pub paths: Map<String, Value>,
    /// Numbers that differ by at most so much are the same.
    #[schemars(range(min = 0))]
    pub number_tolerance: f64,
    /// The only places that are compared, such as `city` or `meta.time`; a key with a dot needs a JSON Pointer: `/a.b`. Or a tree of
    /// keys whose leaves are true; a key with an empty tree must be there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_paths: Option<Paths>,
    /// Places that are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_paths: Vec<String>,
    /// Answers as trpc-agent-go does: selected places do not reach into lists, and large integers lose their last digits.
    pub strict: bool,
}

impl Default for JsonConfig {
    fn default() -> JsonConfig {
        JsonConfig {
            json_match: JsonMatch::Exact,
            expected: None,
            schema: None,
            paths: Map::new(),
            number_tolerance: JsonRules::TOLERANCE,
            only_paths: None,
            ignore_paths: Vec::new(),
            strict: false,
        }
    }
}

/// Whether a reply is a well-formed XML document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "xml")]
pub struct XmlConfig {}

impl JsonConfig {
    /// Whether it says of itself what a reply must be.
    pub fn stands_alone(&self) -> bool {
        self.expected.is_some() || self.schema.is_some() || !self.paths.is_empty() || self.json_match == JsonMatch::Skip
    }

    /// Whether it can be measured.
    ///
    /// # Errors
    /// Options contradict each other, a path is none, or the schema is none.
    pub fn check(&self) -> Result<(), MeasureProblem> {
        JsonMeasure::new(self).map(drop)
    }

    /// The expected reply as a document; `None` where it is not looked at.
    ///
    /// # Errors
    /// It is no JSON.
    pub(in crate::metric) fn document(&self, expected: &str) -> Result<Option<Value>, MeasureProblem> {
        if self.json_match != JsonMatch::Exact || self.expected.is_some() {
            return Ok(None);
        }
        let read = serde_json::from_str(expected).map(Some);
        read.map_err(|why| MeasureProblem(format!("the expected reply {} is no JSON: {why}", shown(expected))))
    }

    /// How documents are compared.
    pub(super) fn rules(&self) -> Result<JsonRules, MeasureProblem> {
        if self.only_paths.is_some() && !self.ignore_paths.is_empty() {
            return problem("`onlyPaths` and `ignorePaths` exclude each other: give one of them");
        }
        if !(self.number_tolerance >= 0.0 && self.number_tolerance.is_finite()) {
            return problem(format!("`numberTolerance` is {}: it must be 0 or more", self.number_tolerance));
        }
        Ok(JsonRules {
            number_tolerance: self.number_tolerance,
            only: self.only_paths.as_ref().map(selection).transpose()?,
            ignore: Selection::from_paths(&self.ignore_paths)?,
            extra: false,
            strict: self.strict,
        })
    }
}

fn selection(paths: &Paths) -> Result<Selection, MeasureProblem> {
    match paths {
        Paths::List(paths) => Selection::from_paths(paths),
        Paths::Tree(tree) => Selection::from_tree(&Value::Object(tree.clone().into_iter().collect())),
    }
}

/// How a document is compared with the expected one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum JsonMatch {
    /// They are the same, numbers within the tolerance; the order of an object's keys does not count.
    #[default]
    Exact,
    /// Not at all: it is enough that it is JSON, with what `schema` and `paths` ask for.
    Skip,
}
