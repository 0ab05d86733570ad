//! The checks before a run, in a sentence each: the judge's verdicts on known conversations, the steps of `geval`, and
//! what an agent gets that does nothing.

use super::numbers::{count, thousands, two_decimals};
use super::plain::plain;
use crate::evidence::Usage;
use crate::money::Dollars;
use crate::record::{CanaryCheck, StepsWritten};

/// `told 3 bad and 1 good known conversation apart (known) · 4 calls, 3,400 tokens, $0.01`.
pub(super) fn canary_text(check: &CanaryCheck) -> String {
    let conversations = if check.good == 0 {
        format!("found fault with {}", count(check.bad, "known bad conversation"))
    } else {
        format!("told {} bad and {} good known conversations apart", check.bad, check.good)
    };
    format!("{conversations} ({}) · {}", plain(&check.folder), took(&check.usage, check.cost))
}

/// `wrote those of politeness · 1 call, 340 tokens, $0.01`.
pub(super) fn steps_text(steps: &StepsWritten) -> String {
    format!("wrote those of {} · {}", plain(&steps.metrics.join(", ")), took(&steps.usage, steps.cost))
}

/// `an agent that does nothing gets 0.12`.
pub(super) fn trivial_text(score: f64) -> String {
    format!("an agent that does nothing gets {}", two_decimals(score))
}

fn took(usage: &Usage, cost: Option<Dollars>) -> String {
    let mut took = vec![count(usage.calls as usize, "call")];
    took.extend(usage.total_tokens().map(|tokens| format!("{} tokens", thousands(tokens))));
    match cost {
        Some(cost) if cost > Dollars::ZERO => took.push(cost.to_string()),
        None if usage.calls > 0 => took.push("cost unknown".to_owned()),
        _ => {}
    }
    took.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cost_is_reported() {
        let check = |cost| CanaryCheck {
            folder: "known".to_owned(),
            bad: 2,
            usage: Usage::from_counts(Some(900), Some(100)),
            cost,
            ..CanaryCheck::default()
        };
        let text = "found fault with 2 known bad conversations (known) · 1 call, 1,000 tokens";
        assert_eq!(canary_text(&check(None)), format!("{text}, cost unknown"));
        assert_eq!(canary_text(&check(Dollars::new(0.25))), format!("{text}, $0.25"));
        assert_eq!(canary_text(&check(Some(Dollars::ZERO))), text);
    }
}
