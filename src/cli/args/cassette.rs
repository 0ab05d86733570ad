//! Arguments that record or replay what a run exchanges, the same for `run` and `validate`.

use std::path::PathBuf;

/// The folder of a recording; by default nothing is recorded or replayed.
#[derive(Debug, Default, clap::Args)]
pub(in crate::cli) struct CassetteArgs {
    /// Keep every exchange with persona, judge, agent and graph in this folder, without secrets, to be replayed later
    #[arg(long, env = "EVAL_JOB_CASSETTE_RECORD", value_name = "DIR", conflicts_with = "cassette_replay")]
    pub(in crate::cli) cassette_record: Option<PathBuf>,

    /// Take every answer from the recording in this folder: no agent, no model, no database and no key is needed
    #[arg(long, env = "EVAL_JOB_CASSETTE_REPLAY", value_name = "DIR")]
    pub(in crate::cli) cassette_replay: Option<PathBuf>,
}
