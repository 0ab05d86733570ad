//! What the run may spend: who may begin, who must stop.
//!
//! Invariants: a trial begins only while the costliest one so far could still be paid beside those that go on; once one
//! may not begin, none that stands later in the plan does, so that models and conditions stay in step.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::evidence::Usage;
use crate::money::{Amount, Cost, Price, PriceTable, SpendLimits, SpendTracker};

/// What the run may spend, with the trials that spend it.
pub(super) struct Budget {
    pub(super) spend_tracker: Arc<SpendTracker>,
    prices: PriceTable,
    trials: Mutex<Trials>,
    one_less: Notify,
}

#[derive(Default)]
struct Trials {
    running: BTreeMap<u32, Amount>,
    /// What the costliest trial cost that is over.
    costliest: Amount,
    /// Nobody begins any more.
    closed: bool,
}

impl Budget {
    /// A budget of which nothing is spent.
    pub(super) fn new(limits: SpendLimits, prices: PriceTable) -> Budget {
        Budget { spend_tracker: SpendTracker::new(limits), prices, trials: Mutex::default(), one_less: Notify::new() }
    }

    /// What a model costs, if anybody knows.
    pub(super) fn price(&self, model: &str) -> Option<Price> {
        self.prices.price(model).copied()
    }

    /// Waits until a trial may begin; `false` if it may not.
    pub(super) async fn admits(&self, trial: u32) -> bool {
        if !self.spend_tracker.is_limited() {
            return true;
        }
        loop {
            let one_less = self.one_less.notified();
            tokio::pin!(one_less);
            one_less.as_mut().enable();
            {
                let mut trials = self.trials();
                if self.spend_tracker.limit_exceeded().is_some() || self.spend_tracker.exhausted().is_some() {
                    trials.closed = true;
                }
                if trials.closed {
                    return false;
                }
                // Those that go on may each need as much again as the costliest did in all.
                let claims = trials.running.len() as u64 + 1;
                if self.spend_tracker.has_room_for(trials.costliest.times(claims)) {
                    trials.running.insert(trial, Amount::default());
                    return true;
                }
                if trials.running.is_empty() {
                    self.spend_tracker.fall_short(trials.costliest);
                    trials.closed = true;
                    return false;
                }
            }
            one_less.await;
        }
    }

    /// A trial is over, or was cut off.
    pub(super) fn is_over(&self, trial: u32) {
        {
            let mut trials = self.trials();
            if let Some(spent) = trials.running.remove(&trial) {
                trials.costliest = trials.costliest.max(spent);
            }
        }
        self.one_less.notify_waiters();
    }

    /// One of our own models was asked for a trial; what it cost is counted already.
    pub(super) fn asked(&self, trial: u32, model: &str, usage: &Usage) {
        let amount = self.amount(model, usage);
        if let Some(spent) = self.trials().running.get_mut(&trial) {
            *spent = spent.plus(amount);
        }
    }

    /// What the agent used of its own: paid now, whether it fits or not. What is unknown can't be counted.
    pub(super) fn agent_used(&self, trial: u32, model: &str, usage: Option<&Usage>) {
        let Some(usage) = usage else { return };
        self.spend_tracker.spend(self.amount(model, usage));
        self.asked(trial, model, usage);
    }

    fn amount(&self, model: &str, usage: &Usage) -> Amount {
        let dollars = self.price(model).map_or(Cost::Unknown, |price| price.of(usage)).known();
        // As much as is known, also where one of the two is not.
        let tokens = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
        Amount { dollars, tokens }
    }

    fn trials(&self) -> MutexGuard<'_, Trials> {
        self.trials.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(tokens: u64) -> Arc<Budget> {
        let limits = SpendLimits { cost: None, tokens: Some(tokens) };
        Arc::new(Budget::new(limits, PriceTable::embedded()))
    }

    fn use_up(budget: &Budget, trial: u32, tokens: u64) {
        budget.agent_used(trial, "own", Some(&Usage::of_call(Some(tokens), Some(0))));
    }

    #[tokio::test]
    async fn a_trial_begins_only_while_the_costliest_so_far_could_be_paid() {
        let budget = budget(100);
        for trial in 1..=2 {
            assert!(budget.admits(trial).await);
            use_up(&budget, trial, 35);
            budget.is_over(trial);
        }
        assert!(!budget.admits(3).await, "30 are left, and 35 may be needed");
        let words = budget.spend_tracker.limit_exceeded().unwrap().to_string();
        assert_eq!(words, "limits.tokens (100) is used up: 70 are spent, and the next request can take 35");
        assert!(!budget.admits(4).await);
    }

    #[tokio::test]
    async fn a_trial_waits_for_those_that_go_on_rather_than_take_what_they_need() {
        let budget = budget(100);
        assert!(budget.admits(1).await);
        use_up(&budget, 1, 40);
        budget.is_over(1);
        assert!(budget.admits(2).await);
        let third = tokio::spawn({
            let budget = budget.clone();
            async move { budget.admits(3).await }
        });
        tokio::task::yield_now().await;
        assert!(!third.is_finished());
        use_up(&budget, 2, 10);
        budget.is_over(2);
        assert!(third.await.unwrap());
    }

    #[tokio::test]
    async fn tokens_of_which_one_side_alone_is_told_count() {
        let budget = budget(100);
        budget.agent_used(1, "own", Some(&Usage::of_call(Some(100), None)));
        assert!(!budget.admits(2).await);
    }

    #[tokio::test]
    async fn without_a_limit_everyone_begins() {
        let budget = Budget::new(SpendLimits::default(), PriceTable::embedded());
        use_up(&budget, 1, u64::MAX);
        assert!(budget.admits(2).await);
    }
}
