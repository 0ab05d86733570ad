//! Other systems' evaluation files run as they mean it, against servers on loopback that speak chat completions.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Output;

use eval_job::evidence::EventKind;
use eval_job::record::RunRecord;
use serde_json::{Value, json};

use super::eval_job;
use crate::house::root;
use crate::servers::http::{Reply, Request, Server};

/// A bare model: it asks for the weather where it is spoken of, and else repeats what it hears after these words.
pub(super) fn model(words: &'static str) -> Server {
    Server::start(move |request: &Request| {
        let body = request.json();
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let last = messages.last().cloned().unwrap_or_default();
        let said = last["content"].as_str().unwrap_or_default().to_owned();
        let message = match last["role"].as_str() {
            Some("tool") => json!({"role": "assistant", "content": format!("{words}: {said}")}),
            _ if said.contains("weather") => {
                let function = json!({"name": "get_weather", "arguments": "{\"city\":\"Shenzhen\"}"});
                let call = json!({"id": "c1", "type": "function", "function": function});
                json!({"role": "assistant", "content": null, "tool_calls": [call]})
            }
            _ => json!({"role": "assistant", "content": format!("{words}: {said}")}),
        };
        let choice = json!({"index": 0, "message": message, "finish_reason": "stop"});
        let reply = json!({"id": "r", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}});
        Reply::Json(200, reply)
    })
}

/// The user's messages of each conversation's last request.
pub(super) fn heard(server: &Server) -> Vec<Vec<String>> {
    let texts = |request: &Request| {
        let messages = request.json()["messages"].as_array().cloned().unwrap_or_default();
        let own = messages.iter().filter(|message| message["role"] == "user");
        own.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    server.requests().iter().map(texts).collect()
}

/// Runs eval-job in a folder; its output, and the record where there is one.
pub(super) fn run(folder: &Path, arguments: &[&str]) -> (Output, Option<RunRecord>) {
    let _ = std::fs::remove_file(folder.join("record.json"));
    let mut command = eval_job(folder);
    command.env("OPENAI_API_KEY", "sk-none").arg("run").args(arguments);
    let output = command.args(["--no-progress", "-o", "record.json"]).output().unwrap();
    let record = std::fs::read(folder.join("record.json")).ok();
    (output, record.map(|record| serde_json::from_slice(&record).unwrap()))
}

/// The scores of each case, with its outcome.
fn scores(record: &RunRecord) -> BTreeMap<String, Value> {
    let of = |trial: &eval_job::record::TrialRecord| {
        let card = trial.scorecard.as_ref().map(|card| {
            let score =
                |it: &eval_job::score::Dimension| (it.name.clone(), json!([it.component.score(), it.threshold]));
            card.dimensions.iter().map(score).collect::<BTreeMap<_, _>>()
        });
        let outcome = trial.outcome.as_ref().map(|outcome| outcome.label().to_owned());
        (format!("{} {}", trial.trial.case, trial.trial.repeat), json!([outcome, card]))
    };
    record.trials.iter().map(of).collect()
}

pub(super) fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A file of every kind that holds cases.
const KINDS: [&str; 15] = [
    "adk/new_schema/home_automation_agent/test_files/dependent_tool_calls.test.json",
    "adk/legacy_list/ecommerce_customer_service_agent/order_query.test.json",
    "adk/contributing_samples/live_non_blocking_tool_agent.evalset.json",
    "documents/adk-evalset.json",
    "trpc/local/data/math-eval-app/math-basic.evalset.json",
    "trpc/_seed_era/local/data/math-eval-app/math-basic.evalset.json",
    "trpc/contextmessage/data/contextmessage-app/contextmessage-basic.evalset.json",
    "trpc/toolmock/data/toolmock-app/toolmock-weather.evalset.json",
    "trpc/llm/caselevelrubric/data/case-level-rubric-app/case-level-rubric-basic.evalset.json",
    "trpc/trace/data/trace-eval-app/trace-basic.evalset.json",
    "watsonx/evaluate/data_simple.json",
    "watsonx/evaluate/data_no_summary/data_complex.json",
    "watsonx/generate/stories.csv",
    "watsonx/native_agent_validation/native_agent_validation.tsv",
    "redhat/conversations_config/conversations/success-flow-1.json",
];

#[test]
fn a_file_and_the_job_that_it_is_imported_as_come_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let server = model("You said");
    let target = format!("openai={}/v1", server.address);
    let mut compared = 0;
    for (at, file) in KINDS.iter().enumerate() {
        let file = root().join("tests/fixtures/datasets").join(file).display().to_string();
        for strict in [&[][..], &["--dialect-strict"][..]] {
            let persona = ["--evaluator-model", "scripted"];
            let arguments = [&[file.as_str(), "--target", &target], strict, &persona].concat();
            let (direct, record) = run(folder.path(), &arguments);
            let job = format!("{at}{}.yml", strict.len());
            let mut import = eval_job(folder.path());
            let imported =
                import.args(["import", &file, "-o", &job, "--target", &target]).args(strict).output().unwrap();
            assert_eq!(imported.status.code(), Some(0), "{file}: {}", text(&imported));
            let (through_job, of_job) = run(folder.path(), &[&[job.as_str()], &persona[..]].concat());
            assert_eq!(
                direct.status.code(),
                through_job.status.code(),
                "{file}: {}{}",
                text(&direct),
                text(&through_job)
            );
            match (record, of_job) {
                (Some(record), Some(of_job)) => {
                    assert_eq!(scores(&record), scores(&of_job), "{file}");
                    compared += scores(&record).len();
                }
                (None, None) => {}
                _ => panic!("{file}: {}{}", text(&direct), text(&through_job)),
            }
        }
    }
    assert!(compared >= 30, "{compared}");
}

#[test]
fn tools_of_a_trpc_case_are_mocked_where_the_agent_is_a_bare_model() {
    let folder = tempfile::tempdir().unwrap();
    let server = model("It is");
    let file = root().join("tests/fixtures/datasets").join(KINDS[7]).display().to_string();
    let target = format!("openai={}/v1", server.address);
    let (output, record) = run(folder.path(), &[&file, "--target", &target]);
    let record = record.unwrap_or_else(|| panic!("{}", text(&output)));
    let turn = &record.trials[0].evidence.as_ref().unwrap().transcript.turns[0];
    let EventKind::FunctionResponse { output: result } = &turn.events[1].kind else { panic!("{turn:?}") };
    assert_eq!(result["source"], "evalset-tool-mock");
    let card = record.trials[0].scorecard.as_ref().unwrap();
    assert_eq!(card.dimension("trajectory").and_then(|it| it.component.score()).map(|it| it.get()), Some(1.0));
    assert!(!text(&output).contains("answers for tools"), "{}", text(&output));
    // Elsewhere it is said that they are not given.
    let (output, _) = run(folder.path(), &[&file, "--target", "trpc=http://127.0.0.1:1"]);
    assert!(text(&output).contains("its answers for tools are not given: behind `trpc`"), "{}", text(&output));
}

/// An eval set of trpc-agent-go with one case, and metrics beside it.
pub(super) fn write_trpc(folder: &Path, case: Value) {
    let set = json!({"evalSetId": "s", "evalCases": [case]});
    let criterion = json!({"finalResponse": {"text": {}}});
    let metrics = json!([
        {"metricName": "final_response_avg_score", "threshold": 1, "criterion": criterion},
        {"metricName": "tool_trajectory_avg_score", "threshold": 1, "criterion": {"toolTrajectory": {}}},
    ]);
    std::fs::write(folder.join("s.evalset.json"), set.to_string()).unwrap();
    std::fs::write(folder.join("s.metrics.json"), metrics.to_string()).unwrap();
}

fn score(record: &RunRecord, name: &str) -> Option<f64> {
    let card = record.trials[0].scorecard.as_ref().unwrap();
    card.dimensions.iter().find(|it| it.name == name).unwrap().component.score().map(|score| score.get())
}

#[test]
fn what_a_second_agent_says_and_does_is_expected() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, same, other) = (model("Yes"), model("Yes"), model("No"));
    let at = |server: &Server| format!("openai={}/v1", server.address);
    let turn = |text: &str| json!({"invocationId": text, "userContent": {"role": "user", "content": text}});
    let conversation = json!([turn("Hello"), turn("And the weather?")]);
    write_trpc(folder.path(), json!({"evalId": "c", "expectedRunnerEnabled": true, "conversation": conversation}));
    for (reference, reply, calls) in [(&same, 1.0, 1.0), (&other, 0.0, 1.0)] {
        let arguments = ["s.evalset.json", "--target", &at(&agent), "--expected-target", &at(reference)];
        let (output, record) = run(folder.path(), &arguments);
        let record = record.unwrap_or_else(|| panic!("{}", text(&output)));
        assert_eq!(score(&record, "final_response_avg_score"), Some(reply), "{}", text(&output));
        assert_eq!(score(&record, "tool_trajectory_avg_score"), Some(calls), "{}", text(&output));
        assert_eq!(output.status.code(), Some(if reply < 1.0 { 100 } else { 0 }));
        assert_eq!(heard(reference).last().unwrap(), &["Hello", "And the weather?"]);
        let transcript = record.trials[0].evidence.as_ref().unwrap().reference.as_ref().unwrap();
        assert_eq!(transcript.turns.len(), 2);
    }
    // Without one, that is said; with one that is down, it is nobody's score.
    let (output, _) = run(folder.path(), &["s.evalset.json", "--target", &at(&agent)]);
    assert!(text(&output).contains("name it with --expected-target"), "{}", text(&output));
    let nobody = format!("openai={}/v1", crate::servers::http::nobody());
    let arguments = ["s.evalset.json", "--target", &at(&agent), "--expected-target", &nobody];
    let (output, _) = run(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(102), "{}", text(&output));
    assert!(text(&output).contains("the reference agent"), "{}", text(&output));
}

#[test]
fn tools_of_the_second_agent_are_mocked_where_it_is_a_bare_model() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, reference) = (model("Yes"), model("Yes"));
    let at = |server: &Server| format!("openai={}/v1", server.address);
    let mock = |result: &str| json!([{"name": "get_weather", "result": result}]);
    let turn = json!({"userContent": {"role": "user", "content": "And the weather?"},
        "toolMock": {"actual": mock("rain"), "expected": mock("sun")}});
    write_trpc(folder.path(), json!({"evalId": "c", "expectedRunnerEnabled": true, "conversation": [turn]}));
    let (of_agent, of_reference) = (at(&agent), at(&reference));
    let arguments = ["s.evalset.json", "--target", &of_agent, "--expected-target", &of_reference];
    let (output, record) = run(folder.path(), &arguments);
    let record = record.unwrap_or_else(|| panic!("{}", text(&output)));
    let evidence = record.trials[0].evidence.as_ref().unwrap();
    let reply = |turns: &[eval_job::evidence::Turn]| turns[0].agent.clone().unwrap_or_default();
    assert!(reply(&evidence.transcript.turns).contains("rain"), "{}", text(&output));
    assert!(reply(&evidence.reference.as_ref().unwrap().turns).contains("sun"), "{}", text(&output));
    assert!(!text(&output).contains("answers for tools"), "{}", text(&output));
    // Elsewhere that is told of a file, and refused of a job.
    let elsewhere = ["s.evalset.json", "--target", &of_agent, "--expected-target", "trpc=http://127.0.0.1:1"];
    let (output, _) = run(folder.path(), &elsewhere);
    assert!(text(&output).contains("the second agent's answers for tools are not given"), "{}", text(&output));
    let import = [&["import"], &arguments[..], &["-o", "job.yml"]].concat();
    assert!(eval_job(folder.path()).args(import).output().unwrap().status.success());
    let job = std::fs::read_to_string(folder.path().join("job.yml")).unwrap();
    let (before, behind) = job.rsplit_once("  openai:").unwrap();
    std::fs::write(folder.path().join("job.yml"), format!("{before}  trpc:{behind}")).unwrap();
    let output = eval_job(folder.path()).args(["validate", "job.yml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(
        text(&output).contains("a line of a script has `referenceMocks`, and reference.trpc can't"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_simulated_user_may_talk_with_the_second_agent_first() {
    let folder = tempfile::tempdir().unwrap();
    let (agent, reference) = (model("Yes"), model("Yes"));
    let scenario = json!({"driver": "expected", "startingPrompt": "Hello", "conversationPlan": "Ask for a train to Rome.",
        "stopSignal": "</finished>", "maxAllowedInvocations": 3});
    write_trpc(folder.path(), json!({"evalId": "c", "expectedRunnerEnabled": true, "conversationScenario": scenario}));
    let target = |server: &Server| format!("openai={}/v1", server.address);
    let (of_agent, of_reference) = (target(&agent), target(&reference));
    let arguments =
        ["s.evalset.json", "--target", &of_agent, "--expected-target", &of_reference, "--evaluator-model", "scripted"];
    let (output, record) = run(folder.path(), &arguments);
    let record = record.unwrap_or_else(|| panic!("{}", text(&output)));
    let (theirs, ours) = (heard(&reference).pop().unwrap(), heard(&agent).pop().unwrap());
    assert_eq!(theirs, ours);
    assert!(ours.len() > 1 && ours[0] == "Hello" && ours[1].contains("Rome"), "{ours:?}");
    assert_eq!(score(&record, "final_response_avg_score"), Some(1.0), "{}", text(&output));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
}

#[test]
fn messages_before_a_conversation_and_fixed_first_ones_are_sent_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let server = model("You said");
    let target = format!("openai={}/v1", server.address);
    let file = root().join("tests/fixtures/datasets").join(KINDS[6]).display().to_string();
    run(folder.path(), &[&file, "--target", &target, "--scorer-model", "scripted"]);
    let first = server.requests()[0].json()["messages"].clone();
    assert_eq!(first[0], json!({"role": "system", "content": "You are trpc-agent-go bot."}), "{first}");
    let story = json!({"agent": "hr", "story": "Ask how many days off you have.", "starting_sentence": "Hello",
        "user_prompts": ["I am nwaters", "In June"], "max_user_turns": 5, "goals": {}, "goal_details": []});
    std::fs::write(folder.path().join("story.json"), story.to_string()).unwrap();
    let (output, _) = run(folder.path(), &["story.json", "--target", &target, "--evaluator-model", "scripted"]);
    let said = heard(&server).pop().unwrap();
    assert_eq!(said[..3], ["Hello", "I am nwaters", "In June"], "{}", text(&output));
    assert!(said.len() > 3 && said[3].contains("days off"), "{said:?}");
}

#[test]
fn a_run_tells_where_the_other_mode_comes_out_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let server = model("You said");
    let target = format!("openai={}/v1", server.address);
    let turn = |said: &str, reply: Value| json!({"user_content": {"parts": [{"text": said}]}, "final_response": reply});
    let reply = |text: &str| json!({"role": "model", "parts": [{"text": text}]});
    let case = |id: &str, reply: Value| json!({"eval_id": id, "conversation": [turn("Hello", reply)]});
    let cases = [case("told", reply("You said: Hello")), case("untold", Value::Null)];
    let set = json!({"eval_set_id": "s", "eval_cases": cases});
    std::fs::write(folder.path().join("s.evalset.json"), set.to_string()).unwrap();
    let (output, record) = run(folder.path(), &["s.evalset.json", "--target", &target]);
    let said = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "With --dialect-strict 1 score comes out otherwise: untold · response_match_score 0.00 instead of no score and fails";
    assert!(said.contains(words), "{said}");
    let beside = |record: &RunRecord, at: usize| {
        let card = record.trials[at].scorecard.as_ref().unwrap();
        card.dimensions.iter().find(|it| it.name == "response_match_score").unwrap().beside.clone()
    };
    let record = record.unwrap();
    assert_eq!(beside(&record, 0), None);
    assert_eq!(beside(&record, 1).unwrap().component.score().map(|score| score.get()), Some(0.0));
    let (output, _) = run(folder.path(), &["s.evalset.json", "--target", &target, "--dialect-strict"]);
    let said = text(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("With the default 1 score comes out otherwise: untold"), "{said}");
    assert_eq!(output.status.code(), Some(100), "{said}");
}

#[test]
fn a_name_of_several_lines_is_no_part_of_an_imported_job() {
    let folder = tempfile::tempdir().unwrap();
    let turn = json!({"user_content": {"parts": [{"text": "Hi"}]}, "final_response": {"parts": [{"text": "Yes"}]}});
    let set =
        json!({"eval_set_id": "x\ngreetings: [INJECTED]\n#", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]});
    std::fs::write(folder.path().join("set.json"), set.to_string()).unwrap();
    let output = eval_job(folder.path()).args(["import", "set.json"]).output().unwrap();
    let job = text(&output);
    let first = job.lines().next().unwrap();
    assert_eq!(first, "# x greetings: [INJECTED] # (an eval set of Google ADK), from set.json", "{job}");
    assert!(!job.lines().any(|line| line.starts_with("greetings: [INJ")), "{job}");
}

#[test]
fn what_the_agent_failed_by_is_in_the_details() {
    let folder = tempfile::tempdir().unwrap();
    let set = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [
        {"user_content": {"parts": [{"text": "One"}]}, "final_response": {"parts": [{"text": "hi"}]}},
        {"user_content": {"parts": [{"text": "Two"}]}, "final_response": {"parts": [{"text": "hi"}]}}]}]});
    std::fs::write(folder.path().join("s.evalset.json"), set.to_string()).unwrap();
    let criteria = r#"{"criteria": {"response_match_score": 0.5}}"#;
    std::fs::write(folder.path().join("test_config.json"), criteria).unwrap();
    let script = "printf 'agent: Hello\\n:DONE\\n'; read -r line; printf 'agent: hi\\n:DONE\\n'; read -r line; exit 3";
    std::fs::write(folder.path().join("agent.sh"), format!("#!/bin/sh\n{script}\n")).unwrap();
    let mut permissions = std::fs::metadata(folder.path().join("agent.sh")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    std::fs::set_permissions(folder.path().join("agent.sh"), permissions).unwrap();
    let (output, _) =
        run(folder.path(), &["s.evalset.json", "--target", "command=./agent.sh", "--print-detailed-results"]);
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.contains("response_match_score: failed, 0.50 of at least 0.50; the agent failed"), "{page}");
    assert!(page.contains("  the agent failed: the command `"), "{page}{}", String::from_utf8_lossy(&output.stderr));
    assert!(page.contains("it ended in mid-conversation (exit status: 3)"), "{page}");
}
