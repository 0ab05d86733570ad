//! What a case says for others in the turns of its conversation: results of tools, and messages before the user's.

use std::sync::Arc;

use super::written_results::WrittenResults;
use crate::agent::Ability;
use crate::agent::tools::{ToolMockConfig, TurnPart, TurnParts};
use crate::job::{Case, Job, Line, Target};

/// The lines of a case, and who makes up results for one of its agents.
pub(super) struct CaseTurns<'a> {
    pub(super) job: &'a Job,
    pub(super) case: &'a Case,
    pub(super) results: Arc<WrittenResults>,
}

impl CaseTurns<'_> {
    /// What is said for others in each turn with this agent: nothing in the opening.
    pub(super) fn parts(self, target: &Target, mocks: fn(&Line) -> &Vec<ToolMockConfig>) -> TurnParts {
        let CaseTurns { job, case, results } = self;
        if case.lines().is_empty() {
            return TurnParts::default();
        }
        let opening = job.opening_turns(case) as usize;
        let takes_history = target.transport.can(Ability::TakesHistory);
        let of_lines = case.lines().iter().map(|line| TurnPart {
            mocks: mocks(line).clone(),
            before: if takes_history { line.before.clone() } else { Vec::new() },
        });
        let turns = std::iter::repeat_n(TurnPart::default(), opening).chain(of_lines).collect();
        TurnParts { turns: Arc::new(turns), writer: Some(results) }
    }
}
