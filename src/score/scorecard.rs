//! What one trial is worth, with everything that it rests on.

use serde::{Deserialize, Serialize};

use super::{Component, Score, Vacuity, Weight};

/// What one trial is worth, with everything that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scorecard {
    /// The dimensions in the order in which they are shown.
    pub dimensions: Vec<Dimension>,
    /// How many tries of messages failed.
    pub failure_count: u32,
    /// What is subtracted for them, 0 to 0.5.
    pub penalty: f64,
    /// The trial's figure.
    pub composite: Component,
}

impl Scorecard {
    /// The dimension of this name.
    pub fn dimension(&self, name: &str) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.name == name)
    }

    /// The trial's figure, where there is one.
    pub fn score(&self) -> Option<Score> {
        self.composite.score()
    }
}

/// One dimension of a scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dimension {
    /// `timing`, `tasks`, `assertions`, `tone`.
    pub name: String,
    /// Its weight in the composite; a weight of 0 is stored and shown, and changes nothing.
    pub weight: Weight,
    /// What it came to.
    pub component: Component,
    /// Above this a part of it counts as good; none in what an earlier version kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_above: Option<Score>,
    /// Its parts: one for each task or assertion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
}

impl Dimension {
    /// A dimension without parts.
    pub fn new(name: impl Into<String>, weight: Weight, component: Component) -> Dimension {
        Dimension { name: name.into(), weight, component, good_above: None, items: Vec::new() }
    }
}

/// One task or one assertion of a dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// What an assertion is known by, across trials and runs; none for a task, and in what an earlier version kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What a reader knows it by.
    pub label: String,
    /// Its weight within the dimension.
    pub weight: Weight,
    /// What it came to.
    pub component: Component,
    /// Of an assertion that holds: why that may say nothing of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuity: Option<Vacuity>,
}

impl Item {
    /// What it is known by: its id, or its label where there is none.
    pub fn key(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.label)
    }
}
