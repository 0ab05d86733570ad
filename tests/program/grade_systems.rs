//! Recorded conversations by other systems' files, where the systems have rules of their own.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::all_turns;
use crate::servers::http::{Reply, Server};

/// A folder with these files.
fn desk(files: &[(&str, Value)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn typed(folder: &Path, line: &str) -> (Option<i32>, String) {
    let output = eval_job(folder).args(line.split(' ')).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// A recorded case of trpc-agent-go with this expected side and this actual one.
fn trace(expected: &Value, actual: &Value) -> Value {
    json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "evalMode": "trace", "conversation": expected,
        "actualConversation": actual, "sessionInput": {"appName": "a", "userId": "u"}}]})
}

/// A turn of trpc-agent-go: what the user says, the reply, and the tools that are called, where the file tells them.
fn turn(say: &str, reply: &str, tools: Option<&[&str]>) -> Value {
    let mut turn = json!({"userContent": {"role": "user", "content": say},
        "finalResponse": {"role": "assistant", "content": reply}});
    if let Some(tools) = tools {
        let call = |name: &&str| json!({"name": name, "arguments": {}, "result": 1});
        turn["tools"] = tools.iter().map(call).collect();
    }
    turn
}

const TRAJECTORY: &str =
    r#"[{"metricName": "tool_trajectory_avg_score", "threshold": 1, "criterion": {"toolTrajectory": {}}}]"#;
const OWN: &str = "grade --dataset s.evalset.json --actual s.evalset.json";

#[test]
fn an_expected_turn_without_tools_expects_no_call_in_a_recording_too() {
    let metrics = ("s.metrics.json", json!(TRAJECTORY));
    let expected = json!([turn("a", "x", Some(&["find"])), turn("b", "y", None)]);
    let wrong = json!([turn("a", "x", Some(&["find"])), turn("b", "y", Some(&["delete_all"]))]);
    for strict in ["", " --dialect-strict"] {
        for (actual, status) in [(&expected, 0), (&wrong, 100)] {
            let desk = desk(&[("s.evalset.json", trace(&expected, actual)), metrics.clone()]);
            let (found, words) = typed(desk.path(), &format!("{OWN}{strict}"));
            assert_eq!(found, Some(status), "{words}");
        }
    }
    // A recording alone has nothing to be compared with.
    let mut alone = trace(&json!([]), &wrong);
    alone["evalCases"][0].as_object_mut().unwrap().remove("conversation");
    let desk = desk(&[("s.evalset.json", alone), metrics]);
    let (status, words) = typed(desk.path(), OWN);
    assert!(status != Some(100), "{words}");
}

#[test]
fn a_function_beside_other_parts_of_a_criterion_leaves_it_missing() {
    let metrics = json!([{"metricName": "final_response_avg_score", "threshold": 1.0, "criterion":
        {"finalResponse": {"text": {"matchStrategy": "exact"}, "compareName": "myFn"}}}]);
    let both = json!([turn("a", "hello", None)]);
    let desk = desk(&[("s.evalset.json", trace(&both, &both)), ("s.metrics.json", metrics)]);
    for strict in ["", " --dialect-strict"] {
        let (status, words) = typed(desk.path(), &format!("{OWN}{strict}"));
        assert_eq!(status, Some(102), "{words}");
        assert!(words.contains("the function \"myFn\" is part of another program"), "{words}");
    }
}

#[test]
fn cases_whose_expected_side_a_second_agent_makes_are_not_graded_by_what_the_file_has() {
    let both = json!([turn("a", "old", Some(&["old"]))]);
    let mut set = trace(&both, &both);
    set["evalCases"][0]["expectedRunnerEnabled"] = true.into();
    let desk = desk(&[("s.evalset.json", set), ("s.metrics.json", json!(TRAJECTORY))]);
    let (status, words) = typed(desk.path(), OWN);
    assert_eq!(status, Some(2), "{words}");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("`expectedRunnerEnabled`") && words.contains("--expected-target"), "{words}");
}

/// A set of ADK with two cases, told apart by what the agent replies.
fn two_cases() -> Value {
    let case = |id: &str, reply: &str| {
        json!({"eval_id": id, "conversation": [{"user_content": {"role": "user", "parts": [{"text": "hi"}]},
            "final_response": {"role": "model", "parts": [{"text": reply}]}}]})
    };
    json!({"eval_set_id": "s", "eval_cases": [case("5", "five"), case("6", "six")]})
}

fn chat(mut named: Value, reply: &str) -> Value {
    named["messages"] = json!([{"role": "user", "content": "hi"}, {"role": "assistant", "content": reply}]);
    named
}

#[test]
fn a_recording_is_about_the_case_that_any_of_its_ids_names() {
    let config = ("test_config.json", json!({"criteria": {"response_match_score": 1.0}}));
    let lines = |six: Value, five: Value| json!(format!("{}\n{}\n", chat(six, "six"), chat(five, "five")));
    let list = json!([chat(json!({"conversation_id": "z", "case": "6"}), "six"), chat(json!({"case": "5"}), "five")]);
    for (name, actual) in [
        ("a.jsonl", lines(json!({"id": "chatcmpl-1", "case": "6"}), json!({"id": "chatcmpl-2", "case": "5"}))),
        ("a.jsonl", lines(json!({"id": "x", "conversation_id": "6"}), json!({"id": "y", "session_id": "5"}))),
        ("a.jsonl", lines(json!({"id": 6}), json!({"id": 5}))),
        ("a.jsonl", lines(json!({"id": "5", "case": 6}), json!({"id": "6", "case": 5}))),
        ("a.json", list),
    ] {
        let desk = desk(&[("s.evalset.json", two_cases()), config.clone(), (name, actual.clone())]);
        let (status, words) = typed(desk.path(), &format!("grade --dataset s.evalset.json --actual {name}"));
        assert_eq!(status, Some(0), "{actual}: {words}");
        assert!(!words.contains("in its place"), "{words}");
    }
}

#[test]
fn an_eval_set_in_camel_case_with_calls_is_adks_where_its_configuration_is_beside_it() {
    let turn = json!({"userContent": {"role": "user", "parts": [{"text": "a"}]},
        "finalResponse": {"role": "model", "parts": [{"text": "x"}]},
        "intermediateData": {"toolUses": [{"id": "1", "name": "t", "args": {"k": 1}}],
            "toolResponses": [{"id": "1", "name": "t", "response": {"r": 1}}]}});
    let set = ("s.evalset.json", json!({"evalSetId": "s", "evalCases": [{"evalId": "c", "conversation": [turn]}]}));
    let call = json!({"id": "1", "type": "function", "function": {"name": "t", "arguments": "{\"k\": 1}"}});
    let recorded = json!({"id": "c", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "other"}, {"role": "assistant", "content": "x"}]});
    let actual = ("c.json", recorded);
    let adk = ("test_config.json", json!({"criteria": {"tool_trajectory_avg_score": 1.0}}));
    let grade = "grade --dataset s.evalset.json --actual c.json";
    // ADK does not compare what tools answered, and trpc-agent-go does.
    let metrics = ("s.metrics.json", json!(TRAJECTORY));
    for (beside, status) in [(vec![adk.clone()], 0), (vec![metrics.clone()], 100), (vec![adk, metrics], 100)] {
        let desk = desk(&[vec![set.clone(), actual.clone()], beside.clone()].concat());
        let (found, words) = typed(desk.path(), grade);
        assert_eq!(found, Some(status), "{beside:?}: {words}");
    }
}

#[test]
fn a_recording_that_goes_on_after_its_case_is_not_graded_by_it() {
    let call = |name: &str| json!([{"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}]);
    let longer = json!({"id": "5", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "five"},
        {"role": "user", "content": "and now"}, {"role": "assistant", "tool_calls": call("delete_all")},
        {"role": "assistant", "content": "done"}]});
    let config = ("test_config.json", json!({"criteria": {"tool_trajectory_avg_score": 1.0}}));
    let desk = desk(&[("s.evalset.json", two_cases()), config, ("a.json", longer)]);
    let (status, words) = typed(desk.path(), "grade --dataset s.evalset.json:5 --actual a.json");
    assert_eq!(status, Some(102), "{words}");
    assert!(words.contains("1 more turn than the case"), "{words}");
}

#[test]
fn the_similarity_of_a_configuration_is_the_one_that_texts_need() {
    let goal = json!({"type": "tool_call", "name": "g", "tool_name": "find", "args": {"q": "new york city"},
        "arg_matching": {"q": "fuzzy"}});
    let case =
        json!({"agent": "a", "story": "s", "starting_sentence": "hi", "goals": {"g": []}, "goal_details": [goal]});
    let made = json!({"type": "tool_call", "name": "find", "args": {"q": "new york city please"}, "id": "1"});
    let messages = json!([{"role": "user", "content": "hi", "type": "text"},
        {"role": "assistant", "content": made.to_string(), "type": "tool_call"},
        {"role": "assistant", "content": "done", "type": "text"}]);
    for (similarity, status) in [("0.8", 0), ("0.99", 100)] {
        let config = json!(format!("test_paths: [c.json]\nsimilarity_threshold: {similarity}\n"));
        let desk = desk(&[("config.yml", config), ("c.json", case.clone()), ("c.messages.json", messages.clone())]);
        let (found, words) = typed(desk.path(), "grade --dataset config.yml --actual c.messages.json");
        assert_eq!(found, Some(status), "{similarity}: {words}");
        let (strict, words) =
            typed(desk.path(), "grade --dataset config.yml --actual c.messages.json --dialect-strict");
        assert_eq!(strict, Some(0), "the original compares with its own: {words}");
    }
}

#[test]
fn results_of_red_hat_are_read_again_where_no_user_is_known() {
    let config = ("test_config.json", json!({"criteria": {"response_match_score": 1.0}}));
    let recorded = ("a.json", chat(json!({"id": "5"}), "five"));
    let desk = desk(&[("s.evalset.json", two_cases()), config, recorded]);
    let (status, words) = typed(desk.path(), "grade --dataset s.evalset.json:5 --actual a.json");
    assert_eq!(status, Some(0), "{words}");
    let (status, words) = typed(desk.path(), "export --format redhat -o out");
    assert_eq!(status, Some(0), "{words}");
    assert!(!desk.path().join("out/token_usage").exists(), "nothing was counted");
    let (status, words) = typed(desk.path(), "grade --dataset s.evalset.json:5 --actual out");
    assert_eq!(status, Some(0), "{words}");
}

#[test]
fn what_a_judge_said_of_recordings_is_part_of_their_run() {
    let job = "target: {user: u, chatbot: c}\nevaluator: {model: scripted}\nfacts: []\n\
               cases: [{id: hello, script: [Hello], tasks: [{task: Say hello, acceptanceCriteria: The agent says hello}]}]\n";
    let recorded = json!({"id": "hello", "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello there."}]});
    let desk = desk(&[("job.yml", json!(job)), ("log.json", recorded)]);
    let task = json!([{"index": 1, "reason": "it says hello", "turnsRead": all_turns(), "score": 1}]);
    let tone = json!({"reason": "polite", "turnsRead": all_turns(), "score": 1});
    let verdict = json!({"tasks": task, "tone": tone}).to_string();
    let mut reply: Value = serde_json::from_str(include_str!("../fixtures/openai/reply-text.json")).unwrap();
    reply["choices"][0]["message"]["content"] = verdict.into();
    let judge = Server::start(move |_| Reply::Json(200, reply.clone()));
    let judged = |arguments: &[&str]| {
        let mut command = eval_job(desk.path());
        command.env("OPENAI_BASE_URL", format!("{}/v1", judge.address)).env("OPENAI_API_KEY", "sk-hush");
        let output = command.args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let grade = ["grade", "--dataset", "job.yml", "--actual", "log.json", "--min-score", "0.5"];
    let (status, words) = judged(&[&grade[..], &["--scorer-model", "openai/j", "-o", "out.json"]].concat());
    assert_eq!(status, Some(0), "{words}");
    let record: Value = serde_json::from_slice(&fs::read(desk.path().join("out.json")).unwrap()).unwrap();
    assert_eq!(record["provenance"]["judgeModel"], "openai/j");
    assert_eq!(record["trials"][0]["judgements"][0]["judge"], "openai/j", "{record}");
    for line in ["show -v", "grade"] {
        let (status, words) = typed(desk.path(), line);
        assert_eq!(status, Some(0), "{line}: {words}");
        assert!(words.contains("it says hello") || line == "grade", "{words}");
        assert!(!words.contains("no judge was asked") && !words.contains("incomplete"), "{words}");
    }
    let (_, words) = typed(desk.path(), "list");
    assert!(words.contains("passed") && !words.contains("incomplete"), "{words}");
    let run = super::kept_run(desk.path()).unwrap();
    let journal = fs::read_to_string(run.join("journal.ndjson")).unwrap();
    assert!(journal.lines().last().unwrap().contains("runFinished"), "{journal}");
}

#[test]
fn a_file_that_has_what_was_recorded_is_graded_by_itself() {
    let metrics = ("s.metrics.json", json!(TRAJECTORY));
    let (find, none) = (json!([turn("a", "x", Some(&["find"]))]), json!([turn("a", "x", Some(&[]))]));
    for (actual, status) in [(&find, 0), (&none, 100)] {
        let desk = desk(&[("s.evalset.json", trace(&find, actual)), metrics.clone()]);
        for file in ["s.evalset.json", "s.evalset.json:c"] {
            let (found, words) = typed(desk.path(), &format!("grade --dataset {file} -v"));
            assert_eq!(found, Some(status), "{words}");
            assert!(!words.contains("-v shows"), "{words}");
        }
    }
    // By its name without the ending, and of a folder only where each file has its own cases.
    let desk_of_two =
        desk(&[("s.evalset.json", trace(&find, &find)), ("t.evalset.json", trace(&find, &none)), metrics.clone()]);
    let (status, words) = typed(desk_of_two.path(), "grade --dataset s");
    assert_eq!(status, Some(0), "{words}");
    let (status, words) = typed(desk_of_two.path(), "grade --dataset .");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status == Some(2) && words.contains("c is recorded in"), "{words}");
    let mut asked = trace(&find, &find);
    let case = asked["evalCases"][0].as_object_mut().unwrap();
    case.remove("evalMode");
    case.remove("actualConversation");
    let desk = desk(&[("s.evalset.json", asked), metrics]);
    let (status, words) = typed(desk.path(), "grade --dataset s.evalset.json");
    assert_eq!(status, Some(2), "{words}");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("nothing that an agent said is recorded in s.evalset.json"), "{words}");
    assert!(words.contains("--actual FILE"), "{words}");
}

#[test]
fn an_empty_reply_that_is_expected_is_compared_with_an_empty_one() {
    let metrics = json!([{"metricName": "final_response_avg_score", "threshold": 1.0,
        "criterion": {"finalResponse": {"text": {"matchStrategy": "exact"}}}}]);
    let empty = json!([turn("a", "", None)]);
    for (actual, status) in [("", 0), ("blah", 100)] {
        let set = trace(&empty, &json!([turn("a", actual, None)]));
        let desk = desk(&[("s.evalset.json", set), ("s.metrics.json", metrics.clone())]);
        for strict in ["", " --dialect-strict"] {
            let (found, words) = typed(desk.path(), &format!("{OWN}{strict}"));
            assert_eq!(found, Some(status), "{actual:?}{strict}: {words}");
        }
    }
}

#[test]
fn a_grade_tells_where_the_default_and_the_original_differ_as_a_run_does() {
    let metrics =
        json!([{"metricName": "tool_trajectory_avg_score", "threshold": 1, "criterion": {"toolTrajectory": {}}}]);
    let with = |arguments: Option<Value>| {
        let mut turn = turn("a", "x", Some(&["find"]));
        let tool = turn["tools"][0].as_object_mut().unwrap();
        match arguments {
            Some(arguments) => drop(tool.insert("arguments".to_owned(), arguments)),
            None => drop(tool.remove("arguments")),
        }
        json!([turn])
    };
    let set = trace(&with(None), &with(Some(json!({}))));
    let desk = desk(&[("s.evalset.json", set), ("s.metrics.json", metrics)]);
    let (status, words) = typed(desk.path(), OWN);
    assert_eq!(status, Some(0), "{words}");
    assert!(words.contains("--dialect-strict"), "{words}");
    let (status, words) = typed(desk.path(), &format!("{OWN} --dialect-strict"));
    assert_eq!(status, Some(100), "{words}");
    assert!(words.contains("the default"), "{words}");
}
