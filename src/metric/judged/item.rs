//! The items that a judge decides on, and the evidence that counts for them.

use crate::score::{Component, Weight};

/// Something that a judge decides on.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgeItem {
    /// Its id, unique among those of its question.
    pub id: String,
    /// The item to decide.
    pub text: String,
    /// The turn that it is about, where it is about one.
    pub turn: Option<u32>,
    /// The agent's message in that turn that it is about, from 1, where it is about one.
    pub message: Option<usize>,
    /// How much it counts among the others.
    pub weight: Weight,
}

impl JudgeItem {
    /// An item that counts as much as any other.
    pub fn new(id: impl Into<String>, text: impl Into<String>, turn: Option<u32>) -> JudgeItem {
        JudgeItem { id: id.into(), text: text.into(), turn, message: None, weight: Weight::ONE }
    }
}

/// The subject of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeItems {
    /// These.
    Given(Vec<JudgeItem>),
    /// Those that the judge finds.
    Found,
    /// Nothing: the judge is not asked, and this is the score.
    Nothing(Component),
}

/// The words on which a metric's verdicts may rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvidenceRule {
    /// Whatever the judge was shown.
    Any,
    /// Not the agent's: neither its replies nor what it wrote into the calls of tools.
    NotTheAgents,
    /// The reply that the verdict is about.
    TheReply,
    /// The results of certain tools in the turn that the verdict is about.
    Retrieved,
}
