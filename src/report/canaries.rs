//! What a run's judge was asked before it, in a sentence each: about known conversations, and for the steps of `geval`.

use super::numbers::{count, thousands};
use super::plain::plain;
use crate::evidence::Usage;
use crate::money::Dollars;
use crate::record::{CanaryCheck, StepsWritten};

/// `told 3 bad and 1 good known conversation apart (known) · 4 calls, 3,400 tokens, $0.01`.
pub(super) fn canary_words(check: &CanaryCheck) -> String {
    let conversations = if check.good == 0 {
        format!("found fault with {}", count(check.bad, "known bad conversation"))
    } else {
        format!("told {} bad and {} good known conversations apart", check.bad, check.good)
    };
    let cost = (check.cost > Dollars::ZERO).then_some(check.cost);
    format!("{conversations} ({}) · {}", plain(&check.folder), took(&check.usage, cost))
}

/// `wrote those of politeness · 1 call, 340 tokens, $0.01`.
pub(super) fn steps_words(steps: &StepsWritten) -> String {
    format!("wrote those of {} · {}", plain(&steps.metrics.join(", ")), took(&steps.usage, steps.cost))
}

fn took(usage: &Usage, cost: Option<Dollars>) -> String {
    let mut took = vec![count(usage.calls as usize, "call")];
    took.extend(usage.total_tokens().map(|tokens| format!("{} tokens", thousands(tokens))));
    took.extend(cost.map(|cost| cost.to_string()));
    took.join(", ")
}
