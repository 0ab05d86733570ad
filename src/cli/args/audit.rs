//! The command line of `eval-job audit`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::values::parse_score;
use super::{DEFAULT_JOB, DataArgs, FileArgs, RunsArgs, SelectionArgs};
use crate::score::Score;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AuditArgs {
    /// Job files, folders of them, or patterns such as 'eval/**/*.yml'; and stored runs, whose assertions are tried on mutants of
    /// the changes that they recorded
    #[arg(value_name = "FILE|RUN", default_value = DEFAULT_JOB)]
    pub(in crate::cli) files: Vec<PathBuf>,

    /// Status 100 if an agent that does nothing gets more than this, 0 to 1
    #[arg(long, env = "EVAL_JOB_MAX_TRIVIAL_SCORE", value_name = "SCORE", value_parser = parse_score)]
    pub(in crate::cli) max_trivial_score: Option<Score>,

    #[command(flatten)]
    pub(in crate::cli) selection: SelectionArgs,

    #[command(flatten)]
    pub(in crate::cli) data: DataArgs,

    #[command(flatten)]
    pub(in crate::cli) own_files: FileArgs,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Print it as JSON instead
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}
