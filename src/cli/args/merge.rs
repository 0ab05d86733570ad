//! The command line of `eval-job merge`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::RunsArgs;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct MergeArgs {
    /// The runs of the parts: ids, run folders, or folders with run folders in them or below
    #[arg(value_name = "RUN", required = true)]
    pub(in crate::cli) runs: Vec<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) runs_dir: RunsArgs,

    /// Also write a file, as `run` does: a.json, a.html, junit.xml, $GITHUB_STEP_SUMMARY, …
    #[arg(short, long, env = "EVAL_JOB_OUTPUT", value_name = "PATH")]
    pub(in crate::cli) output: Vec<PathBuf>,

    /// Show also what passed, part by part
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) verbose: bool,
}
