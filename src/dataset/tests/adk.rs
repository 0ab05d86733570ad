//! Google ADK's files.

use serde_json::json;

use super::super::{Kind, MeasureKind};
use super::*;

const HELLO: &str = "adk/new_schema/hello_world_agent/roll_die.test.json";

#[test]
fn an_eval_set_is_read_whole() {
    let dataset = loaded(&text(HELLO), &with_config(&text("adk/new_schema/hello_world_agent/test_config.json")));
    assert_eq!((dataset.kind, dataset.name.as_str()), (Kind::AdkEvalSet, "56540925-a5ff-49fe-a4e1-589fe78066f2"));
    assert_eq!(warnings(&dataset), [""; 0]);
    let [case] = dataset.cases.as_slice() else { panic!("{:?}", dataset.cases) };
    assert_eq!((case.id.as_str(), case.line), ("tests/integration/fixture/hello_world_agent/roll_die.test.json", 6));
    let lines = lines(case);
    let said: Vec<&str> = lines.iter().map(|line| line.say.as_str()).collect();
    assert_eq!(said, ["Hi who are you?", "What can you do?", "Can you roll a die with 6 sides"]);
    assert_eq!(lines[0].expected.calls.as_deref(), Some(&[][..]), "none is expected");
    assert!(lines[0].expected.reply.as_deref().unwrap().starts_with("I am a data processing agent."));
    assert_eq!(lines[2].expected.reply, None, "a text that is null");
    let calls = lines[2].expected.calls.as_deref().unwrap();
    assert_eq!((calls[0].tool.as_str(), calls[0].args.clone()), ("roll_die", Some(json!({"sides": 6}).into())));
    let metrics: Vec<_> =
        dataset.metrics.iter().map(|metric| (metric.name.as_str(), metric.threshold)).take(3).collect();
    assert_eq!(
        metrics,
        [("tool_trajectory_avg_score", Some(1.0)), ("response_match_score", Some(0.5)), ("tool_call_count_v1", None)]
    );
    assert_eq!(dataset.metrics[0].place, Some(("config.json".to_owned(), 3)));
}

#[test]
fn the_old_format_says_the_same_as_the_new_one() {
    for path in
        ["hello_world_agent/roll_die.test.json", "home_automation_agent/test_files/dependent_tool_calls.test.json"]
    {
        let new = loaded(&text(&format!("adk/new_schema/{path}")), &Beside::default());
        let old = loaded(&text(&format!("adk/legacy_list/{path}")), &Beside::default());
        assert_eq!(old.kind, Kind::AdkTestList);
        let said = |dataset: &Dataset| -> Vec<_> {
            let line = |line: &UserLine| (line.say.clone(), line.expected.reply.clone(), line.expected.calls.clone());
            lines(&dataset.cases[0]).iter().map(line).collect()
        };
        assert_eq!(said(&new), said(&old), "{path}");
        assert_eq!(new.metrics, old.metrics);
    }
}

#[test]
fn every_test_file_of_adk_is_read() {
    let mut count = 0;
    for path in files_below(&folder().join("adk")) {
        let name = path.to_string_lossy().into_owned();
        if name.ends_with(".test.json") || name.ends_with(".evalset.json") {
            let read = load(&name, &std::fs::read_to_string(&path).unwrap(), &Beside::default());
            let dataset = read.unwrap_or_else(|problems| panic!("{}", render_problems(&problems)));
            assert!(!dataset.cases.is_empty() || name.ends_with("evalset49e1df.evalset.json"), "{name}");
            count += 1;
        }
    }
    assert_eq!(count, 20);
}

#[test]
fn a_scenario_has_its_user() {
    let set = text("adk/contributing_samples/live_non_blocking_tool_agent.evalset.json");
    let config = r#"{"criteria": {"hallucinations_v1": {"threshold": 0.5, "judgeModelOptions": {"num_samples": 1}}},
                     "userSimulatorConfig": {"model": "m", "maxAllowedInvocations": -1}}"#;
    let dataset = loaded(&set, &with_config(config));
    let user = scenario(&dataset.cases[0]);
    assert_eq!(user.starting_prompt.as_deref(), Some("Hi, can you kick off a long background task for me?"));
    assert_eq!((user.max_turns, user.stop_signal.as_deref()), (None, Some("</finished>")));
    let persona = user.persona.as_ref().unwrap();
    assert_eq!((persona.id.as_str(), persona.behaviors.len()), ("NOVICE", 6));
    assert_eq!(user.extra["model"], "m");
    let scripted = lines(&dataset.cases[1]);
    assert!(scripted.iter().all(|line| line.expected.is_empty()));
    assert_eq!(dataset.metrics[0].options["judgeModelOptions"], json!({"numSamples": 1}));
    assert_eq!(scenario(&loaded(&set, &Beside::default()).cases[0]).max_turns, Some(20), "ADK's default");
}

#[test]
fn both_spellings_and_both_forms_of_what_happened_are_read() {
    let camel = r#"{"evalSetId": "s", "evalCases": [{"evalId": "c", "finalSessionState": {"a": 1}, "conversation": [{
        "invocationId": "i", "userContent": {"role": "user", "parts": [{"text": "a"}, {"inlineData": {"data": "x"}}]},
        "finalResponse": {"parts": [{"text": "b"}, {"text": "c"}]},
        "intermediateData": {"toolUses": [{"id": "1", "name": "t", "args": {"x": 1}}, {"name": "u"}],
            "toolResponses": [{"id": "1", "name": "t", "response": {"y": 2}}, {"name": "u", "response": {"z": 3}}],
            "intermediateResponses": [["sub", [{"text": "hm"}]]]},
        "rubrics": [{"rubricId": "r", "rubricContent": {"textProperty": "p"}, "type": "TOOL_USE_QUALITY"}]}],
        "sessionInput": {"appName": "app", "userId": "u", "state": {"k": "v"}}}]}"#;
    let events = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "final_session_state": {"a": 1}, "conversation": [{
        "invocation_id": "i", "user_content": {"role": "user", "parts": [{"text": "a"}, {"inline_data": {"data": "x"}}]},
        "final_response": {"parts": [{"text": "b"}, {"text": "c"}]},
        "intermediate_data": {"invocation_events": [
            {"author": "sub", "content": {"parts": [{"text": "hm"}, {"function_call": {"id": "1", "name": "t", "args": {"x": 1}}}]}, "new": 1},
            {"author": "sub", "content": {"parts": [{"function_call": {"name": "u"}}]}},
            {"author": "sub", "content": {"parts": [{"function_response": {"id": "1", "name": "t", "response": {"y": 2}}},
                {"function_response": {"name": "u", "response": {"z": 3}}}]}}]},
        "rubrics": [{"rubric_id": "r", "rubric_content": {"text_property": "p"}, "type": "TOOL_USE_QUALITY"}]}],
        "session_input": {"app_name": "app", "user_id": "u", "state": {"k": "v"}}}]}"#;
    let (camel, events) = (loaded(camel, &Beside::default()), loaded(events, &Beside::default()));
    assert_eq!(camel.kind, Kind::AdkEvalSet);
    let mut second = events.cases[0].clone();
    if let CaseUser::Lines(lines) = &mut second.user {
        lines[0].extra.clear();
        lines[0].attachments = vec![json!({"inlineData": {"data": "x"}})];
    }
    assert_eq!(camel.cases[0], second);
    let line = &lines(&camel.cases[0])[0];
    assert_eq!(line.expected.reply.as_deref(), Some("b\nc"));
    assert_eq!(line.expected.calls.as_ref().unwrap()[1].result, Some(json!({"z": 3}).into()));
    assert_eq!(camel.cases[0].expected.state, json!({"a": 1}).as_object().cloned());
    assert!(warnings(&camel)[0].contains("snake_case only"), "{:?}", warnings(&camel));
}

#[test]
fn the_older_lists_keep_what_they_say() {
    let old = r#"[{"name": "one", "data": [{"query": "a", "reference": "b", "expected_tool_use": [
        {"tool_name": "t", "tool_input": {"x": 1}, "mock_tool_output": "m"}],
        "expected_intermediate_agent_responses": [{"author": "sub", "text": "hm"}]}],
        "initial_session": {"state": {"k": 1}, "app_name": "app", "user_id": "u"}},
        {"name": "one", "data": [{"query": "c"}], "initial_session": {}}]"#;
    let dataset = loaded(old, &Beside::default());
    let ids: Vec<&str> = dataset.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids, ["one", "one (2)"]);
    assert!(warnings(&dataset)[0].contains("a case with the id `one` is here already"));
    let line = &lines(&dataset.cases[0])[0];
    assert_eq!(line.mocks[0].result, Some(json!("m")));
    assert_eq!(line.expected.intermediate[0].author, "sub");
    assert_eq!(dataset.cases[0].session.state["k"], 1);
    assert_eq!(lines(&dataset.cases[1])[0].expected.calls, None);
    let session = NamedText { name: "initial.session.json".to_owned(), text: r#"{"state": {"k": 2}}"#.to_owned() };
    let beside = Beside { session: Some(session), ..Beside::default() };
    assert_eq!(loaded(r#"[{"query": "a"}]"#, &beside).cases[0].session.state["k"], 2);
    assert!(refused(r#"{"eval_set_id": "s", "eval_cases": []}"#, &beside).contains("as `session_input`"));
}

#[test]
fn match_types_have_many_spellings() {
    for (written, canonical) in [
        ("\"exact\"", "EXACT"),
        ("\"in order\"", "IN_ORDER"),
        ("\" IN-ORDER \"", "IN_ORDER"),
        ("\"any_order\"", "ANY_ORDER"),
        ("2", "ANY_ORDER"),
        ("0", "EXACT"),
    ] {
        for key in ["match_type", "matchType"] {
            let config =
                format!(r#"{{"criteria": {{"tool_trajectory_avg_score": {{"threshold": 1, "{key}": {written}}}}}}}"#);
            let dataset = loaded(r#"[{"query": "a"}]"#, &with_config(&config));
            assert_eq!(dataset.metrics[0].options["matchType"], canonical, "{written}");
        }
    }
}

#[test]
fn criteria_that_mean_nothing_are_refused_or_told() {
    let list = r#"[{"query": "a"}]"#;
    for (config, message) in [
        (r#"{"criteria": {"tool_trajectory_avg_scor": 1}}"#, "did you mean `tool_trajectory_avg_score`?"),
        (r#"{"criteria": {"tool_trajectory_avg_score": {"match_type": "EXACT"}}}"#, "`threshold` is missing"),
        (r#"{"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": 3}}}"#, "no match type"),
        (r#"{"criteria": {"token_usage_v1": 1}}"#, "it has no threshold"),
        (r#"{"criteria": {"safety_v1": "high"}}"#, "a number is expected here, not text"),
        (
            r#"{"criteria": {"hallucinations_v1": {"threshold": 1, "judge_model_options": {"num_samples": 0}}}}"#,
            "at least 1",
        ),
        (r#"{"criteria": {}, "user_simulator_config": {"type": "robot"}}"#, "`llm_backed` or `llm_audio`"),
        (r#"{"criteria": {}, "user_simulator_config": {"custom_instructions": "x"}}"#, "{{ stop_signal }}"),
        (r#"{"eval_cases": []}"#, "a test_config.json of Google ADK is expected here, but this is an eval set"),
        (" ", "a test_config.json of Google ADK is expected here, but this is an empty file"),
        ("[]", "a test_config.json of Google ADK is expected here, but this is an empty list"),
        ("{", "config.json:1:1: this bracket is not closed"),
        ("criteria: 1", "a test_config.json of Google ADK is expected here, but this is no JSON"),
    ] {
        let refused = refused(list, &with_config(config));
        assert!(refused.contains(message), "{config}: {refused}");
    }
    for without in [r#"{"criteria": {}}"#, "{}"] {
        let dataset = loaded(list, &with_config(without));
        assert!(dataset.metrics.iter().all(|metric| metric.kind == MeasureKind::Figure), "none was asked for");
    }
    assert_eq!(warnings(&loaded(list, &with_config("{}"))), ["1:1: there are no `criteria`: nothing is measured"]);
    let custom = r#"{"criteria": {"mine": {"threshold": 0.5, "x": 1}, "safety_v1": 0.8},
                     "custom_metrics": {"mine": {"code_config": {"name": "pkg.f"}}, "other": {"code_config": {"name": "pkg.g"}}}}"#;
    let dataset = loaded(list, &with_config(custom));
    let kinds: Vec<MeasureKind> = dataset.metrics.iter().map(|metric| metric.kind).take(2).collect();
    assert_eq!(kinds, [MeasureKind::Custom, MeasureKind::VendorService]);
    assert_eq!((dataset.metrics[0].evaluator.as_str(), &dataset.metrics[0].extra["x"]), ("pkg.f", &json!(1)));
    let warned = warnings(&dataset).join("\n");
    assert!(warned.contains("`other` is not among the criteria") && warned.contains("a Python function"), "{warned}");
}

#[test]
fn what_is_wrong_with_a_case_is_told_at_its_place() {
    let set = |case: &str| format!("{{\"eval_set_id\": \"s\", \"eval_cases\": [\n{case}]}}");
    let turn = r#""conversation": [{"user_content": {"parts": [{"text": "a"}]}}]"#;
    for (case, place, message) in [
        (r#"{"eval_id": "c"}"#.to_owned(), "2:1", "eval_cases[0]: a case needs a `conversation`"),
        (format!(r#"{{{turn}}}"#), "2:1", "eval_cases[0]: `eval_id` is missing"),
        (format!(r#"{{"evalid": "c", {turn}}}"#), "2:2", "is `evalid` meant to be `eval_id`?"),
        (format!(r#"{{"eval_id": "c", "evalId": "d", {turn}}}"#), "2:18", "`evalId` is here already, spelled `eval_id`"),
        (r#"{"eval_id": "c", "conversation": []}"#.to_owned(), "2:34", "has no turns"),
        (r#"{"eval_id": "c", "conversation": [{"user_contents": {}}]}"#.to_owned(), "2:36", "is `user_contents` meant"),
        (
            r#"{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"txt": "a"}]}}]}"#.to_owned(),
            "2:64",
            "did you mean `text`?",
        ),
        (
            r#"{"eval_id": "c", "conversation_scenario": {"starting_prompt": "a", "conversation_plan": "b", "user_persona": "NOVICES"}}"#
                .to_owned(),
            "2:110",
            "did you mean `NOVICE`?",
        ),
        (format!(r#"{{"eval_id": "c", {turn}, "session_input": {{"app_name": "a"}}}}"#), "2:99", "`user_id` is missing"),
        (format!(r#"{{"eval_id": 1, {turn}}}"#), "2:13", "eval_cases[0].eval_id: text is expected here, not a number"),
    ] {
        let refused = refused(&set(&case), &Beside::default());
        assert!(refused.contains(message) && refused.contains(&format!("f.json:{place}: ")), "{case}: {refused}");
    }
    let dataset = loaded(&set(&format!(r#"{{"eval_id": "c", "Tags": ["x"], {turn}}}"#)), &Beside::default());
    assert_eq!(dataset.cases[0].extra["Tags"], json!(["x"]));
    assert!(warnings(&dataset)[0].contains("unknown key `Tags`; it is kept"), "{:?}", warnings(&dataset));
}

#[test]
fn a_scenario_of_its_own_is_named_as_adk_names_it() {
    let scenarios = r#"{"scenarios": [{"starting_prompt": "Hi", "conversation_plan": "Grüße"}, {"startingPrompt": "Hi",
        "conversationPlan": "Grüße"}, {"starting_prompt": "x", "conversation_plan": "y"}]}"#;
    let dataset = loaded(scenarios, &Beside::default());
    // sha256 of {"conversation_plan": "Gr\u00fc\u00dfe", "starting_prompt": "Hi", "user_persona": null}
    let ids: Vec<&str> = dataset.cases.iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert_eq!(ids[0], SCENARIO_ID);
    assert!(warnings(&dataset)[0].contains("is here already"));
}

const SCENARIO_ID: &str = "c7a7566c";

#[test]
fn what_a_user_answers_to_a_call_is_a_part_that_is_no_text() {
    let part = json!({"functionResponse": {"id": "1", "name": "approve", "response": {"ok": true}}});
    for (parts, say) in [(json!([part]), ""), (json!([{"text": "Yes."}, part]), "Yes.")] {
        let set = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
            {"user_content": {"role": "user", "parts": parts}}]}]});
        let dataset = load("s.evalset.json", &set.to_string(), &Beside::default()).unwrap();
        let CaseUser::Lines(lines) = &dataset.cases[0].user else { panic!("{dataset:?}") };
        assert_eq!((lines[0].say.as_str(), lines[0].attachments.as_slice()), (say, [part.clone()].as_slice()));
    }
}

#[test]
fn what_happened_is_told_in_one_of_two_forms() {
    let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "a"}]},
        "intermediate_data": {"tool_uses": [{"name": "t", "args": {}}], "invocation_events": [
            {"author": "sub", "content": {"parts": [{"function_call": {"name": "t", "args": {}}}]}}]}}]}]}"#;
    let problem = refused(set, &Beside::default());
    assert!(problem.contains("ADK takes one of the two"), "{problem}");
    let empty = set.replace(r#"[{"name": "t", "args": {}}], "inv"#, r#"[], "inv"#);
    let dataset = loaded(&empty, &Beside::default());
    assert_eq!(lines(&dataset.cases[0])[0].expected.calls.as_ref().map(Vec::len), Some(1));
}

#[test]
fn an_empty_part_is_no_line_of_a_text() {
    let set = r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "a"}]},
        "final_response": {"parts": [{"text": ""}, {"text": "b"}, {"text": ""}]}}]}]}"#;
    assert_eq!(lines(&loaded(set, &Beside::default()).cases[0])[0].expected.reply.as_deref(), Some("b"));
}

#[test]
fn a_rubric_without_text_is_its_description_or_refused() {
    let set = |rubric: &str| {
        format!(
            r#"{{"eval_set_id": "s", "eval_cases": [{{"eval_id": "c", "rubrics": [{{"rubric_id": "r", {rubric}}}],
                "conversation": [{{"user_content": {{"parts": [{{"text": "a"}}]}}}}]}}]}}"#
        )
    };
    let described = set(r#""rubric_content": {"text_property": null}, "description": "It is kind.""#);
    let dataset = loaded(&described, &Beside::default());
    let rubric = &dataset.cases[0].rubrics[0];
    assert_eq!((rubric.text.as_str(), rubric.description.as_deref()), ("It is kind.", None));
    assert!(warnings(&dataset).iter().any(|it| it.contains("asked its `description`")), "{:?}", warnings(&dataset));
    for nothing in [r#""rubric_content": {}"#, r#""rubric_content": {"text_property": " "}, "description": """#] {
        let refused = refused(&set(nothing), &Beside::default());
        assert!(refused.contains("rubric_content: this rubric says nothing"), "{refused}");
    }
}

#[test]
fn keys_that_are_null_are_not_there() {
    let part = json!({"video_metadata": null, "function_call": null, "function_response": null, "text": "Hi"});
    let set = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
        {"user_content": {"parts": [part], "role": "user"}, "final_response": {"parts": [{"text": "Hello"}]}}]}]});
    let dataset = loaded(&set.to_string(), &with_config(r#"{"criteria": {}}"#));
    assert_eq!((lines(&dataset.cases[0])[0].say.as_str(), lines(&dataset.cases[0])[0].attachments.len()), ("Hi", 0));
}
