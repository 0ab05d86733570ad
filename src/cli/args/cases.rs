//! The command line of `eval-job cases`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{ArgGroup, Subcommand};

use super::RunsArgs;
use super::values::parse_case_id;

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CasesCommand {
    /// Show the cases of a file, or of all files of a folder: their ids, who speaks, how many turns, what is expected, and their tags
    List(CasesListArgs),
    /// Show a case as it is written
    Show(CasesShowArgs),
    /// Add cases to a file, in its own format; everything else in it stays as it is
    Add(CasesAddArgs),
    /// Remove cases from a file; everything else in it stays as it is
    Remove(CasesRemoveArgs),
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CasesListArgs {
    /// A job file, another system's file (Google ADK, trpc-agent-go, watsonx Orchestrate, Red Hat), or a folder of those
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: String,

    /// Print an array of JSON
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CasesShowArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: String,

    /// The case's id
    #[arg(value_name = "CASE")]
    pub(in crate::cli) case: String,

    /// Print what the case means as JSON, in one form for all systems
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("source").required(true).args(["from", "from_trace"]))]
pub(in crate::cli) struct CasesAddArgs {
    /// The file to add to: a job file with `cases`, an eval set of Google ADK or trpc-agent-go
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,

    /// The file to take cases from: all of them, or FILE:case1,case2
    #[arg(long, env = "EVAL_JOB_FROM", value_name = "FILE[:CASE]")]
    pub(in crate::cli) from: Option<String>,

    /// A recorded conversation to make a case of: what `import --from-trace` takes
    #[arg(long, env = "EVAL_JOB_FROM_TRACE", value_name = "RECORDED")]
    pub(in crate::cli) from_trace: Option<String>,

    /// The id of the case, where it is a single one [default: its own]
    #[arg(long, env = "EVAL_JOB_ID", value_name = "ID", value_parser = parse_case_id)]
    pub(in crate::cli) id: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CasesRemoveArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,

    /// The ids of the cases
    #[arg(value_name = "CASE", required = true)]
    pub(in crate::cli) cases: Vec<String>,
}
