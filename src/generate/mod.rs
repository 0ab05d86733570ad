//! Cases made from what is known of an agent, to be reviewed before they are used.
//!
//! ```text
//! tools ───┐
//! stories ─┴→ Goals × Situations × personas ─distinct→ Drafts → a job
//! ```
//!
//! Invariants: pure, and nothing is drawn at random: the same input makes the same cases with the same ids; no two cases are
//! nearly the same; what an argument is given is allowed by its schema as far as that is understood.

mod distinct;
mod draft;
mod from_tools;
mod phrase;
mod stories;
mod values;

use crate::evidence::Condition;
use crate::metric::trajectory::ExpectedCall;

pub use draft::{Draft, drafts, job_document};
pub use from_tools::goals_of_tools;
pub use stories::{Stories, StoryCheck, read_stories};

/// A goal of a user.
#[derive(Debug, Clone, PartialEq)]
pub struct UserGoal {
    /// The prefix of the ids of its cases.
    pub name: String,
    /// The wish as a task of the persona, in several wordings.
    pub wishes: Vec<String>,
    /// The sets of facts that the user may know, each with the expected outcome.
    pub situations: Vec<UserKnowledge>,
    /// The one kind of user who has it, where not everybody does.
    pub persona: Option<String>,
}

/// The facts that a user with a goal knows, and what is expected of the agent then.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserKnowledge {
    /// When the wish is fulfilled, for the judge.
    pub outcome: String,
    /// The facts.
    pub facts: Vec<String>,
    /// The one condition in which it is run; `None` where any will do.
    pub condition: Option<Condition>,
    /// The tools that are expected to be called; `None` where that does not matter.
    pub calls: Option<Vec<ExpectedCall>>,
}

#[cfg(test)]
mod tests;
