//! Rules by which two values are compared: what a job may say about a tool's name, an argument or a result.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::metric::selection::Paths;
use crate::script::ScriptText;

/// How a value is compared: by one word (`strict`), or by several conditions that must all hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a rule: strict, fuzzy, ignore, optional, contains, regex, date, or a mapping \
                               such as {number: 0.01}, {schema: {…}}, {compare: 'actual > 0'}, {onlyPaths: [a, b.c]}"
)]
pub enum Rule {
    /// One word.
    Kind(RuleKind),
    /// Several conditions.
    Detailed(Box<RuleOptions>),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RuleKind {
    /// Equal, as the options of the metric mean it.
    #[default]
    Strict,
    /// The same in meaning: numbers within 0.001 and equal dates are; other texts are put to the judge, else to embeddings,
    /// else compared letter by letter.
    Fuzzy,
    /// Not compared.
    Ignore,
    /// May be absent; where it is present it must be equal.
    Optional,
    /// The actual text contains the expected one; a list each expected element, a mapping each expected entry.
    Contains,
    /// The expected text is a regular expression that is found somewhere in the actual one.
    Regex,
    /// The same date or time, however it is written.
    Date,
}

/// Conditions of a comparison; all that are given must hold.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[schemars(title = "ruleOptions")]
pub struct RuleOptions {
    /// How the values are compared; `strict` unless `schema`, `length`, `valid` or `compare` stands alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleKind>,
    /// By how much numbers may differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub number: Option<f64>,
    /// A JSON Schema that the actual value must satisfy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
    /// A Rhai script over `actual` and `expected` that must be true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compare: Option<ScriptText>,
    /// Only these parts of the value are compared: paths, or a tree of keys whose leaves are true.
    #[serde(skip_serializing_if = "Paths::is_empty")]
    pub only_paths: Paths,
    /// These parts of the value are not compared: paths, or a tree of keys whose leaves are true.
    #[serde(skip_serializing_if = "Paths::is_empty")]
    pub ignore_paths: Paths,
    /// How long the actual text may be, in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<LengthRule>,
    /// Whether a text must itself be one JSON document.
    pub valid: bool,
    /// Whether upper and lower case are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case_insensitive: Option<bool>,
    /// Whether the order of lists counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_order: Option<bool>,
    /// Whether the actual mapping may have more entries than the expected one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_args: Option<bool>,
}

/// Bounds of a text's length, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LengthRule {
    /// The fewest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u64>,
    /// The most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
}

impl LengthRule {
    /// Whether a text of so many characters is within the bounds.
    pub fn holds(self, characters: u64) -> bool {
        self.min.is_none_or(|min| characters >= min) && self.max.is_none_or(|max| characters <= max)
    }
}

/// A leaf of a tree of paths, named by its path, is neither true, false nor a mapping.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} must be true, false or a mapping")]
pub struct PathTreeError(String);

/// A tree of keys: what `onlyPaths` and `ignorePaths` select.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathTree {
    /// Whether the whole value is selected.
    pub is_whole: bool,
    /// The selected keys.
    pub keys: BTreeMap<String, PathTree>,
}

impl PathTree {
    /// Reads the selection.
    ///
    /// # Errors
    /// A leaf of the tree is neither true, false nor a mapping; it is named.
    pub fn new(paths: &Paths) -> Result<PathTree, PathTreeError> {
        let mut root = PathTree::default();
        match paths {
            Paths::List(paths) => {
                for path in paths {
                    let mut node = &mut root;
                    for key in path.split('.') {
                        node = node.keys.entry(key.to_owned()).or_default();
                    }
                    node.is_whole = true;
                }
            }
            Paths::Tree(tree) => {
                for (key, value) in tree {
                    if let Some(node) = PathTree::read(key, value)? {
                        root.keys.insert(key.clone(), node);
                    }
                }
            }
        }
        Ok(root)
    }

    fn read(path: &str, value: &Value) -> Result<Option<PathTree>, PathTreeError> {
        match value {
            Value::Bool(true) => Ok(Some(PathTree { is_whole: true, ..PathTree::default() })),
            Value::Bool(false) => Ok(None),
            Value::Object(map) => {
                let mut node = PathTree::default();
                for (key, value) in map {
                    if let Some(child) = PathTree::read(&format!("{path}.{key}"), value)? {
                        node.keys.insert(key.clone(), child);
                    }
                }
                Ok(Some(node))
            }
            _ => Err(PathTreeError(path.to_owned())),
        }
    }
}

impl From<RuleKind> for Rule {
    fn from(kind: RuleKind) -> Rule {
        Rule::Kind(kind)
    }
}

impl Rule {
    /// The rule with all its conditions spelled out.
    pub fn options(&self) -> RuleOptions {
        match self {
            Rule::Kind(kind) => RuleOptions { rule: Some(*kind), ..RuleOptions::default() },
            Rule::Detailed(options) => (**options).clone(),
        }
    }

    /// Whether it asks which texts mean the same.
    pub fn is_fuzzy(&self) -> bool {
        match self {
            Rule::Kind(kind) => *kind == RuleKind::Fuzzy,
            Rule::Detailed(options) => options.rule == Some(RuleKind::Fuzzy),
        }
    }

    /// A rule of several conditions.
    pub fn detailed(options: RuleOptions) -> Rule {
        Rule::Detailed(Box::new(options))
    }
}
