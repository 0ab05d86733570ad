//! The coverage of an agent by a suite of cases: tools, the graph's labels and relationship types, edges
//! between goals, facts.
//!
//! In come the jobs of runs with their evidence ([`Suite`]), and the tools that the agent is said to have
//! ([`read_tools`](crate::tool_list::read_tools)); out goes a [`Coverage`], which can be compared with an earlier one. Pure.

mod difference;
mod facts;
mod graph;
mod suite;

use std::collections::BTreeMap;

use serde::Serialize;

pub use difference::{CoverageDifference, difference};
pub use suite::{CoveredConversation, Suite};

/// The kinds of things that can be touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum CoverageSubject {
    /// A tool of the agent: touched where it was called.
    Tool,
    /// A label of the graph's nodes: touched where an assertion looks at it.
    Label,
    /// A type of the graph's relationships: touched where an assertion looks at it.
    Relationship,
    /// A goal of a case and one after it: touched where both were reached in this order.
    GoalEdge,
    /// A fact that a persona knew: touched where the persona mentioned it.
    Fact,
}

impl CoverageSubject {
    /// All of them, in the order in which they are shown.
    pub const ALL: [CoverageSubject; 5] = [
        CoverageSubject::Tool,
        CoverageSubject::Label,
        CoverageSubject::Relationship,
        CoverageSubject::GoalEdge,
        CoverageSubject::Fact,
    ];
}

/// One thing that can be touched; the same in each run of a suite.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoverageItem {
    /// Its kind.
    pub subject: CoverageSubject,
    /// The job and the case that it belongs to; `None` for what all share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<(String, String)>,
    /// Its name.
    pub name: String,
}

/// Whether something was touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoverageHit {
    /// Whether it was.
    pub is_covered: bool,
    /// In what way, or what is known of it otherwise, in a phrase.
    pub why: String,
}

/// The coverage of a suite.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Everything that is known to be there.
    pub items: BTreeMap<CoverageItem, CoverageHit>,
    /// The runs.
    pub runs: usize,
    /// The cases of their jobs.
    pub cases: usize,
    /// The conversations that were looked at.
    pub conversations: usize,
    /// Whether somebody says which tools the agent has: a list, or the agent itself. Else only those are known that were
    /// called or expected.
    pub are_tools_listed: bool,
}

impl Coverage {
    /// How many things of a kind were touched, and how many there are.
    pub fn counts(&self, subject: CoverageSubject) -> (usize, usize) {
        let all = || self.items.iter().filter(move |(item, _)| item.subject == subject);
        (all().filter(|(_, touch)| touch.is_covered).count(), all().count())
    }

    /// The things that were not touched.
    pub fn gaps(&self) -> impl Iterator<Item = (&CoverageItem, &CoverageHit)> {
        self.items.iter().filter(|(_, touch)| !touch.is_covered)
    }

    /// The share of all things that was touched, 0 to 1; `None` where there are none. Tools count where they are listed: of
    /// those that were called, all were.
    pub fn share(&self) -> Option<f64> {
        let counts = CoverageSubject::ALL.into_iter().filter(|subject| !self.is_unlisted(*subject));
        let (covered, all) =
            counts.map(|subject| self.counts(subject)).fold((0, 0), |(covered, all), of| (covered + of.0, all + of.1));
        (all > 0).then(|| covered as f64 / all as f64)
    }

    /// Whether things of a kind are known that nobody lists, so that no share of them can be told.
    pub fn is_unlisted(&self, subject: CoverageSubject) -> bool {
        subject == CoverageSubject::Tool && !self.are_tools_listed && self.counts(subject).1 > 0
    }
}

#[cfg(test)]
mod tests;
