//! The command line of `eval-job compare`.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;

use super::{CacheArgs, JudgingArgs, RunsArgs};
use crate::compare::MIN_EFFECT;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct CompareArgs {
    /// The runs' ids, the beginnings of their folders' names, or baselines: the others are compared with the first. Of a single
    /// one its models are compared [default: the newest run]
    #[arg(value_name = "RUN")]
    pub(in crate::cli) runs: Vec<String>,

    #[command(flatten)]
    pub(in crate::cli) runs_dir: RunsArgs,

    /// The least difference that matters: sides that are shown to differ by less are the same
    #[arg(long, env = "EVAL_JOB_MIN_EFFECT", value_name = "SCORE", default_value_t = MIN_EFFECT, value_parser = parse_effect)]
    pub(in crate::cli) min_effect: f64,

    /// Draws the flips of signs, of more than 13 cases, and bootstraps: the same number, the same figures
    #[arg(long, env = "EVAL_JOB_RNG_SEED", value_name = "N", default_value_t = 0)]
    pub(in crate::cli) rng_seed: u64,

    /// Also show each condition and metric of sides that are alike
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) verbose: bool,

    /// Where the two runs differ only in how they were judged (judge, metrics, weights, criteria, assertions), judge the older one
    /// again by the job of the newer, from what is kept of it. That can cost tokens; -j, --cost-limit, --token-limit and
    /// --no-cache are about it
    #[arg(long, env = "EVAL_JOB_BRIDGE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) bridge: bool,

    #[command(flatten)]
    pub(in crate::cli) judging: JudgingArgs,

    #[command(flatten)]
    pub(in crate::cli) cache: CacheArgs,

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

pub(super) fn parse_effect(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|it| *it > 0.0 && *it <= 1.0)
        .ok_or_else(|| "a difference of scores is a number above 0, up to 1".to_owned())
}
