//! Arguments of all subcommands that ask a judge about conversations that are kept.

use super::values::{parse_dollars, whole_number};
use crate::money::{Dollars, SpendLimits};

/// How a judge is asked, and what that may cost.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(in crate::cli) struct JudgingArgs {
    /// How many conversations the judge is asked about at once
    #[arg(short = 'j', long, env = "EVAL_JOB_MAX_CONCURRENCY", value_name = "N", default_value_t = 10,
          value_parser = whole_number::<u16>(1, u16::MAX.into()))]
    pub(in crate::cli) max_concurrency: u16,

    /// Stop before the judge costs more than so many US dollars
    #[arg(long, env = "EVAL_JOB_COST_LIMIT", value_name = "USD", value_parser = parse_dollars)]
    pub(in crate::cli) cost_limit: Option<Dollars>,

    /// Stop before the judge takes more than so many tokens
    #[arg(long, env = "EVAL_JOB_TOKEN_LIMIT", value_name = "N", value_parser = whole_number::<u64>(1, u64::MAX))]
    pub(in crate::cli) token_limit: Option<u64>,
}

impl JudgingArgs {
    /// The limits of what the judge may cost.
    pub(in crate::cli) fn spend(self) -> SpendLimits {
        SpendLimits { cost: self.cost_limit, tokens: self.token_limit }
    }
}
