//! The command lines of `eval-job label` and `eval-job calibrate`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::values::whole_number;
use super::{JudgingArgs, RunsArgs};
use crate::job::Panel;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct LabelArgs {
    /// The run's id, or the beginning of its folder's name [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(in crate::cli) run: Option<String>,

    #[command(flatten)]
    pub(in crate::cli) runs: RunsArgs,

    /// Who answers: agreement between people is measured by these names
    #[arg(long, env = "EVAL_JOB_BY", value_name = "NAME", default_value = "me")]
    pub(in crate::cli) by: String,

    /// Only what this metric judges: tasks, rubric, …
    #[arg(long, env = "EVAL_JOB_METRIC", value_name = "METRIC")]
    pub(in crate::cli) metric: Option<String>,

    /// Ask so many questions; whenever you stop, what you have answered is a random part of all
    #[arg(long, env = "EVAL_JOB_SAMPLE", value_name = "N", value_parser = whole_number::<u32>(1, 1_000_000))]
    pub(in crate::cli) sample: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CalibrateArgs {
    /// The runs' ids, or the beginnings of their folders' names: they are taken together [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(in crate::cli) runs: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) runs_dir: RunsArgs,

    /// Have each conversation judged so often again, which costs tokens, and show how often verdicts flip and how far scores lie
    /// apart
    #[arg(long, env = "EVAL_JOB_REJUDGE", value_name = "N", value_parser = whole_number::<u32>(2, 99))]
    pub(in crate::cli) repeat: Option<u32>,

    /// The judge that is asked again: openai/MODEL, anthropic/MODEL, gemini/MODEL or watsonx/MODEL [default: the run's]
    #[arg(long, env = "EVAL_JOB_GRADE_SCORER_MODEL", value_name = "MODEL", value_parser = Panel::parse)]
    pub(in crate::cli) scorer_model: Option<Panel>,

    #[command(flatten)]
    pub(in crate::cli) judging: JudgingArgs,

    /// A YAML file of prices that go before the embedded ones
    #[arg(long, env = "EVAL_JOB_PRICES", value_name = "FILE")]
    pub(in crate::cli) prices: Option<PathBuf>,

    /// A file of NAME=value lines: variables that the environment does not set [default: .env, if there is one]
    #[arg(long, env = "EVAL_JOB_ENV_FILE", value_name = "FILE")]
    pub(in crate::cli) env_file: Option<PathBuf>,

    /// Print it as JSON instead
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}
