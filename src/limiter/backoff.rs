//! The pauses after refusals.

/// The pauses of a limiter, in seconds, and when it gives up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffPolicy {
    /// The pause after the first refusal, where the endpoint asks for no wait.
    pub first: f64,
    /// The factor for each further refusal in a row.
    pub factor: f64,
    /// The longest pause of our own choice.
    pub longest: f64,
    /// The longest pause that an endpoint can ask for.
    pub retry_after_cap: f64,
    /// The number of refusals in a row that exhausts the limiter: all waiting requests give up.
    pub max_refusals: u32,
    /// The number of times in a row after which an exhausted limiter refuses requests during a pause at once.
    pub fail_fast_after: u64,
    /// Whether a refusal may mean too many concurrent requests: then the concurrency is reduced, and raised again step by step.
    pub adapts_concurrency: bool,
}

impl BackoffPolicy {
    /// 1, 4, 16 and 60 s: together more than the minute of providers' limits.
    pub const MODEL: BackoffPolicy = BackoffPolicy {
        first: 1.0,
        factor: 4.0,
        longest: 60.0,
        retry_after_cap: 90.0,
        max_refusals: 5,
        fail_fast_after: 3,
        adapts_concurrency: false,
    };

    /// For the agent under test, which may only serve few conversations at once. [`TargetLimiter`](super::TargetLimiter)
    /// decides when to give up.
    pub const AGENT: BackoffPolicy = BackoffPolicy {
        first: 0.25,
        factor: 2.0,
        longest: 8.0,
        retry_after_cap: 90.0,
        max_refusals: u32::MAX,
        fail_fast_after: u64::MAX,
        adapts_concurrency: true,
    };
}

/// A longer `Retry-After` than this, in seconds, is a mistake or a limit by the day: our own pauses try it out.
const CREDIBLE: f64 = 3600.0;

impl BackoffPolicy {
    /// The pause after this many refusals in a row, with a credible `Retry-After`.
    pub(super) fn pause(&self, refusals: u32, retry_after: Option<f64>) -> f64 {
        let own = (self.first * self.factor.powi(refusals.min(30) as i32 - 1)).min(self.longest);
        match retry_after {
            // The endpoint knows best, unless following it has not helped.
            Some(asked) if refusals <= 2 => asked,
            Some(asked) => asked.max(own),
            None => own,
        }
    }

    /// The wait that an endpoint asks for, as far as it is credible.
    pub(super) fn credible(&self, retry_after: Option<f64>) -> Option<f64> {
        retry_after.filter(|asked| *asked <= CREDIBLE).map(|asked| asked.clamp(0.0, self.retry_after_cap))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_of_hours_is_not_believed_and_one_of_minutes_is_cut() {
        let policy = BackoffPolicy::MODEL;
        for (asked, believed) in [(20.0, Some(20.0)), (600.0, Some(90.0)), (99_999_999.0, None), (f64::INFINITY, None)]
        {
            assert_eq!(policy.credible(Some(asked)), believed, "{asked}");
        }
    }
}
