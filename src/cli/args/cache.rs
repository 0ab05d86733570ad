//! The command line of `eval-job cache`, and the flag that leaves the cache out.

use clap::Subcommand;
use clap::builder::FalseyValueParser;

use super::RunsArgs;
use super::values::{parse_age, parse_size};

/// Whether what judges said in earlier runs is used, the same for `run`, `grade` and `check`.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(in crate::cli) struct CacheArgs {
    /// Ask the judge everything anew, and keep nothing of what it says for later runs: by default a verdict at temperature 0 is not
    /// paid for twice
    #[arg(long, env = "EVAL_JOB_NO_CACHE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) no_cache: bool,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CacheCommand {
    /// Show of which judges verdicts are kept, how many, and what they took
    List(CacheListArgs),
    /// Remove kept verdicts by age, model or size; those that can't be used go in any case
    Prune(CachePruneArgs),
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CacheListArgs {
    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Print an array of JSON, a line a judge
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CachePruneArgs {
    /// Those that are older: 30d, 12h
    #[arg(long, env = "EVAL_JOB_OLDER_THAN", value_name = "AGE", value_parser = parse_age)]
    pub(in crate::cli) older_than: Option<f64>,

    /// Those of this judge, with its provider or without: openai/gpt-4.1-mini
    #[arg(long, env = "EVAL_JOB_CACHE_MODEL", value_name = "MODEL")]
    pub(in crate::cli) model: Option<String>,

    /// The oldest, until the rest takes no more than this: 100 MB, 2 GB
    #[arg(long, env = "EVAL_JOB_MAX_SIZE", value_name = "SIZE", value_parser = parse_size)]
    pub(in crate::cli) max_size: Option<u64>,

    /// All of them
    #[arg(long, env = "EVAL_JOB_CACHE_ALL", value_parser = FalseyValueParser::new(), conflicts_with_all = ["older_than", "model", "max_size"])]
    pub(in crate::cli) all: bool,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,
}
