//! The command that goes on with a run.

use super::super::args::{CommandChanges, ResumeMode, rebuilt_command};
use super::super::context::Context;

/// The command that was typed, for the same run again. What it recorded stays incomplete: a run that goes on records nothing.
pub(in crate::cli) fn resume_command(id: &str, mode: ResumeMode, context: &Context) -> String {
    rebuilt(id, mode, context, &["resume", "retry_errors", "cassette_record", "cassette_replay"])
}

/// The same for one run of several jobs: without the files of `-o`, which hold all of them.
pub(in crate::cli) fn resume_command_of_one(id: &str, mode: ResumeMode, context: &Context) -> String {
    rebuilt(id, mode, context, &["resume", "retry_errors", "cassette_record", "cassette_replay", "output"])
}

fn rebuilt(id: &str, mode: ResumeMode, context: &Context, without: &[&str]) -> String {
    let with = &[mode.flag(), id];
    rebuilt_command(&context.typed, CommandChanges { without, with, ..CommandChanges::default() })
}
