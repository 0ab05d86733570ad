//! The command line of runs that add repetitions until their models are told apart.

use clap::ValueEnum;

use super::compare::parse_effect;
use super::values::whole_number;
use crate::compare::MIN_EFFECT;
use crate::plan::Until;

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum UntilArg {
    /// Until each model is told apart from the first one.
    Decided,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct UntilArgs {
    /// Add repetitions until each of several models is told apart from the first one, or shown to be the same
    #[arg(long, env = "EVAL_JOB_UNTIL", value_name = "WHAT", conflicts_with_all = ["repeat", "partition"])]
    pub(in crate::cli) until: Option<UntilArg>,

    /// The most repetitions of --until
    #[arg(long, env = "EVAL_JOB_MAX_REPEATS", value_name = "N", default_value_t = 20, requires = "until",
          value_parser = whole_number::<u32>(1, 10_000))]
    pub(in crate::cli) max_repeats: u32,

    /// The least difference of scores that matters to --until
    #[arg(long, env = "EVAL_JOB_MIN_EFFECT", value_name = "SCORE", default_value_t = MIN_EFFECT, value_parser = parse_effect)]
    pub(in crate::cli) min_effect: f64,
}

impl UntilArgs {
    /// The rule that is asked for; none where repetitions are as many as the job says.
    pub(in crate::cli) fn asked(&self) -> Option<Until> {
        self.until.map(|UntilArg::Decided| Until { most: self.max_repeats, min_effect: self.min_effect })
    }
}
