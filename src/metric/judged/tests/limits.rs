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
    let judgement = Judgement {
        question: metric().question_id(),
        judge: "m".to_owned(),
        sample: 1,
        reply: Observed::Failed("the judge is down".to_owned()),
        rejected: Vec::new(),
        alternatives: Vec::new(),
        usage: Usage::default(),
        is_cached: false,
        notes: Vec::new(),
    };
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
