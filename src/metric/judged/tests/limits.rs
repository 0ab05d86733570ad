//! What no judge can decide: verdicts that can't be used, and conversations that are too long.

use super::*;

#[test]
fn what_is_cut_is_known_by_all_texts_of_the_question() {
    let mut example = Example::new(0);
    example.transcript.turns.push(Turn::answered(2, "And?", &"lorem ".repeat(2_000)));
    let ids: Vec<String> = (1..=20).map(|number| number.to_string()).collect();
    let long = |id: &String| Rubric { id: id.clone(), text: "It holds. ".repeat(2_000), ..Rubric::default() };
    let rubrics: Vec<Rubric> = ids.iter().map(long).collect();
    let measure = || RubricConfig { rubrics: rubrics.clone(), ..RubricConfig::default() };
    let input = input(&example);
    let question = asked(measure(), &input).remove(0);
    assert!(question.cuts.iter().any(|cut| cut.contains("turn 2")), "{:?}", question.cuts);
    let no = |id: &String| json!({"id": id, "reason": "so", "quotes": [], "turnsRead": [1, 2], "verdict": "no"});
    let dimension = score(measure(), &input, &[ids.iter().map(no).collect()]);
    assert!(dimension.component.is_missing(), "{:?}", dimension.component);
    assert!(dimension.items[0].component.why().contains("was not shown whole"), "{:?}", dimension.items[0]);
}

/// The score by a judge that fails, and by replies none of whose verdicts can be used.
fn of_dead_judges<M: JudgeMeasure>(measure: impl Fn() -> M, input: &MetricInput<'_>) -> Vec<Dimension> {
    let metric = || JudgedMetric { weight: Weight::ONE, measure: measure() };
    let judgement = Judgement::answered(metric().question_id(), Observed::Failed("the judge is down".to_owned()));
    let unusable = [json!([]), json!([verdict("1", "ja"), verdict("2", "ja"), verdict("end", "ja")])];
    let mut all = vec![metric().score(input, &[judgement]), metric().score(input, &[])];
    all.extend(unusable.map(|reply| score(measure(), input, &[reply])));
    all
}

#[test]
fn a_dead_judge_is_missing_in_every_dialect() {
    let mut example = Example::new(1);
    example.transcript.turns.push(Turn::answered(2, "And?", "Well."));
    let opening = ["Hi".to_owned()];
    let user = crate::metric::UserInput { is_simulated: true, opening: &opening, ..Default::default() };
    let input = MetricInput { user, ..input(&example) };
    for strict in [false, true] {
        let judging = || JudgeOptions { strict, ..JudgeOptions::default() };
        let role = || RoleAdherenceConfig { role: "a waiter".to_owned(), judging: judging() };
        let all = [
            of_dead_judges(|| TurnRelevancyConfig { judging: judging(), ..Default::default() }, &input),
            of_dead_judges(role, &input),
            of_dead_judges(|| SimulatedUserConfig { judging: judging() }, &input),
            of_dead_judges(|| RubricConfig { judging: judging(), ..rubric(&["1", "2"]) }, &input),
        ];
        for dimension in all.iter().flatten() {
            assert!(dimension.component.is_missing(), "strict {strict}: {dimension:?}");
        }
    }
}

#[test]
fn where_all_verdicts_are_left_out_nothing_is_measured() {
    let example = Example::new(0);
    let judging = JudgeOptions { unknown: Some(UnknownVerdict::LeftOut), ..JudgeOptions::default() };
    let measure = RubricConfig { judging, ..rubric(&["a"]) };
    let dimension = score(measure, &input(&example), &[json!([verdict("a", "ja")])]);
    assert!(dimension.component.is_missing(), "{dimension:?}");
}

#[test]
fn a_good_mark_without_a_word_of_the_agents_says_so_in_every_metric() {
    let example = Example::new(0);
    let input = input(&example);
    let with = |quotes: Value, key: &str, decision: Value| {
        let mut verdict = json!({"id": "1", "item": "a table", "reason": "so", "quotes": quotes, "turnsRead": [1]});
        verdict[key] = decision;
        [json!([verdict])]
    };
    let role = || RoleAdherenceConfig { role: "a waiter".to_owned(), ..RoleAdherenceConfig::default() };
    let geval = || GevalConfig { criteria: "It is polite.".to_owned(), ..GevalConfig::default() };
    for (quotes, is_marked) in
        [(json!([]), true), (json!([{"turn": 1, "text": "Hi"}]), true), (json!([{"turn": 1, "text": "Hello"}]), false)]
    {
        let yes = with(quotes.clone(), "verdict", json!("yes"));
        for dimension in [
            score(TurnRelevancyConfig::default(), &input, &yes),
            score(role(), &input, &yes),
            score(CompletenessConfig::default(), &input, &yes),
            score(rubric(&["1"]), &input, &yes),
            score(geval(), &input, &with(quotes.clone(), "score", json!(9))),
        ] {
            assert_eq!(dimension.items[0].component.is_unsupported(), is_marked, "{quotes}: {dimension:?}");
        }
        let no = score(role(), &input, &with(quotes, "verdict", json!("no")));
        assert!(!no.items[0].component.is_unsupported(), "{no:?}");
    }
}

#[test]
fn more_wishes_than_there_is_room_for_are_not_dropped() {
    let example = Example::new(0);
    let input = input(&example);
    let wishes: Vec<Value> = (0..40).map(|at| verdict(&at.to_string(), if at < 20 { "yes" } else { "no" })).collect();
    let raw = json!({ "verdicts": wishes }).to_string();
    let metric = JudgedMetric { weight: Weight::ONE, measure: CompletenessConfig::default() };
    let question = asked(CompletenessConfig::default(), &input).remove(0);
    assert!(question.prompt.contains("to 20 at most"), "{}", question.prompt);
    let error = metric.read(&input, &question, &raw).unwrap_err();
    assert!(!matches!(error, ReplyError::InPart(_)), "nothing of it counts: {error:?}");
    assert!(score(CompletenessConfig::default(), &input, &[json!(wishes)]).component.is_missing());
    let judging = JudgeOptions { strict: true, ..JudgeOptions::default() };
    let strict = score(CompletenessConfig { judging }, &input, &[json!(wishes)]);
    assert_eq!(strict.component.score(), Score::new(0.5), "DeepEval takes them all");
}

#[test]
fn what_is_no_verdict_at_all_gets_the_message_that_fits() {
    let example = Example::new(0);
    let input = input(&example);
    let metric = JudgedMetric { weight: Weight::ONE, measure: rubric(&["a"]) };
    let question = asked(rubric(&["a"]), &input).remove(0);
    for raw in ["null", "0", "x", "[]", "{}"] {
        let error = metric.read(&input, &question, raw).unwrap_err();
        assert!(matches!(error, ReplyError::NotJson(_) | ReplyError::NoVerdicts), "{raw}: {error:?}");
    }
}
