//! Retry policies and their delays: pure arithmetic; the callers sleep.
//!
//! Invariants: tries are bounded; no delay is longer than its cap; the same `rng_seed` gives the same delays.

mod after;
mod wait;

pub use after::retry_after;
pub use wait::{OnWait, WaitReason};

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

use crate::clock::{Clock, Stopwatch};

/// How many times something is tried, and the delays between the tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all, the first one too; at least 1.
    pub tries: u32,
    /// The shortest wait before the second try; it doubles from try to try.
    pub first_delay: Duration,
    /// The longest wait of our own choice, jitter included.
    pub max_delay: Duration,
    /// The longest wait that a server can ask for by `Retry-After`.
    pub retry_after_cap: Duration,
}

impl RetryPolicy {
    /// For the agent under test: 4 tries, 100 ms before the second, as Embabel's runner does.
    pub const AGENT: RetryPolicy = RetryPolicy {
        tries: 4,
        first_delay: Duration::from_millis(100),
        max_delay: Duration::from_secs(5),
        retry_after_cap: Duration::from_secs(30),
    };

    /// For polling a document for an answer that was cut off: 7 polls within half a minute.
    pub const READING: RetryPolicy = RetryPolicy {
        tries: 8,
        first_delay: Duration::from_millis(500),
        max_delay: Duration::from_secs(10),
        retry_after_cap: Duration::from_secs(30),
    };

    /// For our own models: 5 tries. A rate limit has waits of its own, which are longer (`limiter`).
    pub const MODEL: RetryPolicy = RetryPolicy {
        tries: 5,
        first_delay: Duration::from_millis(500),
        max_delay: Duration::from_secs(20),
        retry_after_cap: Duration::from_secs(60),
    };

    /// The waits between the tries, drawn with this `rng_seed`.
    pub fn delays(&self, rng_seed: u64) -> Delays {
        let own = ExponentialBuilder::new()
            .with_min_delay(self.first_delay)
            .with_max_delay(self.max_delay)
            .with_max_times(self.tries.saturating_sub(1) as usize)
            .with_jitter()
            .with_jitter_seed(rng_seed)
            .build();
        Delays { own, policy: *self, lap: None }
    }
}

/// The waits between the tries of one thing.
#[derive(Debug)]
pub struct Delays {
    own: ExponentialBackoff,
    policy: RetryPolicy,
    lap: Option<(Clock, Stopwatch)>,
}

impl Delays {
    /// Measures laps from now on.
    pub fn timed_by(mut self, clock: Clock) -> Delays {
        self.lap = Some((clock, clock.start()));
        self
    }

    /// Milliseconds since the last lap, or since measuring began; `None` where nothing is measured.
    pub fn lap_ms(&mut self) -> Option<f64> {
        let (clock, since) = self.lap?;
        self.lap = Some((clock, clock.start()));
        Some(since.elapsed_ms())
    }

    /// The wait before the next try; `None` when there is none left. `asked`, the server's `Retry-After`, lengthens the wait up
    /// to the policy's cap and never shortens it.
    pub fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        let own = self.own.next()?.min(self.policy.max_delay);
        Some(asked.map_or(own, |asked| own.max(asked.min(self.policy.retry_after_cap))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(policy: RetryPolicy, rng_seed: u64) -> Vec<Duration> {
        let mut delays = policy.delays(rng_seed);
        std::iter::from_fn(|| delays.next(None)).collect()
    }

    #[test]
    fn four_tries_have_three_waits_that_start_at_100_ms_and_double() {
        let waits = all(RetryPolicy::AGENT, 7);
        assert_eq!(waits.len(), 3);
        for (wait, floor) in waits.iter().zip([100, 200, 400]) {
            assert!(*wait >= Duration::from_millis(floor), "{waits:?}");
            assert!(*wait < Duration::from_millis(2 * floor), "{waits:?}");
        }
    }

    #[test]
    fn the_same_rng_seed_gives_the_same_waits_and_another_gives_others() {
        assert_eq!(all(RetryPolicy::AGENT, 1), all(RetryPolicy::AGENT, 1));
        assert_ne!(all(RetryPolicy::AGENT, 1), all(RetryPolicy::AGENT, 2));
    }

    #[test]
    fn a_server_lengthens_a_wait_up_to_the_cap_and_never_shortens_it() {
        let mut delays = RetryPolicy::AGENT.delays(3);
        assert_eq!(delays.next(Some(Duration::from_secs(2))), Some(Duration::from_secs(2)));
        assert_eq!(delays.next(Some(Duration::from_secs(3600))), Some(Duration::from_secs(30)));
        assert!(delays.next(Some(Duration::ZERO)) >= Some(Duration::from_millis(400)));
        assert_eq!(delays.next(Some(Duration::from_secs(2))), None);
    }

    #[test]
    fn a_policy_of_one_or_no_try_never_waits() {
        for tries in [0, 1] {
            assert_eq!(all(RetryPolicy { tries, ..RetryPolicy::AGENT }, 5), Vec::<Duration>::new());
        }
    }

    proptest! {
        #[test]
        fn no_wait_exceeds_its_cap(tries in 0u32..40, first in 0u64..10_000, max in 0u64..10_000, asked in proptest::option::of(0u64..100_000), rng_seed: u64) {
            let policy = RetryPolicy {
                tries,
                first_delay: Duration::from_millis(first),
                max_delay: Duration::from_millis(max),
                retry_after_cap: Duration::from_millis(20_000),
            };
            let mut delays = policy.delays(rng_seed);
            let mut count = 0;
            while let Some(wait) = delays.next(asked.map(Duration::from_millis)) {
                count += 1;
                let cap = if asked.is_some() { policy.max_delay.max(policy.retry_after_cap) } else { policy.max_delay };
                prop_assert!(wait <= cap);
            }
            prop_assert_eq!(count, tries.saturating_sub(1));
        }
    }
}
