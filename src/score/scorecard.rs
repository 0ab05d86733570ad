//! The scores of one trial, with everything that they rest on.

use serde::{Deserialize, Serialize};

use super::{Component, Score, Vacuity, Weight};

/// The scores of one trial, with everything that they rest on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scorecard {
    /// The dimensions in the order in which they are shown.
    pub dimensions: Vec<Dimension>,
    /// The number of failed tries.
    pub failure_count: u32,
    /// The penalty for them, 0 to 0.5.
    pub penalty: f64,
    /// The trial's figure.
    pub composite: Component,
}

impl Scorecard {
    /// The dimension of this name.
    pub fn dimension(&self, name: &str) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.name == name)
    }

    /// The tasks and assertions that did not come out well or are missing, of the dimensions that count.
    pub fn shortfalls(&self) -> impl Iterator<Item = &Item> {
        let counted = self.dimensions.iter().filter(|dimension| dimension.weight > Weight::ZERO);
        let items = counted.flat_map(|dimension| dimension.items.iter().map(move |item| (dimension.good_above, item)));
        let has_lost = |(good_above, item): &(Option<Score>, &Item)| match &item.component {
            Component::Scored { score, .. } => good_above.map_or(*score < Score::ONE, |line| *score <= line),
            Component::NotApplicable { .. } => false,
            Component::Missing { .. } => true,
        };
        items.filter(has_lost).map(|(_, item)| item)
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
    /// Its score, or why there is none.
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
    /// An assertion's id, the same across trials and runs; `None` for a task, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name that reports show.
    pub label: String,
    /// Its weight within the dimension.
    pub weight: Weight,
    /// Its score, or why there is none.
    pub component: Component,
    /// Set on an assertion that holds where that may say nothing about the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuity: Option<Vacuity>,
}

impl Item {
    /// Whether it has a score and did not come out well: not above `good_above`, or, where there is no such line, below 1.
    pub fn has_failed(&self, good_above: Option<Score>) -> bool {
        self.component.score().is_some_and(|score| good_above.map_or(score < Score::ONE, |line| score <= line))
    }

    /// Its id, or its label where there is none.
    pub fn key(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.label)
    }
}
