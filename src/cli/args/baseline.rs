//! The command line of `eval-job baseline`.

use clap::Subcommand;
use clap::builder::FalseyValueParser;

use super::RunsArgs;
use crate::store::folder::BaselineName;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum BaselineCommand {
    /// Make a run the baseline of this name, in place of the one that was
    Set(BaselineSetArgs),
    /// Show the baselines with their runs
    List(BaselineListArgs),
    /// Remove a baseline; its run stays
    Rm(BaselineRemoveArgs),
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BaselineSetArgs {
    /// The baseline's name: main, release-1.2
    #[arg(value_name = "NAME")]
    pub(in crate::cli) name: BaselineName,

    /// The run's id, or the beginning of its folder's name [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(in crate::cli) run: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BaselineListArgs {
    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Print an array of JSON, a line a baseline
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BaselineRemoveArgs {
    /// The baseline's name
    #[arg(value_name = "NAME")]
    pub(in crate::cli) name: BaselineName,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,
}
