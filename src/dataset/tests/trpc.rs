//! trpc-agent-go's files.

use serde_json::json;

use super::super::lost::read_back;
use super::super::{Kind, MeasureKind, ScenarioDriver, System, write};
use super::*;

/// An eval set of the system's own with the metrics beside it.
fn example(path: &str) -> Dataset {
    let metrics = text(&format!("trpc/{path}.metrics.json"));
    loaded(&text(&format!("trpc/{path}.evalset.json")), &with_config(&metrics))
}

#[test]
fn every_eval_set_of_trpc_is_read_with_its_metrics() {
    let mut count = 0;
    for path in files_below(&folder().join("trpc")) {
        let name = path.to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".evalset.json") else { continue };
        let shared = format!("{}/flight-tool.metrics.json", path.parent().unwrap().display());
        let metrics = std::fs::read_to_string(format!("{stem}.metrics.json"));
        let metrics = metrics.or_else(|_| std::fs::read_to_string(shared)).unwrap();
        let read = load(&name, &std::fs::read_to_string(&path).unwrap(), &with_config(&metrics));
        let dataset = read.unwrap_or_else(|problems| panic!("{}", render_problems(&problems)));
        assert!(!dataset.cases.is_empty() && !dataset.metrics.is_empty(), "{name}");
        let odd: Vec<String> = warnings(&dataset);
        assert!(
            odd.iter().all(|warning| warning.contains("is a Go function") || warning.contains("no evaluator of")),
            "{name}: {odd:?}"
        );
        count += 1;
    }
    assert!(count >= 18, "{count}");
}

#[test]
fn the_two_generations_say_the_same_but_for_the_order() {
    let old = example("_seed_era/local/data/math-eval-app/math-basic");
    let new = example("local/data/math-eval-app/math-basic");
    let said = |dataset: &Dataset| -> Vec<_> {
        let line = |line: &UserLine| (line.id.clone(), line.say.clone(), line.expected.clone());
        dataset.cases.iter().map(|case| lines(case).iter().map(line).collect::<Vec<_>>()).collect()
    };
    assert_eq!(said(&old)[0], said(&new)[0]);
    assert_eq!(old.cases[0].session, new.cases[0].session);
    let call = &lines(&old.cases[0])[0].expected.calls.as_ref().unwrap()[0];
    assert_eq!(call.result, Some(json!({"a": 2, "b": 3, "operation": "add", "result": 5}).into()));
    let order = |dataset: &Dataset| {
        let options = &dataset.metrics[0].options;
        (options["generation"].clone(), options["orderSensitive"].clone(), options["defaultStrategy"]["result"].clone())
    };
    assert_eq!(order(&old), (json!("seed"), json!(true), json!({"matchStrategy": "exact"})));
    assert_eq!(order(&new), (json!("head"), json!(false), json!({"matchStrategy": "exact"})));
}

#[test]
fn the_order_that_nobody_says_is_that_of_the_generation() {
    let old = text("trpc/_seed_era/local/data/math-eval-app/math-basic.evalset.json");
    let new = text("trpc/local/data/math-eval-app/math-basic.evalset.json");
    for (criterion, set, is_sensitive) in [
        (r#"{}"#, &old, true),
        (r#"{}"#, &new, false),
        (r#"{"orderInsensitive": true}"#, &old, false),
        (r#"{"orderSensitive": true}"#, &old, true),
        (r#"{"defaultStrategy": {"response": {}}}"#, &new, true),
        (r#"{"defaultStrategy": {"result": {}}}"#, &old, false),
    ] {
        let metrics = format!(
            r#"[{{"metricName": "tool_trajectory_avg_score", "threshold": 1, "criterion": {{"toolTrajectory": {criterion}}}}}]"#
        );
        let options = &loaded(set, &with_config(&metrics)).metrics[0].options;
        assert_eq!(options["orderSensitive"], json!(is_sensitive), "{criterion}");
    }
}

#[test]
fn traces_scenarios_mocks_contexts_and_rubrics_have_their_places() {
    let trace = example("trace/data/trace-eval-app/trace-basic");
    let recorded = trace.cases[0].recorded.as_ref().unwrap();
    assert_eq!(recorded[0].reply.as_deref(), Some("calc result: 579"));
    assert_eq!(recorded[0].calls[0].tool, "calculator");
    assert_eq!(trace.metrics[1].rubrics.len(), 2);
    assert_eq!(trace.metrics[1].options["judgeModel"]["apiKey"], "${JUDGE_MODEL_API_KEY}");

    let trip =
        example("usersimulation_expectedrunner/data/usersimulation_expectedrunner_app/business-trip-expected-runner");
    let user = scenario(&trip.cases[0]);
    assert_eq!(
        (user.driver, user.max_turns, user.stop_signal.as_deref()),
        (ScenarioDriver::Expected, Some(8), Some("</finished>"))
    );
    assert!(trip.cases[0].expected_runner);
    assert_eq!(trip.cases[0].session.state["today"], "2026-03-25");

    let mock = example("toolmock/data/toolmock-app/toolmock-weather");
    assert_eq!(lines(&mock.cases[0])[0].mocks[0].result.as_ref().unwrap()["tempC"], 28);

    let context = example("contextmessage/data/contextmessage-app/contextmessage-basic");
    assert_eq!(context.cases[0].session.context[0].role, "system");

    let rubric = example("llm/caselevelrubric/data/case-level-rubric-app/case-level-rubric-basic");
    assert_eq!(rubric.cases[0].rubrics[0].metric.as_deref(), Some("travel_answer_quality"));
    assert_eq!(rubric.metrics[1].evaluator, "llm_rubric_response");
    assert_eq!(rubric.kind, Kind::TrpcEvalSet);
}

#[test]
fn a_trace_with_one_side_expects_nothing() {
    let set = |turns: &str| {
        format!(r#"{{"evalSetId": "s", "evalCases": [{{"evalId": "c", "evalMode": "trace", {turns}}}]}}"#)
    };
    let turn = r#"[{"userContent": {"content": "a"}, "finalResponse": {"content": "b"}, "tools": [{"name": "t"}]}]"#;
    for key in ["conversation", "actualConversation"] {
        let dataset = loaded(&set(&format!("\"{key}\": {turn}")), &Beside::default());
        let case = &dataset.cases[0];
        assert!(lines(case)[0].expected.is_empty() && lines(case)[0].say == "a");
        assert_eq!(case.recorded.as_ref().unwrap()[0].calls[0].tool, "t");
        assert!(warnings(&dataset)[0].contains("no metrics file"), "{:?}", warnings(&dataset));
    }
    let two = r#"[{"userContent": {"content": "a"}}, {"userContent": {"content": "b"}}]"#;
    let refused =
        refused(&set(&format!("\"conversation\": {turn}, \"actualConversation\": {two}")), &Beside::default());
    assert!(refused.contains("2 recorded turns stand beside 1 expected ones"), "{refused}");
}

#[test]
fn what_is_wrong_with_a_metric_is_told() {
    let set = text("trpc/local/data/math-eval-app/math-basic.evalset.json");
    let metric = |criterion: &str| {
        format!(
            r#"[{{"metricName": "final_response_avg_score", "threshold": 1, "criterion": {{"finalResponse": {criterion}}}}}]"#
        )
    };
    for (metrics, message) in [
        (r#"[{"metricName": "tool_trajectory_avg_score"}]"#.to_owned(), "`threshold` is missing; trpc-agent-go takes 0"),
        (
            r#"[{"threshold": 1}]"#.to_owned(),
            "a metrics file of trpc-agent-go is expected here, but this is something else",
        ),
        (metric("{}"), "at least one of `text`, `json`"),
        (metric(r#"{"text": {"matchStrategy": "fuzzy"}}"#), "one of exact, contains, regex, skip"),
        (metric(r#"{"text": {"length": {}}}"#), "`min`, `max` or both"),
        (metric(r#"{"text": {"length": {"min": 3, "max": 2}}}"#), "`min` is greater"),
        (metric(r#"{"text": {"length": {"min": -1}}}"#), "zero or more"),
        (metric(r#"{"json": {"ignoreTree": {"a": true}, "onlyTree": {"b": true}}}"#), "exclude each other"),
        (metric(r#"{"json": {"ignoreTree": {"a": 1}}}"#), "true or false at its ends"),
        (metric(r#"{"rouge": {"rougeType": "rouge-1"}}"#), "there is no such ROUGE"),
        (metric(r#"{"rouge": {}}"#), "`rougeType` is missing"),
        (metric(r#"{"rouge": {"rougeType": "rouge1"}}"#), "`threshold` is missing"),
        (metric(r#"{"rouge": {"rougeType": "rouge1", "threshold": {}}}"#), "it names no figure: every reply would pass"),
        (metric(r#"{"xml": {}}"#), "only checked for being well-formed"),
        (
            r#"[{"metricName": "llm_judge_template", "threshold": 1, "criterion": {"llmJudge": {"template": {"prompt": "{{q}}",
                "responseScorerName": "single_score"}}}}]"#.to_owned(),
            "the placeholder `{{q}}` of the prompt is bound to nothing",
        ),
        (
            r#"[{"metricName": "llm_judge_template", "threshold": 1, "criterion": {"llmJudge": {"template": {"prompt": "{{q}}",
                "responseScorerName": "single_score", "variableBindings": [{"templateVariable": "q",
                "source": {"scope": "actual", "field": "finalResponse", "path": "$..a"}}]}}}}]"#
                .replace('\n', ""),
            "this is no path that trpc-agent-go reads",
        ),
    ] {
        let refused = refused(&set, &with_config(&metrics));
        assert!(refused.contains(message) && refused.starts_with("config.json:1:"), "{metrics}: {refused}");
    }
    let odd = r#"[{"metricName": "tool_trajectory", "threshold": 0, "extension": {"a": 1}}, {"metricName": "tool_trajectory", "threshold": 1}]"#;
    let dataset = loaded(&set, &with_config(odd));
    let warned = warnings(&dataset).join("\n");
    assert!(
        warned.contains("a Go function") && warned.contains("decides nothing") && warned.contains("uses the first one"),
        "{warned}"
    );
    assert_eq!((dataset.metrics.len(), dataset.metrics[0].kind), (1, MeasureKind::Custom));
    let key = r#"[{"metricName": "llm_final_response", "threshold": 1, "criterion": {"llmJudge": {"judgeModel": {"apiKey": "sk-abcdefghijkl0123456789"}}}}]"#;
    let dataset = loaded(&set, &with_config(key));
    assert!(!format!("{dataset:?}").contains("abcdefghijkl"), "{dataset:?}");
    assert!(warnings(&dataset)[0].contains("name a variable instead"));
}

#[test]
fn a_criterion_that_is_ignored_needs_nothing_and_one_that_lets_all_pass_is_told() {
    let set = text("trpc/local/data/math-eval-app/math-basic.evalset.json");
    let warning_of = |criterion: &str| {
        let metric = format!(
            r#"[{{"metricName": "final_response_avg_score", "threshold": 1, "criterion": {{"finalResponse": {criterion}}}}}]"#
        );
        warnings(&loaded(&set, &with_config(&metric))).join("; ")
    };
    for ignored in [
        r#"{"xml": {"ignore": true}}"#,
        r#"{"rouge": {"ignore": true}}"#,
        r#"{"rouge": {"ignore": true, "threshold": {}}}"#,
        r#"{"json": {"ignore": true, "ignoreTree": {"a": true}, "onlyTree": {"b": true}}}"#,
        r#"{"json": {"ignoreTree": {}, "onlyTree": {"b": true}}}"#,
    ] {
        assert_eq!(warning_of(ignored), "", "{ignored}");
    }
    for (criterion, part) in [
        (r#"{"rouge": {"rougeType": "rouge1", "threshold": {"f1": 0}}}"#, "this comparison decides nothing"),
        (r#"{"json": {"onlyTree": {"a": {"b": false}}}}"#, "no key of this tree is true: nothing is compared"),
    ] {
        assert!(warning_of(criterion).contains(part), "{criterion}: {}", warning_of(criterion));
    }
}

#[test]
fn a_template_is_read_in_any_case_and_its_categories_are_needed() {
    let set = text("trpc/local/data/math-eval-app/math-basic.evalset.json");
    let metric = |template: &str| {
        format!(
            r#"[{{"metricName": "llm_judge_template", "threshold": 1, "criterion": {{"llmJudge": {{"template": {template}}}}}}}]"#
        )
    };
    let any_case = r#"{"Prompt": "{{q}}", "ResponseScorerName": "categorical", "sampleaggregatorname": "mine",
        "ResponseScorerOptions": {"Categories": [{"Label": "good", "SCORE": 1}, {"label": "poor"}]},
        "VariableBindings": [{"TemplateVariable": "q", "Source": {"Scope": "actual", "Field": "finalResponse"}}]}"#;
    let template = loaded(&set, &with_config(&metric(any_case))).metrics[0].options["template"].clone();
    assert_eq!(
        template,
        json!({"prompt": "{{q}}", "responseScorerName": "categorical", "sampleAggregatorName": "mine",
            "variableBindings": [{"templateVariable": "q", "source": {"scope": "actual", "field": "finalResponse"}}],
            "responseScorerOptions": {"categories": [{"label": "good", "score": 1.0}, {"label": "poor", "score": 0.0}]}})
    );
    for options in ["", r#", "responseScorerOptions": {"categories": []}"#] {
        let template = format!(r#"{{"prompt": "so", "responseScorerName": "categorical"{options}}}"#);
        let refused = refused(&set, &with_config(&metric(&template)));
        assert!(refused.contains("the scorer `categorical` needs its categories"), "{refused}");
    }
}

#[test]
fn what_is_wrong_with_a_case_is_told() {
    let set = |case: &str| format!(r#"{{"evalSetId": "s", "evalCases": [{{"evalId": "c", {case}}}]}}"#);
    let turn = |more: &str| set(&format!(r#""conversation": [{{"userContent": {{"content": "a"}}, {more}}}]"#));
    for (text, message) in [
        (set(r#""evalMode": "traces""#), "there is no such mode"),
        (set(r#""evalMode": "trace""#), "a recorded case needs"),
        (set(r#""x": 1"#), "a case needs a `conversation`"),
        (set(r#""conversationScenario": {"startingPrompt": "a", "stopSignal": "x"}"#), "`conversationPlan` is missing"),
        (set(r#""conversationScenario": {"conversationPlan": "a"}"#), "would never end"),
        (turn(r#""tools": [{"arguments": {}}]"#), "`name` is missing"),
        (turn(r#""toolMock": {"actual": [{"name": "t"}]}"#), "a mock needs a `result`"),
        (turn(r#""toolMock": {"actual": [{"name": "t", "result": null}]}"#), "a mock needs a `result`"),
        (
            turn(r#""toolMock": {"actual": [{"name": "t", "result": 1, "arguments": {}}]}"#),
            "it needs `expected` arguments",
        ),
        (
            turn(
                r#""toolMock": {"actual": [{"name": "t", "result": 1, "arguments": {"ignore": true, "expected": {}}}]}"#,
            ),
            "`ignore` stands alone",
        ),
    ] {
        let refused = refused(&text, &Beside::default());
        assert!(refused.contains(message), "{text}: {refused}");
    }
    let rubric = turn(r#""x": 1"#)
        .replace(r#""evalId""#, r#""rubrics": [{"metricName": "m", "content": {"text": "t"}}], "evalId""#);
    let metrics = r#"[{"metricName": "tool_trajectory_avg_score", "threshold": 1}]"#;
    let refused = refused(&rubric, &with_config(metrics));
    assert!(refused.contains("rubric `case_rubric_1` is for the metric `m`, which is not measured"), "{refused}");
}

#[test]
fn arguments_that_are_left_out_of_a_trace_are_null_on_both_sides() {
    let invocation = |reply: &str| {
        json!({"userContent": {"role": "user", "content": "hi"}, "tools": [{"id": "1", "name": "t"}],
            "finalResponse": {"role": "assistant", "content": reply}})
    };
    let text = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "evalMode": "trace",
        "conversation": [invocation("a")], "actualConversation": [invocation("a")]}]});
    let recording = crate::dataset::load_recorded("f.json", &text.to_string()).unwrap();
    assert_eq!(crate::evidence::ToolUse::from_events(&recording.conversations[0].turns[0].events)[0].args, json!(null));
    let case = recording.conversations.into_iter().next().unwrap().into_case();
    let CaseUser::Lines(lines) = &case.user else { panic!("{case:?}") };
    assert_eq!(lines[0].expected.calls.as_ref().unwrap()[0].args, Some(json!({}).into()), "a case expects none");
}

#[test]
fn a_metrics_file_without_metrics_measures_nothing_and_says_so() {
    let set = text("trpc/local/data/math-eval-app/math-basic.evalset.json");
    let dataset = loaded(&set, &with_config("[]"));
    assert!(dataset.metrics.is_empty());
    assert_eq!(warnings(&dataset), ["1:1: this file has no metrics: nothing is measured"]);
    // It is what is written of a set without metrics.
    let written = write(&dataset, System::Trpc);
    let metrics = written.files.iter().find(|file| file.name.ends_with(".metrics.json")).unwrap();
    assert_eq!(metrics.text.trim(), "[]");
    assert_eq!(read_back(&written).unwrap().cases.len(), dataset.cases.len());
}

#[test]
fn keys_that_are_null_are_not_there() {
    let message = |role: &str, text: &str| json!({"role": role, "content": text, "parts": null});
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [{"intermediateData": null,
        "userContent": message("user", "Hi"), "finalResponse": message("assistant", "Hello")}]}]});
    let metrics =
        r#"[{"metricName": "tool_trajectory_avg_score", "threshold": 1, "criterion": {"toolTrajectory": {}}}]"#;
    let dataset = loaded(&set.to_string(), &with_config(metrics));
    assert_eq!(warnings(&dataset), [""; 0]);
    assert_eq!((&dataset.metrics[0].options["generation"], dataset.kind), (&json!("head"), Kind::TrpcEvalSet));
    let line = &lines(&dataset.cases[0])[0];
    assert_eq!((line.say.as_str(), line.attachments.len(), line.expected.reply.as_deref()), ("Hi", 0, Some("Hello")));
}

#[test]
fn an_empty_reply_is_expected_where_the_text_must_be_the_same() {
    use super::super::{LowerOptions, lower};
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [{
        "userContent": {"role": "user", "content": "Hi"}, "finalResponse": {"role": "assistant", "content": ""}}]}]});
    let expected = |strategy: &str| {
        let metrics = json!([{"metricName": "final_response_avg_score", "threshold": 1,
            "criterion": {"finalResponse": {"text": {"matchStrategy": strategy}}}}]);
        let dataset = loaded(&set.to_string(), &with_config(&metrics.to_string()));
        lower(&dataset, &LowerOptions::default()).document["cases"][0]["script"][0]["expected"]["reply"].clone()
    };
    assert_eq!(expected("exact"), json!(""));
    assert_eq!(expected("contains"), json!(null), "any reply contains it");
}
