//! Indexes, constraints and procedures, which drivers' libraries ask a Neo4j for before they work with it.
//!
//! Invariants: an index changes no answer, so that accepting one is enough; a uniqueness constraint is enforced, at the
//! end of each statement; a rule is kept in the engine's own file, so that it comes and goes with its transaction.
//! Statements that Neo4j's Community Edition refuses are refused here too.

mod call;
mod command;
mod procedures;
mod rules;
mod show;
mod unique;

pub(super) use call::{administers, rewrite};
pub(super) use command::{SchemaCommand, command};
pub use rules::SchemaFault;

use super::counts::WriteCounts;
use super::engine::OpenDatabase;
use super::error::StatementError;
use crate::graph::Parameters;
use rules::Rules;

/// The version of Neo4j that the graph says it is.
pub const NEO4J: &str = "5.26.0";

/// The rules' name in the engine's file.
const NOTE: &str = "eval-job.rules";

impl OpenDatabase {
    /// The indexes and constraints, as the open transaction sees them.
    fn rules(&self) -> Result<Rules, StatementError> {
        let note = self.database.note(NOTE)?;
        Ok(note.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }

    /// Runs a schema command in the open writing transaction.
    pub(super) fn handle(
        &mut self,
        command: &SchemaCommand,
        parameters: &Parameters,
    ) -> Result<WriteCounts, StatementError> {
        let mut rules = self.rules()?;
        let counts = command.apply(&mut rules, parameters)?;
        if let Some(constraint) = rules.constraints.last().filter(|_| counts.constraints_added > 0) {
            unique::holds(&self.database, constraint)?;
        }
        if counts != WriteCounts::default() {
            let text = serde_json::to_string(&rules).map_err(|error| StatementError::broken(&error.to_string()))?;
            self.database.set_note(NOTE, &text)?;
        }
        Ok(counts)
    }

    /// Refuses what the statements since the last call wrote, if it breaks a constraint.
    pub(super) fn enforce(&self) -> Result<(), StatementError> {
        let written = graphdblite::take_written();
        if written.is_empty() {
            return Ok(());
        }
        for constraint in self.rules()?.constraints.iter().filter(|rule| written.contains(rule.label_or_type())) {
            unique::kept(&self.database, constraint)?;
        }
        Ok(())
    }
}
