//! How fast the agent replies.
//!
//! Embabel's formula: `min(1, aspirationalAverage / average latency of the replies)`.

use super::{Metric, MetricInput};
use crate::evidence::{Judgement, Question};
use crate::score::{Component, Dimension, Score, Weight};

/// How fast the agent replies. Failed tries and the waits between them do not count.
#[derive(Debug, Clone, Copy)]
pub struct Timing;

impl Metric for Timing {
    fn name(&self) -> &'static str {
        "timing"
    }

    fn questions(&self, _case: &MetricInput) -> Vec<Question> {
        Vec::new()
    }

    fn read(&self, _case: &MetricInput, _raw: &str) -> Result<(), String> {
        Err("timing asks no judge".to_owned())
    }

    fn score(&self, input: &MetricInput, _judgement: Option<&Judgement>) -> Vec<Dimension> {
        let component = component(input);
        vec![Dimension { name: self.name().to_owned(), weight: Weight::ONE, component, items: Vec::new() }]
    }
}

fn component(input: &MetricInput) -> Component {
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
    use crate::metric::input::example;

    fn scored(aspired: Option<u64>, latencies: &[Option<f64>]) -> Component {
        let mut input = example(1);
        input.aspirational_average_ms = aspired;
        let turn = input.transcript.turns[0].clone();
        input.transcript.turns = latencies
            .iter()
            .map(|latency| {
                let mut turn = turn.clone();
                turn.latency_ms = *latency;
                turn.agent = latency.map(|_| "ok".to_owned());
                turn
            })
            .collect();
        Timing.score(&input, None).remove(0).component
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
        let mut input = example(1);
        input.aspirational_average_ms = Some(100);
        input.times_first_token = true;
        let missing = Timing.score(&input, None).remove(0).component;
        assert_eq!(missing, Component::missing("the replies' times to the first words were not measured"));
        for turn in &mut input.transcript.turns {
            turn.first_token_ms = Some(50.0);
        }
        assert_eq!(
            Timing.score(&input, None)[0].component.why(),
            "50 ms on average to the first words, the aim is 100 ms"
        );
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
        let mut input = example(1);
        input.transcript.turns[0].latency_ms = None;
        assert!(Timing.score(&input, None)[0].component.is_missing());
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
