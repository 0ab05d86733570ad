//! `eval-job export` and `eval-job analyze`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::RunsArgs;
use crate::report::Format;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ExportArgs {
    /// A run: its id, or the beginning of its folder's name [default: the newest run]. Or cases: a job file, or another
    /// system's file or folder, FILE:case1,case2 for some of them. What is there as a file, or ends like one, is cases; all
    /// else is a run
    #[arg(value_name = "RUN|FILE")]
    pub(in crate::cli) what: Option<String>,

    /// The format. A run: adk, trpc, watsonx, redhat, otlp, or json, html, junit, md, csv, tokens. Cases: adk, trpc, watsonx or
    /// redhat
    #[arg(short, long, env = "EVAL_JOB_FORMAT", value_name = "FORMAT")]
    pub(in crate::cli) format: Format,

    /// The file or the folder; what is there is overwritten. Without it, a single file is printed
    #[arg(short, long, value_name = "PATH")]
    pub(in crate::cli) output: Option<PathBuf>,

    /// The test_config.json or the metrics file, instead of the one beside the cases
    #[arg(long, env = "EVAL_JOB_CONFIG_FILE_PATH", value_name = "FILE")]
    pub(in crate::cli) config_file_path: Option<PathBuf>,

    /// The initial session of ADK's old files
    #[arg(long, env = "EVAL_JOB_SESSION_FILE", value_name = "FILE")]
    pub(in crate::cli) session_file: Option<PathBuf>,

    /// The word that stands for any value in arguments of watsonx Orchestrate's cases, instead of <IGNORE>
    #[arg(long, env = "EVAL_JOB_ANY_VALUE", value_name = "WORD")]
    pub(in crate::cli) any_value: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct AnalyzeArgs {
    /// The run's id, or the beginning of its folder's name [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(in crate::cli) run: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Print the groups as JSON
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}
