//! The command line of `eval-job check`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::{FileArgs, JudgingArgs, MetricSetArg, RunsArgs};
use crate::job::Panel;

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

    #[command(flatten)]
    pub(in crate::cli) judging: JudgingArgs,

    /// Decide as Red Hat's quickstart does: one bad conversation that fails is enough
    #[arg(long, env = "EVAL_JOB_DIALECT_STRICT", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) dialect_strict: bool,

    /// The metrics of the Red Hat quickstart's files: the fifteen of today, or the thirteen of 2025
    #[arg(long, env = "EVAL_JOB_METRIC_SET", value_name = "SET", value_enum, default_value_t)]
    pub(in crate::cli) metric_set: MetricSetArg,

    #[command(flatten)]
    pub(in crate::cli) files: FileArgs,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Print the findings as JSON instead
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}
