//! The command that goes on with a run.

use super::super::args::{CommandChanges, ResumeMode, rebuilt_command};
use super::super::context::Context;

/// The command that was typed, for the same run again. What it recorded stays incomplete: a run that goes on records nothing.
pub(in crate::cli) fn resume_command(id: &str, mode: ResumeMode, context: &Context) -> String {
    let with = &[mode.flag(), id];
    rebuilt_command(
        &context.typed,
        CommandChanges {
            without: &["resume", "retry_errors", "cassette_record", "cassette_replay"],
            with,
            ..CommandChanges::default()
        },
    )
}
