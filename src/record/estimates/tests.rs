use super::*;
use crate::evidence::TrialId;
use crate::record::TrialRecord;
use crate::score::{Component, Outcome, Score, Scorecard};

fn groups(trials: &[(&str, Condition, f64)]) -> Vec<TrialGroup> {
    let records: Vec<TrialRecord> = trials
        .iter()
        .enumerate()
        .map(|(number, (case, condition, score))| {
            let (number, case, condition) = (number as u32, (*case).to_owned(), *condition);
            let id = TrialId { number, case, model: "m".to_owned(), condition, repeat: number };
            let composite = Component::scored(Score::new(*score).unwrap(), "");
            TrialRecord {
                outcome: Some(Outcome::Graded),
                scorecard: Some(Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite }),
                started_at: Some("2026-01-01T00:00:00Z".parse().unwrap()),
                ..TrialRecord::planned(id)
            }
        })
        .collect();
    let mut groups = TrialGroup::planned(&records.iter().map(|record| record.trial.clone()).collect());
    for record in &records {
        let group = groups.iter_mut().find(|group| group.has(&record.trial));
        group.unwrap().add(record, Score::new(0.5));
    }
    groups
}

use Condition::{WithFacts, WithoutFacts};

#[test]
fn the_uplift_is_paired_by_case() {
    let trials = [
        ("a", WithoutFacts, 0.1),
        ("a", WithFacts, 0.3),
        ("b", WithoutFacts, 0.6),
        ("b", WithFacts, 0.9),
        ("c", WithoutFacts, 0.5),
        ("c", WithFacts, 0.6),
        ("d", WithFacts, 0.6),
    ];
    let found = of_model(groups(&trials).iter(), &[], 1).unwrap();
    // SciPy 1.17: ttest_rel of [.3, .9, .6] and [.1, .6, .5], its confidence_interval().
    let uplift = found.uplift.unwrap();
    let Interval { low, high } = uplift.interval.unwrap();
    assert!((uplift.mean - 0.2).abs() < 1e-9 && uplift.cases == 3, "{uplift:?}");
    assert!((low + 0.048_413_771_175).abs() < 1e-6 && (high - 0.448_413_771_175).abs() < 1e-6, "{low} {high}");
    assert_eq!(found.score.unwrap().cases, 4);
    assert_eq!(found.conditions.len(), 2);
}

#[test]
fn repetitions_that_disagree_are_flaky_and_tries_are_counted_without_bias() {
    let trials = [0.9, 0.9, 0.2].map(|score| ("a", WithoutFacts, score));
    let others = [0.9, 0.9, 0.9].map(|score| ("b", WithoutFacts, score));
    let found = of_model(groups(&[trials, others].concat()).iter(), &[], 1).unwrap();
    let passes = found.passes.unwrap();
    assert_eq!((passes.n, passes.passed, passes.repeated, passes.flaky), (6, 5, 2, 1));
    let tries: Vec<(u32, f64, f64)> = passes.tries.iter().map(|it| (it.k, it.pass_at_k, it.pass_hat_k)).collect();
    assert_eq!(tries.iter().map(|it| it.0).collect::<Vec<_>>(), [2, 3]);
    // Of three of which two pass: one of two passes always, both in one of three choices.
    assert!((tries[0].1 - 1.0).abs() < 1e-9 && (tries[0].2 - (1.0 / 3.0 + 1.0) / 2.0).abs() < 1e-9, "{tries:?}");
    assert!((tries[1].2 - 0.5).abs() < 1e-9, "{tries:?}");
}

#[test]
fn a_case_is_one_whoever_its_users_are() {
    let cases = ["a", "b", "c"];
    let held = |case: &str| [("terse", 0.1), ("hostile", -0.1)].map(|(user, by)| (format!("{case}@{user}"), by));
    let names: Vec<(String, f64)> = cases.iter().flat_map(|case| held(case)).collect();
    let trials: Vec<(&str, Condition, f64)> = (0..)
        .zip(&names)
        .flat_map(|(place, (case, by))| {
            let base = [0.2, 0.5, 0.8][place / 2] + by;
            [(case.as_str(), WithoutFacts, base), (case.as_str(), WithFacts, base + 0.05 * (place / 2) as f64)]
        })
        .collect();
    let personas = ["terse", "hostile"].map(str::to_owned);
    let own = of_model(groups(&trials).iter(), &personas, 1).unwrap();
    let apart = of_model(groups(&trials).iter(), &[], 1).unwrap();
    let (score, uplift) = (own.score.unwrap(), own.uplift.unwrap());
    assert_eq!((score.n, score.cases, score.degrees), (12, 3, Some(2.0)));
    assert_eq!((uplift.cases, uplift.n), (3, 12));
    assert!((uplift.mean - 0.05).abs() < 1e-9, "{uplift:?}");
    assert!(score.interval.unwrap().half_width() > apart.score.unwrap().interval.unwrap().half_width());
    // SciPy 1.17: ttest_1samp([.2, .525, .85], 0).confidence_interval() before it is cut to 0 to 1.
    assert!((score.standard_error.unwrap() - 0.187_638_837_255).abs() < 1e-9, "{score:?}");
}

#[test]
fn repetitions_of_one_case_have_a_rate_with_an_interval_and_no_tries_of_a_single_draw() {
    let trials: Vec<(&str, Condition, f64)> =
        (0..100).map(|at| ("a", WithoutFacts, if at < 70 { 0.9 } else { 0.1 })).collect();
    let passes = of_model(groups(&trials).iter(), &[], 1).unwrap().passes.unwrap();
    // statsmodels' proportion_confint(70, 100, method="wilson") is 0.604 to 0.781, with the normal quantile.
    let Interval { low, high } = passes.rate.interval.unwrap();
    assert!((low - 0.604).abs() < 3e-3 && (high - 0.781).abs() < 3e-3, "{low} {high}");
    assert_eq!(passes.tries.iter().map(|it| it.k).collect::<Vec<_>>(), [2, 3, 5, 10, 50]);
    let all: Vec<(&str, Condition, f64)> = (0..100).map(|_| ("a", WithoutFacts, 1.0)).collect();
    let score = of_model(groups(&all).iter(), &[], 1).unwrap().score.unwrap();
    assert!((score.interval.unwrap().low - 0.964).abs() < 1e-3, "{score:?}");
}

#[test]
fn a_case_that_is_held_with_seven_kinds_of_users_weighs_as_one() {
    let kinds = ["a", "b", "c", "d", "e", "f", "g"].map(str::to_owned);
    let easy: Vec<String> = kinds.iter().map(|kind| format!("easy@{kind}")).collect();
    let easy = easy.iter().map(|case| (case.as_str(), WithoutFacts, 1.0));
    let others = ["v", "w", "x", "y", "z"].map(|case| (case, WithoutFacts, 0.0));
    let found = of_model(groups(&easy.chain(others).collect::<Vec<_>>()).iter(), &kinds, 1).unwrap();
    let passes = found.passes.unwrap();
    assert_eq!((passes.passed, passes.n), (7, 12));
    assert!((passes.rate.value - 1.0 / 6.0).abs() < 1e-9 && (found.score.unwrap().mean - 1.0 / 6.0).abs() < 1e-9);
    assert!(passes.rate.interval.unwrap().high > 0.5, "{passes:?}");
}

#[test]
fn the_interval_of_a_score_is_within_what_is_possible() {
    let cases: Vec<String> = (0..10).map(|case| format!("c{case}")).collect();
    let score = |at: usize| if at == 0 { 0.0 } else { 0.98 + 0.002 * at as f64 };
    let trials: Vec<(&str, Condition, f64)> =
        cases.iter().enumerate().map(|(at, case)| (case.as_str(), WithoutFacts, score(at))).collect();
    let found = of_model(groups(&trials).iter(), &[], 1).unwrap().score.unwrap();
    let Interval { low, high } = found.interval.unwrap();
    assert!(low > 0.5 && high > 0.9 && high <= 1.0, "{found:?}");
    assert!(found.skewed_interval.is_none_or(|it| it.low >= 0.0 && it.high <= 1.0), "{found:?}");
}

#[test]
fn a_single_conversation_carries_nothing() {
    let one = of_model(groups(&[("a", WithoutFacts, 0.4)]).iter(), &[], 1).unwrap();
    assert_eq!((one.score.unwrap().interval, one.uplift), (None, None));
    assert_eq!(of_model([].iter(), &[], 1), None);
    let two = of_model(groups(&[("a", WithoutFacts, 0.4), ("a", WithFacts, 0.6)]).iter(), &[], 1).unwrap();
    assert_eq!((two.score.unwrap().interval, two.uplift.unwrap().interval), (None, None));
}

#[test]
fn where_repetitions_vary_and_cases_do_not_the_spread_is_theirs() {
    let noisy: Vec<(String, f64)> =
        (0..10).flat_map(|case| [0.2, 0.8, 0.2, 0.8].map(|score| (format!("c{case}"), score))).collect();
    let mut trials: Vec<(&str, Condition, f64)> =
        noisy.iter().map(|(case, score)| (case.as_str(), WithoutFacts, *score)).collect();
    trials[0].2 = 0.3;
    let found = of_model(groups(&trials).iter(), &[], 1).unwrap();
    assert_eq!(found.share_of_repeats, Some(1.0));
    let apart: Vec<(String, f64)> = (0..10)
        .flat_map(|case| [0.01, -0.01].map(|it| (format!("c{case}"), f64::from(case) / 10.0 + 0.02 + it)))
        .collect();
    let trials: Vec<(&str, Condition, f64)> =
        apart.iter().map(|(case, score)| (case.as_str(), WithoutFacts, *score)).collect();
    assert!(of_model(groups(&trials).iter(), &[], 1).unwrap().share_of_repeats.unwrap() < 0.01);
}
