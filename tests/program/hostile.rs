//! What is in nobody's interest: an agent that fails where nothing is expected of it, files that never end, schemas that lead
//! back to themselves, and two who edit one file.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::eval_job;
use crate::servers::http::{Reply, Server};

const LOG: &str = r#"{"id":"a","messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hi"}]}"#;

fn set(said: &str) -> String {
    let turn = json!({"user_content": {"role": "user", "parts": [{"text": said}]}, "final_response": {"role": "model", "parts": [{"text": "Hi"}]}});
    json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": [turn]}]}).to_string()
}

fn desk(said: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("set.json"), set(said)).unwrap();
    fs::write(folder.path().join("log.jsonl"), LOG).unwrap();
    fs::write(folder.path().join("test_config.json"), r#"{"criteria": {"tool_trajectory_avg_score": 1.0}}"#).unwrap();
    folder
}

fn typed(folder: &Path, line: &[&str]) -> (Option<i32>, String) {
    let output = eval_job(folder).args(line).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), [text(&output.stdout), text(&output.stderr)].concat())
}

#[test]
fn an_agent_that_fails_reaches_no_threshold_even_where_no_call_was_expected() {
    let desk = desk("Hello");
    let server = Server::start(|_| Reply::Json(500, json!({"error": "down"})));
    let job = json!({
        "target": {"user": "u", "chatbot": "c", "openai": {"baseUrl": format!("{}/v1", server.address)}}, "isolation": "user", "greetings": [],
        "metrics": [{"trajectory": {}, "threshold": 1}],
        "cases": [{"id": "a", "script": ["Hello"], "expected": {"calls": []}}]
    });
    fs::write(desk.path().join("job.yml"), job.to_string()).unwrap();
    let mut command = eval_job(desk.path());
    command.env("OPENAI_API_KEY", "sk-none").args(["run", "job.yml", "--no-progress"]);
    let output = command.output().unwrap();
    let told = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert_eq!(output.status.code(), Some(100), "{told}");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("trajectory 0.00, its threshold is 1.00 (1.00 had the agent not failed)"), "{told}");
}

#[test]
fn pipes_and_devices_are_refused_wherever_cases_or_recordings_are_read() {
    let desk = desk("Hello");
    assert!(Command::new("mkfifo").arg(desk.path().join("pipe")).status().unwrap().success());
    for file in ["pipe", "/dev/zero"] {
        for line in [
            &["grade", "--dataset", file, "--actual", "log.jsonl"][..],
            &["grade", "--dataset", "set.json", "--actual", file],
            &["import", "--from-trace", file],
            &["cases", "add", "set.json", "--from", file],
        ] {
            let (status, told) = typed(desk.path(), line);
            assert!(status == Some(2) && told.contains("it is a pipe or a device"), "{line:?}: {told}");
        }
    }
}

#[test]
fn a_set_with_control_characters_in_its_texts_is_graded_as_it_is_run() {
    let said = "Hello \u{7f}\u{9b}31m\u{85}\u{feff}\u{ffff}";
    let desk = desk(said);
    let messages = json!([{"role": "user", "content": said}, {"role": "assistant", "content": "Hi"}]);
    fs::write(desk.path().join("log.jsonl"), json!({"id": "a", "messages": messages}).to_string()).unwrap();
    let (status, told) = typed(desk.path(), &["grade", "--dataset", "set.json", "--actual", "log.jsonl"]);
    assert_eq!(status, Some(0), "{told}");
}

#[test]
fn a_schema_that_leads_back_to_itself_and_blank_keywords_are_not_the_agents_fault_nor_its_merit() {
    let desk = desk("Hello");
    let grade = |metric: Value, expected: Value| {
        let job = json!({
            "target": {"user": "u", "chatbot": "c", "demo": {}}, "greetings": [], "metrics": [metric],
            "cases": [{"id": "a", "script": ["Hello"], "expected": expected}]
        });
        fs::write(desk.path().join("job.yml"), job.to_string()).unwrap();
        typed(desk.path(), &["grade", "--dataset", "job.yml", "--actual", "log.jsonl"])
    };
    for schema in [json!({"$ref": "#"}), json!({"anyOf": [{"type": "null"}, {"allOf": [{"$ref": "#"}]}]})] {
        let (status, told) = grade(json!({"json": {"schema": schema}}), json!({}));
        assert!(status == Some(2) && told.contains("leads back to itself without end"), "{told}");
    }
    let (status, told) = grade(json!("keywords"), json!({"keywords": ["", " "]}));
    assert!(status == Some(102) && told.contains("there are no keywords to look for"), "{told}");
    let (status, told) = grade(json!("keywords"), json!({"keywords": ["", "Hi"]}));
    assert!(status == Some(0) && !told.contains("2 keywords"), "{told}");
}

#[test]
fn of_those_who_add_to_one_file_at_once_nobodys_case_is_lost_without_a_word() {
    let desk = desk("Hello");
    let add = |id: &str| {
        let mut command = eval_job(desk.path());
        command.args(["cases", "add", "set.json", "--from-trace", "log.jsonl", "--id", id]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let ids: Vec<String> = (0..8).map(|number| format!("n{number}")).collect();
    let running: Vec<_> = ids.iter().map(|id| (id, add(id))).collect();
    let told: Vec<&String> =
        running.into_iter().filter_map(|(id, mut child)| child.wait().unwrap().success().then_some(id)).collect();
    let there: Value = serde_json::from_str(&fs::read_to_string(desk.path().join("set.json")).unwrap()).unwrap();
    let there: Vec<&str> =
        there["eval_cases"].as_array().unwrap().iter().filter_map(|it| it["eval_id"].as_str()).collect();
    assert!(!told.is_empty() && told.iter().all(|id| there.contains(&id.as_str())), "{told:?} {there:?}");
    assert_eq!(there.len(), told.len() + 1);
}
