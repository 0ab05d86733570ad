//! The spending limits of a run, and what has been spent and reserved so far.

use std::fmt::{self, Display, Formatter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::{Amount, Dollars};

/// The spending limits of a run; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpendLimits {
    /// `limits.cost`.
    pub cost: Option<Dollars>,
    /// `limits.tokens`: of requests and replies together.
    pub tokens: Option<u64>,
}

impl SpendLimits {
    /// Whether anything is limited.
    pub fn is_any(&self) -> bool {
        self.cost.is_some() || self.tokens.is_some()
    }

    /// The limit that so much would exceed, if one.
    fn exceeded_by(&self, amount: Amount) -> Option<Limit> {
        let cost = self.cost.filter(|most| amount.dollars > *most).map(Limit::Cost);
        cost.or(self.tokens.filter(|most| amount.tokens > *most).map(Limit::Tokens))
    }

    /// The limit that so much reaches, if one.
    fn reached_by(&self, amount: Amount) -> Option<Limit> {
        let cost = self.cost.filter(|most| amount.dollars >= *most).map(Limit::Cost);
        cost.or(self.tokens.filter(|most| amount.tokens >= *most).map(Limit::Tokens))
    }
}

/// One of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Cost(Dollars),
    Tokens(u64),
}

/// A run's money and tokens.
///
/// A request of ours is made only when the most that it can cost has been set aside. One that does not fit beside what
/// others have set aside waits until they are settled; one that would not fit even then is refused. So what our own models
/// cost never exceeds a limit, as long as their endpoints keep to the longest reply that is asked for. The agent's cost is
/// known only afterwards, and can exceed it.
#[derive(Debug, Default)]
pub struct SpendTracker {
    limits: SpendLimits,
    state: Mutex<TrackerState>,
    settled: Notify,
}

#[derive(Debug, Default)]
struct TrackerState {
    spent: Amount,
    set_aside: Amount,
    /// The most by which what was set aside for a request was more than it cost.
    largest_excess: Amount,
    limit_exceeded: Option<LimitExceeded>,
    /// The most that the costliest request could cost that did not fit.
    largest_refused: Option<Amount>,
}

/// A request that did not fit any more, or would not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitExceeded {
    limit: Limit,
    spent: Amount,
    wanted: Option<Amount>,
}

/// The limits by which a sentence about one begins.
const LIMIT_NAMES: [&str; 2] = ["limits.cost (", "limits.tokens ("];

impl LimitExceeded {
    /// Whether a sentence about something that went wrong says that it was for a limit of money or tokens.
    pub fn is_limit_message(sentence: &str) -> bool {
        LIMIT_NAMES.iter().any(|limit| sentence.contains(limit))
    }
}

impl TrackerState {
    fn refuse(&mut self, most: Amount) {
        self.largest_refused = Some(self.largest_refused.unwrap_or_default().max(most));
    }
}

impl Display for LimitExceeded {
    /// `limits.cost ($0.50) is not enough for the next step: $0.49 is spent, and it can cost $0.02`.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match (self.limit, self.wanted) {
            (Limit::Cost(most), Some(wanted)) if self.spent.dollars == Dollars::ZERO => {
                return write!(f, "limits.cost ({most}) is less than one request can cost ({})", wanted.dollars);
            }
            (Limit::Tokens(most), Some(wanted)) if self.spent.tokens == 0 => {
                return write!(f, "limits.tokens ({most}) is less than one request can take ({})", wanted.tokens);
            }
            _ => {}
        }
        let what = if self.wanted.is_some() { "is not enough for the next step" } else { "is used up" };
        match self.limit {
            Limit::Cost(most) => write!(f, "limits.cost ({most}) {what}: {} is spent", self.spent.dollars)?,
            Limit::Tokens(most) => write!(f, "limits.tokens ({most}) {what}: {} are spent", self.spent.tokens)?,
        }
        match (self.limit, self.wanted) {
            (_, None) => Ok(()),
            (Limit::Cost(_), Some(wanted)) => write!(f, ", and it can cost {}", wanted.dollars),
            (Limit::Tokens(_), Some(wanted)) => write!(f, ", and it can take {}", wanted.tokens),
        }
    }
}

impl SpendTracker {
    /// One of which nothing is spent.
    pub fn new(limits: SpendLimits) -> Arc<SpendTracker> {
        Arc::new(SpendTracker { limits, ..SpendTracker::default() })
    }

    /// Whether anything is limited.
    pub fn is_limited(&self) -> bool {
        self.limits.is_any()
    }

    /// Sets aside the most that a request can cost, as soon as it fits.
    ///
    /// # Errors
    /// It does not fit, whatever else comes back.
    pub async fn set_aside(self: &Arc<SpendTracker>, most: Amount) -> Result<Reservation, LimitExceeded> {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            // From here on nothing that is settled is missed.
            settled.as_mut().enable();
            {
                let mut state = self.state();
                if let Some(limit) = self.limits.exceeded_by(state.spent.plus(most)) {
                    state.refuse(most);
                    let limit_exceeded = LimitExceeded { limit, spent: state.spent, wanted: Some(most) };
                    state.limit_exceeded.get_or_insert_with(|| limit_exceeded.clone());
                    return Err(limit_exceeded);
                }
                if self.limits.exceeded_by(state.spent.plus(state.set_aside).plus(most)).is_none() {
                    state.set_aside = state.set_aside.plus(most);
                    return Ok(Reservation { spend_tracker: self.clone(), most, actual: most });
                }
            }
            settled.await;
        }
    }

    /// Records spending that was not reserved: the agent's own tokens.
    pub fn spend(&self, amount: Amount) {
        let mut state = self.state();
        state.spent = state.spent.plus(amount);
    }

    /// The limit that has been reached, if one has.
    pub fn exhausted(&self) -> Option<LimitExceeded> {
        let mut state = self.state();
        let spent = state.spent;
        let limit = self.limits.reached_by(spent)?;
        Some(state.limit_exceeded.get_or_insert(LimitExceeded { limit, spent, wanted: None }).clone())
    }

    /// The first request that did not fit, if there was one.
    pub fn limit_exceeded(&self) -> Option<LimitExceeded> {
        self.state().limit_exceeded.clone()
    }

    /// The most that the costliest request could cost that did not fit, if there was one.
    pub fn largest_refused(&self) -> Option<Amount> {
        self.state().largest_refused
    }

    /// So much could a request cost that was refused before, by a process that had other limits: it is refused again if it still
    /// does not fit.
    pub fn refused_before(&self, most: Amount) {
        {
            let mut state = self.state();
            if self.limits.exceeded_by(state.spent.plus(most)).is_none() {
                return;
            }
            state.refuse(most);
        }
        self.fall_short(most);
    }

    /// Notes that an amount would not have fitted, without a request. Where a limit is used up, that is what is to be told.
    pub fn fall_short(&self, wanted: Amount) {
        let mut state = self.state();
        let spent = state.spent;
        if self.limits.reached_by(spent).is_some() {
            return;
        }
        if let Some(limit) = self.limits.exceeded_by(spent.plus(state.set_aside).plus(wanted)) {
            state.limit_exceeded.get_or_insert(LimitExceeded { limit, spent, wanted: Some(wanted) });
        }
    }

    /// The most by which what was set aside for a request was more than it cost, so far: what a conversation may need, for a
    /// moment, beyond what it comes to.
    pub fn largest_excess(&self) -> Amount {
        self.state().largest_excess
    }

    /// So much was that before, in another process.
    pub fn margin_before(&self, margin: Amount) {
        let mut state = self.state();
        state.largest_excess = state.largest_excess.max(margin);
    }

    /// Whether so much more would fit beside what is set aside.
    pub fn has_room_for(&self, amount: Amount) -> bool {
        let state = self.state();
        self.limits.exceeded_by(state.spent.plus(state.set_aside).plus(amount)).is_none()
    }

    fn state(&self) -> MutexGuard<'_, TrackerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The amount that is set aside for a request. Dropped without settling, it counts as spent: a caller that gave a request up,
/// or was given no numbers, does not know what it cost.
#[derive(Debug)]
pub struct Reservation {
    spend_tracker: Arc<SpendTracker>,
    most: Amount,
    actual: Amount,
}

impl Reservation {
    /// The request cost so much.
    pub fn settle(mut self, actual: Amount) {
        self.actual = actual;
    }

    /// The request cost nothing.
    pub fn release(self) {
        self.settle(Amount::default());
    }

    /// The most that it can cost.
    pub fn most(&self) -> Amount {
        self.most
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        {
            let mut state = self.spend_tracker.state();
            state.set_aside = state.set_aside.minus(self.most);
            state.spent = state.spent.plus(self.actual);
            state.largest_excess = state.largest_excess.max(self.most.minus(self.actual));
        }
        self.spend_tracker.settled.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(tokens: u64) -> Amount {
        Amount { dollars: Dollars::new(tokens as f64 / 1e6).unwrap(), tokens }
    }

    fn spend_tracker(tokens: u64) -> Arc<SpendTracker> {
        SpendTracker::new(SpendLimits { cost: None, tokens: Some(tokens) })
    }

    #[tokio::test]
    async fn what_can_never_fit_is_refused_and_says_so() {
        let spend_tracker = SpendTracker::new(SpendLimits { cost: Dollars::new(0.5), tokens: None });
        spend_tracker.set_aside(tokens(400_000)).await.unwrap().settle(tokens(380_000));
        let short = spend_tracker.set_aside(tokens(130_000)).await.unwrap_err();
        assert_eq!(
            short.to_string(),
            "limits.cost ($0.50) is not enough for the next step: $0.38 is spent, and it can cost $0.13"
        );
        // A smaller one still fits, and the first refusal is the one that is reported.
        spend_tracker.set_aside(tokens(120_000)).await.unwrap().release();
        assert_eq!(spend_tracker.limit_exceeded(), Some(short));
    }

    #[tokio::test]
    async fn a_limit_too_low_for_a_single_request_says_so() {
        let short = spend_tracker(300).set_aside(tokens(11_429)).await.unwrap_err();
        assert_eq!(short.to_string(), "limits.tokens (300) is less than one request can take (11429)");
        assert!(LimitExceeded::is_limit_message(&format!("the judge's model: {short}")));
        let cost = SpendTracker::new(SpendLimits { cost: Dollars::new(0.5), tokens: None });
        let short = cost.set_aside(tokens(800_000)).await.unwrap_err();
        assert_eq!(short.to_string(), "limits.cost ($0.50) is less than one request can cost ($0.80)");
        assert!(LimitExceeded::is_limit_message(&short.to_string()) && !LimitExceeded::is_limit_message("limits.cost"));
    }

    #[tokio::test]
    async fn what_was_refused_is_kept_in_both_units_and_refused_again_only_where_it_still_does_not_fit() {
        let before = spend_tracker(300);
        before.spend(tokens(250));
        assert_eq!(before.largest_refused(), None);
        for most in [51, 70, 60] {
            before.set_aside(tokens(most)).await.unwrap_err();
        }
        assert_eq!(before.largest_refused(), Some(tokens(70)));
        for (limit, told) in [
            (319, Some("limits.tokens (319) is not enough for the next step: 250 are spent, and it can take 70")),
            (320, None),
            (250, None),
        ] {
            let now = spend_tracker(limit);
            now.spend(tokens(250));
            now.refused_before(tokens(70));
            assert_eq!(now.limit_exceeded().map(|it| it.to_string()).as_deref(), told, "{limit}");
            assert_eq!(now.largest_refused(), (limit != 320).then_some(tokens(70)), "{limit}");
        }
        // A conversation that may not begin is no request.
        let short = spend_tracker(100);
        short.fall_short(tokens(101));
        assert_eq!((short.limit_exceeded().is_some(), short.largest_refused()), (true, None));
    }

    #[tokio::test]
    async fn the_agent_can_go_beyond_and_then_nothing_is_left() {
        let spend_tracker = spend_tracker(100);
        assert_eq!(spend_tracker.exhausted(), None);
        spend_tracker.spend(tokens(130));
        assert_eq!(spend_tracker.exhausted().unwrap().to_string(), "limits.tokens (100) is used up: 130 are spent");
        assert!(spend_tracker.set_aside(tokens(1)).await.is_err());
    }

    #[tokio::test]
    async fn what_was_given_up_counts_as_spent() {
        let spend_tracker = spend_tracker(100);
        drop(spend_tracker.set_aside(tokens(60)).await.unwrap());
        assert!(spend_tracker.set_aside(tokens(41)).await.is_err());
        assert!(spend_tracker.set_aside(tokens(40)).await.is_ok());
    }

    #[tokio::test]
    async fn a_request_waits_for_what_others_set_aside_and_may_not_need() {
        let spend_tracker = spend_tracker(100);
        let first = spend_tracker.set_aside(tokens(80)).await.unwrap();
        let waiting = tokio::spawn({
            let spend_tracker = spend_tracker.clone();
            async move { spend_tracker.set_aside(tokens(50)).await.map(|reservation| reservation.most()) }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.settle(tokens(10));
        assert_eq!(waiting.await.unwrap().unwrap(), tokens(50));
    }

    /// Many at once, that cost anything up to what they set aside, are given up or cost nothing: what is spent never
    /// exceeds the limit, nobody waits for ever, and whoever was refused could not have fitted.
    #[test]
    fn a_limit_is_never_exceeded() {
        for round in 0..60 {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
            let limit = 1 + fastrand::Rng::with_seed(round).u64(0..5_000);
            let spend_tracker = spend_tracker(limit);
            runtime.block_on(async {
                let mut tasks = tokio::task::JoinSet::new();
                for task in 0..12 {
                    let spend_tracker = spend_tracker.clone();
                    tasks.spawn(async move {
                        let mut rng = fastrand::Rng::with_seed(round * 100 + task);
                        for _ in 0..30 {
                            let most = rng.u64(1..400);
                            let Ok(reservation) = spend_tracker.set_aside(tokens(most)).await else { continue };
                            let spent = spend_tracker.state().spent.tokens;
                            assert!(spent <= limit, "{spent} of {limit}");
                            if rng.bool() {
                                tokio::task::yield_now().await;
                            }
                            match rng.u8(0..4) {
                                0 => drop(reservation),
                                1 => reservation.release(),
                                _ => reservation.settle(tokens(rng.u64(0..=most))),
                            }
                        }
                    });
                }
                while let Some(task) = tasks.join_next().await {
                    task.unwrap();
                }
            });
            let state = spend_tracker.state();
            assert!(state.spent.tokens <= limit && state.set_aside == Amount::default(), "{state:?}");
            assert!(state.limit_exceeded.is_some() || state.spent.tokens < limit);
        }
    }
}
