//! Metrics that ask a judge.

use serde_json::{Value, json};

use super::options;
use crate::dataset::NamedText;
use crate::dataset::lower::{LowerOptions, lower};

#[test]
fn a_metric_of_rubrics_without_any_is_missing_and_never_left_out() {
    let set = |rubrics: Value| {
        json!({
            "eval_set_id": "s",
            "eval_cases": [{
                "eval_id": "c",
                "rubrics": rubrics,
                "conversation": [{"user_content": {"parts": [{"text": "Hi"}], "role": "user"}}],
            }],
        })
    };
    let config = json!({"criteria": {
        "tool_trajectory_avg_score": 1.0,
        "rubric_based_final_response_quality_v1": {"threshold": 0.8, "judge_model_options": {"num_samples": 1}},
    }});
    let metrics = |rubrics: Value, strict: bool| {
        let config = crate::dataset::NamedText { name: "test_config.json".to_owned(), text: config.to_string() };
        let beside = crate::dataset::Beside { config: Some(config), ..crate::dataset::Beside::default() };
        let dataset = crate::dataset::load("s.evalset.json", &set(rubrics).to_string(), &beside).unwrap();
        lower(&dataset, &LowerOptions { strict, ..options() }).document["metrics"].clone()
    };
    let none = metrics(json!([]), false);
    assert!(none[1].get("unavailable").is_some(), "{none}");
    let rubric = |of_type: Value| json!([{"rubric_id": "r", "rubric_content": {"text_property": "It is kind."}, "type": of_type}]);
    for (of_type, is_used, is_used_there) in [
        (json!(null), true, false),
        (json!("FINAL_RESPONSE_QUALITY"), true, true),
        (json!("TOOL_USE_QUALITY"), false, false),
    ] {
        for (strict, is_used) in [(false, is_used), (true, is_used_there)] {
            let found = metrics(rubric(of_type.clone()), strict);
            assert_eq!(found[1].get("rubric").is_some(), is_used, "{of_type}, strict {strict}: {found}");
        }
    }
}

#[test]
fn what_trpcs_judges_say_beside_the_known_words_is_an_error_or_a_no_in_its_own_dialect() {
    let judge = json!({"llmJudge": {"judgeModel": {"providerName": "openai", "modelName": "m"},
        "rubrics": [{"id": "r", "content": {"text": "It is kind."}}]}});
    let unknown = |evaluator: &str, strict: bool| {
        let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c",
            "conversation": [{"userContent": {"role": "user", "content": "Hi"}, "finalResponse": {"role": "assistant", "content": "Hello"}}],
            "sessionInput": {"appName": "a", "userId": "u"}}]});
        let config = json!([{"metricName": evaluator, "threshold": 0.5, "criterion": judge}]);
        let config = NamedText { name: "s.metrics.json".to_owned(), text: config.to_string() };
        let beside = crate::dataset::Beside { config: Some(config), ..Default::default() };
        let dataset = crate::dataset::load("s.evalset.json", &set.to_string(), &beside).unwrap();
        let entry = lower(&dataset, &LowerOptions { strict, ..options() }).document["metrics"][0].clone();
        let options = entry.as_object().unwrap().values().find(|it| it.is_object()).unwrap().clone();
        options["judging"]["unknown"].clone()
    };
    assert_eq!(unknown("llm_hallucinations", true), "missing");
    assert_eq!(unknown("llm_rubric_response", true), "fails");
    assert_eq!(unknown("llm_final_response", true), "fails");
    assert_eq!(unknown("llm_hallucinations", false), Value::Null);
}

#[test]
fn a_judge_with_no_expected_reply_to_compare_with_is_missing_and_never_left_out() {
    let metrics = |reply: Value, options: &LowerOptions| {
        let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "expectedRunnerEnabled": true,
            "conversation": [{"userContent": {"role": "user", "content": "Hi"}, "finalResponse": reply}],
            "sessionInput": {"appName": "a", "userId": "u"}}]});
        let judge = json!({"llmJudge": {"judgeModel": {"providerName": "openai", "modelName": "m"}}});
        let config = json!([
            {"metricName": "llm_final_response", "threshold": 0.5, "criterion": judge},
            {"metricName": "llm_verifier_pairwise", "threshold": 0.5, "criterion": judge},
        ]);
        let beside = crate::dataset::Beside {
            config: Some(NamedText { name: "s.metrics.json".to_owned(), text: config.to_string() }),
            ..Default::default()
        };
        let dataset = crate::dataset::load("s.evalset.json", &set.to_string(), &beside).unwrap();
        let document = lower(&dataset, options).document;
        let key = |at: usize, key: &str| document["metrics"][at].get(key).is_some();
        (key(0, "finalResponse") && key(1, "pairwise"), key(0, "unavailable") && key(1, "unavailable"))
    };
    let (none, some) = (json!(null), json!({"role": "assistant", "content": "Hello"}));
    assert_eq!(metrics(none.clone(), &options()), (false, true));
    assert_eq!(metrics(some, &options()), (true, false));
    let some = json!({"role": "assistant", "content": "Hello"});
    assert_eq!(metrics(some, &LowerOptions { strict: true, ..options() }), (true, false), "with letters");
    let reference = Some(("demo".to_owned(), serde_json::Map::new()));
    assert_eq!(metrics(none.clone(), &LowerOptions { reference, ..options() }), (true, false), "a second agent tells");
    assert_eq!(
        metrics(none, &LowerOptions { is_part: true, ..options() }),
        (true, false),
        "another case may expect one"
    );
}

/// A metric of this file that asks a judge, as it is measured here, and the warnings.
pub(super) fn judged(text: &Value, config: &Value) -> (Value, Vec<String>) {
    let beside = crate::dataset::Beside {
        config: Some(NamedText { name: "c.json".to_owned(), text: config.to_string() }),
        ..Default::default()
    };
    let dataset = crate::dataset::load("s.evalset.json", &text.to_string(), &beside).unwrap();
    let lowered = lower(&dataset, &options());
    (lowered.document["metrics"][0].clone(), lowered.warnings)
}

#[test]
fn knowledge_is_recalled_by_what_was_retrieved_alone() {
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [
        {"invocationId": "1", "userContent": {"role": "user", "content": "hi"}}]}]});
    let metric = |more: Value| {
        let mut judge = json!({"judgeModel": {"providerName": "openai", "modelName": "gpt", "numSamples": 200},
            "rubrics": [{"id": "1", "content": {"text": "It has the price."}}]});
        judge.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([{"metricName": "llm_rubric_knowledge_recall", "threshold": 0.6, "criterion": {"llmJudge": judge}}])
    };
    let (by_default, warnings) = judged(&set, &metric(json!({})));
    assert_eq!(
        by_default["rubric"]["retrievedBy"],
        json!(["knowledge_search", "knowledge_search_with_agentic_filter"])
    );
    assert_eq!(by_default["rubric"]["judging"]["samples"], 99);
    assert!(warnings.iter().any(|it| it.contains("is asked 99 times, not 200")), "{warnings:?}");
    assert!(warnings.iter().any(|it| it.contains("(gpt) is not asked")), "{warnings:?}");
    let (own, _) = judged(&set, &metric(json!({"knowledgeToolNames": ["find"]})));
    assert_eq!(own["rubric"]["retrievedBy"], json!(["find"]));
}

#[test]
fn samples_that_a_go_program_adds_up_can_not_be_computed() {
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [
        {"invocationId": "1", "userContent": {"role": "user", "content": "hi"}}]}]});
    let judged = |key: &str, name: &str| {
        let binding = json!({"templateVariable": "q", "source": {"scope": "actual", "field": "finalResponse"}});
        let template =
            json!({"prompt": "{{q}}", "responseScorerName": "boolean", key: name, "variableBindings": [binding]});
        let metric = json!([{"metricName": "llm_judge_template", "threshold": 0.6, "criterion": {"llmJudge": {"template": template}}}]);
        judged(&set, &metric).0
    };
    for (key, own) in [("sampleAggregatorName", "majority_vote"), ("invocationAggregatorName", "average")] {
        assert!(judged(key, own)["template"].is_object(), "{key}");
        let why = judged(key, "mine")["unavailable"]["why"].to_string();
        assert!(why.contains(key) && why.contains("is registered in a Go program"), "{why}");
    }
}

#[test]
fn what_adk_says_between_calls_is_judged_where_a_criterion_says_so() {
    let set = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"invocation_id": "1",
        "user_content": {"role": "user", "parts": [{"text": "hi"}]},
        "final_response": {"role": "model", "parts": [{"text": "ho"}]}}]}]});
    for (name, flag, key) in [
        ("final_response_match_v2", "include_intermediate_responses_in_final", "finalResponse"),
        ("hallucinations_v1", "evaluate_intermediate_nl_responses", "hallucination"),
    ] {
        for is_set in [true, false] {
            let (metric, _) = judged(&set, &json!({"criteria": {name: {"threshold": 0.5, flag: is_set}}}));
            assert_eq!(metric[key]["judging"]["intermediate"] == true, is_set, "{name}: {metric}");
        }
    }
}
