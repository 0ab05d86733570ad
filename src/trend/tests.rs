use serde_json::{Value, json};

use super::*;
use crate::compare::RunRules;
use crate::evidence::{Condition, Evidence, TrialId, Turn};
use crate::record::{Provenance, RunSummary, TrialRecord, Verdict};
use crate::score::{Component, Dimension, Outcome, Score, Scorecard, Weight};

/// A case of a night: its score, and how many of its conversations pass, of how many.
type Held = (&'static str, Option<f64>, [u32; 2]);

fn figure(score: Option<f64>) -> Value {
    match score {
        Some(score) => json!({"kind": "scored", "score": score, "why": ""}),
        None => json!({"kind": "missing", "error": "no judge"}),
    }
}

/// A night of one model, by its number.
fn summary(number: usize, verdict: &str, cases: &[Held]) -> RunSummary {
    let mean = cases.iter().map(|(_, score, _)| *score).sum::<Option<f64>>().map(|sum| sum / cases.len() as f64);
    let case = |(case, score, [passed, decided]): &Held| {
        json!({"case": case, "figure": figure(*score), "conditions": [{
            "condition": "withoutFacts", "n": (*decided).max(u32::from(score.is_some())), "missing": u32::from(score.is_none()), "decided": decided, "passed": passed,
            "figure": figure(*score)}]})
    };
    let at = chrono::DateTime::UNIX_EPOCH + chrono::TimeDelta::days(number as i64);
    let cases: Vec<Value> = cases.iter().map(case).collect();
    serde_json::from_value(json!({
        "version": 2, "id": format!("night{number}"), "startedAt": at, "finishedAt": at, "interrupted": false,
        "provenance": {"job": "Shop", "models": ["m"]}, "verdict": verdict,
        "figures": [{"model": "m", "figure": figure(mean), "cases": cases}],
    }))
    .unwrap()
}

fn rules(temperature: f64) -> RunRules {
    RunRules::new(&Provenance::default(), Some(&json!({"scorer": {"temperature": temperature}, "cases": []})))
}

/// Nights of two cases whose scores are these, and a little apart.
fn nights(scores: &[f64]) -> Nights {
    let mut nights = Nights::default();
    for (number, score) in scores.iter().enumerate() {
        let hair = ((number * 7) % 11) as f64 / 1000.0;
        let cases = [("a", Some(score + hair), [0, 0]), ("b", Some(score - hair / 2.0), [0, 0])];
        nights.take(&summary(number, "passed", &cases), rules(0.0));
    }
    nights
}

/// A night that was run in these conditions.
fn held_in(number: usize, conditions: &[(&str, f64)]) -> RunSummary {
    let mut summary = serde_json::to_value(summary(number, "passed", &[("a", Some(0.5), [0, 0])])).unwrap();
    let cells: Vec<Value> = conditions
        .iter()
        .map(|(condition, score)| {
            json!({"condition": condition, "n": 1, "missing": 0, "decided": 0, "passed": 0, "figure": figure(Some(*score))})
        })
        .collect();
    summary["figures"][0]["cases"][0]["conditions"] = json!(cells);
    serde_json::from_value(summary).unwrap()
}

#[test]
fn a_night_in_other_conditions_is_none_of_the_same_series() {
    let mut nights = Nights::default();
    let both = [("withoutFacts", 0.7), ("withFacts", 0.9)];
    nights.take(&held_in(0, &both), rules(0.0));
    nights.take(&held_in(1, &[("withFacts", 0.9)]), rules(0.0));
    nights.take(&held_in(2, &both), rules(0.0));
    let series = nights.series();
    let runs: Vec<&[String]> = series.iter().map(|series| series.runs.as_slice()).collect();
    assert!(series.len() == 2, "{series:?}");
    assert!(runs.contains(&["night0".to_owned(), "night2".to_owned()].as_slice()), "{runs:?}");
    assert!(runs.contains(&["night1".to_owned()].as_slice()), "{runs:?}");
}

#[test]
fn replays_and_what_was_merged_again_are_no_nights() {
    let mut nights = Nights::default();
    let case = [("a", Some(0.5), [0, 0])];
    nights.take(&summary(0, "passed", &case), rules(0.0));
    let mut replay = summary(1, "passed", &case);
    replay.provenance.replayed = Some("night0".to_owned());
    nights.take(&replay, rules(0.0));
    let merged = |number: usize, parts: &[&str]| {
        let mut summary = summary(number, "passed", &case);
        let parts: Vec<Value> = parts.iter().map(|run| json!({"part": 1, "run": run, "rngSeed": 1})).collect();
        summary.provenance.merged = serde_json::from_value(json!({"of": 2, "parts": parts})).unwrap();
        summary
    };
    nights.take(&merged(2, &["p1", "p2"]), rules(0.0));
    nights.take(&merged(3, &["p1", "p3"]), rules(0.0));
    nights.take(&merged(4, &["q1", "q2"]), rules(0.0));
    let trend = nights.trend("Shop".to_owned(), 20, &Sources::default());
    let ids: Vec<&str> = trend.nights.iter().map(|night| night.run.as_str()).collect();
    assert_eq!(ids, ["night0", "night3", "night4"]);
    let why = |run: &str, why| SkippedRun { run: run.to_owned(), why };
    let (of, by) = ("night0".to_owned(), "night3".to_owned());
    assert_eq!(
        trend.no_nights,
        [why("night1", SkipReason::Replay { of }), why("night2", SkipReason::MergedAgain { by })]
    );
}

#[test]
fn a_night_of_some_cases_before_the_first_whole_one_begins_no_series() {
    let mut nights = Nights::default();
    let all = |fallen: f64| [("a", Some(0.9), [0, 0]), ("b", Some(0.9), [0, 0]), ("c", Some(0.9 - fallen), [0, 0])];
    let mut smoke = summary(0, "passed", &all(0.0)[..2]);
    smoke.provenance.selection = Some("--limit 2".to_owned());
    nights.take(&smoke, rules(0.0));
    for number in 1..=30 {
        nights.take(&summary(number, "passed", &all(if number > 15 { 0.5 } else { 0.0 })), rules(0.0));
    }
    let [series] = nights.series().try_into().unwrap_or_else(|all| panic!("{all:?}"));
    assert_eq!((series.cases, series.runs.len(), series.changes.len()), (3, 30, 1));
    let why = ExclusionReason::LacksCases { lacking: 1 };
    assert_eq!(series.left_out, [ExcludedRun { run: "night0".to_owned(), why }]);
}

#[test]
fn nights_with_another_number_of_repetitions_are_another_series() {
    let often = |number: usize, times: u32| {
        let score = 0.9 + f64::from(times) / 1000.0;
        let mut night = serde_json::to_value(summary(number, "passed", &[("a", Some(score), [0, 0])])).unwrap();
        night["figures"][0]["cases"][0]["conditions"][0]["n"] = json!(times);
        serde_json::from_value::<RunSummary>(night).unwrap()
    };
    let mut nights = Nights::default();
    (0..20).for_each(|number| nights.take(&often(number, 1), rules(0.0)));
    (20..40).for_each(|number| nights.take(&often(number, 10), rules(0.0)));
    let mut cut = often(40, 3);
    cut.verdict = Verdict::Interrupted;
    nights.take(&cut, rules(0.0));
    let series = nights.series();
    let told: Vec<(u32, usize, usize, usize)> =
        series.iter().map(|it| (it.repeats, it.runs.len(), it.changes.len(), it.left_out.len())).collect();
    // The one that was cut off stands with those before it.
    assert_eq!(told, [(1, 20, 0, 0), (10, 20, 0, 1)]);
}

fn level(count: usize, score: f64) -> Vec<f64> {
    vec![score; count]
}

#[test]
fn a_fall_is_reported_with_its_night_and_by_how_much() {
    let series = nights(&[level(14, 0.8), level(8, 0.7)].concat()).series();
    let [series] = &series[..] else { panic!("{series:?}") };
    let [change] = &series.changes[..] else { panic!("{series:?}") };
    assert_eq!((change.since.as_str(), change.nights_before, change.nights_after), ("night14", 14, 8));
    let interval = change.shift.interval.unwrap();
    assert!((change.shift.difference + 0.1).abs() < 0.01 && interval.covers(-0.1), "{change:?}");
    assert!(series.too_few && series.cases == 2);
}

#[test]
fn few_nights_are_too_few_to_say() {
    for (count, too_few) in [(9, true), (10, false)] {
        let series = nights(&level(count, 0.8)).series();
        assert_eq!((series[0].too_few, series[0].changes.len()), (too_few, 0));
    }
}

#[test]
fn a_change_of_the_rules_is_a_break_and_no_change_of_the_agent() {
    let mut nights = nights(&level(14, 0.8));
    for number in 14..24 {
        nights.take(&summary(number, "passed", &[("a", Some(0.5), [0, 0]), ("b", Some(0.5), [0, 0])]), rules(0.7));
    }
    let differs = &nights.all()[14].differs;
    assert_eq!((differs.len(), differs[0].what.as_str()), (1, "scorer.temperature"));
    assert!(nights.series().iter().all(|series| series.changes.is_empty()), "{:?}", nights.series());
    // Whoever goes back to the former rules goes on with the former series.
    nights.take(&summary(24, "passed", &[("a", Some(0.8), [0, 0]), ("b", Some(0.8), [0, 0])]), rules(0.0));
    assert_eq!(nights.all()[24].rules, 1);
    assert_eq!(nights.series()[0].runs.len(), 15);
}

#[test]
fn a_night_without_all_figures_is_shown_and_not_used() {
    let mut nights = nights(&level(3, 0.8));
    nights.take(&summary(3, "incomplete", &[("a", Some(0.1), [0, 0]), ("b", None, [0, 0])]), rules(0.0));
    let series = nights.series();
    assert_eq!(nights.all().len(), 4);
    assert_eq!(series[0].runs.len(), 3);
    assert_eq!(series[0].left_out, [ExcludedRun { run: "night3".to_owned(), why: ExclusionReason::Incomplete }]);
}

#[test]
fn nights_are_compared_over_the_same_cases() {
    let mut nights = nights(&level(3, 0.8));
    let mut some = summary(3, "passed", &[("a", Some(0.1), [0, 0])]);
    some.provenance.selection = Some("1 of 2 cases".to_owned());
    nights.take(&some, rules(0.0));
    // A case more is not in the series; a case that has left the job ends it, and so do many more cases.
    let cases = [("a", Some(0.8), [0, 0]), ("b", Some(0.8), [0, 0]), ("c", Some(0.0), [0, 0])];
    nights.take(&summary(4, "passed", &cases), rules(0.0));
    nights.take(&summary(5, "passed", &cases[1..]), rules(0.0));
    nights.take(
        &summary(
            6,
            "passed",
            &[("b", Some(0.8), [0, 0]), ("c", Some(0.0), [0, 0]), ("d", Some(0.0), [0, 0]), ("e", Some(0.0), [0, 0])],
        ),
        rules(0.0),
    );
    let series = nights.series();
    let runs: Vec<(usize, usize)> = series.iter().map(|series| (series.cases, series.runs.len())).collect();
    assert_eq!(runs, [(2, 4), (2, 1), (4, 1)]);
    assert!((series[0].scores[3] - 0.8).abs() < 1e-9);
    assert_eq!(series[0].left_out[0].why, ExclusionReason::LacksCases { lacking: 1 });
}

#[test]
fn only_what_is_asked_for_is_looked_at() {
    let mut nights = Nights::new(TrendScope { models: vec!["m".to_owned()], case: Some("ref".to_owned()) });
    let cases = [("refund", Some(0.5), [1, 2]), ("order", Some(1.0), [1, 1])];
    nights.take(&summary(0, "passed", &cases), rules(0.0));
    let model = &nights.all()[0].models[0];
    assert_eq!((model.score, model.passes), (Some(0.5), Some(Passed { passed: 1, of: 2 })));
    let other = Nights::new(TrendScope { models: vec!["other".to_owned()], case: None });
    assert!(!other.has(&TrialId {
        number: 1,
        case: "refund".into(),
        model: "m".into(),
        condition: Condition::WithFacts,
        repeat: 1
    }));
}

#[test]
fn a_case_that_flips_differs_from_one_that_broke() {
    let mut nights = Nights::default();
    for number in 0..6 {
        let after = u32::from(number < 3);
        nights.take(
            &summary(
                number,
                "passed",
                &[
                    ("steady", Some(1.0), [2, 2]),
                    ("flips", Some(0.5), [number as u32 % 2, 1]),
                    ("mixed", Some(0.5), [if number == 4 { 1 } else { 2 }, 2]),
                    ("broke", Some(0.5), [2 * after, 2]),
                ],
            ),
            rules(0.0),
        );
    }
    let patterns: Vec<(String, usize, String, FlakePattern)> = nights
        .flakes()
        .into_iter()
        .map(|flake| (flake.key.case.clone(), flake.flips(), flake.since.clone(), flake.pattern))
        .collect();
    let line = |case: &str, flips, since: &str, pattern| (case.to_owned(), flips, since.to_owned(), pattern);
    assert_eq!(
        patterns,
        [
            line("flips", 5, "night1", FlakePattern::Flips),
            line("mixed", 1, "night4", FlakePattern::Flips),
            line("broke", 1, "night3", FlakePattern::FailsSince),
        ]
    );
    // By other rules nothing has flipped yet.
    nights.take(&summary(6, "passed", &[("flips", Some(0.5), [0, 1])]), rules(0.7));
    assert_eq!(nights.flakes(), []);
}

/// A conversation about the case `c` with these turns, which has this score in one metric.
fn trial(turns: &[(&str, &str)], metric: &str, score: f64, is_unstable: bool) -> TrialRecord {
    let id = TrialId {
        number: 1,
        case: "c".to_owned(),
        model: "m".to_owned(),
        condition: Condition::WithoutFacts,
        repeat: 1,
    };
    let mut evidence = Evidence::new("s".to_owned(), "u".to_owned(), &id);
    let turn = |(number, (user, agent)): (u32, &(&str, &str))| Turn::answered(number, user, agent);
    evidence.transcript.turns = (1..).zip(turns).map(turn).collect();
    let component = Component::scored(Score::new(score).unwrap(), "").unstable_if(is_unstable);
    let dimension = Dimension { threshold: Score::new(0.5), ..Dimension::new(metric, Weight::ONE, component.clone()) };
    let mut questions = Vec::new();
    if metric == "tasks" {
        questions.push(
            serde_json::from_value(
                json!({"id": "q", "metric": "tasks", "sample": 1, "temperature": 0.0, "digest": ""}),
            )
            .unwrap(),
        );
    }
    TrialRecord {
        outcome: Some(Outcome::Graded),
        evidence: Some(evidence),
        questions,
        scorecard: Some(Scorecard {
            dimensions: vec![dimension],
            failure_count: 0,
            penalty: 0.0,
            composite: component,
        }),
        ..TrialRecord::planned(id)
    }
}

#[test]
fn the_source_that_is_suspected_is_the_first_that_differs() {
    let turns = [("Hello", "Hi"), ("A refund", "Done")];
    let passes = |metric| trial(&turns, metric, 1.0, false);
    let key = FlakeKey { model: "m".to_owned(), case: "c".to_owned(), condition: Condition::WithoutFacts };
    for (metric, failing, source) in [
        ("tasks", trial(&[("Hello", "Hi"), ("A refund", "No")], "tasks", 0.0, false), Source::Agent),
        ("tasks", trial(&[("Hello", "Hi"), ("My money", "No")], "tasks", 0.0, false), Source::Persona),
        ("tasks", trial(&[("Hello", "Hi")], "tasks", 0.0, false), Source::Persona),
        ("tasks", trial(&turns, "tasks", 0.0, false), Source::Judge),
        // A greeting is drawn by lot.
        ("tasks", trial(&[("Yo", "Done!"), ("A refund", "No")], "tasks", 0.0, false), Source::Agent),
        ("tasks", trial(&[("Hello", "Hi"), ("A refund", "No")], "tasks", 0.0, true), Source::Judge),
        ("assertions", trial(&turns, "assertions", 0.0, false), Source::Assertion),
        ("timing", trial(&turns, "timing", 0.0, false), Source::Agent),
        ("state", trial(&turns, "state", 0.0, false), Source::Unknown),
    ] {
        let mut sources = Sources::from_keys([&key]);
        sources.add(&passes(metric), None);
        sources.add(&failing, None);
        assert_eq!(sources.suspected(&key), [SourceCount { source, count: 1 }], "{metric}: {failing:?}");
        assert_eq!(sources.lost.count(), 0);
    }
    let mut gave_up = trial(&turns, "tasks", 0.0, true);
    gave_up.outcome = Some(Outcome::AgentFailed { error: "silence".to_owned() });
    let mut sources = Sources::from_keys([&key]);
    [&gave_up, &passes("tasks")].into_iter().for_each(|trial| sources.add(trial, None));
    assert_eq!(sources.suspected(&key), [SourceCount { source: Source::Agent, count: 1 }]);
}

#[test]
fn conversations_that_say_nothing_of_the_agent_are_counted_apart() {
    let key = FlakeKey { model: "m".to_owned(), case: "c".to_owned(), condition: Condition::WithoutFacts };
    let mut sources = Sources::from_keys([&key]);
    let error = || "e".to_owned();
    for outcome in [
        Outcome::Broken { error: error() },
        Outcome::Broken { error: error() },
        Outcome::PersonaInvalid { error: error() },
        Outcome::JudgeFailed { error: error() },
    ] {
        sources.add(&TrialRecord { outcome: Some(outcome), ..trial(&[], "tasks", 0.0, false) }, None);
    }
    assert_eq!(sources.lost, InvalidTrials { broken: 2, persona_invalid: 1, judge_failed: 1, without_score: 0 });
    assert_eq!(sources.suspected(&key), []);
}

#[test]
fn the_source_is_the_same_in_whichever_order_conversations_end_and_few_of_many_are_held() {
    let key = FlakeKey { model: "m".to_owned(), case: "c".to_owned(), condition: Condition::WithoutFacts };
    let (passing, judged) = ([("Hello", "Hi"), ("A refund", "Done!")], [("Hello", "Hi"), ("A refund", "Done!")]);
    let replied = [("Hello", "Hi"), ("A refund", "No")];
    let kinds = [
        trial(&passing, "tasks", 1.0, false),
        trial(&judged, "tasks", 0.0, false),
        trial(&replied, "tasks", 0.0, false),
    ];
    let numbered = |number: u32| {
        let mut trial = kinds[(number % 3) as usize].clone();
        trial.trial.number = number;
        trial
    };
    let mut trials: Vec<TrialRecord> = (1..=300).map(numbered).collect();
    let suspected = |trials: &[TrialRecord]| {
        let mut sources = Sources::from_keys([&key]);
        for _ in 0..2 {
            sources.begin_night();
            trials.iter().for_each(|trial| sources.add(trial, None));
        }
        sources.suspected(&key)
    };
    let (expected, mut rng) = (suspected(&trials), fastrand::Rng::with_seed(4));
    let count = |source| SourceCount { source, count: 20 };
    assert_eq!(expected, [count(Source::Agent), count(Source::Judge)]);
    for _ in 0..5 {
        rng.shuffle(&mut trials);
        assert_eq!(suspected(&trials), expected);
    }
}
