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
    /// The dimension that measures this.
    pub fn dimension(&self, metric: &str) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.metric() == metric)
    }

    /// The dimension of this name: several may measure the same.
    pub fn named(&self, name: &str) -> Option<&Dimension> {
        self.dimensions.iter().find(|dimension| dimension.name == name)
    }

    /// The parts that did not come out well or are missing, of the dimensions that count.
    pub fn shortfalls(&self) -> impl Iterator<Item = &Item> {
        let counted = self.dimensions.iter().filter(|dimension| dimension.weight > Weight::ZERO);
        let items = counted.flat_map(|dimension| dimension.items.iter().map(|item| (dimension.pass_line(), item)));
        items.filter(|(line, item)| item.has_failed(*line) || item.component.is_missing()).map(|(_, item)| item)
    }

    /// Why the trial's figure may say nothing of the agent: nothing that decides could have come out otherwise, or an agent that
    /// does nothing, and is fast with it, gets no less. `None` where something does say something.
    pub fn vacuity(&self) -> Option<Vacuity> {
        self.score()?;
        let decides = |it: &&Dimension| it.weight > Weight::ZERO || it.threshold.is_some();
        let is_applied = |it: &&Dimension| !matches!(it.component, Component::NotApplicable { .. });
        let mut all = None;
        for dimension in self.dimensions.iter().filter(decides).filter(is_applied) {
            all = match (dimension.own_vacuity()?, all) {
                (Vacuity::Vacuous, None | Some(Vacuity::Vacuous)) => Some(Vacuity::Vacuous),
                _ => Some(Vacuity::Idle),
            };
        }
        all
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
    /// `timing`, `tasks`, `assertions`, `tone`, or the name that the job gives it.
    pub name: String,
    /// The metric, where the job calls it otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Its weight in the composite; a weight of 0 is stored and shown, and changes nothing.
    pub weight: Weight,
    /// Its score, or why there is none.
    pub component: Component,
    /// The least score with which it passes, where the job asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Score>,
    /// The same with the options that the job names for comparison, where it comes out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<OtherScore>,
    /// Above this a part of it counts as good; none in what an earlier version kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good_above: Option<Score>,
    /// Set where it passes and that may say nothing of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuity: Option<Vacuity>,
    /// Its parts: one for each task, assertion or turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Item>,
}

/// A dimension measured with other options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OtherScore {
    /// Its name.
    pub name: String,
    /// Its score there.
    pub component: Component,
}

/// When a part of a dimension came out well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PassLine {
    /// Above this score.
    Above(Score),
    /// With at least this score.
    AtLeast(Score),
}

impl PassLine {
    /// Whether a score came out well.
    pub fn is_met(self, score: Score) -> bool {
        match self {
            PassLine::Above(line) => score > line,
            PassLine::AtLeast(line) => !score.is_below(line),
        }
    }
}

impl Dimension {
    /// A dimension without parts.
    pub fn new(name: impl Into<String>, weight: Weight, component: Component) -> Dimension {
        Dimension {
            name: name.into(),
            metric: None,
            weight,
            component,
            threshold: None,
            beside: None,
            good_above: None,
            vacuity: None,
            items: Vec::new(),
        }
    }

    /// The metric's name.
    pub fn metric(&self) -> &str {
        self.metric.as_deref().unwrap_or(&self.name)
    }

    /// Why it may say nothing of the agent. Assertions tell by themselves.
    fn own_vacuity(&self) -> Option<Vacuity> {
        match self.metric() {
            "timing" => Some(Vacuity::Idle),
            "assertions" => {
                let counted = |it: &&Item| it.weight > Weight::ZERO && it.component.score().is_some();
                let is_vacuous = |it: &Item| it.vacuity == Some(Vacuity::Vacuous);
                self.items.iter().filter(counted).all(is_vacuous).then_some(Vacuity::Vacuous)
            }
            _ => self.vacuity.clone().filter(|it| matches!(it, Vacuity::Vacuous | Vacuity::Idle)),
        }
    }

    /// When a part of it came out well.
    pub fn pass_line(&self) -> PassLine {
        match (self.good_above, self.threshold) {
            (Some(line), _) => PassLine::Above(line),
            (None, Some(threshold)) => PassLine::AtLeast(threshold),
            (None, None) => PassLine::AtLeast(Score::ONE),
        }
    }
}

/// One task, assertion or turn of a dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// An assertion's id, the same across trials and runs; `None` for a task, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name that reports show.
    pub label: String,
    /// The turn that it is about; `None` for the conversation, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// Its weight within the dimension.
    pub weight: Weight,
    /// Its score, or why there is none.
    pub component: Component,
    /// Set on an assertion that holds where that may say nothing about the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vacuity: Option<Vacuity>,
    /// The truth of a task that assertions verify: 1 if all of them hold, 0 if one does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<Component>,
}

impl Item {
    /// A part that counts like any other.
    pub fn new(label: impl Into<String>, component: Component) -> Item {
        Item {
            id: None,
            label: label.into(),
            turn: None,
            weight: Weight::ONE,
            component,
            vacuity: None,
            verified: None,
        }
    }

    /// Whether it has a score and did not come out well.
    pub fn has_failed(&self, line: PassLine) -> bool {
        self.component.score().is_some_and(|score| !line.is_met(score))
    }

    /// Its id, or its label where there is none.
    pub fn key(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.label)
    }
}
