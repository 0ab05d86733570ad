//! The command line of `eval-job compare`.

use clap::builder::FalseyValueParser;

use super::RunsArgs;
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
    #[arg(long, env = "EVAL_JOB_MIN_EFFECT", value_name = "SCORE", default_value_t = MIN_EFFECT, value_parser = effect)]
    pub(in crate::cli) min_effect: f64,

    /// Also show each condition and metric of sides that are alike
    #[arg(short, long, env = "EVAL_JOB_VERBOSE", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) verbose: bool,

    /// Print it as JSON instead
    #[arg(long, env = "EVAL_JOB_JSON", value_parser = FalseyValueParser::new())]
    pub(in crate::cli) json: bool,
}

pub(super) fn effect(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|it| *it > 0.0 && *it <= 1.0)
        .ok_or_else(|| "a difference of scores is a number above 0, up to 1".to_owned())
}
