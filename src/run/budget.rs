//! The budget of a run: money, tokens and rate. It decides which trial may begin and which must stop.
//!
//! Invariants: a trial begins only while the costliest one so far could still be paid beside the running ones, with what is set
//! aside for a request beyond what it costs; once one may not begin, no later trial of the plan does, so that models and
//! conditions stay comparable.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::clock::Clock;
use crate::evidence::Usage;
use crate::job::Isolation;
use crate::limiter::{ConversationLimiter, Limiters, OnWait, TargetLimiter};
use crate::money::{Amount, Cost, Price, PriceTable, SpendLimits, SpendTracker};
use crate::plan::Plan;

/// The budget of one run; none of it is global.
pub(super) struct Budget {
    /// Money and tokens.
    pub(super) spend_tracker: Arc<SpendTracker>,
    /// The rate limits of our own models.
    pub(super) model_limiters: Limiters,
    /// The rate limit of the agent under test.
    target_limiter: TargetLimiter,
    /// The rate limit of the reference agent.
    pub(super) reference_limiter: TargetLimiter,
    prices: PriceTable,
    trials: Mutex<AdmittedTrials>,
    trial_ended: Notify,
    pub(super) clock: Clock,
    pub(super) rng_seed: u64,
    /// Called when a request waits.
    pub(super) on_wait: Option<Arc<OnWait>>,
}

#[derive(Default)]
struct AdmittedTrials {
    running: BTreeMap<u32, Amount>,
    /// The cost of the most expensive finished trial.
    costliest: Amount,
    /// Whether any trial has ended. Nothing is known of what one costs before.
    has_ended: bool,
    /// How many of the trials that are compared with the first one may still begin before any has ended.
    first_left: u32,
    /// No further trial begins.
    closed: bool,
}

/// What has to be paid for a trial to begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrialNeeds {
    /// How many have to be run together, this one included.
    pub(super) together: u32,
    /// The rest of one that goes on where it was: only that is needed.
    pub(super) rest: Option<RestOfTrial>,
}

/// A trial that goes on where it was, by what it has cost until then.
#[derive(Debug, Clone, Copy)]
pub(super) struct RestOfTrial {
    /// What it has cost.
    pub(super) spent: Amount,
    /// How many turns it has come to; 0 where only verdicts are left to be asked for.
    pub(super) turns: u32,
}

impl RestOfTrial {
    /// What it can still cost, beside the costliest trial so far: what that one cost beyond what is paid of it, or another turn like those
    /// that it has, whichever is more.
    fn still(self, costliest: Amount) -> Amount {
        let RestOfTrial { spent, turns } = self;
        let next_turn = if turns == 0 { Amount::default() } else { spent.part_of(turns.into()) };
        costliest.minus(spent).max(next_turn)
    }
}

impl Budget {
    /// A budget of which nothing is spent.
    pub(super) fn new(
        plan: &Plan,
        spend: SpendLimits,
        clock: Clock,
        rng_seed: u64,
        on_wait: Option<Arc<OnWait>>,
    ) -> Budget {
        Budget {
            spend_tracker: SpendTracker::new(spend),
            model_limiters: Limiters::new(clock, rng_seed, on_wait.clone()),
            target_limiter: TargetLimiter::new(clock, rng_seed, on_wait.clone()),
            reference_limiter: TargetLimiter::new(clock, rng_seed, on_wait.clone()),
            prices: plan.prices.clone(),
            trials: Mutex::default(),
            trial_ended: Notify::new(),
            clock,
            rng_seed,
            on_wait,
        }
    }

    /// The limiter of a conversation: shared with all conversations with the same agent, or its own where it has an agent of its
    /// own.
    pub(super) fn conversation_limiter(&self, plan: &Plan) -> ConversationLimiter {
        let target = &plan.job.target;
        let is_started = target.start.is_some() || target.transport.hosting().is_in_process();
        match plan.isolation {
            Isolation::Database | Isolation::Process if is_started => self.target_limiter.open_separate_conversation(),
            _ => self.target_limiter.open_conversation(),
        }
    }

    /// The price of a model, if it is known.
    pub(super) fn price(&self, model: &str) -> Option<Price> {
        self.prices.price(model).copied()
    }

    /// Waits until a trial may begin, and as many with it as have to be run `together`; `false` if it may not.
    pub(super) async fn admits(&self, trial: u32, together: u32) -> bool {
        self.admits_with(trial, TrialNeeds { together, rest: None }).await
    }

    /// Waits until a trial may begin that can still cost so much; `false` if it may not.
    pub(super) async fn admits_with(&self, trial: u32, needs: TrialNeeds) -> bool {
        let TrialNeeds { together, rest } = needs;
        if !self.spend_tracker.is_limited() {
            return true;
        }
        loop {
            let trial_ended = self.trial_ended.notified();
            tokio::pin!(trial_ended);
            trial_ended.as_mut().enable();
            {
                let mut trials = self.trials();
                if self.spend_tracker.limit_exceeded().is_some() || self.spend_tracker.exhausted().is_some() {
                    trials.closed = true;
                }
                if trials.closed {
                    return false;
                }
                let waits_for_first = !trials.has_ended && !trials.running.is_empty() && trials.first_left == 0;
                // Each running trial may still cost as much as the most expensive one in total.
                let own = rest.map_or_else(|| trials.costliest.times(together.into()), |it| it.still(trials.costliest));
                let own = own.plus(self.spend_tracker.largest_excess());
                let needed = trials.costliest.times(trials.running.len() as u64).plus(own);
                if !waits_for_first && self.spend_tracker.has_room_for(needed) {
                    let left = if trials.running.is_empty() { together } else { trials.first_left };
                    trials.first_left = left.saturating_sub(1);
                    trials.running.insert(trial, rest.map(|it| it.spent).unwrap_or_default());
                    return true;
                }
                if trials.running.is_empty() {
                    self.spend_tracker.fall_short(own);
                    trials.closed = true;
                    return false;
                }
            }
            trial_ended.await;
        }
    }

    /// The run goes on: so much was the most that a trial has cost before, and whether one has come to its end. A trial of it needs
    /// that also at first.
    pub(super) fn costliest_before(&self, costliest: Amount, has_ended: bool) {
        let mut trials = self.trials();
        trials.costliest = trials.costliest.max(costliest);
        trials.has_ended |= has_ended;
    }

    /// A trial has ended, or was cut off.
    pub(super) fn trial_ended(&self, trial: u32) {
        {
            let mut trials = self.trials();
            if let Some(spent) = trials.running.remove(&trial) {
                trials.costliest = trials.costliest.max(spent);
                trials.has_ended = true;
            }
        }
        self.trial_ended.notify_waiters();
    }

    /// Assigns a call of one of our own models to its trial; its cost is counted already.
    pub(super) fn model_called(&self, trial: u32, model: &str, usage: &Usage) {
        let amount = self.amount(model, usage);
        if let Some(spent) = self.trials().running.get_mut(&trial) {
            *spent = spent.plus(amount);
        }
    }

    /// Counts the own usage of an agent, under test or for reference, whether it fits the budget or not. Unknown usage can't be counted.
    pub(super) fn agent_used(&self, trial: u32, model: &str, usage: Option<&Usage>) {
        let Some(usage) = usage else { return };
        self.spend_tracker.spend(self.amount(model, usage));
        self.model_called(trial, model, usage);
    }

    fn amount(&self, model: &str, usage: &Usage) -> Amount {
        let dollars = self.price(model).map_or(Cost::Unknown, |price| price.cost(usage)).known();
        // The known part, also where one of the two is unknown.
        let tokens = usage.input_tokens.unwrap_or(0).saturating_add(usage.output_tokens.unwrap_or(0));
        Amount { dollars, tokens }
    }

    fn trials(&self) -> MutexGuard<'_, AdmittedTrials> {
        self.trials.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::job;
    use crate::plan::{Environment, Overrides};

    struct NoTemplates;

    impl job::TemplateCheck for NoTemplates {
        fn problem(&self, _: &str, _: job::PromptRole) -> Option<job::TemplateProblem> {
            None
        }
    }

    pub(in crate::run) fn budget(limits: &str) -> Arc<Budget> {
        let target = "target: {user: u, chatbot: c, demo: {}}\nevaluator: {script: [x]}\nscorer: {model: scripted}\n";
        let text = format!("{target}facts: []\ntasks: [{{task: t, acceptanceCriteria: a}}]\n{limits}");
        let job = job::load("job.yml", &text, &NoTemplates).unwrap();
        let plan = Plan::new(job, Overrides::default(), Environment::default()).unwrap();
        let spend = plan.job.limits.spend();
        Arc::new(Budget::new(&plan, spend, Clock::system(), 1, None))
    }

    fn use_up(budget: &Budget, trial: u32, tokens: u64) {
        budget.agent_used(trial, "own", Some(&Usage::from_counts(Some(tokens), Some(0))));
    }

    #[tokio::test]
    async fn a_trial_begins_only_while_the_costliest_so_far_could_be_paid() {
        let budget = budget("limits: {tokens: 100}");
        for trial in 1..=2 {
            assert!(budget.admits(trial, 1).await);
            use_up(&budget, trial, 35);
            budget.trial_ended(trial);
        }
        assert!(!budget.admits(3, 1).await, "30 are left, and 35 may be needed");
        let exceeded = budget.spend_tracker.limit_exceeded().unwrap().to_string();
        assert_eq!(exceeded, "limits.tokens (100) is not enough for the next step: 70 are spent, and it can take 35");
        assert!(!budget.admits(4, 1).await);
    }

    #[tokio::test]
    async fn what_a_trial_has_cost_before_the_run_went_on_is_needed_for_the_first_one() {
        let budget = budget("limits: {tokens: 100}");
        budget.spend_tracker.spend(Amount { tokens: 70, ..Amount::default() });
        budget.costliest_before(Amount { tokens: 35, ..Amount::default() }, true);
        assert!(budget.admits_with(1, left(10, 1)).await, "one that goes on where it was needs 25 more");
        budget.trial_ended(1);
        assert!(!budget.admits(2, 1).await, "30 are left, and 35 may be needed");
    }

    /// A trial that goes on after so many tokens and turns.
    fn left(tokens: u64, turns: u32) -> TrialNeeds {
        TrialNeeds { together: 1, rest: Some(RestOfTrial { spent: Amount { tokens, ..Amount::default() }, turns }) }
    }

    #[tokio::test]
    async fn a_trial_that_goes_on_needs_what_is_left_of_it_and_another_turn() {
        // 30 are left, and the costliest trial took 80.
        for (spent, turns, may_begin, why) in [
            (5, 1, false, "it was cut off in its first turn: 75 may be needed"),
            (49, 5, false, "31 may be needed"),
            (50, 5, true, "30 may be needed"),
            (80, 4, true, "a turn takes 20"),
            (80, 2, false, "a turn takes 40"),
            (80, 0, true, "only its judge is left to be asked, again"),
        ] {
            let budget = budget("limits: {tokens: 100}");
            budget.spend_tracker.spend(Amount { tokens: 70, ..Amount::default() });
            budget.costliest_before(Amount { tokens: 80, ..Amount::default() }, true);
            assert_eq!(budget.admits_with(1, left(spent, turns)).await, may_begin, "{why}");
        }
    }

    #[tokio::test]
    async fn what_a_trial_costs_is_known_once_one_has_ended_and_is_all_that_it_cost() {
        let budget = budget("limits: {tokens: 100}");
        budget.spend_tracker.spend(Amount { tokens: 20, ..Amount::default() });
        budget.costliest_before(Amount { tokens: 20, ..Amount::default() }, false);
        assert!(budget.admits_with(1, left(20, 2)).await);
        let second = tokio::spawn({
            let budget = budget.clone();
            async move { budget.admits(2, 1).await }
        });
        tokio::task::yield_now().await;
        assert!(!second.is_finished(), "what one costs is not known yet");
        use_up(&budget, 1, 25);
        budget.trial_ended(1);
        assert!(second.await.unwrap(), "55 are left, and 45 may be needed");
        use_up(&budget, 2, 11);
        budget.trial_ended(2);
        assert!(!budget.admits(3, 1).await, "44 are left, and 45 may be needed");
    }

    #[tokio::test]
    async fn a_trial_begins_only_where_its_last_request_could_be_set_aside_for() {
        let budget = budget("limits: {tokens: 100}");
        assert!(budget.admits(1, 1).await);
        // The judge's request sets aside 50, and costs 10.
        let request = budget.spend_tracker.set_aside(Amount { tokens: 50, ..Amount::default() }).await.unwrap();
        request.settle(Amount { tokens: 10, ..Amount::default() });
        budget.model_called(1, "judge", &Usage::from_counts(Some(10), Some(0)));
        use_up(&budget, 1, 25);
        budget.trial_ended(1);
        assert!(!budget.admits(2, 1).await, "65 are left: enough for 35, and not for 40 more that are set aside");
        let exceeded = budget.spend_tracker.limit_exceeded().unwrap().to_string();
        assert_eq!(exceeded, "limits.tokens (100) is not enough for the next step: 35 are spent, and it can take 75");
    }

    #[tokio::test]
    async fn conversations_that_are_compared_begin_only_where_all_of_them_could_be_paid() {
        let budget = budget("limits: {tokens: 100}");
        for (trial, together) in [(1, 2), (2, 1)] {
            assert!(budget.admits(trial, together).await);
            use_up(&budget, trial, 30);
            budget.trial_ended(trial);
        }
        assert!(!budget.admits(3, 2).await, "40 are left, enough for one of the two");
        let exceeded = budget.spend_tracker.limit_exceeded().unwrap().to_string();
        assert_eq!(exceeded, "limits.tokens (100) is not enough for the next step: 60 are spent, and it can take 60");
    }

    #[tokio::test]
    async fn a_trial_waits_for_those_that_go_on_rather_than_take_what_they_need() {
        let budget = budget("limits: {tokens: 100}");
        assert!(budget.admits(1, 1).await);
        use_up(&budget, 1, 40);
        budget.trial_ended(1);
        assert!(budget.admits(2, 1).await);
        let third = tokio::spawn({
            let budget = budget.clone();
            async move { budget.admits(3, 1).await }
        });
        tokio::task::yield_now().await;
        assert!(!third.is_finished());
        use_up(&budget, 2, 10);
        budget.trial_ended(2);
        assert!(third.await.unwrap());
    }

    #[tokio::test]
    async fn before_any_cost_is_known_only_the_first_case_begins() {
        let budget = budget("limits: {tokens: 100}");
        assert!(budget.admits(1, 2).await && budget.admits(2, 1).await, "both are of the first case");
        let third = tokio::spawn({
            let budget = budget.clone();
            async move { budget.admits(3, 2).await }
        });
        tokio::task::yield_now().await;
        assert!(!third.is_finished(), "what one costs is not known yet");
        use_up(&budget, 1, 30);
        budget.trial_ended(1);
        tokio::task::yield_now().await;
        assert!(!third.is_finished(), "30 may be needed for each of three, and 70 are left");
        use_up(&budget, 2, 30);
        budget.trial_ended(2);
        assert!(!third.await.unwrap(), "40 are left for two of them");
    }

    #[tokio::test]
    async fn tokens_of_which_one_side_alone_is_told_count() {
        let budget = budget("limits: {tokens: 100}");
        budget.agent_used(1, "own", Some(&Usage::from_counts(Some(100), None)));
        assert!(!budget.admits(2, 1).await);
    }

    #[tokio::test]
    async fn without_a_limit_everyone_begins() {
        let budget = budget("");
        use_up(&budget, 1, u64::MAX);
        assert!(budget.admits(2, 1).await);
    }
}
