use serde_json::{Value, json};

use super::*;
use crate::evidence::{Condition, TrialId};
use crate::record::{Provenance, TrialRecord};
use crate::score::{Component, Outcome, Score, Scorecard};

fn trial(case: &str, repeat: u32, score: Option<f64>) -> TrialRecord {
    held(case, Condition::WithoutFacts, repeat, score)
}

fn held(case: &str, condition: Condition, repeat: u32, score: Option<f64>) -> TrialRecord {
    let id = TrialId { number: 0, case: case.to_owned(), model: "m".to_owned(), condition, repeat };
    let composite = match score {
        Some(score) => Component::scored(Score::new(score).unwrap(), ""),
        None => Component::missing("no judge"),
    };
    TrialRecord {
        outcome: Some(Outcome::Graded),
        scorecard: Some(Scorecard { dimensions: Vec::new(), failure_count: 0, penalty: 0.0, composite }),
        started_at: Some("2026-01-01T00:00:00Z".parse().unwrap()),
        ..TrialRecord::planned(id)
    }
}

fn side(run: &str) -> Side {
    Side { run: run.to_owned(), model: "m".to_owned() }
}

fn scores(trials: &[TrialRecord]) -> Scores {
    let mut scores = Scores::default();
    trials.iter().for_each(|trial| scores.add(trial));
    scores
}

fn scores_of_cases(values: &[f64]) -> Scores {
    scores(&values.iter().enumerate().map(|(at, value)| trial(&format!("c{at}"), 1, Some(*value))).collect::<Vec<_>>())
}

fn one(first: &Scores, second: &Scores) -> Comparison {
    compare(&[[(&side("a"), first), (&side("b"), second)]], ComparisonRules::default()).remove(0)
}

const BASE: [f64; 8] = [0.5, 0.6, 0.55, 0.7, 0.4, 0.65, 0.5, 0.6];

fn moved(by: f64) -> Vec<f64> {
    let wobble = [0.01, -0.01, 0.0, 0.005, -0.005, 0.01, -0.01, 0.0];
    BASE.iter().zip(wobble).map(|(score, wobble)| score + by + wobble).collect()
}

#[test]
fn each_relation_is_reported_where_it_is_shown() {
    let base = scores_of_cases(&BASE);
    for (by, relation) in [
        (0.1, Relation::Better),
        (-0.1, Relation::Worse),
        (0.0, Relation::Inconclusive),
        (0.019, Relation::Inconclusive),
    ] {
        let found = one(&base, &scores_of_cases(&moved(by)));
        assert_eq!(found.relation(), relation, "{by}: {found:#?}");
        // So near to the margin no suite of practical size decides it.
        assert_eq!(found.scores[0].needed.is_some(), by == 0.0, "{by}");
    }
}

/// A number of cases that are nearly alike on both sides.
fn nearly_alike(cases: usize) -> [Scores; 2] {
    [3, 7].map(|step| scores_of_cases(&(0..cases).map(|at| 1.0 - 0.001 * (at * step % 10) as f64).collect::<Vec<_>>()))
}

#[test]
fn few_cases_that_are_nearly_alike_are_not_shown_to_be_the_same() {
    for cases in [3, 10, 100] {
        let [first, second] = nearly_alike(cases);
        let score = one(&first, &second).scores.remove(0);
        assert_eq!((score.relation, score.alike_as_seen), (Relation::Inconclusive, true), "{cases}: {score:#?}");
        let needed = score.needed.and_then(|needed| needed.cases).unwrap();
        assert!((149..=190).contains(&needed), "{cases}: {needed}");
    }
    let [first, second] = nearly_alike(190);
    assert_eq!(one(&first, &second).relation(), Relation::Same);
}

#[test]
fn cases_that_are_held_with_several_kinds_of_users_raise_no_more_false_alarms() {
    let personas = ["terse", "hostile", "chatty", "vague"].map(str::to_owned);
    let mut rng = fastrand::Rng::with_seed(20_261_125);
    let (mut alarms, mut naive) = (0, 0);
    const DRAWS: usize = 2000;
    for _ in 0..DRAWS {
        let mut sides = [Vec::new(), Vec::new()];
        for case in 0..6 {
            // A case goes better or worse for a model whoever the user is.
            let moved = 0.2 * (rng.f64() - 0.5);
            for persona in &personas {
                let id = format!("c{case}@{persona}");
                let base = 0.4 + 0.2 * rng.f64();
                sides[0].push(trial(&id, 1, Some(base)));
                sides[1].push(trial(&id, 1, Some(base + moved + 0.02 * (rng.f64() - 0.5))));
            }
        }
        let found = |personas: &[String]| {
            let [first, second] = [0, 1].map(|side| {
                let mut scores = Scores::new(personas);
                sides[side].iter().for_each(|trial| scores.add(trial));
                scores
            });
            one(&first, &second)
        };
        let own = found(&personas);
        assert_eq!((own.cases, own.scores[0].cases, own.scores[0].pairs), (24, 6, 24));
        alarms += usize::from(own.scores[0].p <= ALPHA);
        naive += usize::from(found(&[]).scores[0].p <= ALPHA);
    }
    assert!(alarms * 1000 <= 60 * DRAWS, "{alarms}");
    assert!(naive * 1000 >= 250 * DRAWS, "as if each were a case of its own: {naive}");
}

#[test]
fn only_pairs_are_compared_and_the_rest_is_listed() {
    let first = scores(&[
        trial("a", 1, Some(0.5)),
        trial("a", 2, Some(0.7)),
        trial("b", 1, None),
        trial("b", 2, Some(0.9)),
        trial("only here", 1, Some(1.0)),
    ]);
    let second = scores(&[
        trial("only there", 1, Some(0.0)),
        trial("b", 2, Some(0.8)),
        trial("b", 1, Some(0.8)),
        trial("a", 1, Some(0.6)),
    ]);
    let found = one(&first, &second);
    assert_eq!((found.cases, found.pairs), (2, 2));
    assert!((found.scores[0].difference - 0.0).abs() < 1e-9);
    assert_eq!(
        found.left_out,
        Excluded {
            only_first: vec!["only here".to_owned()],
            only_second: vec!["only there".to_owned()],
            unpaired: 1,
            first_lacks_score: 1,
            second_lacks_score: 0,
            both_lack_score: 0,
        }
    );
}

#[test]
fn nothing_shared_is_inconclusive() {
    let found = one(&scores(&[trial("a", 1, Some(0.5))]), &scores(&[trial("b", 1, Some(0.6))]));
    assert_eq!((found.relation(), found.pairs, found.scores.len()), (Relation::Inconclusive, 0, 0));
}

#[test]
fn a_run_beside_itself_is_not_shown_to_be_the_same_by_few_cases() {
    let base = scores_of_cases(&BASE);
    let score = &one(&base, &base).scores[0];
    assert!(score.no_pair_differs);
    assert_eq!((score.relation, score.p), (Relation::Inconclusive, 1.0));
    assert_eq!(score.needed.unwrap().cases, Some(149));
    let many: Vec<f64> = (0..150).map(|case| f64::from(case) / 150.0).collect();
    assert_eq!(one(&scores_of_cases(&many), &scores_of_cases(&many)).relation(), Relation::Same);
}

#[test]
fn several_models_are_one_family() {
    let base = scores_of_cases(&BASE);
    // Alone it is better; as the best of twelve it may be chance.
    let second = scores_of_cases(&[0.62, 0.6, 0.6, 0.7, 0.5, 0.65, 0.61, 0.66]);
    assert_eq!(one(&base, &second).relation(), Relation::Better);
    let like = scores_of_cases(&[0.45, 0.66, 0.5, 0.77, 0.42, 0.6, 0.55, 0.6]);
    let names: Vec<Side> = (0..12).map(|at| side(&at.to_string())).collect();
    let first = side("a");
    let scores = |at: usize| if at == 0 { &second } else { &like };
    let pairs: Vec<[ScoredSide<'_>; 2]> =
        names.iter().enumerate().map(|(at, side)| [(&first, &base), (side, scores(at))]).collect();
    let found = compare(&pairs, ComparisonRules::default());
    assert_eq!(found[0].relation(), Relation::Inconclusive, "{:?}", found[0].scores[0]);
}

#[test]
fn conditions_are_compared_by_themselves_too() {
    let both = |without: f64, with: f64| {
        let case = |at: u32| {
            let wobble = f64::from(at) / 1000.0;
            [
                held(&at.to_string(), Condition::WithoutFacts, 1, Some(without + wobble)),
                held(&at.to_string(), Condition::WithFacts, 1, Some(with - wobble)),
            ]
        };
        scores(&(0..8).flat_map(case).collect::<Vec<_>>())
    };
    let found = one(&both(0.5, 0.8), &both(0.505, 0.6));
    let relations: Vec<(&str, u32, Relation)> =
        found.scores.iter().map(|score| (score.subject.name(), score.pairs, score.relation)).collect();
    assert_eq!(relations[0], ("score", 16, Relation::Worse));
    assert_eq!(relations.len(), 3);
    assert!((found.scores[2].difference + 0.2).abs() < 1e-9, "{:?}", found.scores[2]);
}

#[test]
fn runs_that_were_not_held_alike_differ_by_what_is_named() {
    let job = json!({
        "name": "a", "scorer": {"temperature": 0.0, "prompt": "eval/score"}, "weights": {"tasks": 2.0},
        "cases": [{"id": "a", "tasks": ["one"]}, {"id": "b", "tasks": ["two"]}], "gate": {"minScore": 0.5},
    });
    let mut other = job.clone();
    let provenance = Provenance { tool_version: "0.1.0".to_owned(), ..Provenance::default() };
    let both = scores(&[trial("a", 1, Some(0.5)), trial("b", 1, Some(0.5))]);
    let differences = |job: &serde_json::Value, provenance_: &Provenance, other: &serde_json::Value| {
        let (one, other) = (RunRules::new(&provenance, Some(job)), RunRules::new(provenance_, Some(other)));
        one.differences(&other, &both, &both).into_iter().map(|it| (it.what, it.first, it.second)).collect::<Vec<_>>()
    };
    other["name"] = json!("b");
    other["gate"] = json!({});
    other["target"] = json!({"http": {}});
    assert_eq!(differences(&job, &provenance, &other), []);
    other["scorer"]["temperature"] = json!(0.5);
    other["weights"] = json!({"tasks": 2.0, "tone": 1.0});
    other["cases"][1]["tasks"] = json!(["three"]);
    let newer = Provenance { tool_version: "0.2.1".to_owned(), ..Provenance::default() };
    let text = |what: &str, one: &str, other: &str| (what.to_owned(), one.to_owned(), other.to_owned());
    assert_eq!(
        differences(&job, &newer, &other),
        [
            text("the version of eval-job", "0.1", "0.2"),
            text("scorer.temperature", "0.0", "0.5"),
            text("weights.tone", "nothing", "1.0"),
            text("case b (tasks)", "one text", "another"),
        ]
    );
}

#[test]
fn a_judge_of_the_same_name_at_another_address_is_another_one() {
    let at = |endpoint: Option<&str>, persona: &str| {
        let (model_endpoint, persona_model) = (endpoint.map(str::to_owned), persona.to_owned());
        let provenance = Provenance { model_endpoint, persona_model, ..Provenance::default() };
        RunRules::new(&provenance, Some(&json!({})))
    };
    let [one, other] = ["http://one/v1", "http://other/v1"].map(|address| at(Some(address), "script"));
    let found = one.differences_from(&other);
    assert_eq!((found.len(), found[0].what.as_str()), (1, "the address of persona and judge"));
    assert!(found[0].is_of_judging, "what was said did not come from there");
    assert!(!one.differences_from(&at(None, "openai/persona"))[0].is_of_judging);
    assert_eq!(one.differences_from(&at(Some("http://one/v1"), "script")), []);
}

#[test]
fn a_side_that_lacks_what_could_turn_it_around_is_not_called_better() {
    let base = scores_of_cases(&BASE);
    let with = |values: &[f64], lacking: usize| {
        let trial = |(at, value): (usize, &f64)| trial(&format!("c{at}"), 1, (at != lacking).then_some(*value));
        scores(&values.iter().enumerate().map(trial).collect::<Vec<_>>())
    };
    // Without its case of 0.7 it is better by 0.05; with a 0 there it would be worse.
    let found = one(&base, &with(&moved(0.05), 3));
    let score = &found.scores[0];
    assert!(score.adjusted_p < 0.05 && score.difference > 0.02, "{score:#?}");
    assert_eq!(
        (found.relation(), score.is_open_for_missing(ComparisonRules::default())),
        (Relation::Inconclusive, true)
    );
    let bounds = score.with_missing.unwrap();
    assert!(bounds.low < 0.0 && bounds.high > 0.05, "{bounds:?}");
    // A difference that nothing there could turn around stands.
    assert_eq!(one(&base, &with(&moved(0.2), 3)).relation(), Relation::Better);
    assert_eq!(one(&with(&BASE, 4), &scores_of_cases(&moved(-0.3))).relation(), Relation::Worse);
    assert_eq!(one(&base, &scores_of_cases(&moved(0.0))).scores[0].with_missing, None);
}

#[test]
fn nearly_all_that_are_alike_are_not_the_same_where_those_that_are_missing_could_differ() {
    let [first, second] = nearly_alike(200);
    assert_eq!(one(&first, &second).relation(), Relation::Same);
    let lacking = |from: usize| {
        let trial = |at: usize| trial(&format!("c{at}"), 1, (at < from).then_some(1.0 - 0.001 * (at * 7 % 10) as f64));
        scores(&(0..200).map(trial).collect::<Vec<_>>())
    };
    let found = one(&first, &lacking(190));
    assert_eq!((found.relation(), found.left_out.second_lacks_score), (Relation::Inconclusive, 10));
}

#[test]
fn cases_without_a_score_on_either_side_may_be_anything() {
    let side = |values: &[f64]| {
        let trial = |at: usize| trial(&format!("c{at}"), 1, values.get(at).copied());
        scores(&(0..12).map(trial).collect::<Vec<_>>())
    };
    let found = one(&side(&BASE[..6]), &side(&moved(0.1)[..6]));
    let score = &found.scores[0];
    assert!(score.adjusted_p < 0.01 && score.needed.is_none(), "{score:#?}");
    assert_eq!((score.relation, found.left_out.both_lack_score), (Relation::Inconclusive, 6));
    let bounds = score.with_missing.unwrap();
    assert!((bounds.low + 0.45).abs() < 0.01 && (bounds.high - 0.55).abs() < 0.01, "{bounds:?}");
    // A pair that neither side has run yet is not missing.
    let [mut first, mut second] = [Scores::default(), Scores::default()];
    for at in 0..8 {
        for (side, by) in [(&mut first, 0.0), (&mut second, 0.1)] {
            side.add(&trial(&format!("c{at}"), 1, Some(moved(by)[at])));
            side.add(&TrialRecord::planned(trial(&format!("c{at}"), 2, None).trial));
        }
    }
    let found = one(&first, &second);
    assert_eq!((found.relation(), found.left_out.both_lack_score), (Relation::Better, 0), "{found:#?}");
    // One that was cut off is.
    for side in [&mut first, &mut second] {
        let planned = TrialRecord::planned(trial("c8", 1, None).trial);
        side.add(&TrialRecord { started_at: Some(chrono::DateTime::UNIX_EPOCH), ..planned });
    }
    assert_eq!(one(&first, &second).left_out.both_lack_score, 1);
}

#[test]
fn metrics_are_protected_as_scores_are() {
    let held = |case: usize, of_metric: Component| {
        let mut trial = trial(&format!("c{case}"), 1, of_metric.score().map(Score::get));
        if let Some(card) = trial.scorecard.as_mut() {
            card.dimensions = vec![
                serde_json::from_value(json!({
                    "name": "worth", "weight": 1.0, "component": of_metric,
                }))
                .unwrap(),
            ];
        }
        trial
    };
    let scored = |value: f64| Component::scored(Score::new(value).unwrap(), "");
    let side = |by: f64, last: &Component| {
        let own = |at: usize| held(at, if at < 6 { scored(moved(by)[at]) } else { last.clone() });
        scores(&(0..8).map(own).collect::<Vec<_>>())
    };
    let relation = |last: Component| {
        let found = one(&side(0.0, &scored(0.5)), &side(0.1, &last));
        let worth = found.scores.iter().find(|score| score.subject.name() == "worth").unwrap();
        (worth.relation, worth.with_missing.is_some())
    };
    assert_eq!(relation(Component::missing("no judge")), (Relation::Inconclusive, true));
    // One that does not apply is not missing.
    assert_eq!(relation(Component::not_applicable("no rubric")), (Relation::Better, false));
}

#[test]
fn the_intervals_of_several_scores_cover_all_at_once() {
    let mut rng = fastrand::Rng::with_seed(16);
    let (mut at_once, mut each) = (0, 0);
    for _ in 0..300 {
        let mut night = |mean: f64| {
            let noise = |rng: &mut fastrand::Rng| (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0;
            scores_of_cases(&(0..10).map(|_| mean + 0.03 * noise(&mut rng)).collect::<Vec<_>>())
        };
        let first = night(0.5);
        // True differences of 0, 0.1 and -0.1.
        let others = [0.5, 0.6, 0.4].map(&mut night);
        let names = ["a", "b", "c", "d"].map(side);
        let pairs: Vec<_> =
            others.iter().zip(&names[1..]).map(|(other, name)| [(&names[0], &first), (name, other)]).collect();
        let found = compare(&pairs, ComparisonRules::default());
        let covers = |interval: Option<crate::statistics::Interval>, truth: f64| {
            interval.is_some_and(|it| it.low <= truth && truth <= it.high)
        };
        let all = |interval: fn(&ComparedScore) -> Option<crate::statistics::Interval>| {
            found.iter().zip([0.0, 0.1, -0.1]).all(|(one, truth)| covers(interval(&one.scores[0]), truth))
        };
        at_once += usize::from(all(ComparedScore::shown_interval));
        each += usize::from(all(|score| score.interval));
    }
    assert!(at_once >= 279 && each < 279, "{at_once} and {each} of 300");
}

#[test]
fn a_single_comparison_and_metrics_have_intervals_of_their_own() {
    let found = one(&scores_of_cases(&BASE), &scores_of_cases(&moved(0.1)));
    let score = &found.scores[0];
    assert_eq!((score.simultaneous_interval, score.shown_interval()), (None, score.interval));
    // SciPy 1.17.1, stats.t.ppf(1 - .05 / 4, 7) / stats.t.ppf(.975, 7) is 1.1955.
    let (base, other) = (scores_of_cases(&BASE), scores_of_cases(&moved(0.1)));
    let (a, b, c) = (side("a"), side("b"), side("c"));
    let both = compare(&[[(&a, &base), (&b, &other)], [(&a, &base), (&c, &other)]], ComparisonRules::default());
    let width = |interval: Option<crate::statistics::Interval>| interval.map(|it| it.high - it.low).unwrap();
    let ratio = width(both[0].scores[0].simultaneous_interval) / width(both[0].scores[0].interval);
    assert!((1.15..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn what_is_measured_beside_a_metric_in_another_mode_is_no_rule() {
    let rules = |beside: Value| {
        let metric = match beside {
            Value::Null => json!({"metric": "trajectory", "threshold": 0.5}),
            other => json!({"metric": "trajectory", "beside": other, "threshold": 0.5}),
        };
        RunRules::new(&Provenance::default(), Some(&json!({"metrics": [metric]})))
    };
    assert_eq!(rules(Value::Null).differences_from(&rules(json!({"trajectory": {"strict": true}}))), []);
}
