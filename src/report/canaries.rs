//! The known conversations that a run's judge was tried on, in a sentence.

use super::numbers::{count, thousands};
use super::plain::plain;
use crate::money::Dollars;
use crate::record::CanaryCheck;

/// `told 3 bad and 1 good known conversation apart (known) · 4 calls, 3,400 tokens, $0.01`.
pub(super) fn canary_words(check: &CanaryCheck) -> String {
    let conversations = if check.good == 0 {
        format!("found fault with {}", count(check.bad, "known bad conversation"))
    } else {
        format!("told {} bad and {} good known conversations apart", check.bad, check.good)
    };
    let mut took = vec![count(check.usage.calls as usize, "call")];
    took.extend(check.usage.total_tokens().map(|tokens| format!("{} tokens", thousands(tokens))));
    took.extend((check.cost > Dollars::ZERO).then(|| check.cost.to_string()));
    format!("{conversations} ({}) · {}", plain(&check.folder), took.join(", "))
}
