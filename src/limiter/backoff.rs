//! How long everybody waits after a refusal.

/// The pauses of a limiter, in seconds, and when it gives up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BackoffPolicy {
    /// After the first refusal, where the endpoint asks for no wait.
    pub first: f64,
    /// The factor of each further one in a row.
    pub factor: f64,
    /// The longest of our own choice.
    pub longest: f64,
    /// The longest that an endpoint can ask for.
    pub retry_after_cap: f64,
    /// So many refusals in a row, with nothing accepted in between, exhaust the limiter: nobody waits any longer.
    pub max_refusals: u32,
    /// Exhausted so often in a row, it makes nobody wait for the end of a pause any more.
    pub fail_fast_after: u64,
    /// Whether a refusal may mean too many requests at once: then fewer are sent at once, and ever more again.
    pub adapts_concurrency: bool,
}

impl BackoffPolicy {
    /// 1, 4, 16 and 60 s: in all more than the minute by which providers count.
    pub const MODEL: BackoffPolicy = BackoffPolicy {
        first: 1.0,
        factor: 4.0,
        longest: 60.0,
        retry_after_cap: 90.0,
        max_refusals: 5,
        fail_fast_after: 3,
        adapts_concurrency: false,
    };

    /// For the agent under test, which may only be able to serve few at once. [`TargetLimiter`](super::TargetLimiter)
    /// decides when enough was asked.
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
    /// The pause after so many refusals in a row, and the `Retry-After` that is believed.
    pub(super) fn pause(&self, refusals: u32, retry_after: Option<f64>) -> f64 {
        let own = (self.first * self.factor.powi(refusals.min(30) as i32 - 1)).min(self.longest);
        match retry_after {
            // The endpoint knows best, unless it was believed in vain.
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
