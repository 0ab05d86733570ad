//! The command line of `eval-job check`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::values::{parse_dollars, whole_number};
use super::{CacheArgs, FileArgs, MetricSetArg, RunsArgs};
use crate::job::Panel;
use crate::money::Dollars;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CheckArgs {
    /// Files or folders of conversations that are known to be bad or good: eval-job's own (`known: bad`, `conversation: […]`), or
    /// any that `grade --actual` reads, such as Red Hat's results/known_bad_conversation_results
    #[arg(value_name = "PATH", required = true)]
    pub(in crate::cli) paths: Vec<PathBuf>,

    /// The job whose tasks and metrics judge them, by its first case [default: data/eval/agent.yml; Red Hat's files bring their own
    /// metrics]
    #[arg(long, env = "EVAL_JOB_JOB", value_name = "FILE")]
    pub(in crate::cli) job: Option<PathBuf>,

    /// The judge instead of the job's: openai/MODEL, anthropic/MODEL, gemini/MODEL, watsonx/MODEL or scripted;
    /// several, with commas between them, are a panel
    #[arg(long, env = "EVAL_JOB_SCORER_MODEL", value_name = "MODEL", value_parser = Panel::parse)]
    pub(in crate::cli) scorer_model: Option<Panel>,

    /// How many conversations are judged at once
    #[arg(short = 'j', long, env = "EVAL_JOB_MAX_CONCURRENCY", value_name = "N", default_value_t = 10,
          value_parser = whole_number::<u16>(1, u16::MAX.into()))]
    pub(in crate::cli) max_concurrency: u16,

    /// Stop before the judge costs more than so many US dollars
    #[arg(long, env = "EVAL_JOB_COST_LIMIT", value_name = "USD", value_parser = parse_dollars)]
    pub(in crate::cli) cost_limit: Option<Dollars>,

    /// Stop before the judge takes more than so many tokens
    #[arg(long, env = "EVAL_JOB_TOKEN_LIMIT", value_name = "N", value_parser = whole_number::<u64>(1, u64::MAX))]
    pub(in crate::cli) token_limit: Option<u64>,

    /// Decide as Red Hat's quickstart does: one bad conversation that fails is enough
    #[arg(long, env = "EVAL_JOB_DIALECT_STRICT", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) dialect_strict: bool,

    /// The metrics of the Red Hat quickstart's files: the fifteen of today, or the thirteen of 2025
    #[arg(long, env = "EVAL_JOB_METRIC_SET", value_name = "SET", value_enum, default_value_t)]
    pub(in crate::cli) metric_set: MetricSetArg,

    #[command(flatten)]
    pub(in crate::cli) cache: CacheArgs,

    #[command(flatten)]
    pub(in crate::cli) files: FileArgs,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Print the findings as JSON instead
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}
