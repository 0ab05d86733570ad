//! The gate's options on the command line.

use super::values::parse_score;
use crate::score::Score;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GateArgs {
    /// The run fails (status 100) if the score is below this, 0 to 1
    #[arg(long, env = "EVAL_JOB_MIN_SCORE", value_name = "SCORE", value_parser = parse_score)]
    pub(in crate::cli) min_score: Option<Score>,

    /// The run fails if the score has dropped from that of this baseline, instead of the job's `gate.baseline`
    #[arg(long, env = "EVAL_JOB_BASELINE", value_name = "NAME")]
    pub(in crate::cli) baseline: Option<String>,

    /// The drop from the baseline that is allowed, 0 to 1 [default: the job's `gate.maxDrop`, 0.03]
    #[arg(long, env = "EVAL_JOB_MAX_DROP", value_name = "SCORE", value_parser = parse_score)]
    pub(in crate::cli) max_drop: Option<Score>,
}
