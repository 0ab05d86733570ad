//! The format of a file, by its content.

use super::super::Kind::{self, *};
use super::super::{Purpose, is_json, recognise};
use super::*;

#[test]
fn every_file_of_the_systems_is_recognised_by_its_content() {
    let mut count = 0;
    let mut folders = vec![folder()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.to_string_lossy().replace('\\', "/");
            let Some(expected) = kind_by_name(&name) else { continue };
            let found = recognise("x", &std::fs::read_to_string(&path).unwrap());
            assert!(found.as_ref().is_ok_and(|found| expected.contains(found)), "{name}: {found:?}");
            count += 1;
        }
    }
    assert!(count > 100, "only {count} files");
}

/// What a file of the systems' own is, by the name that its system gives it.
fn kind_by_name(name: &str) -> Option<&'static [Kind]> {
    let is_trpc = name.contains("/trpc");
    Some(match name {
        _ if name.ends_with(".metrics.json") && is_trpc => &[TrpcMetrics],
        _ if name.ends_with(".evalset.json") && is_trpc => &[TrpcEvalSet],
        _ if name.ends_with(".evalset_result.json") => &[TrpcResult],
        _ if name.ends_with("test_config.json") => &[AdkTestConfig],
        _ if name.contains("/redhat/conversations_config/conversations/") => &[RedhatConversation],
        _ if name.contains("/redhat/results/") => &[RedhatConversation],
        _ if name.ends_with("authoritative_user_ids") => &[RedhatUserIds],
        _ if name.contains("/watsonx/evaluate/data_") || name.contains("/quick-eval/") => &[WatsonxCase],
        _ if name.ends_with(".messages.json") => &[WatsonxMessages],
        _ if name.ends_with(".messages.analyze.json") => &[WatsonxAnalyze],
        _ if name.ends_with("knowledge_base_detailed_metrics.json") => return None,
        _ if name.ends_with("metrics.json") || name.ends_with("summary_metrics.csv") => &[WatsonxMetrics],
        _ if name.ends_with("config.yml") || name.contains("/cpd/configs/") => &[WatsonxConfig],
        _ if name.ends_with("stories.csv") => &[WatsonxStories],
        _ if name.ends_with(".tsv") => &[WatsonxValidation],
        _ if name.ends_with("watsonx-dataset.json") => &[WatsonxCase],
        _ if name.ends_with("adk-test-file.json") || name.ends_with("adk-evalset.json") => &[AdkEvalSet],
        _ if name.ends_with(".test.json") || name.ends_with(".evalset.json") => &[AdkEvalSet, AdkTestList],
        _ => return None,
    })
}

#[test]
fn kinds_are_told_apart_by_their_content() {
    for (text, kind) in [
        (r#"[{"query": "a"}]"#, AdkTestList),
        (r#"[{"name": "a", "data": []}]"#, AdkOldEvalSet),
        (r#"{"scenarios": []}"#, AdkScenarios),
        (r#"{"state": {}}"#, AdkSession),
        (r#""{\"eval_set_result_id\": \"a\"}""#, AdkResult),
        (r#"{"evalSetId": "a", "evalCases": []}"#, TrpcEvalSet),
        (r#"{"evalSetId": "a", "evalCases": [{"conversation": [{"finalResponse": {"role": "model"}}]}]}"#, TrpcEvalSet),
        (r#"{"story": "a", "starting_sentence": "b"}"#, WatsonxCase),
        ("story,agent\na,b\n", WatsonxStories),
        ("# c\ntest_paths:\n  - a\n", WatsonxConfig),
        ("a\tb\nc\td", WatsonxValidation),
        ("dataset_name,is_success\n", WatsonxMetrics),
        (r#"[{"role": "user", "content": "a", "type": "text"}]"#, WatsonxMessages),
        (r#"[{"role": "user", "content": "a"}]"#, MessageList),
        (r#"{"messages": [{"role": "user", "content": "a"}]}"#, MessageList),
        (r#"{"metadata": {}, "conversation": []}"#, RedhatConversation),
        ("a@b.c\nd@e.f\n", RedhatUserIds),
        ("{\"resourceSpans\": []}\n{\"resourceSpans\": []}\n", OtlpTraces),
        ("\u{feff}// c\n{\"eval_cases\": []}", AdkEvalSet),
    ] {
        assert_eq!(recognise("x", text).ok(), Some(kind), "{text}");
    }
}

#[test]
fn what_is_none_of_them_is_told_what_was_looked_for() {
    for (text, message) in [
        ("", "the file is empty"),
        ("[]", "it is an empty list"),
        ("{}", "looked for: Google ADK (`eval_cases`"),
        (r#"{"name": "s", "version": 1, "test_cases": [{"id": "a"}]}"#, "no code of ADK reads it"),
        (r#"{"state": {}, "queries": ["a"]}"#, "adk run --replay"),
        (r#"{"tool_simulation_configs": []}"#, "simulated tools"),
        (r#"{"eval_id": "a", "conversation": []}"#, "a single case or turn"),
        (r#"{"metricName": "a"}"#, "a single metric"),
        (r#"{"spec_version": "v1", "name": "a"}"#, "describes an agent"),
        (r#"{"target": {}, "tasks": []}"#, "a job of eval-job's own"),
        ("target:\n  user: a\ntasks: []\n", "a job of eval-job's own"),
        ("env1:\n  test_paths: ./a\n", "a file of environments"),
        ("some text: with words", "no evaluation file that eval-job knows"),
        (r#"{"criteria": {}}"#, "run one of those, or their folder"),
        (r#"[{"metricName": "a", "threshold": 1}]"#, "run that one"),
        (r#"{"eval_set_result_id": "a"}"#, "is graded with `eval-job grade --dataset CASES --actual FILE`"),
        (r#"{"eval_cases": [}"#, "f.json:1:17: this bracket does not close the `[` of line 1"),
    ] {
        let refused = refused(text, &Beside::default());
        assert!(refused.contains(message), "{text}: {refused}");
    }
}

#[test]
fn every_kind_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert_eq!(names.len(), Kind::ALL.len());
    assert!(Kind::ALL.iter().any(|kind| kind.purpose() == Purpose::Summary));
}

#[test]
fn an_eval_set_of_adk_may_be_camel_case_at_the_top_alone() {
    let set = |case: &str| format!(r#"{{"evalSetId": "s", "evalCases": [{{{case}}}]}}"#);
    for (case, kind) in [
        (r#""eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]"#, AdkEvalSet),
        (r#""evalId": "c", "conversation": [{"user_content": {"parts": [{"text": "Hi"}]}}]"#, AdkEvalSet),
        (r#""evalId": "c", "conversation": [{"userContent": {"role": "user", "content": "Hi"}}]"#, TrpcEvalSet),
        (
            r#""evalId": "c", "conversation": [{"finalResponse": {"role": "model", "parts": [{"text": "Hi"}]}}]"#,
            TrpcEvalSet,
        ),
        (r#""evalId": "c", "conversation": [{"intermediateData": {"invocationEvents": []}}]"#, AdkEvalSet),
    ] {
        assert_eq!(recognise("x", &set(case)).unwrap(), kind, "{case}");
    }
    for go in [r#"{"EvalSetID": "s", "evalcases": []}"#, r#"[{"MetricName": "m", "threshold": 1}]"#] {
        assert!(matches!(recognise("x", go).unwrap(), TrpcEvalSet | TrpcMetrics), "{go}");
    }
}

#[test]
fn requests_and_results_of_promptiter_are_named() {
    for (text, part) in [
        (r#"{"run": {"train": [{"evalSetId": "t"}], "TargetSurfaceIDs": ["n#instruction"]}}"#, "asks PromptIter"),
        (r#"{"AppName": "a", "Status": "succeeded", "Rounds": []}"#, "what PromptIter"),
    ] {
        let help = recognise("f.json", text).unwrap_err().list[0].help.clone().unwrap();
        assert!(help.contains(part), "{help}");
    }
}

#[test]
fn json_is_known_behind_a_byte_order_mark_and_comments_and_a_single_value_is_no_list_of_ids() {
    for text in ["\u{feff}{}", " // a\n[]", "# a\n/* b */ {"] {
        assert!(is_json(text), "{text:?}");
    }
    assert!(!is_json("- a: {}"));
    for text in ["null", "5", "true\n"] {
        let refused = recognise("f.json", text).unwrap_err().list[0].message.clone();
        assert_eq!(refused, "this is a single value, and no evaluation file", "{text}");
    }
    assert_eq!(recognise("ids", "a@b.c\n7\n").unwrap(), RedhatUserIds);
}
