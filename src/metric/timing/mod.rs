//! How fast the agent replies: Embabel's `min(1, aspirationalAverage / average reply time)`.

use super::{Case, Metric};
use crate::evidence::{Judgement, Question};
use crate::score::{Component, Dimension, Score, Weight};

/// The timing of the agent's replies.
pub struct Timing;

impl Metric for Timing {
    fn name(&self) -> &'static str {
        "timing"
    }

    fn questions(&self, _: &Case) -> Vec<Question> {
        Vec::new()
    }

    fn read(&self, _: &Case, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn score(&self, case: &Case, _: Option<&Judgement>) -> Vec<Dimension> {
        let component = component(case.aspirational_average_ms, case.transcript.average_latency_ms());
        vec![Dimension { name: self.name().to_owned(), weight: Weight::ONE, component, items: Vec::new() }]
    }
}

fn component(aspired_ms: Option<u64>, average_ms: Option<f64>) -> Component {
    match (aspired_ms, average_ms) {
        (None, _) => Component::not_applicable("the job has no aspirationalAverage"),
        (Some(_), None) => Component::scored(Score::ZERO, "the agent never replied"),
        (Some(aspired), Some(average)) => {
            // An average of 0 ms would divide by zero; whatever is not slower than aspired earns it all.
            let score = if average <= aspired as f64 { Score::ONE } else { Score::clamped(aspired as f64 / average) };
            Component::scored(score, format!("{} ms on average, {aspired} ms aspired", average.round()))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn score(aspired: u64, average: f64) -> f64 {
        component(Some(aspired), Some(average)).score().unwrap().get()
    }

    #[test]
    fn twice_the_time_earns_half() {
        assert_eq!(score(1000, 2000.0), 0.5);
        assert_eq!(score(1000, 1000.0), 1.0);
        assert_eq!(score(1000, 0.0), 1.0);
    }

    #[test]
    fn without_a_reply_it_is_zero_and_without_a_target_it_does_not_count() {
        assert_eq!(component(Some(1000), None), Component::scored(Score::ZERO, "the agent never replied"));
        assert!(matches!(component(None, Some(5.0)), Component::NotApplicable { .. }));
    }

    proptest! {
        #[test]
        fn slower_is_never_better(aspired in 1u64..100_000, fast in 0.0..1e7f64, more in 0.0..1e7f64) {
            let (fast, slow) = (score(aspired, fast), score(aspired, fast + more));
            prop_assert!((0.0..=1.0).contains(&slow) && slow <= fast);
        }
    }
}
