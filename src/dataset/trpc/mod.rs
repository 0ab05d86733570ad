//! Files of trpc-agent-go, of both generations: eval sets whose turns are `google.genai` contents with `intermediateData`
//! (until December 2025), and those whose turns are messages with `tools`; and the metrics files beside them.

mod criteria;
mod eval_set;
mod invocation;
mod judge;
mod message;
mod metrics;
mod mock;
mod write;

pub(super) use eval_set::{check_rubrics, generation_of, read_eval_set};
pub(super) use invocation::{TrpcInvocation, read_invocation};
pub(super) use metrics::read_metrics;
pub(super) use write::write;

use super::cursor::{Spelling, UnknownKeys};

/// Go does not look at the case of keys, and ignores those that it does not know.
const KEYS: Spelling = Spelling::AnyCase;
const UNKNOWN: UnknownKeys = UnknownKeys::Kept;

/// The two generations of the files: their defaults differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    /// Ordered calls; results are called `response`; values are compared without a tolerance.
    Seed,
    /// Calls in any order; results are called `result`.
    Head,
}

impl Generation {
    /// As the options of a metric name it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Generation::Seed => "seed",
            Generation::Head => "head",
        }
    }
}
