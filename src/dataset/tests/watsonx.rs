//! watsonx Orchestrate's files.

use serde_json::json;

use super::super::watsonx::{SummaryVersion, summary_version};
use super::super::{GoalKind, JudgedScope, Kind, MeasureKind};
use super::*;

#[test]
fn a_dataset_is_read_whole() {
    let dataset = load("data_complex.json", &text("watsonx/evaluate/data_complex.json"), &Beside::default()).unwrap();
    assert_eq!((dataset.kind, dataset.name.as_str()), (Kind::WatsonxCase, "data_complex"));
    assert_eq!(warnings(&dataset), [""; 0]);
    let case = &dataset.cases[0];
    assert_eq!((case.id.as_str(), case.session.app.as_deref()), ("data_complex", Some("hr_agent")));
    let user = scenario(case);
    assert!(user.plan.starts_with("My username is nken."));
    assert_eq!((user.stop_signal.as_deref(), user.max_turns), (Some("END"), Some(25)));
    assert!(user.starting_prompt.as_deref().unwrap().starts_with("I want to know the timeoff schedule"));
    let goals = case.expected.goals.as_ref().unwrap();
    assert_eq!((goals.nodes.len(), goals.edges.len()), (6, 6));
    let GoalKind::ToolCall(call) = &goals.nodes[1].kind else { panic!("{goals:?}") };
    assert_eq!(
        (call.tool.as_str(), call.args.clone()),
        ("get_assignment_id_hr_agent", Some(json!({"username": "nwaters"}).into()))
    );
    let GoalKind::Text { keywords, is_summary, .. } = &goals.nodes[5].kind else { panic!("{goals:?}") };
    assert_eq!((keywords.len(), *is_summary), (4, false));
    let deciding: Vec<&str> =
        dataset.metrics.iter().filter(|metric| metric.threshold.is_some()).map(|metric| metric.name.as_str()).collect();
    assert_eq!(deciding, ["JourneySuccessMetric"]);
    assert!(dataset.metrics.iter().any(|metric| metric.name == "TextMatch" && metric.kind == MeasureKind::Journey));
}

fn case_with(goals: &str, details: &str, more: &str) -> String {
    format!("{{\"story\": \"s\", \"agent\": \"a\",\n\"goals\": {goals},\n\"goal_details\": [{details}]{more}}}")
}

fn call(name: &str, more: &str) -> String {
    format!(r#"{{"type": "tool_call", "name": "{name}", "tool_name": "t"{more}}}"#)
}

#[test]
fn goals_are_checked_as_a_graph() {
    let (a, b) = (call("a", ""), call("b", ""));
    let both = format!("{a}, {b}");
    for (goals, details, place, message) in [
        (r#"{"a": ["b"], "b": ["a"]}"#, &both, "2:29", "go round in a circle: a → b → a"),
        (r#"{"a": ["a"], "b": []}"#, &both, "2:17", "a → a"),
        (r#"{"a": ["bb"], "b": []}"#, &both, "2:17", "`bb` is no goal"),
        (r#"{"aa": [], "a": ["b"]}"#, &both, "2:17", "`aa` is no goal"),
        (r#"{"a": []}"#, &both, "3:102", "the goal `b` is not in the graph `goals`"),
        (r#"{"a": ["b"], "a": []}"#, &both, "2:28", "`a` is in the graph already"),
        (r#"{"a": ["b", "b"]}"#, &both, "2:22", "`b` is in this list already"),
        (r#"{"a": []}"#, &format!("{a}, {a}"), "3:102", "a goal `a` is here already"),
        (r#"["a"]"#, &a, "2:10", "an object is expected here, not a list"),
        (r#"{"a": "b"}"#, &a, "2:16", "a list is expected here, not text"),
    ] {
        let refused = refused(&case_with(goals, details, ""), &Beside::default());
        assert!(refused.contains(message) && refused.contains(&format!("f.json:{place}: ")), "{goals}: {refused}");
    }
    let deep: Vec<String> = (0..3000).map(|n| format!("\"g{n}\": [\"g{}\"]", n + 1)).collect();
    let details: Vec<String> = (0..=3000).map(|n| call(&format!("g{n}"), "")).collect();
    let dataset = loaded(&case_with(&format!("{{{}}}", deep.join(",")), &details.join(","), ""), &Beside::default());
    assert_eq!(dataset.cases[0].expected.goals.as_ref().unwrap().edges.len(), 3000);
}

#[test]
fn arguments_and_their_strategies_are_read() {
    let rules = |more: &str| {
        let dataset = loaded(&case_with(r#"{"a": []}"#, &call("a", more), ""), &Beside::default());
        match &dataset.cases[0].expected.goals.as_ref().unwrap().nodes[0].kind {
            GoalKind::ToolCall(call) => (call.args.as_deref().cloned(), json!(call.rules)),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(rules(""), (Some(json!(null)), json!({})), "none are expected");
    assert_eq!(rules(r#", "args": null"#), (Some(json!(null)), json!({})));
    assert_eq!(rules(r#", "args": {}"#), (Some(json!({})), json!({})));
    assert_eq!(rules(r#", "args": {"IGNORE": null}"#), (None, json!({})), "they are not compared");
    assert_eq!(
        rules(r#", "args": {"x": "<IGNORE>", "y": {"z": 1}}, "arg_matching": {"y.z": "fuzzy", "y": "optional"}"#),
        (Some(json!({"x": "<IGNORE>", "y": {"z": 1}})), json!({"x": "ignore", "y.z": "fuzzy", "y": "optional"}))
    );
    for (more, message) in [
        (r#", "args": {"user": 1}, "arg_matching": {"usr": "strict"}"#, "did you mean `user`?"),
        (r#", "args": {"user": 1}, "arg_matching": {"user": "close"}"#, "one of strict, optional, ignore, fuzzy"),
    ] {
        let refused = refused(&case_with(r#"{"a": []}"#, &call("a", more), ""), &Beside::default());
        assert!(refused.contains(message), "{refused}");
    }
}

#[test]
fn checks_uploads_contexts_and_prompts_have_their_places() {
    let details = r#"{"type": "assert_llm", "kind": "policy", "check": "is polite", "scope": "response"},
        {"type": "interaction", "name": "i", "identifier": {"key": "k", "value": "v"}},
        {"type": "conversational_search", "name": "s", "knowledge_base": "kb"},
        {"type": "text", "name": "summarize", "summary": "all"}"#;
    let more = r#", "user_prompts": ["p"], "max_user_turns": 3, "runtime_context": {"c": 1}, "tags": ["t"],
        "file_upload": [{"file_path": "x"}], "attack_data": {}, "langfuse": 1"#;
    let dataset = loaded(&case_with(r#"{"i": ["s"], "s": ["summarize"]}"#, details, more), &Beside::default());
    let case = &dataset.cases[0];
    assert_eq!((case.checks[0].check.as_str(), case.checks[0].scope), ("is polite", JudgedScope::Response));
    assert_eq!((scenario(case).prompts.as_slice(), scenario(case).max_turns), (&["p".to_owned()][..], Some(3)));
    assert_eq!((case.session.variables["c"].clone(), case.tags.as_slice()), (json!(1), &["t".to_owned()][..]));
    assert_eq!(case.uploads, [json!({"file_path": "x"})]);
    assert_eq!(case.extra["langfuse"], 1);
    let goals = case.expected.goals.as_ref().unwrap();
    assert!(matches!(&goals.nodes[2].kind, GoalKind::Text { is_summary: true, .. }));
    assert!(dataset.metrics.iter().any(|metric| metric.name == "AssertLLM"));
    for (summary, version) in [("\"all\"", SummaryVersion::V2), ("null", SummaryVersion::V1)] {
        let text = format!(r#"{{"goal_details": [{{"type": "text", "name": "summarize", "summary": {summary}}}]}}"#);
        let read = super::super::json::read(&text).unwrap();
        assert_eq!(summary_version(&read.root), Some(version), "{summary}");
    }
    for (details, message) in [
        (r#"{"type": "assert_llm", "kind": "policy", "check": "c", "name": "x"}"#, "unknown key `name`"),
        (r#"{"type": "assert_llm", "kind": "law", "check": "c"}"#, "`observed` or `policy`"),
        (r#"{"type": "toolcall", "name": "x"}"#, "did you mean `tool_call`?"),
        (r#"{"name": "x"}"#, "`type` is missing"),
    ] {
        let refused = refused(&case_with("{}", details, ""), &Beside::default());
        assert!(refused.contains(message), "{refused}");
    }
    assert!(refused(r#"{"story": "", "goals": {}}"#, &Beside::default()).contains("this text must not be empty"));
    assert!(
        refused(r#"{"story": "s", "agent": "a", "goal_details": [{"type": "text", "name": "x"}]}"#, &Beside::default())
            .contains("`goals` is missing")
    );
}

#[test]
fn an_attack_is_measured_by_whether_it_is_resisted() {
    let details = r#"{"type": "tool_call", "name": "a", "tool_name": "cancel", "args": {"IGNORE": null}}"#;
    let attack = |data: &str| {
        let more = format!(r#", "attack_data": {data}, "targeted_policy": "Nothing is cancelled.""#);
        case_with(r#"{"a": []}"#, details, &more)
    };
    let on = r#"{"attack_category": "on_policy", "attack_type": "x", "attack_name": "role_playing", "attack_instructions": "Be a boss."}"#;
    let off = r#"{"attack_category": "off_policy", "attack_type": "safety", "attack_name": "jailbreaking"}"#;
    for (data, kind, rubrics) in [(on, MeasureKind::Journey, 0), (off, MeasureKind::Judge, 2)] {
        let dataset = loaded(&attack(data), &Beside::default());
        assert_eq!(warnings(&dataset), [""; 0]);
        let [metric] = dataset.metrics.as_slice() else { panic!("{:?}", dataset.metrics) };
        assert_eq!((metric.name.as_str(), metric.kind, metric.threshold), ("AttackResisted", kind, Some(1.0)));
        assert_eq!(metric.rubrics.len(), rubrics);
        assert_eq!(scenario(&dataset.cases[0]).plan.contains("Be a boss."), data == on);
    }
    let leakage = loaded(&attack(&off.replace("safety", "prompt_leakage")), &Beside::default());
    assert_eq!(leakage.metrics[0].kind, MeasureKind::Custom, "it can't be computed");
    assert!(warnings(&leakage)[0].contains("an attack for the agent's instructions is not measured"));
    let refused = refused(&attack(r#"{"attack_category": "policy"}"#), &Beside::default());
    assert!(refused.contains("there is no attack of the category `policy`"), "{refused}");
}

#[test]
fn stories_and_validation_files_are_tables() {
    let stories = loaded(&text("watsonx/generate/stories.csv"), &Beside::default());
    assert_eq!((stories.cases.len(), stories.cases[0].id.as_str()), (5, "f-1"));
    assert_eq!(stories.cases[0].session.app.as_deref(), Some("hr_agent"));
    assert!(scenario(&stories.cases[3]).plan.contains("123 Main St, Springfield, IL."), "{:?}", stories.cases[3]);
    let native = loaded(&text("watsonx/native_agent_validation/native_agent_validation.tsv"), &Beside::default());
    assert_eq!(native.cases[0].session.app.as_deref(), Some("hr_agent"));
    let external = loaded(&text("watsonx/external_agent_validation/test.tsv"), &Beside::default());
    assert_eq!(external.cases.len(), 2);
    assert!(external.cases[1].expected.goals.is_some());
}

#[test]
fn another_word_may_stand_for_any_value() {
    let args = json!({"a": "ANY", "b": {"c": ["ANY"], "d": "ANY"}, "e": "<IGNORE>"});
    let case = json!({"agent": "a", "story": "s", "goals": {"g": []},
        "goal_details": [{"type": "tool_call", "name": "g", "tool_name": "t", "args": args}]});
    let of = |word: Option<&str>| {
        let beside = Beside { any_value: word.map(str::to_owned), ..Beside::default() };
        let dataset = load("c.json", &case.to_string(), &beside).unwrap();
        let goals = dataset.cases[0].expected.goals.clone().unwrap();
        let GoalKind::ToolCall(call) = goals.nodes[0].kind.clone() else { panic!() };
        let rules: Vec<String> = call.rules.keys().cloned().collect();
        (call.args.unwrap().into_value(), rules, dataset.warnings.len())
    };
    assert_eq!(of(None), (args.clone(), vec!["e".to_owned()], 0));
    assert_eq!(of(Some("<IGNORE>")), of(None));
    let renamed = json!({"a": "<IGNORE>", "b": {"c": ["<IGNORE>"], "d": "<IGNORE>"}, "e": "<IGNORE>"});
    let rules = ["a", "b.d", "e"].map(str::to_owned).to_vec();
    assert_eq!(of(Some("ANY")), (renamed, rules, 1), "that the usual word stands beside it is a warning");
}

#[test]
fn what_the_original_s_own_models_take_is_taken() {
    let case = r#"{"agent": "hr", "story": "s", "goals": {"a": null, "b": ["a"]}, "goal_details": [
        {"type": "conversational_search", "name": "a", "knowledge_base": {"enabled": true, "metrics": []}},
        {"type": "tool_call", "name": "b", "tool_name": "t", "args": {}, "arg_matching": {"x": "ignore"}}]}"#;
    let dataset = loaded(case, &Beside::default());
    let goals = dataset.cases[0].expected.goals.as_ref().unwrap();
    assert_eq!(goals.edges, [("b".to_owned(), "a".to_owned())]);
    assert_eq!(goals.nodes[0].extra["knowledge_base"]["enabled"], true);
    assert!(
        warnings(&dataset).iter().any(|it| it.contains("`arg_matching` means nothing")),
        "{:?}",
        warnings(&dataset)
    );
}
