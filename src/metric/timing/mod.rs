//! How fast the agent replies.
//!
//! Embabel's formula: `min(1, aspirationalAverage / average latency of the replies)`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::MetricOptions;
use super::table::NoOptions;
use super::{Metric, MetricInput};
use crate::evidence::Judgement;
use crate::score::{Component, Dimension, Score, Weight};

/// The options of `timing`: none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct TimingOptions(NoOptions);

impl MetricOptions for TimingOptions {
    fn metric(&self, weight: Weight, _label: &str) -> Option<Box<dyn Metric>> {
        Some(Box::new(TimingMetric { weight }))
    }
}

/// How fast the agent replies. Failed tries and the waits between them do not count.
#[derive(Debug, Clone, Copy)]
pub struct TimingMetric {
    /// How much it counts.
    pub weight: Weight,
}

impl Metric for TimingMetric {
    fn name(&self) -> &'static str {
        "timing"
    }

    fn score(&self, input: &MetricInput<'_>, _judgements: &[Judgement]) -> Dimension {
        Dimension::new(self.name(), self.weight, component(input))
    }
}

fn component(input: &MetricInput<'_>) -> Component {
    let Some(aspired) = input.aspirational_average_ms else {
        return Component::not_applicable("the job has no aspirationalAverage");
    };
    if !input.transcript.has_reply() {
        return Component::scored(Score::ZERO, "the agent never replied");
    }
    let (average, until) = match input.times_first_token {
        true => (input.transcript.average_first_token_ms(), " to the first words"),
        false => (input.transcript.average_latency_ms(), ""),
    };
    match average {
        Some(average) if average.is_finite() && average >= 0.0 => Component::scored(
            timing_score(aspired, average),
            format!("{average:.0} ms on average{until}, the aim is {aspired} ms"),
        ),
        _ => Component::missing(format!("the replies' times{until} were not measured")),
    }
}

/// `min(1, aspired / average)`, both in milliseconds; an average of 0 is as fast as can be.
fn timing_score(aspired_ms: u64, average_ms: f64) -> Score {
    if average_ms == 0.0 { Score::ONE } else { Score::clamped(aspired_ms as f64 / average_ms) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::metric::input::Example;

    fn scored(aspired: Option<u64>, latencies: &[Option<f64>]) -> Component {
        let mut example = Example { aspirational_average_ms: aspired, ..Example::new(1) };
        let turn = example.transcript.turns[0].clone();
        example.transcript.turns = latencies
            .iter()
            .map(|latency| {
                let mut turn = turn.clone();
                turn.latency_ms = *latency;
                turn.agent = latency.map(|_| "ok".to_owned());
                turn
            })
            .collect();
        component(&example.input())
    }

    #[test]
    fn the_formula_is_embabels() {
        for (aspired, latencies, score) in [
            (100, vec![Some(200.0)], 0.5),
            (100, vec![Some(100.0), Some(300.0)], 0.5),
            (100, vec![Some(50.0)], 1.0),
            (100, vec![Some(100.0), None], 1.0),
            (100, vec![Some(0.0)], 1.0),
            (0, vec![Some(0.0)], 1.0),
            (0, vec![Some(10.0)], 0.0),
        ] {
            assert_eq!(scored(Some(aspired), &latencies).score().unwrap().get(), score, "{aspired} {latencies:?}");
        }
        assert_eq!(scored(Some(100), &[Some(200.4)]).why(), "200 ms on average, the aim is 100 ms");
    }

    #[test]
    fn the_first_words_are_timed_where_the_job_asks_for_it() {
        let mut example = Example::new(1);
        let timed = |example: &Example| component(&MetricInput { times_first_token: true, ..example.input() });
        assert_eq!(timed(&example), Component::missing("the replies' times to the first words were not measured"));
        for turn in &mut example.transcript.turns {
            turn.first_token_ms = Some(50.0);
        }
        assert_eq!(timed(&example).why(), "50 ms on average to the first words, the aim is 100 ms");
    }

    #[test]
    fn silence_scores_zero() {
        for silence in [vec![], vec![None]] {
            assert_eq!(scored(Some(100), &silence), Component::scored(Score::ZERO, "the agent never replied"));
        }
    }

    #[test]
    fn without_an_aim_it_does_not_apply() {
        assert!(matches!(scored(None, &[Some(1.0)]), Component::NotApplicable { .. }));
        assert!(matches!(scored(None, &[]), Component::NotApplicable { .. }));
    }

    #[test]
    fn times_that_were_not_measured_are_missing() {
        let mut example = Example::new(1);
        example.transcript.turns[0].latency_ms = None;
        assert!(component(&example.input()).is_missing());
        assert!(scored(Some(1), &[Some(f64::NAN)]).is_missing());
        assert!(scored(Some(1), &[Some(f64::INFINITY)]).is_missing());
    }

    proptest! {
        #[test]
        fn it_is_a_score_that_falls_with_time(aspired: u64, a in 0.0f64..1e9, b in 0.0f64..1e9) {
            let (fast, slow) = (a.min(b), a.max(b));
            prop_assert!(timing_score(aspired, fast) >= timing_score(aspired, slow));
        }
    }
}
