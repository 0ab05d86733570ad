mod judges;

use std::path::Path;

use serde_json::{Map, Value, json};

use judges::judged;

use crate::dataset::lower::{LowerOptions, lower};
use crate::dataset::tests::files_below;
use crate::dataset::{Dataset, DiskFiles, Kind, NamedText, OpenOptions, Purpose, open, recognise};
use crate::job::{self, Job, PromptRole, TemplateCheck, TemplateProblem, User};

struct AllTemplates;

impl TemplateCheck for AllTemplates {
    fn problem(&self, _name: &str, _kind: PromptRole) -> Option<TemplateProblem> {
        None
    }
}

fn options() -> LowerOptions {
    let settings = Map::from_iter([("baseUrl".to_owned(), Value::from("http://localhost:8000"))]);
    LowerOptions { target: ("adk".to_owned(), settings), ..LowerOptions::default() }
}

/// The job that a dataset becomes, by way of its text.
fn job(dataset: &Dataset) -> Job {
    let lowered = lower(dataset, &options());
    let text = serde_json::to_string_pretty(&lowered.document).unwrap();
    job::load("imported.yml", &text, &AllTemplates)
        .unwrap_or_else(|problems| panic!("{}\n{}", text, job::render_problems(&problems)))
}

#[test]
fn every_file_with_cases_becomes_a_job_that_loads() {
    let mut count = 0;
    for path in files_below(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/datasets"))) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let name = path.display().to_string();
        let Ok(kind) = recognise(&name, &text) else { continue };
        if kind.purpose() != Purpose::Cases || kind == Kind::WatsonxConfig {
            continue;
        }
        let Ok(datasets) = open(&name, &OpenOptions::default(), &DiskFiles) else { continue };
        for dataset in datasets.iter().filter(|dataset| !dataset.cases.is_empty()) {
            let job = job(dataset);
            assert_eq!(job.cases.len(), dataset.cases.len(), "{name}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn an_eval_set_of_adk_means_what_it_says() {
    let text = json!({
        "eval_set_id": "dice", "eval_cases": [{
            "eval_id": "roll", "session_input": {"app_name": "hello_world", "user_id": "ann", "state": {"tier": "gold"}},
            "conversation": [
                {"user_content": {"role": "user", "parts": [{"text": "Hi"}]}},
                {"user_content": {"role": "user", "parts": [{"text": "Roll a die"}]},
                 "final_response": {"role": "model", "parts": [{"text": "I rolled a 6."}]},
                 "intermediate_data": {"tool_uses": [{"name": "roll_die", "args": {"sides": 6}}]}}
            ]}]
    });
    let dataset =
        crate::dataset::load("dice.evalset.json", &text.to_string(), &crate::dataset::Beside::default()).unwrap();
    let job = job(&dataset);
    let case = &job.cases[0];
    assert_eq!((case.session.user.as_deref(), case.session.chatbot.as_deref()), (Some("ann"), Some("hello_world")));
    assert_eq!(Value::Object(case.session.state.clone()), json!({"tier": "gold"}));
    let User::Lines(lines) = &case.user else { panic!("{case:?}") };
    assert_eq!(lines.iter().map(|line| line.say.as_str()).collect::<Vec<_>>(), ["Hi", "Roll a die"]);
    let expected = lines[1].expected.as_ref().unwrap();
    assert_eq!(expected.reply.as_deref(), Some("I rolled a 6."));
    assert_eq!(expected.calls.as_ref().unwrap()[0].tool, "roll_die");
    let metrics: Vec<_> = job.metrics.iter().map(|it| (it.label(), it.threshold.map(|score| score.get()))).collect();
    assert_eq!(metrics, [("tool_trajectory_avg_score", Some(1.0)), ("response_match_score", Some(0.8))]);
}

/// The first case of a file, as it stands in the job, and the warnings.
fn lowered(name: &str, text: &Value, options: &LowerOptions) -> (Value, Vec<String>) {
    let dataset = crate::dataset::load(name, &text.to_string(), &crate::dataset::Beside::default()).unwrap();
    let lowered = lower(&dataset, options);
    let loads = job(&dataset);
    assert_eq!(loads.cases.len(), dataset.cases.len());
    (lowered.document, lowered.warnings)
}

#[test]
fn a_scenario_of_adk_is_played_by_the_persona_as_it_says() {
    let behaviors = json!([{"name": "ends", "description": "ends early", "behavior_instructions": ["Say bye."],
        "violation_rubrics": ["The user goes on."]}]);
    let text = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation_scenario": {
        "starting_prompt": "I want a refund", "conversation_plan": "Get a refund for order 7.",
        "user_persona": {"id": "HURRIED", "description": "a user in a hurry", "behaviors": behaviors}}}]});
    let (job, warnings) = lowered("s.evalset.json", &text, &options());
    let case = &job["cases"][0];
    assert_eq!(case["opening"], "I want a refund");
    assert_eq!(case["plan"], "Get a refund for order 7.");
    assert_eq!(case["traits"], json!(["a user in a hurry", "ends: ends early Say bye."]));
    assert_eq!((&job["maxTurns"], &case["maxTurns"]), (&json!(40), &Value::Null));
    assert_eq!(job["evaluator"], json!({"signoff": "</finished>"}));
    let strict = LowerOptions { strict: true, ..options() };
    let (job, _) = lowered("s.evalset.json", &text, &strict);
    assert_eq!(job["evaluator"], json!({"signoff": "</finished>", "allow": "all"}), "ADK takes whatever its user says");
    assert_eq!(case["expected"]["rubrics"][0]["text"], "The user goes on.");
    assert!(!warnings.iter().any(|it| it.contains("persona") || it.contains("traits")), "{warnings:?}");
}

#[test]
fn fixed_prompts_of_watsonx_come_before_the_persona() {
    let text = json!({"agent": "hr", "story": "You want time off.", "starting_sentence": "Hello",
        "user_prompts": ["My id is nwaters", "June"], "max_user_turns": 4, "goals": {"get": []},
        "goal_details": [{"type": "tool_call", "name": "get", "tool_name": "get_id", "args": null},
            {"type": "assert_llm", "kind": "policy", "check": "No secrets are revealed."}]});
    let (job, warnings) = lowered("s.json", &text, &options());
    let case = &job["cases"][0];
    assert_eq!(case["opening"], json!(["Hello", "My id is nwaters", "June"]));
    assert_eq!((&case["plan"], &job["maxTurns"]), (&json!("You want time off."), &json!(8)));
    assert_eq!(case["expected"]["rubrics"][0]["text"], "No secrets are revealed.");
    assert_eq!(job.get("evaluator"), None, "END is a plain word");
    assert!(!warnings.iter().any(|it| it.contains("fixed messages")), "{warnings:?}");
}

#[test]
fn context_messages_are_sent_where_a_conversation_can_begin_with_them() {
    let text = json!({"evalSetId": "s", "evalCases": [{"evalId": "c",
        "contextMessages": [{"role": "system", "content": "You are a bot."}, {"role": "user", "content": "I am Ann."}],
        "conversation": [{"invocationId": "1", "userContent": {"role": "user", "content": "Who am I?"}}]}]});
    let (job, warnings) = lowered("s.evalset.json", &text, &LowerOptions { takes_history: true, ..options() });
    let messages = json!([{"role": "system", "content": "You are a bot."}, {"role": "user", "content": "I am Ann."}]);
    assert_eq!(job["cases"][0]["seeds"], json!([{"conversation": messages}]));
    assert!(!warnings.iter().any(|it| it.contains("context")), "{warnings:?}");
    let (job, warnings) = lowered("s.evalset.json", &text, &options());
    assert_eq!(job["cases"][0].get("seeds"), None);
    assert!(warnings.iter().any(|it| it.starts_with("case c: its context messages are not sent")), "{warnings:?}");
}

#[test]
fn messages_before_a_turn_are_said_before_it() {
    let turn = |context: bool| {
        let mut turn = json!({"userContent": {"role": "user", "content": "Who am I?"}});
        if context {
            turn["contextMessages"] = json!([{"role": "user", "content": "I am Ann."}]);
        }
        turn
    };
    let text = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [turn(false), turn(true)]}]});
    let of = |takes_history: bool| lowered("s.evalset.json", &text, &LowerOptions { takes_history, ..options() });
    let (job, warnings) = of(true);
    let line = json!({"say": "Who am I?", "before": [{"role": "user", "content": "I am Ann."}]});
    assert_eq!(job["cases"][0]["script"], json!(["Who am I?", line]));
    assert_eq!(job["cases"][0].get("seeds"), None);
    assert!(!warnings.iter().any(|it| it.contains("not sent")), "{warnings:?}");
    let (job, warnings) = of(false);
    assert_eq!(job["cases"][0]["script"], json!(["Who am I?", "Who am I?"]));
    assert!(warnings.iter().any(|it| it.starts_with("case c: its context messages are not sent")), "{warnings:?}");
}

#[test]
fn a_turn_that_begins_with_what_was_said_before_it_says_the_rest() {
    let said =
        |texts: &[&str]| -> Vec<Value> { texts.iter().map(|text| json!({"role": "user", "content": text})).collect() };
    let turn =
        |before: &[&str]| json!({"userContent": {"role": "user", "content": "Go"}, "contextMessages": said(before)});
    let turns =
        [turn(&["a", "b"]), turn(&["a", "b", "c"]), turn(&["a", "b", "c", "d"]), turn(&["a", "b", "e"]), turn(&["b"])];
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "contextMessages": said(&["a", "b"]), "conversation": turns}]});
    let (job, _) = lowered("s.evalset.json", &set, &LowerOptions { takes_history: true, ..options() });
    let case = &job["cases"][0];
    let line = |before: &[&str]| json!({"say": "Go", "before": said(before)});
    assert_eq!(case["script"], json!(["Go", line(&["c"]), line(&["d"]), line(&["e"]), line(&["b"])]));
    assert_eq!(case["seeds"], json!([{"conversation": said(&["a", "b"])}]));
}

#[test]
fn a_message_that_ends_the_originals_program_is_the_last_one_there() {
    let said = |text: &str| json!({"role": "user", "content": text});
    let of = |texts: &[&str], strict: bool| {
        let flow = json!({"metadata": {"authoritative_user_id": "u"},
                          "conversation": texts.iter().map(|text| said(text)).collect::<Vec<_>>()});
        let (job, warnings) = lowered("f.json", &flow, &LowerOptions { strict, ..options() });
        (job["cases"][0]["script"].clone(), warnings.iter().any(|it| it.contains("`quit` and `exit` end")))
    };
    assert_eq!(of(&["Hi", " Quit\n", "Bye"], false), (json!(["Hi", " Quit\n", "Bye"]), false));
    assert_eq!(of(&["Hi", " Quit\n", "Bye"], true), (json!(["Hi"]), true));
    assert_eq!(of(&["exit", "Bye"], true), (json!(["exit", "Bye"]), false), "a conversation has a message");
    assert_eq!(of(&["Hi", "I quit"], true), (json!(["Hi", "I quit"]), false));
}

#[test]
fn a_second_agent_that_begins_empty_is_told_of() {
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "expectedRunnerEnabled": true,
        "contextMessages": [{"role": "user", "content": "I am Ann."}],
        "conversation": [{"userContent": {"role": "user", "content": "Who am I?"}}]}]});
    let of = |reference_takes_history: bool| {
        let reference = Some(("adk".to_owned(), Map::new()));
        let options = LowerOptions { reference, takes_history: true, reference_takes_history, ..options() };
        lowered("s.evalset.json", &set, &options).1.iter().any(|it| it.contains("not sent to the second agent"))
    };
    assert_eq!((of(false), of(true)), (true, false));
}

#[test]
fn mocks_of_the_expected_runner_are_those_of_the_second_agent() {
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "expectedRunnerEnabled": true,
        "conversation": [{"userContent": {"role": "user", "content": "Hi"},
            "toolMock": {"expected": [{"name": "t", "result": 1}]}}]}]});
    let reference = Some(("openai".to_owned(), Map::new()));
    let of = |mocks_reference: bool| {
        lowered("s.evalset.json", &set, &LowerOptions { reference: reference.clone(), mocks_reference, ..options() })
    };
    let (job, warnings) = of(true);
    assert_eq!(job["cases"][0]["script"][0]["referenceMocks"], json!([{"tool": "t", "result": 1}]));
    assert!(!warnings.iter().any(|it| it.contains("second agent's answers")), "{warnings:?}");
    let (job, warnings) = of(false);
    assert_eq!(job["cases"][0]["script"][0], json!("Hi"));
    assert!(
        warnings.iter().any(|it| it.contains("the second agent's answers for tools are not given")),
        "{warnings:?}"
    );
}

#[test]
fn instructions_of_a_simulator_are_a_trait_where_they_are_no_template_with_statements() {
    let scenario = json!({"starting_prompt": "Hi", "conversation_plan": "Ask for a pen"});
    let set = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation_scenario": scenario}]});
    let of = |instructions: &str| {
        let simulator = json!({"custom_instructions": instructions, "include_function_calls": true});
        let config = json!({"criteria": {"safety_v1": 0.5}, "user_simulator_config": simulator}).to_string();
        let config = Some(NamedText { name: "test_config.json".to_owned(), text: config });
        let beside = crate::dataset::Beside { config, ..Default::default() };
        let dataset = crate::dataset::load("s.evalset.json", &set.to_string(), &beside).unwrap();
        let crate::dataset::LoweredJob { document, warnings, .. } = lower(&dataset, &options());
        (document["cases"][0]["traits"].clone(), warnings.join("\n"))
    };
    let (traits, warning) = of(
        "Shout. Plan: {{conversation_plan}}, so far: {{ conversation_history }}; end with {{ stop_signal | trim }}.",
    );
    let expected = "Shout. Plan: (your part, as it is told above), so far: (the chat so far); end with </finished>.";
    assert_eq!(traits, json!([expected]));
    assert!(warning.contains("`custom_instructions` are one of the user's traits"), "{warning}");
    assert!(warning.contains("`include_function_calls` is not done"), "{warning}");
    let statements =
        "{% if persona %}x{% endif %} {{ conversation_plan }} {{ conversation_history }} {{ stop_signal }}";
    for text in [statements, "{{ conversation_plan }} {{ conversation_history }} {{ stop_signal }} {{ other }}"] {
        let (traits, warning) = of(text);
        assert_eq!(traits, Value::Null, "{text}");
        assert!(warning.contains("`custom_instructions` are not used"), "{warning}");
    }
}

#[test]
fn parts_of_a_criterion_are_one_metric_whatever_the_threshold() {
    let text = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [
        {"userContent": {"role": "user", "content": "Hi"}, "finalResponse": {"role": "assistant", "content": "hello"}}]}]});
    let of = |threshold: f64| {
        let metrics = json!([{"metricName": "final_response_avg_score", "threshold": threshold, "criterion":
            {"finalResponse": {"text": {"length": {"ignore": true}}, "xml": {"valid": true, "matchStrategy": "skip"}}}}]);
        let named = crate::dataset::NamedText { name: "s.metrics.json".to_owned(), text: metrics.to_string() };
        let beside = crate::dataset::Beside { config: Some(named), ..crate::dataset::Beside::default() };
        let dataset = crate::dataset::load("s.evalset.json", &text.to_string(), &beside)
            .unwrap_or_else(|problems| panic!("{}", job::render_problems(&problems)));
        let lowered = lower(&dataset, &options());
        let metrics = lowered.document["metrics"].as_array().unwrap().clone();
        assert!(!lowered.warnings.iter().any(|it| it.starts_with("metric")), "{:?}", lowered.warnings);
        let parts: Vec<String> = metrics[0]["reply"].as_object().unwrap().keys().cloned().collect();
        (metrics.len(), metrics[0]["threshold"].clone(), parts.join(" "))
    };
    assert_eq!(of(0.5), (1, json!(0.5), "text xml".to_owned()));
    assert_eq!(of(1.0), (1, json!(1.0), "text xml".to_owned()));
}

#[test]
fn goals_of_watsonx_that_nobody_sees_stay_in_the_graph() {
    let text = json!({
        "agent": "a", "story": "s", "starting_sentence": "Hi", "goals": {"t": ["look"], "look": []},
        "goal_details": [
            {"type": "tool_call", "name": "t", "tool_name": "get", "args": {}},
            {"type": "conversational_search", "name": "look", "knowledge_base": "kb"},
        ],
    });
    let (document, warnings) = lowered("c.json", &text, &options());
    let expected = &document["cases"][0]["expected"];
    assert_eq!((&expected["unseen"], &expected["goals"]["t"]), (&json!(["look"]), &json!(["look"])));
    let sentence = warnings.iter().find(|it| it.contains("the goal look is neither")).unwrap();
    assert!(sentence.ends_with("so the journey's success is missing"), "{sentence}");
    // A metric that informs says what it lacks, and that the run does not rest on it.
    let metrics = document["metrics"].as_array().unwrap();
    let confidence = metrics.iter().find(|metric| metric["name"] == "RetrievalConfidence").unwrap();
    assert!(confidence["unavailable"]["why"].as_str().unwrap().contains("the vendor's own search"), "{confidence}");
    assert!(
        warnings
            .iter()
            .any(|it| it.contains("RetrievalConfidence") && it.ends_with("missing, which decides nothing here")),
        "{warnings:?}"
    );
}

#[test]
fn metrics_of_watsonx_quick_evaluation_ask_about_the_calls_of_each_turn() {
    use crate::dataset::watsonx::REFERENCELESS;
    let metric = |name: &str| crate::dataset::DatasetMetric::new(name, crate::dataset::model::MeasureKind::Judge, None);
    for (name, text) in REFERENCELESS {
        let (key, options) = super::judges::options(crate::dataset::System::Watsonx, &metric(name), false).unwrap();
        assert_eq!((key, &options["scope"]), ("rubric", &json!("turns")));
        assert_eq!((&options["rubrics"][0]["id"], &options["rubrics"][0]["text"]), (&json!(name), &json!(text)));
    }
    let unknown =
        super::judges::options(crate::dataset::System::Watsonx, &metric("parameter_hallucination_check"), false);
    assert!(unknown.is_err());
}

#[test]
fn mocks_of_a_part_of_the_arguments_become_paths() {
    let mock = |arguments: Value| json!({"name": "t", "arguments": arguments, "result": 1});
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "sessionInput": {"appName": "a", "userId": "u"},
    "conversation": [{"userContent": {"role": "user", "content": "Hi"}, "toolMock": {"actual": [
        mock(json!({"expected": {"a": 1}, "onlyTree": {"a": true, "b": {"c": true, "d": false}}})),
        mock(json!({"expected": {"a": 1}, "ignoreTree": {"b": true}, "numberTolerance": 0.5})),
        mock(json!({"expected": {"a": 1}, "ignoreTree": {"x.y": true}})),
        mock(json!({"ignore": true})),
        {"name": "t", "llmGenerator": {"prompt": "Make up a price."}},
    ]}}]}]});
    let dataset = crate::dataset::load("s.evalset.json", &set.to_string(), &Default::default()).unwrap();
    let crate::dataset::LoweredJob { document, warnings, .. } =
        lower(&dataset, &LowerOptions { mocks_tools: true, ..options() });
    assert_eq!(
        document["cases"][0]["script"][0]["mocks"],
        json!([
            {"tool": "t", "args": {"a": 1}, "onlyPaths": ["a", "b.c"], "result": 1},
            {"tool": "t", "args": {"a": 1}, "ignorePaths": ["b"], "numberTolerance": 0.5, "result": 1},
            {"tool": "t", "result": 1},
            {"tool": "t", "prompt": "Make up a price."},
        ])
    );
    assert_eq!(warnings.iter().filter(|it| it.contains("with a dot in their names")).count(), 1, "{warnings:?}");
}

#[test]
fn a_part_of_a_value_is_shown_where_a_template_asks_for_it() {
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "sessionInput": {"appName": "a", "userId": "u"},
        "conversation": [{"userContent": {"role": "user", "content": "Hi"}}]}]});
    let source = |path: &str| json!({"scope": "actual", "field": "finalResponse", "path": path});
    let bindings = json!([{"templateVariable": "q", "source": source("$.items[0]")}, {"templateVariable": "all", "source": source("")}]);
    let judge = json!({"llmJudge": {"template": {"prompt": "{{q}} {{all}}", "responseScorerName": "boolean", "variableBindings": bindings}}});
    let config = json!([{"metricName": "llm_judge_template", "threshold": 0.5, "criterion": judge}]);
    let (metric, _) = judged(&set, &config);
    assert_eq!(metric["template"]["paths"], json!({"q": "$.items[0]"}), "{metric}");
    assert_eq!(metric["template"]["variables"], json!({"q": "finalResponse", "all": "finalResponse"}));
}

#[test]
fn a_step_of_a_trace_is_shown_where_there_is_one() {
    let set = json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "sessionInput": {"appName": "a", "userId": "u"},
        "conversation": [{"userContent": {"role": "user", "content": "Hi"}}]}]});
    let source =
        json!({"scope": "actual", "field": "traceStepTools", "selector": {"nodeID": "plan"}, "path": "$[0].name"});
    let template = json!({"prompt": "{{q}}", "responseScorerName": "boolean", "variableBindings": [{"templateVariable": "q", "source": source}]});
    let config = json!([{"metricName": "llm_judge_template", "threshold": 0.5, "criterion": {"llmJudge": {"template": template}}}]);
    let beside = || crate::dataset::Beside {
        config: Some(NamedText { name: "c.json".to_owned(), text: config.to_string() }),
        ..Default::default()
    };
    let dataset = crate::dataset::load("s.evalset.json", &set.to_string(), &beside()).unwrap();
    let lowered =
        |is_recorded| lower(&dataset, &LowerOptions { is_recorded, ..options() }).document["metrics"][0].clone();
    let recorded = lowered(true);
    assert_eq!(recorded["template"]["variables"], json!({"q": {"traceStep": {"node": "plan", "part": "tools"}}}));
    assert_eq!(recorded["template"]["paths"], json!({"q": "$[0].name"}));
    let why = "its variable `q` shows a step of a trace, which only recordings and the agent server of `trpc` have";
    assert_eq!(lowered(false)["unavailable"]["why"], why);
    let asked = |transport: &str, server: &str| {
        let settings = serde_json::Map::from_iter([("server".to_owned(), json!(server))]);
        lower(&dataset, &LowerOptions { target: (transport.to_owned(), settings), ..options() }).document
    };
    let traced = asked("trpc", "agent");
    assert_eq!(traced["metrics"][0]["template"], recorded["template"]);
    assert_eq!(traced["target"]["trpc"], json!({"server": "agent", "executionTrace": true}));
    assert_eq!(asked("trpc", "debug")["metrics"][0]["unavailable"]["why"], why);
}

#[test]
fn rubrics_with_one_id_are_refused_with_their_case() {
    let rubric = |id: &str| json!({"rubric_id": id, "rubric_content": {"text_property": "It is kind."}});
    let set = |of_turn: Value| {
        json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "rubrics": [rubric("a")], "conversation": [
            {"user_content": {"parts": [{"text": "Hi"}], "role": "user"}, "rubrics": of_turn}]}]})
    };
    let config = json!({"criteria": {"rubric_based_final_response_quality_v1": {
        "threshold": 0.8, "judge_model_options": {"num_samples": 1}, "rubrics": [rubric("m")]}}});
    let found = |of_turn: Value| {
        let beside = crate::dataset::Beside {
            config: Some(NamedText { name: "test_config.json".to_owned(), text: config.to_string() }),
            ..Default::default()
        };
        let dataset = crate::dataset::load("s.evalset.json", &set(of_turn).to_string(), &beside).unwrap();
        crate::dataset::check_expected("s.evalset.json", &dataset, &lower(&dataset, &options()))
    };
    assert!(found(json!([rubric("b")])).is_ok());
    for id in ["a", "m"] {
        let list = found(json!([rubric("b"), rubric(id)])).unwrap_err().list;
        let message = format!(
            "case c, message 1: the metric rubric_based_final_response_quality_v1 has another rubric with the id `{id}`"
        );
        assert_eq!(list.iter().map(|it| it.message.clone()).collect::<Vec<_>>(), [message]);
    }
}
